"""In a small window what people laid down comes before summary and messages."""

from __future__ import annotations

from typing import Final

from ctxcore import CompactionResult, compact
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
