"""Hints: what costs tokens for nothing in a conversation, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ctxcore.facts.dates import without_times
from ctxcore.formats.hints import (
    Fold,
    Hint,
    PromptSent,
    Sent,
    differs_in_time,
    find_hints,
    transcript_hints,
)
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.values import JsonObject, Message, tool_result
from ctxcore.reasons.report_codes import HintCode
from ctxcore.tokens.count import count_each, counter_for
from ctxcore.tokens.prices import Price
from tests.histories import assistant, call, user

COUNTER = counter_for(None)
PRICE = Price(input=3.0, output=15.0, cached=0.3, cache_write=3.75)
LONG = "line of code " * 700
READ = call("c1", "read_file", path="src/app.py")


def read_turns(*outputs: str, path: str = "src/app.py") -> list[Message]:
    """A request, and for each output a call that reads the same file."""
    said: list[Message] = [user("look")]
    for at, output in enumerate(outputs):
        one = replace(READ, id=f"c{at}", arguments=f'{{"path": "{path}"}}')
        said += [Message(role="assistant", calls=(one,)), tool_result(f"c{at}", output)]
    return said


def recorded(
    messages: Sequence[Message],
    *,
    calls: int,
    folds: Sequence[RecordedCompaction] = (),
    **more: Any,
) -> Transcript:
    """A file whose last message is the answer of the last of `calls` calls."""
    filler = [assistant("ok") for _ in range(calls)]
    whole = [*messages, *filler]
    counts = count_each(whole, COUNTER)
    usage = tuple(
        RecordedUsage(
            call_id=str(at),
            after=len(messages) + at,
            input_tokens=sum(counts[: len(messages) + at]) + 500,
            output_tokens=5,
            model="priced",
        )
        for at in range(calls)
    )
    return Transcript(
        id="t",
        title="t",
        format="test",
        path="",
        messages=tuple(whole),
        times=(None,) * len(whole),
        usage=usage,
        compactions=tuple(folds),
        model="priced",
    )


def hints_in(transcript: Transcript) -> list[Hint]:
    return transcript_hints(transcript, COUNTER, lambda model: PRICE if model == "priced" else None)


def codes(hints: Sequence[Hint]) -> list[str]:
    return [hint.reason.code for hint in hints]


def test_a_large_output_that_stayed_many_calls_is_told_with_its_price() -> None:
    transcript = recorded(read_turns(LONG), calls=41)

    [hint] = hints_in(transcript)

    size = count_each(transcript.messages, COUNTER)[2]
    assert hint.reason == HintCode.OUTPUT_STAYED(
        tool="read_file", what="src/app.py", calls=41, size=size
    )
    assert (hint.tokens, hint.at) == (41 * size, 2)
    assert hint.dollars == pytest.approx(41 * size * 3.0 / 1e6)


@pytest.mark.parametrize(("output", "calls"), [("short", 41), (LONG, 9)])
def test_a_small_output_or_a_short_stay_is_not(output: str, calls: int) -> None:
    assert hints_in(recorded(read_turns(output), calls=calls)) == []


def test_what_a_compaction_folded_did_not_stay() -> None:
    fold = RecordedCompaction(at=3, summary="said")

    assert codes(hints_in(recorded(read_turns(LONG), calls=41, folds=[fold]))) == []


def test_where_the_provider_counted_far_less_than_the_file_nothing_is_said_to_have_stayed() -> None:
    transcript = recorded(read_turns(LONG, LONG), calls=41)
    cleared = tuple(replace(usage, input_tokens=600) for usage in transcript.usage)

    assert hints_in(replace(transcript, usage=cleared)) == []


def test_without_usage_nothing_is_known_of_stays() -> None:
    assert hints_in(replace(recorded(read_turns(LONG, LONG), calls=41), usage=())) == []


def test_a_file_read_again_unchanged_is_told_at_the_place_of_the_second_time() -> None:
    transcript = recorded(read_turns(LONG, LONG, LONG), calls=2)

    [hint] = hints_in(transcript)

    counts = count_each(transcript.messages, COUNTER)
    assert hint.reason == HintCode.READ_AGAIN(path="src/app.py", times=2)
    assert (hint.at, hint.tokens) == (4, 2 * (counts[4] + counts[6]))


def test_a_file_that_changed_was_not_read_for_nothing() -> None:
    assert hints_in(recorded(read_turns(LONG, LONG + "changed"), calls=2)) == []


def test_a_file_read_again_after_a_compaction_was_not_there_any_more() -> None:
    fold = RecordedCompaction(at=3, summary="said")

    assert hints_in(recorded(read_turns(LONG, LONG), calls=2, folds=[fold])) == []


def tool(name: str, words: int) -> JsonObject:
    return {
        "type": "function",
        "function": {"name": name, "description": "what it does " * words, "parameters": {}},
    }


def test_tools_that_were_never_called_are_told_with_their_size_the_largest_first() -> None:
    sent = Sent(
        messages=read_turns("short"),
        counts=[1, 1, 1],
        stays=[1.0, 1.0, 1.0],
        was_shown=lambda at, later: True,
        tools=[tool("read_file", 5), tool("small", 10), tool("large", 200)],
        tool_calls=12,
        rate=1e-6,
    )

    [hint] = find_hints(sent, COUNTER)

    facts = hint.reason.facts
    assert (facts["count"], facts["defined"], facts["calls"]) == (2, 3, 12)
    assert facts["names"] == ("large", "small")
    assert hint.tokens == 12 * int(str(facts["size"]))
    assert hint.dollars == pytest.approx(hint.tokens * 1e-6)
    assert hint.at is None
    assert find_hints(replace(sent, tool_calls=9), COUNTER) == []
    assert find_hints(replace(sent, tools=sent.tools[:1]), COUNTER) == []


def prompted(*texts: str, missed: int | None = 1_000) -> Sent:
    return Sent(
        messages=[],
        counts=[],
        stays=[],
        was_shown=lambda at, later: False,
        prompts=[PromptSent(text=text, missed_tokens=missed) for text in texts],
        price=PRICE,
    )


def test_a_clock_in_the_system_prompt_is_told_with_what_it_made_be_read_anew() -> None:
    at = "You help.\nIt is 2026-03-01 12:{:02}:07 now."
    sent = prompted(*(at.format(minute) for minute in (1, 2, 2, 3)))

    [hint] = find_hints(sent, COUNTER)

    assert hint.reason == HintCode.CLOCK(times=2)
    assert hint.tokens == 2_000
    assert hint.dollars == pytest.approx(2_000 * (3.75 - 0.3) / 1e6)


@pytest.mark.parametrize(
    "texts",
    [
        ("Be brief at 12:01.", "Be long at 12:02.", "Be kind at 12:03."),
        ("There are 3 boats.", "There are 4 boats.", "There are 5 boats."),
        ("At 12:01.", "At 12:01.", "At 12:01."),
        ("At 12:01.", "At 12:02.", "At 12:02."),
    ],
    ids=["other words", "other numbers", "no change", "one change"],
)
def test_another_prompt_is_no_clock(texts: tuple[str, ...]) -> None:
    assert find_hints(prompted(*texts), COUNTER) == []


def test_without_the_provider_s_word_no_cache_is_said_to_be_lost() -> None:
    texts = [f"It is 12:0{minute}." for minute in range(5)]

    assert find_hints(prompted(*texts, missed=None), COUNTER) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Wed Nov 25 15:10:43 UTC 2026", "Thu Nov 26 09:00:01 UTC 2026"),
        ("Today's date: 2026-03-01", "Today's date: 2026-03-02"),
        ("现在是 2026年3月1日 12:30", "现在是 2026年3月2日 08:05"),
        ("Time: 9:05 am", "Time: 10:15 pm"),
    ],
)
def test_two_prompts_differ_in_time_alone(before: str, after: str) -> None:
    assert differs_in_time(f"You help.\n{before}", f"You help.\n{after}")


def test_a_line_without_a_time_has_no_time_to_mask() -> None:
    assert without_times("There are 3 boats in the harbour.") is None


def folded(calls: int, **given: Any) -> Sent:
    fold = {"at": 4, "before_tokens": 160_000, "after_tokens": 20_000, "summary_tokens": 5_000}
    return Sent(
        messages=[],
        counts=[],
        stays=[],
        was_shown=lambda at, later: False,
        folds=[Fold(**{**fold, "calls": calls, **given})],
        price=PRICE,
    )


def test_a_compaction_that_too_few_calls_followed_is_told_with_what_it_cost_too_much() -> None:
    [hint] = find_hints(folded(3), COUNTER)

    summary = (160_000 * 0.3 + 5_000 * 15) / 1e6
    cost = summary + 20_000 * (3.75 - 0.3) / 1e6
    each = 140_000 * 0.3 / 1e6
    assert hint.reason == HintCode.FOLD_UNPAID(calls=3, needed=5)
    assert hint.dollars == pytest.approx(cost - 3 * each)
    assert hint.at == 4


@pytest.mark.parametrize(
    "sent",
    [folded(5), folded(0), folded(3, after_tokens=160_000), replace(folded(3), price=None)],
    ids=["paid", "no call yet", "no gain", "unknown price"],
)
def test_a_compaction_that_paid_or_of_which_that_is_not_known_is_not_told(sent: Sent) -> None:
    assert find_hints(sent, COUNTER) == []


def test_a_known_price_of_the_summary_is_what_counts() -> None:
    assert find_hints(folded(2, summary_dollars=0.0), COUNTER) == []
