"""The methods to bring a conversation under a budget that need only this project.

A way is a function of the conversation and a budget in tokens, system messages included, to the
messages that would be sent; None where it finds that what must be kept does not fit.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

from benchmarks.fidelity.said import content_words, sentences
from benchmarks.fidelity.talks import MODEL, Talk, count, words_of
from benchmarks.policies import preset_for_input
from ctxcore import BudgetError, Policy, compact, count_messages
from ctxcore.messages.values import JsonObject

Folded: TypeAlias = list[JsonObject] | None
Fold: TypeAlias = Callable[[Talk, int], Folded]

SEED = 7
IDF_SHARE = 0.7  # of a message's rare words that stay when its weak sentences go
SLACK = 0.01
"""Of the budget: the frame of a tool result whose call is left out is not counted alike."""
_FRAME_TOKENS = 3  # of the request, as OpenAI counts it


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way with its name."""

    name: str
    fold: Fold
    is_ours: bool = False
    is_slow: bool = False
    """Whether its time grows with the square of the length: left out where many folds are made."""


def own_methods() -> list[Method]:
    """Our presets, `default` first, each asked to compact now and to fill the budget."""
    return [
        Method(name=name, fold=partial(_compacted, preset_for_input(name)), is_ours=True)
        for name in Policy.presets()
    ]


def plain_methods() -> list[Method]:
    """Windows and rankings that anybody writes in an afternoon."""
    return [
        Method(name="last N messages", fold=_last),
        Method(name="last N blocks, legal", fold=_last_blocks),
        Method(name="head + tail", fold=_head_and_tail),
        Method(name="random", fold=_random),
        Method(name="rare words per token", fold=_dense),
        Method(name="rare words, weak sentences out", fold=_dense_sentences),
    ]


def chosen(talk: Talk, order: Iterable[int], budget_tokens: int, *, stops: bool = False) -> Folded:
    """The system messages and those of `order` that fit, in the order of the conversation.

    With `stops` the first one that does not fit ends it.
    """
    kept = set(talk.system)
    left = budget_tokens - talk.system_tokens - _FRAME_TOKENS
    for at in order:
        if at in kept:
            continue
        if talk.tokens[at] <= left:
            kept.add(at)
            left -= talk.tokens[at]
        elif stops:
            break
    return [talk.messages[at] for at in sorted(kept)]


def is_over(folded: Folded, budget_tokens: int) -> bool:
    """Whether it takes more than the budget, or nothing could be sent."""
    if folded is None:
        return True
    return count_messages(folded, model=MODEL) > budget_tokens * (1 + SLACK)


def _compacted(policy: Policy, talk: Talk, budget_tokens: int) -> Folded:
    try:
        result = compact(
            talk.messages,
            policy=policy,
            max_tokens=budget_tokens,
            target_tokens=budget_tokens,
            model=MODEL,
            force=True,
        )
    except BudgetError:
        return None
    return result.context.messages


def _last(talk: Talk, budget_tokens: int) -> Folded:
    return chosen(talk, range(len(talk.messages) - 1, -1, -1), budget_tokens, stops=True)


def _last_blocks(talk: Talk, budget_tokens: int) -> Folded:
    """The newest whole blocks, and before them a user message to begin with."""
    system = talk.system
    said = [at for at in range(len(talk.messages)) if talk.messages[at]["role"] != "system"]
    asked = [at for at in said if talk.messages[at]["role"] == "user"]
    left = budget_tokens - talk.system_tokens - _FRAME_TOKENS
    best: list[int] = []
    for place in range(len(said) - 1, -1, -1):
        start = said[place]
        left -= talk.tokens[start]
        first = asked[max(0, bisect_right(asked, start) - 1)] if asked else start
        if left < (talk.tokens[first] if first < start else 0):
            break
        if talk.messages[start]["role"] != "tool":
            best = [*([first] if first < start else ()), *said[place:]]
    return [talk.messages[at] for at in (*system, *best)]


def _head_and_tail(talk: Talk, budget_tokens: int) -> Folded:
    room = budget_tokens - talk.system_tokens - _FRAME_TOKENS
    head, taken = [], 0
    for at, tokens in enumerate(talk.tokens):
        taken += 0 if at in talk.system else tokens
        if taken > room / 2:
            break
        head.append(at)
    tail = range(len(talk.messages) - 1, len(head) - 1, -1)
    return chosen(talk, [*head, *tail], budget_tokens, stops=True)


def _random(talk: Talk, budget_tokens: int) -> Folded:
    order = list(range(len(talk.messages)))
    random.Random(SEED).shuffle(order)
    return chosen(talk, order, budget_tokens)


def _dense(talk: Talk, budget_tokens: int) -> Folded:
    return chosen(talk, _by_density(talk), budget_tokens)


def _dense_sentences(talk: Talk, budget_tokens: int) -> Folded:
    return _dense(_without_weak_sentences(talk), budget_tokens)


@lru_cache(maxsize=8)
def _by_density(talk: Talk) -> Sequence[int]:
    weights = _idf(talk)
    rates = [
        sum(weights.get(word, 0.0) for word in sorted(content_words(words_of(message)))) / tokens
        for message, tokens in zip(talk.messages, talk.tokens, strict=True)
    ]
    return sorted(range(len(rates)), key=lambda at: (-rates[at], -at))


def _idf(talk: Talk) -> dict[str, float]:
    counts = Counter(word for m in talk.messages for word in content_words(words_of(m)))
    return {word: math.log(len(talk.messages) / found) for word, found in counts.items()}


@lru_cache(maxsize=8)
def _without_weak_sentences(talk: Talk) -> Talk:
    weights = _idf(talk)
    messages = tuple(_strong(message, weights) for message in talk.messages)
    return Talk(
        id=talk.id,
        file=talk.file,
        messages=messages,
        tokens=tuple(count(message) for message in messages),
    )


def _strong(message: JsonObject, weights: dict[str, float]) -> JsonObject:
    content = message.get("content")
    if not isinstance(content, str) or message["role"] == "system":
        return message
    parts = sentences(content)
    masses = [sum(weights.get(w, 0.0) for w in sorted(content_words(part))) for part in parts]
    order = sorted(range(len(parts)), key=lambda at: -masses[at] / max(1, len(parts[at])))
    kept: list[int] = []
    mass = 0.0
    for at in order:
        if kept and mass >= IDF_SHARE * sum(masses):
            break
        kept.append(at)
        mass += masses[at]
    return {**message, "content": " ".join(parts[at].strip() for at in sorted(kept)) or content}
