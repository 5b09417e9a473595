"""What models wrap around a summary, and what is left of one that broke off."""

from __future__ import annotations

import pytest

from ctxcore.summarizers.checks import cut_unfinished, unwrap

WORDS = "Ada booked room 12."


@pytest.mark.parametrize(
    "reply",
    [
        WORDS,
        f"\n {WORDS} \n",
        f"<think>The user wants…\n\nFine.</think>\n\n{WORDS}",
        f"They want a summary.\n</think>\n\n{WORDS}",
        f"<analysis>\nFirst the room.\n</analysis>\n\n<summary>\n{WORDS}\n</summary>",
        f"```\n{WORDS}\n```",
        f"```markdown\n{WORDS}\n```",
        f"<summary>\n{WORDS}\n</summary>",
        f"Here is a concise summary of the conversation:\n\n{WORDS}",
        f"Sure! Here's the summary:\n{WORDS}",
        f"好的，以下是对话摘要：\n{WORDS}",
        f"<think>Hm.</think>Here is the summary:\n```\n<summary>{WORDS}</summary>\n```",
    ],
)
def test_what_stands_around_a_summary_comes_off(reply: str) -> None:
    assert unwrap(reply) == WORDS


@pytest.mark.parametrize(
    "text",
    [
        "Ada asked what <think> means and why </think> closes it.",
        "Run:\n```\nmake check\n```\nThen:\n```\nmake docs\n```",
        "```\na\n```\nbetween\n```\nb\n```",
        "Here is where Ada lives: Oslo.\nThe summary: unknown.",
        "<summary>draft</summary> is the tag Ada chose.",
    ],
)
def test_what_stands_inside_a_summary_stays(text: str) -> None:
    assert unwrap(text) == text


def test_thinking_that_never_ends_leaves_nothing() -> None:
    assert unwrap("<think>First, let me") == ""


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("One is done. Two is ha", "One is done."),
        ("一号已完成。二号正在", "一号已完成。"),
        ("1. Booked a room\n2. Paid for the ro", "1. Booked a room"),
        ("One is done. Two is too.", "One is done. Two is too."),
        ("He said “yes.”", "He said “yes.”"),
        ("only half a sen", "only half a sen"),
        ("", ""),
    ],
)
def test_a_summary_that_broke_off_ends_with_its_last_whole_sentence(text: str, whole: str) -> None:
    assert cut_unfinished(text) == whole
