"""Detects sentences that take a rule back or change it, in English and Chinese.

`superseding` finds the rules that they mean; without a rule about the same topic they do nothing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.facts.chinese_changes import CHINESE
from ctxcore.facts.english_changes import ENGLISH
from ctxcore.facts.values import ClauseChange, Effect
from ctxcore.text.languages import has_han


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of a sentence on earlier rules, and its clauses that may change them.

    `latest` may mean the rule just given (“forget that rule”).
    """

    effect: Effect = "states"
    reach: Literal["", "latest"] = ""
    about: tuple[ClauseChange, ...] = ()


NO_CHANGE: Final = Change()
MOST_ABOUT: Final = 4  # clauses of one sentence; chosen: more are a story
FLOOR: Final = 0.6  # of a sign; chosen: nearly all changes are above it, five of six sentences not

_LATEST: Final = re.compile(  # points at the rule just given, without its words
    r"\b(?:forget|ignore|scratch|drop|cancel|scrap|undo|lift|disregard|revoke)(?: about)?"
    r" (?:that|this|the last|the previous|my last|my previous)\b"
    r"(?: (?:last|previous|one|rule|instruction|restriction)|[.!]*$)"
    r"|\b(?:that|this|the last|the previous|my last|my previous)"
    r" (?:rule|instruction|restriction|limit|ban|requirement)\b"
    "|(?:刚才|上面|上一条|前面|之前)(?:说的|的)?(?:那条|那个|规则|要求|规定|话)?(?:作废|取消|不算"
    "|不用管|忽略)|(?:取消|撤销|忽略|忘掉)(?:刚才|上一条|上面|那条)|^(?:改成|改为|换成)"
)
_GIVEN_ANEW: Final = re.compile(  # “Update to the rule: you may …” is the rule from then on
    r"(?:(?:an?|one|small|quick|new) )*(?:update|correction|change|amendment)s?"
    r" (?:to|of|in|for) (?:\w+ ){0,4}(?:rules?|instructions?|plans?|policy|limits?|restrictions?)\b"
    r"[^:]{0,60}:|(?:rules?|instructions?) (?:update|change|correction):"
    "|(?:规则|规定|要求|规矩)(?:有)?(?:更新|变更|调整|修改|改动|变化)[^:：]{0,20}[:：]"
    "|(?:更新|修改|调整|更正)(?:一下)?(?:规则|规定|要求|规矩)[^:：]{0,20}[:：]"
)

_TIME: Final = r"\d[\d:.]*(?: ?[ap]m)?"
_WHILE: Final = re.compile(  # what is only for some time leaves the rule as it is
    rf"\b(?:between {_TIME} and {_TIME}|from {_TIME} (?:to|until|till) {_TIME}|until|till|tonight"
    r"|today|for (?:the next|now|today|tonight)|this (?:time|week|weekend|morning|evening))\b"
    r"|今天|今晚|这次|本周|暂时|期间|\d+[点:：]\d*[^，,。]{0,3}[到至]"
)


def change_of(sentence: str, *, is_rule: bool, is_prompt: bool = False) -> Change:
    """How a sentence, lower case and masked, changes earlier rules.

    A rule may change another one without a sign, by another value; those of a prompt are too many.
    """
    signs = CHINESE if has_han(sentence) else ENGLISH
    is_given_anew = _GIVEN_ANEW.match(sentence) is not None
    if is_given_anew and _WHILE.search(sentence):
        return Change(effect="updates")
    is_rule = is_rule or is_given_anew
    takes_all = is_rule and not is_prompt
    least = -math.inf if takes_all else FLOOR
    about = tuple(signs.changes(sentence.strip(" \"'*_.。"), least=least))
    clear = [aim for aim in about if max(aim.sign, aim.freeing) >= FLOOR]
    if not about:
        return NO_CHANGE
    effect: Effect = "revokes" if not is_rule else "updates" if clear else "states"
    is_latest = bool(clear and _LATEST.search(sentence))
    return Change(effect=effect, reach="latest" if is_latest else "", about=about[:MOST_ABOUT])
