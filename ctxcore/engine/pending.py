"""Owns questions that wait for a person: kept until they are answered, across restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ctxcore.compaction.triggers import Trigger
from ctxcore.engine.proposals import Base
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.values import from_json, to_json
from ctxcore.store.protocol import SessionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A compaction that waits for a person's consent."""

    plan_id: str
    session_id: str
    trigger: Trigger
    current_tokens: int
    max_tokens: int
    expected_tokens: int
    messages: int
    """How many messages it would fold."""
    covered_until: int
    base: Base


def save_pending(store: SessionStore, pending: Pending) -> None:
    """Keeps a question."""
    base = pending.base
    stored: JsonObject = {
        "session_id": pending.session_id,
        "trigger": to_json(pending.trigger.reason),
        "is_by_model": pending.trigger.is_by_model,
        "current_tokens": pending.current_tokens,
        "max_tokens": pending.max_tokens,
        "expected_tokens": pending.expected_tokens,
        "messages": pending.messages,
        "covered_until": pending.covered_until,
        "active_id": base.active_id,
        "version_id": base.version_id,
        "marks": [[kind, seq] for kind, seq in sorted(base.marks)],
        "model": base.model,
    }
    store.save_setting(_key(pending.plan_id), stored)


def load_pending(store: SessionStore, plan_id: str) -> Pending | None:
    """The question with this id; None if nobody waits for its answer any more."""
    stored = store.setting(_key(plan_id))
    if not isinstance(stored, dict):
        return None
    raw = cast("dict[str, Any]", stored)  # `save_pending` alone writes under these names
    return Pending(
        plan_id=plan_id,
        session_id=raw["session_id"],
        trigger=Trigger(reason=from_json(raw["trigger"]), is_by_model=raw["is_by_model"]),
        current_tokens=raw["current_tokens"],
        max_tokens=raw["max_tokens"],
        expected_tokens=raw["expected_tokens"],
        messages=raw["messages"],
        covered_until=raw["covered_until"],
        base=Base(
            active_id=raw["active_id"],
            version_id=raw["version_id"],
            marks=frozenset((kind, seq) for kind, seq in raw["marks"]),
            model=raw["model"],
        ),
    )


def drop_pending(store: SessionStore, plan_id: str) -> None:
    """Forgets a question."""
    store.save_setting(_key(plan_id), None)


def _key(plan_id: str) -> str:
    return f"confirmation:{plan_id}"
