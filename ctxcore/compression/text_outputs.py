"""Owns how an output that is not JSON is made to fit: whole lines stay, gaps say how many are gone.

First what only a terminal or a browser needs goes; if that is not enough, the lines worth most per
token stay. A line too long for the budget is cut in its middle.
"""

from __future__ import annotations

import re
from typing import Final

from ctxcore.compression.kinds import Source
from ctxcore.compression.line_choice import choose_lines, render_lines
from ctxcore.compression.line_worth import line_worths
from ctxcore.compression.markers import ELISION, Elided, amount, cut_middle, total
from ctxcore.compression.target import Target, estimate_tokens

MAX_ROUNDS: Final = 12
WELL_USED: Final = 0.93  # of the budget; below it another round looks for more lines
LONGEST_SHARE: Final = 3  # of many lines, one takes at most a third of the budget
MARKER_TOKENS: Final = 20  # of a cut line, for what says how much is gone
CHARS_PER_TOKEN: Final = 16  # a text above this ratio is taken not to fit without being counted
SAMPLE_CHARS: Final = 1_000

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAG: Final = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)


def compress_text(source: Source, target: Target) -> tuple[str, Elided]:
    """The lines worth most within the budget, or the smallest marker there is."""
    lines, tags = clean_lines(source)
    cleaned = "\n".join(lines)
    if not cleaned.strip():
        return text_marker(source, target)
    may_fit = len(cleaned) <= target.max_tokens * CHARS_PER_TOKEN
    if may_fit and len(cleaned) < len(source.text) and target.fits(cleaned):
        return cleaned, total([("tags", tags)])
    worths = line_worths(lines, source.kind, target)
    best: tuple[str, Elided] | None = None
    room = float(target.max_tokens)
    for _ in range(MAX_ROUNDS):
        text, gone = _select(lines, worths, room)
        tokens = target.counter.count(text)
        fits = bool(gone) and tokens <= target.max_tokens
        if fits:
            best = text, total([("tags", tags), *gone])
        if best and (not fits or tokens >= target.max_tokens * WELL_USED):
            break
        ratio = target.max_tokens / max(1, tokens)
        room *= max(1.02, ratio * 0.98) if fits else min(0.95, ratio)
    return best or text_marker(source, target)


def _select(
    lines: list[str], worths: dict[int, float], room: float
) -> tuple[str, list[tuple[str, int]]]:
    """The lines worth most in about `room` tokens, and what is gone; nothing if none has room."""
    shown = {at: shorten_line(lines[at], room, len(lines)) for at in worths}
    kept = choose_lines(shown, worths, room, count=len(lines))
    if not kept:
        return "", []
    text = render_lines([(at, shown[at]) for at in kept], count=len(lines))
    cut = sum(len(lines[at]) - len(shown[at]) for at in kept)
    return text, [("lines", len(lines) - len(kept)), ("characters", cut)]


def clean_lines(source: Source) -> tuple[list[str], int]:
    """The lines of an output without what only a terminal or a browser needs; tags removed."""
    text, tags = source.text, 0
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if source.kind == "html":
        text, tags = _TAG.subn("\n", text)
        return [line for line in map(str.strip, text.splitlines()) if line], tags
    if "\r" in text:
        text = "\n".join(map(_last_overwrite, text.replace("\r\n", "\n").split("\n")))
    return [line.rstrip() for line in text.split("\n")], tags


def _last_overwrite(line: str) -> str:
    """What a terminal shows of a line that a progress bar wrote again and again."""
    return line.rstrip("\r").rpartition("\r")[2]


def shorten_line(line: str, room: float, count: int) -> str:
    """`line`, cut in its middle if it takes more than its share of `room` tokens."""
    sample = line[:SAMPLE_CHARS]
    most_tokens = max(2.0, room - MARKER_TOKENS) / min(LONGEST_SHARE, count)
    if len(line) <= most_tokens:
        return line
    most_chars = int(most_tokens * len(sample) / max(1, estimate_tokens(sample)))
    return line if len(line) <= most_chars else cut_middle(line, max(8, most_chars))


def compress_binary(source: Source, target: Target) -> tuple[str, Elided]:
    """One line that says what it is and how long; nothing of it says anything to a model."""
    return text_marker(source, target, what="binary or base64 data")


def text_marker(source: Source, target: Target, *, what: str = "") -> tuple[str, Elided]:
    """The whole output as one marker: as much of the description as fits."""
    count = len(source.text)
    chars = amount(count, "characters")
    texts = [
        f"[{ELISION} {what or source.kind}, {chars} left out {ELISION}]",
        f"[{ELISION} {chars} {ELISION}]",
        ELISION,
    ]
    return target.first_fitting(texts) or ELISION, (("characters", count),)
