"""What holds of a state that comes back with other messages than it was made from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact
from ctxcore.errors import BudgetError, ContextError, StateError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy

presets = st.sampled_from(Policy.presets())
budgets = st.integers(min_value=300, max_value=1_500)
_OWNER = re.compile(r"([a-z]\d+)x\d")  # also of a word whose beginning is cut off


def turn(number: int, rows: int) -> list[JsonObject]:
    """A turn every word of which says whose it is: `user3x7` is of the user of turn 3."""
    look: JsonObject = {"name": "look", "arguments": json.dumps({"q": f"call{number}x0"})}
    output = "\n".join(f"row {n}: outp{number}x{n} value {n * 7919}" for n in range(rows))
    return [
        {"role": "user", "content": " ".join(f"user{number}x{n}" for n in range(12))},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": look}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": output},
        {"role": "assistant", "content": " ".join(f"said{number}x{n}" for n in range(12))},
    ]


@st.composite
def conversations(draw: st.DrawFn) -> list[JsonObject]:
    """A system prompt and turns with outputs of all sizes."""
    rows = draw(st.lists(st.sampled_from([1, 5, 40, 90]), min_size=3, max_size=8))
    turns = [turn(number, count) for number, count in enumerate(rows)]
    return [{"role": "system", "content": "Be careful."}, *(m for one in turns for m in one)]


Change = Callable[[list[JsonObject], int, int], list[JsonObject]]


def _edit(messages: list[JsonObject], at: int, number: int) -> list[JsonObject]:
    said = {**messages[at], "content": f"edit{number}x0 edit{number}x1"}
    return [*messages[:at], said, *messages[at + 1 :]]


def _drop(messages: list[JsonObject], at: int, _: int) -> list[JsonObject]:
    return [*messages[:at], *messages[at + 1 :]]


def _drop_front(messages: list[JsonObject], at: int, _: int) -> list[JsonObject]:
    return [*messages[:1], *messages[at:]]


def _swap(messages: list[JsonObject], at: int, number: int) -> list[JsonObject]:
    other = number % len(messages)
    swapped = list(messages)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    return swapped


def _insert(messages: list[JsonObject], at: int, number: int) -> list[JsonObject]:
    return [*messages[:at], *turn(50 + number, 30), *messages[at:]]


def _truncate(messages: list[JsonObject], at: int, _: int) -> list[JsonObject]:
    return messages[: max(1, at)]


changes = st.sampled_from([_edit, _drop, _drop_front, _swap, _insert, _truncate])


def sources(messages: Sequence[JsonObject]) -> list[set[str]]:
    """Whose words each message holds."""
    return [set(_OWNER.findall(json.dumps(message))) for message in messages]


def check(context: Context, passed: Sequence[JsonObject]) -> None:
    """Every message is sent with words of its own alone."""
    owners = sources(passed)
    for group in context.made_of:
        for item in group.items:
            if item.row is not None:
                said = item.message.text + str(item.message.calls)
                assert set(_OWNER.findall(said)) <= owners[item.row.seq - 1]
    labels = {synthetic.kind for synthetic in context.synthetic}
    assert labels <= {"facts", "summary", "recent", "pinned", "kept", "knowledge"}
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[]] * 4


def _compact(messages: Sequence[JsonObject], **wanted: Any) -> tuple[CompactionState, Context]:
    try:
        result = compact(messages, **wanted)
    except BudgetError as error:
        assume(error is None)
        raise
    return result.state, result.context


@given(
    conversations(),
    presets,
    budgets,
    st.lists(st.tuples(changes, st.integers(1, 40), st.integers(0, 40)), max_size=3),
    st.data(),
)
def test_no_message_is_ever_sent_with_the_words_of_another(
    messages: list[JsonObject],
    preset: str,
    budget: int,
    edits: list[tuple[Change, int, int]],
    data: st.DataObject,
) -> None:
    wanted: dict[str, Any] = {"policy": Policy.preset(preset), "max_tokens": budget}
    marks = st.frozensets(st.integers(1, len(messages) - 1), max_size=2)
    marked = CompactionState(pinned=data.draw(marks), excluded=data.draw(marks))
    state, context = _compact(messages, state=marked, force=True, **wanted)
    if data.draw(st.booleans()):  # what was sent is stored in place of what was passed
        messages = context.messages
    for change, at, number in edits:
        if not messages:
            break
        messages = change(messages, at % len(messages), number)
    messages = [*messages, *turn(99, 20)]
    state = CompactionState.from_json(json.dumps(state.to_json()))

    for on_mismatch in ("raise", "rebuild"):
        try:
            fitted = fit(messages, state=state, on_mismatch=on_mismatch, **wanted)
            _, compacted = _compact(messages, state=state, on_mismatch=on_mismatch, **wanted)
        except StateError:
            assert on_mismatch == "raise"  # the other may not raise
        except BudgetError:
            return
        else:
            check(fitted, messages)
            check(compacted, messages)


@given(conversations(), presets, budgets, st.integers(1, 5))
def test_a_list_that_only_grows_keeps_its_state_and_is_told_nothing(
    messages: list[JsonObject], preset: str, budget: int, more: int
) -> None:
    wanted: dict[str, Any] = {"policy": Policy.preset(preset), "max_tokens": budget}
    state, _ = _compact(messages, force=True, **wanted)
    for number in range(more):
        messages = [*messages, *turn(60 + number, 5)]
        grown, context = _compact(messages, state=state, **wanted)

        assert context.notices == ()
        assert grown.active is not None or state.active is None
        state = grown


@given(conversations(), presets, budgets)
def test_what_was_sent_is_read_back_and_said_again(
    messages: list[JsonObject], preset: str, budget: int
) -> None:
    policy = Policy.preset(preset)
    state, first = _compact(messages, policy=policy, max_tokens=budget, force=True)
    assume(state.active is not None)

    again = fit(first.messages, state=state, policy=policy, max_tokens=4 * budget)

    assert _said(first) <= _said(again)
    assert len(_said(again) - _said(first)) <= 1  # the acknowledgement
    assert str(again.messages).count("conversation_summary>") <= 2


def _said(context: Context) -> set[str]:
    """All that is said, whatever its order: neighbours may be joined otherwise."""
    texts = (str(message.get("content") or "") for message in context.messages)
    return {line for text in texts for line in text.splitlines() if line}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9_000) | st.text(max_size=8) | st.just("ab" * 8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(conversations(), st.data())
def test_a_damaged_state_is_refused_or_harmless(
    messages: list[JsonObject], data: st.DataObject
) -> None:
    state, _ = _compact(messages, max_tokens=600, force=True)
    plain = state.to_json()
    for _ in range(data.draw(st.integers(1, 3))):
        holder: Any = plain
        while True:
            keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
                holder = holder[key]
                continue
            holder[key] = data.draw(json_values)
            break

    try:
        read = CompactionState.from_json(plain)
        context = fit(messages, max_tokens=900, state=read, on_mismatch="rebuild")
    except ContextError:
        return
    assert context.tokens <= 900
