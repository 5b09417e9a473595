"""The account of a stored session: the same numbers as for the file it came from."""

from __future__ import annotations

from pathlib import Path

from ctxcore.engine.transcripts import transcript_of
from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.report import usage_report
from ctxcore.tokens.count import counter_for
from dashboard.excerpts import excerpt
from dashboard.reads import turn_starts
from dashboard.usage.account import share_name
from dashboard.usage.rows import OTHER_TOOLS, Share, largest, shares
from tests.engines import engine_with
from tests.small_transcript import claude_code_lines


def test_a_stored_session_has_the_account_of_its_file(tmp_path: Path) -> None:
    text = claude_code_lines()
    counter = counter_for("claude-sonnet-4-5")
    with engine_with() as (engine, _):
        (session,) = engine.import_(text, name="small.jsonl")
        store = engine.store
        stored = transcript_of(
            session,
            store.messages(session.id),
            store.calls(session.id),
            store.imported_compactions(session.id),
        )
        sizes = store.view(session.id).sizes(1, session.length)

    assert session.counter_id == counter.id
    of_file = usage_report(parse_transcripts(text, name="small.jsonl")[0], counter)

    assert usage_report(stored, counter) == of_file
    assert usage_report(stored, counter, counts=sizes) == of_file
    assert of_file.tools[0].name == "Read"
    assert of_file.files[0].rereads == 1


def test_the_parts_add_up_to_the_total() -> None:
    transcript = parse_transcripts(claude_code_lines(), name="small.jsonl")[0]
    report = usage_report(transcript, counter_for("gpt-4o"))

    parts = shares(report)

    assert sum(part.tokens for part in parts) == report.total_tokens
    assert parts == sorted(parts, key=lambda part: -part.tokens)


def test_what_is_left_of_tools_becomes_one_part_a_kind() -> None:
    parts = [
        Share(kind="result", name="Read", tokens=90),
        Share(kind="result", name="Bash", tokens=5),
        Share(kind="result", name="Grep", tokens=4),
        Share(kind="user", name="", tokens=1),
    ]

    assert largest(parts, 1) == [
        parts[0],
        Share(kind="result", name=OTHER_TOOLS, tokens=9),
        Share(kind="user", name="", tokens=1),
    ]
    assert largest(parts, 4) == parts


def test_the_tools_that_are_left_are_called_other_tools() -> None:
    rest = Share(kind="result", name=OTHER_TOOLS, tokens=9)

    assert share_name(rest) == "Other tools: results"


def test_turns_start_at_user_messages_and_are_told_by_their_first_words() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(system="Be brief.")
        engine.append(
            session.id,
            [
                {"role": "user", "content": "first\nline " + "word " * 40},
                {"role": "assistant", "content": "yes"},
                {"role": "user", "content": "second"},
            ],
        )
        starts = turn_starts(engine.store.messages(session.id))

    assert [seq for seq, _ in starts] == [2, 4]
    assert starts[0][1].startswith("first line word")
    assert len(starts[0][1]) == 80
    assert starts[1][1] == "second"


def test_an_excerpt_is_one_line() -> None:
    assert excerpt("a\n\n b") == "a b"
    assert excerpt("x" * 100, 10) == "xxxxxxxxx…"
