"""Requests through a proxy: sessions told apart, prefixes that stay, what a fault does."""

from __future__ import annotations

import asyncio
import logging
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctxcore import ContextEngine, count_messages, lint, open_store
from ctxcore.integrations.litellm_proxy import ContextHook
from ctxcore.integrations.proxied import ProxiedSessions
from ctxcore.policy.layers import Layer
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Scope
from tests.engines import quiet_litellm
from tests.integration.frameworks.conversations import WINDOW, answer, note, prefix_breaks

ALICE = SimpleNamespace(user_id="alice", team_alias="books")
MARK = {"cache_control": {"type": "ephemeral"}}


class Proxy:
    """Calls the hook as the proxy does, and answers each request."""

    def __init__(self, store: SessionStore, *, observes: bool = False, window: int = WINDOW):
        quiet_litellm()
        layer = Layer(name="file", overrides={"window_tokens": window})
        self.hook = ContextHook(ProxiedSessions(store, layers=[layer]), observes=observes)
        self.sent: list[dict[str, Any]] = []

    def request(self, body: dict[str, Any], text: str, *, route: str, key: Any = ALICE) -> None:
        call_id = f"call-{len(self.sent)}"
        data = {"model": "claude-sonnet-4-5", **deepcopy(body), "litellm_call_id": call_id}
        asyncio.run(self.hook.async_pre_call_hook(key, None, data, route))
        self.sent.append(data)
        response = {"choices": [{"message": {"role": "assistant", "content": text}}]}
        response["usage"] = {"prompt_tokens": 90, "completion_tokens": 7}  # type: ignore[assignment]
        logged = {"litellm_call_id": call_id, "response_cost": 0.25}
        asyncio.run(self.hook.async_log_success_event(logged, response, None, None))


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return open_store(f"sqlite:///{tmp_path / 'proxy.db'}")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **MARK}]}


def said(body: dict[str, Any], key: str = "messages") -> list[str]:
    return [str(message) for message in body[key]]


def sessions(store: SessionStore, user_id: str = "alice") -> list[Any]:
    return store.list_sessions(user_id=user_id)


@pytest.mark.parametrize(
    ("route", "key"),
    [("acompletion", "messages"), ("anthropic_messages", "messages"), ("aresponses", "input")],
)
def test_a_long_conversation_is_one_session_that_fits_with_a_stable_prefix(
    store: SessionStore, route: str, key: str
) -> None:
    proxy, history = Proxy(store), []
    for turn in range(40):
        history.append({"role": "user", "content": note(turn)})
        proxy.request({key: history}, answer(turn), route=route)
        history.append({"role": "assistant", "content": answer(turn)})

    [session] = sessions(store)
    engine = ContextEngine(store, user_id="alice")
    calls = engine.calls(session.id)
    assert session.length == 80
    assert session.origin == "proxy"
    assert len(calls) == 40
    assert (calls[0].input_tokens, calls[0].output_tokens, calls[0].cost) == (90, 7, 0.25)
    assert engine.compactions(session.id)
    assert all(count_messages(body[key]) <= WINDOW for body in proxy.sent)
    assert all(not lint(body[key], "anthropic") for body in proxy.sent)
    assert 1 <= len(prefix_breaks([said(body, key) for body in proxy.sent])) <= 4


def test_marks_and_blocks_of_the_caller_are_sent_as_they_are(store: SessionStore) -> None:
    proxy = Proxy(store)
    thought = {"type": "thinking", "thinking": "look", "signature": "sig"}
    native = {"type": "compaction", "content": "what was said before"}
    call = {"type": "tool_use", "id": "t1", "name": "orders", "input": {"id": "ORD-1"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "late", **MARK}
    body = {
        "system": [{"type": "text", "text": "You keep the books.", **MARK}],
        "tools": [{"name": "orders", "input_schema": {"type": "object"}, **MARK}],
        "messages": [
            user("Is it late?"),
            {"role": "assistant", "content": [native, thought, call]},
            {"role": "user", "content": [result]},
        ],
    }

    proxy.request(body, "Yes.", route="anthropic_messages")

    [sent] = proxy.sent
    assert {key: sent[key] for key in body} == body


def test_conversations_on_one_key_stay_apart(store: SessionStore) -> None:
    proxy = Proxy(store)
    main, agent = [user("Mend the shop")], [user("Find the till")]
    for turn in range(3):
        for history, name in ((main, "main"), (agent, "agent")):
            proxy.request({"messages": history}, f"{name} {turn}", route="anthropic_messages")
            history += [{"role": "assistant", "content": f"{name} {turn}"}, user(f"Go on {turn}")]

    stored = {session.title: session.length for session in sessions(store)}
    assert stored == {"Mend the shop": 6, "Find the till": 6}


def test_those_that_begin_alike_part_where_they_differ(store: SessionStore) -> None:
    proxy = Proxy(store)
    for text in ("One.", "Two."):
        proxy.request({"messages": [user("hi")]}, text, route="anthropic_messages")
    history = [user("hi"), {"role": "assistant", "content": "Two."}, user("and then?")]
    proxy.request({"messages": history}, "Three.", route="anthropic_messages")

    texts = [
        [info.message.text for info in store.messages(session.id)] for session in sessions(store)
    ]
    assert sorted(texts) == [["hi", "One."], ["hi", "Two.", "and then?", "Three."]]


def test_an_answer_that_is_asked_for_anew_forks_the_session(store: SessionStore) -> None:
    proxy = Proxy(store)
    first = [user("hi")]
    proxy.request({"messages": first}, "Hello.", route="acompletion")
    history = [*first, {"role": "assistant", "content": "Hello."}, user("Count to three")]
    proxy.request({"messages": history}, "1 2 3", route="acompletion")
    proxy.request({"messages": history}, "one two three", route="acompletion")

    texts = [
        [info.message.text for info in store.messages(session.id)] for session in sessions(store)
    ]
    assert sorted(len(one) for one in texts) == [4, 4]
    assert {one[-1] for one in texts} == {"1 2 3", "one two three"}


def test_a_named_session_is_told_by_header(store: SessionStore) -> None:
    proxy = Proxy(store)
    for name in ("a", "b"):
        headers = {"X-Ctxcore-Session": name}
        body = {"messages": [user("hi")], "proxy_server_request": {"headers": headers}}
        proxy.request(body, "Hello.", route="acompletion")
    history = [user("hi"), {"role": "assistant", "content": "Hello."}, user("and?")]
    body = {"messages": history, "proxy_server_request": {"headers": {"x-ctxcore-session": "a"}}}
    proxy.request(body, "Yes.", route="acompletion")

    assert sorted(session.length for session in sessions(store)) == [2, 4]


def test_policies_of_the_user_of_a_key_apply(store: SessionStore) -> None:
    proxy = Proxy(store, window=100_000)
    ContextEngine(store, user_id="boss").save_policy(
        Scope(kind="group", owner="books"), {"window_tokens": 1_000}
    )
    history = [user(note(0))]
    for turn in range(1, 30):
        history += [{"role": "assistant", "content": answer(turn)}, user(note(turn))]

    proxy.request({"messages": history}, "Noted.", route="acompletion")
    proxy.request(
        {"messages": history}, "Noted.", route="acompletion", key=SimpleNamespace(user_id="bob")
    )

    assert count_messages(proxy.sent[0]["messages"]) <= 1_000
    assert proxy.sent[1]["messages"] == history
    assert not store.user("alice").is_operator


def test_observing_stores_requests_and_changes_none(store: SessionStore) -> None:
    proxy = Proxy(store, observes=True)
    history = [user(note(turn)) for turn in range(60)]

    proxy.request({"messages": history}, "Noted.", route="acompletion")

    assert proxy.sent[0]["messages"] == history
    assert sessions(store)[0].length == 61


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "robot", "content": "hi"}]},
        {"messages": "hi"},
        {"messages": []},
        {"input": [user("hi")], "previous_response_id": "resp_1"},
    ],
    ids=["unknown role", "text", "nothing", "state at the provider"],
)
def test_what_cannot_be_kept_passes_as_it_is(store: SessionStore, body: dict[str, Any]) -> None:
    proxy = Proxy(store)

    proxy.request(body, "Hello.", route="aresponses" if "input" in body else "acompletion")

    assert {key: proxy.sent[0][key] for key in body} == body
    assert sessions(store) == []


def test_a_fault_lets_a_request_through_and_says_so(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **settings: object) -> None:
        raise OSError("the disk is full")

    proxy = Proxy(store)
    monkeypatch.setattr(store, "append", broken)
    with caplog.at_level(logging.ERROR, "ctxcore.integrations"):
        proxy.request({"messages": [user("hi")]}, "Hello.", route="acompletion")

    assert proxy.sent[0]["messages"] == [user("hi")]
    assert "is sent as it is" in caplog.text


def test_a_request_that_the_provider_refused_is_a_failed_call(store: SessionStore) -> None:
    proxy = Proxy(store)
    data = {"model": "m", "messages": [user("hi")], "litellm_call_id": "one"}
    asyncio.run(proxy.hook.async_pre_call_hook(ALICE, None, data, "acompletion"))
    failure = proxy.hook.async_post_call_failure_hook(data, TimeoutError("late"), ALICE)
    asyncio.run(failure)

    [call] = ContextEngine(store, user_id="alice").calls(sessions(store)[0].id)
    assert str(call.error) == "TimeoutError"
