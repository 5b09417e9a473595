"""Arguments of old calls: shortened by a compaction, the same JSON, whole in the open turn."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.arguments import shorten_arguments
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact
from ctxcore.messages.values import Message, ToolCall, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_messages, counter_for
from tests.histories import assistant, call, user
from tests.words import words

COUNTER = counter_for(None)


def content(number: int) -> str:
    """A file of 11,000 characters."""
    return "\n".join(f"value_{number}_{line} = {line}" for line in range(700))[:11_000]


def writing(count: int = 12, *, waits: bool = True) -> list[Message]:
    """A turn for each file that is written, and a message that waits."""
    history: list[Message] = []
    for n in range(count):
        made = call(f"c{n}", "write_file", path=f"/src/f{n}.py", content=content(n), mode=0o644)
        history += [user(f"Write file {n}."), assistant("", made), tool_result(f"c{n}", "done")]
        history.append(assistant(f"File {n} is written."))
    return [*history, user("and now?")] if waits else history


def arguments_in(context: Context) -> list[dict[str, Any]]:
    """The arguments of the calls that are sent, in order."""
    calls = [
        made
        for m in context.messages
        for made in cast("list[dict[str, Any]]", m.get("tool_calls") or [])
    ]
    return [json.loads(made["function"]["arguments"]) for made in calls]


def test_long_arguments_of_old_turns_are_shortened_and_stay_json_of_the_same_shape() -> None:
    history = writing()

    result = compact(history, max_tokens=50_000)

    assert result.applied
    sent = arguments_in(result.context)
    assert len(sent) == 12
    for n, made in enumerate(sent[:10]):
        assert (list(made), made["path"], made["mode"]) == (
            ["path", "content", "mode"],
            f"/src/f{n}.py",
            0o644,
        )
        assert made["content"].startswith(content(n)[:80])
        assert made["content"].endswith(content(n)[-40:])
        assert "characters left out" in made["content"]
        assert COUNTER.count(json.dumps(made)) < 250
    assert [made["content"] for made in sent[11:]] == [content(11)]  # the newest turns are fresh
    assert history == writing()


def test_what_is_shortened_is_legal_counted_and_explained() -> None:
    result = compact(writing(), max_tokens=50_000)

    context = result.context
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[]] * 4
    assert result.after_tokens == context.tokens == count_messages(context.messages)
    verdict = context.verdict(1)
    assert (verdict.verdict, verdict.reason.code) == ("compressed", VerdictCode.ARGUMENTS_SHORTENED)
    assert verdict.after_tokens < 300 < 3_000 < verdict.before_tokens


def test_the_prefix_stays_the_same_bytes_until_the_next_compaction() -> None:
    history = writing()
    state = compact(history, max_tokens=50_000).state
    more = [*history, assistant("ready"), *writing(1), assistant("so"), *writing(1)]

    first, second = (fit(h, max_tokens=50_000, state=state) for h in (history, more))

    shared = len(first.messages) - 1
    assert json.dumps(second.messages[:shared]) == json.dumps(first.messages[:shared])
    assert arguments_in(second)[-1]["content"] == content(
        0
    )  # nothing is shortened but by a compaction


def test_arguments_of_the_turn_that_waits_are_never_shortened() -> None:
    history = [*writing(6, waits=False), *writing(3)[:-2]]  # the last answer is missing
    policy = Policy(fresh_turns=0)

    open_turn = compact(history, policy=policy, max_tokens=40_000)
    one_turn = [user("Write them all."), *(m for m in writing(6) if m.role != "user")][:-1]
    single = compact(one_turn, policy=policy, max_tokens=100_000, force=True)

    sent = arguments_in(open_turn.context)
    assert open_turn.applied
    assert sent[-1]["content"] == content(2)
    assert "left out" in sent[-2]["content"]
    assert {len(made["content"]) for made in arguments_in(single.context)} <= {11_000}


@pytest.mark.parametrize("name", [name for name in Policy.presets() if name != "default"])
def test_the_presets_of_the_documents_leave_arguments_alone(name: str) -> None:
    policy = Policy.preset(name, requires_confirmation=False)
    assert policy.shorten_arguments_over_tokens is None

    result = compact(writing(), policy=policy, max_tokens=30_000, force=True)

    assert {made["content"] for made in arguments_in(result.context)} <= {*map(content, range(12))}


@pytest.mark.parametrize(
    "fields", [{"shorten_arguments_over_tokens": None}, {"protected_tools": ("write_file",)}]
)
def test_a_policy_may_leave_them_whole(fields: dict[str, Any]) -> None:
    policy = Policy(**fields)

    result = compact(writing(), policy=policy, max_tokens=100_000, force=True)

    assert {len(made["content"]) for made in arguments_in(result.context)} <= {11_000}


def test_a_pinned_call_is_whole() -> None:
    state = CompactionState(pinned=frozenset({1}))

    result = compact(writing(), max_tokens=60_000, state=state)

    sent = arguments_in(result.context)
    assert sent[0]["content"] == content(0)
    assert "left out" in sent[1]["content"]


def test_calls_that_were_shortened_stay_so_beside_a_summary() -> None:
    history = writing(40)
    before = compact(
        history, policy=Policy(strategies=("shorten_tool_outputs",)), max_tokens=90_000
    )
    assert before.state.active is not None
    assert len(before.state.active.arguments) > 30

    result = compact(history, max_tokens=8_000, state=before.state, force=True)

    record = result.state.active
    assert record is not None
    assert record.covered_until > 40
    kept = {seq for seq, _ in record.arguments}
    assert kept
    assert kept <= {*record.kept, *range(record.covered_until + 1, len(history))}
    assert len([made for made in arguments_in(result.context) if "left out" in made["content"]])
    assert result.after_tokens == result.context.tokens == count_messages(result.context.messages)


def test_they_stay_short_over_further_compactions() -> None:
    history, state = writing(4), CompactionState()
    for n in range(4, 30):
        history += writing(n + 1)[4 * n :]
        result = compact(history, max_tokens=20_000, state=state)
        state = result.state
        assert result.context.tokens <= 20_000
        assert [lint(result.context.messages, provider) for provider in PROVIDERS] == [[]] * 4

    assert state.active is not None
    assert state.active.arguments


def test_a_state_with_shortened_arguments_is_plain_data_and_moves_with_its_messages() -> None:
    history = writing()
    result = compact(history, max_tokens=50_000)

    state = CompactionState.from_json(result.state.to_json())
    later = [history[0], user("one more"), *history[1:]]
    moved = fit(later, max_tokens=50_000, state=state, on_mismatch="rebuild")

    assert state == result.state
    assert arguments_in(moved) == arguments_in(result.context)


def test_in_another_shape_the_arguments_are_shortened_too() -> None:
    context = compact(writing(), max_tokens=50_000).context

    blocks = [
        b
        for m in context.in_shape("anthropic")
        for b in cast("list[Any]", m["content"])
        if isinstance(b, dict)
    ]
    inputs = [block["input"] for block in blocks if block.get("type") == "tool_use"]
    assert inputs == arguments_in(context)


# one call


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=400)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=9), inner, max_size=5)
    ),
    max_leaves=20,
)


def shape_of(value: object) -> object:
    """The keys, lists and kinds of a value."""
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    return [shape_of(item) for item in value] if isinstance(value, list) else type(value)


@given(st.dictionaries(st.text(max_size=9), VALUES, max_size=6), st.integers(20, 200))
def test_shortened_arguments_have_the_same_shape(value: dict[str, object], limit: int) -> None:
    arguments = json.dumps(value)

    short = shorten_arguments(arguments, limit, COUNTER)

    if short is None:
        return
    assert shape_of(json.loads(short)) == shape_of(value)
    assert COUNTER.count(short) < COUNTER.count(arguments)


def test_many_texts_share_the_limit() -> None:
    edits = [{"old": words(300), "new": words(200)} for _ in range(4)]

    short = shorten_arguments(json.dumps({"path": "/a", "edits": edits}), 200, COUNTER)

    assert short is not None
    assert COUNTER.count(short) <= 200
    assert json.loads(short)["path"] == "/a"
    assert all("left out" in edit["old"] for edit in json.loads(short)["edits"])


@pytest.mark.parametrize(
    "arguments", ["{}", '{"path": "/a"}', "not json", json.dumps({"ids": list(range(900))})]
)
def test_what_fits_or_has_no_long_text_stays(arguments: str) -> None:
    assert shorten_arguments(arguments, 200, COUNTER) is None


def test_what_is_no_json_is_cut_as_one_text_and_sent_as_json() -> None:
    """A reply that ran out of tokens ends within the arguments of its call."""
    cut_off = '{"path": "/a", "content": "' + "x = 1\\n" * 2_000
    broken = ToolCall(id="a", name="write_file", arguments=cut_off)
    history = [user("go"), assistant("", broken), tool_result("a", "not JSON"), *writing(3)]

    policy = Policy(strategies=("shorten_tool_outputs",))
    context = compact(history, policy=policy, max_tokens=100_000, force=True).context

    [sent, *_] = arguments_in(context)
    assert sent["arguments"].startswith('{"path": "/a"')
    assert "characters left out" in sent["arguments"]
    assert context.verdict(1).after_tokens < 300
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[]] * 4


def test_of_several_calls_only_the_long_ones_are_shortened() -> None:
    short, long = call("a", "read", path="/a"), call("b", "write_file", content=content(1))
    broken = ToolCall(id="c", name="write_file", arguments="{broken " + "x" * 4_000)
    turn = [user("go"), assistant("Both.", short, long, broken)]
    turn += [tool_result(made.id, "done") for made in (short, long, broken)]
    history = [*turn, assistant("done"), *writing(3)]

    made = compact(history, max_tokens=100_000, force=True).context.made_of
    sent = next(group.message for group in made if len(group.message.calls) == 3)

    assert (sent.text, sent.calls[0]) == ("Both.", short)
    assert "left out" in sent.calls[1].arguments
    assert sent.calls[2].arguments.startswith('{"arguments": "{broken xxx')
    assert "left out" in sent.calls[2].arguments
