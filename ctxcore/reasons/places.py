"""Where an error is: a message and a key in it, a file and its line, or a variable.

A `Place` is made for every message that is read, so it is cheap: its text is built only on demand.
"""

from __future__ import annotations

from typing import NamedTuple

from ctxcore.reasons.values import Code, Fact, Reason, blanks


class PlaceCode(Code):
    """The places of problems; a code that a `Place` uses as its base has at most one blank."""

    AT = "place.at", "{place}: {problem}"
    """A problem with its place."""
    WITHIN = "place.within", "{place}, {within}"
    MESSAGE = "place.message", "message {number}"
    ONE_MESSAGE = "place.one_message", "message"
    THE_MESSAGE = "place.the_message", "the message"
    SYSTEM_PROMPT = "place.system_prompt", "the system prompt"
    KEY = "place.key", "{name}"
    """An argument or a key, by its name in code."""
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
    """A message or another argument, and a path into it."""

    base: PlaceCode
    fact: Fact = None
    """The fact for the blank of `base`, if it has one."""
    path: tuple[str | int, ...] = ()
    """Keys of objects and indexes of lists."""

    def within(self, *path: str | int) -> Place:
        """The place at `path` below this one."""
        return Place(self.base, self.fact, self.path + path)

    @property
    def reason(self) -> Reason:
        """The place as a code with facts."""
        base = self.base(**dict.fromkeys(blanks(self.base.text), self.fact))
        if not self.path:
            return base
        steps = (f"[{step}]" if isinstance(step, int) else f", {step}" for step in self.path)
        within = "".join(steps).removeprefix(", ")  # e.g. `content[2], text`
        return PlaceCode.WITHIN(place=base, within=within)

    def __str__(self) -> str:
        return str(self.reason)


def in_file(path: str, line: int | None = None) -> Reason:
    """The place of a file, or of a line in it."""
    return PlaceCode.FILE(path=path) if line is None else PlaceCode.FILE_LINE(path=path, line=line)
