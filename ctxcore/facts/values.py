"""Defines facts: literals and statements found in one message.

A fact keeps the words of its message. The ledger tells whether it still holds.
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
    "setting",
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
STATEMENTS: Final[tuple[Kind, ...]] = ("instruction", "decision", "setting")
"""The kinds that hold until a later statement takes them back or replaces them."""

# Salience by kind, before role, repetition and age. Chosen: what a later call cannot do without
# comes first, what can be looked up again last (docs/adr/0018-facts-and-worth.md).
KIND_SALIENCE: Final[dict[Kind, float]] = {
    "request": 10.0,  # for messages that are no longer passed; never found in one
    "instruction": 10.0,
    "todo": 8.0,
    "decision": 5.0,
    "setting": 5.0,  # as a decision: what a person says that a thing is
    "question": 3.0,
    "error": 4.0,
    "file_changed": 3.0,
    "change": 1.5,
    "identifier": 3.0,  # exact, and nowhere to be guessed from: calls name things by it
    "number": 2.0,
    "amount": 2.0,
    "date": 2.0,
    "url": 1.5,
    "path": 1.2,
    "file_read": 1.0,
    "name": 1.0,
}

# Chosen: people's words over the model's, both over what a tool printed.
ROLE_SALIENCE: Final[dict[Role, float]] = {
    "system": 1.0,
    "developer": 1.0,
    "user": 1.0,
    "assistant": 0.7,
    "tool": 0.35,
}


@dataclass(frozen=True, slots=True)
class ClauseChange:
    """A clause that may change an earlier rule."""

    said: str
    """Its words, without those that only tell of a change."""
    sign: float
    """How clearly it takes back or changes a rule."""
    freeing: float
    """The same of a rule that forbids or limits something, which a permission ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A literal or a statement in a message.

    `effect` is what it does to earlier facts: it states something, revokes or updates a rule,
    answers a question, fixes an error, or adds to a count. `topic` holds the content words of a
    sentence, by which rules, decisions and questions are matched.
    """

    kind: Kind
    text: str
    """The words of the message, on one line."""
    key: str
    """Equal for facts of one kind about the same thing."""
    subject: str = ""
    """The name of a number, the command of an error, the path of a file.

    Of a statement that binds a thing to a value: both (see `bindings`).
    """
    value: str = ""
    """The part that may change: a number, a count of changed lines, a state of progress.

    Of a rule, `latest` where it may mean the rule just given (see `Change.reach`).
    """
    effect: Effect = "states"
    topic: tuple[str, ...] = ()
    about: tuple[ClauseChange, ...] = ()
    """The clauses that may change earlier rules."""
    role: Role = "user"
    is_negative: bool = False
    """Whether an instruction forbids something."""
    weight: float = 1.0
    """Less than 1 for one of very many in its message, such as a pasted handbook."""

    @property
    def salience(self) -> float:
        """Salience by kind, role and weight alone."""
        return KIND_SALIENCE[self.kind] * ROLE_SALIENCE[self.role] * self.weight
