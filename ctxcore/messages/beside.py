"""What is passed beside messages, checked where it comes in: tool definitions, knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.shapes.foreign import named_object, with_way_out
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import Reason, quoted

Tools = Sequence[Mapping[str, object]]


def checked_tools(tools: Tools | None) -> Tools:
    """The tool definitions in `tools`; none for None.

    Raises:
        MessageError: it is no list of objects; the place is named, e.g. `tools[2]`.
    """
    if tools is None:
        return ()
    given: object = tools
    if isinstance(given, Mapping):
        raise _no_definitions(WhatCode.OBJECT())
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise _no_definitions(named_object(given))
    for at, tool in enumerate(given):
        if not isinstance(tool, Mapping):
            told = with_way_out(named_object(tool), WayOutCode.PASS_DEFINITION)
            raise MessageError(place=Place(PlaceCode.TOOL, at), problem=told)
    return cast("Tools", given)


def checked_knowledge(knowledge: Mapping[str, str] | None) -> dict[str, str]:
    """The texts of `knowledge` by name; none for None.

    Raises:
        MessageError: it is no object of texts; the place is named, e.g. `knowledge['faq']`.
    """
    if knowledge is None:
        return {}
    given: object = knowledge
    if not isinstance(given, Mapping):
        told = with_way_out(named_object(given), WayOutCode.PASS_TEXTS)
        raise MessageError(place=Place(PlaceCode.KEY, "knowledge"), problem=told)
    for name, text in given.items():
        if not isinstance(name, str) or not isinstance(text, str):
            wrong = text if isinstance(name, str) else name
            place = Place(PlaceCode.KNOWLEDGE_TEXT, quoted(name))
            raise MessageError(place=place, problem=MessageProblem.TEXT(kind=type(wrong).__name__))
    return dict(knowledge)


def _no_definitions(what: Reason) -> MessageError:
    told = with_way_out(what, WayOutCode.PASS_DEFINITIONS)
    return MessageError(place=Place(PlaceCode.KEY, "tools"), problem=told)
