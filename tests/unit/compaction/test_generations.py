"""How long the sentences of summaries live, from one compaction to the next."""

from __future__ import annotations

from ctxcore.assembly.records import SummarySentence
from ctxcore.compaction.generations import Generation, sentence_lives

BERTH = "The ferry's berth is QX-4417 at the northern quay."
TUG = "The tug leaves on Friday at nine."
REWORDED = "The ferry berth is QX-4417, at the northern quay now."


def said(
    number: int, *sentences: tuple[str, tuple[int, ...]], doubts: tuple[str, ...] = ()
) -> Generation:
    return Generation(
        number=number,
        sentences=[SummarySentence(text=text, start=0, seqs=seqs) for text, seqs in sentences],
        doubts=doubts,
    )


def test_the_same_words_go_on_and_what_is_left_out_ends() -> None:
    lives = sentence_lives([said(1, (BERTH, (3,)), (TUG, (5,))), said(2, (BERTH, (3, 9)))])

    assert [(life.text, life.first, life.last, life.is_kept) for life in lives] == [
        (BERTH, 1, 2, True),
        (TUG, 1, 1, False),
    ]
    assert lives[0].seqs == (3, 9)


def test_a_reworded_sentence_is_the_same_one_and_another_is_new() -> None:
    lives = sentence_lives([said(1, (BERTH, (3,))), said(3, (TUG, (8,)), (REWORDED, (3,)))])

    assert [(life.text, life.first, life.last) for life in lives] == [
        (REWORDED, 1, 3),
        (TUG, 3, 3),
    ]


def test_two_alike_sentences_do_not_go_on_as_one() -> None:
    lives = sentence_lives(
        [said(1, (BERTH, (3,)), (REWORDED, (4,))), said(2, (REWORDED, (4,)), (BERTH, (3,)))]
    )

    assert [(life.text, life.seqs, life.is_kept) for life in lives] == [
        (BERTH, (3,), True),
        (REWORDED, (4,), True),
    ]


def test_a_sentence_without_messages_or_support_is_doubted() -> None:
    lives = sentence_lives([said(1, (BERTH, ()), (TUG, (5,)), doubts=(TUG,)), said(2, (TUG, (5,)))])

    doubted = {life.text: life.is_doubted for life in lives}
    assert doubted == {BERTH: True, TUG: False}


def test_nothing_lives_without_summaries() -> None:
    assert sentence_lives([]) == ()
    assert sentence_lives([said(1)]) == ()
