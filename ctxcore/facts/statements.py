"""Owns what sentences settle or leave open: decisions, questions, answers, fixes of errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.facts.matters import matter_of
from ctxcore.facts.reading import Sentence, latin_words, one_line
from ctxcore.facts.revoking import change_of
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.scripts import HAN

MOST_DECISIONS: Final = 8
MOST_QUESTIONS: Final = 6
MOST_FIXES: Final = 2
LINE_CHARS: Final = 240

_DECISION = re.compile(
    r"\b(?:(?:(?:i|we)(?:'ve| have)? (?:decided|agreed|settled|opted|concluded)\b|(?:final"
    r" )?decision(?: is|:)|it(?:'s| is) (?:decided|settled|agreed)|agreed:|decided (?:to|on"
    r"|that|against|not)|(?:was|were|has been|have been) (?:agreed|decided|settled)|going with"
    r" (?:option|plan) \w+))"
)
_CHOICE = re.compile(  # a person settles it by saying so; a model says it of every step
    r"\b(?:let'?s (?:go (?:with|for)|use|take|stick (?:to|with)|pick|choose|settle)|(?:i"
    r"|we)(?:'ll| will|'re going to| are going to| am going to|'m going to)(?: just|"
    r" then)? (?:go (?:with|for)|use|take|choose|pick|stick (?:to|with)|adopt|proceed"
    r" with|book)"
    r"|(?:i'm|we're|i am|we are) going with|we (?:chose|went with)|option [a-d\d]"
    r" it is|final answer|go with (?:option|the|plan)|(?:is|are) approved|please (?:go"
    r" ahead|proceed) with)"
)
_DECISION_HAN = re.compile(
    "(?:我们?|大家|团队|最[终后]|那|就|已经?|一致)[^，,。？?]{0,6}(?:决定|选定|敲定|定了"
    "|同意|商定)|决定(?:用|采用|选择|使用|在|把|先|不|了|去|改)|就(?:用|选|定|按"
    "|订)(?!不)[^，,。？?]{2,}(?:吧|了|就好|就行|[。！!]|$)|(?:方案|时间|日期"
    "|地点)?(?:定为|定在|敲定)|(?:采用|选择|选用)[^，,。？?]{2,20}方案|结论是"
    "|最终(?:选择|方案|采用)|确定(?:用|采用|选|为|在)"
)
_NOT_DECIDED = re.compile(
    r"\b(?:haven't|have not|not yet|if we|should we|could we|might|maybe|whether|before"
    r" we|once we|when we|until|i wonder|can't decide)\b|还没|没有?决定|如果|要是|还在"
    r"|是否|不知道|难以"
)
_DEFERRED = re.compile(
    r"\b(?:i'll (?:check|look|get back|find out|ask|think|let you know)|let me (?:check"
    r"|think|look|ask|find)|not sure|don't know|no idea|(?:need|have) to (?:check|ask"
    r"|think|look)|get back to you|will (?:check|confirm|follow up)|later\b.{0,20}$|i'm"
    r" unable|cannot say)\b|我(?:去|先|再)?(?:查|问|看)(?:一下|看)|不(?:清楚|知道|确定)"
    r"|稍后|回头|待定|还没定|再说"
)
_DEFERRED_SIGNS: Final = (  # every English form has one of them
    *("i'll", "let me", "not sure", "don't know", "no idea", "need to", "have to", "get back"),
    *("will ", "later", "i'm unable", "cannot say"),
)
_SHORT_QUESTION: Final = re.compile(
    r"(?:right|ok(?:ay)?|really|yes|no|huh|what|why|how|you know|is that so|how are you.*"
    r"|how about you|what about you|and you|what's up|do you know|isn't it|can you"
    r" believe.*|guess what|anything else|what do you think|any (?:other )?(?:questions"
    r"|thoughts|ideas)|(?:can|may|could) i help.*|how can i (?:help|assist).*|is there"
    r" anything else.*|would you like.*|do you have any (?:other )?questions.*)\??$"
)
_SHORT_QUESTION_HAN: Final = re.compile(
    "(?:是吗|对吗|好吗|真的吗|怎么样|你呢|为什么|是不是|行吗|可以吗|知道吗|在吗|你好吗"
    "|什么|吗|呢)[？?]$|还有(?:什么|其他)(?:问题|需要)|需要(?:我)?帮"
)
_QUESTION_END = re.compile(r"[?？][\"'”’)）*]*$")
_FIX = re.compile(
    r"\b(?:fixed (?:it |this |that |the [a-z ]+ )?by|the fix (?:is|was|:)|(?:this|that"
    r"|it) fixe[sd]|(?:root cause|the (?:problem|issue|bug|cause|reason|culprit)) (?:is"
    r"|was|turned out)|solved (?:it |this |that )?by|resolved by|that (?:worked|did it"
    r"|helped|solved)|works now|it works|working now|now passes|all tests pass|the"
    r" solution (?:is|was)|now fixed|i(?:'ve| have)? fixed)\b"
    r"|(?:问题|原因|根因|错误)(?:是|在于|出在)|修复(?:了|方法|方案|好)|已(?:经)?(?:修复"
    r"|解决)|解决(?:了|办法|方法|方案)|通过[^，,。]{2,30}(?:解决|修复)|现在(?:可以|正常"
    r"|好)了|(?:改成|改为)[^，,。]{2,30}(?:就好|后正常)"
)
_FIX_GATE = re.compile(
    r"fix|cause|problem|issue|bug|culprit|reason|sol[uv]|resolved|work|pass|did it|helped"
    r"|[修解问原根错现改]"
)
_DECISION_GATE = re.compile(
    r"let'?s|decid|decision|agreed|settled|going|'ll|will|chose|opted|picked|went with"
    r"|plan|option|final|approved|proceed|go ahead|[决定选敲就采结确]"
)
# A word of each English form above; most sentences have none and need no pattern.
_DECIDING_WORDS = """
    decided agreed settled opted concluded decision going go let lets ll will chose went option
    final approved please
"""
_DECIDING: Final = frozenset(_DECIDING_WORDS.split())
_FIXING_WORDS = """
    fixed fix fixes root cause problem issue bug reason culprit solved resolved worked did helped
    works working passes pass solution
"""
_FIXING: Final = frozenset(_FIXING_WORDS.split())
_HAS_HAN = re.compile(f"[{HAN}]")


def statements(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """Decisions, questions and what fixed an error, each as its sentence, and what is answered."""
    counts = {"decision": 0, "question": 0, "error": 0}
    most = {"decision": MOST_DECISIONS, "question": MOST_QUESTIONS, "error": MOST_FIXES}
    for sentence in said:
        fact = _statement(sentence, role)
        if fact is not None and counts[fact.kind] < most[fact.kind]:
            counts[fact.kind] += 1
            yield fact


def answers(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """What a message may answer: its content words; nothing where it only asks or puts off."""
    told = [s.text for s in said if not _is_question(s.text)]
    words = " ".join(told)[:4_000]
    if words and not (len(words) < 200 and _is_put_off(words.lower().replace("’", "'"))):
        matter = matter_of(words)
        yield Fact(kind="question", text="", key="", effect="answers", matter=matter, role=role)


def _is_put_off(words: str) -> bool:
    is_possible = not words.isascii() or any(map(words.__contains__, _DEFERRED_SIGNS))
    return is_possible and bool(_DEFERRED.search(words))


def _is_question(words: str) -> bool:
    return ("?" in words or "？" in words) and bool(_QUESTION_END.search(words))


def _statement(sentence: Sentence, role: Role) -> Fact | None:
    words = sentence.words
    if _is_question(words):
        return _question(sentence, words, role)
    said = latin_words(words) if words.isascii() else None
    if _may(_DECIDING, said) and _DECISION_GATE.search(words) and _decides(words, role):
        return _fact("decision", sentence, role)
    if _may(_FIXING, said) and _FIX_GATE.search(words) and _FIX.search(words):
        return _fact("error", sentence, role)
    return None


def _may(cues: frozenset[str], said: frozenset[str] | None) -> bool:
    """Whether a sentence has one of `cues`; one with Chinese may have others."""
    return said is None or not cues.isdisjoint(said)


def _decides(words: str, role: Role) -> bool:
    found = _DECISION.search(words) or (role == "user" and _CHOICE.search(words))
    found = found or (_HAS_HAN.search(words) and _DECISION_HAN.search(words))
    return bool(found) and not _NOT_DECIDED.search(words)


def _question(sentence: Sentence, words: str, role: Role) -> Fact | None:
    has_han = bool(_HAS_HAN.search(words))
    is_long = len(words) >= 6 if has_han else len(words.split()) >= 4
    rhetorical = _SHORT_QUESTION_HAN if has_han else _SHORT_QUESTION
    if (
        words.count("`") % 2
        or not is_long
        or rhetorical.match(words.strip())
        or role in ("system", "developer", "tool")
    ):
        return None
    return _fact("question", sentence, role)


def _fact(kind: str, sentence: Sentence, role: Role) -> Fact:
    text = one_line(sentence.text, LINE_CHARS)
    matter = matter_of(sentence.text)
    key = " ".join(text.lower().split())[:200]
    if kind == "error":
        return Fact(kind="error", text=text, key=key, effect="fixes", matter=matter, role=role)
    if kind == "question":
        return Fact(kind="question", text=text, key=key, matter=matter, role=role)
    change = change_of(sentence.words, is_rule=True)
    return Fact(
        kind="decision",
        text=text,
        key=key,
        value="aimed" if change.reach == "aimed" else "",
        effect=change.effect,
        matter=matter,
        about=change.about,
        role=role,
    )
