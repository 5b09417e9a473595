"""What holds for every tool output and every budget."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.compression.extracting import elided_text, extract_with
from ctxcore.compression.lossless import decompress
from ctxcore.compression.outputs import compress_with
from ctxcore.errors import PartNotFoundError
from ctxcore.messages.values import JsonValue
from tests.processes import printed_under_hash_seeds
from tests.unit.compression.counters import FourBytes, shrink

KEYS = st.sampled_from(["id", "name", "error", "…", "a.b", "+", "(key)", ""]) | st.text(max_size=8)
TEXTS = st.text(max_size=30) | st.text("ab \n", min_size=60, max_size=300)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(KEYS, inner, max_size=12),
    max_leaves=60,
)
RECORDS = st.lists(
    st.fixed_dictionaries({"id": st.integers(), "note": TEXTS, "at": VALUES}), max_size=30
)
OUTPUTS = (VALUES | RECORDS).map(json.dumps)
ANY_TEXT = st.text(st.characters(), max_size=800) | st.lists(
    st.sampled_from(["ERROR disk full", "+added", "x = 1", "", "a,b,c", "     7→y", "<p>hi</p>"]),
    max_size=200,
).map("\n".join)
BUDGETS = st.integers(40, 300)

unhurried = settings(deadline=None)  # a busy machine is no failure


@unhurried
@given(OUTPUTS | ANY_TEXT, BUDGETS)
def test_the_result_fits_and_says_its_tokens(output: str, max_tokens: int) -> None:
    compressed = shrink(output, max_tokens)

    assert compressed.tokens <= max_tokens
    assert compressed.tokens == FourBytes().count(compressed.text)
    assert compressed.original_tokens == FourBytes().count(output)


@unhurried
@given(OUTPUTS | ANY_TEXT, st.integers(-5, 60))
def test_the_result_never_grows_whatever_the_budget(output: str, max_tokens: int) -> None:
    compressed = shrink(output, max_tokens)

    assert compressed.tokens <= compressed.original_tokens


@unhurried
@given(OUTPUTS | ANY_TEXT, st.integers(0, 300))
def test_an_output_that_fits_is_unchanged(output: str, spare: int) -> None:
    compressed = shrink(output, FourBytes().count(output) + spare)

    assert compressed.text == output
    assert compressed.elided == ()


@unhurried
@given(OUTPUTS, st.integers(-5, 300), TEXTS)
def test_json_in_is_json_out(output: str, max_tokens: int, query: str) -> None:
    compressed = shrink(output, max_tokens, query)

    assert compressed.kind == "json"
    json.loads(compressed.text)


@unhurried
@given(OUTPUTS | ANY_TEXT, BUDGETS, TEXTS)
def test_the_same_input_gives_the_same_result(output: str, max_tokens: int, query: str) -> None:
    assert shrink(output, max_tokens, query) == shrink(output, max_tokens, query)


@unhurried
@given(OUTPUTS, BUDGETS)
def test_what_other_text_is_around_json_never_raises(output: str, max_tokens: int) -> None:
    assert shrink(output[:-1], max_tokens).tokens <= max_tokens


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(categories=["Cs", "Lo", "So", "Cc"]), min_size=200), BUDGETS)
def test_any_characters_are_taken(output: str, max_tokens: int) -> None:
    assert shrink(output, max_tokens).tokens <= max_tokens


@unhurried
@given(OUTPUTS | ANY_TEXT)
def test_what_was_compressed_without_loss_comes_back(output: str) -> None:
    compressed = compress_with(output, max_tokens=0, counter=FourBytes(), lossless=True)

    back = decompress(compressed.text)

    assert compressed.tokens <= compressed.original_tokens + 1
    assert back == output or as_read(back) == as_read(output)


PIECES = st.sampled_from(["\ud83d", "\ude00", "\\ud83d", "\\ude00", "a", "~1", "\x00", "😀", '"'])
ODD_KEYS = st.lists(PIECES, max_size=4).map("".join) | st.text("k", min_size=100, max_size=300)
ODD_SCALARS = st.one_of(
    st.lists(PIECES, max_size=30).map("".join),
    st.sampled_from([-0.0, 1e308, 5e-324, 2**53 + 1, -(2**63), 10**30, float("nan"), 0, None]),
)
ODD_VALUES = st.recursive(
    ODD_SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.dictionaries(ODD_KEYS, inner, max_size=6),
        st.lists(st.fixed_dictionaries({"a\ud83d": inner, "b": inner}), max_size=8),
        st.tuples(inner, st.integers(1, 80)).map(lambda made: nested(*made)),
    ),
    max_leaves=30,
)


def nested(value: JsonValue, levels: int) -> JsonValue:
    for _ in range(levels):
        value = [value]
    return value


ODD_OUTPUTS = st.builds(
    lambda value, is_ascii, before, twice: (
        before + twice + json.dumps(value, ensure_ascii=is_ascii) + "]" * bool(twice)
    ),
    ODD_VALUES,
    st.booleans(),
    st.sampled_from(["", "", "Here it is ", "```json\n"]),
    st.sampled_from(["", "", '[{"k":1,"k":[2]},']),
)


@unhurried
@given(ODD_OUTPUTS, BUDGETS)
def test_odd_json_fits_and_comes_back_or_is_left_alone(output: str, max_tokens: int) -> None:
    lossless = compress_with(output, max_tokens=0, counter=FourBytes(), lossless=True)
    back = decompress(lossless.text)

    assert shrink(output, max_tokens).tokens <= max_tokens
    assert back == output or (as_read(back) == as_read(output) and not has_twins(output))


def has_twins(text: str) -> bool:
    """Whether an object in JSON text has a key twice."""
    found: list[bool] = []
    json.loads(text, object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)))
    return any(found)


FORMS = [
    "table",
    "tables",
    "table by",
    "table by id",
    "names",
    "of",
    "as is",
    "~1",
    "+",
    "key",
    "a?",
]
LOOKALIKES = st.recursive(
    st.sampled_from(["~1", "a", "x" * 30]) | st.integers(0, 3) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FORMS), inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"id": inner, "longer_key": inner}), max_size=4)
    ),
    max_leaves=30,
).map(json.dumps)


@unhurried
@given(LOOKALIKES)
def test_what_looks_compressed_comes_back_too_however_often(output: str) -> None:
    once = compress_with(output, max_tokens=0, counter=FourBytes(), lossless=True).text
    twice = compress_with(once, max_tokens=0, counter=FourBytes(), lossless=True).text

    assert as_read(decompress(once)) == as_read(output)
    assert decompress(twice) == once or as_read(decompress(twice)) == as_read(once)


def as_read(text: str) -> str:
    """What `json.loads` reads, as text that tells 1 from 1.0 and an emoji from its two halves.

    It keeps the order of keys.
    """
    return json.dumps(json.loads(text), ensure_ascii=False)


@unhurried
@given(OUTPUTS | ANY_TEXT, BUDGETS)
def test_what_is_gone_is_told_with_its_place(output: str, max_tokens: int) -> None:
    for part in shrink(output, max_tokens).elided:
        assert part.count > 0
        assert part.start is None or (part.stop is not None and 0 <= part.start < part.stop)
        elided_text(output, part)


@unhurried
@given(OUTPUTS | ANY_TEXT, BUDGETS, st.sampled_from(["", "[0]", "id", "a.b", "[0].id"]))
def test_extracts_fit_whatever_is_asked_for(output: str, max_tokens: int, path: str) -> None:
    for rows, grep in ((None, None), ("0:3", None), ("-2:", None), (None, "e|1")):
        try:
            text = extract_with(
                output,
                path=path,
                rows=rows,
                grep=grep,
                max_tokens=max_tokens,
                counter=FourBytes(),
            )
        except PartNotFoundError:
            continue
        assert FourBytes().count(text) <= max_tokens


@pytest.mark.parametrize(
    "text", ["\ud800" * 300, "\x00" * 900, "9" * 9000, '{"a":' + "1" * 5000 + "}"]
)
def test_odd_outputs_are_taken(text: str) -> None:
    assert shrink(text, 60).tokens <= 60


def test_the_hash_seed_changes_nothing() -> None:
    script = (
        "import json\n"
        "from tests.unit.compression.counters import shrink\n"
        "rows = [{'id': f'u{n}', 'team': f't{n % 5}', 'at': {'x': n}} for n in range(80)]\n"
        "lines = [f'line_{n} of team t{n % 5} in a/b{n % 9}.py' for n in range(300)]\n"
        "for output in (json.dumps(rows), '\\n'.join(lines)):\n"
        "    print(ascii(shrink(output, 90, 'the t3 team, u17 and line 40').text))\n"
    )
    assert len(printed_under_hash_seeds(script)) == 1
