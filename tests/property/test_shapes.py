"""What holds for every shape: what is sent is legal in it, says the same, and keeps what it can."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.compaction.compacting import compact
from ctxcore.errors import BudgetError, ContextError
from ctxcore.messages.shapes.reading import parse_messages, read_list
from ctxcore.messages.shapes.values import SHAPES, Shape
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import count_messages
from tests.histories import windows
from tests.shapes import LISTS, Turn, Written, broken_rules, handed_back, turns, write

shapes = st.sampled_from(SHAPES)
presets = st.sampled_from(Policy.presets())


def _fit(given_: Written, window: int, preset: str) -> Context:
    try:
        return fit(given_, max_tokens=window, policy=Policy.preset(preset))
    except BudgetError as error:
        assume(error is None)
        raise


@given(turns(), shapes)
def test_what_was_read_comes_back_as_the_very_same_objects(
    conversation: list[Turn], shape: Shape
) -> None:
    raw = write(shape, conversation)

    back = handed_back(read_list(raw))

    assert [id(one) for one in back] == [id(one) for one in raw]


@given(turns(), shapes, windows(), presets)
def test_what_is_sent_is_legal_in_the_shape_that_came_in(
    conversation: list[Turn], shape: Shape, window: int, preset: str
) -> None:
    context = _fit(write(shape, conversation), window, preset)

    assert broken_rules(shape, context.in_shape()) == []


@given(turns(), shapes, shapes, windows(), presets)
def test_what_is_sent_is_legal_in_every_other_shape(
    conversation: list[Turn], shape: Shape, other: Shape, window: int, preset: str
) -> None:
    context = _fit(write(shape, conversation), window, preset)

    assert broken_rules(other, context.in_shape(other)) == []


@given(turns(), shapes, shapes, windows(), presets)
def test_it_says_the_same_words_in_every_shape(
    conversation: list[Turn], shape: Shape, other: Shape, window: int, preset: str
) -> None:
    context = _fit(write(shape, conversation), window, preset)

    assert _words(context.in_shape(other)) == _words(context.messages)


@given(turns(), shapes, windows(), presets)
def test_untouched_messages_are_the_callers_own_objects(
    conversation: list[Turn], shape: Shape, window: int, preset: str
) -> None:
    raw = write(shape, conversation)
    before = json.dumps(raw)
    context = _fit(raw, window, preset)

    sent = _atoms(context.in_shape())

    assert json.dumps(raw) == before
    assert context.passed is not None
    for group in context.made_of:
        for item in group.items:
            if item.row is None or item.message != context.passed.messages[item.seq - 1]:
                continue
            if context.shape == "openai" and len(group.items) > 1:
                continue
            own = {id(raw[place]) for place in context.places_of(item.seq - 1)}
            inner = {
                id(one) for place in context.places_of(item.seq - 1) for one in _in(raw[place])
            }
            assert own <= sent or inner & sent


@given(turns(), shapes, windows(), presets)
def test_a_compaction_sends_legal_messages_in_the_shape_too(
    conversation: list[Turn], shape: Shape, window: int, preset: str
) -> None:
    raw = write(shape, conversation)
    try:
        result = compact(raw, max_tokens=window, policy=Policy.preset(preset), force=True)
    except BudgetError:
        return

    assert result.context.shape == read_list(raw).shape
    assert broken_rules(shape, result.context.in_shape()) == []
    assert len(result.context.verdicts) == len(parse_messages(raw))


@given(turns(), shapes)
def test_a_sound_list_breaks_no_rule_in_any_shape(conversation: list[Turn], shape: Shape) -> None:
    raw = write(shape, conversation)

    assert [lint(raw, provider) for provider in PROVIDERS] == [[]] * len(PROVIDERS)


@given(turns(), shapes, shapes)
def test_two_shapes_in_one_list_are_refused_unless_they_are_the_same_in_both(
    conversation: list[Turn], shape: Shape, other: Shape
) -> None:
    assume(shape != other)
    one, two = write(shape, conversation), write(other, conversation)
    assume(_is_distinct(one, shape) and _is_distinct(two, other))

    with pytest.raises(ContextError, match=r"message \d+"):
        parse_messages([*one, *two])


def _is_distinct(raw: Written, shape: Shape) -> bool:
    return shape != "openai" or any("tool_calls" in one for one in raw)


def _words(messages: Written) -> list[str]:
    """Every word that is said, in order; what joins texts left out."""
    said = parse_messages(messages)
    texts = (_shown(message) for message in said)
    return sorted(" ".join(texts).split())


def _shown(message: Message) -> str:
    calls = " ".join(f"{call.name} {json.loads(call.arguments)}" for call in message.calls)
    return re.sub(r"\s+", " ", f"{message.text} {calls}")


def _in(raw: object) -> list[object]:
    held = raw.get("content", raw.get("parts")) if isinstance(raw, dict) else None
    return list(held) if isinstance(held, list) else []


def _atoms(messages: Written) -> set[int]:
    return {id(one) for message in messages for one in (message, *_in(message))}


# what is broken


def _json_like() -> st.SearchStrategy[object]:
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.binary()
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.tuples(inner),
            st.dictionaries(st.one_of(st.sampled_from(_KEYS), st.integers()), inner, max_size=4),
        ),
        max_leaves=8,
    )


_KEYS = (
    *("type", "text", "role", "content", "parts", "id", "name", "input", "source", "url", "data"),
    *(
        "tool_use_id",
        "call_id",
        "output",
        "arguments",
        "function",
        "functionCall",
        "args",
        "thought",
    ),
    *(
        "functionResponse",
        "response",
        "image_url",
        "input_audio",
        "thinking",
        "signature",
        "summary",
    ),
)
_ROLES = ("user", "assistant", "system", "tool", "model", "function", "robot", "")
_TYPES = (
    *("text", "image_url", "input_audio", "file", "tool_use", "tool_result", "thinking", "image"),
    *("message", "function_call", "function_call_output", "reasoning", "compaction", "hologram"),
    *("input_text", "output_text", "refusal", "document", "computer_call", "mcp_approval_request"),
    *("custom_tool_call", "custom_tool_call_output", "computer_call_output", "item_reference"),
    *("mcp_approval_response", "local_shell_call", "program", "input_image", "input_file"),
)


class _Odd:
    """An object of nobody's."""


def _cyclic() -> dict[str, object]:
    cycle: dict[str, object] = {"type": "text", "text": "x"}
    cycle["content"] = [cycle]
    return cycle


def _deep(kind: str) -> object:
    value: object = {"type": "text"}
    for _ in range(5_000):
        value = [value] if kind == "list" else {"content": value}
    return value


def _values() -> st.SearchStrategy[object]:
    odd = st.sampled_from(["set", "object", "cycle", "deep list", "deep", "nan", "type", "bytes"])
    made: dict[str, Callable[[], object]] = {
        "set": lambda: {1, "a"},
        "object": _Odd,
        "cycle": _cyclic,
        "deep list": lambda: _deep("list"),
        "deep": lambda: _deep("dict"),
        "nan": lambda: float("nan"),
        "type": lambda: _Odd,
        "bytes": lambda: b"\xff",
    }
    typed = st.builds(
        lambda kind, rest: {**rest, "type": kind},
        st.sampled_from(_TYPES),
        st.dictionaries(st.sampled_from(_KEYS), _json_like(), max_size=4),
    )
    return st.one_of(
        _json_like(),
        odd.map(lambda name: made[name]()),
        typed,
        st.lists(typed, max_size=3),
        st.text(max_size=20),
        st.just("[" * 5_000),
    )


_MESSAGE_KEYS = (
    *("role", "content", "parts", "tool_calls", "function_call", "tool_call_id", "name", "type"),
    *("refusal", "reasoning_content", "thinking_blocks", "action", "call_id", "id", "output"),
    *("arguments", "input", "summary", "source", "extra", "text", "kind", "message", "author"),
)


def _broken_messages() -> st.SearchStrategy[object]:
    roles = st.one_of(st.sampled_from(_ROLES), st.sampled_from(_ROLES), _values())
    types = st.one_of(st.sampled_from(_TYPES), _values())
    any_of_it = st.dictionaries(st.sampled_from(_MESSAGE_KEYS), _values(), max_size=4)
    with_role = st.builds(lambda raw, role: {**raw, "role": role}, any_of_it, roles)
    with_type = st.builds(lambda raw, kind: {**raw, "type": kind}, any_of_it, types)
    calls = st.lists(
        st.builds(
            lambda function, call_id: {"id": call_id, "function": function},
            st.one_of(
                _values(), st.fixed_dictionaries({"name": _values(), "arguments": _values()})
            ),
            _values(),
        ),
        max_size=2,
    )
    called = calls.map(lambda made: {"role": "assistant", "content": None, "tool_calls": made})
    uses = st.fixed_dictionaries({"type": st.sampled_from(_TYPES), "name": _values()})
    used = st.lists(uses, max_size=2).map(lambda made: {"role": "assistant", "content": made})
    parts = st.lists(st.dictionaries(st.sampled_from(_KEYS), _values(), max_size=2), max_size=2)
    gemini = parts.map(lambda made: {"role": "model", "parts": made})
    return st.one_of(_values(), any_of_it, with_role, with_type, called, used, gemini)


@st.composite
def _lists_with_one_thing_broken(draw: st.DrawFn) -> object:
    """A sound list in which one value is another, is gone, or has something beside it."""
    made: object = copy.deepcopy(LISTS[draw(shapes)])
    held = list(_containers(made))
    inside = held[draw(st.integers(0, len(held) - 1))]
    keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
    key = draw(st.sampled_from(keys or [0]))
    how = draw(st.sampled_from(["other", "other", "gone", "more"]))
    if how == "gone" and keys:
        del inside[key]
    elif how == "more" and isinstance(inside, list):
        inside.append(draw(_values()))
    elif isinstance(inside, dict):
        name = draw(st.one_of(st.sampled_from(_MESSAGE_KEYS), st.integers(), st.none()))
        inside[name if how == "more" else key] = draw(_values())
    elif keys:
        inside[key] = draw(_values())
    return made


def _containers(value: object) -> Iterator[Any]:
    """Every list and object in `value`, itself first."""
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


def _broken_lists() -> st.SearchStrategy[object]:
    sound = st.just({"role": "user", "content": "hi"})
    loose = st.lists(st.one_of(_broken_messages(), sound), max_size=4)
    nearly = _lists_with_one_thing_broken()
    return st.one_of(nearly, nearly, loose, _values())


def _told(use: Callable[[], object]) -> str:
    """What the error says that comes out, if it is one of this library's; others pass through."""
    try:
        use()
    except ContextError as error:
        return str(error)
    return ""


@given(_broken_lists())
def test_whatever_is_passed_only_errors_of_this_library_come_out(raw: object) -> None:
    for use in (
        lambda: fit(raw, max_tokens=500).in_shape(),  # type: ignore[arg-type]  # wrong on purpose
        lambda: fit(raw, max_tokens=500).in_shape("anthropic"),  # type: ignore[arg-type]
        lambda: fit(raw, max_tokens=500).in_shape("gemini"),  # type: ignore[arg-type]
        lambda: fit(raw, max_tokens=500).in_shape("responses"),  # type: ignore[arg-type]
        lambda: compact(raw, max_tokens=300, force=True).context.in_shape(),  # type: ignore[arg-type]
        lambda: lint(raw, "anthropic"),  # type: ignore[arg-type]
        lambda: count_messages(raw),  # type: ignore[arg-type]
    ):
        assert len(_told(use)) < 2_000


@given(_values())
def test_whatever_is_passed_beside_messages_only_errors_of_this_library_come_out(
    value: object,
) -> None:
    messages = [{"role": "user", "content": "hi"}]
    for use in (
        lambda: fit(messages, max_tokens=500, tools=value),  # type: ignore[arg-type]  # wrong on purpose
        lambda: fit(messages, max_tokens=500, tools=[value]),  # type: ignore[list-item]
        lambda: fit(messages, max_tokens=500, knowledge=value),  # type: ignore[arg-type]
        lambda: fit(messages, max_tokens=500, knowledge={"faq": value}),  # type: ignore[dict-item]
        lambda: count_messages(messages, tools=value),  # type: ignore[arg-type]
    ):
        assert len(_told(use)) < 2_000
