"""Owns error lines in tool outputs, and the news that a command which failed has passed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.matters import matter_of
from ctxcore.facts.reading import one_line
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.signals import error_report, mentions_error

MOST_ERRORS: Final = 3
LINE_CHARS: Final = 240

_ERROR_OBJECT = re.compile(
    r"^\s*\{[^{}]{0,60}\"(?:error|error_message|errors"
    r"|exception)\"\s*:\s*(?:\{[^{}]*?\"message\"\s*:\s*)?\"([^\"]{3,300})"
)
_FAILED_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?:?|code) [1-9]\d{0,2}\b", re.IGNORECASE
)
_RUNS = re.compile(
    r"\b(?:test|tests|pytest|jest|vitest|build|compile|tsc|check|lint|ruff|mypy|eslint"
    r"|make|cargo|go (?:test|build|run|vet)|npm|npx|pnpm|yarn|bun|mvn|gradle|python[\d.]*"
    r"|node|ruby|bash|sh|deploy|docker|terraform|mix|dotnet|install|migrate)\b"
)
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")


def failures(text: str, role: Role, command: str) -> Iterator[Fact]:
    """The error lines of an output; where it has none, that its command now passes."""
    lines = _lines(text) if mentions_error(text) else []
    for line in lines:
        yield Fact(
            kind="error",
            text=line,
            key=_DIGITS.sub("0", line.lower())[:160],
            subject=command,
            matter=matter_of(line),
            role=role,
        )
    if command and not lines and not _FAILED_EXIT.search(text[-400:]):
        yield Fact(kind="error", text="", key="", subject=command, effect="fixes", role=role)


def _lines(text: str) -> list[str]:
    """Different error lines; of a traceback its last, which says what went wrong."""
    if found := _ERROR_OBJECT.match(text):
        return [one_line(found[1], LINE_CHARS)]
    lines: dict[str, str] = {}
    for raw in text.split("\n"):
        line = one_line(error_report(raw), LINE_CHARS)
        if len(line) > 8:
            lines.setdefault(_DIGITS.sub("0", line.lower())[:80], line)
        if len(lines) > 40:
            break
    told = list(lines.values())
    return told if len(told) <= MOST_ERRORS else [*told[: MOST_ERRORS - 1], told[-1]]


def command_of(arguments: dict[str, str]) -> str:
    """The command a call ran, on one line, if it is one that passes or fails; else empty."""
    command = arguments.get("command") or arguments.get("cmd") or arguments.get("script") or ""
    plain = " ".join(command[:2_000].split())
    return plain[:160] if _RUNS.search(plain) else ""
