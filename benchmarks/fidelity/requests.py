"""Measure 1, with the live request: what the question needs is searched for, not guessed.

`then`: the conversation is compacted without the question, as it stands between two turns; then the
question is asked, and its context built. `ev`: it is compacted with the question as its last
message, as before a call. Beside us the methods that read the question: BM25 over all messages, and
what is installed, a kept memory of another library among it; these search the whole conversation
anew, so that a question later or now is the same to them. Methods that do not read it are those of
the tables above.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from statistics import fmean

from benchmarks.fidelity.evidence import BUDGETS
from benchmarks.fidelity.memories import LLAMA_MEMORY
from benchmarks.fidelity.methods import Folded, Method, chosen, is_over
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.said import Said, content_words
from benchmarks.fidelity.tables import OVER, Column, Table
from benchmarks.fidelity.talks import MODEL, Question, Talk, talk_of, words_of
from benchmarks.policies import preset_for_input
from ctxcore import BudgetError, CompactionState, compact, fit
from ctxcore.messages.values import JsonObject

QUESTIONS_PER_LIMIT = 6
READ_THE_REQUEST = ("litellm compress", LLAMA_MEMORY)
K1, B = 1.2, 0.75  # Okapi's usual constants

Asked = tuple[Talk, Question]


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """A table for each file, over a sample of its questions."""
    asked = [
        (t, q) for t in talks if t.total_tokens > BUDGETS[0] for q in t.questions if q.evidence
    ]
    readers = [m for m in methods if m.is_ours or m.name in READ_THE_REQUEST]
    readers.append(Method(name="BM25 with the question", fold=_ranked))
    for file, found in groupby(asked, key=lambda pair: pair[0].file):
        yield _of_file(file, list(found), readers, limit * QUESTIONS_PER_LIMIT)


def _of_file(file: str, asked: Sequence[Asked], methods: Sequence[Method], most: int) -> Table:
    columns = [Column(name=f"{k} {b // 1000}k") for b in BUDGETS for k in ("then", "ev")]
    columns.append(Column(name=OVER, best="none"))
    table = Table(title=f"1 · With the live request: {file}", columns=columns, harms=[OVER])
    taken = sampled(asked, most)
    table.notes.append(f"{len(taken)} of {len(asked)} questions, each asked as the next message")
    for number, (talk, question) in enumerate(taken):
        tell(f"live request: {file} {number + 1} of {len(taken)}")
        for budget in (b for b in BUDGETS if b < talk.total_tokens):
            for method in methods:
                _add(table, method, budget, talk, question)
    return table


def _add(table: Table, method: Method, budget: int, talk: Talk, question: Question) -> None:
    request: JsonObject = {"role": "user", "content": question.question}
    asking = talk_of([*talk.messages, request], id=talk.id)
    folded = {"ev": method.fold(asking, budget)}
    if method.is_ours:
        folded["then"] = _asked_later(talk, asking, method.name, budget)
    else:
        folded["then"] = folded["ev"]
    for kind, context in folded.items():
        said = Said(context or ())
        kept = fmean(said.has(words_of(talk.messages[at])) for at in question.evidence)
        table.add(method, f"{kind} {budget // 1000}k", [kept])
        table.add(method, OVER, [float(is_over(context, budget))])


def _asked_later(talk: Talk, asking: Talk, preset: str, budget: int) -> Folded:
    state = _state(talk, preset, budget)
    policy = preset_for_input(preset)
    try:
        return fit(
            asking.messages, policy=policy, max_tokens=budget, model=MODEL, state=state
        ).messages
    except BudgetError:
        return None


@lru_cache(maxsize=64)
def _state(talk: Talk, preset: str, budget: int) -> CompactionState | None:
    policy = preset_for_input(preset)
    try:
        result = compact(talk.messages, policy=policy, max_tokens=budget, model=MODEL, force=True)
    except BudgetError:
        return None
    return result.state


def _ranked(talk: Talk, budget: int) -> Folded:
    """The last message, and the rest by BM25 with it."""
    last = len(talk.messages) - 1
    order = bm25_ranks(talk.until(last), words_of(talk.messages[-1]))
    return chosen(talk, [last, *order], budget)


def bm25_ranks(talk: Talk, query: str) -> list[int]:
    """The messages by BM25 with `query`, the best first, the newer first among equals."""
    scores = _bm25(talk.messages, query)
    return sorted(range(len(scores)), key=lambda at: (-scores[at], -at))


def _bm25(messages: Sequence[JsonObject], query: str) -> list[float]:
    bags = [_bag(words_of(message)) for message in messages]
    mean = fmean(sum(bag.values()) for bag in bags) or 1.0
    terms = sorted(content_words(query))
    found = {term: sum(term in bag for bag in bags) for term in terms}
    size = len(bags)
    weights = {term: math.log(1 + (size - n + 0.5) / (n + 0.5)) for term, n in found.items()}
    return [
        sum(weights[term] * _gain(bag[term], sum(bag.values()) / mean) for term in terms)
        for bag in bags
    ]


def _gain(times: int, length: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length))


@lru_cache(maxsize=20_000)
def _bag(words: str) -> Mapping[str, int]:
    return Counter(content_words(words))
