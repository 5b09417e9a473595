"""How far a user is in the guided path: send, watch, compact, undo, compare.

A step is done by doing it, wherever on the pages. What is done, and whether the guide was closed,
is stored per user.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import COMPACTED, UNDONE
from ctxcore.messages.values import JsonValue
from ctxcore.store.values import SessionInfo
from dashboard.page_registry import PAGES

Step = Literal["send", "watch", "compact", "undo", "compare"]
STEPS: Final[tuple[Step, ...]] = get_args(Step)

_STATE: Final = "guide"
_BY_EVENT: Final[Mapping[Step, str]] = {"compact": COMPACTED, "undo": UNDONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """The steps that a user has done, in any order."""

    done: frozenset[Step] = frozenset()
    is_closed: bool = False

    @property
    def next_step(self) -> Step | None:
        """The first step that is not done; None at the end."""
        return next((step for step in STEPS if step not in self.done), None)

    def with_done(self, steps: Collection[Step]) -> Guide:
        """With these steps done as well."""
        return replace(self, done=self.done | frozenset(steps))


def to_guide(stored: JsonValue) -> Guide | None:
    """The guide as it is stored; None for a user who was never offered it."""
    if not isinstance(stored, dict):
        return None
    done = stored.get("done")
    named = done if isinstance(done, list) else []
    return Guide(
        done=frozenset(step for step in STEPS if step in named),
        is_closed=stored.get("closed") is True,
    )


def visited_by(page: str, pages: Collection[str]) -> Step | None:
    """The step that a visit to `page` does: watching, or comparing where policies are compared."""
    if page == "context":
        return "watch"
    return "compare" if page == comparing_page(pages) else None


def comparing_page(pages: Collection[str]) -> str:
    """Where policies are compared: the Lab, or else the compactions with and without."""
    return "lab" if "lab" in pages else "compaction"


def guide_of(engine: ContextEngine) -> Guide | None:
    """The guide of the current user, read once in a visit."""
    key = f"{_STATE}_{engine.user_id}"
    if key not in st.session_state:
        st.session_state[key] = to_guide(engine.store.setting(_key(engine)))
    found = st.session_state[key]
    return found if isinstance(found, Guide) else None


def save_guide(engine: ContextEngine, guide: Guide) -> None:
    """Stores the guide, for this visit and later ones."""
    st.session_state[f"{_STATE}_{engine.user_id}"] = guide
    offer_guide(engine, guide)


def offer_guide(engine: ContextEngine, guide: Guide) -> None:
    """Stores the guide for later visits."""
    stored: dict[str, JsonValue] = {
        "done": [step for step in STEPS if step in guide.done],
        "closed": guide.is_closed,
    }
    engine.store.save_setting(_key(engine), stored)


def note_page(engine: ContextEngine, page: str) -> None:
    """Notes a visit, if the guide is open and the step before it is done."""
    guide = guide_of(engine)
    step = visited_by(page, PAGES)
    if guide is not None and not guide.is_closed and step is not None and guide.next_step == step:
        save_guide(engine, guide.with_done([step]))


def follow(engine: ContextEngine, session: SessionInfo | None) -> Guide | None:
    """The open guide with what was done in `session` since; None if there is none to show."""
    guide = guide_of(engine)
    if guide is None or guide.is_closed:
        return None
    if session is None or not (done := _done_in(engine, session, guide)):
        return guide
    save_guide(engine, guide.with_done(done))
    return guide.with_done(done)


def _done_in(engine: ContextEngine, session: SessionInfo, guide: Guide) -> list[Step]:
    """What was done in a session and is not noted yet."""
    done: list[Step] = []
    if "send" not in guide.done and engine.store.last_turn(session.id) is not None:
        done.append("send")
    for step, kind in _BY_EVENT.items():
        if step not in guide.done and engine.store.last_events(session.id, (kind,), limit=1):
            done.append(step)
    return done


def _key(engine: ContextEngine) -> str:
    return f"guide:{engine.user_id}"
