"""Finds standing instructions in the messages of people, and sentences that take them back.

Only people and the system prompt instruct: the output of a tool and the text of a model never do,
nor what is quoted, fenced or tagged. The words are kept verbatim.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Final

from ctxcore.facts.bindings import bound_by
from ctxcore.facts.chinese_rules import CHINESE
from ctxcore.facts.cues import Language
from ctxcore.facts.english_rules import ENGLISH
from ctxcore.facts.reading import MASK, Sentence, one_line, sentences, statement_key
from ctxcore.facts.rule_changes import NO_CHANGE, Change, change_of
from ctxcore.facts.topics import topic_of
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.languages import has_han

SOME_RULES: Final = 6  # of one message; chosen: of more, as in a handbook, each weighs less
MOST_RULES: Final = 48  # of one message; chosen: a pasted handbook is not carried whole
CLEAR: Final = 2.0
"""Above what makes a rule; of 52 sentences that people say to each other and that read like one,
seven do."""
RULE_CHARS: Final = 400  # of one rule; chosen: longer ones are cut at the end

_NOT_PROSE = re.compile(r"[{}<>;=|\\]|\(\)|::|^\s*(?://|#!|\$ |at )")
_OF_CODE: Final = (*"{}<>;=|\\", "()", "::")  # no sentence without them has more than one
_LINE_OF_FILE = re.compile(r"^\d{1,6}(?::|→|\t)")
_RULES_FOLLOW = re.compile(
    r"\b(?:rules?|constraints?|requirements?|guidelines?|conventions?|ground rules"
    r"|restrictions?|preferences|standing instructions)\b[^.]{0,40}:[*_ ]*$|\b(?:do not"
    r"|don'?ts?|never|always|must|must not):[*_ ]*$"
    r"|(?:规则|要求|约束|规范|注意事项|限制|约定|禁止|不要|必须|原则|守则)[^。]{0,12}[:：][*_ ]*$",
    re.IGNORECASE,
)
_PRONOUNS_ONLY = re.compile(r"\b(?:it|that|this|them|those|so)\b|[那这它]")

_LANGUAGES: Final = (
    "english|german|french|spanish|italian|portuguese|dutch|russian|japanese|korean|chinese"
    "|mandarin|cantonese|arabic|hindi|turkish|polish|swedish|danish|norwegian|finnish|czech|greek"
    "|hebrew|ukrainian|vietnamese|thai|latin"
)
_SLOTS: Final = (  # a newer rule on the same subject replaces the older one
    (
        "language",
        re.compile(
            r"\b(?:answer|reply|respond|speak|talk|communicate|chat|converse|write to me|switch"
            rf"|responses?|answers|replies|language)\b[^.;]{{0,30}}\b(?:in|to|is"
            rf"|be)\b[^.;]{{0,12}}\b(?:{_LANGUAGES})\b"
            "|用[^，,。]{0,6}(?:中文|英文|英语|日语|日文|德语|法语|汉语|普通话|韩语|西班牙语"
            "|俄语|粤语|简体|繁体)[^，,。]{0,6}(?:回答|回复|交流|沟通|对话|说|聊|作答)"
        ),
        re.compile(
            r"\b(?:comments?|docs?|documentation|commits?|code|docstrings?|e-?mails?|readme)\b"
            r"|注释|文档|提交|代码|邮件"
        ),
    ),
    (
        "form of address",
        re.compile(
            r"\b(?:call|address) me (?!back|when|later|if)|\brefer to me as\b|(?:叫|称呼?"
            r"|喊)我(?:为|作|叫)?[^，,。]{1,8}"
        ),
        None,
    ),
    (
        "length of answers",
        re.compile(
            r"\b(?:answers?|replies|reply|responses?|summar(?:y|ies)"
            r"|explanations?)\b[^.;]{0,40}\b(?:short|brief|concise|long|longer|detailed|\d+"
            r" (?:words?|sentences?|lines?|characters?)|one sentence|one line)\b|\b(?:reply"
            r"|answer|respond) in (?:one|two|three|\d+) (?:sentences?|words?|lines?)"
            r"|(?:回答|回复|答案|输出)[^，,。]{0,12}(?:简短|简洁|详细|\d+\s*(?:字|句|行)"
            r"|[一二三四五]句)"
        ),
        None,
    ),
)


def lays_down_rule(text: str, role: Role) -> bool:
    """Whether `text`, written in `role`, has a standing instruction."""
    if role not in ("user", "system", "developer"):
        return False
    return any(fact.effect != "revokes" for fact in rules(list(sentences(text)), role))


def rules(said: list[Sentence], role: Role) -> Iterator[Fact]:
    """Standing instructions and sentences that change them, in order."""
    found = list(islice(_all_rules(said, role), MOST_RULES))
    count = sum(fact.effect != "revokes" for fact in found)
    weight = min(1.0, math.sqrt(SOME_RULES / count)) if count else 1.0
    yield from (fact if weight == 1.0 else replace(fact, weight=weight) for fact in found)


def is_clear_rule(fact: Fact) -> bool:
    """Whether a standing instruction reads like one even where people speak to each other."""
    if fact.kind != "instruction":
        return False
    words = (_read_words(sentence) for sentence in sentences(fact.text))
    return any(_language_of(said).is_rule(said, is_prompt=False, above=CLEAR) for said in words)


def given_rule(text: str) -> Fact:
    """What a person says is a standing instruction, whether or not it reads like one.

    It replaces earlier rules about the same, and a user may take it back.
    """
    [sentence, *_] = [*sentences(text), Sentence(text, text, text.lower())]
    words = _read_words(sentence)
    change = replace(change_of(words, is_rule=True), effect="states")
    return _fact(sentence._replace(text=text, before=""), words, "user", change)


def _all_rules(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    for sentence, bound in zip(said, bound_by(said, role), strict=True):
        subjects = [one.subject for one in bound]
        rule = _rule(sentence, role)
        if rule is not None:
            yield replace(rule, subject=subjects.pop(0)) if subjects and not rule.subject else rule
        # A rule may have bound the same to another value: “Use A as the base URL”.
        yield from (_rebinding(sentence, subject) for subject in subjects)


def _rebinding(sentence: Sentence, subject: str) -> Fact:
    """What takes back the rules that bound something to another value."""
    text = one_line(sentence.text.strip(), RULE_CHARS)
    key = statement_key(text)
    return Fact(kind="instruction", text=text, key=key, subject=subject, effect="revokes")


def _rule(sentence: Sentence, role: Role) -> Fact | None:
    words = _read_words(sentence)
    if len(words) < 4 or _LINE_OF_FILE.match(words) or _is_code(words):
        return None
    change = _change(words, sentence.heading, role != "user")
    return None if change is None else _fact(sentence, words, role, change)


def _read_words(sentence: Sentence) -> str:
    return sentence.words.replace("*", " ").strip()


def _is_code(words: str) -> bool:
    may_be = any(map(words.__contains__, _OF_CODE))
    return may_be and len(_NOT_PROSE.findall(words)) > 2 + len(words) // 60


@lru_cache(maxsize=8_192)  # a summary asks of the sentences that the facts were found in
def _change(words: str, heading: str, is_prompt: bool) -> Change | None:
    """What a sentence changes; None if it is no rule and changes none."""
    is_rule = _is_rule(words, heading, is_prompt=is_prompt)
    change = change_of(words, is_rule=is_rule, is_prompt=is_prompt)
    return change if is_rule or change != NO_CHANGE else None


def _is_rule(words: str, heading: str, *, is_prompt: bool) -> bool:
    if _language_of(words).is_rule(words, is_prompt=is_prompt):
        return True
    is_item = bool(heading) and len(words) < 240 and bool(_RULES_FOLLOW.search(heading))
    return is_item and not words.rstrip().endswith(("?", "？", ":", "："))


def _language_of(words: str) -> Language:
    return CHINESE if has_han(words) else ENGLISH


def _fact(sentence: Sentence, words: str, role: Role, change: Change) -> Fact:
    revokes = change.effect == "revokes"
    topic = topic_of(words.replace(MASK, " "))
    text = one_line(sentence.text.strip(), RULE_CHARS)
    if not revokes and not topic and sentence.before and _PRONOUNS_ONLY.search(words):
        text = one_line(f"{sentence.before} {sentence.text}", RULE_CHARS)  # “Never do that again.”
    return Fact(
        kind="instruction",
        text=text,
        key=statement_key(text),
        subject=_slot(words),
        value=change.reach,
        effect=change.effect,
        # Quoted words lay nothing down, but tell what a rule is about.
        topic=topic_of(sentence.text) if MASK in sentence.masked else topic,
        about=change.about,
        role=role,
        is_negative=_language_of(words).is_negative(words),
    )


def _slot(words: str) -> str:
    """The subject on which only one rule can hold; empty for all others."""
    for name, pattern, unless in _SLOTS:
        if pattern.search(words) and not (unless and unless.search(words)):
            return name
    return ""
