"""What a person wants kept: it is asked for, kept, quoted and carried first; nothing else moves."""

from __future__ import annotations

import pytest

from ctxcore.assembly.history import ListHistory
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.keeping import keep_blocks
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.salience.ranking import Wishes, score_units
from ctxcore.salience.units import Unit
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import assistant, call, user
from tests.unit.compaction.test_executing import Says
from tests.words import Words, words

PLACES = ("Porto", "Lyon", "Graz", "Bergen", "Split", "Turin", "Ghent", "Cadiz", "Brno", "Umea")
GHENT = ("HT-5106", "HT-5116", "HT-5126")
SERVER = "The staging database listens on port 6543 behind the proxy named heron."


def talk() -> list[Message]:
    """Facts of about equal worth, three hotels a place, and one fact about a server."""
    said = [
        text
        for at, place in enumerate(PLACES * 3)
        for text in (
            f"The hotel in {place} costs {80 + at} euros and confirms as HT-{5100 + at} in May.",
            f"Noted: {place} for {80 + at} euros, and the train there takes {at + 2} hours.",
        )
    ]
    said[8] = SERVER
    return [assistant(text) if at % 2 else user(text) for at, text in enumerate(said)]


def shown(messages: list[Message], **options: object) -> str:
    made = compact(messages, max_tokens=700, target_tokens=300, force=True, **options)  # type: ignore[arg-type]  # passed on
    return "\n".join(str(message["content"]) for message in made.context.messages)


def test_a_focus_keeps_what_is_lost_without_it() -> None:
    without, focused = shown(talk()), shown(talk(), focus="the hotels in Ghent")

    assert [code for code in GHENT if code in without] == []
    assert [code for code in GHENT if code in focused] == [*GHENT]


@pytest.mark.parametrize("preset", ["default", "ladder", "sliding-summary", "dual-threshold"])
def test_without_a_focus_every_preset_does_what_it_did(preset: str) -> None:
    policy = Policy.preset(preset, window_tokens=1_200, reserve_tokens=200)

    first, second = (
        compact(talk(), policy=policy, force=True, **wish)  # type: ignore[arg-type]  # a text
        for wish in ({}, {"focus": ""})
    )

    assert first.context.messages == second.context.messages
    assert first.state == second.state


def test_instructions_of_the_policy_weigh_as_well() -> None:
    policy = Policy(summary_instructions="Always keep the hotels in Ghent.")

    kept = shown(talk(), policy=policy)

    assert [code for code in GHENT if code in kept] == [*GHENT]


def test_quotes_of_the_focus_come_first() -> None:
    request = {"messages": tuple(talk()), "max_tokens": 60}
    quoting = ExtractiveSummarizer(Words())

    plain = quoting.summarize(SummaryRequest(**request))  # type: ignore[arg-type]  # two fields
    focused = quoting.summarize(
        SummaryRequest(**request, focus="hotels in Ghent")  # type: ignore[arg-type]  # three
    )

    assert "Ghent" not in plain
    assert [code for code in GHENT if code in focused] == [*GHENT]


def test_lines_of_outputs_that_the_focus_names_are_quoted() -> None:
    lines = [f"INFO step {at} of the job is done, 17 files" for at in range(60)]
    lines[30] = "INFO the region is eu-north-7"
    output = tool_result("c1", "\n".join(lines))
    messages = (user("run it"), assistant("", call("c1")), output)
    quoting = ExtractiveSummarizer(Words())

    request = SummaryRequest(messages=messages, max_tokens=40, focus="region")

    assert "eu-north-7" in quoting.summarize(request)


def test_the_model_is_told_the_focus_and_the_instructions() -> None:
    says = Says("so far")
    policy = Policy(summary_instructions="Write in French.")

    compact(
        [user(f"r {words(94)}") for _ in range(9)],
        max_tokens=1_000,
        summarizer=says,
        policy=policy,
        focus="the port",
        force=True,
    )

    assert {(asked.focus, asked.instructions) for asked in says.requests} == {
        ("the port", "Write in French.")
    }


def test_the_plan_knows_the_focus() -> None:
    planned = plan_compaction(talk(), policy=Policy(), max_tokens=700, focus="the port")

    assert planned is not None
    assert planned.focus == "the port"


def test_a_focus_raises_what_says_it_and_lowers_nothing() -> None:
    units = [
        Unit(seq=at, text=text, role="user", tokens=12)
        for at, text in enumerate(("We like tea.", SERVER, "The port is far away."))
    ]

    plain = score_units(units)
    raised = score_units(units, wishes=Wishes("staging port"))

    assert score_units(units, wishes=Wishes()) == plain
    assert raised[0] == plain[0]
    assert raised[1].total > raised[2].total > plain[2].total


def test_messages_of_the_focus_stay_first() -> None:
    view = ListHistory(talk(), Words())
    rows = [[row] for row in view.get(range(1, view.count() + 1))]

    keeping, _ = keep_blocks(rows, 60, Words(), wishes=Wishes("staging database port proxy"))

    assert 9 in keeping.seqs


def test_where_no_model_is_named_a_focus_is_quoted_and_not_truncated() -> None:
    policy = Policy.preset("truncate-or-summarize", window_tokens=3_000, reserve_tokens=200)

    without = compact(talk(), policy=policy, force=True)
    focused = compact(talk(), policy=policy, force=True, focus="the hotels in Ghent")

    assert without.summary == ""
    assert "Ghent" in focused.summary
