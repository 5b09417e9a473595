"""What is passed beside messages, checked where it comes in: tool definitions, knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.guarding import shown
from ctxcore.messages.shapes.foreign import refused_object

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
        raise MessageError(place="tools", problem="is an object; pass a list of definitions")
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        told = refused_object(given).partition(";")[0]
        raise MessageError(place="tools", problem=f"{told}; pass a list of definitions")
    for at, tool in enumerate(given):
        if not isinstance(tool, Mapping):
            told = f"{refused_object(tool).partition(';')[0]}; pass its definition as an object"
            raise MessageError(place=f"tools[{at}]", problem=told)
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
        told = refused_object(given).partition(";")[0]
        raise MessageError(place="knowledge", problem=f"{told}; pass texts by their names")
    for name, text in given.items():
        if not isinstance(name, str) or not isinstance(text, str):
            wrong = text if isinstance(name, str) else name
            problem = f"expected text, got {type(wrong).__name__}"
            raise MessageError(place=f"knowledge[{shown(name)}]", problem=problem)
    return dict(knowledge)
