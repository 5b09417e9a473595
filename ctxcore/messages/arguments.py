"""Checks what callers pass along with messages: tools, knowledge, system prompt, focus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.foreign import named_object, with_way_out
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import quoted

Tools = Sequence[Mapping[str, object]]


def checked_tools(tools: Tools | None) -> Tools:
    """`tools` as a sequence of tool definitions; empty for None.

    Raises:
        MessageError: it is no list of objects; the place is named, e.g. `tools[2]`.
    """
    if tools is None:
        return ()
    given: object = tools
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        what = WhatCode.OBJECT() if isinstance(given, Mapping) else named_object(given)
        problem = with_way_out(what, WayOutCode.PASS_DEFINITIONS)
        raise MessageError(place=Place(PlaceCode.KEY, "tools"), problem=problem)
    for at, tool in enumerate(given):
        if not isinstance(tool, Mapping):
            problem = with_way_out(named_object(tool), WayOutCode.PASS_DEFINITION)
            raise MessageError(place=Place(PlaceCode.TOOL, at), problem=problem)
    return cast("Tools", given)


def checked_system(system: str | None) -> str | None:
    """`system` if it is a text or None.

    Raises:
        MessageError: it is neither.
    """
    return _text_or_none("system", system)


def checked_focus(focus: str | None) -> str:
    """`focus` without white space around it; empty for None.

    Raises:
        MessageError: it is neither a text nor None.
    """
    return (_text_or_none("focus", focus) or "").strip()


def _text_or_none(name: str, given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    place = Place(PlaceCode.KEY, name)
    raise MessageError(place=place, problem=MessageProblem.TEXT(kind=type(given).__name__))


def checked_knowledge(knowledge: Mapping[str, str] | None) -> dict[str, str]:
    """A copy of `knowledge`, texts by name; empty for None.

    Raises:
        MessageError: it is no object of texts; the place is named, e.g. `knowledge['faq']`.
    """
    if knowledge is None:
        return {}
    given: object = knowledge
    if not isinstance(given, Mapping):
        problem = with_way_out(named_object(given), WayOutCode.PASS_TEXTS)
        raise MessageError(place=Place(PlaceCode.KEY, "knowledge"), problem=problem)
    for name, text in given.items():
        if not isinstance(name, str) or not isinstance(text, str):
            wrong = text if isinstance(name, str) else name
            place = Place(PlaceCode.KNOWLEDGE_TEXT, quoted(name))
            raise MessageError(place=place, problem=MessageProblem.TEXT(kind=type(wrong).__name__))
    return dict(knowledge)
