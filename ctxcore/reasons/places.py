"""Owns how an error says where: in which message and key of it, file and line, or variable.

A `Place` is made for every message that is read, so it is cheap; what it says is put together only
where somebody asks.
"""

from __future__ import annotations

from typing import NamedTuple

from ctxcore.reasons.values import Code, Fact, Reason, blanks


class PlaceCode(Code):
    """Where something is wrong; a code has at most one blank where a `Place` begins with it."""

    AT = "place.at", "{place}: {problem}"
    """An error with its place."""
    WITHIN = "place.within", "{place}, {within}"
    MESSAGE = "place.message", "message {number}"
    ONE_MESSAGE = "place.one_message", "message"
    THE_MESSAGE = "place.the_message", "the message"
    SYSTEM_PROMPT = "place.system_prompt", "the system prompt"
    KEY = "place.key", "{name}"
    """An argument or a key, by the name that it has in code."""
    BLOCK = "place.block", "block {kind!r}"
    TOOL = "place.tool", "tools[{number}]"
    KNOWLEDGE_TEXT = "place.knowledge_text", "knowledge[{name!r}]"
    STATE = "place.state", "state"
    MODEL = "place.model", "model {name!r}"
    FILE = "place.file", "{path}"
    FILE_LINE = "place.file_line", "{path}, line {line}"
    LINE = "place.line", "line {line}"
    CONVERSATION = "place.conversation", "{path}, {id}"
    VARIABLE = "place.variable", "environment variable {variable}"
    ENV_FILE = "place.env_file", "{variable} in {path}"
    POLICY_OF = "place.policy_of", "the policy of {layer}"


class Place(NamedTuple):
    """A message, or what is passed beside messages, and the way from there inwards."""

    base: PlaceCode
    fact: Fact = None
    """What fills the blank of `base`, where it has one."""
    path: tuple[str | int, ...] = ()
    """Keys of objects, and places in lists from 0."""

    def within(self, *path: str | int) -> Place:
        """The place below this one at `path`."""
        return Place(self.base, self.fact, self.path + path)

    @property
    def reason(self) -> Reason:
        """The place as a code with facts."""
        base = self.base(**dict.fromkeys(blanks(self.base.text), self.fact))
        return PlaceCode.WITHIN(place=base, within=self._part()) if self.path else base

    def __str__(self) -> str:
        return str(self.reason)

    def _part(self) -> str:
        """The path as it is told: `content[2], text`."""
        told = "".join(f"[{one}]" if isinstance(one, int) else f", {one}" for one in self.path)
        return told.removeprefix(", ")


def in_file(path: str, line: int | None = None) -> Reason:
    """A file, or a line of it."""
    return PlaceCode.FILE(path=path) if line is None else PlaceCode.FILE_LINE(path=path, line=line)
