"""Extracts and compares topics: the content words that tell what a sentence is about.

English words are cut to a stem; Chinese is read as overlapping pairs of characters. Words for what
to do with a thing weigh less than the thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from string import ascii_letters, digits
from typing import Final

from ctxcore.text.inflection import stem
from ctxcore.text.languages import HAN, simplified
from ctxcore.text.patterns import blanks_except
from ctxcore.text.words import word_set

# Chosen: bounds on the work for one text; a longer one is no single statement.
MOST_WORDS: Final = 40
SAID_CHARS: Final = 2_000

_WORD = re.compile(rf"[A-Za-z0-9][\w.+#'’/-]*|[{HAN}]+")
_INNER = "_.+#'/-"  # signs within a word, which does not begin with one
_TO_WORDS = blanks_except(ascii_letters + digits + _INNER)

_EMPTY = word_set("""
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
    nothing little bit exempt except too fine well any other others another below above
""")
_WEAK = word_set("""
    use used uses add writ mak put do send run show tell creat work answer reply respond respons
    messag touch chang edit modify mention includ call giv check say talk speak keep code file
    project me new set word minut hour day week month percent dollar euro
""")
_EMPTY_HAN = re.compile(
    "从现在起|从现在开始|现在开始|从今以后|从今往后|今后|以后|此后|往后|每次|每当|凡是"
    "|一律|始终|永远|无论如何|任何时候|统一|全部|所有|默认|尽量|从今天[起开]?始?"
    "|任何情况下|绝对|千万|切勿|切记|严禁|禁止|不得|不许|不准|不允许|允许|务必|一定要"
    "|一定|必须|只能|只准|只许|不要|不用再|非得|非要|还是|其他|一点|每[个条]?"
    "|不必再|无需再|不需要再|不再需要|不用|不必|无需|不需要|不再|不光|不只|不能|可以|现在|记住"
    "|记得|取消|撤销|作废|解除|恢复|放[宽开]|改成|改为|改用|加上"
    "|换成|之前|刚才|说的|那条|这条|这个|那个|那么|规定|规矩|要求|限制|条件|上限|下限|时限|期限"
    "|频率|标准|额度|规则|说法|请(?![求假教客])|我们|你们"
    "|其实|控制在?|未经|以内|以上|以下|之内|关于|执行|适当|稍微|用点|不超过|超过|行数|字数|人数"
    "|页数|次数|数量|长度|大小|使用|采用|继续|固定|最多|最少|至多|至少|重新|没关系|没事|无所谓|随便"
    "|也行|都行|就行|即可|不够|时候|我|你|您|的|了|吧|啦|把|都|也|就(?![业医餐诊])|再|又"
    "|要(?<![摘主重概纪需]要)(?![求点])"
    "|会(?<![开机社聚约晚年例散周站早晨班]会)(?![议员话计场])"
    "|在(?!线)|和|与|或|是|有(?![机效])"
    "|个(?![人性])|别(?![墅名])|勿|给|让|先(?!生)|用(?!户|品|途|(?<=信用)卡)|不|只|太"
)
_WEAK_HAN = frozenset({"使用", "回答", "回复", "代码", "文件", "提交", "修改", "内容", "时候"})
_NUMBERS = word_set("""
    two thre four fiv six seven eight nin ten twelv fifteen twenty thirty fifty hundr thousand
    third fourth fifth sixth seventh eighth ninth tenth twelfth fifteenth twentieth
""")  # as stems
_NUMERAL = re.compile("[〇零一二两三四五六七八九十百千万半几]")  # a value, seldom what is spoken of


def topic_of(text: str) -> tuple[str, ...]:
    """The content words of `text` in a plain form, in order, each once."""
    if text.isascii():
        plain_words = dict.fromkeys(
            map(_plain_latin, text[:SAID_CHARS].translate(_TO_WORDS).split())
        )
        plain_words.pop("", None)
        return tuple(plain_words)[:MOST_WORDS]
    found: dict[str, None] = {}
    for at in _WORD.finditer(simplified(text[:SAID_CHARS])):
        word = at[0]
        if word[0] > "\u3000":
            found.update(dict.fromkeys(_plain_han(word)))
        elif plain := _plain_latin(word):
            found[plain] = None
        if len(found) >= MOST_WORDS:
            break
    return tuple(found)[:MOST_WORDS]


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """The share of the smaller topic that lies in the other, in [0, 1]; 0 for weak words alone."""
    shared = set(one) & set(other)
    if not any(_weight(word) == 1.0 for word in shared):
        return 0.0
    smaller = min(_sum(one), _sum(other))
    return _sum(shared) / smaller if smaller else 0.0


def covered(part: Collection[str], whole: Collection[str]) -> float:
    """The share of `part` that lies in `whole`, in [0, 1]; 0 where only weak words are shared.

    Of Chinese it counts characters, since a pair may span two words.
    """
    shared = set(part) & set(whole)
    if not any(_weight(word) == 1.0 for word in shared):
        return 0.0
    return _size(shared) / _size(part)


def mentioned(part: Collection[str], whole: Collection[str]) -> float:
    """The share of `part` that `whole` mentions, numbers aside, in [0, 1].

    Of Chinese each character counts, where at least one word is the same.
    """
    found = {*whole, *"".join(word for word in whole if not word.isascii())}
    full = wanted = 0.0
    for word in {word for word in part if not is_number(word)}:
        weight = _weight(word)
        wanted += weight
        if word in found:
            full += weight
        elif not word.isascii():
            full += weight * sum(character in found for character in word) / len(word)
    return full / wanted if wanted and shared_words(part, whole) else 0.0


def names_something(topic: Collection[str]) -> bool:
    """Whether a topic has a word of full weight or an amount; “use it” has none."""
    return any(_weight(word) == 1.0 or is_number(word) for word in topic)


def shared_words(one: Collection[str], other: Collection[str]) -> int:
    """The number of words of full weight that two topics share."""
    return sum(_weight(word) == 1.0 for word in {*one} & {*other})


@lru_cache(maxsize=16_384)
def is_number(word: str) -> bool:
    """Whether a word of a topic is a number, or a Chinese pair with one in it."""
    return word.isdigit() or word in _NUMBERS or bool(_NUMERAL.search(word))


def likeness(one: Collection[str], other: Collection[str]) -> float:
    """Shared words over all words, in [0, 1]: 1 where two topics are the same."""
    mine, theirs = frozenset(one), frozenset(other)
    shared = len(mine & theirs)
    every = len(mine) + len(theirs) - shared
    return shared / every if every else 0.0


@lru_cache(maxsize=16_384)  # people use the same words again and again
def _plain_latin(word: str) -> str:
    lower = word.lower().lstrip(_INNER).replace("’", "'").strip(".'-/+")
    lower = lower.removesuffix("'s")
    return "" if lower in _EMPTY else stem(lower)


def _plain_han(run: str) -> list[str]:
    pieces = _EMPTY_HAN.sub(" ", run).split()
    return [piece[at : at + 2] for piece in pieces for at in range(max(1, len(piece) - 1)) if piece]


@lru_cache(maxsize=16_384)
def _weight(word: str) -> float:
    if word in _WEAK or word in _WEAK_HAN:
        return 0.3
    if word.isascii():
        return 0.3 if word.isdigit() or word in _NUMBERS else 1.0
    return 0.5 if len(word) == 1 else 0.3 if _NUMERAL.search(word) else 1.0


def _size(words: Collection[str]) -> float:
    """The weight of words, of Chinese by the character; a word is worth two of these."""
    of_characters: dict[str, float] = {}
    size = 0.0
    for word in words:
        weight = _weight(word)
        if word.isascii():
            size += 2 * weight
        else:
            for character in word:
                of_characters[character] = max(weight, of_characters.get(character, 0.0))
    return size + sum(of_characters.values())


def _sum(words: Collection[str]) -> float:
    return sum(map(_weight, words))
