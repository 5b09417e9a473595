"""Counts tokens by the rules of the source designs, for comparing with their triggers.

Whether a context fits is always decided by the counter of the session's model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, cast

from ctxcore.litellm_loading import load_litellm, require_litellm
from ctxcore.tokens.estimate import EstimatedCounter, Family
from ctxcore.tokens.exact import VOCABULARIES, ExactCounter
from ctxcore.tokens.families import CountingRule, TokenCounter, counter_id_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounter:
    """Counts by the rule of a design: texts by `counter`, and a frame around each message."""

    counter: TokenCounter
    frame_tokens: int
    is_exact: ClassVar[bool] = False

    @property
    def id(self) -> str:
        """The id of the counter, and the tokens of the frame."""
        return f"rule:{self.counter.id}+{self.frame_tokens}"

    def count(self, text: str) -> int:
        """Tokens of `text` by the rule."""
        return self.counter.count(text)


@dataclass(frozen=True, slots=True)
class _CharactersCounter:
    """Counts characters divided by `chars_per_token`, rounded down, at least `least` for a text."""

    chars_per_token: float
    least: int = 0
    is_exact: ClassVar[bool] = False

    @property
    def id(self) -> str:
        return f"chars/{self.chars_per_token:g}"

    def count(self, text: str) -> int:
        return max(self.least, int(len(text) / self.chars_per_token)) if text else 0


@dataclass(frozen=True, slots=True)
class _LiteLLMCounter:
    """Counts with litellm, whose import takes seconds."""

    model: str
    is_exact: ClassVar[bool] = False

    @property
    def id(self) -> str:
        return f"litellm:{self.model}"

    def count(self, text: str) -> int:
        return _litellm_count()(model=self.model, text=text) if text else 0


@cache
def _litellm_count() -> Callable[..., int]:
    return cast("Callable[..., int]", load_litellm().token_counter)


def rule_counter(counting: CountingRule, model: str | None) -> RuleCounter | None:
    """The counter that a policy's triggers use for `model`; None: the model's own.

    Raises:
        ConfigurationError: it counts with litellm, which is not installed.
    """
    counter: TokenCounter
    match counting:
        case "model":
            return None
        case "document":  # the model's vocabulary, else cl100k_base, else characters
            counter = _tiktoken(model)
            counter = counter if counter.is_exact else _CharactersCounter(2.5, least=1)
        case "estimate":
            counter = _estimator(model)
        case "tiktoken":
            counter = _tiktoken(model)
        case "chars/2":
            counter = _CharactersCounter(2)
        case "chars/2.5":
            counter = _CharactersCounter(2.5)
        case "litellm":
            require_litellm()
            counter = _LiteLLMCounter(model or "gpt-4o")
    return RuleCounter(counter=counter, frame_tokens=0 if counting == "chars/2.5" else 4)


def _tiktoken(model: str | None) -> ExactCounter:
    """The vocabulary of `model` where it is one of OpenAI's, else cl100k_base."""
    is_o200k = bool(model) and counter_id_of(model) == "o200k_base"
    return ExactCounter("o200k_base" if is_o200k else "cl100k_base")


def _estimator(model: str | None) -> EstimatedCounter:
    counter_id = counter_id_of(model)
    own = next((name for name in VOCABULARIES if name == counter_id), None)
    if own is not None:
        return ExactCounter(own).estimator
    return EstimatedCounter(cast("Family", counter_id.removeprefix("estimate:")))
