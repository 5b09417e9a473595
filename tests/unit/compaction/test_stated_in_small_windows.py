"""In a small window what people laid down comes before summary and messages."""

from __future__ import annotations

from typing import Final

import pytest

from ctxcore import CompactionResult, Policy, compact
from ctxcore.facts.facts_block import parse_facts_block
from ctxcore.messages.values import JsonObject

STATED: Final = (
    "OFFICE RULE: Never order nuts for the kitchen.",
    "OFFICE RULE: Never open the side door after eight.",
    "The courier's code is KL-0142.",
    "The printer's address is 10.4.0.17.",
    "The caterer's budget is $640.",
    "The caterer's budget is now $710.",
    "The meeting room for Thursday is Cedar.",
    "The invoice contact is Mara Lindqvist.",
    "Always send the agenda as plain text.",
    "The badge code for visitors is QX-2231.",
    "The parcel locker's number is 88.",
    "The plants' supplier is Oakfield & Sons.",
    "Never lend the van's key to drivers of other companies.",
)
TALK: Final = "We walked past the canal and looked at the boats for a while."
TALKS: Final = tuple(
    f"On day {day} the boats were painted and the ropes dried." for day in range(9)
)


def _conversation(stated: tuple[str, ...]) -> list[JsonObject]:
    made: list[JsonObject] = [{"role": "system", "content": "You help in an office."}]
    for text in (*(text for one in stated for text in (TALK, one, TALK)), TALK):
        made.append({"role": "user", "content": text})
        made.append({"role": "assistant", "content": "All right, noted."})
    return made


def _compacted(stated: tuple[str, ...], target_tokens: int) -> CompactionResult:
    return compact(
        _conversation(stated), max_tokens=target_tokens, target_tokens=target_tokens, force=True
    )


def _text(result: CompactionResult) -> str:
    return "\n".join(str(message["content"]) for message in result.context.messages)


def test_all_that_was_laid_down_is_there_where_it_fits() -> None:
    result = _compacted(STATED, 280)

    text = _text(result)
    wanted = ["nuts", "side door", "KL-0142", "10.4.0.17", "$710", "Cedar", "Mara Lindqvist"]
    assert [one for one in (*wanted, "plain text", "QX-2231") if one not in text] == []
    assert result.context.tokens <= 280


def test_a_replaced_value_is_not() -> None:
    assert "$640" not in _text(_compacted(STATED, 280))


def test_no_summary_takes_the_room_of_what_was_laid_down() -> None:
    result = _compacted(STATED, 200)

    assert result.summary == ""
    assert "never order nuts" in _text(result).lower()
    assert "messages are not shown]" in _text(result)


def test_what_messages_show_is_not_carried_as_well() -> None:
    text = _text(_compacted(STATED, 280))

    twice = [one for one in ("side door", "$710", "Cedar", "QX-2231", "88") if text.count(one) > 1]
    assert twice == []


def test_a_single_rule_leaves_the_summary_its_room() -> None:
    result = _compacted((STATED[0], *TALKS), 280)

    assert result.summary
    assert "never order nuts" in _text(result).lower()


def test_the_next_compaction_still_has_it() -> None:
    first = _compacted(STATED, 280)
    said: list[JsonObject] = [{"role": "user", "content": "The tailor's code is ZP-7714."}]
    further = [*_conversation(STATED), *said, *_conversation(TALKS)[1:]]

    second = compact(further, max_tokens=280, target_tokens=280, force=True, state=first.state)

    wanted = ["nuts", "side door", "10.4.0.17", "$710", "Cedar", "QX-2231", "ZP-7714"]
    assert [one for one in wanted if one not in _text(second)] == []
    assert second.context.tokens <= 280


def test_in_the_smallest_window_a_decision_stays_whole_and_no_quote_of_nothing() -> None:
    decision = "You know what, final answer: we paint the boats green and sell the blue ones."
    said = ["Let's plan the summer.", decision]
    said += ["How is the weather?", "I was thinking about lunch.", "What a week it was."]
    messages: list[JsonObject] = []
    for text in said:
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": "Noted. Shall we go on?"})
    messages.append({"role": "user", "content": "What comes next?"})

    result = compact(messages, max_tokens=90, target_tokens=90, force=True)

    assert decision in _text(result)
    assert not result.summary
    assert result.context.tokens <= 90


def test_neighbours_that_share_a_frame_leave_room_for_a_rule() -> None:
    rule = "Under no circumstances may anyone paint a hull in the boat house. It was asked of us."
    fillers = ["I was thinking about lunch.", "What a week it was.", "How is the weather?"] * 4
    messages: list[JsonObject] = []
    for text in (
        "We plan the summer with Mara and her crew. Heads up before we start.",
        rule,
        *fillers,
    ):
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": "Noted. Shall we go on?"})
    messages.append({"role": "user", "content": "What comes next?"})

    result = compact(messages, max_tokens=62, target_tokens=62, force=True)

    assert rule in _text(result)
    assert result.context.tokens <= 62


def test_in_the_smallest_windows_it_is_one_list_without_headings_or_count() -> None:
    facts = _facts(_compacted(STATED, 200))

    assert facts
    assert all(line.startswith("- ") for line in facts)


def test_a_short_message_is_told_whole() -> None:
    told = "The sign-in code is TN-5502. It changes with the moon."

    facts = _facts(_compacted((told, *STATED), 200))

    assert [line for line in facts if "TN-5502" in line] in ([], [f"- {told}"])
    assert all("OFFICE RULE" not in line for line in facts)


def test_such_a_list_is_read_back() -> None:
    read = parse_facts_block("- Never lend the van's key to drivers.\n- The badge code is QX-2231.")

    assert [(fact.kind, fact.text) for fact in read] == [
        ("instruction", "Never lend the van's key to drivers."),
        ("setting", "The badge code is QX-2231."),
    ]


ASKED_IN_PASSING: Final = (
    "By the way, which tea do you like?",
    "Do you know what a quokka is?",
    "I was thinking about lunch earlier.",
    "Random: I keep hearing about one podcast.",
    "Unrelated, but do you like rain?",
    "Side note: my kettle is slow today.",
)
ANSWERED: Final = (
    "Gladly. Shall we go on where we left off?",
    "Noted. Do you want to get back to the plan?",
    "Ready when you are to move on.",
    "Sure, is there anything more on the main thread?",
    "A quick aside, fine. Anything else pressing?",
    "I can answer, but tell me when you want to return to the main question.",
)
TURNS: Final = "42525554031501023134041051321310"
"""Which of them are said, in turn."""


def test_recall_takes_nothing_from_what_was_chosen_for_the_request() -> None:
    """A request that the compaction saw: its choice stays, and recall has what room is free."""
    told = (
        "Last spring somebody decided to plug the kiln into the freezer's socket. "
        "It blew, so let's not do that again this spring."
    )
    said = ["We're starting the kiln with Imke. A word on last spring first.", "Go ahead.", told]
    said.append("Noted, we avoid that.")
    said += [(ANSWERED if at % 2 else ASKED_IN_PASSING)[int(n)] for at, n in enumerate(TURNS)]
    said.append("So how should we structure this one?")
    messages: list[JsonObject] = [
        {"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(said)
    ]

    result = compact(messages, max_tokens=260, target_tokens=260, force=True, model="gpt-4o")

    assert told in _text(result)


@pytest.mark.parametrize("preset", Policy.presets())
@pytest.mark.parametrize("waits", [False, True])
def test_requests_of_half_the_window_can_be_compacted_and_sent(preset: str, waits: bool) -> None:
    request = " ".join(f"word{at % 37}" for at in range(240))
    messages: list[JsonObject] = [{"role": "system", "content": "You help in an office."}]
    for turn in range(3):
        messages.append({"role": "user", "content": f"{turn} {request}"})
        messages.append({"role": "assistant", "content": "All right, noted."})
    messages = messages if waits is False else messages[:-1]

    result = compact(messages, policy=Policy.preset(preset), max_tokens=900, force=True)

    assert 0 < result.context.tokens <= 900


def _facts(result: CompactionResult) -> list[str]:
    _, _, behind = _text(result).partition("<conversation_facts>\n")
    return behind.partition("\n</conversation_facts>")[0].splitlines()
