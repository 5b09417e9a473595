"""Small talk recalls nothing from a folded conversation; a question about it recalls the answer."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.compaction.compacting import CompactionResult, compact
from ctxcore.messages.values import Message, text_message, tool_result
from tests.histories import assistant, call, user

HERE = Path(__file__).parent
TURNS: Any = json.loads((HERE / "small_talk.json").read_text(encoding="utf-8"))
WINDOW = 2_500
LANGUAGES = {"family": "en", "coding": "en", "zh": "zh"}


def lines(name: str) -> list[str]:
    """The lines of a conversation."""
    return (HERE / "talks" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def spoken(name: str) -> list[Message]:
    """A conversation of two, a line each."""
    return [assistant(line) if at % 2 else user(line) for at, line in enumerate(lines(name))]


def worked(name: str) -> list[Message]:
    """A coding agent's session: a line has a request, a call, its output, and the answer."""
    history = [text_message("system", "You are a coding agent.")]
    for at, line in enumerate(lines(name)):
        request, called, output, answer = line.split(" | ")
        tool, _, argument = called.partition(" ")
        history += [
            user(request),
            assistant("", call(f"c{at}", tool, argument=argument)),
            tool_result(f"c{at}", output),
            assistant(answer),
        ]
    return history


def named(message: Message, name: str) -> Message:
    """A message of a person with their name before its words."""
    said = message.role == "user" and bool(name)
    return user(name.format(message.text)) if said else message


@cache
def folded(name: str, form: str = "") -> tuple[list[Message], CompactionResult]:
    """A conversation and a compaction that shows little of it."""
    said = worked(name) if name == "coding" else spoken(name)
    history = [named(message, form) for message in said]
    return history, compact(history, max_tokens=WINDOW, target_tokens=500, force=True)


def asked(name: str, turn: str, form: str = "") -> Context:
    """The context in which a turn follows the folded conversation."""
    history, compacted = folded(name, form)
    turns = [*history, named(user(turn), form)]
    return fit(turns, max_tokens=WINDOW, state=compacted.state)


def is_answered(name: str, turn: str, answer: str) -> bool:
    """Whether a message that has `answer` is shown, or recalled for the turn."""
    history, _ = folded(name)
    context = asked(name, turn)
    places = [at for at, message in enumerate(history) if answer in message.text]
    assert places, answer
    return any(context.verdict(at).verdict in ("kept", "recalled") for at in places)


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_conversation_is_long_and_mostly_folded(name: str) -> None:
    history, compacted = folded(name)

    assert len(history) >= 150
    assert len(compacted.folded) > 0.8 * len(history)


@pytest.mark.parametrize(
    "form",
    [
        "",
        "[session 3, 1:56 pm on 8 May, 2023] Anna: {}",
        *(pytest.param(form, marks=pytest.mark.slow) for form in ("Anna Schmidt: {}", "<anna> {}")),
    ],
)
def test_small_talk_recalls_nothing_whoever_says_it(form: str) -> None:
    turns = [(name, turn) for name in LANGUAGES for turn in TURNS["needs_nothing"][LANGUAGES[name]]]

    recalling = [(name, turn) for name, turn in turns if asked(name, turn, form).breakdown.recalled]

    assert len(recalling) <= 0.02 * len(turns), recalling


def test_what_a_turn_needs_is_recalled() -> None:
    turns = [(name, *turn) for name in LANGUAGES for turn in TURNS["needs"][name]]

    missed = [(name, turn) for name, turn, answer in turns if not is_answered(name, turn, answer)]

    assert len(missed) <= 0.1 * len(turns), missed
