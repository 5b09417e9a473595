"""Media beside words that are cut: they stay where there is room, else their labels do."""

from __future__ import annotations

import pytest

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.messages.values import Media, Message, Opaque, Text
from ctxcore.tokens.count import count_messages
from tests.histories import assistant, call, user
from tests.words import words

IMAGE = Media(  # of a size that cannot be seen: 765 tokens
    kind="image", raw='{"image_url":{"url":"https://example.org/a.png"},"type":"image_url"}'
)
LABEL = "[image]"


def shot(call_id: str, text: str) -> Message:
    return Message(role="tool", content=(Text(text=text), IMAGE), answers=call_id)


def open_turn(*texts: str) -> list[Message]:
    calls = [call(f"c{at}", "shot") for at in range(len(texts))]
    shots = [shot(f"c{at}", text) for at, text in enumerate(texts)]
    return [user("What is on the screen?"), assistant("", *calls), *shots]


def images_in(context: Context) -> int:
    return str(context.messages).count("image_url': {")


@pytest.mark.parametrize("window", [900, 2_000, 4_000])
def test_a_screenshot_that_the_model_has_yet_to_see_stays_while_it_fits(window: int) -> None:
    context = fit(open_turn("Took a screenshot"), max_tokens=window)

    assert images_in(context) == 1
    assert context.tokens == count_messages(context.messages) <= window


def test_where_a_screenshot_finds_no_room_its_label_stays() -> None:
    context = fit(open_turn("Took a screenshot"), max_tokens=600)

    assert context.messages[-1]["content"] == f"Took a screenshot\n{LABEL}"


def test_of_several_screenshots_the_newest_stay() -> None:
    context = fit(open_turn("first", "second", "third"), max_tokens=1_900)

    first, *others = context.messages[-3:]
    assert first["content"] == f"first\n{LABEL}"
    assert images_in(context) == len(others)


def test_words_beside_a_screenshot_are_shortened_and_it_stays() -> None:
    listed = "\n".join(f"{n} the replica answered in {7 * n} ms" for n in range(900))
    context = fit(open_turn(listed), max_tokens=3_000)

    assert images_in(context) == 1
    assert 1_350 < context.tokens == count_messages(context.messages) <= 3_000


@pytest.mark.parametrize("window", [1_000, 1_500, 2_000])
def test_a_request_cut_to_the_window_keeps_its_image(window: int) -> None:
    request = Message(role="user", content=(Text(text=words(3_000)), IMAGE))

    context = fit([request], max_tokens=window)

    assert images_in(context) == 1
    assert context.tokens == count_messages(context.messages) <= window


def test_an_image_alone_gives_way_to_its_label() -> None:
    context = fit([Message(role="user", content=(IMAGE,))], max_tokens=100)

    assert context.messages == [{"role": "user", "content": LABEL}]


def test_a_part_of_an_unknown_kind_stays_beside_cut_words() -> None:
    unknown = Opaque(provider="openai", raw='{"type":"hologram","url":"h"}')
    request = Message(role="user", content=(unknown, Text(text=words(3_000))))

    context = fit([request], max_tokens=500)

    content = context.messages[0]["content"]
    assert isinstance(content, list)
    assert content[0] == {"type": "hologram", "url": "h"}


def test_a_result_without_its_call_keeps_its_image() -> None:
    context = fit([user("hi"), shot("gone", "Took a screenshot")], max_tokens=4_000)

    assert images_in(context) == 1
    assert LABEL not in str(context.messages)
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[], [], [], []]
