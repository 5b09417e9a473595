"""The hook of the proxy, called as the proxy calls it."""

from __future__ import annotations

import asyncio
import copy
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.statements import statements_run
from ctxcore import ContextEngine, lint, open_store
from ctxcore.integrations.litellm_proxy import ContextHook
from ctxcore.integrations.litellm_proxy.answers import read_reply
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Scope
from ctxcore.tokens.families import Provider

Message = dict[str, Any]
NOW = datetime(2026, 3, 2, tzinfo=UTC)
SMALL = {"window_tokens": 4_000}


@pytest.fixture
def store() -> Iterator[SessionStore]:
    with closing(open_store("sqlite://")) as store:
        yield store


class Client:
    """A client of the proxy: sends its conversation through a hook and keeps what was sent on."""

    def __init__(
        self,
        store: SessionStore,
        *,
        call_type: str = "acompletion",
        session: str = "",
        key: object = None,
        observes: bool = False,
        **beside: object,
    ) -> None:
        self.store = store
        self.hook = ContextHook(store, observes=observes)
        self.call_type, self.session = call_type, session
        self.key = key or SimpleNamespace(key_alias=None, user_id="default_user_id")
        self.beside = beside
        self.answers_with: dict[str, Any] = {}
        self.said: list[Message] = []
        self.sent: list[list[Message]] = []
        self.session_ids: list[str] = []

    @property
    def part(self) -> str:
        return "input" if self.call_type == "aresponses" else "messages"

    def send(self, messages: list[Message] | None = None) -> dict[str, Any]:
        """One request; what the proxy would send on."""
        number = f"{id(self)}-{len(self.sent)}"
        data: dict[str, Any] = {
            "model": "gpt-4o",
            self.part: list(self.said if messages is None else messages),
            "litellm_call_id": number,
            "proxy_server_request": {"headers": {"X-Ctxcore-Session": self.session}},
            **self.beside,
        }
        before = copy.deepcopy(data)
        found = asyncio.run(self.hook.async_pre_call_hook(self.key, None, data, self.call_type))
        assert data == before  # what came is never written to
        sent = data if found is None else found
        self.sent.append(sent[self.part])
        headers = asyncio.run(self.hook.async_post_call_response_headers_hook(data, self.key, None))
        self.session_ids.append((headers or {}).get("x-ctxcore-session", ""))
        return sent

    def answered(self, text: str) -> None:
        """The proxy reports the answer to the last request."""
        said = {"role": "assistant", "content": text, "tool_calls": None, **self.answers_with}
        response = {
            "choices": [{"message": said}],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 60},
            },
        }
        details = {
            "litellm_call_id": f"{id(self)}-{len(self.sent) - 1}",
            "standard_logging_object": {"response_cost": 0.25, "response": response},
        }
        asyncio.run(self.hook.async_log_success_event(details, response, NOW, NOW))

    def turn(self, words: str, answer: str, echo: str | None = None) -> None:
        self.said.append({"role": "user", "content": words})
        self.send()
        self.answered(answer)
        self.said.append({"role": "assistant", "content": answer if echo is None else echo})

    @property
    def engine(self) -> ContextEngine:
        return ContextEngine(self.store)


def said_in(store: SessionStore, session_id: str) -> list[str]:
    return [info.message.text for info in store.messages(session_id)]


def test_a_conversation_is_one_session_and_goes_on_as_it_came(store: SessionStore) -> None:
    client = Client(store)
    client.turn("Lisbon in May?", "Warm.")
    client.turn("For two.", "Fine.")

    assert len(set(client.session_ids)) == 1
    assert all(a is b for a, b in zip(client.sent[1], client.said, strict=False))
    [session] = client.engine.sessions()
    assert (session.origin, session.title, session.model) == ("proxy", "Lisbon in May?", "gpt-4o")
    assert said_in(store, session.id) == ["Lisbon in May?", "Warm.", "For two.", "Fine."]
    first, second = client.engine.calls(session.id)
    assert (first.input_tokens, first.cached_tokens, first.cost, first.seq) == (100, 60, 0.25, 2)
    assert (second.seq, second.error) == (4, None)
    request = client.engine.call_request(session.id, second.id)
    assert [made.message["content"] for made in request.messages][-1] == "For two."


def test_a_session_is_titled_by_what_a_person_asked(store: SessionStore) -> None:
    client = Client(store)
    reminder = "<system-reminder>\nSkills: build, test\n</system-reminder>\n"
    parts = [{"type": "text", "text": text} for text in (reminder, "Mend the build.\nSoon.")]
    client.said.append({"role": "user", "content": parts})
    client.send()
    client.answered("Mended.")

    [session] = client.engine.sessions()
    assert session.title == "Mend the build."


def test_conversations_on_one_key_stay_apart(store: SessionStore) -> None:
    main, other = Client(store), Client(store)
    for number in range(3):
        main.turn(f"main {number}", f"yes {number}")
        other.turn(f"other {number}", f"no {number}")

    assert len(main.engine.sessions()) == 2
    assert said_in(store, main.session_ids[0])[::2] == ["main 0", "main 1", "main 2"]
    assert said_in(store, other.session_ids[0])[::2] == ["other 0", "other 1", "other 2"]


def test_conversations_that_begin_alike_part_where_they_differ(store: SessionStore) -> None:
    first, second = Client(store), Client(store)
    first.turn("hello", "Good day.")
    second.turn("hello", "Hi.")
    first.turn("Lisbon", "Warm.")
    second.turn("Porto", "Rainy.")

    assert said_in(store, first.session_ids[-1]) == ["hello", "Good day.", "Lisbon", "Warm."]
    assert said_in(store, second.session_ids[-1]) == ["hello", "Hi.", "Porto", "Rainy."]


def test_named_sessions_never_join_others(store: SessionStore) -> None:
    one, two = Client(store, session="a"), Client(store, session="b")
    one.turn("hello", "Hi.")
    two.turn("hello", "Hi.")

    assert one.session_ids != two.session_ids


def test_a_session_may_be_named_in_metadata(store: SessionStore) -> None:
    header = Client(store, session="a")
    metadata = Client(store, metadata={"ctxcore_session": "a"})
    header.turn("hello", "Hi.")
    metadata.said = header.said
    metadata.turn("and now?", "Yes.")

    assert metadata.session_ids == header.session_ids


def test_an_edited_history_forks_and_leaves_the_session_alone(store: SessionStore) -> None:
    client = Client(store)
    for number in range(3):
        client.turn(f"question {number}", f"answer {number}")
    before = said_in(store, client.session_ids[0])
    client.said[2] = {"role": "user", "content": "another question"}
    client.send(client.said[:3])

    assert said_in(store, client.session_ids[0]) == before
    assert client.session_ids[-1] != client.session_ids[0]
    assert said_in(store, client.session_ids[-1]) == [
        "question 0",
        "answer 0",
        "another question",
    ]


def test_a_compaction_of_the_client_begins_a_session(store: SessionStore) -> None:
    client = Client(store)
    client.turn("a long question", "a long answer")
    client.send([{"role": "user", "content": "This session is being continued: …"}])

    assert len(said_in(store, client.session_ids[0])) == 2
    assert said_in(store, client.session_ids[1]) == ["This session is being continued: …"]


def test_a_failed_request_that_is_repeated_adds_nothing(store: SessionStore) -> None:
    client = Client(store)
    client.said = [{"role": "user", "content": "hello"}]
    client.send()
    failed = {"litellm_call_id": f"{id(client)}-0"}
    asyncio.run(client.hook.async_post_call_failure_hook(failed, TimeoutError(), client.key))
    client.send()
    client.answered("Hi.")

    assert len(set(client.session_ids)) == 1
    assert said_in(store, client.session_ids[0]) == ["hello", "Hi."]
    failure, success = client.engine.calls(client.session_ids[0])
    assert failure.error_code == "call.refused_there"
    assert failure.error is not None
    assert failure.error.facts == {"error": "TimeoutError"}
    assert success.error is None


def test_a_request_that_overtakes_the_report_of_the_answer(store: SessionStore) -> None:
    client = Client(store)
    client.said = [{"role": "user", "content": "hello"}]
    client.send()
    first = {"litellm_call_id": f"{id(client)}-0"}
    client.said += [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "and?"}]
    client.send()
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}
    asyncio.run(client.hook.async_log_success_event(first, answer, NOW, NOW))

    assert said_in(store, client.session_ids[0]) == ["hello", "Hi.", "and?"]
    assert len(set(client.session_ids)) == 1


def test_a_request_between_an_answer_and_its_digest_stays_in_its_session(
    store: SessionStore,
) -> None:
    client = Client(store)
    client.said = [{"role": "user", "content": "hello"}]
    client.send()
    client.engine.append(client.session_ids[0], [{"role": "assistant", "content": "Hi."}])
    client.said += [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "and?"}]
    client.send()

    assert said_in(store, client.session_ids[0]) == ["hello", "Hi.", "and?"]
    assert len(set(client.session_ids)) == 1


def test_a_client_that_rewrites_answers_forks_once(store: SessionStore) -> None:
    client = Client(store)
    for number in range(5):
        client.turn(f"question {number}", f"<b>answer {number}</b>", echo=f"answer {number}")

    assert len(set(client.session_ids)) == 2
    assert said_in(store, client.session_ids[-1])[-1] == "question 4"


def test_thinking_and_marks_that_move_do_not_tell_conversations_apart(
    store: SessionStore,
) -> None:
    client = Client(store, call_type="anthropic_messages", max_tokens=100)
    mark = {"cache_control": {"type": "ephemeral"}}
    image = {"type": "base64", "media_type": "image/png", "data": "aaaa"}
    words: Message = {"type": "text", "text": "What is it?"}
    client.send([{"role": "user", "content": [{"type": "image", "source": image, **mark}, words]}])
    client.answered("A cat.")
    thinking = {"type": "thinking", "thinking": "Fur.", "signature": "s"}
    said: list[Message] = [
        {"role": "user", "content": [{"type": "image", "source": image}, words]},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "A cat."}]},
        {"role": "user", "content": [{"type": "text", "text": "Sure?", **mark}]},
    ]
    sent = client.send(said)

    assert client.session_ids[0] == client.session_ids[1]
    assert all(a is b for a, b in zip(sent["messages"], said, strict=True))


def _call(number: int, size: int) -> list[Message]:
    """A tool call of Anthropic's and its result."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"n": number}}
    output = f"row {number}: " + f"value {number} of the table, nothing to see. " * size
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("call_type", ["acompletion", "anthropic_messages", "aresponses"])
def test_long_conversations_fit_and_the_beginning_stays(
    store: SessionStore, call_type: str
) -> None:
    """Each request begins with the whole one before, except after the few compactions."""
    client = Client(store, call_type=call_type)
    client.engine.user()
    client.engine.save_policy(Scope(), {**SMALL, "check_at": "before_send"})
    for number in range(20):
        words = f"Question {number} about the ferry to Orust. " * 10
        client.turn(words, f"Answer {number}: it leaves at {number}. " * 10)

    assert len(set(client.session_ids)) == 1
    compactions = store.compactions(client.session_ids[0])
    assert compactions
    pairs = zip(client.sent, client.sent[1:], strict=False)
    broken = [after[: len(before)] != before for before, after in pairs]
    assert sum(broken) <= len(compactions)
    assert len(client.sent[-1]) < len(client.said) * 2 / 3
    assert client.sent[-1][-1] is client.said[-2]  # the request itself
    provider: Provider = "anthropic" if call_type == "anthropic_messages" else "openai"
    assert not any(lint(sent, provider) for sent in client.sent)
    newest = client.engine.calls(client.session_ids[0])[-1]
    assert newest.compaction_id == compactions[-1].id
    assert newest.sent_tokens is not None
    assert newest.sent_tokens < 4_000


def test_calls_keep_their_results_and_blocks_their_marks(store: SessionStore) -> None:
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    client = Client(store, call_type="anthropic_messages", system=system, max_tokens=100)
    client.engine.user()
    client.engine.save_policy(Scope(), {**SMALL, "check_at": "before_send"})
    client.said = [{"role": "user", "content": "Read the table."}]
    for number in range(24):
        client.said += _call(number, 40)
        block = client.said[-1]["content"][-1]
        client.said[-1] = {
            "role": "user",
            "content": [{**block, "cache_control": {"type": "ephemeral"}}],
        }
        sent = client.send()
        client.said[-1] = {"role": "user", "content": [block]}  # the mark moves on

    assert sent["system"] is system
    blocks = [
        block
        for message in sent["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    called = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert called == results
    assert 0 < len(called) < 24
    assert blocks[-1]["cache_control"] == {"type": "ephemeral"}
    assert len(set(client.session_ids)) == 1


def test_policies_are_those_of_the_key_and_its_group(store: SessionStore) -> None:
    ContextEngine(store).user()
    key = SimpleNamespace(key_alias="ci", user_id="ana", team_alias="tools")
    client = Client(store, key=key)
    operator = client.engine
    operator.save_policy(Scope(kind="group", owner="tools"), {"trigger_ratio": 0.5})
    operator.save_policy(Scope(kind="user", owner="ci"), {"window_tokens": 3_000})
    client.turn("hello", "Hi.")

    policy = operator.policy(client.session_ids[0])
    assert (policy.policy.trigger_ratio, policy.policy.window_tokens) == (0.5, 3_000)
    assert (policy.sources["trigger_ratio"], policy.sources["window_tokens"]) == ("group", "user")
    assert store.session(client.session_ids[0]).user_id == "ci"
    assert not store.user("ci").is_operator


def test_keys_do_not_see_each_others_sessions(store: SessionStore) -> None:
    keys = [SimpleNamespace(key_alias=name, user_id=None) for name in ("a", "b")]
    one, two = (Client(store, key=key) for key in keys)
    one.turn("hello", "Hi.")
    two.said = list(one.said)
    two.turn("and?", "Yes.")

    assert one.session_ids != two.session_ids
    assert [user.id for user in one.engine.users()] == ["a", "b", "local"]


def test_no_name_of_a_key_becomes_the_user_of_the_dashboard(store: SessionStore) -> None:
    client = Client(store, key=SimpleNamespace(key_alias="local", user_id=None))
    client.turn("hello", "Hi.")

    assert store.session(client.session_ids[0]).user_id == "key:local"
    assert not store.user("key:local").is_operator


def test_an_observer_records_and_changes_nothing(store: SessionStore) -> None:
    client = Client(store, observes=True)
    client.engine.user()
    client.engine.save_policy(Scope(), {**SMALL, "check_at": "before_send"})
    for number in range(8):
        client.turn(f"Question {number}. " * 100, f"Answer {number}. " * 100)

    assert client.sent[-1] == client.said[:-1]
    assert len(said_in(store, client.session_ids[0])) == 16
    assert not store.compactions(client.session_ids[0])
    assert [call.input_tokens for call in client.engine.calls(client.session_ids[0])] == [100] * 8


def test_what_the_provider_left_out_is_recorded_with_the_call(store: SessionStore) -> None:
    client = Client(store)
    edit = {"type": "clear_thinking_20251015", "cleared_thinking_turns": 3}
    applied = {"applied_edits": [{**edit, "cleared_input_tokens": 7_000}]}
    client.turn("hello", "Hi.")
    client.answers_with = {"provider_specific_fields": {"context_management": applied}}
    client.turn("and?", "Yes.")

    calls = client.engine.calls(client.session_ids[0])
    assert [(one.cleared_parts, one.cleared_tokens) for one in calls] == [(None, None), (3, 7_000)]
    assert [one.is_comparable for one in calls] == [True, False]


def test_what_cannot_be_fitted_is_sent_as_it_came(
    store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(store)
    client.engine.user()
    client.engine.save_policy(Scope(), {"window_tokens": 1_000})
    client.said = [{"role": "system", "content": "Be brief. " * 2_000}]
    client.turn("hello", "Long.")

    assert client.sent == [client.said[:2]]
    [call] = client.engine.calls(client.session_ids[0])
    assert call.error_code == "call.untouched"
    assert call.input_tokens == 100
    assert [one.id for one in client.engine.health().errors] == [call.id]
    assert "request not fitted" in caplog.text


def test_a_store_that_fails_lets_requests_through(
    store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(store)
    client.turn("hello", "Hi.")
    store.close()
    client.said.append({"role": "user", "content": "and?"})
    client.send()

    assert client.sent[-1] == client.said
    assert client.session_ids[-1] == ""
    assert "sent as it came" in caplog.text


@pytest.mark.parametrize(
    "data",
    [
        {"input": "hi", "previous_response_id": "resp_1"},
        {"input": []},
        {"input": [], "conversation": "conv_1"},
        {"messages": [{"role": "user", "content": "hi"}]},
    ],
)
def test_what_is_no_whole_conversation_is_left_alone(
    store: SessionStore, data: dict[str, Any]
) -> None:
    hook = ContextHook(store)
    assert asyncio.run(hook.async_pre_call_hook(None, None, data, "aresponses")) is None
    assert store.count_sessions() == 0


def statements_of_turn(client: Client, number: int) -> int:
    """The statements of one turn, after one that fills the caches."""
    client.turn(f"question {number}", f"answer {number}")
    with statements_run() as seen:
        client.turn(f"question {number + 1}", f"answer {number + 1}")
    return len(seen)


def test_a_turn_takes_the_same_statements_however_much_there_is(store: SessionStore) -> None:
    client = Client(store)
    client.engine.user()
    client.engine.save_policy(Scope(), {"check_at": "before_send"})  # nothing in other threads
    few = statements_of_turn(client, 0)
    for number in range(60):
        other = Client(store)
        other.hook = client.hook
        other.turn(f"another {number}", "Yes.")
    for number in range(150):
        said = {"role": "assistant" if number % 2 else "user", "content": f"word {number}"}
        client.said.append(said)
    client.turn("question", "answer")
    many = statements_of_turn(client, 900)

    assert len(client.engine.sessions()) == 61
    assert many <= few + 2  # a checkpoint of the rules, and another for a long history


def test_purging_a_session_empties_the_index(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'own.db'}")
    client, other = Client(store), Client(store)
    client.turn("hello", "Hi.")
    other.turn("another", "Yes.")
    client.engine.purge(client.session_ids[0])
    with closing(sqlite3.connect(tmp_path / "own.db")) as database:
        [[left]] = database.execute("SELECT count(*) FROM request_prefix")
    client.turn("and?", "Yes.")

    assert left == 2  # those of the other session
    assert client.session_ids[0] != client.session_ids[1]
    assert said_in(store, client.session_ids[1]) == ["hello", "Hi.", "and?", "Yes."]
    store.close()


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ({"stream": True, "startTime": 100.0, "completionStartTime": 100.5}, 0.5),
        ({"stream": False, "startTime": 100.0, "completionStartTime": 103.0}, None),
        ({"stream": True, "startTime": 100.0}, None),
        ({}, None),
    ],
)
def test_only_a_streamed_answer_tells_when_it_began(
    told: dict[str, Any], seconds: float | None
) -> None:
    details = {"standard_logging_object": told}

    assert read_reply(details, {}, NOW, NOW).first_token_seconds == seconds
