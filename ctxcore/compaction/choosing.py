"""Owns the choice between truncating and summarizing: gates first, then scores.

Pure numbers in, a choice with its reason out. Source: the `truncate-or-summarize` design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ctxcore.assembly.states import CompactionState
from ctxcore.policy.values import Preference
from ctxcore.reasons.codes import ChoiceCode
from ctxcore.reasons.values import Reason

Method = Literal["truncate", "summarize"]
Level = Literal["minimal", "balanced", "detailed", "complete"]

_FEW_MESSAGES = 10
_FEW_CHARS = 2_000
_MANY_MESSAGES = 30
_LONG_MESSAGES = 50
_LONG_CHARS = 10_000
_FREE_TRUNCATIONS = 5  # more only lower the score, a truncation is never refused
_FREE_SUMMARIES = 3
_WEIGHTS: Mapping[Preference, Mapping[Method, float]] = {
    "fast": {"truncate": 0.8, "summarize": 0.2},
    "balanced": {"truncate": 0.5, "summarize": 0.5},
    "quality": {"truncate": 0.2, "summarize": 0.8},
}
_LEVELS: tuple[tuple[float, Level], ...] = (
    (0.10, "minimal"),
    (0.15, "balanced"),
    (0.25, "detailed"),
    (0.40, "complete"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What was done in a session so far; a use is one recorded action."""

    summaries: int = 0
    truncations: int = 0
    has_summarizer: bool = True

    @classmethod
    def of(cls, state: CompactionState, *, has_summarizer: bool) -> Uses:
        """What a state knows of it."""
        return cls(
            summaries=state.summaries,
            truncations=state.truncations,
            has_summarizer=has_summarizer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to do with what does not stay, and why."""

    method: Method
    reason: Reason


def choose(
    *, messages: int, chars: int, uses: Uses, preference: Preference, max_summaries: int | None
) -> Choice:
    """Whether to truncate or to summarize a conversation of so many messages and characters."""
    if not uses.has_summarizer:
        return Choice(method="truncate", reason=ChoiceCode.NO_SUMMARIZER())
    if messages < _FEW_MESSAGES or chars < _FEW_CHARS:
        reason = ChoiceCode.SHORT(messages=messages, chars=chars)
        return Choice(method="truncate", reason=reason)
    if max_summaries is not None and uses.summaries >= max_summaries:
        reason = ChoiceCode.LIMIT(count=uses.summaries, most=max_summaries)
        return Choice(method="truncate", reason=reason)
    if preference == "fast":
        return Choice(method="truncate", reason=ChoiceCode.FAST())
    if messages > _MANY_MESSAGES:
        return Choice(method="summarize", reason=ChoiceCode.LONG(messages=messages))
    if preference == "quality":
        return Choice(method="summarize", reason=ChoiceCode.QUALITY())
    return _by_score(messages, chars, uses, preference)


def scores(
    *, messages: int, chars: int, uses: Uses, preference: Preference
) -> Mapping[Method, float]:
    """What each method scores, weighted by the preference."""
    weights = _WEIGHTS[preference]
    return {
        "truncate": _truncate_score(messages, chars, uses) * weights["truncate"],
        "summarize": _summarize_score(messages, chars, uses) * weights["summarize"],
    }


def _by_score(messages: int, chars: int, uses: Uses, preference: Preference) -> Choice:
    scored = scores(messages=messages, chars=chars, uses=uses, preference=preference)
    truncate, summarize = scored["truncate"], scored["summarize"]
    method: Method = "summarize" if summarize > truncate else "truncate"
    reason = ChoiceCode.SCORES(truncate=truncate, summarize=summarize)
    return Choice(method=method, reason=reason)


def _truncate_score(messages: int, chars: int, uses: Uses) -> int:
    score = 20
    score += 30 if messages <= _LONG_MESSAGES else 0
    score += 30 if chars <= _LONG_CHARS else 0
    return score + (20 if uses.truncations < _FREE_TRUNCATIONS else 0)


def _summarize_score(messages: int, chars: int, uses: Uses) -> int:
    score = 20
    score += 30 if messages >= _FEW_MESSAGES else 0
    score += 30 if chars >= _FEW_CHARS else 0
    return score + (20 if uses.summaries < _FREE_SUMMARIES else -50)


def level_of(ratio: float) -> Level:
    """What a summary of this share of its source is called: the nearest named level."""
    return min(_LEVELS, key=lambda level: abs(level[0] - ratio))[1]
