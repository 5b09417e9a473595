"""Cuts short excerpts out of texts: first lines, facts, and the text around a fact."""

from __future__ import annotations

from ctxcore.compaction.loss_report import message_text
from ctxcore.facts.values import Kind
from ctxcore.messages.values import Message

TITLE_CHARS = 80  # chosen: fits a table column

AROUND_CHARS = 200  # chosen: enough to recognize the place
AROUND_LINES = 2  # chosen, as above
_PLACES: frozenset[Kind] = frozenset({"path", "file_read", "file_changed", "change"})


def excerpt(text: str, chars: int = TITLE_CHARS) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: chars * 4].split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def passage(message: Message, fact: str) -> str:
    """The text of `message` around `fact`, or its beginning if it does not contain the fact."""
    text = message_text(message)
    at = text.casefold().find(fact.casefold())
    end = at + len(fact) if at >= 0 else 0
    before, after = text[: max(at, 0)], text[end:]
    text_around = f"{_last_lines(before)}{text[max(at, 0) : end]}{_first_lines(after)}"
    return text_around.strip("\n")


def short_fact(text: str, kind: Kind, chars: int) -> str:
    """A fact on one line; of a long path the end, which tells it from its neighbours."""
    if kind not in _PLACES or len(text) <= chars or "\n" in text:
        return excerpt(text, chars)
    return f"…{text[1 - chars :]}"


def _last_lines(text: str) -> str:
    near = "\n".join(text[-AROUND_CHARS:].split("\n")[-1 - AROUND_LINES :])
    return near if len(near) == len(text) else f"… {near}"


def _first_lines(text: str) -> str:
    near = "\n".join(text[:AROUND_CHARS].split("\n")[: 1 + AROUND_LINES])
    return near if len(near) == len(text) else f"{near} …"
