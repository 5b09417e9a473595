"""Reads lists of messages: finds the shape of a list and applies its codec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ctxcore.errors import MessageError
from ctxcore.messages.foreign import form_problem, list_problem, with_way_out
from ctxcore.messages.openai import PLAIN_ROLES
from ctxcore.messages.shapes.anthropic import Anthropic
from ctxcore.messages.shapes.gemini import Gemini
from ctxcore.messages.shapes.langchain import LangChain
from ctxcore.messages.shapes.objects import ObjectCodec
from ctxcore.messages.shapes.openai_chat import OpenAIChat
from ctxcore.messages.shapes.pydantic_ai import PydanticAI
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.shapes.values import (
    Codec,
    PassedMessages,
    Refuse,
    Sent,
    SentGroup,
    Shape,
)
from ctxcore.messages.values import Message, SentObject
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import Reason, quoted

_CODECS: Final[Mapping[Shape, Codec]] = {
    "openai": OpenAIChat(),
    "anthropic": Anthropic(),
    "responses": Responses(),
    "gemini": Gemini(),
}
"""In order of preference, for lists that fit several."""
_OBJECTS: Final[Mapping[Shape, ObjectCodec]] = {
    "langchain": LangChain(),
    "pydantic-ai": PydanticAI(),
}

Given = Iterable[Mapping[str, object] | Message | Any]
"""Dictionaries of a provider, `Message` values, or message objects of a library."""


def codec_of(shape: Shape) -> Codec:
    """The codec of `shape`.

    Raises:
        ValueError: there is no such shape.
    """
    codec = _CODECS.get(shape) or _OBJECTS.get(shape)
    if codec is None:
        raise ValueError(f"unknown shape {shape!r}; one of {', '.join((*_CODECS, *_OBJECTS))}")
    return codec


def parse_messages(messages: Given) -> list[Message]:
    """`messages` as values, in whatever shape they are; values may stand among dictionaries.

    Raises:
        MessageError: an element is no message, or of another shape than those before it; its
            place is named, e.g. `message 3`.
    """
    return list(read_list(messages).messages)


def write_messages(messages: Iterable[Message], shape: Shape) -> list[SentObject]:
    """`messages` as dictionaries of `shape`; a provider that joins neighbours gets them joined.

    Raises:
        ValueError: there is no such shape.
    """
    groups = [SentGroup(message=one, sent=(Sent(message=one),)) for one in messages]
    return codec_of(shape).back(groups, None)


def parse_one(raw: Mapping[str, object]) -> Message:
    """One message, in whatever shape it is.

    Raises:
        MessageError: it is none, or stands for several.
    """
    found = parse_messages([raw])
    if len(found) != 1:
        problem = MessageProblem.SEVERAL(count=len(found))
        raise MessageError(place=Place(PlaceCode.MESSAGE, 0), problem=problem)
    return found[0]


def read_list(messages: Given, *, refuse: Refuse | None = None) -> PassedMessages:
    """`messages` as they were passed, with the values read from them.

    With `refuse`, messages that cannot be read are reported to it and left out.

    Raises:
        MessageError: `messages` is no list; without `refuse`, also what `parse_messages` says.
    """
    if (problem := list_problem(messages)) is not None:
        raise MessageError(place=Place(PlaceCode.KEY, "messages"), problem=problem)
    given, refuse = tuple(messages), refuse or _raise
    if (codec := _objects_codec(given)) is not None:
        read = codec.to(enumerate(given), refuse)
        return PassedMessages(
            shape=codec.shape, given=given, messages=read.messages, places=read.places
        )
    found = _ShapeFinder()
    has_plain = False
    for at, raw in enumerate(given):
        if type(raw) is dict and _is_plain(raw):
            has_plain = has_plain or found.look(at, raw, refuse)
        elif isinstance(raw, Mapping):
            found.look(at, raw, refuse)
    shape, refused = found.shape, found.refused
    entries = enumerate(given)
    read = _CODECS[shape].to(
        ((at, raw) for at, raw in entries if at not in refused) if refused else entries, refuse
    )
    return PassedMessages(
        shape=shape, given=given, messages=read.messages, places=read.places, also=found.also
    )


def _objects_codec(given: Sequence[object]) -> ObjectCodec | None:
    """The codec of a list that begins with a library's object, `Message` values aside."""
    first = next((one for one in given if not isinstance(one, Message)), None)
    if first is None or isinstance(first, Mapping):
        return None
    return next((codec for codec in _OBJECTS.values() if codec.owns(first)), None)


class _ShapeFinder:
    """Finds the shape of a list, message by message."""

    def __init__(self) -> None:
        self.refused: set[int] = set()
        self._left: Sequence[Codec] = tuple(_CODECS.values())
        self._own: set[Shape] = set()

    @property
    def shape(self) -> Shape:
        """The shape of all messages looked at: one that only it has, else the first that fits."""
        left = [codec.shape for codec in self._left]
        return next((shape for shape in left if shape in self._own), left[0])

    @property
    def also(self) -> frozenset[Shape]:
        """Other shapes that fit all messages as well; empty if one message has only one shape."""
        shapes = frozenset(codec.shape for codec in self._left)
        return shapes - {self.shape, "gemini"} if not self._own else frozenset()

    def look(self, at: int, raw: Mapping[str, object], refuse: Refuse) -> bool:
        """Whether the message at place `at` fits those before it; narrows the shapes that do."""
        if len(self._left) == 1 and self._left[0].detect(raw) != "no":
            return True  # most messages of a long list
        fits = [(codec, codec.detect(raw)) for codec in self._left]
        left = [codec for codec, fit in fits if fit != "no"]
        if not left:
            self.refused.add(at)
            refuse(at, self._unfitting(at, raw))
            return False
        self._left = left
        self._own.update(codec.shape for codec, fit in fits if fit == "own")
        return True

    def _unfitting(self, at: int, raw: Mapping[str, object]) -> MessageError:
        place = Place(PlaceCode.MESSAGE, at)
        fits = {codec: codec.detect(raw) for codec in _CODECS.values()}
        form = form_problem(raw)
        best = [c for c in fits if fits[c] == "own"] or [c for c in fits if fits[c] == "fits"]
        if form is not None or not best:
            return MessageError(place=place, problem=form or _unknown(raw))
        other = _CODECS[self.shape].maker
        problem = MessageProblem.OTHER_SHAPE(maker=best[0].maker, other=other)
        return MessageError(place=place, problem=problem)


def _is_plain(raw: dict[str, object]) -> bool:
    """Whether `raw` is a role and a text, which fits every shape but Gemini's."""
    return len(raw) == 2 and type(raw.get("content")) is str and raw.get("role") in PLAIN_ROLES


def _unknown(raw: Mapping[str, object]) -> Reason:
    is_typed = "type" in raw
    what = WhatCode.UNKNOWN_TYPE(kind=quoted(raw["type"])) if is_typed else WhatCode.UNKNOWN()
    return with_way_out(what, WayOutCode.EXPECTED)


def _raise(at: int, error: MessageError) -> None:
    raise error
