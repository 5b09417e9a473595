"""What people say of the rules that were found: which are none, and which were missed.

The facts of a message are read with its edits, so that whatever reads rules follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from ctxcore.facts.reading import statement_key
from ctxcore.facts.values import Fact
from ctxcore.messages.canonical import digest_of_texts
from ctxcore.plain import Plain

RuleEditKind = Literal["add", "dismiss"]
RULE_EDIT_KINDS: Final = get_args(RuleEditKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEdit(Plain):
    """Words of a message that are a standing instruction, or that are none.

    A dismissal also holds for later messages that say the same.
    """

    kind: RuleEditKind
    seq: int
    """The message, from 1; 0 stands for one before the first."""
    text: str

    @property
    def key(self) -> str:
        """Equal for the same words."""
        return statement_key(self.text)


@dataclass(frozen=True, slots=True)
class RuleEdits:
    """The edits of the rules of one history; as a value, equal where they say the same."""

    edits: tuple[RuleEdit, ...] = ()
    _dismissed: dict[str, int] = field(init=False, repr=False, compare=False)
    """From which message on the words with a key are no rule."""
    _added: dict[int, list[RuleEdit]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dismissed, added = dict[str, int](), dict[int, list[RuleEdit]]()
        for edit in self.edits:
            if edit.kind == "add":
                added.setdefault(edit.seq, []).append(edit)
            else:
                dismissed[edit.key] = min(edit.seq, dismissed.get(edit.key, edit.seq))
        object.__setattr__(self, "_dismissed", dismissed)
        object.__setattr__(self, "_added", added)

    @classmethod
    def of(cls, edits: Iterable[RuleEdit]) -> RuleEdits:
        """The value of `edits`, in whatever order they were made."""
        known = sorted(edits, key=lambda edit: (edit.seq, edit.kind, edit.key))
        return cls(tuple(known)) if known else NO_EDITS

    def __bool__(self) -> bool:
        return bool(self.edits)

    @property
    def begin(self) -> int:
        """The first message whose facts they may change."""
        return min((edit.seq for edit in self.edits), default=0)

    @property
    def digest(self) -> str:
        """Short, and other for other edits."""
        return digest_of_texts([f"{edit.kind} {edit.seq} {edit.key}" for edit in self.edits])

    def is_dismissed(self, seq: int, key: str) -> bool:
        """Whether words with this key are no rule where message `seq` says them."""
        since = self._dismissed.get(key)
        return since is not None and seq >= since

    def is_added(self, key: str) -> bool:
        """Whether words with this key were added as a rule."""
        return any(edit.key == key for added in self._added.values() for edit in added)

    def apply_all(
        self, said: Sequence[tuple[int, Sequence[Fact]]], first: int, last: int
    ) -> Iterator[tuple[int, Sequence[Fact]]]:
        """`apply` to the facts of messages by number; with messages first … last that had none."""
        known = dict(said)
        for seq in sorted({*known, *(seq for seq in self._added if first <= seq <= last)}):
            yield seq, self.apply(seq, known.get(seq, ()))

    def apply(self, seq: int, facts: Sequence[Fact]) -> Sequence[Fact]:
        """The facts of message `seq` as people see them; `facts` were found in it."""
        if not self.edits:
            return facts
        added = self._added.get(seq, ())
        known = {edit.key for edit in added}
        kept = [
            fact
            for fact in facts
            if fact.kind != "instruction"
            or not (fact.key in known or self.is_dismissed(seq, fact.key))
        ]
        if len(kept) == len(facts) and not added:
            return facts
        return (*kept, *(_rule(edit.text) for edit in added))


NO_EDITS: Final = RuleEdits()


def lays_down(facts: Iterable[Fact], key: str) -> bool:
    """Whether one of the `facts` of a message is a rule with this key, no mere change of one."""
    rules = (fact for fact in facts if fact.kind == "instruction" and fact.effect != "revokes")
    return any(fact.key == key for fact in rules)


def _rule(text: str) -> Fact:
    from ctxcore.facts.rules import given_rule  # late: has many patterns

    return given_rule(text)
