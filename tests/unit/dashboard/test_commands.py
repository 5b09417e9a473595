"""What a text in the chat input means: a command, or something to say."""

from __future__ import annotations

import pytest

from dashboard.chat_page.commands import COMMANDS, message_number, read_typed
from dashboard.texts import catalogue, languages


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "compact",
        "/etc/hosts is wrong",
        "/v1.2/models",
        "/etc.conf",
        "/ 2 is a half",
        "// a comment in C",
        "/* and another */",
        "//example.com/path",
        "1 /compact",
    ],
)
def test_paths_comments_and_other_words_are_said_as_they_are(text: str) -> None:
    typed = read_typed(text)

    assert (typed.name, typed.text) == (None, text)


@pytest.mark.parametrize("text", ["/foo", "/compacting now", "/usr", "/压缩", "/"])
def test_an_unknown_word_behind_a_slash_is_a_command_that_is_not_ours(text: str) -> None:
    typed = read_typed(text)

    assert typed.name is not None
    assert typed.command is None


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/compact", "compact", ""),
        ("  /Compact  the port\nof the database ", "compact", "the port\nof the database"),
        ("/recall ferry", "recall", "ferry"),
    ],
)
def test_a_command_has_what_stands_behind_it(text: str, name: str, rest: str) -> None:
    typed = read_typed(text)

    assert typed.command is not None
    assert (typed.command.name, typed.text) == (name, rest)


@pytest.mark.parametrize("text", ["//compact now", " //foo"])
def test_two_slashes_send_the_word_with_one(text: str) -> None:
    assert read_typed(text).name is None
    assert read_typed(text).text == text.strip()[1:]


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("#7", 7), ("0", 0), ("", None), ("-3", None), ("1" * 12, None)],
)
def test_a_message_is_named_by_its_number(text: str, number: int | None) -> None:
    assert message_number(text) == number


@pytest.mark.parametrize("language", languages())
def test_every_command_has_its_words(language: str) -> None:
    texts = catalogue(language)
    for command in COMMANDS:
        usage = texts[f"chat.command.{command.name}.usage"]
        assert usage.split()[0] == f"/{command.name}"
        assert ("[" in usage) is (command.takes == "optional")
        assert (len(usage.split()) > 1) is (command.takes != "nothing")
        assert texts[f"chat.command.{command.name}.about"]
