"""Images by the published formulas; what cannot be seen is estimated and said to be."""

from __future__ import annotations

import base64

import pytest

from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonObject, Media, Message, Text
from ctxcore.tokens.count import count_media, count_message, counter_for, media_is_estimated

OPENAI = counter_for("gpt-4o")
CLAUDE = counter_for("claude-opus-4-8")


def image(width: int | None, height: int | None, detail: str = "auto") -> Media:
    return Media(kind="image", raw="{}", width=width, height=height, detail=detail)


def inlined(mime: str, size_bytes: int) -> str:
    data = base64.b64encode(b"\x00" * size_bytes).decode()
    part: JsonObject = {"type": "file", "file": {"file_data": f"data:{mime};base64,{data}"}}
    return to_canonical(part)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (512, 512, 85 + 170),
        (1, 1, 85 + 170),
        (1024, 1024, 85 + 4 * 170),  # to 768 × 768: four tiles
        (2048, 4096, 85 + 6 * 170),  # to 1024 × 2048, then 768 × 1536: six tiles
        (513, 512, 85 + 2 * 170),
        (10_000, 1, 85 + 4 * 170),  # to 2048 × 1
    ],
)
def test_an_image_takes_openais_tiles(width: int, height: int, tokens: int) -> None:
    assert count_media(image(width, height), OPENAI) == tokens


def test_low_detail_takes_the_base_tokens_alone() -> None:
    assert count_media(image(4000, 4000, "low"), OPENAI) == 85


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(750, 100, 100), (1000, 1000, 1334), (5152, 750, 1288), (8000, 8000, 4784)],
)
def test_an_image_for_claude_takes_a_token_for_750_pixels(
    width: int, height: int, tokens: int
) -> None:
    assert count_media(image(width, height), CLAUDE) == tokens


def test_an_image_of_unknown_size_counts_as_1024_by_1024() -> None:
    assert count_media(image(None, None), OPENAI) == 765
    assert count_media(image(None, None), CLAUDE) == 1399


def test_a_sound_takes_ten_tokens_a_second() -> None:
    data = base64.b64encode(b"\x00" * 160_000).decode()
    raw = to_canonical({"type": "input_audio", "input_audio": {"data": data, "format": "mp3"}})

    assert count_media(Media(kind="audio", raw=raw), OPENAI) == pytest.approx(100, abs=1)
    assert count_media(Media(kind="audio", raw="{}"), OPENAI) == 1


def test_a_file_takes_its_pages_or_its_words() -> None:
    pdf = Media(kind="file", raw=inlined("application/pdf", 90_000))
    text = Media(kind="file", raw=inlined("text/plain", 4_000))
    named = Media(kind="file", raw='{"file":{"file_id":"f-1"},"type":"file"}')

    assert count_media(pdf, OPENAI) == 2 * 2_000
    assert count_media(text, OPENAI) == pytest.approx(1_000, rel=0.05)
    assert count_media(named, OPENAI) == 2_000


def test_media_count_within_their_message() -> None:
    message = Message(role="user", content=(Text(text="hello world"), image(512, 512)))

    assert count_message(message, OPENAI) == 4 + 2 + 255


def test_a_message_says_whether_its_media_are_estimated() -> None:
    seen, unseen = image(512, 512), image(None, None)
    sound = Media(kind="audio", raw="{}")

    assert not media_is_estimated(Message(role="user", content=(Text(text="hi"), seen)))
    assert media_is_estimated(Message(role="user", content=(seen, unseen)))
    assert media_is_estimated(Message(role="user", content=(sound,)))
