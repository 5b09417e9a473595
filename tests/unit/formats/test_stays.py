"""In how many calls each message was sent, and the reports by role, tool and file made of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.report import usage_report
from ctxcore.formats.stays import Stays, stays_in, stays_of_runs
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.values import Message, text_message
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_each, counter_by_id
from tests.small_transcript import FILE, claude_code_lines

COUNTER = counter_by_id("estimate:o200k")


def transcript(
    messages: list[Message], answers: list[int], folds: dict[int, str] | None = None
) -> Transcript:
    return Transcript(
        id="t",
        title="t",
        format="openai",
        path="t",
        messages=tuple(messages),
        times=(None,) * len(messages),
        usage=tuple(RecordedUsage(call_id=str(at), after=at) for at in answers),
        compactions=tuple(
            RecordedCompaction(at=at, summary=summary) for at, summary in (folds or {}).items()
        ),
    )


def run(first: int, last: int, verdict: VerdictKind, before: int, after: int) -> Run:
    reason = VerdictCode.RECENT()
    return Run(
        first=first,
        last=last,
        verdict=verdict,
        reason=reason,
        before_tokens=before,
        after_tokens=after,
    )


def test_a_call_of_a_file_sent_what_came_since_the_compaction_before() -> None:
    said = [text_message("user", "word"), text_message("assistant", "word")] * 3

    stays = stays_in(transcript(said, [1, 3, 5], {4: "All was well."}), COUNTER)

    assert list(stays.messages) == [2, 1, 1, 0, 1, 0]
    assert stays.calls == 3
    assert stays.summary_tokens > 0


def test_what_was_shortened_counts_by_its_share_and_what_was_folded_not() -> None:
    contexts = [
        [run(0, 1, "summarized", 20, 0), run(2, 2, "compressed", 100, 25), run(3, 3, "kept", 9, 9)],
        [run(0, 3, "kept", 129, 129), run(4, 9, "kept", 9, 9)],
    ]

    stays = stays_of_runs(contexts, 4, summary_tokens=7)

    assert list(stays.messages) == pytest.approx([1, 1, 1.25, 2])
    assert (stays.calls, stays.summary_tokens) == (2, 7)


def test_roles_tools_and_files_tell_the_same_of_a_session() -> None:
    (small,) = parse_transcripts(claude_code_lines(), name="small.jsonl")
    sizes = count_each(small.messages, COUNTER)
    answers = [usage.after for usage in small.usage]

    report = usage_report(small, COUNTER, stays=stays_in(small, COUNTER))

    assert report.total_tokens == sum(sum(sizes[:after]) for after in answers)
    (file,), (read, edit) = report.files, report.tools
    assert file.total_tokens == read.result_tokens + edit.total_tokens  # of a read, its result
    assert read.total_tokens + edit.total_tokens == report.call_tokens + report.result_tokens
    assert file.path == FILE
    assert file.total_tokens > usage_report(small, COUNTER).files[0].total_tokens


def test_where_every_message_stays_once_it_is_the_report_without() -> None:
    (small,) = parse_transcripts(claude_code_lines(), name="small.jsonl")
    once = Stays(messages=[1.0] * len(small.messages), summary_tokens=0, calls=1)

    assert usage_report(small, COUNTER, stays=once) == usage_report(small, COUNTER)


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.integers(0, n - 1), max_size=8),
            st.dictionaries(st.integers(0, n - 1), st.sampled_from(["", "Short."]), max_size=3),
        )
    )
)
def test_stays_are_what_counting_call_by_call_gives(
    drawn: tuple[int, list[int], dict[int, str]],
) -> None:
    count, answers, folds = drawn
    said = [text_message("user", "word")] * count

    stays = stays_in(transcript(said, answers, folds), COUNTER)

    expected = [0] * count
    for after in answers:
        start = max((at for at in folds if at <= after), default=0)
        for at in range(start, after):
            expected[at] += 1
    assert list(stays.messages) == expected
