"""Sentences of a summary that nothing supports are found; what is said in other words is not."""

from __future__ import annotations

import pytest

from ctxcore.compaction.claims import problem_of, with_sentences
from ctxcore.compaction.lineage import SummarySources, lineage_of
from ctxcore.messages.values import text_message
from ctxcore.summarizers.support import (
    SentenceProblem,
    SummaryCheck,
    Unsupported,
    UnsupportedSentence,
)
from tests.claims import CONVERSATIONS, Conversation


def sources(conversation: Conversation) -> SummarySources:
    return SummarySources.of(conversation.messages, range(1, len(conversation.said) + 1))


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.said[0][1][:24])
def test_what_follows_in_other_words_is_left_alone(conversation: Conversation) -> None:
    known = sources(conversation)

    assert [text for text in conversation.follows if problem_of(text, known)] == []


def test_four_in_five_sentences_that_nobody_said_are_found() -> None:
    made_up = [(text, sources(one)) for one in CONVERSATIONS for text in one.made_up]

    found = [text for text, known in made_up if problem_of(text, known)]

    assert len(made_up) == 40
    assert len(found) >= 32


def test_what_follows_has_its_messages() -> None:
    follows = [(text, sources(one)) for one in CONVERSATIONS for text in one.follows]

    traced = [text for text, known in follows if known.match(text).sources]

    assert len(traced) >= 0.95 * len(follows)


@pytest.mark.parametrize(
    ("said", "claimed", "problem"),
    [
        ("Please book the table.", "The table was booked.", SentenceProblem.UNREPORTED),
        ("I booked the table.", "The table was booked.", None),
        ("The branch is not merged yet.", "The branch was merged.", SentenceProblem.UNREPORTED),
        ("Merged the branch into main.", "The branch was merged.", None),
        ("请把方案部署到服务器。", "方案已经部署到服务器。", SentenceProblem.UNREPORTED),
        ("方案部署到服务器了。", "方案已经部署到服务器。", None),
        ("Don't use Redis for sessions.", "Use Redis for sessions.", SentenceProblem.REVERSED),
        ("Use Redis, not Memcached.", "Use Redis, avoid Memcached.", None),
        ("She eats walnuts and rye.", "She never eats walnuts and rye.", SentenceProblem.REVERSED),
    ],
)
def test_results_and_denials_are_compared(
    said: str, claimed: str, problem: SentenceProblem | None
) -> None:
    known = SummarySources.of([text_message("user", said)], [1])

    assert problem_of(claimed, known) == problem


def test_a_sentence_that_names_what_its_source_lacks_says_what() -> None:
    known = SummarySources.of([text_message("user", "We meet in the old harbour.")], [1])
    check = SummaryCheck(named=1, unsupported=(Unsupported("name", "Lisbon"),))

    found = with_sentences(check, "We meet in the old harbour of Lisbon.\nOpen:", known)

    assert found.sentences == (
        UnsupportedSentence(
            text="We meet in the old harbour of Lisbon.",
            problem=SentenceProblem.NAMED,
            items=("Lisbon",),
        ),
    )
    assert found.to_dict()["sentences"] == [
        {"text": "We meet in the old harbour of Lisbon.", "problem": "named", "items": ["Lisbon"]}
    ]


def test_a_sentence_taken_over_word_for_word_is_not_judged_again() -> None:
    previous = "The choir was booked for the wedding in June."
    known = SummarySources.of(
        [text_message("user", "Which cake?")], [9], previous=previous, lineage=((0, 45, ((3, 4),)),)
    )

    assert problem_of(previous, known) is None
    assert lineage_of(previous, known) == ((0, 45, ((3, 4),)),)
