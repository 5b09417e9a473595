"""Every public value has `to_dict()`, and `json.dumps` takes what it gives."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from typing import get_args

import pytest

import ctxcore
import ctxcore.store.values as stored
from ctxcore import Policy, ScriptedReply, ToolCall, compact, compress, fit, plan_compaction
from ctxcore.compaction.advising import check_tool_safety, recommend
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import TurnEvent
from ctxcore.plain import Plain, to_plain
from ctxcore.reasons.codes import VerdictCode
from ctxcore.store.protocol import SessionStore
from tests.engines import engine_with, saying

NO_VALUES = {
    *("Draft", "Format", "ScriptedReply"),  # they hold functions, or what only a test sends
    *("Rule", "EachMessage", "EachExchange", "WholeRequest"),  # what a rule is registered with
}
INTERNAL = {"CallTarget", "EngineServices", "OutsideCall", "Relayed", "TurnRequest"}
SAID = [
    {"role": role, "content": f"{role} says {turn}: order 4711 is late. " * 8}
    for turn in range(20)
    for role in ("user", "assistant")
]
SEARCH = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def public_values() -> list[type]:
    """The classes of public values."""
    named = [getattr(ctxcore, name) for name in ctxcore.__all__ if name not in NO_VALUES]
    kept = [one for _, one in inspect.getmembers(stored)]
    found = (one for one in (*named, *kept, *get_args(TurnEvent)) if _is_value(one))
    return list(dict.fromkeys(found))


def _is_value(one: object) -> bool:
    return isinstance(one, type) and is_dataclass(one)


@pytest.mark.parametrize("kind", public_values(), ids=lambda kind: kind.__name__)
def test_every_public_value_has_plain_data(kind: type) -> None:
    assert callable(getattr(kind, "to_dict", None))


@pytest.mark.parametrize("kind", [ContextEngine, SessionStore])
def test_what_the_verbs_of_an_engine_give_has_plain_data(kind: type) -> None:
    """The classes that return annotations name, e.g. in `list[SessionInfo]`."""
    values = {one.__name__: one for one in _all_dataclasses()}
    told = " ".join(
        str(inspect.signature(member).return_annotation)
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    )
    named = [values[word] for word in _words(told) if word in values]

    assert len(named) > 5
    assert [one for one in named if not hasattr(one, "to_dict")] == []


def _all_dataclasses() -> Iterator[type]:
    for module in ("engine.core", "store.protocol", "engine.services"):
        found = inspect.getmembers(importlib.import_module(f"ctxcore.{module}"), _is_value)
        yield from (one for name, one in found if name not in INTERNAL)


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in text).split())


def dumped(value: object) -> dict[str, object]:
    """`value` as JSON says it."""
    plain = value.to_dict()  # type: ignore[attr-defined]  # asserted above
    found = json.loads(json.dumps(plain, allow_nan=False))
    assert found == plain
    assert isinstance(found, dict)
    return found


def test_results_and_plans_are_plain_data() -> None:
    result = compact(SAID, max_tokens=900, force=True)
    plan = plan_compaction(SAID, policy=Policy(), max_tokens=900)
    assert plan is not None

    told = dumped(result)

    assert told["summary"] == result.summary
    assert told["context"]["messages"] == result.context.messages  # type: ignore[index]  # an object
    assert "counter" not in told["context"]  # type: ignore[operator]  # an object
    assert dumped(plan)["keep"] == [*plan.keep]
    assert dumped(fit(SAID, max_tokens=900))["is_exact"] is True
    assert dumped(result.context.verdict(0))["verdict"] == result.context.verdict(0).verdict
    for value in (
        compress(json.dumps(SAID), max_tokens=200),
        recommend(SAID, max_tokens=900),
        check_tool_safety(SAID, tools_count=2, max_tokens=900),
        Policy.preset("ladder"),
        ctxcore.model_info("gpt-4o"),
        *ctxcore.tool_tokens([SEARCH]),
        *ctxcore.lint([{"role": "tool", "tool_call_id": "x", "content": "y"}], "openai"),
    ):
        assert dumped(value)


def test_everything_an_engine_tells_is_plain_data() -> None:
    call = ToolCall(id="a", name="search", arguments="{}")
    script = [ScriptedReply(calls=(call,)), saying("Found \ud800.")]
    with engine_with(script, window=900) as (engine, _):
        session = engine.create_session("s", system="Be brief.", tools=[SEARCH])
        engine.append(session.id, SAID)
        engine.set_system(session.id, "Be kind.")
        engine.pin(session.id, 3)
        events = list(engine.chat(session.id, "Where is it?", run_tool=lambda one: "here"))
        proposal = engine.propose(session.id)
        info = engine.confirm(proposal)
        assert info is not None
        engine.branch(session.id, 3)
        store = engine.store
        values = [
            *events,
            *(proposal, info, engine.session(session.id), engine.user(), engine.state(session.id)),
            *(engine.policy(session.id), engine.context(session.id), engine.models()),
            *(engine.losses(session.id, info.id), *engine.branches(session.id)),
            *engine.system_versions(session.id),
            *engine.search("order"),
            *engine.recall(session.id, "order"),
            *engine.preview_import(engine.export(session.id), name="x"),
            *(*store.messages(session.id), *store.calls(session.id), *store.turns(session.id)),
            *(*store.events(session.id), *store.marks(session.id)),
        ]

        told = [dumped(value) for value in values]

    assert {type(value).__name__ for value in events} >= {"ContextBuilt", "TurnEnded", "TextDelta"}
    assert all(told)


@dataclass(frozen=True)
class Sample(Plain):
    at: datetime
    names: frozenset[str]
    why: object
    inner: object = None


def test_the_parts_of_a_value_are_plain_data_too() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    inner = Sample(at=noon, names=frozenset(), why={3: range(2)})

    sample = Sample(at=noon, names=frozenset({"b", "a"}), why=VerdictCode.OUTSIDE(), inner=inner)

    assert sample.to_dict() == {
        "at": "2026-03-01T12:00:00+00:00",
        "names": ["a", "b"],
        "why": {"code": "verdict.outside"},
        "inner": {
            "at": "2026-03-01T12:00:00+00:00",
            "names": [],
            "why": {"3": [0, 1]},
            "inner": None,
        },
    }


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match="function"):
        to_plain(lambda: None)


@pytest.mark.parametrize("kind", [ContextEngine, SessionStore])
def test_a_session_comes_first_in_every_verb_on_one(kind: type) -> None:
    """Except where it only narrows what is searched."""
    for name, member in inspect.getmembers(kind, inspect.isfunction):
        names = [*inspect.signature(member).parameters]
        if "session_id" in names and name != "search":
            assert names[1] == "session_id", name
        if not name.startswith("_") and name not in ("losses", "compaction"):
            assert "turn_id" not in names or names[1] == "session_id", name
            assert "plan_id" not in names or names[1] == "session_id", name
