"""Reads the rules of one session, and the checkpoints of what held of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxcore.facts.checkpoints import Checkpoint
from ctxcore.facts.ledger import RulesTaken
from ctxcore.store.database import Database
from ctxcore.store.rule_books import read_checkpoint, read_taken
from ctxcore.store.stored_facts import MessageFacts, read_rules


@dataclass(frozen=True, slots=True)
class SessionRules:
    """What a cached book of rules reads of its session."""

    database: Database
    session_id: str

    def rules(self, first: int, last: int, most: int | None = None) -> Iterable[MessageFacts]:
        with self.database.read() as connection:
            return list(read_rules(connection, self.session_id, first, last, most))

    def checkpoint(self, until: int) -> Checkpoint | None:
        with self.database.read() as connection:
            return read_checkpoint(connection, self.session_id, until)

    def taken(self, until: int) -> Mapping[int, RulesTaken]:
        with self.database.read() as connection:
            return read_taken(connection, self.session_id, until)
