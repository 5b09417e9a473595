"""Writes the rules that hold at a message as JSON, so that a later process goes on from there.

A checkpoint also has what rules took back since the one before it, for the ledger of all facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from ctxcore.errors import UnreadableError
from ctxcore.facts.finding import FINDER, dump_facts, load_facts
from ctxcore.facts.ledger import Entry, Ledger, RulesTaken, live
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import StoreProblem

KEEPER: Final = 2
"""The version of what rules take back; raise it when `superseding` decides otherwise."""
VERSION: Final = f"{FINDER}.{KEEPER}"
"""Checkpoints of another version count as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The rules that hold when message `seq` is the last."""

    seq: int
    standing: tuple[Entry, ...]
    taken: Mapping[int, RulesTaken] = field(default_factory=dict)
    """What rules took back since the checkpoint before, by the number of their message."""


def dump_standing(standing: Sequence[Entry]) -> str:
    """The rules that hold as canonical JSON."""
    held: list[JsonValue] = [
        [entry.fact.role, list(entry.seqs), entry.mentions] for entry in standing
    ]
    return to_canonical({"facts": dump_facts(tuple(e.fact for e in standing)), "held": held})


def load_standing(text: str) -> tuple[Entry, ...]:
    """The rules that `dump_standing` wrote.

    Raises:
        ValueError: the text is none of its.
    """
    stored = cast("dict[str, Any]", parse_canonical(text))
    try:
        facts, held = load_facts(stored["facts"], "user") or (), stored["held"]
        entries = [
            Entry(fact=replace(fact, role=role), seqs=tuple(seqs), salience=0.0, mentions=mentions)
            for fact, (role, seqs, mentions) in zip(facts, held, strict=True)
        ]
    except (TypeError, KeyError, ValueError) as error:
        raise UnreadableError(StoreProblem.NO_FACTS(reason=reason_of(error))) from error
    return tuple(live(Ledger.of_rules(entries)))


def dump_taken(taken: Mapping[int, RulesTaken]) -> str:
    """What rules took back as canonical JSON."""
    return to_canonical([[seq, [list(keys) for keys in rules]] for seq, rules in taken.items()])


def load_taken(text: str) -> dict[int, RulesTaken]:
    """What `dump_taken` wrote.

    Raises:
        ValueError: the text is none of its.
    """
    stored = cast("Any", parse_canonical(text))
    try:
        return {seq: tuple(map(tuple, rules)) for seq, rules in stored}
    except (TypeError, ValueError) as error:
        raise UnreadableError(StoreProblem.NO_FACTS(reason=reason_of(error))) from error
