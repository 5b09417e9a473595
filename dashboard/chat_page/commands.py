"""The commands of the chat input: what they are, and what a text in it means; pure functions.

A word behind a slash is a command and is never sent to the model, known or not. A path such as
`/etc/hosts` is ordinary text, and `//word` sends the text `/word`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Takes: TypeAlias = Literal["nothing", "optional", "required"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command by its name, and whether something stands behind it."""

    name: str
    takes: Takes = "nothing"


COMMANDS: Final = (
    Command(name="compact", takes="optional"),
    Command(name="recall", takes="required"),
    Command(name="pin", takes="optional"),
    Command(name="unpin", takes="required"),
    Command(name="undo"),
    Command(name="redo"),
    Command(name="retry"),
    Command(name="new"),
    Command(name="help"),
)

_BY_NAME: Final = {command.name: command for command in COMMANDS}
_WORD: Final = re.compile(r"\s*/(?P<second>/?)(?P<name>[\w-]*)(?:\s+(?P<rest>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a text in the input means: a text to send, or a command, known or not."""

    text: str
    """What is sent, or what stands behind the command."""
    name: str | None = None
    """The word behind the slash; None for a text to send."""

    @property
    def command(self) -> Command | None:
        """The command; None for a text to send and for an unknown word."""
        return _BY_NAME.get(self.name) if self.name is not None else None


def read_typed(text: str) -> Typed:
    """What `text` means: a slash alone and an unknown word are commands without a name of ours."""
    found = _WORD.fullmatch(text)
    if found is None or (found["second"] and not found["name"]):
        return Typed(text=text)
    if found["second"]:  # the way to send what looks like a command
        return Typed(text=text.lstrip()[1:])
    if not found["name"] and found["rest"]:
        return Typed(text=text)  # `/ 2` is no command
    return Typed(text=(found["rest"] or "").strip(), name=found["name"].lower())


def message_number(text: str) -> int | None:
    """The number (from 1) that `text` names, with or without `#`; None if it is none."""
    digits = text.removeprefix("#").strip()
    return int(digits) if digits.isdecimal() and len(digits) < 10 else None
