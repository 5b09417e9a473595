"""Layers of policies in an engine: who wins, where a value comes from, who deviates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.policies import Deviation
from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.layers import Layer, to_policy
from ctxcore.reasons.places import PlaceCode
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope

EVERYBODY = Scope()
PI: JsonObject = {"name": "pi"}
GROUP = Scope(kind="group", owner="team")
ANA = Scope(kind="user", owner="ana")
BEN = Scope(kind="user", owner="ben")


_opened: list[ContextEngine] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Closes the engines of a test: newer Pythons warn of databases that are left open."""
    yield
    while _opened:
        _opened.pop().store.close()


def engine(*layers: Layer, url: str = "sqlite://") -> ContextEngine:
    """An operator's engine with two users, one of them in a group."""
    made = ContextEngine(open_store(url), user_id="boss", model="m", layers=layers)
    _opened.append(made)
    made.user()
    made.create_user("ana", group="team")
    made.create_user("ben")
    return made


def environment(**overrides: object) -> Layer:
    return Layer(
        name="environment",
        overrides=overrides,  # type: ignore[arg-type]  # plain numbers and words
        places={name: PlaceCode.VARIABLE(variable=name.upper()) for name in overrides},
    )


def test_every_layer_wins_over_the_wider_ones() -> None:
    names = ["environment", "file", "default", "group", "user", "user_model", "session", "call"]
    work = engine(environment(fresh_turns=0), Layer(name="file", overrides={"fresh_turns": 1}))
    session = work.create_session()
    work.assign(session.id, "ana")
    scopes = [
        EVERYBODY,
        GROUP,
        ANA,
        Scope(kind="user_model", owner="ana", model="m"),
        Scope(kind="session", owner=session.id),
    ]

    seen = []
    for number, scope in enumerate(scopes, start=2):
        found = work.policy(session.id)
        seen.append((found.source("fresh_turns"), found.policy.fresh_turns))
        work.save_policy(scope, {"fresh_turns": number})
    found = work.policy(session.id)
    seen.append((found.source("fresh_turns"), found.policy.fresh_turns))

    assert seen == list(zip(names[1:-1], range(1, 7), strict=True))
    work.store.close()


def test_a_value_says_where_it_comes_from() -> None:
    work = engine(environment(name="dual-threshold", upper_tokens=40_000))
    session = work.create_session()

    found = work.policy(session.id)

    assert found.source("upper_tokens") == "environment"
    assert str(found.places["upper_tokens"]) == "environment variable UPPER_TOKENS"
    assert found.source("lower_tokens") == "preset dual-threshold"
    assert found.source("name") == "environment"
    work.store.close()


def test_a_narrower_preset_replaces_the_wider_ones_values_but_not_what_layers_say() -> None:
    work = engine(environment(name="dual-threshold", fresh_turns=7))
    session = work.create_session()
    work.save_policy(GROUP, {"min_gain_ratio": 0.2})
    work.save_policy(Scope(kind="user", owner="boss"), {"name": "pi"})

    policy = work.policy(session.id).policy

    assert (policy.name, policy.keep_turns, policy.upper_tokens) == ("pi", (2, 1, 0), None)
    assert policy.fresh_turns == 7
    work.store.close()


def test_lists_become_tuples_those_inside_too() -> None:
    policy = to_policy({"keep_turns_by_messages": [[50, 4], [15, 8]], "keep_turns": [2, 0]})

    assert policy.keep_turns_by_messages == ((50, 4), (15, 8))
    assert policy.keep_turns == (2, 0)


def test_the_engines_own_layers_are_refused_with_their_place() -> None:
    work = engine(environment(fresh_turns=-1))
    session = work.create_session()

    with pytest.raises(PolicyError, match=r"^environment variable FRESH_TURNS: "):
        work.policy(session.id)
    work.store.close()


def test_many_scopes_are_saved_at_once() -> None:
    work = engine()
    work.save_policy(BEN, {"fresh_turns": 9})

    saved = work.save_policies({GROUP: PI, BEN: PI, ANA: {"fresh_turns": 3}})

    assert [(one.scope, one.version) for one in saved] == [(GROUP, 1), (BEN, 2), (ANA, 1)]
    assert {one.created_by for one in saved} == {"boss"}
    found = work.store.policies([GROUP, ANA, BEN])
    assert [one.overrides for one in found if one] == [PI, {"fresh_turns": 3}, PI]
    work.store.close()


def test_nothing_is_saved_where_one_scope_or_value_is_refused() -> None:
    work = engine()
    ana = ContextEngine(work.store, user_id="ana")

    with pytest.raises(NotAllowedError):
        ana.save_policies({ANA: PI, BEN: PI})
    with pytest.raises(PolicyError):
        work.save_policies({ANA: PI, BEN: {"fresh_turns": -3}})

    assert work.store.all_policies() == []
    assert ana.save_policies({ANA: {"fresh_turns": 3}})[0].created_by == "ana"
    work.store.close()


def test_operators_see_who_deviates_by_what() -> None:
    work = engine(environment(fresh_turns=4))
    work.save_policy(EVERYBODY, {"trigger_ratio": 0.7})
    work.save_policy(GROUP, {"trigger_ratio": 0.9, "fresh_turns": 4})
    work.save_policy(ANA, {"fresh_turns": 1, "name": "pi", "keep_turns": [1, 0]})
    work.save_policy(BEN, {"trigger_ratio": 0.5})
    work.save_policy(BEN, {})

    assert work.deviations() == [
        Deviation(scope=GROUP, field="trigger_ratio", value=0.9, everybody=0.7),
        Deviation(scope=ANA, field="name", value="pi", everybody="default"),
        Deviation(scope=ANA, field="fresh_turns", value=1, everybody=4),
        Deviation(scope=ANA, field="keep_turns", value=(1, 0), everybody=(2,)),
    ]
    work.store.close()


def test_others_do_not_see_who_deviates() -> None:
    work = engine()

    with pytest.raises(NotAllowedError):
        ContextEngine(work.store, user_id="ana").deviations()
    work.store.close()


def test_limits_of_tools_are_an_object_or_a_list() -> None:
    limits = (("bash", 400), ("search", 120))

    values: tuple[JsonValue, ...] = (
        {"bash": 400, "search": 120},
        [["bash", 400], ["search", 120]],
    )
    for value in values:
        assert to_policy({"tool_limits": value}).tool_limits == limits
