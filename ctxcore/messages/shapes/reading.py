"""The codecs there are; where a list fits several, the first one reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.messages.foreign import form_problem, list_problem, with_way_out
from ctxcore.messages.shapes.anthropic import Anthropic
from ctxcore.messages.shapes.gemini import Gemini
from ctxcore.messages.shapes.openai_chat import OpenAIChat
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.shapes.values import Codec, Fit, Passed, Refuse, Shape
from ctxcore.messages.values import Message
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import Reason, quoted

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


_TALKERS: Final = ("user", "assistant", "system")

Given = Iterable[Mapping[str, object] | Message]


def parse_messages(messages: Given) -> list[Message]:
    """`messages` as values, in whatever shape they are; values may stand among dictionaries.

    Raises:
        MessageError: one is no message, or of another shape than those before it; its place is
            named, e.g. `message 3`.
    """
    return list(read_list(messages).messages)


def parse_one(raw: Mapping[str, object]) -> Message:
    """One message, in whatever shape it is.

    Raises:
        MessageError: it is none, or stands for several.
    """
    found = parse_messages([raw])
    if len(found) != 1:
        raise MessageError(
            place=Place(PlaceCode.MESSAGE, 0),
            problem=MessageProblem.SEVERAL(count=len(found)),
        )
    return found[0]


def read_list(messages: Given, *, refuse: Refuse | None = None) -> Passed:
    """`messages` as they were passed, with the values read from them.

    With `refuse` what cannot be read is told and left out.

    Raises:
        MessageError: `messages` is no list; without `refuse`, also what `parse_messages` says.
    """
    given, refuse = listed(messages), refuse or _raise
    found = _Finding()
    for at, raw in enumerate(given):
        if type(raw) is dict and _is_talk(raw):
            if not found.has_talk:
                found.has_talk = found.look(at, raw, refuse)
        elif isinstance(raw, Mapping):
            found.look(at, raw, refuse)
    codec = CODECS[found.shape]
    read = codec.to(_entries(given, found.refused), refuse)
    return Passed(
        shape=codec.shape,
        given=given,
        messages=read.messages,
        places=read.places,
        also=found.also,
    )


def listed(messages: object) -> tuple[object, ...]:
    """What is in a list of messages.

    Raises:
        MessageError: it is no list.
    """
    problem = list_problem(messages)
    if problem is not None:
        raise MessageError(place=Place(PlaceCode.KEY, "messages"), problem=problem)
    assert isinstance(messages, Iterable)  # whatever is none was refused
    return tuple(messages)


class _Finding:
    """Finds the shape of a list, message by message."""

    def __init__(self) -> None:
        self.refused: set[int] = set()
        self.has_talk = False
        self._left: Sequence[Codec] = tuple(CODECS.values())
        self._own: set[Shape] = set()

    @property
    def shape(self) -> Shape:
        """The shape of all messages looked at: one that only it has, else the first that fits."""
        left = [codec.shape for codec in self._left]
        return next((shape for shape in left if shape in self._own), left[0])

    @property
    def also(self) -> frozenset[Shape]:
        """Shapes that the messages are in as well, where nothing is of one shape alone."""
        shapes = frozenset(codec.shape for codec in self._left)
        return shapes - {self.shape, "gemini"} if not self._own else frozenset()

    def look(self, at: int, raw: Mapping[str, object], refuse: Refuse) -> bool:
        """Takes the message at place `at` in; whether it fits those before it."""
        if len(self._left) == 1 and self._left[0].detect(raw) != "no":
            return True  # nearly every message of a long list
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
        fits: dict[Codec, Fit] = {codec: codec.detect(raw) for codec in CODECS.values()}
        form = form_problem(raw)
        best = [c for c in fits if fits[c] == "own"] or [c for c in fits if fits[c] == "fits"]
        if form is not None or not best:
            return MessageError(place=place, problem=form or _unknown(raw))
        return MessageError(
            place=place,
            problem=MessageProblem.OTHER_SHAPE(maker=best[0].maker, other=CODECS[self.shape].maker),
        )


def _is_talk(raw: dict[str, object]) -> bool:
    """Whether `raw` is a role and words, which says nothing of its shape."""
    return len(raw) == 2 and type(raw.get("content")) is str and raw.get("role") in _TALKERS


def _entries(given: Sequence[object], refused: set[int]) -> Iterator[tuple[int, object]]:
    entries = enumerate(given)
    return ((at, raw) for at, raw in entries if at not in refused) if refused else entries


def _unknown(raw: Mapping[str, object]) -> Reason:
    is_typed = "type" in raw
    what = WhatCode.UNKNOWN_TYPE(kind=quoted(raw["type"])) if is_typed else WhatCode.UNKNOWN()
    return with_way_out(what, WayOutCode.EXPECTED)


def _raise(at: int, error: MessageError) -> None:
    raise error
