"""What holds in the smallest rooms: what is said of a context is what it is, and it is full."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit, prepare
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact
from ctxcore.errors import BudgetError
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_messages
from tests.histories import assistant, call, histories, outputs, sound_histories, texts, user

MARKER = re.compile(
    r"\[(\d+) earlier messages? (?:is|are) not shown\]|\[此处省略了较早的 (\d+) 条消息\]"
)
NAMES = tuple(Policy.presets())
FACTS = (
    "Standing instructions:\n- Never call me before nine.\n- 以后不要用表格。\n"
    "Decisions:\n- We roll back first.\nIdentifiers:\n- ORD-2026-417\n- R-9\n"
    "(7 more facts not shown)"
)
LEAST_FREE = 32
"""Tokens that may stay free where things were left out: the frame of a line of facts, or the next
row of a table, and what merging neighbours saves."""
FREE_RATIO = 0.15
MARKER_FREE = 20
"""What a marker takes in Chinese, and a few tokens that its neighbours save."""

presets = st.sampled_from(NAMES)
budgets = st.one_of(st.integers(50, 400), st.integers(100, 250))


@st.composite
def tight_histories(draw: st.DrawFn) -> list[Message]:
    """Sound and broken ones, long system prompts, and calls that wait for their answer."""
    history = list(draw(st.one_of(sound_histories(), sound_histories(), histories())))
    system = draw(st.sampled_from([0, 0, 20, 60]))
    if system:
        history.insert(0, text_message("system", "Be brief and kind. 回答简洁。" * (system // 10)))
    count = draw(st.integers(0, 3))
    if count:
        calls = [call(f"open_{at}", q=at) for at in range(count)]
        history += [user(draw(texts())), assistant("", *calls)]
        history += [tool_result(made.id, draw(outputs())) for made in calls]
    return history


@st.composite
def states(draw: st.DrawFn, history: list[Message], preset: str) -> CompactionState | None:
    """No state, marks alone, what a compaction in a larger room left, or a record made by hand."""
    kind = draw(st.sampled_from(["none", "marks", "compacted", "compacted", "by hand"]))
    places = st.frozensets(st.integers(0, max(0, len(history) - 1)), max_size=3)
    marks = CompactionState()
    if kind != "none" and history:
        pinned, excluded = draw(places), draw(places)
        marks = CompactionState(pinned=pinned - excluded, excluded=excluded)
    if kind == "none":
        return None
    if kind == "compacted":
        window = draw(st.sampled_from([300, 600, 1_500, 4_000]))
        try:
            policy = Policy.preset(preset)
            return compact(history, max_tokens=window, policy=policy, state=marks, force=True).state
        except BudgetError:
            return marks
    if kind == "by hand" and history:
        return replace(marks, active=draw(records(history)))
    return marks


@st.composite
def records(draw: st.DrawFn, history: list[Message]) -> Compaction:
    """A record whose summary stands for all that it covers, a part, or nothing."""
    end = min(_open_outputs(history), default=len(history) + 1) - 1  # where open calls are made
    cuts = [at for at in cut_points(history) if at <= end]
    cut = draw(st.sampled_from(cuts))
    summary = draw(st.sampled_from(["", "They asked for a refund. " * 12, "客户要求退款。" * 40]))
    until = draw(st.sampled_from([at for at in cuts if at <= cut])) if summary else 0
    return Compaction(
        covered_until=cut,
        summary=summary,
        summary_tokens=80 if summary else 0,
        summarized_until=until,
        covered_messages=until,
        facts=draw(st.sampled_from(["", FACTS])),
        language="zh" if "客" in summary else "en",
        seen_until=cut,
    )


@st.composite
def rooms(draw: st.DrawFn) -> tuple[list[Message], CompactionState | None, Context]:
    """A history, a state, and the context of both in a small room."""
    history, preset = draw(tight_histories()), draw(presets)
    state = draw(states(history, preset))
    budget = draw(budgets)
    for window in (budget, budget + 200, budget + 900):  # as small as there is a context in
        try:
            if draw(st.booleans()):
                return history, state, _fit(history, window, preset, state)
            result = compact(
                history, max_tokens=window, policy=Policy.preset(preset), state=state, force=True
            )
            return history, result.state, result.context
        except BudgetError:
            continue
    return history, state, fit([user("hi")], max_tokens=100)


def _fit(
    history: list[Message], window: int, preset: str, state: CompactionState | None
) -> Context:
    """The context of a call in which the model may ask for originals."""
    prepared = prepare(
        history,
        policy=Policy.preset(preset),
        max_tokens=window,
        model=None,
        tools=None,
        knowledge=None,
        state=state,
    )
    call = replace(prepared.call, offers_expand=window % 2 == 0)
    return build_context(prepared.view, call, prepared.state.active)


Made = tuple[list[Message], CompactionState | None, Context]


def _is_made(made: Made) -> bool:
    history, _, context = made
    return len(context.verdicts) == len(history)


given_rooms = given(rooms().filter(_is_made))


@given_rooms
def test_a_context_is_within_its_room_and_legal(made: Made) -> None:
    _, _, context = made

    assert context.budget is not None
    assert context.tokens <= context.budget.usable_tokens
    assert context.tokens == count_messages(context.messages)
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[], [], [], []]
    assert sum(context.breakdown.to_dict().values()) == context.budget.window_tokens


@given_rooms
def test_what_is_kept_is_there_and_what_is_gone_is_not(made: Made) -> None:
    _, _, context = made

    there = {item.seq - 1 for group in context.made_of for item in group.items if item.row}
    for at, verdict in enumerate(context.verdicts):
        is_shown = verdict.verdict in ("kept", "compressed")
        assert is_shown == (at in there)
        assert is_shown == (verdict.after_tokens > 0)


@given_rooms
def test_messages_are_summarized_only_where_a_summary_is_sent(made: Made) -> None:
    _, _, context = made

    kinds = {verdict.verdict for verdict in context.verdicts}
    assert bool(context.summary) == bool(_summaries(context))
    assert bool(context.summary) >= ("summarized" in kinds)
    assert all(context.summary.split()[0] in text for text in _summaries(context))
    assert bool(context.summary) >= bool(context.summary_tokens or context.summarized_messages)


def _summaries(context: Context) -> list[str]:
    """The texts that say a summary; markers and acknowledgements are none."""
    told = (text.text for text in context.synthetic if text.kind == "summary")
    others = ("Understood. I have", "明白了，我已", "[conversation starts here]")
    return [text for text in told if not MARKER.fullmatch(text) and not text.startswith(others)]


@given_rooms
def test_markers_tell_how_many_messages_nothing_stands_for(made: Made) -> None:
    history, _, context = made

    told = [MARKER.fullmatch(text.text) for text in context.synthetic]
    numbers = [int(one[1] or one[2]) for one in told if one]
    gone = [
        at
        for at, verdict in enumerate(context.verdicts)
        if verdict.verdict == "dropped" and verdict.reason.code != VerdictCode.EXCLUDED
    ]
    assert not any(history[at].is_system for at in gone)
    if numbers or context.breakdown.free > MARKER_FREE:
        assert sum(numbers) == len(gone)
    assert 0 not in numbers


@given_rooms
def test_segments_are_those_of_the_texts_that_are_sent(made: Made) -> None:
    _, _, context = made

    for kind in ("facts", "summary"):
        texts = [text.tokens for text in context.synthetic if text.kind == kind]
        assert getattr(context.breakdown, kind) == sum(texts)
    if any(verdict.reason.mentions(VerdictCode.REMINDED) for verdict in context.verdicts):
        assert context.breakdown.facts


@given_rooms
def test_nothing_is_cut_or_left_out_while_there_is_room_for_it(made: Made) -> None:
    _, _, context = made
    assert context.budget is not None
    if context.budget.history_tokens < context.budget.usable_tokens:
        return  # a share of the window is all that may be filled
    free, reasons = context.breakdown.free, {run.reason.code for run in context.runs}
    most = max(LEAST_FREE, int(context.budget.usable_tokens * FREE_RATIO))

    if reasons & {VerdictCode.ELIDED_TO_WINDOW, VerdictCode.NO_ROOM_FOR_SUMMARY}:
        assert free <= most
    for at in _left_out_last(made):  # a block of its own that could have been there
        rules = context.budget.min_instruction_tokens  # whose room is kept for them
        assert free <= context.verdict(at).before_tokens + LEAST_FREE + rules


def _left_out_last(made: Made) -> list[int]:
    """The newest message left out that no compaction shortened, if it is a block by itself."""
    history, state, context = made
    record = state.active if state and state.active else Compaction(covered_until=0)
    short = {seq - 1 for seq, _ in record.shortened}
    gone = [
        at
        for at, one in enumerate(context.verdicts)
        if one.reason.mentions(VerdictCode.OUTSIDE)
        or one.reason.mentions(VerdictCode.NO_ROOM_TO_KEEP)
    ]
    last = gone[-1:] if gone else []
    return [
        at
        for at in last
        if at not in short and not history[at].is_tool_result and not history[at].calls
    ]


@given_rooms
def test_outputs_that_the_model_has_yet_to_see_say_something(made: Made) -> None:
    history, _, context = made

    for at in _open_outputs(history):
        sent = [
            item.message.text
            for group in context.made_of
            for item in group.items
            if item.row and item.seq == at + 1
        ]
        assert sent or context.verdict(at).reason.code == VerdictCode.EXCLUDED
        if sent and sum(map(str.isalnum, history[at].text)) > 8 and context.breakdown.free > 8:
            words = re.findall(r"\w{2,}", sent[0])
            assert any(word in history[at].text for word in words)


def _open_outputs(history: list[Message]) -> list[int]:
    """Places of the outputs that answer the calls of the last turn."""
    head = len(history) - 1
    while head >= 0 and history[head].is_tool_result:
        head -= 1
    is_answer = head >= 0 and history[head].calls
    return list(range(head + 1, len(history))) if is_answer else []
