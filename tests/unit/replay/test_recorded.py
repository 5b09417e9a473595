"""The account of compactions that another product made: theirs beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ctxcore.assembly import history
from ctxcore.assembly.history import facts_of
from ctxcore.compaction.simulation import Recording
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.replay.recorded import FoldAccount, RecordedFold, account_for_folds
from ctxcore.replay.references import find_repeats
from tests.histories import assistant, call, user


def session() -> list[Message]:
    """Work on a file, 14 messages; the program compacts; the file is read again, a user told."""
    history = [user("Fix ticket ABC-1234. Never touch /srv/app/secret.env.")]
    for n in range(6):
        history += [
            assistant("", call(f"r{n}", "Read", file_path=f"/srv/app/part_{n}.py")),
            tool_result(
                f"r{n}", f"def part_{n}(): pass  # see REQ-{3000 + n}\n" + "# filler\n" * 40
            ),
        ]
    history.append(assistant("Half of it is done."))
    return [
        *history,
        assistant("", call("again", "Read", file_path="/srv/app/part_3.py")),
        tool_result("again", "def part_3(): pass\n" * 10),
        assistant("", call("note", "comment", ticket="ABC-1234", about="REQ-3002")),
        tool_result("note", "noted"),
        assistant("Done with /srv/app/part_3.py."),
    ]


SUMMARY = "They fix ABC-1234 and read files. Never touch /srv/app/secret.env. " + "so it goes " * 60
FOLD = RecordedFold(at=14, summary=SUMMARY, before_tokens=5_000, context_tokens=400, trigger="auto")


def account(fold: RecordedFold = FOLD, preset: str = "default") -> FoldAccount:
    """The account of the only compaction."""
    (one,) = account_for_folds(Recording(session()), [fold], Policy.preset(preset))
    return one


def test_what_their_summary_says_is_not_lost_and_the_rest_is() -> None:
    theirs = account().theirs

    lost = {one.text for one in theirs.lost}
    assert "REQ-3002" in lost
    assert "/srv/app/part_3.py" in lost
    assert lost.isdisjoint({"ABC-1234", "Never touch /srv/app/secret.env."})
    assert theirs.facts_said + len(theirs.lost) == account().facts


def test_a_lost_fact_tells_where_it_was_needed() -> None:
    needed = {one.text: (one.needed_at, one.needed_by) for one in account().theirs.needed_later}

    assert needed["REQ-3002"] == (16, "call")
    assert needed["/srv/app/part_3.py"] == (14, "call")
    assert "REQ-3001" not in needed


def test_literals_that_calls_need_later_are_counted_for_both() -> None:
    one = account()

    assert one.literals == ("/srv/app/part_3.py", "ABC-1234", "REQ-3002")
    assert one.theirs.literals_said == 1
    assert one.came_again == 0


def test_a_literal_said_again_before_it_is_used_came_again() -> None:
    history = session()
    history[15] = tool_result("again", "def part_3(): pass  # see REQ-3002")

    (one,) = account_for_folds(Recording(history), [FOLD], Policy())

    assert one.came_again == 1


def test_ours_gets_the_tokens_that_the_file_shows_of_theirs() -> None:
    one = account()

    assert one.ours is not None
    assert one.theirs.tokens == one.shown_tokens
    assert one.ours.tokens <= one.shown_tokens
    assert one.ours.literals_said >= one.theirs.literals_said


def test_where_ours_does_not_fit_that_is_told() -> None:
    assert account(RecordedFold(at=14, summary="x")).ours is None


def test_what_was_read_again_is_told_with_its_tokens() -> None:
    one = account()

    (repeat,) = one.repeats
    assert (repeat.at, repeat.first_at, repeat.what) == (14, 7, "/srv/app/part_3.py")
    assert one.repeated_tokens == repeat.tokens > 20


def test_what_comes_behind_the_next_compaction_is_of_that_one() -> None:
    folds = [FOLD, RecordedFold(at=16, summary=SUMMARY)]

    first, second = account_for_folds(Recording(session()), folds, Policy())

    assert "REQ-3002" not in first.literals
    assert "REQ-3002" in second.literals
    assert (len(first.repeats), len(second.repeats)) == (1, 0)


def test_facts_are_found_once_however_many_compactions_and_policies_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def counted(row: history.Counted, *rest: Any) -> Sequence[Fact]:
        read.append(row.seq)
        return facts_of(row, *rest)

    monkeypatch.setattr(history, "facts_of", counted)
    recording, folds = Recording(session()), [FOLD, RecordedFold(at=16, summary=SUMMARY)]

    for preset in ("default", "ladder"):
        account_for_folds(recording, folds, Policy.preset(preset))

    assert read == list(range(1, len(session()) + 1))


def test_a_policy_compacts_on_top_of_what_it_kept_the_time_before() -> None:
    folds = [FOLD, RecordedFold(at=16, summary=SUMMARY)]

    _, second = account_for_folds(Recording(session()), folds, Policy())

    assert second.ours is not None
    assert second.ours.tokens <= second.shown_tokens
    assert "/srv/app/part_3.py" not in {fact.text for fact in second.ours.lost}


def test_a_compaction_before_all_messages_lost_nothing() -> None:
    one = account(RecordedFold(at=0, summary="Before."))

    assert (one.facts, one.literals, one.theirs.lost, one.repeats) == (0, (), (), ())


def test_the_account_is_json() -> None:
    document = account().to_dict()

    assert document["shown_tokens"] == account().shown_tokens
    assert document["literals"] == ["/srv/app/part_3.py", "ABC-1234", "REQ-3002"]


def test_the_same_call_made_again_is_a_repeat_and_a_change_is_none() -> None:
    edit = {"file_path": "/srv/a.py", "old_string": "a", "new_string": "b"}
    history = [
        user("go"),
        assistant("", call("a", "search", q="late"), call("b", "Edit", **edit)),
        tool_result("a", "nothing"),
        tool_result("b", "ok"),
        assistant("", call("c", "search", q="late"), call("d", "Edit", **edit)),
        tool_result("c", "nothing"),
        tool_result("d", "ok"),
    ]

    (repeat,) = find_repeats(history, [1, 2, 3, 4, 5, 6, 7], split_at=4, until=7)

    assert (repeat.at, repeat.first_at, repeat.function_name, repeat.tokens) == (4, 1, "search", 6)
