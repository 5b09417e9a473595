"""The codecs there are; where a list fits several, the first one reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ctxcore.messages.shapes.anthropic import Anthropic
from ctxcore.messages.shapes.gemini import Gemini
from ctxcore.messages.shapes.openai_chat import OpenAIChat
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.shapes.values import Codec, Shape

CODECS: Final[Mapping[Shape, Codec]] = MappingProxyType(
    {
        "openai": OpenAIChat(),
        "anthropic": Anthropic(),
        "responses": Responses(),
        "gemini": Gemini(),
    }
)


def codec_of(shape: Shape) -> Codec:
    """The codec of `shape`.

    Raises:
        ValueError: there is no such shape.
    """
    if shape not in CODECS:
        raise ValueError(f"unknown shape {shape!r}; one of {', '.join(CODECS)}")
    return CODECS[shape]
