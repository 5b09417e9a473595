"""What stays of a meeting: messages with words that nothing kept has yet."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import Message, Text, text_message
from ctxcore.salience.meetings import many_speak, word_saliences
from ctxcore.salience.ranking import Group, Ranking, score_units
from tests.unit.salience.building import output, said, utterance

TOPICS = (
    "The battery of the remote lasts two weeks.",
    "Yes, that battery of the remote lasts two weeks.",
    "Marketing wants yellow rubber buttons.",
)


def spoken(*names: str) -> list[Message]:
    said = (Text(text="Good morning."),)
    return [Message(role="user", content=said, name=name) for name in names]


def test_more_than_two_named_people_make_a_meeting() -> None:
    assert many_speak(spoken("Ada", "Ben", "Cleo", "Ada"))
    assert not many_speak(spoken("Ada", "Ben", "Ada"))
    assert not many_speak([text_message("user", "Hi."), text_message("assistant", "Hello.")])


def test_a_word_counts_once_so_a_new_topic_comes_before_more_of_the_old() -> None:
    units = [utterance(text, seq=seq) for seq, text in enumerate(TOPICS)]
    groups = [Group(units=(unit,), tokens=unit.tokens) for unit in units]
    ranking = Ranking(groups, [[one] for one in score_units(units, is_meeting=True)])

    order = []
    for step in ranking.steps():
        order.append(step.group)
        ranking.take(step)

    assert {*order[:2]} in ({0, 2}, {1, 2})


def test_a_word_that_everybody_says_has_no_salience() -> None:
    first, second = word_saliences(said("Remote with rubber.", "Remote with wood."))

    assert first["remote"] == second["remote"] == 0
    assert first["rubber"] > 0


def test_what_is_said_often_weighs_little_more_than_what_is_said_twice() -> None:
    often = [f"Remote with part{at}." for at in range(8)]
    rarely = ["Rubber in yellow.", "Rubber in red."]
    rest = [f"Remark{at}." for at in range(20)]
    weights = {
        word: salience
        for found in word_saliences(said(*often, *rarely, *rest))
        for word, salience in found.items()
    }

    assert weights["remote"] == pytest.approx(weights["rubber"], rel=0.15)


def test_words_that_say_little_in_any_conversation_have_no_salience() -> None:
    first, _ = word_saliences(said("That was really the rubber.", "Wood."))

    assert list(first) == ["rubber"]


def test_words_of_no_letters_and_no_words_at_all_do_no_harm() -> None:
    assert word_saliences([]) == []
    assert word_saliences(said("…", "")) == [{}, {}]


def test_calls_and_outputs_keep_their_literals_in_a_meeting() -> None:
    talk = [utterance(text, seq=seq) for seq, text in enumerate(TOPICS)]
    found = score_units([*talk, output("INV-2041 is open", seq=3)], is_meeting=True)

    assert "INV-2041" in dict(found[3].literals)


def test_what_is_said_last_in_a_meeting_asks_for_nothing_without_a_question() -> None:
    units = [utterance(text, seq=seq) for seq, text in enumerate(TOPICS)]
    plain = score_units(units, is_meeting=True)

    assert score_units(units, request="Rubber buttons then.", is_meeting=True) == plain
    assert score_units(units, request="Which rubber buttons?", is_meeting=True) != plain


def labelled(*labels: str, times: int = 3) -> list[Message]:
    return [text_message("user", f"{label}: Good morning.") for label in labels] * times


def test_names_before_the_words_make_a_meeting_where_nearly_all_messages_have_one() -> None:
    assert many_speak(labelled("Ada", "Project Manager", "Marketing"))
    assert not many_speak(labelled("Ada", "Ben"))
    assert not many_speak(labelled("Question", "Context", "Input"))
    assert not many_speak(labelled("User", "Assistant", "Narrator"))
    assert not many_speak(labelled("Ada", "Ben", "Cleo", times=1))
    assert not many_speak([*labelled("Ada", "Ben", "Cleo"), *[text_message("user", "Hi.")] * 4])
