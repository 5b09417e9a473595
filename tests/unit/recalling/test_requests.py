"""A request as a query: what it names, in every form, and what it borrows."""

from __future__ import annotations

import pytest

from ctxcore.recalling.requests import MOST_TERMS, READ_CHARS, Query, asks, read_request, terms_in

PLANS = "Three ways:\n1. rent a canoe\n2. hike along Storforsen\n3. take the bus to Arjeplog"


def forms(text: str) -> set[str]:
    """All forms of the terms of a text."""
    return {form for term in terms_in(text) for form in term.forms}


def weights(query: Query) -> dict[str, float]:
    """The weight of each term by its first form."""
    return {term.forms[0]: term.weight for term in query.terms}


def proofs(query: Query) -> dict[str, float]:
    """What each term proves, by its first form."""
    return {term.forms[0]: term.proof for term in query.terms}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Where did we go camping?", "camped"),
        ("who taught the children", "teach"),
        ("the buses", "bus"),
        ("open user_profile_id", "user profile id"),
        ("open userProfileId", "user profile id"),
        ("it costs 12,500", "12500"),
        ("it costs 12500", "12 500"),
        ("the 7 dwarfs", "seven"),
        ("on 2026-05-07", "may 7"),
        ("on 7 May 2026", "2026 05 07"),
        ("on May 7th", "7th may"),
        ("五月七日的会议", "5 月 7"),
        ("飞机票", "飛機"),
        ("飛機票", "飞机"),
    ],
)
def test_a_term_has_every_form_in_which_it_may_be_said(text: str, form: str) -> None:
    assert form in forms(text)


@pytest.mark.parametrize("text", ["", "How are you?", "Who knows?", "好的", "?!", "it was there"])
def test_what_says_nothing_has_no_terms(text: str) -> None:
    assert list(terms_in(text)) == []


def test_a_term_comes_once() -> None:
    assert [term.forms[0] for term in terms_in("canoe Canoe CANOE paddle")] == ["canoe", "paddle"]


def test_a_common_word_proves_less() -> None:
    assert proofs(read_request("a wonderful canoe")) == {"wonderful": 0.5, "canoe": 1.0}


@pytest.mark.parametrize("pair", ["今天", "喜欢", "喜歡", "有空"])
def test_a_pair_of_a_common_word_weighs_less_than_another(pair: str) -> None:
    found = weights(read_request(f"{pair}，灯塔"))

    assert found[pair] < found["灯塔"] / 2


def test_a_pair_that_joins_two_words_weighs_little() -> None:
    assert weights(read_request("灯塔的楼梯"))["塔的"] < 0.3


@pytest.mark.parametrize(
    "text",
    [
        *("When was it?", "when was it", "and who paid", "Remind me of the code", "It was “red”?"),
        *("他什么时候来", "多少钱？", "記得那個地址嗎", "ok, show me the log"),
    ],
)
def test_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    ["I was there.", "Fix the login test.", "好的谢谢", "haha", ""],
)
def test_what_is_no_question_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    [
        *("What has Melanie painted?", "Where do Jon's invoices go?", "Why is parse_row slow?"),
        *("小宝的生日蛋糕是什么颜色？", "豆豆的体重是多少？", "護照的編號是多少？"),
    ],
)
def test_a_question_that_names_two_things_is_clear(text: str) -> None:
    assert read_request(text, ["All 231 tests pass."]).is_clear


@pytest.mark.parametrize(
    "text",
    [
        *("Did you sleep well?", "Are you busy?", "Do you like music?", "How was your day, Jon?"),
        *(
            "Jon paints canoes.",
            "Write down Jon's address.",
            "你睡得好吗？",
            "你喜欢音乐吗？",
            "小宝好",
        ),
    ],
)
def test_small_talk_and_what_does_not_ask_are_no_clear_question(text: str) -> None:
    assert not read_request(text, ["The canoe lies beneath the jetty in Nynashamn."]).is_clear


def test_a_request_that_refers_borrows_what_was_said_before_it() -> None:
    query = read_request("How much does that ferry cost?", ["It leaves from Nynashamn."])

    assert weights(query)["nynashamn"] < weights(query)["ferry"] == 1.0
    assert proofs(query)["nynashamn"] == 1.0


def test_a_request_that_names_enough_borrows_nothing() -> None:
    query = read_request("How much does a ferry ticket cost?", ["Leaves from Nynashamn."])

    assert "nynashamn" not in weights(query)


@pytest.mark.parametrize(
    "text",
    [
        "What did Mila's teacher play at her concert?",
        "Which shoes that Mila bought are blue?",
        "Where did Mila hike before she broke the paddle?",
        "护照的编号和它的颜色是什么？",
    ],
)
def test_a_clear_question_means_by_its_pronouns_what_it_names(text: str) -> None:
    query = read_request(text, ["It leaves from Nynashamn."])

    assert query.is_clear
    assert "nynashamn" not in weights(query)


def test_what_a_question_borrows_does_not_make_it_clear() -> None:
    query = read_request("And was the canoe there?", ["Nynashamn and Arjeplog, both."])

    assert {"nynashamn", "arjeplog"} <= set(weights(query))
    assert not query.is_clear


@pytest.mark.parametrize("text", ["How is it going?", "Are you there?", "Why not?", "Really?"])
def test_small_talk_proves_nothing_by_what_it_borrows(text: str) -> None:
    query = read_request(text, ["All 231 tests pass in Nynashamn."])

    assert not any(proofs(query).values())


@pytest.mark.parametrize(
    ("text", "named", "other"),
    [
        ("How far is the second one?", "storforsen", "canoe"),
        ("the last option please", "arjeplog", "storforsen"),
        ("第二个多远？", "storforsen", "arjeplog"),
    ],
)
def test_an_item_of_a_list_is_named_by_its_place(text: str, named: str, other: str) -> None:
    query = read_request(text, [PLANS])

    assert proofs(query)[named] == 1.0
    assert other not in weights(query)


def test_an_item_that_there_is_not_names_nothing() -> None:
    assert "canoe" in weights(read_request("the fifth one?", [PLANS]))  # all of it, as it refers


def test_a_request_that_says_next_to_nothing_borrows_its_calls() -> None:
    assert "orders" in weights(read_request("go on", calls=['{"path": "/srv/orders.py"}']))


def test_of_a_long_request_beginning_and_end_count() -> None:
    text = "zebra " + "x " * READ_CHARS + "middle " + "x " * READ_CHARS + "walrus"

    assert set(weights(read_request(text))) >= {"zebra", "walrus"}
    assert "middle" not in weights(read_request(text))


def test_there_are_only_so_many_terms() -> None:
    text = " ".join(f"name{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(90))

    assert len(read_request(text).terms) == MOST_TERMS


@pytest.mark.parametrize(
    "text",
    [
        *("Wie war denn dein Wochenende?", "Danke, das ist wirklich nett von dir."),
        *("Merci, c'est vraiment gentil !", "Comment ça va aujourd'hui ?"),
        *("¿Cómo estás hoy?", "Muchas gracias, hasta mañana."),
        *("Come stai oggi?", "Grazie mille, a domani!"),
        *("Tudo bem com você?", "Muito obrigado, até amanhã."),
        *("Hoe gaat het vandaag met je?", "Dank je wel, tot morgen!"),
    ],
)
def test_small_talk_of_other_languages_has_no_terms(text: str) -> None:
    assert read_request(text).terms == ()


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Wie heißt nochmal der Vermieter?", "vermieter"),
        ("Où est garée la voiture ?", "voiture"),
        ("¿Cuándo sale el tren de Sevilla?", "sevilla"),
        ("Quando parte il traghetto?", "traghetto"),
        ("When will they die out?", "die"),
        ("Dan?", "dan"),
    ],
)
def test_what_a_request_of_another_language_names_is_looked_for(text: str, term: str) -> None:
    assert term in [one.forms[0] for one in read_request(text).terms]
