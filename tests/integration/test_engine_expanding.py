"""Originals come back: to a caller by reference, to a model that calls the tool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from ctxcore import EXPAND_TOOL, RECALL_TOOL, ContextEngine, PartNotFoundError
from ctxcore.compaction.triggers import measure
from ctxcore.compression.own_tools import without_own_tools
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import (
    ContextBuilt,
    ToolCallRequested,
    ToolResultAdded,
    TurnEvent,
    UsageReported,
)
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonValue, ToolCall
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope
from tests.engines import ended, engine_with, saying

SEARCH = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}
SHIPS = [{"ship": f"S-{n:03d}", "port": f"quay {n * 31 % 17}", "crew": n} for n in range(200)]
LONG = json.dumps(SHIPS)


def calls(*calls: ToolCall) -> ScriptedReply:
    """A reply that asks for tools."""
    return ScriptedReply(calls=calls)


def search(call_id: str = "c1") -> ToolCall:
    """A call of the caller's own tool."""
    return ToolCall(id=call_id, name="search", arguments="{}")


def expand(call_id: str = "e1", **arguments: object) -> ToolCall:
    """A call of the library's tool."""
    return ToolCall(id=call_id, name="expand_tool_output", arguments=json.dumps(arguments))


def shorten_everything(engine: ContextEngine, session_id: str, **fields: object) -> None:
    """A policy under which `LONG` is shortened when it is appended."""
    overrides = {"oversize_ratio": 0.1, **fields}
    engine.save_policy(Scope(kind="session", owner=session_id), overrides)  # type: ignore[arg-type]  # plain values


def outputs_of(events: Iterable[TurnEvent]) -> dict[str, str]:
    return {e.call_id: e.output for e in events if isinstance(e, ToolResultAdded)}


def test_parts_of_a_stored_message_come_back_exactly() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": LONG}])

        assert json.loads(engine.expand(session.id, "m1", path="[41]")) == SHIPS[41]
        assert json.loads(engine.expand(session.id, "m1", rows="7:9")) == SHIPS[7:9]
        assert "S-113" in engine.expand(session.id, "m1", grep="S-113")
        assert engine.expand(session.id, "m1", max_tokens=100_000) == LONG.replace(
            ", ", ","
        ).replace(": ", ":")


def test_a_text_comes_back_byte_for_byte_after_a_restart_and_in_a_fork(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"
    text = "\n".join(f"  line {n}\t{n * 3} " for n in range(400))
    with engine_with(url=url) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": text}])

    store = open_store(url)
    again = ContextEngine(store)
    fork = again.fork(session.id, 0)
    [copy] = again.import_(again.export(session.id))
    for session_id in (session.id, fork.id, copy.id):
        assert again.expand(session_id, "m1", max_tokens=100_000) == text
    store.close()


def test_what_is_not_there_is_refused_with_what_there_is() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(system="Be brief.")
        engine.append(session.id, [{"role": "user", "content": '{"a": 1}'}])

        for ref in ("m0", "m3", "m99", "abc", ""):
            with pytest.raises(PartNotFoundError, match="the session has the messages m1 to m2"):
                engine.expand(session.id, ref)
        with pytest.raises(PartNotFoundError):
            engine.expand(session.id, "m2", path="b")
        with pytest.raises(PartNotFoundError, match="no messages"):
            engine.expand(engine.create_session().id, "m1")


def test_whose_session_it_is_is_checked() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": "mine"}])
        engine.store.create_user("eve", at=engine.session(session.id).created_at, name="Eve")

        with pytest.raises(NotAllowedError):
            ContextEngine(engine.store, user_id="eve").expand(session.id, "m1")


def test_the_model_reads_an_original_by_itself_and_the_caller_never_sees_the_call() -> None:
    asked: list[str] = []

    def run(call: ToolCall) -> str:
        asked.append(call.name)
        return LONG

    replies = [calls(search()), calls(expand(ref="m3", path="[77]")), saying("77 sails")]
    with engine_with(replies, window=8_000) as (engine, model):
        session = engine.create_session()
        shorten_everything(engine, session.id)

        events = list(engine.chat(session.id, "look", tools=[SEARCH], run_tool=run))

        assert ended(events).text == "77 sails"
        assert asked == ["search"]
        assert '"… whole":"m3"' in str(model.requests[1].messages)
        assert json.loads(outputs_of(events)["e1"]) == SHIPS[77]
        requested = [e.call.name for e in events if isinstance(e, ToolCallRequested)]
        assert requested == ["search"]
        assert all(request.tools[-1] == EXPAND_TOOL for request in model.requests)


def test_without_run_tool_the_turn_goes_on_by_itself_after_an_expansion() -> None:
    replies = [calls(expand(ref="m1", rows="0:1")), saying("seen")]
    with engine_with(replies, window=8_000) as (engine, _):
        session = engine.create_session()

        events = list(engine.chat(session.id, "first line\nsecond", tools=[SEARCH]))

        assert (ended(events).state, ended(events).text) == ("done", "seen")
        assert outputs_of(events) == {"e1": "first line"}


def test_beside_other_calls_only_those_wait_for_the_caller() -> None:
    replies = [calls(search(), expand(ref="m1")), saying("both")]
    with engine_with(replies, window=8_000) as (engine, _):
        session = engine.create_session()
        events = list(engine.chat(session.id, "hello", tools=[SEARCH]))
        assert ended(events).state == "awaiting_tools"
        assert outputs_of(events) == {"e1": "hello"}

        engine.append(session.id, [{"role": "tool", "tool_call_id": "c1", "content": "42"}])
        end = ended(engine.continue_turn(session.id, tools=[SEARCH]))

        assert (end.state, end.text) == ("done", "both")


def test_an_expansion_is_never_shortened_and_takes_a_quarter_of_the_input_at_most() -> None:
    replies = [calls(search()), calls(expand(ref="m3", max_tokens=1_000_000)), saying("ok")]
    with engine_with(replies, window=8_000) as (engine, _):
        session = engine.create_session()
        shorten_everything(engine, session.id, oversize_ratio=0.02)

        events = list(engine.chat(session.id, "x", tools=[SEARCH], run_tool=lambda _: LONG))

        told = engine.store.messages(session.id, 5, 5)[0]
        assert told.short is None
        assert told.message.text == outputs_of(events)["e1"]
        built = [e.context for e in events if isinstance(e, ContextBuilt)][-1]
        assert built.budget is not None
        assert 100 < built.verdict(4).before_tokens <= built.budget.usable_tokens // 4 + 16
        assert built.verdict(4).verdict == "kept"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"ref": "m9"}', "m1 to m2"),
        ("[1]", "not a JSON object"),
        ("{", "not a JSON object"),
        ('{"ref": "m1", "grep": "zebra"}', "matches"),
        ("{}", "m1 to m2"),
    ],
)
def test_a_wrong_call_is_told_to_the_model(arguments: str, told: str) -> None:
    wrong = ToolCall(id="e1", name="expand_tool_output", arguments=arguments)
    with engine_with([calls(wrong), saying("sorry")], window=8_000) as (engine, _):
        session = engine.create_session()

        events = list(engine.chat(session.id, "look", tools=[SEARCH]))

        assert outputs_of(events)["e1"].startswith("Error: ")
        assert told in outputs_of(events)["e1"]
        assert ended(events).state == "done"


def test_a_model_is_not_shown_what_a_person_left_out() -> None:
    replies = [calls(expand(ref="m1")), saying("ok")]
    with engine_with(replies, window=8_000) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": "the secret"}])
        engine.exclude(session.id, 0)

        events = list(engine.chat(session.id, "look", tools=[SEARCH]))

        assert "excluded by a user" in outputs_of(events)["e1"]
        assert engine.expand(session.id, "m1") == "the secret"


def test_nothing_is_offered_without_tools_or_where_the_policy_does_not_want_it() -> None:
    with engine_with([saying("a"), saying("b")], window=8_000) as (engine, model):
        session = engine.create_session()
        ended(engine.chat(session.id, "hi"))
        shorten_everything(engine, session.id, offers_expand=False, offers_recall=False)
        ended(engine.chat(session.id, "look", tools=[SEARCH]))

        assert [list(request.tools) for request in model.requests] == [[], [SEARCH]]


@pytest.mark.parametrize(
    ("tools", "offers_expand"), [([SEARCH], True), ([SEARCH], False), ([], True)]
)
def test_an_output_cut_because_nothing_else_fits_refers_where_the_tool_is_offered(
    tools: list[dict[str, object]], offers_expand: bool
) -> None:
    with engine_with(window=1_500) as (engine, _):
        session = engine.create_session(tools=tools)
        fields = {"oversize_ratio": None, "offers_expand": offers_expand}
        engine.save_policy(Scope(kind="session", owner=session.id), fields)  # type: ignore[arg-type]  # plain values
        call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        engine.append(
            session.id,
            [
                {"role": "user", "content": "look"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": LONG},
            ],
        )

        context = engine.context(session.id)

        assert engine.store.messages(session.id)[2].short is None
        assert context.verdict(2).verdict == "compressed"
        assert ('"… whole":"m3"' in str(context.messages)) == (bool(tools) and offers_expand)
        assert json.loads(engine.expand(session.id, "m3", path="[77]")) == SHIPS[77]


def test_without_the_tool_no_reference_is_written() -> None:
    with engine_with([calls(search()), saying("b")], window=8_000) as (engine, model):
        session = engine.create_session()
        shorten_everything(engine, session.id, offers_expand=False)

        events = list(engine.chat(session.id, "x", tools=[SEARCH], run_tool=lambda _: LONG))

        built = [e.context for e in events if isinstance(e, ContextBuilt)][-1]
        assert built.verdict(2).verdict == "compressed"
        assert "whole" not in str(model.requests[-1].messages)


def test_a_callers_tool_of_the_same_name_stays_the_callers() -> None:
    own = {"type": "function", "function": {"name": "expand_tool_output"}}
    with engine_with([calls(expand(ref="x")), saying("ok")], window=8_000) as (engine, model):
        session = engine.create_session()

        events = list(engine.chat(session.id, "look", tools=[own], run_tool=lambda _: "theirs"))

        assert outputs_of(events) == {"e1": "theirs"}
        assert list(model.requests[0].tools) == [own, RECALL_TOOL]


def test_what_a_compaction_shortened_says_where_it_is_and_stays_as_it_is() -> None:
    with engine_with(window=6_000) as (engine, _):
        session = engine.create_session(tools=[SEARCH])
        for n in range(6):
            function = {"name": "search", "arguments": "{}"}
            ask = {"id": f"c{n}", "type": "function", "function": function}
            said: list[dict[str, object]] = [
                {"role": "user", "content": f"ask {n}"},
                {"role": "assistant", "content": "", "tool_calls": [ask]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": json.dumps(SHIPS[:40])},
                {"role": "assistant", "content": f"answer {n}"},
            ]
            engine.append(session.id, said)
        shorten_everything(engine, session.id, strategies=["shorten_tool_outputs"])
        info = engine.compact(session.id)
        assert info is not None

        context = engine.context(session.id)

        shortened = [seq for seq, _ in info.compaction.shortened]
        assert shortened
        for seq in shortened:
            assert f'"m{seq}"' in str(context.messages) or f"whole: m{seq}" in str(context.messages)
        assert context.budget is not None
        assert context.tokens <= context.budget.usable_tokens


def test_a_pin_shows_a_shortened_output_whole_and_taking_it_off_shortens_it_again() -> None:
    with engine_with([calls(search()), saying("b")], window=20_000) as (engine, _):
        session = engine.create_session(tools=[SEARCH])
        shorten_everything(engine, session.id)
        ended(engine.chat(session.id, "x", tools=[SEARCH], run_tool=lambda _: LONG))
        short = engine.context(session.id)

        engine.pin(session.id, 2)
        context = engine.context(session.id)

        assert short.verdict(2).verdict == "compressed"
        assert context.verdict(2).verdict == "kept"
        assert LONG in str(context.messages)
        subject = engine.call_target(session.id)
        measured = measure(subject.view, subject.call, subject.record).input_tokens
        assert context.tokens <= measured < context.tokens + 20
        engine.unpin(session.id, 2)
        assert engine.context(session.id).messages == short.messages


def test_a_caller_may_offer_the_tool_whatever_the_policy_says() -> None:
    replies = [calls(expand(ref="m1")), saying("ok")]
    with engine_with(replies, window=8_000) as (engine, model):
        session = engine.create_session()
        shorten_everything(engine, session.id, offers_expand=False)

        events = list(engine.chat(session.id, "hello", tools=[SEARCH, EXPAND_TOOL]))

        assert outputs_of(events) == {"e1": "hello"}
        assert list(model.requests[0].tools) == [SEARCH, EXPAND_TOOL, RECALL_TOOL]


def test_a_call_that_a_stopped_turn_left_open_is_answered_when_it_goes_on() -> None:
    with engine_with([calls(expand(ref="m1")), saying("ok")], window=8_000) as (engine, _):
        session = engine.create_session()
        turn = engine.chat(session.id, "hello", tools=[SEARCH])
        for event in turn:
            if isinstance(event, UsageReported):
                turn.close()  # type: ignore[attr-defined]  # a generator
                break
        assert engine.store.messages(session.id, 1, 99)[-1].message.calls

        events = list(engine.continue_turn(session.id, tools=[SEARCH]))

        assert outputs_of(events) == {"e1": "hello"}
        assert ended(events).text == "ok"


def test_the_tool_is_not_stored_with_a_session() -> None:
    assert without_own_tools((EXPAND_TOOL,)) == ()
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session(tools=[SEARCH])
        ended(engine.chat(session.id, "hello"))

        assert engine.session(session.id).tools == (SEARCH,)
        assert engine.call_target(session.id).tools == (SEARCH, RECALL_TOOL, EXPAND_TOOL)


def writing(count: int) -> list[dict[str, object]]:
    """Turns in which a file of 11,000 characters is written."""
    said: list[dict[str, object]] = []
    for n in range(count):
        content = "\n".join(f"value_{n}_{line} = {line}" for line in range(700))[:11_000]
        arguments = json.dumps({"path": f"/src/f{n}.py", "content": content})
        function = {"name": "search", "arguments": arguments}
        ask = {"id": f"c{n}", "type": "function", "function": function}
        said += [
            {"role": "user", "content": f"write {n}"},
            {"role": "assistant", "content": "", "tool_calls": [ask]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "done"},
            {"role": "assistant", "content": f"written {n}"},
        ]
    return said


@pytest.mark.parametrize("tools", [[SEARCH], []])
def test_shortened_arguments_say_where_they_are_and_come_back(
    tools: list[dict[str, object]],
) -> None:
    with engine_with(window=60_000) as (engine, _):
        session = engine.create_session(tools=tools)
        engine.append(session.id, writing(12))
        info = engine.compact(session.id)
        assert info is not None
        assert info.compaction.arguments

        context = engine.context(session.id)

        sent = next(group.message for group in context.made_of if group.message.calls)
        first = json.loads(sent.calls[0].arguments)
        stored = engine.store.messages(session.id)[1].message.calls[0].arguments
        assert list(first) == ["path", "content"]
        assert ("left out, whole: m2 …]" in first["content"]) == bool(tools)
        original = json.loads(stored)["content"]
        assert len(original) == 11_000
        assert engine.expand(session.id, "m2", path="content", max_tokens=9_000) == original
        target = engine.call_target(session.id)
        measured = measure(target.view, target.call, target.record).input_tokens
        assert context.tokens <= measured < context.tokens + 20
        [copy] = engine.import_(engine.export(session.id))
        assert engine.context(copy.id).messages == context.messages


@pytest.mark.parametrize("tools", [[SEARCH], []])
def test_words_that_are_cut_because_nothing_else_fits_refer_too(
    tools: list[dict[str, object]],
) -> None:
    with engine_with(window=1_500) as (engine, _):
        session = engine.create_session(tools=tools)
        text = "\n".join(f"line {n} of the request" for n in range(900))
        engine.append(session.id, [{"role": "user", "content": text}])

        context = engine.context(session.id)

        assert context.verdict(0).verdict == "compressed"
        assert context.budget is not None
        assert context.tokens <= context.budget.usable_tokens
        assert str(context.messages[-1]["content"]).endswith("[… whole: m1]") == bool(tools)
        assert engine.expand(session.id, "m1", rows="450:451") == "line 450 of the request"


@pytest.mark.parametrize("window", [600, 800, 1_200, 2_000])
def test_every_output_with_a_share_of_its_own_refers(window: int) -> None:
    with engine_with(window=window) as (engine, _):
        session = engine.create_session(tools=[SEARCH])
        engine.append(session.id, [{"role": "user", "content": "look"}])
        asks = [
            {"id": f"c{n}", "type": "function", "function": {"name": "search", "arguments": "{}"}}
            for n in range(2)
        ]
        engine.append(session.id, [{"role": "assistant", "content": "", "tool_calls": asks}])
        for n in range(2):
            engine.append(session.id, [{"role": "tool", "tool_call_id": f"c{n}", "content": LONG}])

        context = engine.context(session.id)

        for at in (2, 3):
            assert context.verdict(at).after_tokens >= 60
            assert f"m{at + 1}" in str(context.messages[at]["content"])


@pytest.mark.parametrize("tools", [[SEARCH], []])
def test_what_a_compaction_leaves_of_long_words_says_where_they_are_whole(
    tools: list[dict[str, object]],
) -> None:
    ask = " ".join(f"Wish {n} is a room with {n * 7} windows." for n in range(300))
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session(tools=tools)
        roomy: dict[str, JsonValue] = {"offers_recall": False, "target_ratio": 0.6}
        engine.save_policy(Scope(kind="session", owner=session.id), roomy)
        engine.append(session.id, [{"role": "user", "content": ask}])
        for n in range(24):
            told = " ".join(f"House {n}-{k} costs {n * 97 + k * 13} EUR." for k in range(40))
            said = [{"role": "assistant", "content": told}, {"role": "user", "content": f"{n}?"}]
            engine.append(session.id, said)
        assert engine.compact(session.id) is not None

        context = engine.context(session.id)

        cut = [
            (item.seq, item.message.text, item.reason.code)
            for group in context.made_of
            for item in group.items
            if item.verdict == "compressed" and item.tokens >= 60
        ]
        as_goal = set() if tools else {"verdict.goal"}
        assert {code for _, _, code in cut} == {"verdict.text_elided", *as_goal}
        for seq, text, _ in cut:
            assert text.endswith(f"\n[… whole: m{seq}]") == bool(tools)
        assert engine.expand(session.id, f"m{cut[0][0]}", max_tokens=100_000) == ask
        assert context.budget is not None
        assert context.tokens <= context.budget.usable_tokens
