"""What an autopsy finds in a session: losses beside the default, repeats, spending, breaks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ctxcore import Policy
from ctxcore.autopsy.examining import MOST_INPUTS, examine
from ctxcore.autopsy.summing import largest_causes, spending_of, sum_up
from ctxcore.autopsy.values import ExaminedSession
from ctxcore.formats.cache_breaks import break_between
from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.values import Message, text_message
from tests.losing_sessions import PART, recorded_session

POLICY = Policy.preset("default")
AT = datetime(2026, 3, 1, tzinfo=UTC)


def talk(*texts: str) -> list[Message]:
    """Messages of a user and a model in turn."""
    roles = ("user", "assistant")
    return [text_message(roles[at % 2], text) for at, text in enumerate(texts)]  # type: ignore[arg-type]


def recorded(
    messages: list[Message], *, folds: tuple[int, ...] = (), summary: str = "They talked."
) -> Transcript:
    return Transcript(
        id="a",
        title="A",
        format="mine",
        path="a.jsonl",
        messages=tuple(messages),
        times=(None,) * len(messages),
        compactions=tuple(RecordedCompaction(at=at, summary=summary) for at in folds),
    )


def usage(
    after: int, size: int, *, read: int = 0, minutes: float = 0, model: str = "m"
) -> RecordedUsage:
    return RecordedUsage(
        call_id=str(after),
        after=after,
        input_tokens=0,
        cache_read_tokens=read,
        cache_write_tokens=size - read,
        output_tokens=10,
        model=model,
        recorded_at=AT + timedelta(minutes=minutes),
    )


@pytest.fixture(scope="module")
def losing() -> ExaminedSession:
    (transcript,) = parse_transcripts(recorded_session(), name="session.jsonl")
    return examine(transcript, POLICY)


def test_what_a_compaction_lost_and_needed_stands_beside_the_default(
    losing: ExaminedSession,
) -> None:
    (fold,) = losing.folds

    assert (fold.trigger, fold.before_tokens) == ("auto", 5_000)
    assert fold.facts >= fold.kept
    assert fold.gone >= 1
    assert fold.ours_gone is not None
    assert fold.ours_gone <= fold.gone
    assert fold.ours_kept is not None
    assert fold.ours_kept > fold.kept
    assert PART in [thing.text for thing in fold.lost]
    assert all(thing.needed_at is None or thing.needed_at >= fold.at for thing in fold.lost)
    assert fold.repeated_calls == 1
    assert fold.repeated_tokens > 0


def test_rules_are_counted_and_those_that_the_summary_does_not_say_are_lost() -> None:
    said = talk("Always answer in French, never in English.", "Oui.", *["Go on.", "Bien."] * 6)
    kept = examine(
        recorded(said, folds=(10,), summary="Always answer in French, never in English."), POLICY
    )
    lost = examine(recorded(said, folds=(10,)), POLICY)

    assert (kept.folds[0].rules, kept.folds[0].rules_gone) == (1, 0)
    assert (lost.folds[0].rules, lost.folds[0].rules_gone) == (1, 1)
    assert [(one.kind, one.said_at) for one in lost.folds[0].lost] == [("instruction", 0)]


@pytest.mark.parametrize(
    ("told", "filler", "again"),
    [
        (
            "The staging database runs on db-staging-07 with port 6543.",
            "Thanks, what is next?",
            "I already told you: the staging database runs on db-staging-07 with port 6543.",
        ),
        (
            "测试数据库在 db-staging-07，端口是 6543。",
            "好的，继续。",
            "我刚说过了，测试数据库在 db-staging-07，端口是 6543。",
        ),
    ],
)
def test_what_a_user_had_to_say_again_is_found_only_after_a_compaction_folded_it(
    told: str, filler: str, again: str
) -> None:
    said = talk(told, "Noted.", *[filler, "Fine."] * 4, again, "Sorry.")
    found = examine(recorded(said, folds=(8,)), POLICY).said_again

    assert [(one.at, one.earlier_at, one.earlier) for one in found] == [(10, 0, told)]
    assert examine(recorded(said), POLICY).said_again == ()


def test_calls_are_summed_up_and_breaks_have_their_cause_and_price() -> None:
    messages = talk(*["Look at it again, please.", "I did."] * 5)
    model = "claude-sonnet-4-5"
    calls = (
        usage(1, 1_000, model=model),
        usage(3, 1_200, read=1_000, minutes=1, model=model),
        usage(5, 1_400, read=300, minutes=2, model=model),
        usage(7, 1_600, minutes=3, model=model),
        usage(9, 1_800, minutes=30, model=model),
    )
    found = examine(replace(recorded(messages), usage=calls), POLICY)

    assert (found.calls, found.sent_tokens, found.cached_tokens) == (5, 7_000, 1_300)
    assert (found.peak_tokens, found.inputs) == (1_800, (1_000, 1_200, 1_400, 1_600, 1_800))
    assert [(one.at, one.reason.code, one.tokens) for one in found.breaks] == [
        (5, "break.front_cached", 900),
        (7, "break.none_cached", 1_400),
        (9, "break.expired", 1_600),
    ]
    assert all(one.dollars and one.dollars > 0 for one in found.breaks)
    assert found.dollars is not None


def test_a_break_right_after_a_compaction_or_of_another_model_is_named_so() -> None:
    before, call = usage(1, 1_000), usage(3, 1_000)
    other = usage(3, 1_000, model="n")

    codes = [
        reason.code
        for reason in (
            break_between(before, call, is_compacted=True),
            break_between(before, other, is_compacted=False),
        )
        if reason
    ]
    assert codes == ["break.compaction", "break.model"]
    assert break_between(before, usage(3, 1_100, read=1_000), is_compacted=False) is None


def test_very_many_calls_are_drawn_by_their_peaks() -> None:
    calls = tuple(usage(1, size) for size in range(1, 1_002))
    found = examine(replace(recorded(talk("a", "b")), usage=calls), POLICY)

    assert len(found.inputs) <= MOST_INPUTS
    assert found.inputs[-1] == found.peak_tokens == 1_001


def test_sessions_are_added_up_each_once(losing: ExaminedSession) -> None:
    short = replace(losing, messages=1)
    other = replace(losing, id="other", folds=(replace(losing.folds[0], ours_gone=None),))

    found = sum_up([short, losing, other])
    totals = found.totals

    assert (len(found.sessions), found.copies) == (2, 1)
    namesake = replace(losing, title="Another talk in a file of the same name")
    assert sum_up([losing, namesake]).copies == 0
    assert totals.folds == 2
    assert totals.gone == 2 * losing.folds[0].gone
    assert (totals.gone_beside, totals.ours_gone) == (
        losing.folds[0].gone,
        losing.folds[0].ours_gone,
    )
    [spent] = [one for one in spending_of(found.sessions, ("tool",), 5) if one.name == "Read"]
    [alone] = [one for one in losing.spending if (one.kind, one.name) == ("tool", "Read")]
    assert spent.tokens == 2 * alone.tokens
    assert len(largest_causes(found, 1)) <= 1
