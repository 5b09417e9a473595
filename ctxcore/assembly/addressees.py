"""Tells what people say to the model from what they say to each other.

Minutes of a meeting and exports of messengers are conversations in which no model takes part. What
people ask of each other there is talk, and no instruction or decision for the model that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ctxcore.assembly.history import HistoryView
from ctxcore.facts.ledger import Entry
from ctxcore.facts.speakers import names_model, speaker_of
from ctxcore.messages.values import Message

NAMED_SHARE: Final = 0.9
"""Of the model's messages; chosen: an application may have acknowledged some of what is said."""


def only_people_speak(messages: Iterable[Message]) -> bool:
    """Whether no model takes part: its messages begin with a person's name, or it has none.

    Without any, several have to speak: one alone may be waiting for the model.
    """
    said = [message for message in messages if message.text and message.role != "system"]
    answers = [message for message in said if message.role == "assistant"]
    if answers:
        speakers = [name for name in map(speaker_of, answers) if name and not names_model(name)]
        return len(speakers) >= NAMED_SHARE * len(answers)
    names = {speaker_of(message) for message in said if message.role == "user"} - {""}
    return len(names) > 1 and not any(map(names_model, names))


def told_to_model(
    view: HistoryView, entries: Sequence[Entry], messages: Iterable[Message]
) -> list[Entry]:
    """Returns the entries that the model is to follow, where `messages` are some of the history.

    Among people these are what was said without a name before it, rules that are clear, and those
    that a person says are rules.
    """
    if not entries or not only_people_speak(messages):
        return list(entries)
    return said_to_model(view, entries)


def said_to_model(view: HistoryView, entries: Sequence[Entry]) -> list[Entry]:
    """Returns those of `entries`, found where only people speak, that the model is to follow."""
    from ctxcore.facts.rules import is_clear_rule  # late: has many patterns

    rows = view.get({entry.seqs[-1] for entry in entries if entry.seqs[-1]})
    named = {row.seq for row in rows if speaker_of(row.message)}
    edits = view.rule_edits()
    return [
        entry
        for entry in entries
        if entry.seqs[-1] not in named or edits.is_added(entry.key) or is_clear_rule(entry.fact)
    ]


def without_rules_for_others(
    view: HistoryView, entries: Iterable[Entry], messages: Iterable[Message]
) -> list[Entry]:
    """Returns `entries` without the rules that people give each other; `messages` as above."""
    every = list(entries)
    rules = [entry for entry in every if entry.kind == "instruction"]
    told = {entry.key for entry in told_to_model(view, rules, messages)}
    return [entry for entry in every if entry.kind != "instruction" or entry.key in told]
