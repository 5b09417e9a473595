"""Owns what the conversations of one file are called: an id of their own and a line to show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import PurePath

from ctxcore.formats.values import Transcript
from ctxcore.messages.values import Message

_TITLE_CHARS = 80  # one line of a session list
_NOT_A_PROMPT = ("<", "Caveat:")  # what a program put into the user's mouth, not a person


def file_stem(name: str) -> str:
    """A file's name without folders and suffix."""
    return PurePath(name).stem or name


def prompt_texts(messages: Iterable[Message]) -> list[str]:
    """What users said, in order; words a program wrote for them left out."""
    texts = (message.text.strip() for message in messages if message.role == "user")
    return [text for text in texts if text and not text.startswith(_NOT_A_PROMPT)]


def title_of(texts: Iterable[str | None], *, otherwise: str) -> str:
    """The first line with words among `texts`, short enough for a list."""
    for text in texts:
        for line in (text or "").split("\n"):
            if words := " ".join(line.split()):
                return words if len(words) <= _TITLE_CHARS else f"{words[: _TITLE_CHARS - 1]}…"
    return otherwise


def with_unique_ids(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """`transcripts` with `#2`, `#3`, … behind ids that occurred before."""
    taken: set[str] = set()
    unique = []
    for transcript in transcripts:
        candidates = (f"{transcript.id}#{n}" if n > 1 else transcript.id for n in count(1))
        new_id = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(new_id)
        unique.append(replace(transcript, id=new_id))
    return unique
