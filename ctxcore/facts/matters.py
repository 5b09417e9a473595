"""Owns matters: the content words of a sentence, by which two sentences are about the same thing.

English words are cut to a plain stem; Chinese is read as overlapping pairs of characters. Words
that only say what to do with a thing weigh less than the thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from ctxcore.facts.reading import HAN

MOST_WORDS: Final = 40
SAID_CHARS: Final = 2_000

_WORD = re.compile(rf"[A-Za-z0-9][\w.+#'’/-]*|[{HAN}]+")

_EMPTY_WORDS = """
    a about actually after again all allow allowed also always am an and any anymore anyway are
    as ask at be been before but by can cancel cannot change could do does doesn don done don't
    drop each else ever every everything fine first follow for forget free from future further
    get give go going got had has have he her here him his how i i'd i'll i'm i've if ignore in
    instead instruction into is it it's its just keep let let's lift like longer make may me
    mean might more must my need needed never no not now of off ok okay on once one only onto or
    our out over please previous remember remove restriction resume revoke rule said same
    scratch she should so some start still stop such sure take than thank thanks that that's the
    their them then there these they thing things this those to too under until unless up us
    using very want wants was way we well what when whenever where which who why will with
    without would yes yet you you'd you'll you're your yours forward won can't cannot doesn't
    didn't isn't aren't shouldn't mustn't needn't whether while time times anything something
    nothing
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_WEAK_WORDS = """
    use used uses add writ mak put do send run show tell creat work answer reply respond respons
    messag touch chang edit modify mention includ call giv check say talk speak keep code file
    project me new
"""
_WEAK = frozenset(_WEAK_WORDS.split())
_EMPTY_HAN = re.compile(
    "从现在起|从现在开始|现在开始|从今以后|从今往后|今后|以后|此后|往后|每次|每当|凡是"
    "|一律|始终|永远|无论如何|任何时候"
    "|任何情况下|绝对|千万|切勿|切记|严禁|禁止|不得|不许|不准|不允许|允许|务必|一定要"
    "|一定|必须|只能|只准|只许|不要|不用再"
    "|不必再|无需再|不需要再|不再需要|不用|不必|无需|不需要|不再|不能|可以|现在|记住"
    "|记得|取消|撤销|作废|解除|恢复|改成|改为|改用"
    "|换成|之前|刚才|说的|那条|这条|规定|要求|限制|规则|请|我们|你们|我|你|您|的|了|吧"
    "|把|都|也|就|再|又|要|会|在|和|与|或|是|有|个|别|勿|给|让|先|用"
)
_WEAK_HAN = frozenset({"使用", "回答", "回复", "代码", "文件", "提交", "修改", "内容", "时候"})
_ENDINGS = ("ations", "ation", "ments", "ment", "ing", "ies", "ed", "es", "s", "e")


def matter_of(text: str) -> tuple[str, ...]:
    """The content words of `text` in a plain form, in order, each once."""
    if text.isascii():
        plain_words = dict.fromkeys(map(_plain_latin, _WORD.findall(text, 0, SAID_CHARS)))
        plain_words.pop("", None)
        return tuple(plain_words)[:MOST_WORDS]
    found: dict[str, None] = {}
    for at in _WORD.finditer(text, 0, SAID_CHARS):
        word = at[0]
        if word[0] > "\u3000":
            found.update(dict.fromkeys(_plain_han(word)))
        elif plain := _plain_latin(word):
            found[plain] = None
        if len(found) >= MOST_WORDS:
            break
    return tuple(found)[:MOST_WORDS]


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """How far the smaller of two matters lies in the other, in [0, 1]; 0 for weak words alone."""
    shared = set(one) & set(other)
    if not any(_weight(word) == 1.0 for word in shared):
        return 0.0
    smaller = min(_sum(one), _sum(other))
    return _sum(shared) / smaller if smaller else 0.0


def likeness(one: Collection[str], other: Collection[str]) -> float:
    """Shared words over all words, in [0, 1]: 1 where two matters are the same."""
    every = set(one) | set(other)
    return len(set(one) & set(other)) / len(every) if every else 0.0


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A lower-case English word without its ending: files and filing are `fil`."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            cut = word[: -len(ending)]
            if ending == "ies":
                return cut + "y"
            doubled = len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] in "bdgmnprt"
            return cut[:-1] if doubled else cut
    return word


@lru_cache(maxsize=16_384)  # people use the same words again and again
def _plain_latin(word: str) -> str:
    lower = word.lower().replace("’", "'").strip(".'-/+")
    lower = lower.removesuffix("'s")
    return "" if lower in _EMPTY else stem(lower)


def _plain_han(run: str) -> list[str]:
    pieces = _EMPTY_HAN.sub(" ", run).split()
    return [piece[at : at + 2] for piece in pieces for at in range(max(1, len(piece) - 1)) if piece]


def _weight(word: str) -> float:
    if word in _WEAK or word in _WEAK_HAN:
        return 0.3
    return 0.5 if len(word) == 1 and not word.isascii() else 1.0


def _sum(words: Collection[str]) -> float:
    return sum(map(_weight, words))
