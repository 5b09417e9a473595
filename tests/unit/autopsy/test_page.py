"""The page of an autopsy holds all it needs, escapes what it quotes, and can leave texts out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ctxcore.autopsy.page import WORDS, render_page
from ctxcore.autopsy.values import (
    Autopsy,
    CacheBreak,
    ExaminedFold,
    ExaminedSession,
    LostThing,
    SaidAgain,
    Spending,
    UnreadFile,
)
from ctxcore.cli.languages import load_texts
from ctxcore.formats.hints import Hint
from ctxcore.reasons.codes import BreakCode
from ctxcore.reasons.report_codes import HintCode
from ctxcore.reasons.storage_problems import FileProblem

FOLD = ExaminedFold(
    at=9,
    trigger="auto",
    before_tokens=90_000,
    after_tokens=3_000,
    facts=30,
    kept=10,
    needed=8,
    gone=5,
    rules=2,
    rules_gone=1,
    ours_kept=20,
    ours_gone=2,
    ours_rules_gone=0,
    lost=(
        LostThing(text="<b>/secret/path.py</b>", kind="path", said_at=3, needed_at=12),
        LostThing(text="Never push.", kind="instruction", said_at=0, needed_at=None),
    ),
    repeated_calls=1,
    repeated_tokens=1_200,
)
SESSION = ExaminedSession(
    path="/home/ann/a.jsonl",
    id="id-1",
    title="Private <title>",
    format="claude-code",
    model="m",
    parent_id=None,
    started_at=None,
    ended_at=None,
    messages=20,
    turns=4,
    calls=3,
    has_usage=True,
    window_tokens=100_000,
    peak_tokens=90_000,
    stored_tokens=95_000,
    sent_tokens=183_000,
    cached_tokens=90_000,
    output_tokens=500,
    dollars=1.5,
    inputs=(3_000, 90_000, 5_000),
    spending=(
        Spending(kind="user", name="", tokens=10, sent_tokens=30, dollars=0.1),
        Spending(kind="file", name="/home/ann/x.py", tokens=5, sent_tokens=9, dollars=None),
    ),
    folds=(FOLD,),
    breaks=(CacheBreak(at=5, reason=BreakCode.NONE_CACHED(), tokens=700, dollars=0.2),),
    said_again=(
        SaidAgain(at=11, kind="said_so", text="I told you: <x>", earlier_at=2, earlier="x"),
    ),
    hints=(
        Hint(
            reason=HintCode.OUTPUT_STAYED(tool="Read", what="secret.py", calls=9, size=1_000),
            tokens=9_000,
            dollars=0.3,
        ),
    ),
    problems=0,
)
FOUND = Autopsy(
    sessions=(SESSION,),
    unread=(UnreadFile(path="/home/ann/b.json", reason=FileProblem.NO_CONVERSATION()),),
    copies=2,
)


def test_the_page_tells_what_was_lost_beside_the_default() -> None:
    page = render_page(FOUND)

    assert "Compactions recorded: 1. They lost 5 of 8 things" in page
    assert "default would have lost 2." in page
    assert "90,000 → 3,000" in page
    assert "said in message 4, needed in 13" in page
    assert "rule, said in message 1" in page
    assert "2 copies of conversations" in page


def test_texts_of_files_are_escaped_and_nothing_is_loaded_or_run() -> None:
    page = render_page(FOUND)

    assert "&lt;b&gt;/secret/path.py&lt;/b&gt;" in page
    assert "Private &lt;title&gt;" in page
    assert "I told you: &lt;x&gt;" in page
    assert not re.search(r"<(script|link|img|iframe)|https?:|url\(|javascript:", page)


def test_without_texts_nothing_that_was_said_and_no_folder_is_in_it() -> None:
    page = render_page(FOUND, has_texts=False)

    for text in ("secret", "Private", "I told you", "/home/ann", "Never push"):
        assert text not in page
    assert "id-1" in page
    assert "x.py" in page
    assert "output stayed" in page
    assert "said in message 4, needed in 13" in page


@pytest.mark.parametrize(
    ("folds", "verdict"),
    [
        ((), "no compactions"),
        ((replace(FOLD, gone=0),), "Nothing of what they folded was needed later and gone"),
        (
            (FOLD, replace(FOLD, ours_gone=None)),
            "They lost 10 of 16 things that were needed later; with as many tokens, ctxcore&#x27;s "
            "default would have lost 2, where the programs lost 5, in the 1 in which it fits",
        ),
    ],
)
def test_the_first_sentence_says_what_it_comes_to(
    folds: tuple[ExaminedFold, ...], verdict: str
) -> None:
    assert verdict in render_page(replace(FOUND, sessions=(replace(SESSION, folds=folds),)))


def test_a_window_far_above_all_calls_is_not_drawn() -> None:
    near = render_page(FOUND)
    far = render_page(replace(FOUND, sessions=(replace(SESSION, window_tokens=1_000_000),)))

    assert 'class="window"' in near
    assert 'class="window"' not in far


def test_words_of_another_language_take_the_place_of_all() -> None:
    words = {key: re.sub(r"[a-zA-Z']+(?![^{]*\})", "词", text) for key, text in WORDS.items()}
    page = render_page(FOUND, words, language="zh", say=lambda reason: "因")

    assert '<html lang="zh">' in page
    assert "Tokens" not in page
    assert "Conversation" not in page


def test_the_chinese_words_fill_in_the_same_values() -> None:
    texts = load_texts("zh")
    chinese = {key: texts[f"autopsy.{key}"] for key in WORDS}

    assert {key: _blanks(text) for key, text in chinese.items()} == {
        key: _blanks(text) for key, text in WORDS.items()
    }


def _blanks(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))
