"""Reads the rules of one session with its edits, and the checkpoints of what held of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxcore.facts.checkpoints import Checkpoint
from ctxcore.facts.ledger import RulesTaken
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdits
from ctxcore.store.database import Database
from ctxcore.store.rule_books import read_checkpoint, read_taken
from ctxcore.store.stored_facts import MessageFacts, read_rules


@dataclass(frozen=True, slots=True)
class SessionRules:
    """What a cached book of rules reads of its session."""

    database: Database
    session_id: str
    edits: RuleEdits = NO_EDITS

    def rules(self, first: int, last: int, most: int | None = None) -> Iterable[MessageFacts]:
        with self.database.read() as connection:
            found = list(read_rules(connection, self.session_id, first, last, most))
        if not self.edits:
            return found
        until = found[-1][0] if most is not None and len(found) == most else last
        return list(self.edits.apply_all(found, first, until))

    def checkpoint(self, until: int) -> Checkpoint | None:
        with self.database.read() as connection:
            return read_checkpoint(connection, self.session_id, until, self.edits)

    def taken(self, until: int) -> Mapping[int, RulesTaken]:
        with self.database.read() as connection:
            return read_taken(connection, self.session_id, until, self.edits)
