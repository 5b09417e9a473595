"""Owns naming stored sessions in few characters: the shortest beginnings that tell ids apart.

A session of one's own is found by any beginning of its id that no other session has.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.store.values import SessionInfo

LEAST_CHARS = 8
_MOST_NAMED = 5


def short_ids(session_ids: Iterable[str]) -> dict[str, str]:
    """For each id its shortest beginning of at least `LEAST_CHARS` that no other one has.

    An id that another one begins with is its own: it is the exact id and wins.
    """
    ids = sorted(set(session_ids))
    around = zip(["", *ids], ids, [*ids[1:], ""], strict=False)
    return {
        own: own[: max(LEAST_CHARS, 1 + max(_shared(own, before), _shared(own, after)))]
        for before, own, after in around
    }


def own_ids(engine: ContextEngine, beginning: str = "") -> list[str]:
    """The ids of the sessions that the user may look at, deleted ones among them."""
    user = engine.store.user(engine.user_id)
    return engine.store.session_ids(None if user.is_operator else user.id, beginning=beginning)


def find_session(engine: ContextEngine, beginning: str) -> SessionInfo:
    """The session whose id is, or begins with, `beginning`.

    Raises:
        SessionAmbiguousError: several do; it names them.
        SessionNotFoundError: none does.
        NotAllowedError: it is the id of somebody else's session.
    """
    from ctxcore.store.errors import SessionAmbiguousError

    found = own_ids(engine, beginning) if beginning else []
    if beginning in found or not found:
        return engine.session(beginning)
    if len(found) == 1:
        return engine.session(found[0])
    named = short_ids(found)
    told = [f"{named[one]} {engine.session(one).title!r}" for one in found[:_MOST_NAMED]]
    raise SessionAmbiguousError(beginning=beginning, candidates=told, count=len(found))


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
