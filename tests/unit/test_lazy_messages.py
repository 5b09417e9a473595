"""Messages whose content is read when it is first used: values like all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxcore.messages.lazy import LazyMessage, load_all, loaded, texts_of
from ctxcore.messages.values import Part, Text, text_message


class Shelf:
    """Contents by number, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[Sequence[int]] = []
        self.made = {seq: LazyMessage.at(seq, "user", self) for seq in (1, 2, 3)}

    def beside(self, seq: int) -> Sequence[LazyMessage]:
        return [self.made[seq]]

    def contents(self, seqs: Sequence[int]) -> list[tuple[Part, ...]]:
        self.asked.append(list(seqs))
        return [(Text(text=f"number {seq}"),) for seq in seqs]

    def texts(self, seqs: Sequence[int]) -> list[str]:
        self.asked.append(list(seqs))
        return [f"number {seq}" for seq in seqs]


def test_the_content_is_read_when_it_is_used_and_once() -> None:
    shelf = Shelf()
    message = shelf.made[2]
    assert (message.role, message.calls, message.is_read) == ("user", (), False)
    assert shelf.asked == []

    assert (message.text, message.text) == ("number 2", "number 2")

    assert shelf.asked == [[2]]
    assert message.is_read


def test_it_equals_the_message_that_it_is() -> None:
    message, same = Shelf().made[1], text_message("user", "number 1")

    assert message == same
    assert same == message
    assert hash(message) == hash(same)
    assert message != text_message("user", "number 2")
    assert replace(message, name="ada") == replace(same, name="ada")


def test_many_are_read_at_once() -> None:
    shelf = Shelf()

    load_all([text_message("user", "known"), *shelf.made.values()])

    assert shelf.asked == [[1, 2, 3]]
    load_all(shelf.made.values())
    assert shelf.asked == [[1, 2, 3]]


def test_texts_are_looked_at_without_being_kept() -> None:
    shelf = Shelf()
    messages = [shelf.made[1], text_message("user", "known"), shelf.made[3]]

    assert list(texts_of(messages)) == ["number 1", "known", "number 3"]

    assert shelf.asked == [[1, 3]]
    assert not shelf.made[1].is_read


def test_contents_that_were_read_for_a_while_go_again() -> None:
    shelf = Shelf()
    load_all([shelf.made[2]])

    with loaded([text_message("user", "known"), *shelf.made.values()]):
        assert [message.text for message in shelf.made.values()] == [
            "number 1",
            "number 2",
            "number 3",
        ]

    assert shelf.asked == [[2], [1, 3]]
    assert [message.is_read for message in shelf.made.values()] == [False, True, False]
    assert shelf.made[3].text == "number 3"
