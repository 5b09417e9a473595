"""Rooms that do not hold what must be kept beside a compaction: what is sent, and what is said."""

from __future__ import annotations

import json

import pytest

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.items import begin
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import has_words
from ctxcore.compaction.compacting import compact
from ctxcore.errors import BudgetError
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_messages
from tests.histories import assistant, call, user
from tests.words import Words, context_of, sent, words

SYSTEM = text_message("system", words(46))  # 50 tokens
TALK = [user(words(16, "goal")), *(assistant(words(16, f"w{n}")) for n in range(8))]  # 20 each
LAST = user("and now?")  # 6
HISTORY = [SYSTEM, *TALK, LAST]
SUMMARY = " ".join(f"point{n}" for n in range(60))
FACTS = "Standing instructions:\n- Never call me.\nIdentifiers:\n- " + "\n- ".join(
    f"ORD-{n}" for n in range(30)
)
WHOLE = Policy(oversize_ratio=None)


def record(**more: object) -> Compaction:
    """A record whose summary stands for all but the last message."""
    given = {"summary": SUMMARY, "summary_tokens": 60, "summarized_until": 10, **more}
    return Compaction(covered_until=10, covered_messages=9, **given)  # type: ignore[arg-type]  # its fields


def said(context: Context) -> str:
    """All that is sent."""
    return "\n".join(sent(context))


def rows(count: int) -> str:
    """A tool output of so many records."""
    return json.dumps([{"id": f"R-{n}", "status": "ok"} for n in range(count)])


def open_turn(*outputs: str) -> list[Message]:
    """Calls with their outputs, which the model has yet to see."""
    calls = [call(f"c{at}") for at in range(len(outputs))]
    results = [tool_result(made.id, text) for made, text in zip(calls, outputs, strict=True)]
    return [user("list them"), assistant("", *calls), *results]


def test_outputs_that_wait_share_the_room_and_small_ones_stay_whole() -> None:
    listing = words(300, "row")
    history = [SYSTEM, *open_turn(listing, "two words", listing)]

    context = context_of(history, 260, policy=WHOLE)

    first, small, last = (context.verdict(at) for at in (3, 4, 5))
    assert small.verdict == "kept"
    assert first.after_tokens > 35
    assert abs(first.after_tokens - last.after_tokens) < 10
    assert context.breakdown.free < 20


@pytest.mark.parametrize("usable", range(90, 400, 30))
def test_an_output_that_waits_is_never_a_bare_marker(usable: int) -> None:
    history: list[Message] = [user("which orders are late?"), *open_turn(rows(60))[1:]]
    state = "They asked for all orders of this week, and for the late ones first. " * 10

    context = fit(history, max_tokens=usable, state=state)

    output = str(context.messages[-1]["content"])
    assert "R-" in output or "id" in output
    assert context.breakdown.free < 32


def test_outputs_that_wait_come_before_facts_and_summary() -> None:
    history = [*HISTORY[:-1], *open_turn(words(100, "row"))]

    context = context_of(history, 220, policy=WHOLE, active=record(facts=FACTS))

    assert context.verdict(12).verdict == "kept"
    assert "ORD-" not in said(context)


def test_a_summary_is_cut_to_the_room_there_is() -> None:
    context = context_of(HISTORY, 130, active=record())

    assert 0 < context.summary.count("point") < 60
    assert context.summary in said(context)
    assert context.summary_tokens == len(context.summary.split()) < 60
    assert context.summarized_messages == 9
    assert context.verdict(3).verdict == "summarized"
    assert context.breakdown.free < 12


def test_where_no_summary_is_sent_nothing_is_summarized() -> None:
    context = context_of(HISTORY, 92, active=record())

    assert "point" not in said(context)
    assert (context.summary, context.summary_tokens, context.summarized_messages) == ("", 0, 0)
    gone = [at for at, one in enumerate(context.verdicts) if one.verdict == "dropped"]
    assert gone == list(range(2, 10))
    assert context.verdict(3).reason.code == VerdictCode.NO_ROOM_FOR_SUMMARY
    assert "[8 earlier messages are not shown]" in said(context)


def test_recent_messages_come_back_where_a_kept_block_finds_no_room() -> None:
    history = [SYSTEM, TALK[0], assistant(words(200)), *TALK[1:7], LAST]
    active = Compaction(covered_until=3, summary="so far", summarized_until=3, kept=(3,))

    context = context_of(history, 160, active=active)

    assert context.verdict(2).reason.code == VerdictCode.NO_ROOM_TO_KEEP
    assert [one.reason.code for one in context.verdicts[5:9]] == [
        VerdictCode.OUTSIDE,
        *[VerdictCode.RECENT] * 3,
    ]
    assert "[4 earlier messages are not shown]" in said(context)


def test_of_facts_standing_instructions_are_said_first() -> None:
    context = context_of(HISTORY, 112, active=record(summary="", summarized_until=0, facts=FACTS))

    assert "Never call me." in said(context)
    assert "ORD-29" not in said(context)
    assert "more facts not shown)" in said(context)
    assert context.breakdown.facts > 0


def test_kept_blocks_that_find_no_room_are_dropped_and_counted() -> None:
    kept = record(summary=words(14, "short"), kept=(4, 5, 6))

    context = context_of(HISTORY, 143, active=kept)

    reasons = [one.reason.code for one in context.verdicts]
    gone = reasons.count(VerdictCode.NO_ROOM_TO_KEEP)
    assert 0 < gone < 3
    assert context.verdict(5).reason.code == VerdictCode.KEPT
    noun = "message is" if gone == 1 else "messages are"
    assert f"[{gone} earlier {noun} not shown]" in said(context)
    assert context.verdict(6).verdict == "summarized"


def test_a_rule_of_a_kept_block_that_finds_no_room_is_said_by_the_facts() -> None:
    rule = user(f"Never push to main. {words(30, 'because')}")
    history = [SYSTEM, TALK[0], rule, *TALK[1:8], LAST]

    context = context_of(history, 130, active=record(kept=(3,)))

    assert "Never push to main." in said(context)
    assert context.verdict(2).reason == VerdictCode.REMINDED(why=VerdictCode.NO_ROOM_TO_KEEP())


def test_a_request_that_the_compaction_kept_is_there_without_its_block() -> None:
    active = Compaction(covered_until=9, summary=SUMMARY, summarized_until=9, kept=(2, 5, 6, 7))

    context = context_of(HISTORY, 100, active=active)

    assert context.verdict(1).reason.code in (VerdictCode.GOAL, VerdictCode.ELIDED_TO_WINDOW)
    assert "goal" in said(context)


def test_beside_a_long_system_prompt_what_is_gone_is_told_as_it_is() -> None:
    system = text_message("system", words(180))
    history = [system, *HISTORY[1:]]

    context = context_of(history, 197, active=record(facts=FACTS))

    assert "and now?" in said(context)
    assert {one.verdict for one in context.verdicts} <= {"kept", "compressed", "dropped"}
    assert context.breakdown.facts == 0


def test_open_calls_that_do_not_fit_are_an_error() -> None:
    history = [user("go"), assistant("", call("a", text=words(80))), tool_result("a", "ok")]

    with pytest.raises(BudgetError):
        context_of(history, 90, active=Compaction(covered_until=0, summary="so far"))


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("…", False),
        ('{"…":"60 rows, 2 columns"}', False),
        ("[… 8,289 characters …]", False),
        ('["… 1 item"]', False),
        ('{"code":404,"…":"3 keys"}', True),
        ("row 0 of the listing\n[… 299 lines]", True),
    ],
)
def test_a_marker_alone_says_nothing(text: str, is_said: bool) -> None:
    assert has_words(text) == is_said


def test_a_beginning_ends_with_a_sign_that_more_follows() -> None:
    assert begin("one two three four", 2, Words()).startswith("one two")
    assert begin("one two three four", 2, Words()).endswith("…")
    assert begin("one two", 2, Words()) == "one two"


def test_a_long_line_of_errors_takes_its_share_of_a_free_window() -> None:
    output = " ".join(f"error {n} at the replica" for n in range(400))

    context = fit(
        [user("why?"), assistant("", call("a", "read")), tool_result("a", output)], max_tokens=2_000
    )

    assert context.tokens > 450
    assert output[:40] in str(context.messages[-1]["content"])


@pytest.mark.parametrize("window", [48, 60, 68, 100])
def test_kept_blocks_without_their_neighbours_take_what_they_are_counted_as(window: int) -> None:
    told = [user(f"{n} " + "seven customer was the database its cluster " * 5) for n in range(3)]
    ends = [assistant("order not reach seven"), assistant("because seven order was")]
    history = [assistant("was replica could"), user("cluster"), *told, user("customer not"), *ends]
    history.append(user("why was it late?"))
    state = compact(history, max_tokens=200, force=True).state

    context = fit(history, max_tokens=window, state=state)

    assert context.tokens == count_messages(context.messages) <= window
