"""Media parts: kinds, and sizes read from the first bytes of inlined data."""

from __future__ import annotations

import base64
import struct

import pytest

from ctxcore.messages.media import image_size
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Media

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 1024, 768)
GIF = b"GIF89a" + struct.pack("<HH", 320, 200)
JPEG = (
    b"\xff\xd8\xff\xe0"
    + struct.pack(">H", 4)
    + b"xx\xff\xc0"
    + struct.pack(">HBHH", 17, 8, 480, 640)
    + b"\x03"
)
RIFF = b"RIFF\x00\x00\x00\x00WEBP"
VP8X = RIFF + b"VP8X" + bytes(8) + (799).to_bytes(3, "little") + (599).to_bytes(3, "little")
VP8L = RIFF + b"VP8L" + bytes(5) + (99 | 49 << 14).to_bytes(4, "little")
VP8 = RIFF + b"VP8 " + bytes(10) + struct.pack("<HH", 176, 144)


def media(part: dict[str, object]) -> Media:
    """The only part of a message that holds `part`."""
    (found,) = parse_message({"role": "user", "content": [part]}).content
    assert isinstance(found, Media)
    return found


def data_url(data: bytes) -> str:
    """`data` inlined."""
    return "data:image/png;base64," + base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (1024, 768)),
        (GIF, (320, 200)),
        (JPEG, (640, 480)),
        (VP8X, (800, 600)),
        (VP8L, (100, 50)),
        (VP8, (176, 144)),
        (PNG[:18], (None, None)),
        (b"\xff\xd8\xff", (None, None)),
        (b"nothing", (None, None)),
        (b"", (None, None)),
    ],
)
def test_a_size_is_read_from_the_header(data: bytes, size: tuple[int | None, int | None]) -> None:
    assert image_size(data) == size


def test_an_inlined_image_has_a_size_and_a_label() -> None:
    image = media({"type": "image_url", "image_url": {"url": data_url(PNG), "detail": "low"}})

    assert (image.width, image.height, image.detail) == (1024, 768, "low")
    assert image.label == "[image 1024×768]"


def test_an_address_is_never_fetched() -> None:
    image = media({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})

    assert image.label == "[image]"


@pytest.mark.parametrize("url", ["data:image/png;base64,%%%%", "data:,plain", "", "é"])
def test_unreadable_data_has_no_size(url: str) -> None:
    assert media({"type": "image_url", "image_url": {"url": url}}).width is None


@pytest.mark.parametrize(
    ("kind", "label"), [("input_audio", "[audio]"), ("file", "[file]"), ("document", "[file]")]
)
def test_other_media_have_a_kind(kind: str, label: str) -> None:
    assert media({"type": kind, kind: {"data": "AAAA"}}).label == label
