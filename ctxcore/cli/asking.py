"""Owns asking on the terminal whether a compaction may be made, with the four answers.

The question goes to stderr: stdout is for results.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from ctxcore.cli.output import print_note
from ctxcore.cli.texts import one_line, plural

if TYPE_CHECKING:
    from ctxcore.compaction.confirming import Answer, Confirm, Confirmation

NEEDS_YES = "needs confirmation; pass --yes"

_ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "c": ("compact", "compact: fold them into a summary"),
    "d": ("drop_oldest", "drop the oldest: leave them out without a summary"),
    "n": ("new_session", "new session: keep only the turn that waits for its answer"),
    "r": ("refuse", "refuse: change nothing and end with an error"),
}


def choose_confirm(name: str, *, says_yes: bool) -> Confirm | None:
    """What answers for the conversation `name`; None where there is nobody to ask."""
    if says_yes:
        return lambda question: "compact"
    return (lambda question: _ask(question, name)) if is_terminal() else None


def is_terminal() -> bool:
    """Whether somebody sees the question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: Confirmation, name: str) -> Answer:
    plan = question.plan
    turns = plural(plan.turns_folded, "turn")
    expected = f"{plan.before_tokens:,} → about {plan.expected_tokens:,} tokens"
    print_note(f"{one_line(name)}: {question}")
    print_note(f"folds {_places(plan.fold)} ({turns}); {expected}")
    for letter, (_, meaning) in _ANSWERS.items():
        typer.echo(f"  {letter}  {meaning}", err=True)
    while (said := str(typer.prompt("answer", err=True)).strip().lower()) not in _ANSWERS:
        print_note(f"answer with one of {', '.join(_ANSWERS)}")
    return _ANSWERS[said][0]


def _places(fold: tuple[int, ...]) -> str:
    """Which messages: places from 0, as everywhere on the command line."""
    if not fold:
        return "no messages, but shortens tool outputs"
    if len(fold) == 1:
        return f"message {fold[0]:,}"
    return f"{len(fold):,} of messages {min(fold):,}-{max(fold):,}"
