"""Owns literals: the exact strings a later tool call may need, and what each is worth.

Ids, paths, dates, numbers, addresses. One is worth keeping once, wherever it stands; who said it,
how often and how long ago tell how likely it is to be needed again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ctxcore.worth.units import Unit

# What was needed again in 18 points of 16 Claude Code sessions, Codex and pi, rounded by hand;
# on tau-bench, which they were not fitted on, better than what was fitted on tau-bench.
MENTIONS = 0.5  # per doubling of e in messages that hold it
SAID_BY_USER = 1.0
SAID_BY_ASSISTANT = 0.5
AGE = 0.2
AGE_TOKENS = 500
PATH = 1.5
FEW = 20  # literals in a message; of a log's hundreds each is less likely to be needed
CROWDED = 0.5
NUMBER = -1.2  # a bare number: an amount, a line, a size

_RUN = re.compile(r"[A-Za-z0-9_~./@#+-][A-Za-z0-9_./@:#+~-]*")
_EDGES = ".:,#+-~"
_NUMBER = re.compile(r"[\d.:+-]+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_CODE_CHARS = 3  # JFK, EUR: fewer capitals are mostly words


@dataclass(slots=True)
class _Use:
    """Where one literal was seen so far."""

    messages: int = 0
    last_seq: int = -1
    last_end: int = 0
    by_user: bool = False
    by_assistant: bool = False
    share: float = 0.0
    """Of the attention of the message that names it among the fewest others."""


def read_literals(units: Sequence[Unit]) -> list[tuple[str, ...]]:
    """The literals of each unit, each once, in order of appearance."""
    known: dict[str, str | None] = {}
    found = []
    for unit in units:
        runs = dict.fromkeys(_RUN.findall(unit.text))
        for run in runs:
            if run not in known:
                known[run] = _literal(run)
        found.append(tuple(dict.fromkeys([lit for run in runs if (lit := known[run])])))
    return found


def _literal(run: str) -> str | None:
    """The literal in a run of characters; None for a plain word."""
    word = run.strip(_EDGES) if run[0] != "." else run.rstrip(_EDGES)
    if len(word) < 2:
        return word if word.isdigit() else None
    if any(char in "0123456789_/@" for char in word):
        return word
    is_code = word.isupper() and len(word) >= _CODE_CHARS
    return word if is_code or "." in word or _CAMEL.search(word) else None


def weigh_literals(units: Sequence[Unit], literals: Sequence[Collection[str]]) -> dict[str, float]:
    """What each literal is worth: 1 for one seen once, just now, in a tool's output."""
    uses: dict[str, _Use] = {}
    end = 0
    shares = _literal_shares(units, literals)
    for unit, found in zip(units, literals, strict=True):
        end += unit.tokens
        for literal in found:
            use = uses.setdefault(literal, _Use())
            _note(use, unit, end)
            use.share = max(use.share, shares[unit.seq])
    return {literal: _value(literal, use, end) for literal, use in uses.items()}


def _literal_shares(units: Sequence[Unit], literals: Sequence[Collection[str]]) -> dict[int, float]:
    """By message: how much one of its literals is worth beside the only one of a message."""
    counts: Counter[int] = Counter()
    for unit, found in zip(units, literals, strict=True):
        counts[unit.seq] += len(found)
    return {seq: min(1.0, FEW / max(1, count)) ** CROWDED for seq, count in counts.items()}


def _note(use: _Use, unit: Unit, end: int) -> None:
    use.messages += use.last_seq != unit.seq
    use.last_seq, use.last_end = unit.seq, end
    if unit.kind == "talk":
        use.by_user |= unit.role == "user"
        use.by_assistant |= unit.role == "assistant"


def _value(literal: str, use: _Use, end: int) -> float:
    signs = (
        MENTIONS * math.log(use.messages)
        + SAID_BY_USER * use.by_user
        + SAID_BY_ASSISTANT * use.by_assistant
        - AGE * math.log1p((end - use.last_end) / AGE_TOKENS)
    )
    if "/" in literal or ("." in literal and not literal[0].isdigit()):
        signs += PATH
    if _NUMBER.fullmatch(literal):
        signs += NUMBER
    return use.share * math.exp(signs)
