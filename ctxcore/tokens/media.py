"""Owns what images, sounds and files take, by the providers' published formulas.

Only an image whose size can be seen is counted; all else is an estimate, and is said to be one.
"""

from __future__ import annotations

from math import ceil

from ctxcore.messages.values import Media, Message
from ctxcore.tokens.counter import TokenCounter

_UNKNOWN_SIZE = (1024, 1024)  # 765 tokens for OpenAI, 1,399 for Claude

# OpenAI, "Calculating costs" of the vision guide, for gpt-4o, gpt-4.1 and gpt-4.5: fit into
# 2048 × 2048, then bring the shorter side down to 768, then count tiles of 512.
_LOW_DETAIL_TOKENS = 85
_TILE_TOKENS = 170
_TILE_PIXELS = 512
_OPENAI_LONG_PIXELS = 2048
_OPENAI_SHORT_PIXELS = 768

# Anthropic's vision guide: width × height / 750, after bringing the longer side down to 2,576
# pixels and the whole to 3.75 megapixels, 4,784 tokens (Claude 4.7 on; 1,568 and 1,600 before).
_CLAUDE_PIXELS_PER_TOKEN = 750
_CLAUDE_LONG_PIXELS = 2576
_CLAUDE_MAX_TOKENS = 4784

_BASE64_MARKS = (";base64,", '"type":"base64"', '"input_audio"')
_TEXT_MARKS = ("data:text/", '"media_type":"text/')
_AUDIO_BYTES_PER_TOKEN = 1_600  # ten tokens a second (OpenAI), 16 kB a second (128 kbit/s)
_TEXT_BYTES_PER_TOKEN = 4
_PAGE_TOKENS = 2_000  # Anthropic: 1,500 to 3,000 tokens a page of a PDF
_PAGE_BYTES = 50_000


def count_media(media: Media, counter: TokenCounter) -> int:
    """The tokens of `media`, by Anthropic's formula under a counter for Claude, else OpenAI's."""
    if media.kind == "image":
        return _count_image(media, for_claude=counter.id.startswith("estimate:claude"))
    data_bytes = len(media.raw) * 3 // 4 if any(m in media.raw for m in _BASE64_MARKS) else 0
    if media.kind == "audio":
        return max(1, data_bytes // _AUDIO_BYTES_PER_TOKEN)
    if data_bytes and any(mark in media.raw for mark in _TEXT_MARKS):
        return max(1, data_bytes // _TEXT_BYTES_PER_TOKEN)
    pages = max(1, ceil(data_bytes / _PAGE_BYTES))
    return max(pages * _PAGE_TOKENS, 0 if data_bytes else counter.count(media.raw))


def media_is_estimated(message: Message) -> bool:
    """Whether the message holds a sound, a file, or an image whose size cannot be seen."""
    return any(
        isinstance(part, Media) and not (part.kind == "image" and part.width and part.height)
        for part in message.content
    )


def _count_image(media: Media, *, for_claude: bool) -> int:
    size = (media.width, media.height) if media.width and media.height else _UNKNOWN_SIZE
    width, height = size
    if for_claude:
        width, height = _shrunk(width, height, max(width, height), _CLAUDE_LONG_PIXELS)
        return min(_CLAUDE_MAX_TOKENS, ceil(width * height / _CLAUDE_PIXELS_PER_TOKEN))
    if media.detail == "low":
        return _LOW_DETAIL_TOKENS
    width, height = _shrunk(width, height, max(width, height), _OPENAI_LONG_PIXELS)
    width, height = _shrunk(width, height, min(width, height), _OPENAI_SHORT_PIXELS)
    tiles = ceil(width / _TILE_PIXELS) * ceil(height / _TILE_PIXELS)
    return _LOW_DETAIL_TOKENS + _TILE_TOKENS * tiles


def _shrunk(width: int, height: int, side: int, limit: int) -> tuple[int, int]:
    """The size scaled so that `side`, one of its two, is at most `limit`."""
    if side <= limit:
        return width, height
    return max(1, width * limit // side), max(1, height * limit // side)
