from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.salience.ranking import score_units
from tests.processes import printed_under_hash_seeds
from tests.unit.salience.building import output, said, utterance


def saliences(*texts: str) -> list[float]:
    return [salience.total for salience in score_units(said(*texts))]


def test_nothing_has_no_worth() -> None:
    assert score_units([]) == []


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("My sister Karin moved to Lund last summer.", "Wow, that is so great to hear from you!"),
        ("We painted the kitchen green on Friday.", "Which colour did you paint the kitchen in?"),
        ("The invoice was 420 euros, due on April 3.", "Okay, thank you, I will take a look."),
        ("妹妹去年搬到了哥德堡，在医院当护士。", "真的吗，那太好了，谢谢你告诉我！"),
        ("电话是010-5550142，周一休息。", "那你知道这里的电话是多少吗？"),
    ],
)
def test_what_tells_is_worth_more_than_what_reacts_or_asks(more: str, less: str) -> None:
    first, second = saliences(more, less)

    assert first > 1.5 * second


def test_an_answer_is_worth_more_than_the_same_words_unasked() -> None:
    asked = saliences("Where does your brother live?", "In a small house near Bergen.")
    unasked = saliences("It is raining here again.", "In a small house near Bergen.")

    assert asked[1] > unasked[1]


def test_every_piece_of_an_answer_answers() -> None:
    question = utterance("Where have you lived?", seq=0)
    statement = utterance("It is raining here again.", seq=0)
    pieces = [utterance(text, seq=1) for text in ("In Bergen first.", "Later by the sea.")]

    asked = score_units([question, *pieces])[1:]
    unasked = score_units([statement, *pieces])[1:]

    assert all(one.talk > other.talk for one, other in zip(asked, unasked, strict=True))


def test_an_answer_keeps_its_worth_without_its_question() -> None:
    answer = utterance("In a small house near Bergen.", seq=5)

    (alone,) = score_units([answer])
    (answering,) = score_units([replace(answer, answers=True)])

    assert answering.talk > alone.talk


def test_what_is_said_first_is_news() -> None:
    first, *_, last = saliences(
        "I bought a cello in Cremona.", "Nice one.", "Sure.", "I bought a cello in Cremona."
    )

    assert first > last


def test_a_standing_rule_of_the_user_is_worth_more_than_the_same_words_of_the_model() -> None:
    rule = "Never push to the main branch before the tests pass."
    (of_user,) = score_units([utterance(rule)])
    (of_model,) = score_units([utterance(rule, role="assistant")])

    assert of_user.talk > 2 * of_model.talk


@pytest.mark.parametrize(
    ("rule", "telling"),
    [
        ("From now on write dates as 2026-01-15.", "For years we wrote dates as 2026-01-15."),
        ("Do not deploy on a Friday without my approval.", "They deploy on a Friday, I approve."),
        ("Make sure every report ends with a sum.", "I am sure every report ends with a sum."),
        ("请务必先跑测试再提交。", "昨天先跑测试再提交。"),
    ],
)
def test_a_standing_rule_is_worth_more_than_telling(rule: str, telling: str) -> None:
    assert saliences(rule)[0] > 1.5 * saliences(telling)[0]


def test_the_stamp_of_a_message_adds_nothing() -> None:
    plain, stamped = (
        score_units([utterance(text)])[0].talk
        for text in ("I sold the boat.", "[session 3, 4 May 2026] I sold the boat.")
    )

    assert stamped < plain  # it costs tokens and tells nothing


def test_calls_and_outputs_tell_nothing_but_hold_literals() -> None:
    (salience,) = score_units([output('{"id": "INV-2041", "state": "open"}')])

    assert salience.talk == 0
    assert [literal for literal, _ in salience.literals] == ["INV-2041"]
    assert salience.total > 0


def test_literals_count_only_where_tools_are_called() -> None:
    told = utterance("The order is INV-2041.")

    (alone,) = score_units([told])
    with_tools, _ = score_units([told, output("INV-2041 is open")])

    assert alone.literals == ()
    assert [literal for literal, _ in with_tools.literals] == ["INV-2041"]


def test_a_first_call_changes_little() -> None:
    talk = said(*["The order is INV-2041."] * 99)

    few = score_units([*talk, output("INV-2041 is open", seq=99)])
    many = score_units([*talk[:9], output("INV-2041 is open", seq=9)])

    assert few[0].literals[0][1] < many[0].literals[0][1]


def test_a_message_of_digits_alone_is_in_the_language_before_it() -> None:
    _, digits = score_units(said("电话号码是多少？", "010-5550142"))
    _, latin = score_units(said("What is the number?", "010-5550142"))

    assert digits.talk != latin.talk


def test_worths_are_the_same_in_every_process() -> None:
    script = (
        "from ctxcore.salience.ranking import score_units\n"
        "from ctxcore.salience.units import Unit\n"
        "text = 'My sister Karin has 2 cellos and a boat in Lund. 妹妹在家，电话010-5550142。'\n"
        "print(score_units([Unit(seq=0, text=text, role='user', tokens=40)]))"
    )

    assert len(printed_under_hash_seeds(script)) == 1


def test_what_a_request_asks_for_is_worth_more() -> None:
    units = said("We painted the kitchen green.", "My sister Karin moved to Lund last summer.")

    plain = [salience.talk for salience in score_units(units)]
    asked = [
        salience.talk for salience in score_units(units, request="What colour is the kitchen?")
    ]

    assert plain[0] < plain[1]
    assert asked[0] > asked[1] == plain[1]


def test_a_request_in_chinese_is_read_alike() -> None:
    units = said("厨房刷成了绿色。", "妹妹去年搬到了哥德堡，在医院当护士。")

    asked = [salience.talk for salience in score_units(units, request="厨房是什么颜色？")]

    assert asked[0] > asked[1]


def test_a_request_leaves_the_literals_of_outputs_as_they_are() -> None:
    units = [utterance("Order INV-2041."), output('{"id": "INV-2041", "state": "open"}', seq=1)]

    assert score_units(units, request="INV-2041?")[1] == score_units(units)[1]


def test_small_talk_asks_for_less_than_a_question() -> None:
    units = said("The kitchen is green.", "My sister Karin moved to Lund last summer.")

    asked = score_units(units, request="Is the kitchen green?")[0].talk
    remarked = score_units(units, request="The kitchen is green.")[0].talk

    assert asked > remarked > score_units(units)[0].talk


def test_what_is_asked_is_found_in_a_long_message() -> None:
    units = said("The kitchen is green.", "My sister Karin moved to Lund last summer.")
    around = "Thanks for all of your help with the boat and the long weekend in the mountains. "

    alone = score_units(units, request="Is the kitchen green?")

    assert score_units(units, request=f"{around}Is the kitchen green? {around}") == alone


def test_who_tells_of_their_life_scores_more_than_who_cheers() -> None:
    told, cheered = saliences(
        "My sister gave me a puzzle.",
        "Such a lovely big puzzle there.",
    )

    assert told > cheered


def test_a_day_counts_more_than_a_bare_number() -> None:
    (salience,) = score_units([output("2026-05-20 and 4471")])
    found = dict(salience.literals)

    assert found["2026-05-20"] > 2 * found["4471"]
