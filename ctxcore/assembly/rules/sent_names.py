"""Owns the names that tools are sent under: what one becomes that a provider refuses.

The same name always becomes the same, whatever else a conversation says, so that what was sent
before stays as it was and a prompt cache holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from ctxcore.assembly.rules.repair import Repair
from ctxcore.reasons.codes import RepairCode

LONGEST_NAME: Final = 64
_SENT_EVERYWHERE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS = 6


@lru_cache(maxsize=1024)  # the same tools are called in every context
def is_sent_everywhere(name: str) -> bool:
    """Whether every provider takes `name` as a tool's."""
    return bool(_SENT_EVERYWHERE.fullmatch(name))


class SentNames:
    """The names that tools are sent under, given those that are defined.

    A defined tool keeps its name, with `_` for what is not allowed; where two would become the
    same, each that changes has a digest of its own name behind it. A name that nobody defined
    always has one.
    """

    def __init__(self, defined: Iterable[str] = ()) -> None:
        names = tuple(dict.fromkeys(defined))
        becomes = Counter(map(_legal, names))
        self._sent = {
            name: _legal(name) if becomes[_legal(name)] == 1 else _digested(name)
            for name in names
            if not is_sent_everywhere(name)
        }

    @property
    def original(self) -> Mapping[str, str]:
        """What defined names become that a provider refuses, with the names themselves."""
        return {sent: name for name, sent in self._sent.items()}

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What the definitions were made legal by."""
        renamed = (
            RepairCode.RENAMED_TOOL(name=name, new_name=sent) for name, sent in self._sent.items()
        )
        return tuple(Repair(reason=reason, at=None) for reason in renamed)

    def applied(self, tools: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
        """`tools` as they are sent; one that keeps its name is the caller's own object."""
        return renamed_tools(tools, self._sent)

    def of(self, name: str) -> str:
        """What the tool `name` is sent as."""
        if is_sent_everywhere(name):
            return name
        return self._sent.get(name) or _digested(name)


def defined_names(tools: Iterable[Mapping[str, object]]) -> list[str]:
    """The names in tool definitions of any form, in order."""
    return [
        name
        for tool in tools
        for function in _functions(tool)
        if isinstance(name := function.get("name"), str)
    ]


def renamed_tools(
    tools: Sequence[Mapping[str, object]], names: Mapping[str, str]
) -> list[Mapping[str, object]]:
    """`tools` under other names; a definition that keeps its name is the caller's own object."""
    return [_renamed(tool, names) for tool in tools] if names else list(tools)


def plain(text: str) -> str:
    """`text` with `_` for characters that a provider refuses."""
    return _OTHERS.sub("_", text)


def with_digest(text: str, of: str, *, most: int) -> str:
    """`text` within `most` characters, with a digest of what it stands for behind it."""
    digest = sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{text[: most - len(digest) - 1]}_{digest}"


def _legal(name: str) -> str:
    """`name` as every provider takes it; too long a name ends in a digest."""
    if is_sent_everywhere(name):
        return name
    legal = plain(name)
    legal = legal if legal[:1].isalpha() or legal[:1] == "_" else f"_{legal}"
    return legal if len(legal) <= LONGEST_NAME else with_digest(legal, name, most=LONGEST_NAME)


def _digested(name: str) -> str:
    return with_digest(_legal(name), name, most=LONGEST_NAME)


def _functions(tool: Mapping[str, object]) -> list[Mapping[str, object]]:
    """What says the names in a definition: Gemini lists several functions in one tool."""
    for key in ("function", "toolSpec"):
        inner = tool.get(key)
        if isinstance(inner, Mapping):
            return [inner]
    listed = tool.get("function_declarations") or tool.get("functionDeclarations")
    if isinstance(listed, list):
        return [one for one in listed if isinstance(one, Mapping)]
    return [tool]


def _renamed(tool: Mapping[str, object], names: Mapping[str, str]) -> Mapping[str, object]:
    if not any(function.get("name") in names for function in _functions(tool)):
        return tool
    return {key: _renamed_value(key, value, names) for key, value in tool.items()}


def _renamed_value(key: str, value: Any, names: Mapping[str, str]) -> object:
    """What stands under a definition's `key`, with the names in it replaced."""
    if key == "name":
        return names.get(value, value)
    if key in ("function", "toolSpec") and isinstance(value, Mapping):
        return {**value, "name": names.get(value["name"], value["name"])}
    if key in ("function_declarations", "functionDeclarations") and isinstance(value, list):
        return [_renamed(one, names) if isinstance(one, Mapping) else one for one in value]
    return value


NO_TOOLS: Final = SentNames()
