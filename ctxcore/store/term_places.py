"""Finds messages by the words of the full-text index, newest first: of a session, or of a user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row

from ctxcore.recalling.index_words import forms_in_index
from ctxcore.store.database import any_query, places_sql


@dataclass(frozen=True, slots=True)
class Place:
    """A message of some session."""

    id: int
    session_id: str
    seq: int


def term_places(
    connection: Connection,
    session_id: str,
    terms: Sequence[Sequence[str]],
    *,
    before: int,
    most: int,
) -> list[list[int]]:
    """For each term the newest messages that have one of its forms; see `HistoryView.having`.

    One statement for all terms. SQLite reads only as much of its index as there is to find;
    PostgreSQL may look at all the session's rows of it for a word that is in few of them.
    """
    found: list[list[int]] = [[] for _ in terms]
    if before <= 1 or most <= 0:
        return found
    values = {"session_id": session_id, "last": before - 1, "most": most}
    for term, row in _rows(connection, terms, "session", values):
        found[term].append(row.seq)
    return [sorted(seqs, reverse=True) for seqs in found]  # a database may mix the terms


def user_term_places(
    connection: Connection, user_id: str, terms: Sequence[Sequence[str]], *, most: int
) -> tuple[list[list[Place]], int]:
    """For each term the newest messages of the user's sessions, and how many messages these have.

    For a term that no message has: those with a word that begins with it. One statement for all
    terms, and another where some are found by no message; without places the number is 0.
    """
    found: list[list[Place]] = [[] for _ in terms]
    messages = 0
    values = {"user_id": user_id, "most": most}
    for begins in (False, True):
        missing = [() if found[at] else forms for at, forms in enumerate(terms)]
        for term, row in _rows(connection, missing, "user", values, begins=begins):
            found[term].append(Place(row.id, row.session_id, row.seq))
            messages = int(row.messages)
    return found, messages


def _rows(
    connection: Connection,
    terms: Sequence[Sequence[str]],
    within: Literal["session", "user"],
    values: dict[str, Any],
    *,
    begins: bool = False,
) -> Iterator[tuple[int, Row[Any]]]:
    """The rows of the statement, each with the place of its term in `terms`."""
    sought = [(at, forms) for at, each in enumerate(terms) if (forms := forms_in_index(each))]
    if not sought:
        return
    queries = {
        f"query_{at}": any_query(connection, forms, begins=begins)
        for at, (_, forms) in enumerate(sought)
    }
    statement = places_sql(connection, len(sought), within=within)
    for row in connection.execute(statement, {**values, **queries}).all():
        yield sought[row.term][0], row
