"""Notes that stand for short messages: they say of a text what reading it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.assembly.history import Counted
from ctxcore.compaction.keeping import keep_blocks
from ctxcore.facts.finding import find_facts
from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.salience.ranking import Wishes
from ctxcore.salience.traits import (
    key_of,
    noted_key,
    noted_literals,
    noted_terms,
    noted_text,
    noted_traits,
    read_traits,
)
from ctxcore.salience.units import WHOLE_BYTES, WHOLE_TOKENS, split_message
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.lines import join_spans
from ctxcore.summarizers.notes import (
    dump_notes,
    noted_pieces,
    noted_stretches,
    stretches,
)
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.identifiers import exact_strings
from ctxcore.text.sentences import split_sentences
from ctxcore.text.words import all_terms_of, words_of
from ctxcore.tokens.count import count_message, counter_by_id, text_frame_tokens
from tests.histories import assistant, call, user

COUNTER = counter_by_id("estimate:o200k")
SENTENCES = (
    "The ferry to Naxos leaves on Friday at 7:40, and the ticket is FX-2207.",
    "Never book a seat without asking me first.",
    "Did you find the harbour that Eleni named?",
    "Which one? The harbour of Eleni, and the harbour again.",
    "You may forget the seats; we decided on the night boat instead.",
    "Yes.",
    "I walked along the old wall, past two lighthouses, and met Maria Kolonaki there.",
    "The log is in /var/log/ferry.log, ask ops@example.org for it.",
    "船票订好了吗？我们周五早上出发，不要再改时间了。",
    "结论是坐夜船，票价42欧元。",
)
LINES = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12).map(" ".join)
ROLES = st.sampled_from(["user", "assistant"])


def notes_of(message: Message) -> str:
    tokens = count_message(message, COUNTER)
    return dump_notes(message, find_facts(message), COUNTER, tokens=tokens) or ""


def row(seq: int, message: Message, *, noted: bool) -> Counted:
    tokens = count_message(message, COUNTER)
    notes = notes_of(message) if noted else ""
    return Counted(seq=seq, message=message, tokens=tokens, block=seq, notes=notes)


def summarize(messages: list[Message], outdated: tuple[str, ...], *, noted: bool) -> str:
    frame = text_frame_tokens(COUNTER) or 0
    request = SummaryRequest(messages=tuple(messages), max_tokens=250, outdated=outdated)
    if noted:
        sizes = [count_message(message, COUNTER) - frame for message in messages]
        pairs = zip(map(notes_of, messages), sizes, strict=True)
        request = replace(request, noted=tuple(pairs))
    return ExtractiveSummarizer(COUNTER).summarize(request)


@given(LINES, ROLES)
@settings(max_examples=200, deadline=None)
def test_a_note_says_what_the_text_says(text: str, role: str) -> None:
    message = text_message("user" if role == "user" else "assistant", text)
    notes = notes_of(message)
    if not notes:
        assert len(text) > 2 * WHOLE_BYTES
        return

    traits, noted = read_traits(text, is_by_model=role == "assistant"), noted_traits(notes)
    assert tuple(noted.told) == traits.told
    assert set(noted.asked) == set(traits.asked)
    assert noted[2:] == traits[2:]
    terms, again = noted_terms(notes)
    every = all_terms_of(words_of(text))
    assert terms == list(dict.fromkeys(every))
    assert Counter(terms + again) == Counter(every)
    assert noted_literals(notes) == exact_strings(text)
    assert noted_key(notes) == key_of(text)
    assert noted_text(notes).lays_down == lays_down_rule(text, message.role)


@given(LINES)
@settings(max_examples=200, deadline=None)
def test_a_note_has_the_stretches_that_may_be_quoted(text: str) -> None:
    message = user(text)
    notes = notes_of(message)
    if not notes:
        return
    spans = split_sentences(text)
    parts = [join_spans(spans, run) for run in stretches(spans, WHOLE_BYTES, is_output=False)]

    noted = noted_stretches(notes)

    assert [noted_key(note) for note in noted] == [key_of(part) for part in parts]
    assert [noted_text(note).lays_down for note in noted] == [
        lays_down_rule(part, "user") for part in parts
    ]
    if len(parts) > 1:
        assert [noted_text(note).size for note in noted] == [*map(COUNTER.count, parts)]
        assert sum(noted_text(note).sentences for note in noted) == len(spans)


@given(LINES, ROLES)
@settings(max_examples=200, deadline=None)
def test_the_notes_of_a_longer_message_have_its_pieces(text: str, role: str) -> None:
    message = text_message("user" if role == "user" else "assistant", text)
    notes = dump_notes(message, (), COUNTER, tokens=WHOLE_TOKENS + 1)
    if not notes:
        return
    units = split_message(message, seq=1, tokens=WHOLE_TOKENS + 1)

    noted = noted_pieces(notes)

    assert [noted_key(note) for note in noted] == [unit.key for unit in units]
    for note, unit in zip(noted, units, strict=True):
        traits, found = read_traits(unit.text, is_by_model=role == "assistant"), noted_traits(note)
        assert tuple(found.told) == traits.told
        assert set(found.asked) == set(traits.asked)
        assert found[2:] == traits[2:]
        assert noted_text(note).size in (0, len(unit.text.encode()))
        assert noted_literals(note) == exact_strings(unit.text)


def test_notes_without_pieces_stand_for_short_messages_alone() -> None:
    notes = dump_notes(user("The old wall. " * 30 + "Yes."), (), COUNTER, tokens=WHOLE_TOKENS)

    assert notes
    assert not noted_pieces(notes)


@pytest.mark.parametrize(
    "message",
    [
        user("Run this:\n```\nmake all\n```"),
        user("Two lines\nof text"),
        user("A list … with a gap"),
        user("[2026-03-01] It rained."),
        user(""),
        user("word " * 300),
        assistant("I look.", call("c1", q="x")),
        tool_result("c1", "It rained."),
        text_message("system", "Be brief."),
        replace(user("It rained."), name="ada"),
    ],
)
def test_other_messages_are_read(message: Message) -> None:
    assert dump_notes(message, (), COUNTER, tokens=1) is None


@given(st.lists(LINES, min_size=2, max_size=24), st.integers(0, 400), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_same_stays_with_notes_and_without(
    texts: list[str], room_tokens: int, wants: bool
) -> None:
    messages = [(user, assistant)[at % 2](text) for at, text in enumerate(texts)]
    wishes = Wishes("the harbour and the ticket") if wants else Wishes()

    def kept(*, noted: bool) -> object:
        blocks = [[row(seq, one, noted=noted)] for seq, one in enumerate(messages, start=1)]
        request = "Which ticket did Eleni name?"
        keeping, others = keep_blocks(blocks, room_tokens, COUNTER, request=request, wishes=wishes)
        return keeping.sizes, keeping.pieces, others

    assert kept(noted=True) == kept(noted=False)


@given(
    st.lists(LINES, min_size=2, max_size=24),
    st.lists(st.sampled_from(SENTENCES), max_size=3).map(tuple),
)
@settings(max_examples=100, deadline=None)
def test_the_same_is_quoted_with_notes_and_without(
    texts: list[str], outdated: tuple[str, ...]
) -> None:
    messages = [(user, assistant)[at % 2](text) for at, text in enumerate(texts)]

    quoted = summarize(messages, outdated, noted=True)

    assert quoted == summarize(messages, outdated, noted=False)
    assert not any(len(one) > 20 and one in quoted for one in outdated)
