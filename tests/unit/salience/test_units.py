from __future__ import annotations

from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from ctxcore.salience.units import OUTPUT_CHARS, PROSE_CHARS, WHOLE_BYTES, split_message


def test_a_short_message_is_one_unit() -> None:
    message = text_message("user", "I live in Lund. My sister does too.")

    (unit,) = split_message(message, seq=7, tokens=12)

    assert (unit.seq, unit.text, unit.role, unit.kind) == (7, message.text, "user", "talk")
    assert unit.tokens == 12


def test_a_message_without_words_or_calls_has_no_unit() -> None:
    assert split_message(Message(role="assistant"), seq=0, tokens=4) == []


def test_a_long_message_is_cut_at_sentences() -> None:
    text = "The kitchen will be painted green, as we said on Monday. " * 20

    units = split_message(text_message("user", text), seq=0, tokens=260)

    assert "".join(unit.text for unit in units) == text
    assert all(unit.text.endswith("Monday. ") for unit in units)
    assert all(len(unit.text) <= PROSE_CHARS for unit in units)
    assert [unit.place for unit in units] == list(range(len(units)))


def test_paragraphs_of_a_long_message_are_pieces_of_their_own() -> None:
    first = "We paint the kitchen green on Monday. Nils brings the ladder and two brushes. " * 4
    second = "The tiles come on Friday, and Ada will be at home from nine to let them in. All day."
    heading = "## What is left"
    texts = [f"{first.strip()}\n\n", f"{second} Fine.\n\n", f"{heading}\n\n{second}"]

    units = split_message(
        text_message("user", "".join(texts)), seq=0, tokens=130, paragraph_tokens=120
    )

    assert PROSE_CHARS < len(first) < WHOLE_BYTES
    assert [unit.text for unit in units] == texts


def test_a_paragraph_too_long_to_stay_whole_is_cut_at_sentences() -> None:
    long, short = "The kitchen will be painted green, as we said. " * 12, "Ada is at home at nine."
    text = f"{long}\n\n{short}"

    *cut, last = split_message(text_message("user", text), seq=0, tokens=150, paragraph_tokens=120)

    assert last.text == short
    assert len(cut) > 1
    assert all(len(unit.text) <= PROSE_CHARS for unit in cut)
    assert "".join(unit.text for unit in (*cut, last)) == text


def test_a_long_chinese_message_is_cut_at_sentences() -> None:
    units = split_message(
        text_message("user", "厨房的墙周一刷成绿色，我们说好了。" * 40), seq=0, tokens=700
    )

    assert len(units) > 1
    assert all(unit.text.endswith("说好了。") for unit in units)


def test_a_json_output_is_cut_between_its_members() -> None:
    rows = ", ".join(f'{{"id": "row-{at}", "price": {at}00}}' for at in range(40))

    units = split_message(tool_result("c1", f"[{rows}]"), seq=3, tokens=600)

    assert {unit.kind for unit in units} == {"output"}
    assert all(len(unit.text) <= OUTPUT_CHARS for unit in units)
    assert all(unit.text.endswith(("}, ", "}]")) for unit in units)


def test_text_without_a_place_to_cut_is_cut_anyway() -> None:
    units = split_message(text_message("user", "x" * 1_000), seq=0, tokens=500)

    assert "".join(unit.text for unit in units) == "x" * 1_000


def test_calls_are_units_of_their_own() -> None:
    call = ToolCall(id="c1", name="find_flight", arguments='{"to": "OSL"}')
    message = Message(role="assistant", content=text_message("assistant", "Let me look.").content)

    units = split_message(
        Message(role="assistant", content=message.content, calls=(call,)), seq=2, tokens=30
    )

    assert [(unit.kind, unit.text) for unit in units] == [
        ("talk", "Let me look."),
        ("call", 'find_flight {"to": "OSL"}'),
    ]
    assert sum(unit.tokens for unit in units) == 30


def test_the_pieces_of_a_message_share_its_tokens() -> None:
    units = split_message(text_message("user", "One sentence here. " * 60), seq=0, tokens=240)

    assert sum(unit.tokens for unit in units) == 240
