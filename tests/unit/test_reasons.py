"""Reasons: a code with its facts, English by `str()`, and JSON there and back."""

from __future__ import annotations

import pytest

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.codes import NoticeCode, OutcomeCode, TriggerCode, VerdictCode
from ctxcore.reasons.values import (
    LEGACY,
    Code,
    Fact,
    QuoteCode,
    Reason,
    all_of,
    any_of,
    as_reason,
    blanks,
    fill,
    from_json,
    known_codes,
    to_json,
)

NESTED = OutcomeCode.STILL_OVER(
    why=OutcomeCode.TRUNCATED_INSTEAD(why=as_reason("the network is down")),
    trigger=TriggerCode.OVERFLOW(tokens=12_000, usable=8_192),
)


def test_a_reason_reads_as_one_english_sentence() -> None:
    assert str(NESTED) == (
        "the network is down; truncated instead; still too large (input above usable: tokens "
        "12,000, usable 8,192): start a new session"
    )


def test_json_there_and_back() -> None:
    assert from_json(to_json(NESTED)) == NESTED
    assert from_json(to_json(VerdictCode.OUTSIDE())) == VerdictCode.OUTSIDE()
    several = Reason("other.release", {"names": ("a", "b"), "sizes": (3, VerdictCode.OUTSIDE())})
    assert from_json(to_json(several)) == several


@pytest.mark.parametrize(
    "raw", ["sent", {}, {"code": 3}, {"code": "a", "facts": 3}, {"code": "a", "more": 1}]
)
def test_what_is_no_reason_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match="reason"):
        from_json(raw)


def test_a_code_takes_just_the_facts_that_its_text_names() -> None:
    with pytest.raises(TypeError, match="needs"):
        OutcomeCode.STAYS(messages=3)
    with pytest.raises(TypeError, match="needs"):
        VerdictCode.OUTSIDE(tokens=3)


def test_a_code_is_declared_once() -> None:
    with pytest.raises(ValueError, match="twice"):

        class Again(Code):
            OUTSIDE = "verdict.outside", "outside"


def test_a_reason_of_another_release_is_shown_as_far_as_it_is_known() -> None:
    assert str(Reason("later.code", {"tokens": 3_000})) == "later.code: tokens 3,000"
    assert str(Reason("outcome.stays")) == "cannot go below ? tokens"
    assert str(Reason(LEGACY, {"text": "as it was"})) == "as it was"


def test_a_reason_mentions_its_own_code_and_those_within_it() -> None:
    assert NESTED.mentions("outcome.still_over")
    assert NESTED.mentions(OutcomeCode.TRUNCATED_INSTEAD)
    assert not NESTED.mentions(VerdictCode.OUTSIDE)


def test_codes_are_short_names_with_an_area_and_texts_are_one_line() -> None:
    for code, known in known_codes().items():
        assert "." in code or code in ("count", "text", LEGACY)
        assert known.text.strip() == known.text
        assert "\n" not in known.text
        assert all(name.isidentifier() for name in blanks(known.text))


def test_equal_reasons_are_found_as_one_key() -> None:
    assert len({NESTED, from_json(to_json(NESTED)), NoticeCode.SUMMARY_FOUND()}) == 2


def test_any_fact_can_be_told() -> None:
    facts: tuple[Fact, ...] = (10**5_000, None, True, float("nan"), "{0.__class__} {tokens!r:>9}")
    for fact in facts:
        assert str(OutcomeCode.STAYS(tokens=fact)).startswith("cannot go below ")
        assert str(QuoteCode.VALUE(value=fact))
        assert str(Reason("other.{0.__class__}", {"size": fact})).startswith("other.{0.__class__}:")


def test_many_names_are_told() -> None:
    names = [str(number) for number in range(1_000)]
    assert str(all_of(names)) == " and ".join(names)
    assert str(any_of(names)) == " or ".join(names)
    assert any_of(["one"]) == "one"
    assert str(any_of([])) == "none"


def test_reasons_within_reasons_without_end_are_told_and_not_read() -> None:
    raw: JsonObject = {"code": "outcome.done"}
    reason = OutcomeCode.DONE()
    for _ in range(1_000):
        raw = {"code": "outcome.skipped", "facts": {"why": raw}}
        reason = OutcomeCode.SKIPPED(why=reason)
    assert str(reason).startswith("skipped: skipped: ")
    with pytest.raises(ValueError, match="nested too deeply"):
        from_json(raw)
    lists: JsonValue = "a"
    for _ in range(1_000):
        lists = [lists]
    with pytest.raises(ValueError, match="nested too deeply"):
        from_json({"code": "a", "facts": {"names": lists}})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{tokens.__class__}", "?"),
        ("{tokens.missing} {tokens[0]} {0}", "? ? ?"),
        ("{tokens", "{tokens"),
        ("} {tokens}", "} {tokens}"),
        ("{{tokens}} {tokens!z}", "{tokens} 3"),
    ],
)
def test_a_text_of_another_language_never_fails_and_never_looks_into_a_fact(
    text: str, told: str
) -> None:
    assert fill(text, {"tokens": 3}) == told
