"""Reads the facts that were stored with messages.

Rows that are older than stored facts have none; theirs are found when they are read and not
written, since rows of messages are only inserted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select, text

from ctxcore.facts.finding import INSTRUCTING, find_rules, load_facts
from ctxcore.facts.ledger import rules_among
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.store.rows import read_message
from ctxcore.tables import MESSAGE

logger = logging.getLogger(__name__)

MessageFacts = tuple[int, Sequence[Fact]]
"""A sequence number and the facts of that message."""

_in_range = (
    MESSAGE.c.session_id == bindparam("session_id"),
    MESSAGE.c.seq.between(bindparam("first"), bindparam("last")),
)
_FACTS: Select[Any] = (
    select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.facts).where(*_in_range).order_by(MESSAGE.c.seq)
)
_RULES: Select[Any] = (
    select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.facts, MESSAGE.c.body)
    # The text of the partial index's condition, so that the planner uses that index.
    .where(*_in_range, text("(message.rules IS NULL OR message.rules > 0)"))
    .where(MESSAGE.c.role.in_(INSTRUCTING))
    .order_by(MESSAGE.c.seq)
)
_FIRST_RULES = _RULES.limit(bindparam("most"))


def read_facts(
    connection: Connection, session_id: str, first: int, last: int
) -> list[tuple[int, tuple[Fact, ...] | None]]:
    """The facts of the messages first … last; None where none were stored."""
    values = {"session_id": session_id, "first": first, "last": last}
    return [
        (seq, _load(stored, role, session_id, seq))
        for seq, role, stored in connection.execute(_FACTS, values)
    ]


def read_rules(
    connection: Connection, session_id: str, first: int, last: int, most: int | None = None
) -> Iterator[MessageFacts]:
    """The rules of the messages first … last; reads only messages that set or revoke some.

    With `most`, of so many of those.
    """
    values = {"session_id": session_id, "first": first, "last": last, "most": most}
    found = _RULES if most is None else _FIRST_RULES
    for seq, role, stored, body in connection.execute(found, values):
        facts = _load(stored, role, session_id, seq)
        if facts is not None:
            yield seq, rules_among(facts)
        else:
            message, damage = read_message(body, role, session_id=session_id, seq=seq)
            if damage is None:
                yield seq, find_rules(message)


def _load(stored: str | None, role: Role, session_id: str, seq: int) -> tuple[Fact, ...] | None:
    """The stored facts; None where they have to be found again, also because of damage."""
    try:
        return load_facts(stored, role)
    except (ValueError, RecursionError):
        logger.warning("damaged facts session=%s seq=%d", session_id, seq)
        return None
