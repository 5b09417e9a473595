"""Owns what a fact is: a literal of one message, of one kind, with what makes two facts the same.

A fact holds the words as they were said. Whether it still holds is the ledger's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ctxcore.messages.values import Role

Kind = Literal[
    "request",
    "instruction",
    "todo",
    "decision",
    "question",
    "error",
    "file_changed",
    "change",
    "identifier",
    "number",
    "amount",
    "date",
    "url",
    "path",
    "file_read",
    "name",
]
Effect = Literal["states", "revokes", "updates", "answers", "fixes", "adds"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# What a fact of a kind is worth before who said it, how often and how long ago: what a later call
# cannot do without first, what can be looked up again last.
KIND_WORTH: Final[dict[Kind, float]] = {
    "request": 10.0,  # told of messages that nobody passes any more; never found in one
    "instruction": 10.0,
    "todo": 8.0,
    "decision": 5.0,
    "question": 3.0,
    "error": 4.0,
    "file_changed": 3.0,
    "change": 1.5,
    "identifier": 2.0,
    "number": 2.0,
    "amount": 2.0,
    "date": 2.0,
    "url": 1.5,
    "path": 1.2,
    "file_read": 1.0,
    "name": 1.0,
}

# People's words over the model's, both over what a tool printed.
ROLE_WORTH: Final[dict[Role, float]] = {
    "system": 1.0,
    "developer": 1.0,
    "user": 1.0,
    "assistant": 0.7,
    "tool": 0.35,
}


Cue = Literal["turns", "lifts", "permits", "allows"]


@dataclass(frozen=True, slots=True)
class Aim:
    """What one clause changes, by its content words, and how.

    It `turns` to another value, `lifts` what held, `permits` again, or `allows` without a word of
    what was before.
    """

    cue: Cue
    matter: tuple[str, ...]
    done: tuple[str, ...] = ()
    """What is done with it, where that is named apart: a rule that speaks of none of it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing a message says.

    `effect` is what the fact does to earlier ones: it states something, revokes or updates a rule,
    answers a question, fixes an error, or adds to a count. `matter` holds the content words of a
    sentence, by which rules, decisions and questions are matched.
    """

    kind: Kind
    text: str
    """The literal, on one line, as it was said."""
    key: str
    """Two facts of one kind and key are the same thing."""
    subject: str = ""
    """What it is about: the name of a number, the command of an error, the path of a file."""
    value: str = ""
    """The part that may change: a number, a count of changed lines, a state of progress.

    Of a rule, how it points at earlier ones: `latest`, `perhaps` (`revoking`), or `anew`: said with
    “from now on”, so that one other word in the same sentence is its new value.
    """
    effect: Effect = "states"
    matter: tuple[str, ...] = ()
    about: tuple[Aim, ...] = ()
    """Of what changes earlier rules: each thing that it changes."""
    role: Role = "user"
    is_negative: bool = False
    """Of an instruction: whether it forbids."""
    weight: float = 1.0
    """Less than 1 for one of very many in its message, as in a handbook pasted whole."""

    @property
    def worth(self) -> float:
        """What it is worth by its kind and its speaker alone."""
        return KIND_WORTH[self.kind] * ROLE_WORTH[self.role] * self.weight
