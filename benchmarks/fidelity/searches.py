"""Measure 1, by the tool: how much of the evidence is among the first hits of a search?

`R@k` is the share of a question's evidence messages in the first k hits of `recall`, each with the
passage around it. Peers rank single messages; they get as many tokens as those hits take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from statistics import fmean
from typing import Final, TypeAlias

from benchmarks.fidelity.memories import LLAMA_MEMORY, has_llama_index, llama_ranks
from benchmarks.fidelity.methods import Method
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.requests import QUESTIONS_PER_LIMIT, bm25_ranks
from benchmarks.fidelity.tables import Column, Table
from benchmarks.fidelity.talks import MODEL, Question, Talk
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.recall_hits import find_hits
from ctxcore.messages.openai import parse_message
from ctxcore.tokens.count import counter_for

HITS: Final = (1, 5, 10)
Ranks: TypeAlias = Callable[[Talk, str], Sequence[int]]


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """A table for each file with evidence."""
    asked = [(talk, q) for talk in talks for q in talk.questions if q.evidence]
    peers: dict[str, Ranks] = {"BM25, the same tokens": bm25_ranks}
    if any(method.name == LLAMA_MEMORY for method in methods) and has_llama_index():
        peers["LlamaIndex BM25, the same tokens"] = llama_ranks
    for file, found in groupby(asked, key=lambda pair: pair[0].file):
        yield _of_file(file, sampled(list(found), QUESTIONS_PER_LIMIT * limit), peers)


def _of_file(
    file: str, asked: Sequence[tuple[Talk, Question]], peers: Mapping[str, Ranks]
) -> Table:
    columns = [
        *(Column(name=f"R@{k}") for k in HITS),
        *(Column(name=f"tokens@{k}", best="none", digits=0) for k in HITS),
    ]
    table = Table(title=f"1 · Searching for the evidence: {file}", columns=columns)
    table.notes.append(f"{len(asked)} questions")
    rows = {"recall": True, **dict.fromkeys(peers, False)}
    methods = {
        name: Method(name=name, fold=lambda talk, budget: None, is_ours=is_ours)
        for name, is_ours in rows.items()
    }
    for talk, question in asked:
        tell(f"search: {talk.id}")
        passages = _passages(talk, question.question)
        for k in HITS:
            shown = {at for passage in passages[:k] for at in passage}
            size = sum(talk.tokens[at] for at in shown)
            _add(table, methods["recall"], k, question, shown, size)
            for name, ranks in peers.items():
                same = _first(talk, ranks(talk, question.question), size)
                taken = sum(talk.tokens[at] for at in same)
                _add(table, methods[name], k, question, same, taken)
    return table


def _add(
    table: Table, method: Method, k: int, question: Question, shown: set[int], size: int
) -> None:
    table.add(method, f"R@{k}", [fmean(at in shown for at in question.evidence)])
    table.add(method, f"tokens@{k}", [size])


def _passages(talk: Talk, query: str) -> list[list[int]]:
    """The places of the messages of each hit."""
    hits = find_hits(_history(talk), query, counter_for(MODEL), limit=max(HITS))
    return [[one.seq - 1 for one in (*hit.before, hit, *hit.after)] for hit in hits]


@lru_cache(maxsize=2)
def _history(talk: Talk) -> ListHistory:
    return ListHistory(map(parse_message, talk.messages), counter_for(MODEL))


def _first(talk: Talk, order: Sequence[int], tokens: int) -> set[int]:
    """The best of `order` that take `tokens` together; what does not fit is passed over."""
    taken: set[int] = set()
    for at in order:
        if talk.tokens[at] <= tokens:
            tokens -= talk.tokens[at]
            taken.add(at)
    return taken
