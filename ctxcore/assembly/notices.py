"""What a caller is told about a state that was passed with other messages than before.

A notice is a code with its facts; its text is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NoticeCode = Literal[
    "front_missing",
    "messages_missing",
    "context_read_back",
    "summary_read_back",
    "summary_found",
    "rebuilt",
    "mark_dropped",
    "shortening_dropped",
    "prefix_changed",
]

_TEXTS: Mapping[NoticeCode, str] = {
    "front_missing": "{messages} covered messages are no longer at the front of the list; "
    "the summary stands for them",
    "messages_missing": "{messages} messages behind the covered part are no longer in the list; "
    "nothing stands for them",
    "context_read_back": "the list begins with the context that was sent before; it is continued",
    "summary_read_back": "the list holds the summary of the state in place of what it covers; "
    "it is continued",
    "summary_found": "the list holds a summary or facts of an earlier context; they are continued",
    "rebuilt": "message {at} is not the one that the state covers; its summary is left out, "
    "and what is passed is compacted anew",
    "mark_dropped": "the mark on message {at} is dropped: that message changed or is gone",
    "shortening_dropped": "message {at} changed or is gone; its short text is dropped",
    "prefix_changed": "{part} changed since the last call; the prompt cache breaks there",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing a caller should know; `str()` says it in a sentence."""

    code: NoticeCode
    facts: Mapping[str, int | str] = field(default_factory=dict)
    """What the sentence names: `at`, a place from 0, `messages`, a number, `part`, a name."""

    def __str__(self) -> str:
        return _TEXTS[self.code].format(**self.facts)
