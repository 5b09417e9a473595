"""Owns what became of a fact in a context: said there, and how, or to be looked up, or lost.

Pure: it reads the context's account and texts. Where several hold, the plainest counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from ctxcore.assembly.context import Context
from ctxcore.facts.presence import is_present
from ctxcore.facts.values import Fact
from ctxcore.messages.shapes.reading import parse_messages

Fate = Literal["verbatim", "carried", "summarized", "recallable", "lost"]


def fate_of(
    fact: Fact, seqs: Collection[int], context: Context, *, is_recallable: bool = True
) -> Fate:
    """What became of `fact`, which the messages `seqs` say (numbers from 1, as an entry has them).

    `verbatim`: one of them is shown as it is, or shortened with the fact still in it. `carried` and
    `summarized`: the facts or the summary say it. `recallable`: one of them is stored and not
    shown. `lost`: there is nothing to look up, since no message of the history says it, or since
    nobody can search (`is_recallable`).
    """
    known = [context.verdict(seq - 1).verdict for seq in seqs if 0 < seq <= len(context.verdicts)]
    if "kept" in known or "recalled" in known:
        return "verbatim"
    if _says(_synthetic(context, "facts"), fact):
        return "carried"
    if _says(_synthetic(context, "summary"), fact):
        return "summarized"
    if "compressed" in known and _says(_sent(context), fact):
        return "verbatim"
    return "recallable" if known and is_recallable else "lost"


def _says(texts: Iterable[str], fact: Fact) -> bool:
    return any(is_present(fact, text) for text in texts)


def _synthetic(context: Context, kind: str) -> Iterable[str]:
    return (text.text for text in context.synthetic if text.kind == kind)


def _sent(context: Context) -> Iterable[str]:
    return (message.text for message in parse_messages(context.messages))
