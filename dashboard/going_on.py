"""Owns where a conversation goes on after a person chose a new session: kept across restarts.

The note holds as long as nothing was said in the old session since.
"""

from __future__ import annotations

from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError
from ctxcore.store.values import SessionInfo


def note_move(engine: ContextEngine, old_id: str, new_id: str) -> None:
    """Keeps that the old session goes on in the new one."""
    length = engine.session(old_id).length
    engine.store.save_setting(_key(old_id), {"session_id": new_id, "length": length})


def moved_to(engine: ContextEngine, session: SessionInfo) -> SessionInfo | None:
    """The session in which this one goes on, if it is still there."""
    noted = engine.store.setting(_key(session.id))
    if not isinstance(noted, dict) or noted.get("length") != session.length:
        return None
    try:
        found = engine.session(str(noted.get("session_id")))
    except ContextError:
        return None
    return None if found.deleted_at else found


def waiting_question(engine: ContextEngine, session_id: str) -> str:
    """What the user said that waits for a decision; empty if no turn waits."""
    turn, seq = engine.store.last_turn(session_id), engine.session(session_id).last_user_seq
    if turn is None or turn.state != "awaiting_confirmation" or seq is None:
        return ""
    return engine.store.messages(session_id, seq, seq)[0].message.text


def _key(session_id: str) -> str:
    return f"went_on:{session_id}"
