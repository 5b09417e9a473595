"""Canonical JSON: one text for one value, whatever characters are in it."""

from __future__ import annotations

import pytest

from ctxcore.messages.canonical import parse_canonical, printable, printable_json, to_canonical
from ctxcore.messages.values import JsonValue


def test_keys_are_sorted_and_nothing_is_spaced() -> None:
    assert to_canonical({"b": [1, None], "a": {"é": True}}) == '{"a":{"é":true},"b":[1,null]}'


@pytest.mark.parametrize("text", ["\x00", "a\ud83d", "\ude00b", 'q"\\u0000', "😀"])
def test_every_string_survives_in_storable_characters(text: str) -> None:
    stored = to_canonical({"text": text})

    stored.encode("utf-8")
    assert "\x00" not in stored
    assert parse_canonical(stored) == {"text": text}


def test_a_lone_surrogate_and_nul_are_escaped() -> None:
    assert to_canonical("\ud83d") == '"\\ud83d"'
    assert to_canonical("\x00") == '"\\u0000"'


def test_the_halves_of_a_character_become_the_character() -> None:
    assert to_canonical("\ud83d\ude00") == to_canonical("😀") == '"😀"'


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain", "plain"), ("日", "日"), ("a\ud83d", "a\ufffd"), ("\ud83d\ude00", "😀")],
)
def test_a_printable_text_has_no_lone_surrogate(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_printing_reaches_every_text_in_a_value() -> None:
    value: JsonValue = {"a\ud83d": ["\ud83d", 1, None, {"b": "c"}]}

    assert printable_json(value) == {"a\ufffd": ["\ufffd", 1, None, {"b": "c"}]}
