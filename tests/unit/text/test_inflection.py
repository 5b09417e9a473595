"""The forms of English words, which a search looks up one by one."""

from __future__ import annotations

import pytest

from ctxcore.text.inflection import MOST_FORMS, forms_of, stem

REGULAR = [
    "camp camps camped camping",
    "study studies studied studying",
    "bake bakes baked baking",
    "plan plans planned planning",
    "play plays played playing",
    "watch watches watched watching",
    "agree agrees agreed agreeing",
    "tie ties tied tying",
    "travel travels traveled travelled traveling travelling",
    "prefer prefers preferred preferring",
    "visit visits visited visiting",
]
IRREGULAR = [
    "goes went gone going",
    "buy buys bought buying",
    "teach teaches taught teaching",
    "meet meets met meeting",
    "write writes wrote written writing",
    "child children",
    "person people",
    "leaf leaves",
]


@pytest.mark.parametrize("family", [*REGULAR, *IRREGULAR])
def test_each_form_of_a_word_finds_the_others(family: str) -> None:
    words = family.split()

    missing = {word: {*words} - {*forms_of(word)} for word in words}

    assert not any(missing.values()), missing


def test_a_form_of_two_words_finds_both() -> None:
    assert {"leaf", "leave", "left"} <= {*forms_of("leaves")}
    assert {"life", "live", "living"} <= {*forms_of("lives")}


@pytest.mark.parametrize("word", ["预算", "café", "v2", "2024", "go", "user_id", "user id", ""])
def test_what_is_no_plain_english_word_has_only_itself(word: str) -> None:
    assert forms_of(word) == (word,)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("morning", "morn"),
        ("evening", "even"),
        ("see", "seed"),
        ("fee", "feed"),
        ("need", "nee"),
        ("caring", "car"),
        ("hoping", "hop"),
        ("adding", "ad"),
        ("uses", "us"),
        ("news", "new"),
        ("string", "str"),
    ],
)
def test_another_word_is_no_form(word: str, other: str) -> None:
    assert other not in forms_of(word)


def test_a_word_comes_first_among_few_forms_each_once() -> None:
    words = "decided budgets preferred travelling understood be are run were"

    for word in words.split():
        forms = forms_of(word)

        assert forms[0] == word
        assert len(forms) <= MOST_FORMS
        assert len({*forms}) == len(forms)


def test_a_stem_is_the_word_without_its_ending() -> None:
    assert stem("files") == stem("filing") == "fil"
    assert stem("planning") == stem("plans") == "plan"
    assert stem("bought") == "buy"
    assert stem("went") == "went"
