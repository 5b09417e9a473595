"""Messages in the part of a request's body that holds them, for each provider."""

from __future__ import annotations

from typing import cast

import pytest

from ctxcore.messages.shapes.bodies import body_of
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.shapes.values import SHAPES, Shape
from ctxcore.messages.values import JsonObject

SYSTEM = {"role": "system", "content": "You help."}
TALK = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": "Which day is it?"},
]


@pytest.mark.parametrize(
    ("shape", "system", "messages"),
    [
        ("openai", None, "messages"),
        ("responses", None, "input"),
        ("anthropic", [{"type": "text", "text": "You help."}], "messages"),
        ("gemini", {"parts": [{"text": "You help."}]}, "contents"),
    ],
)
def test_the_system_prompt_stands_where_the_provider_takes_it(
    shape: Shape, system: object, messages: str
) -> None:
    body = body_of(parse_messages([SYSTEM, *TALK]), shape)

    assert [value for key, value in body.items() if key != messages] == [system] * bool(system)
    written = body[messages]
    assert isinstance(written, list)
    assert len(written) == len(TALK) + (system is None)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_reads_back_as_the_same_messages(shape: Shape) -> None:
    (written,) = body_of(parse_messages(TALK), shape).values()

    read = parse_messages(cast("list[JsonObject]", written))
    assert [one.text for one in read] == [one["content"] for one in TALK]


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown shape"):
        body_of(parse_messages(TALK), "fax")  # type: ignore[arg-type]
