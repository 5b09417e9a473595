"""The transcript places compactions where they cut and says how turns ended."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import text_message
from ctxcore.store.values import (
    CompactionInfo,
    ImportedCompaction,
    Mark,
    MessageInfo,
    TurnInfo,
    TurnState,
)
from dashboard.chat_page.transcript import first_shown, make_transcript
from dashboard.reads import active_chain, can_redo

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def message(seq: int) -> MessageInfo:
    return MessageInfo(
        seq=seq,
        message=text_message("user", f"m{seq}"),
        block=seq,
        function_name="",
        short=None,
        turn_id=None,
        created_at=NOW,
    )


def compaction(name: str, parent: str | None, *, cut: int, number: int = 1) -> CompactionInfo:
    return CompactionInfo(
        id=name,
        session_id="s1",
        number=number,
        parent_id=parent,
        compaction=Compaction(
            covered_until=cut, summary=f"about {name}", before_tokens=900, after_tokens=200
        ),
        policy_version_id=None,
        details={},
        created_at=NOW,
    )


def turn(state: TurnState, *, last_seq: int) -> TurnInfo:
    return TurnInfo(
        id=f"t{last_seq}",
        session_id="s1",
        number=1,
        state=state,
        model=None,
        partial="",
        error=None,
        first_seq=1,
        last_seq=last_seq,
        history_messages=last_seq,
        history_tokens=0,
        started_at=NOW,
        ended_at=NOW,
    )


CHAIN = [compaction("a", None, cut=4), compaction("b", "a", cut=8), compaction("c", "a", cut=9)]


def test_the_chain_leads_to_the_active_compaction_and_no_further() -> None:
    assert [info.id for info in active_chain(CHAIN, "b")] == ["a", "b"]
    assert active_chain(CHAIN, None) == []


def test_an_undo_can_be_taken_back_where_something_follows() -> None:
    assert can_redo(CHAIN, "a")
    assert can_redo(CHAIN, None)
    assert not can_redo(CHAIN, "b")


def test_only_active_compactions_are_marked_and_stand_behind_their_cut() -> None:
    transcript = make_transcript(
        [message(seq) for seq in range(3, 11)],
        compactions=CHAIN,
        active_id="b",
        imported=[ImportedCompaction(before_seq=6, summary="theirs", before_tokens=None)],
        turns=[],
        marks=[],
    )

    placed = {seq: [one.summary for one in found] for seq, found in transcript.markers.items()}
    assert placed == {4: ["about a"], 5: ["theirs"], 8: ["about b"]}
    assert transcript.older == 2


def test_turns_that_simply_ended_need_no_words() -> None:
    transcript = make_transcript(
        [message(1)],
        compactions=[],
        active_id=None,
        imported=[],
        turns=[turn("done", last_seq=2), turn("stopped", last_seq=4), turn("running", last_seq=6)],
        marks=[],
    )

    assert {seq: one.state for seq, one in transcript.endings.items()} == {4: "stopped"}


def test_marks_are_told_apart() -> None:
    marks = [
        Mark(id=1, session_id="s1", seq=1, kind="pin", set_at=NOW, cleared_at=None),
        Mark(id=2, session_id="s1", seq=2, kind="exclude", set_at=NOW, cleared_at=None),
    ]
    transcript = make_transcript(
        [message(1)], compactions=[], active_id=None, imported=[], turns=[], marks=marks
    )

    assert list(transcript.pinned) == [1]
    assert list(transcript.excluded) == [2]


def test_the_newest_messages_are_shown() -> None:
    assert first_shown(120, 50) == 71
    assert first_shown(20, 50) == 1


def test_only_the_last_turn_still_waits_for_somebody() -> None:
    turns = [turn("awaiting_confirmation", last_seq=1), turn("awaiting_confirmation", last_seq=2)]

    made = make_transcript(
        [message(1), message(2)],
        compactions=[],
        active_id=None,
        imported=[],
        turns=turns,
        marks=[],
    )

    assert list(made.endings) == [2]


def test_a_turn_that_goes_on_has_not_ended() -> None:
    turns = [turn("failed", last_seq=1), turn("awaiting_confirmation", last_seq=2)]

    made = make_transcript(
        [message(1), message(2)],
        compactions=[],
        active_id=None,
        imported=[],
        turns=turns,
        marks=[],
        goes_on=True,
    )

    assert list(made.endings) == [1]
