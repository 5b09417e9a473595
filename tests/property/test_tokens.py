"""What always holds of counting: any text counts, pieces add up, messages add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.messages.values import Message, Text, ToolCall
from ctxcore.tokens.count import PRIMING_TOKENS, count_each, count_messages, counter_for
from ctxcore.tokens.estimate import FAMILIES, EstimatedCounter
from ctxcore.tokens.exact import VOCABULARIES, ExactCounter, VocabularyName
from ctxcore.tokens.families import TokenCounter

COUNTERS: list[TokenCounter] = [
    *map(ExactCounter, VOCABULARIES),
    *map(EstimatedCounter, FAMILIES),
]

any_text = st.text(st.characters(codec=None))  # lone surrogates and NUL too
# What the patterns treat apart, close together: blanks, line ends, slashes, marks, contractions.
BLANKS = [" ", "  ", "\n", "\r", "\r\n", "\t", "\u3000", "\x1c", "\x85"]
SIGNS = ["/", "//", "}\n//", ");", ".", "(", "_", "…", "'s", "'LL", "👩\u200d👧", "\x00"]
WORDS = ["a", "Word", "ÀB", "é", "e\u0301", "你好", "12", "1234"]
tricky = st.lists(st.sampled_from([*BLANKS, *SIGNS, *WORDS])).map("".join)


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.id)
@given(text=any_text)
@settings(deadline=None)  # the first count loads the vocabulary
def test_any_text_counts(counter: TokenCounter, text: str) -> None:
    tokens = counter.count(text)

    assert (tokens == 0) == (text == "")
    assert tokens <= 4 * len(text)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@given(text=tricky | any_text, piece_chars=st.integers(1, 12))
@settings(max_examples=300, deadline=None)
def test_pieces_of_a_text_take_what_the_text_takes(
    vocabulary: VocabularyName, text: str, piece_chars: int
) -> None:
    counter = ExactCounter(vocabulary)
    text = text.encode("utf-8", "replace").decode()

    cut = list(counter.pieces(text, piece_chars=piece_chars))

    assert "".join(cut) == text
    assert sum(map(counter.count, cut)) == counter.count(text)


@given(text=any_text, more=any_text)
@settings(deadline=None)
def test_a_longer_text_is_never_estimated_below_its_beginning(text: str, more: str) -> None:
    for family in FAMILIES:
        counter = EstimatedCounter(family)
        assert counter.count(text + more) >= counter.count(text)


messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=st.lists(st.builds(Text, text=any_text), max_size=2).map(tuple),
        calls=st.lists(
            st.builds(ToolCall, id=st.just("c"), name=any_text, arguments=any_text), max_size=2
        ).map(tuple),
        name=st.none() | any_text,
    ),
    max_size=6,
)


@given(history=messages)
@settings(deadline=None)
def test_a_conversation_takes_what_its_messages_take(history: list[Message]) -> None:
    counts = count_each(history, counter_for("gpt-4o"))

    assert all(tokens >= 4 for tokens in counts)
    assert count_messages(history, model="gpt-4o") == PRIMING_TOKENS + sum(counts)
