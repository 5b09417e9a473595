"""System prompts of stored sessions: one in force, of a session or of one turn alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from statistics import median

import pytest
import sqlalchemy

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError, TurnStateError
from ctxcore.engine.events import (
    SYSTEM_CHANGED,
    TOOLS_CHANGED,
    ConfirmationNeeded,
    ContextBuilt,
    SessionStarted,
    TurnEvent,
)
from ctxcore.errors import BudgetError, MessageError
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import ModelReply, ModelRequest, ModelUsage, StreamEvent
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.values import Scope
from ctxcore.tokens.count import count_tools
from tests.engines import Clock, ended, engine_with, saying

SEARCH: JsonObject = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}
PROMPT = "You help customers of a shop. It is {clock}. " + "Be brief and kind. " * 30


@pytest.fixture
def engine() -> Iterator[ContextEngine]:
    with engine_with() as (made, _):
        yield made


def sent_system(
    engine: ContextEngine, session_id: str, *, system: str | None = None
) -> list[object]:
    """The texts of the system messages that the next call is sent."""
    messages = engine.context(session_id, system=system).messages
    return [message["content"] for message in messages if message["role"] == "system"]


def contexts(events: Iterator[TurnEvent]) -> list[ContextBuilt]:
    """The contexts of a turn's calls."""
    return [event for event in events if isinstance(event, ContextBuilt)]


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SQL statements that are run meanwhile."""
    run: list[str] = []

    def note(connection: object, cursor: object, statement: str, *others: object) -> None:
        run.append(statement)

    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", note)


def test_the_newest_prompt_is_the_one_in_force(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")

    engine.set_system(session.id, "Be kind.")

    assert engine.system(session.id) == "Be kind."
    assert sent_system(engine, session.id) == ["Be kind."]
    assert engine.session(session.id).length == 2


def test_messages_that_are_appended_add_up_as_before(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")

    engine.append(session.id, [{"role": "system", "content": "Be kind."}])

    assert engine.system(session.id) == "Be brief.\n\nBe kind."
    assert sent_system(engine, session.id) == ["Be brief.", "Be kind."]


def test_an_appended_message_adds_to_the_prompt_that_was_set(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")
    engine.set_system(session.id, "Be kind.")

    engine.append(session.id, [{"role": "developer", "content": "Use SI units."}])

    assert engine.system(session.id) == "Be kind.\n\nUse SI units."


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_session_can_have_no_prompt_any_more(engine: ContextEngine, nothing: str | None) -> None:
    session = engine.create_session("s", system="Be brief.")

    engine.set_system(session.id, nothing)
    none = (engine.system(session.id), sent_system(engine, session.id))
    engine.set_system(session.id, "Be brief.")

    assert none == (None, [])
    assert engine.system(session.id) == "Be brief."


def test_the_same_text_again_changes_nothing(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")

    engine.set_system(session.id, "Be brief.")
    engine.set_system(engine.create_session("empty").id, None)

    assert engine.session(session.id).length == 1
    assert engine.store.events(kind=SYSTEM_CHANGED) == []


def test_every_version_is_known_with_its_place(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.append(session.id, [{"role": "user", "content": "hello"}])
    engine.set_system(session.id, "two")

    versions = engine.system_versions(session.id)

    assert [(v.place, v.text, v.in_force) for v in versions] == [
        (0, "one", False),
        (2, "two", True),
    ]
    assert all(version.at is not None for version in versions)


def test_a_change_is_an_event_with_sizes(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")

    engine.set_system(session.id, "Be brief, and kind to everybody.")
    engine.set_system(session.id, None)

    first, second = [event.body for event in engine.store.events(session.id, kind=SYSTEM_CHANGED)]
    assert (first["seq"], second["seq"]) == (2, None)
    assert first["before_tokens"] < first["tokens"] == second["before_tokens"]  # type: ignore[operator]  # numbers
    assert second["tokens"] == 0


@pytest.mark.parametrize("wrong", [7, ["Be brief."], b"Be brief."])
def test_a_prompt_must_be_a_text(engine: ContextEngine, wrong: str) -> None:
    session = engine.create_session("s")

    with pytest.raises(MessageError, match="system"):
        engine.set_system(session.id, wrong)
    with pytest.raises(MessageError, match="system"):
        engine.context(session.id, system=wrong)
    with pytest.raises(MessageError, match="system"):
        list(engine.chat(session.id, "hello", system=wrong))
    with pytest.raises(MessageError, match="system"):
        engine.create_session("t", system=wrong)
    assert [one.id for one in engine.sessions()] == [session.id]


@pytest.mark.parametrize(
    "use",
    [
        lambda engine, session_id: engine.set_system(session_id, "x"),
        lambda engine, session_id: engine.system(session_id),
        lambda engine, session_id: engine.system_versions(session_id),
        lambda engine, session_id: engine.set_tools(session_id, [SEARCH]),
    ],
)
def test_only_its_owner_reads_or_sets_a_prompt(
    engine: ContextEngine, use: Callable[[ContextEngine, str], object]
) -> None:
    session = engine.create_session("s")
    engine.create_user("eve")
    eve = ContextEngine(engine.store, user_id="eve")

    with pytest.raises(NotAllowedError):
        use(eve, session.id)
    with pytest.raises(SessionNotFoundError):
        use(engine, "nowhere")


def turns(engine: ContextEngine, session_id: str, change: str, count: int) -> list[tuple[int, int]]:
    """The input tokens and SQL statements of each of `count` turns with a clock in the prompt."""
    sizes = []
    for turn in range(count):
        prompt, message = PROMPT.format(clock=f"12:{turn:03d}"), f"And order {turn}?"
        with statements() as run:
            if change == "set_system":
                engine.set_system(session_id, prompt)
                events = engine.chat(session_id, message)
            else:
                events = engine.chat(session_id, message, system=prompt)
            built = contexts(events)
            engine.wait(session_id)  # work behind a turn counts with it, however quick it is
        [first, *others] = built[0].context.messages
        assert first == {"role": "system", "content": prompt}
        assert "system" not in {message["role"] for message in others}
        sizes.append((built[-1].context.tokens, len(run)))
    return sizes


def test_appended_prompts_fill_the_window(engine: ContextEngine) -> None:
    """What setting one is for: each of these stays, and they cannot be left out."""
    session = engine.create_session("s")

    for turn in range(60):
        prompt = {"role": "system", "content": PROMPT.format(clock=turn)}
        engine.append(session.id, [prompt, {"role": "user", "content": "hello"}])

    with pytest.raises(BudgetError):
        engine.context(session.id)


class Brief:
    """A gateway that answers at once; a real one takes most of the time of two hundred turns."""

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        yield self.complete(request)

    def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(
            text="It was sent.",
            thoughts=(),
            calls=(),
            finish_reason="stop",
            usage=ModelUsage(),
            model=request.model,
            cost=None,
            latency_seconds=0.0,
            first_token_seconds=None,
        )


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ("set_system", 100),
        pytest.param("set_system", 200, marks=pytest.mark.slow),
        pytest.param("chat", 200, marks=pytest.mark.slow),
    ],
)
def test_turns_with_a_changing_prompt_stay_flat(change: str, count: int) -> None:
    with engine_with(window=1_200) as (scripted, model):
        engine = ContextEngine(scripted.store, gateway=Brief(), model=model.model, clock=Clock())
        session = engine.create_session("s")

        sizes = turns(engine, session.id, change, count)
        engine.wait(timeout_seconds=30)

        assert engine.session(session.id).length >= 2 * count
        assert len(engine.store.turns(session.id)) == count
        assert all(turn.state == "done" for turn in engine.store.turns(session.id))
    tokens, run = zip(*sizes, strict=True)
    half, third = count // 2, 50 + (count - 50) // 3  # by the fiftieth turn it was compacted
    assert max(tokens[half:]) <= max(tokens[:half]) * 1.1 <= 1_200
    assert median(run[third:]) <= median(run[50:third]) * 1.05  # a compaction falls into some turns
    assert max(run[half:]) <= max(run[:half]) * 1.5


def test_the_prompt_of_a_call_is_counted_and_stored_nowhere(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")
    engine.append(session.id, [{"role": "user", "content": "hello"}])
    plain, own = engine.context(session.id), engine.context(session.id, system=PROMPT)

    assert sent_system(engine, session.id, system=PROMPT) == [PROMPT]
    assert own.breakdown.system > plain.breakdown.system + 100
    assert own.tokens - plain.tokens == own.breakdown.system - plain.breakdown.system
    assert [(text.kind, text.text) for text in own.synthetic] == [("system", PROMPT)]
    assert own.verdict(0).reason.code == "verdict.system_of_call"
    assert engine.context(session.id).messages == plain.messages
    assert engine.session(session.id).length == 2


def test_a_call_may_go_without_a_prompt(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")
    engine.append(session.id, [{"role": "user", "content": "hello"}])

    context = engine.context(session.id, system="")

    assert [message["role"] for message in context.messages] == ["user"]
    assert context.tokens == sum(context.breakdown.to_dict().values()) - (
        context.breakdown.reserve + context.breakdown.free
    )


def test_all_calls_of_a_turn_have_its_prompt_also_after_a_pause() -> None:
    script = [ScriptedReply(calls=(ToolCall(id="a", name="search", arguments="{}"),)), saying("ok")]
    with engine_with(script) as (engine, model):
        session = engine.create_session("s", system="Be brief.", tools=[SEARCH])
        events = engine.chat(session.id, "hello", system="Be kind today.")
        assert ended(events).state == "awaiting_tools"
        engine.append(session.id, [{"role": "tool", "tool_call_id": "a", "content": "3 found"}])

        assert ended(engine.continue_turn(session.id)).state == "done"
        list(engine.chat(session.id, "and now?"))

        sent = [request.messages[0]["content"] for request in model.requests]
        assert sent == ["Be kind today.", "Be kind today.", "Be brief."]
        assert engine.store.turns(session.id)[0].system == "Be kind today."


def test_the_rules_of_a_prompt_out_of_force_are_not_repeated() -> None:
    with engine_with(window=1_500) as (engine, _):
        session = engine.create_session("s", system="Always answer in French.")
        engine.append(session.id, [{"role": "user", "content": "Never use tables. Begin."}])
        engine.set_system(session.id, "Be kind.")
        for turn in range(40):
            engine.append(
                session.id,
                [
                    {"role": "user", "content": f"question {turn} " + "words " * 30},
                    {"role": "assistant", "content": "answer " + "words " * 30},
                ],
            )
        engine.compact(session.id)

        sent = str(engine.context(session.id).messages)
        own = str(engine.context(session.id, system="Be bold.").messages)

    assert "French" not in sent
    assert "Never use tables" in sent
    assert "Be kind" not in own


def test_a_prompt_out_of_force_folds_into_no_summary() -> None:
    with engine_with(window=1_500) as (engine, _):
        session = engine.create_session("s", system="The secret word is zanzibar.")
        for turn in range(40):
            engine.append(
                session.id,
                [
                    {"role": "user", "content": f"question {turn} " + "words " * 30},
                    {"role": "assistant", "content": "answer " + "words " * 30},
                ],
            )
        engine.set_system(session.id, "Be kind.")
        info = engine.compact(session.id)
        assert info is not None
        context = engine.context(session.id)

    assert "zanzibar" not in info.compaction.summary + str(context.messages)
    assert info.compaction.covered_messages + 1 == info.compaction.covered_until


def test_an_excluded_prompt_is_out_of_force_until_it_is_included(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")
    engine.append(
        session.id, [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    )

    engine.exclude(session.id, 0)
    without = (engine.system(session.id), sent_system(engine, session.id))
    verdict = engine.context(session.id).verdict(0)
    tokens = engine.context(session.id).tokens
    engine.include(session.id, 0)

    assert without == ("Be kind.", ["Be kind."])
    assert (verdict.verdict, verdict.reason.code) == ("dropped", "verdict.excluded")
    assert engine.system(session.id) == "Be brief.\n\nBe kind."
    assert engine.context(session.id).tokens > tokens


def test_a_goal_that_is_a_prompt_out_of_force_is_not_sent(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.append(session.id, [{"role": "user", "content": "hi"}])
    engine.set_goal(session.id, 0)

    assert sent_system(engine, session.id, system="own") == ["own"]
    engine.set_system(session.id, "two")
    assert sent_system(engine, session.id) == ["two"]
    engine.set_goal(session.id, 2)
    assert sent_system(engine, session.id) == ["two"]
    engine.exclude(session.id, 2)
    assert sent_system(engine, session.id) == []


def test_a_replaced_prompt_has_a_verdict_of_its_own(engine: ContextEngine) -> None:
    session = engine.create_session("s")
    engine.append(session.id, [{"role": "user", "content": "hi"}])
    engine.set_system(session.id, "one")
    engine.append(session.id, [{"role": "user", "content": "and"}])
    engine.set_system(session.id, "two")

    context = engine.context(session.id)

    assert context.verdict(1).reason.code == "verdict.system_replaced"
    assert context.verdict(3).reason.code == "verdict.system_prompt"
    assert sum(run.after_tokens for run in context.runs) == context.breakdown.input_tokens - 3


def test_calls_know_what_broke_the_prompt_cache(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="Be brief.")
    list(engine.chat(session.id, "hello"))
    list(engine.chat(session.id, "hello"))
    engine.set_system(session.id, "Be kind.")
    list(engine.chat(session.id, "hello"))
    engine.set_tools(session.id, [SEARCH])
    list(engine.chat(session.id, "hello"))
    engine.set_system(session.id, None)
    list(engine.chat(session.id, "hello"))
    list(engine.chat(session.id, "hello", system="Be bold."))

    causes = [call.cache_break for call in engine.store.calls(session.id)]

    assert [cause.code if cause else None for cause in causes] == [
        *(None, None, "break.system", "break.tools", "break.system", "break.system")
    ]


def test_tools_can_be_set_and_are_sent(engine: ContextEngine) -> None:
    session = engine.create_session("s")

    engine.set_tools(session.id, [SEARCH])
    engine.set_tools(session.id, [SEARCH])

    assert engine.session(session.id).tools == (SEARCH,)
    assert engine.context(session.id).breakdown.tools > 0
    [event] = engine.store.events(session.id, kind=TOOLS_CHANGED)
    assert (event.body["before_tools"], event.body["tools"]) == (0, 1)
    assert event.body["tokens"] == count_tools(
        [SEARCH], engine.call_target(session.id).call.counter
    )


REASONED: JsonObject = {
    "type": "function",
    "function": {
        "name": "reply",
        "parameters": {
            "type": "object",
            "properties": {"thinking": {"type": "string"}, "answer": {"type": "string"}},
        },
    },
}


@pytest.mark.parametrize("form", ["native", "openai"])
def test_the_keys_of_tools_stay_in_order(form: str) -> None:
    """Models write arguments in the order of a schema: thinking before the answer, say."""
    with engine_with() as (engine, model):
        session = engine.create_session("s", tools=[REASONED])
        list(engine.chat(session.id, "hello"))
        [copy] = engine.import_(engine.export(session.id, form))
        list(engine.chat(copy.id, "hello", model=model.model))

        sent = [json.dumps(request.tools[0]) for request in model.requests]

    assert sent == [json.dumps(REASONED)] * 2


def test_tools_are_sent_in_characters_that_a_provider_takes(engine: ContextEngine) -> None:
    session = engine.create_session("s", tools=[{"name": "look", "description": "half \ud83d"}])

    assert engine.session(session.id).tools[0]["description"] == "half \ufffd"


def test_another_order_of_keys_is_another_definition(engine: ContextEngine) -> None:
    session = engine.create_session("s", tools=[REASONED])
    list(engine.chat(session.id, "hello"))
    engine.set_tools(session.id, [json.loads(json.dumps(REASONED, sort_keys=True))])
    list(engine.chat(session.id, "hello"))

    assert json.dumps(engine.session(session.id).tools[0]) != json.dumps(REASONED)
    cause = engine.store.calls(session.id)[-1].cache_break
    assert cause is not None
    assert cause.code == "break.tools"


def _nested(depth: int) -> JsonObject:
    return {"inner": _nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "wrong",
    ["search", {"name": "search"}, ["search"], [7], [{"name": {1, 2}}], [_nested(300)]],
    ids=["text", "object", "texts", "number", "set", "deep"],
)
def test_wrong_tools_are_refused_and_change_nothing(engine: ContextEngine, wrong: object) -> None:
    session = engine.create_session("s", tools=[SEARCH])

    with pytest.raises(MessageError, match="tools"):
        engine.set_tools(session.id, wrong)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(MessageError, match="tools"):
        engine.create_session("t", tools=wrong)  # type: ignore[arg-type]  # what is refused

    assert engine.session(session.id).tools == (SEARCH,)


def test_a_fork_has_the_prompt_of_its_place(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    for text in ("two", "three", None):
        engine.append(session.id, [{"role": "user", "content": f"before {text}"}])
        engine.set_system(session.id, text)
    engine.append(session.id, [{"role": "user", "content": "at the end"}])

    forks = [engine.fork(session.id, at).id for at in range(7)]

    assert [engine.system(fork) for fork in forks] == [
        *("one", "one", "two", "two", "three", None, None)
    ]


def test_an_export_brings_the_prompts_back(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.set_system(session.id, "two")
    list(engine.chat(session.id, "hello"))
    engine.set_system(session.id, "three")
    list(engine.chat(session.id, "hello again"))

    [copy] = engine.import_(engine.export(session.id))

    assert engine.system(copy.id) == "three"
    assert [v.in_force for v in engine.system_versions(copy.id)] == [False, False, True]
    assert engine.digest(copy.id) == engine.digest(session.id)
    assert engine.store.calls(copy.id)[-1].cache_break == (
        engine.store.calls(session.id)[-1].cache_break
    )
    assert "three" in engine.export(session.id, "openai")
    assert "two" not in engine.export(session.id, "openai")


def test_a_recount_keeps_the_prompt_in_force(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.set_system(session.id, "two")
    engine.set_model(session.id, "claude-opus-4-8")

    assert sent_system(engine, session.id) == ["two"]


def test_a_new_session_begins_with_the_prompt_in_force() -> None:
    with engine_with([], otherwise=saying("Noted. " + "words " * 60), window=1_500) as (engine, _):
        session = engine.create_session("s", system="one")
        overrides: JsonObject = {"requires_confirmation": True}
        engine.save_policy(Scope(kind="session", owner=session.id), overrides)
        engine.set_system(session.id, "two")
        question = None
        for turn in range(40):
            events = list(engine.chat(session.id, f"{turn} " + "words " * 40, system="own"))
            question = next((e for e in events if isinstance(e, ConfirmationNeeded)), None)
            if question:
                break
        assert question is not None

        events = list(engine.answer(session.id, question.plan_id, "new_session"))
        [started] = [event for event in events if isinstance(event, SessionStarted)]

        assert engine.system(started.session_id) == "two"
        assert len(engine.system_versions(started.session_id)) == 1
        [turn_info] = engine.store.turns(started.session_id)
        assert turn_info.system == "own"


def test_a_prompt_can_be_set_while_a_recount_waits(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.append(session.id, [{"role": "user", "content": f"question {n}"} for n in range(250)])
    engine.set_model(session.id, "claude-opus-4-8")

    engine.set_system(session.id, "two")

    assert sent_system(engine, session.id) == ["two"]


def test_an_answer_to_a_question_keeps_what_the_turn_is_sent() -> None:
    with engine_with([], otherwise=saying("Noted. " + "words " * 60), window=1_500) as (engine, _):
        session = engine.create_session("s", system="one")
        overrides: JsonObject = {"requires_confirmation": True, "check_at": "before_send"}
        engine.save_policy(Scope(kind="session", owner=session.id), overrides)
        question = None
        while question is None:
            events = list(engine.chat(session.id, "go on " + "words " * 40, system="own"))
            question = next((e for e in events if isinstance(e, ConfirmationNeeded)), None)

        built = contexts(
            engine.answer(
                session.id,
                question.plan_id,
                "compact",
                tools=[SEARCH],
                knowledge={"faq": "Ships sail on Mondays."},
            )
        )

    [sent] = [one.context for one in built]
    assert sent.messages[0] == {"role": "system", "content": "own"}
    assert sent.breakdown.tools > 0
    assert "Ships sail on Mondays." in str(sent.messages)


def test_an_answer_is_for_the_session_that_was_asked(engine: ContextEngine) -> None:
    session = engine.create_session("s")

    with pytest.raises(TurnStateError, match="no compaction waits"):
        engine.answer(session.id, "nothing", "compact")
