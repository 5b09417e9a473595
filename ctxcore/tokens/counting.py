"""Owns the ways in which source designs count tokens; their triggers compare what these say.

That a context fits is never theirs to say: the session model's own counter does that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Literal, TypeAlias, cast

from ctxcore.tokens.estimate import EstimatedCounter, Family
from ctxcore.tokens.exact import VOCABULARIES, ExactCounter
from ctxcore.tokens.families import TokenCounter, counter_id_of

Counting: TypeAlias = Literal[
    "model", "document", "estimate", "tiktoken", "chars/2", "chars/2.5", "litellm"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounter:
    """Counts as a document says: texts by `counter`, and a frame around each message."""

    counter: TokenCounter
    frame_tokens: int

    @property
    def id(self) -> str:
        """The rule's name, and the frame where there is one."""
        return f"rule:{self.counter.id}+{self.frame_tokens}"

    @property
    def is_exact(self) -> bool:
        """Never: no provider bills by it."""
        return False

    def count(self, text: str) -> int:
        """Tokens of `text` by the rule."""
        return self.counter.count(text)


@dataclass(frozen=True, slots=True)
class CharactersCounter:
    """So many characters are one token; a text that has any takes at least `least` tokens."""

    chars_per_token: float
    least: int = 0

    @property
    def id(self) -> str:
        """E.g. `chars/2.5`."""
        return f"chars/{self.chars_per_token:g}"

    @property
    def is_exact(self) -> bool:
        """Never."""
        return False

    def count(self, text: str) -> int:
        """Characters of `text` divided, the rest cut off; 0 for the empty text."""
        return max(self.least, int(len(text) / self.chars_per_token)) if text else 0


@dataclass(frozen=True, slots=True)
class LiteLLMCounter:
    """litellm's own counter, for who asks for it by name: its import takes seconds."""

    model: str

    @property
    def id(self) -> str:
        """`litellm:` and the model."""
        return f"litellm:{self.model}"

    @property
    def is_exact(self) -> bool:
        """Never: it answers for any name."""
        return False

    def count(self, text: str) -> int:
        """What litellm says `text` takes."""
        return _litellm_count()(model=self.model, text=text) if text else 0


@cache
def _litellm_count() -> Callable[..., int]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network
    litellm = import_module("litellm")  # by name: no layer below the gateway depends on it
    vars(litellm)["disable_hf_tokenizer_download"] = True  # the same for tokenizers
    return cast("Callable[..., int]", litellm.token_counter)


def counter_of_rule(counting: Counting, model: str | None) -> RuleCounter | None:
    """The counter that a policy's triggers use for `model`; None: the model's own."""
    match counting:
        case "model":
            return None
        case "document":  # 4 a message; the model's vocabulary, else cl100k_base, else characters
            return RuleCounter(counter=_of_document(model), frame_tokens=4)
        case "estimate":
            return RuleCounter(counter=EstimatedCounter(_family_of(model)), frame_tokens=4)
        case "tiktoken":
            return RuleCounter(counter=_tiktoken(model), frame_tokens=4)
        case "chars/2":
            return RuleCounter(counter=CharactersCounter(2), frame_tokens=4)
        case "chars/2.5":
            return RuleCounter(counter=CharactersCounter(2.5), frame_tokens=0)
        case "litellm":
            return RuleCounter(counter=LiteLLMCounter(model or "gpt-4o"), frame_tokens=4)


def _of_document(model: str | None) -> TokenCounter:
    counter = _tiktoken(model)
    return counter if counter.is_exact else CharactersCounter(2.5, least=1)


def _tiktoken(model: str | None) -> ExactCounter:
    """The vocabulary of `model` where it is one of OpenAI's, else cl100k_base."""
    counter_id = counter_id_of(model) if model else "cl100k_base"
    known = (vocabulary for vocabulary in VOCABULARIES if vocabulary == counter_id)
    return ExactCounter(next(known, "cl100k_base"))


def _family_of(model: str | None) -> Family:
    counter_id = counter_id_of(model)
    families: dict[str, Family] = {"o200k_base": "o200k", "cl100k_base": "cl100k"}
    return families.get(counter_id, cast("Family", counter_id.removeprefix("estimate:")))
