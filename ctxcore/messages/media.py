"""Reads media parts: their kind, and the size of images from the header of inlined data.

Nothing is fetched; the size of an image that is only linked stays None.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping
from typing import Literal

from ctxcore.messages.canonical import canonical_at, type_of
from ctxcore.messages.values import Media, Opaque
from ctxcore.reasons.places import Place

_KINDS: dict[str, Literal["image", "audio", "file"]] = {
    "image_url": "image",
    "input_image": "image",
    "image": "image",
    "input_audio": "audio",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
_HEADER_CHARS = 65_536  # enough base64 for a JPEG's size marker behind its thumbnails


def media_or_opaque(
    part: Mapping[str, object], place: Place, provider: str | None = None
) -> Media | Opaque:
    """A content part as media, or as an opaque part of `provider` (its own type by default).

    Raises:
        MessageError: it is not JSON; `place` names where it is.
    """
    raw = canonical_at(dict(part), place)
    kind = _KINDS.get(str(part.get("type")))
    if kind is None:
        return Opaque(provider=provider or type_of(part) or "unknown", raw=raw)
    width, height = image_size(_inlined(part)) if kind == "image" else (None, None)
    image = part.get("image_url")
    holder = image if isinstance(image, Mapping) else part
    detail = str(holder.get("detail") or "auto")
    return Media(kind=kind, raw=raw, width=width, height=height, detail=detail)


def image_size(data: bytes) -> tuple[int, int] | tuple[None, None]:
    """Width and height from the header of a PNG, GIF, WebP or JPEG; Nones if unreadable."""
    try:
        if data.startswith(b"\x89PNG"):
            return struct.unpack(">II", data[16:24])
        if data.startswith(b"GIF8"):
            return struct.unpack("<HH", data[6:10])
        if data[8:15] == b"WEBPVP8":
            return _webp_size(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
    except (struct.error, IndexError):
        pass  # the header is cut short
    return None, None


def _inlined(part: Mapping[str, object]) -> bytes:
    """The first bytes of the data inside a part; empty where it only links to them."""
    inner = part.get("image_url", part.get("source"))
    url = inner.get("url", inner.get("data")) if isinstance(inner, Mapping) else inner
    if not isinstance(url, str) or url.startswith(("http://", "https://")):
        return b""
    data = url.partition(";base64,")[2] if url.startswith("data:") else url
    head = data[:_HEADER_CHARS]
    try:
        return base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _webp_size(data: bytes) -> tuple[int, int]:
    if data[12:16] == b"VP8X":
        sides = data[24:27], data[27:30]
        return 1 + int.from_bytes(sides[0], "little"), 1 + int.from_bytes(sides[1], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(data: bytes) -> tuple[int, int] | tuple[None, None]:
    at = 2
    while at + 9 < len(data):
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None, None
