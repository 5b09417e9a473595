"""Owns the records of a collection that stand out: those the query names, those with errors.

They are lifted out of their table as whole objects, so that they keep all their members while the
other rows lose columns. Relevance is a cliff, not a quota: only records near the best one count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.compression.table import Table
from ctxcore.compression.target import terms_of
from ctxcore.compression.tree import Branch, Node
from ctxcore.compression.worth import has_error

LEAST_RECORDS: Final = 6  # fewer records fit or shrink well enough without a focus
CLIFF: Final = 0.7
GREATEST_SHARE: Final = 6  # at most every sixth record stands out, else none does
FOCUS_FACTOR: Final = 8.0


def focus(tree: Node, terms: frozenset[str]) -> None:
    """Make what stands out in each collection of `tree` worth more."""
    for node in _containers(tree):
        if isinstance(node, Table) and len(node.rows) > LEAST_RECORDS:
            chosen = standing_out([_text_of(row) for row in node.rows], terms)
            if chosen:
                _scale(node.lift(chosen), FOCUS_FACTOR)
        elif isinstance(node, Branch) and node.keys is None:
            _focus_list(node, terms)


def standing_out(texts: Sequence[str], terms: frozenset[str]) -> list[int]:
    """Which of the records stand out, in order; none if too many would."""
    if len(texts) <= LEAST_RECORDS:
        return []
    most = max(1, len(texts) // GREATEST_SHARE)
    named = _near_the_best(relevance(texts, terms))
    failed = [at for at, text in enumerate(texts) if has_error(text)]
    chosen = {at for group in (named, failed) if len(group) <= most for at in group}
    return sorted(chosen)


def relevance(texts: Sequence[str], terms: frozenset[str]) -> list[float]:
    """For each record the sum of how rare the terms are that it shares with the query."""
    if not terms:
        return [0.0] * len(texts)
    shared = [terms & terms_of(text) for text in texts]
    seen_in = Counter(term for found in shared for term in found)
    rarity = {term: math.log(len(texts) / count) for term, count in seen_in.items()}
    return [math.fsum(rarity[term] for term in found) for found in shared]


def _near_the_best(scores: list[float]) -> list[int]:
    best = max(scores, default=0.0)
    return [at for at, score in enumerate(scores) if best > 0 and score >= best * CLIFF]


def _focus_list(branch: Branch, terms: frozenset[str]) -> None:
    if len(branch.children) <= LEAST_RECORDS:
        return
    for at in standing_out([_text_of([child]) for child in branch.children], terms):
        _scale(branch.children[at], FOCUS_FACTOR)


def _text_of(nodes: Sequence[Node]) -> str:
    values = (leaf.value for node in nodes for leaf in node.leaves())
    return " ".join(str(value) for value in values if value not in (None, ""))


def _scale(node: Node, factor: float) -> None:
    for leaf in node.leaves():
        leaf.scale(factor)


def _containers(node: Node) -> Iterator[Node]:
    """Every container, outer ones first, as it is when its turn comes."""
    yield node
    match node:
        case Branch():
            children: list[Node] = list(node.children)
        case Table():
            around: list[Node | None] = [node.constants, node.matches]
            cells = (cell for row in node.rows for cell in row)
            children = [*(part for part in around if part is not None), *cells]
        case _:
            return
    for child in children:
        if not child.is_leaf:
            yield from _containers(child)
