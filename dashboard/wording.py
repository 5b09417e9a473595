"""Renders reasons, errors and names of the library in the page's language.

The text of a reason stands under `reason.` and its code; without one, the library's English is
used. A word that is a fact, e.g. a role, may have a text under `fact.`, the fact's name and the
word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ctxcore.compaction.plans import joined
from ctxcore.errors import ContextError
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import COUNTED_BY, Fact, Reason, TextCode, fill, shown
from dashboard.texts import about, has_text, language, t, text_of

_NO_KEY_CHARS = re.compile(r"[^a-z0-9]+")


class _Rendered(str):
    """Text that is rendered already; quoting it (`{name!r}`) adds no quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def reason_text(reason: Reason | None) -> str:
    """The text of a reason in the page's language; empty for None."""
    if reason is None:
        return ""
    facts = {name: _fact_text(name, fact) for name, fact in reason.facts.items()}
    text = text_of(f"reason.{reason.code}", language())
    if text is None:
        return str(Reason(reason.code, facts))
    rule = facts.get(COUNTED_BY)
    told = fill(text, facts)
    return told if rule is None else reason_text(TextCode.COUNTED_BY(text=told, rule=rule))


def reason_sentence(reason: Reason) -> str:
    """The same as a sentence; a file name at its beginning stays as it is."""
    text = reason_text(reason)
    return text if reason.code == PlaceCode.AT else text[:1].upper() + text[1:]


def error_text(error: ContextError) -> str:
    """The text of an error as a sentence."""
    return reason_sentence(error.reason)


def _fact_text(name: str, fact: Fact) -> Fact:
    """A fact as text, or unchanged if the template formats it."""
    if isinstance(fact, Reason):
        return _Rendered(reason_text(fact))
    if isinstance(fact, str):
        return name_text(f"fact.{name}", fact)
    if isinstance(fact, tuple):
        return _joined(_written_fact(name, part) for part in fact)
    return fact


def _written_fact(name: str, fact: Fact) -> str:
    return shown(_fact_text(name, fact))


def _joined(words: Iterable[str]) -> Fact:
    return _Rendered(about(language()).between_words.join(words))


def name_text(area: str, name: str) -> str:
    """The text of `area` for one of the library's names; the name itself if there is none."""
    key = f"{area}.{_NO_KEY_CHARS.sub('_', name.lower()).strip('_')}"
    return t(key) if name and has_text(key) else name


def strategy_label(*names: str) -> str:
    """The names of strategies in the page's language."""
    return joined([name_text("fact.strategy", name) for name in names])
