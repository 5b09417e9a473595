"""What holds for every context, whatever the history and the window."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit, prepare
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.errors import BudgetError
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_messages, count_tokens
from tests.histories import histories, sound_histories, windows

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Find orders",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    }
]

presets = st.sampled_from(Policy.presets())


def _fit(history: list[Message], window: int, preset: str = "default") -> Context:
    try:
        return fit(history, max_tokens=window, policy=Policy.preset(preset))
    except BudgetError as error:
        assume(error is None)
        raise


@given(histories(), windows(), presets)
def test_a_context_never_exceeds_its_budget(
    history: list[Message], window: int, preset: str
) -> None:
    assert _fit(history, window, preset).tokens <= window


@given(histories(), windows(), presets)
def test_references_to_originals_never_exceed_the_budget_and_always_name_what_is_shorter(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit_with_expand(history, window, preset)

    named = {int(seq) for seq in re.findall(r"… whole\W{2,4}m(\d+)", str(context.messages))}
    assert context.tokens <= window
    assert {context.verdict(seq - 1).verdict for seq in named} <= {"compressed"}


def _fit_with_expand(history: list[Message], window: int, preset: str) -> Context:
    """The context of a call in which the model can ask for originals."""
    prepared = prepare(
        history,
        policy=Policy.preset(preset),
        max_tokens=window,
        model=None,
        tools=None,
        knowledge=None,
        state=None,
    )
    try:
        return build_context(prepared.view, replace(prepared.call, offers_expand=True))
    except BudgetError as error:
        assume(error is None)
        raise


@given(histories(), windows(), presets)
def test_its_count_is_that_of_what_is_sent(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)
    assume(not any("reasoning_content" in message for message in context.messages))

    assert context.tokens == count_messages(context.messages)


@given(histories(), windows(), presets, st.sampled_from(PROVIDERS))
def test_a_context_is_legal_for_every_provider(
    history: list[Message], window: int, preset: str, provider: str
) -> None:
    context = _fit(history, window, preset)

    assert lint(context.messages, provider) == []  # type: ignore[arg-type]  # sampled from them


@given(histories(), windows(), presets)
def test_segments_add_up_to_the_window(history: list[Message], window: int, preset: str) -> None:
    breakdown = _fit(history, window, preset).breakdown

    assert sum(breakdown.to_dict().values()) == window
    assert min(breakdown.to_dict().values()) >= 0


@given(histories(), windows(), presets)
def test_every_message_has_exactly_one_verdict(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)

    assert len(context.verdicts) == len(history)
    assert [place for run in context.runs for place in range(run.first, run.last + 1)] == list(
        range(len(history))
    )


@given(histories(), windows(), presets)
def test_sizes_after_and_own_texts_add_up_to_the_context(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)

    after = sum(verdict.after_tokens for verdict in context.verdicts)
    own = sum(text.tokens for text in context.synthetic)
    shared = context.tokens - after - own
    assert shared == 3  # the priming of the reply; there are no tools here


@given(sound_histories(), windows(), windows())
def test_a_larger_budget_never_keeps_less(history: list[Message], one: int, other: int) -> None:
    small, large = sorted((one, other))

    kept = _verbatim(_fit(history, small))

    assert kept <= _verbatim(_fit(history, large))


@given(histories(), windows())
def test_a_larger_budget_never_keeps_less_of_a_broken_history(
    history: list[Message], window: int
) -> None:
    kept = _verbatim(_fit(history, window))

    assert kept <= _verbatim(_fit(history, window + window // 3 + 1))


def _verbatim(context: Context) -> set[int]:
    return {at for at, verdict in enumerate(context.verdicts) if verdict.verdict == "kept"}


@given(sound_histories(), windows(), presets)
def test_system_goal_and_last_user_message_are_always_there(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)
    last_user = max(at for at, message in enumerate(history) if message.role == "user")

    assert context.verdict(0).verdict == "kept"
    assert context.verdict(1).verdict in ("kept", "compressed")
    assert context.verdict(last_user).verdict in ("kept", "compressed")


@given(sound_histories(), windows(), presets, st.data())
def test_marked_messages_are_in_or_out_whatever_the_preset(
    history: list[Message], window: int, preset: str, data: st.DataObject
) -> None:
    places = st.frozensets(st.integers(1, len(history) - 1), max_size=3)
    pinned, excluded = data.draw(places), data.draw(places)
    state = CompactionState(pinned=pinned - excluded, excluded=excluded)
    try:
        context = fit(history, max_tokens=window, policy=Policy.preset(preset), state=state)
    except BudgetError:
        return

    gone = {
        at for at, one in enumerate(context.verdicts) if one.reason.code == VerdictCode.EXCLUDED
    }
    assert context.tokens <= window
    assert lint(context.messages, "openai") == []
    assert excluded <= gone
    assert all(context.verdict(at).verdict != "dropped" for at in state.pinned - gone)


@given(histories(), windows(), presets)
def test_calls_and_results_are_sent_together(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)

    calls, results = call_ids_sent(context), results_sent(context)
    assert results == calls
    assert len(set(calls)) == len(calls)


@given(histories(), windows(), presets)
def test_a_router_reads_no_more_than_it_has_room_for(
    history: list[Message], window: int, preset: str
) -> None:
    context = _fit(history, window, preset)

    lines = [count_tokens(line) for line in context.render_text(200).splitlines()]

    assert sum(lines) <= 200


@given(histories(), windows(), presets)
def test_the_same_input_gives_the_same_bytes(
    history: list[Message], window: int, preset: str
) -> None:
    one, other = _fit(history, window, preset), _fit(history, window, preset)

    assert json.dumps(one.messages) == json.dumps(other.messages)


@given(sound_histories())
def test_everything_is_sent_where_it_fits(history: list[Message]) -> None:
    context = fit(history, max_tokens=1_000_000)

    assert [message["role"] for message in context.messages] == [m.role for m in history]
    assert not context.repairs


@given(sound_histories(), windows())
def test_tools_and_knowledge_count(history: list[Message], window: int) -> None:
    try:
        context = fit(history, max_tokens=window, tools=TOOLS, knowledge={"faq": "refunds " * 50})
    except BudgetError:
        return

    assert context.tokens == count_messages(context.messages, tools=TOOLS)
    assert context.breakdown.tools > 0


def call_ids_sent(context: Context) -> list[str]:
    """The ids of all calls that are sent, in order."""
    return [made.id for message in parse_messages(context.messages) for made in message.calls]


def results_sent(context: Context) -> list[str | None]:
    """The ids that results answer, in order."""
    return [
        message.answers for message in parse_messages(context.messages) if message.is_tool_result
    ]


def test_an_unknown_window_sends_everything_and_claims_nothing() -> None:
    context = fit([{"role": "user", "content": "hi"}], model="nobody/knows")

    assert context.budget is None
    assert context.breakdown.window is None


def test_what_cannot_fit_says_by_how_much() -> None:
    history = [{"role": "system", "content": "rule " * 500}, {"role": "user", "content": "hi"}]

    with pytest.raises(BudgetError) as caught:
        fit(history, max_tokens=100)

    assert caught.value.needed > caught.value.available == 100
    assert caught.value.parts["system"] > 400
