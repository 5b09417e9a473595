"""Owns the cues: forms of words that make a sentence worth more than its rare terms say.

Cues multiply the worth of a sentence; they are found by pattern alone, in English and Chinese.
English patterns read lower case, which is several times faster than ignoring case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ctxcore.messages.values import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Patterns, and the factor on a sentence's worth where one of them is found."""

    factor: float
    english: re.Pattern[str]
    chinese: re.Pattern[str] | None = None


def _cue(factor: float, english: str, chinese: str) -> Cue:
    words = re.compile(rf"\b(?:{english})\b")
    return Cue(factor=factor, english=words, chinese=re.compile(chinese))


# "I have always lived here" tells, "always run the tests" instructs: it opens a clause.
_OPENS = r"(?:(?<![^\n])|(?<=[.,;:!?(] )|(?<=please )|(?<=should )|(?<=must )|(?<=and )|(?<=but ))"

INSTRUCTION = _cue(
    2.0,
    rf"{_OPENS}(?:never|always|do not|don['’]t(?! worry| forget)|only|avoid|make sure|remember to)"
    r"|from now on|going forward|no longer|at all times|under no circumstances|in future"
    r"|(?<!it )(?<!that )(?<!you )must(?! have|['’]ve)|(?:do not|don['’]t) ever",
    "不要|不得|不许|禁止|必须|务必|只能|一定要|从现在|今后|以后|始终|永远|千万|记住|不再|请用"
    "|(?<![特区性个差级类告])别(?![人的墅名处])",
)
STANDING = _cue(  # what holds until it is taken back, not just for the next step
    1.0,
    rf"{_OPENS}(?:never|always)|from now on|going forward|at all times|under no circumstances"
    rf"|in no case|{_OPENS}(?:do not|don['’]t) [^.!?\n]* (?:without|unless|until)"
    r"|standing instruction|(?:the|new|this) rule|still needs? my|only after i",
    "不要|不得|不许|禁止|必须|务必|只能|一定要|从现在|今后|以后|始终|永远|千万|不再",
)
DECISION = _cue(
    1.25,
    r"decided?|decision|agreed?|we(?:['’]ll| will) (?:go|use|take)|let['’]s (?:go|use|take)"
    r"|going with|chos(?:e|en)|settled on|final(?:ly|ized)?|approved|confirmed|conclusion",
    "决定|确定|同意|选择|采用|定为|就用|结论|敲定|批准|确认",
)
OUTCOME = _cue(
    1.25,
    r"errors?|exception|fail(?:ed|s|ure|ing)?|bugs?|fix(?:ed|es)?|broken|crash\w*|root cause"
    r"|solved|resolved|works now|traceback|denied|timed? ?out|[a-z]+error",
    "错误|报错|异常|失败|修复|解决|原因|崩溃|超时|故障",
)
OPEN = _cue(
    1.2,
    r"todo|to do|still (?:need|have|open|missing)|remaining|next steps?|not yet|pending|deadline"
    r"|due|follow up",
    "待办|下一步|还需要|尚未|截止|待定|遗留",
)
REQUEST = _cue(
    1.2,
    r"please|can you|could you|would you|i need|i want|i['’]d like|help me",
    "请|帮我|我需要|我想|希望|麻烦",
)
SELF = _cue(
    1.2,
    r"my (?:name|e-?mail|phone|address|wife|husband|son|daughter|birthday|budget|order|account)"
    r"|i (?:am|live|work|prefer|like|love|hate|was born)|allergic",
    "我叫|我是|我住|我喜欢|我的(?:名字|电话|地址|邮箱|生日|预算|订单)|过敏",
)
DATE = _cue(
    1.3,
    r"january|february|march|april|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday|tomorrow"
    r"|last (?:week|month|year|night|weekend)|next (?:week|month|year)"
    r"|(?:days?|weeks?|months?|years?) ago",
    r"\d+ ?[年月日号点]|星期|周[一二三四五六日末]|昨天|明天|今天|上周|下周|去年|明年",
)
LITERAL = Cue(  # numbers, addresses, paths, identifiers, quoted names
    factor=1.3,
    english=re.compile(
        r"\d|://|\w@\w|(?:^|[\s(`'\"~.])/[\w.-]+/|\w\.(?:py|ts|js|md|json)\b|[a-z]_[a-z]"
        r"|`[^`]+`|[“\"《「][^”\"》」]{2,40}[”\"》」]"
    ),
)
QUESTION = Cue(factor=0.8, english=re.compile(r"[?？][\"'”’)]*$"))  # its answer says more

_ANY_SPEAKER = (DECISION, OUTCOME, OPEN, SELF, DATE, LITERAL, QUESTION)
_ASKER = (INSTRUCTION, REQUEST, *_ANY_SPEAKER)


def is_standing(text: str, role: Role | None) -> bool:
    """Whether a user lays down what holds from then on."""
    if role in ("assistant", "tool"):
        return False
    chinese = STANDING.chinese
    return bool(
        STANDING.english.search(text.lower())
        or (chinese and not text.isascii() and chinese.search(text))
    )


def cue_factor(text: str, role: Role | None) -> float:
    """The product of the factors of all cues in `text`; only who may instruct is heard to."""
    cues = _ANY_SPEAKER if role in ("assistant", "tool") else _ASKER
    lower = text.lower()
    is_ascii = text.isascii()
    factor = 1.0
    for cue in cues:
        if cue.english.search(lower) or (cue.chinese and not is_ascii and cue.chinese.search(text)):
            factor *= cue.factor
    return factor
