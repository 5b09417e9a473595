"""Phrases by which users say that they said something before, and models ask for something.

Only the speaker's own words count: what is quoted, fenced or tagged is masked by `sentences`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.chinese_rules import CHINESE
from ctxcore.facts.english_rules import ENGLISH, may_order
from ctxcore.facts.reading import Sentence, sentences
from ctxcore.text.languages import has_han
from ctxcore.text.patterns import late
from ctxcore.text.words import STOP_WORDS

_NOW: Final = r"(?: (?:already|just|literally|clearly|specifically|explicitly|also|now|even|only))*"
_HAVE: Final = r"(?:i|we)(?:'ve| have| had|'d)?"
_SPOKE: Final = (
    r"(?:said|mentioned|explained|specified|stated|answered|given|gave|written|wrote|provided"
    r"|shared|sent|asked|pointed out|covered|described|clarified|told)"
)
_ELSEWHERE: Final = (  # said to somebody else, or on another day
    r"(?! (?:to (?!you)|this (?:morning|week)|yesterday|last|him|her|them|my|our|his|the"
    r"|in (?:my|the|a)\b|at (?:the (?!start|beginning))|on (?:the|mon|tue|wed|thu|fri|sat|sun)))"
)
_BEFORE: Final = (
    r"(?:before|earlier|already|above|twice|\w+ times|at the (?:start|beginning|outset)"
    r"|from the (?:start|beginning)|in my (?:first|previous|last|earlier) (?:message|prompt))"
)
_SAID_SO: Final = late(
    rf"(?<!have )(?<!did )(?<!had )\b{_HAVE}{_NOW} told you\b(?! about)"
    rf"|\b(?:as|like|per what) (?:i|we)(?:'ve| have)?{_NOW} (?:said|mentioned|told you|stated"
    rf"|explained|wrote|specified|discussed|agreed|described|asked|noted){_ELSEWHERE}\b"
    rf"|\b(?:as|like) (?:discussed|agreed|mentioned|stated|specified) {_BEFORE}"
    rf"|\b{_HAVE} (?:already|just|clearly|literally|specifically|explicitly){_NOW} {_SPOKE}"
    rf"{_ELSEWHERE}\b"
    rf"|\b{_HAVE}{_NOW} (?:said|mentioned|told|asked|explained|stated)(?! to )"
    rf"(?: (?!to )\w+){{0,4}}? {_BEFORE}"
    r"|\bwe(?:'ve| have)(?: already| just)* (?:discussed|talked about|been (?:over|through)|gone"
    r" over|covered|agreed on|settled|decided|established)\b"
    r"|\bwe already (?:discussed|talked about|went over|covered|agreed|settled|decided)\b"
    r"|\byou(?:'ve| have|'re| are)?(?: already| just| completely| clearly| again| totally| keep"
    r"| seem to have)* (?:forgot(?:ten)?|forgetting|lost track of|ignor(?:ed|ing)|overlooked)"
    r"(?= (?:what|that|about|everything|again|already|our|my|the (?:rule|instruction"
    r"|requirement|part))|[,.!?]|$)(?! me\b)"
    r"|\b(?:don't|can't|didn't|do not) you (?:even )?(?:remember|recall|listen)\b"
    r"|\b(?:did|have) you (?:already )?(?:forget|forgotten)\b(?! to)"
    r"|\bhow (?:many times|often) (?:do|must|should|have) i\b"
    r"|\bfor the (?:second|third|fourth|fifth|umpteenth|hundredth|nth|last) time,? "
    r"(?=i|we|please|it|the|my|no|do)"
    r"|^(?:(?:once )?again|once more)[:–—]|^to repeat(?: myself)?[,:]"
    r"|\b(?:have to|need to|want to|hate to|keep having to|keep) repeat(?:ing)? myself\b"
    r"|\bkeep (?:having to )?(?:tell(?:ing)?|remind(?:ing)?) you\b"
    r"|\byou(?:'ve| have)? (?:already|just) (?:asked|know|knew)\b(?! (?:how|him|her|them))"
    r"|\b(?:read|look at|check|see|scroll (?:back|up)(?: to)?) (?:what i (?:said|wrote)"
    r"|my (?:earlier|previous|first|last|original) (?:message|instruction|prompt)s?)"
)
_TALK_HAN: Final = "(?:说|讲|提|告诉|交代|强调|解释|回答|写|提醒|介绍|答)"
_TO_YOU_HAN: Final = "(?:(?:跟|和|对|给|同|向)(?:你|您))"
_WHEN_HAN: Final = (
    "(?:不是|都|刚刚|刚才|刚|已经|早就|早|之前|前面|明明|上面|一开始|先前|最开始|开头|方才)"
)
_DONE_HAN: Final = "(?:过|了|得(?:很|非常)?(?:清楚|明白))"
_SAID_SO_HAN: Final = late(
    rf"(?:^|[^的他她它们师板婆公妈爸友事户])我(?:们)?(?:{_WHEN_HAN}|就|也|可|{_TO_YOU_HAN})*{_TALK_HAN}(?:你|您)?"
    rf"{_DONE_HAN}(?:你|您)?(?!(?:的|老板|他|她|老师|妈|爸|一个))"
    rf"|(?:^|[，。！？,.!?、 ]){_WHEN_HAN}(?:{_WHEN_HAN}|就|{_TO_YOU_HAN})*{_TALK_HAN}(?:你|您)?"
    rf"{_DONE_HAN}(?:你|您)?(?!的)"
    rf"|{_TO_YOU_HAN}(?:说|讲|提|强调|解释)(?:过|了)|(?:告诉|提醒)(?:过|了)?(?:你|您)(?:过|了|多少|好几|几)"
    "|(?:^|[，。！？,.!? ])(?:你|您)(?:怎么|是不是|又|都|已经|全|居然|竟然|就)*"
    "(?:忘了|忘记了|忘掉|不记得|记不住|没记住|没记)"
    "|(?:怎么|是不是)(?:又|都|已经)*(?:忘了|忘记了|不记得)"
    "|(?:说|讲|强调|提醒|重复)(?:过|了)?(?:多少|好几|几|很多|无数|两|三)(?:遍|次|回)"
    "|我(?:就|只|最后)?(?:再|又)(?:说|重复|强调)一(?:遍|次)|(?:还)?要我(?:说|讲|重复)(?:多少|几)(?:遍|次)"
    "|不是(?:已经|都)?(?:说|讲|告诉|提)(?:过|了|好)|没(?:有)?(?:认真)?(?:听|看)(?:见|到|懂|清)?我(?:说|写|讲|前面)"
)


def says_so(text: str) -> str | None:
    """What is left of a text that says that it was said before; None where it does not say so.

    What is left tells what it speaks of, and may be empty.
    """
    said = list(sentences(text))
    found = [at for at, one in enumerate(said) if _says_so(one)]
    if not found:
        return None
    first, last = max(0, found[0] - 1), found[-1] + 2
    return " ".join(_SAID_SO_HAN.sub(" ", _SAID_SO.sub(" ", one.words)) for one in said[first:last])


def _says_so(sentence: Sentence) -> bool:
    words = sentence.words.strip()
    if has_han(words):
        return _SAID_SO_HAN.search(words) is not None
    return _SAID_SO.search(words) is not None


_ASK_VERBS: Final = (
    r"(?:tell|give|provide|share|confirm|remind|specify|clarify|send|supply|enter|state|repeat)"
)
_ASKS_FOR: Final = late(
    rf"\b(?:could|can|would|will) you (?:please |kindly |also |just )*(?:{_ASK_VERBS}"
    r"|let me know)\b"
    rf"|\bplease (?:also |first )?(?:{_ASK_VERBS}|let me know)\b"
    r"|\b(?:may|can|could) i (?:please )?(?:have|get|know|ask(?: for)?)\b"
    r"|\bi(?:'ll|'d| will| would| also| still)* (?:need|require)(?: to know)?\b"
    r"|\bi (?:don't|do not) (?:have|know)\b"
    r"|(?:^|[,:;.–—-] ?|\b(?:and|but|so|also|first|begin|please|sure) )"
    r"(?:(?:at|in|on|for|from|to|by|with|under) )?"
    r"(?:what(?:'s| is| are| was| were)?|which|when|where|who|whose|how (?:many|much|old|long|big"
    r"|large|often|tall))\b(?=[^?]*\?)"
    r"|\b(?:do|did|are|have) you (?:have|using|use|allergic|got|take|prefer) [^?]*\?"
)
_OFFERS: Final = late(
    r"\b(?:would you like|do you want|shall i|should i|should we|can i help|may i help"
    r"|what do you think|how can i|what can i|how (?:may|would|does|do|about)|what about|anything"
    r" else|is there|are there|what would you|what else|what happens|what if|let me know if"
    r"|do you prefer|which (?:one|of (?:these|those|them))|when would|in mind|interested in"
    r"|mean by|feel free|tell (?:me|us) (?:more|about)|more about"
    r"|confirm (?:if|that|whether|this|these|the|you|below|and))\b"
    "|需要我|要不要|是否需要|还有什么|还需要|更喜欢|想不想|帮您.*吗|怎么样|好吗|可以吗|有什么可以"
)
_ASKS_FOR_HAN: Final = late(
    "请问|请(?:您|你)?(?:先|再)?(?:提供|告知|告诉|确认|说明|填写|发送|发一下|给出|补充|输入)"
    "|(?:能|能不能|可以|可否|方便|麻烦)(?:您|你)?(?:再)?(?:告诉|提供|说一下|告知|发)"
    "|(?:您|你|你们|您们)[^，。]{0,12}(?:什么|多少|哪|几|谁)|(?:什么|多少|哪[个里儿些天]|几[个点号位]|谁)[^，。]{0,4}[?？]"
)
_ASKED_WORDS: Final = late(
    r"\b(?:information|details?|first|before|begin|need|know|provide|give|confirm|share|tell"
    r"|specify|clarify|remind|let|also|order|proceed|continue|help|finish|complete|name|exact|exactly)\b"
)
_ONLY_ASKS_HAN: Final = late("请问|提供|告知|告诉|确认|什么|多少|[请您你们哪个几谁]")
_HAN_STOPS: Final = late("[,，:：;；]")
_NUMBER_ASKED: Final = late(
    r"\b(?:when|how (?:many|much|old|long|big))\b|多少|几[个点号位楼]|什么时候"
)
_NUMBER: Final = late(
    r"\d|[一二三四五六七八九十百千万两半]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|midnight|morning|evening"
    r"|today|tomorrow|tonight|spring|summer|autumn|winter|christmas|easter)\b"
)
_LAST_SENTENCES: Final = 4  # of an answer, in which it asks for something; chosen


def asked_for(text: str) -> Iterator[str]:
    """What a model's answer asks the user for: its last sentences that ask and offer nothing."""
    for sentence in list(sentences(text))[-_LAST_SENTENCES:]:
        words = sentence.words.strip()
        pattern = _ASKS_FOR_HAN if has_han(words) else _ASKS_FOR
        if pattern.search(words) and not _OFFERS.search(words):
            yield words


def without_asking(words: str) -> str:
    """The words of a sentence that asks, without those that only ask."""
    if not has_han(words):
        return _ASKED_WORDS.sub(" ", words)
    clauses = [one for one in _HAN_STOPS.split(words) if _ASKS_FOR_HAN.search(one)]
    return _ASKS_FOR_HAN.sub(_kept_han, " ".join(clauses or [words]))


def _kept_han(found: re.Match[str]) -> str:
    """Of a match that spans the thing asked for: that thing."""
    return _ONLY_ASKS_HAN.sub(" ", found[0])


def may_answer(asked: str, told: str) -> bool:
    """Whether a sentence may answer what was asked: it tells, and a number where one is asked."""
    if told.rstrip().endswith(("?", "？")) or _ASKS_FOR_HAN.search(told):
        return False
    return not _NUMBER_ASKED.search(asked) or _NUMBER.search(told) is not None


_ORDERS: Final = late(
    r"^(?:(?:ok|okay|now|then|please|and|so|also|next|great|good|thanks|yes|no|hi|hey|hello)"
    r"[,.! ]+)*(?:(?:can|could|would|will) you (?:please )?|let's |let us "
    r"|i (?:want|need|would like|'d like) you to )?"
)
_FIRST_WORD: Final = late("[a-z]+")
_ORDERS_HAN: Final = late(
    "^(?:好的|那|现在|然后|接着|再|麻烦)?[，, ]?(?:请|帮|给我|把|将|继续|翻译|总结|写|生成|列出|查"
    "|跑|运行|编译|执行|改|修|看看|检查|重新)|一下|帮我|给我"
)


def is_order(words: str) -> bool:
    """Whether a sentence, in lower case, orders something to be done now, not from now on."""
    if has_han(words):
        return _ORDERS_HAN.search(words) is not None
    start = _ORDERS.match(words)
    first = _FIRST_WORD.match(words, start.end() if start else 0)
    return first is not None and may_order(first[0])


def forbids(words: str) -> bool:
    """Whether a sentence, in lower case, forbids or denies something."""
    return (CHINESE if has_han(words) else ENGLISH).is_negative(words)


_ADDRESSES: Final = late(r"\b(?:you|your|you're|you've)\b|\bplease\b|[您你请]")
_NAMES: Final = late(  # digits, names inside a sentence, identifiers; numbers in characters
    r"\d|(?<=[a-z,;] )[A-Z][\w'-]+|\b\w+[_/.]\w+|\b[A-Z][a-z]+ [A-Z][a-z]+"
    "|[一二三四五六七八九十百千万两]{1,}(?:个|号|点|岁|元|块|人|楼|年|月|位|层|平|千|百|万|十)"
)


_LEAST_WORDS: Final = 3  # of a sentence that tells something
_LISTED_WORDS: Final = 8  # chosen: people who say so many say one that joins them
_YOURS: Final = late(r"\byour\b|[您你]")
_OF_ONESELF: Final = late(r"\b(?:i|i'm|i've|my|we|we're|our)\b|我")


def is_of_user(asked: str, told: str) -> bool:
    """Whether a question asks for something of the user, and the user tells of themselves."""
    return bool(_YOURS.search(asked) and _OF_ONESELF.search(told))


def is_listing(words: str) -> bool:
    """Whether a sentence, in lower case, is none: a name, or many words that nothing joins."""
    if has_han(words):
        return False
    said = words.split()
    is_bare = len(said) >= _LISTED_WORDS and STOP_WORDS.isdisjoint(said)
    return is_bare or len(said) < _LEAST_WORDS


def addresses(asked: str) -> bool:
    """Whether a question, in lower case, asks something of the user."""
    return _ADDRESSES.search(asked) is not None


def names_something(text: str) -> bool:
    """Whether a sentence has a number, a name or an identifier."""
    return _NAMES.search(text) is not None


_POINTS: Final = late(  # at something that was just spoken of
    r"\b(?:he|she|they|him|them|his|her|their|it(?! that)|its|it's|this|these|those)\b"
    "|[他她它该此]|[这那][里儿]|这[张首部个些位本]|那[张首部个些位本]"
)
_BEGINS_POINTING: Final = late(
    r"(?:(?:yes|no|and|but|well|oh)[,!]? )*(?:he|she|they|it|this|that|these|those)\b"
    "|[对是嗯哦，,。 而且也更不错确实]*(?:这[张首部个些位本]|那[张首部个些位本]|[他她它该此])"
)


def points(words: str, *, at_start: bool = False) -> bool:
    """Whether a sentence, in lower case, means what was just spoken of by a pronoun.

    The same words mean something else then, when something else was spoken of. With `at_start`
    only what begins so.
    """
    found = _BEGINS_POINTING.match(words) if at_start else _POINTS.search(words)
    return found is not None
