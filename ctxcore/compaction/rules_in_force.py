"""The standing instructions of a history: where they were said, what ended them, who says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.assembly.addressees import told_to_model
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.recall_hits import find_hits
from ctxcore.compaction.loss_report import message_text
from ctxcore.facts.finding import find_rules
from ctxcore.facts.ledger import Entry
from ctxcore.facts.presence import SearchedText
from ctxcore.facts.reading import sentences, statement_key
from ctxcore.facts.rule_edits import lays_down
from ctxcore.messages.values import text_message
from ctxcore.plain import Plain
from ctxcore.recalling.index_words import message_words
from ctxcore.tokens.families import TokenCounter

MOST_HITS: Final = 8  # messages; chosen: what a person looks through
MOST_OFFERED: Final = 12  # sentences; chosen, as above


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRule(Plain):
    """A standing instruction that was found; sequence numbers count from 1."""

    text: str
    seqs: tuple[int, ...]
    """The messages that said it, oldest first; 0 stands for before the first."""
    ended_by: int | None = None
    """The message that took it back or replaced it; None: it is in force."""
    replaced_by: str = ""
    """What that message laid down in its place, if anything."""
    is_said: bool | None = None
    """Whether the next call says it; None where it is not in force."""
    is_added: bool = False
    """Whether a person says that it is a rule."""
    is_for_others: bool = False
    """Whether people say it to each other, so that the model is not to follow it."""


def rules_in_force(view: HistoryView, context: Context) -> list[FoundRule]:
    """The rules of `view` that hold, as first given; `context` is that of the next call."""
    said = SearchedText("\n".join(message_text(group.message) for group in context.made_of))
    edits, standing = view.rule_edits(), view.standing()
    told = told_to_model(view, standing, (group.message for group in context.made_of))
    for_model = {entry.key for entry in told}
    return [
        FoundRule(
            text=entry.text,
            seqs=entry.seqs,
            is_said=said.says(entry.fact),
            is_added=edits.is_added(entry.key),
            is_for_others=entry.key not in for_model,
        )
        for entry in standing
    ]


def ended_rules(view: HistoryView) -> list[FoundRule]:
    """The rules that a later message took back or replaced, the last one first."""
    saying = (
        seq
        for seq, facts in view.facts()
        if seq and any(fact.kind == "instruction" for fact in facts)
    )
    return [
        rule
        for seq in sorted(saying, reverse=True)
        for rule in _gone(view.standing(until=seq - 1), view.standing(until=seq), seq)
    ]


def rule_candidates(view: HistoryView, seq: int) -> list[str]:
    """The sentences of message `seq` that are no rules yet, as `add_rule` takes them."""
    [row] = view.get([seq])
    facts = view.rule_edits().apply(seq, find_rules(row.message))
    said = (" ".join(sentence.text.split()) for sentence in sentences(row.message.text))
    return [
        text
        for text in dict.fromkeys(said)
        if (key := statement_key(text)) and not lays_down(facts, key)
    ]


def missed_rules(view: HistoryView, counter: TokenCounter, words: str) -> list[tuple[int, str]]:
    """Sentences with any of `words` that are no rules yet, each with its message, the best first.

    People and models said them; the output of a tool is no rule.
    """
    sought = _words(words)
    hits = find_hits(view, words, counter, limit=MOST_HITS) if sought else []
    return [
        (hit.seq, text)
        for hit in hits
        if hit.role != "tool"
        for text in rule_candidates(view, hit.seq)
        if not sought.isdisjoint(_words(text))
    ][:MOST_OFFERED]


def _words(text: str) -> set[str]:
    return set(message_words(text_message("user", text)).split())


def _gone(before: Sequence[Entry], after: Sequence[Entry], seq: int) -> Iterator[FoundRule]:
    """The rules that message `seq` ended."""
    still = {entry.text for entry in after}
    new = [entry.text for entry in after if entry.seqs[0] == seq]
    for entry in before:
        if entry.text not in still:
            yield FoundRule(
                text=entry.text,
                seqs=entry.seqs,
                ended_by=seq,
                replaced_by=new[0] if len(new) == 1 else "",
            )
