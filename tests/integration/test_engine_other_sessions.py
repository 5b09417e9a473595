"""What the user's other sessions say about a request, where the policy allows it."""

from __future__ import annotations

from ctxcore import ContextEngine
from ctxcore.engine.events import ContextBuilt
from ctxcore.store.values import Scope
from tests.engines import START, engine_with

TRIP = [
    {"role": "user", "content": "Our ferry to Orust leaves from pier Kungsviken."},
    {"role": "assistant", "content": "Noted: pier Kungsviken."},
    *(
        {"role": role, "content": f"{said} {at}."}
        for at in range(10)
        for role, said in (("user", "A pebble, with number"), ("assistant", "A shell, with"))
    ),
]
ASKED = "From which pier does our ferry to Orust leave?"


def allow(engine: ContextEngine, session_id: str) -> None:
    scope = Scope(kind="session", owner=session_id)
    engine.store.save_policy(scope, {"recalls_other_sessions": True}, by="local", at=START)


def sent(engine: ContextEngine, session_id: str, text: str) -> str:
    """All that the first call of a turn sends."""
    built = [e for e in engine.chat(session_id, text) if isinstance(e, ContextBuilt)]
    return "\n".join(str(message["content"]) for message in built[0].context.messages)


def test_it_is_sent_marked_with_its_session_where_that_is_allowed() -> None:
    with engine_with() as (engine, _):
        trip, new = engine.create_session(title="Trip"), engine.create_session()
        engine.append(trip.id, TRIP)
        allow(engine, new.id)

        said = sent(engine, new.id, ASKED)

        assert '<knowledge name="Trip · m1 · user' in said
        assert "leaves from pier Kungsviken" in said


def test_nothing_is_sent_by_default_or_of_what_was_excluded_or_for_small_talk() -> None:
    with engine_with() as (engine, _):
        trip, new = engine.create_session(title="Trip"), engine.create_session()
        engine.append(trip.id, TRIP)

        assert "Kungsviken" not in sent(engine, new.id, ASKED)

        allow(engine, new.id)
        assert "Kungsviken" not in sent(engine, new.id, "Lovely weather, isn't it?")

        for at in (0, 1):
            engine.exclude(trip.id, at)
        assert "Kungsviken" not in sent(engine, new.id, ASKED)


def test_sessions_of_other_users_stay_theirs() -> None:
    with engine_with() as (engine, _):
        trip, new = engine.create_session(title="Trip"), engine.create_session()
        engine.append(trip.id, TRIP)
        engine.store.create_user("ann", at=START, name="Ann")
        engine.store.assign(trip.id, "ann")
        allow(engine, new.id)

        assert "Kungsviken" not in sent(engine, new.id, ASKED)
