"""Owns reading the reasons that the engine records, so that they can be told in any language.

A reason is a sentence of the library's own making with numbers in it; one that is not known here
is shown as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from ctxcore.compaction.triggers import NEW_SESSION
from ctxcore.policy.values import TaskType

_TRUNCATED = "; truncated instead"
_STILL_OVER = re.compile(rf"; still over \(.*\): {re.escape(NEW_SESSION)}$")
_NUMBER = r"[\d,]+"
_KNOWN = {
    "nothing": r"nothing may be folded",
    "not_smaller": rf"not smaller: (?P<before>{_NUMBER}) tokens before, (?P<after>{_NUMBER}) after",
    "little_gain": (
        rf"too little gain: (?P<before>{_NUMBER}) tokens before, (?P<after>{_NUMBER}) after"
    ),
    "stays": rf"at least (?P<tokens>{_NUMBER}) tokens stay",
    "no_summary": r"the summarizer gave no usable summary: (?P<problem>.+)",
    "no_summarizer": r"there is no summarizer",
    "short": rf"short: (?P<messages>\d+) messages, (?P<chars>{_NUMBER}) characters",
    "long": r"long: (?P<messages>\d+) messages",
    "limit": r"(?P<count>\d+) summaries in this session; (?P<most>\d+) are the limit",
    "fast": r"fast is preferred",
    "quality": r"quality is preferred",
    "scores": r"scores: truncate (?P<truncate>\S+), summarize (?P<summarize>\S+)",
    "few": r"(?P<messages>\d+) messages do not fit",
    **{f"task_{kind}": rf"task {kind}: (?P<evidence>.+)" for kind in get_args(TaskType)},
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _KNOWN.items()}

KINDS = tuple(_KNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A recorded reason, taken apart."""

    kind: str | None
    """One of `KINDS`; None where the text speaks for itself."""
    facts: dict[str, str]
    text: str
    was_truncated: bool
    """Whether a truncation took the place of what failed for this reason."""
    is_still_over: bool
    """Whether a rule asks again at once, so that only a new session helps."""


def parse_reason(recorded: str) -> Reason:
    """What a recorded reason says."""
    text, over = _STILL_OVER.subn("", recorded)
    was_truncated = text.endswith(_TRUNCATED)
    text = text.removesuffix(_TRUNCATED)
    for kind, pattern in _PATTERNS.items():
        if (found := pattern.fullmatch(text)) is not None:
            return Reason(
                kind=kind,
                facts=found.groupdict(),
                text=text,
                was_truncated=was_truncated,
                is_still_over=bool(over),
            )
    return Reason(
        kind=None, facts={}, text=text, was_truncated=was_truncated, is_still_over=bool(over)
    )


def parse_trigger(told: str) -> tuple[str, list[str]]:
    """The rule of a trigger told in one line, and the numbers it compared."""
    rule, _, rest = told.partition(": ")
    return rule.removesuffix(":").strip(), [one.split()[-1] for one in rest.split(", ") if one]
