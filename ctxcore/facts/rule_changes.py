"""Detects sentences that take a rule back or change it, in English and Chinese.

`superseding` finds the rules that they mean; without a rule about the same topic they do nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from ctxcore.facts import chinese_changes, english_changes
from ctxcore.facts.reading import latin_words
from ctxcore.facts.values import ClauseChange, Effect
from ctxcore.text.languages import has_han
from ctxcore.text.words import word_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of a sentence on earlier rules, and how it points at them.

    `latest` may mean the rule just given (“forget that rule”); `perhaps` may be about something
    else altogether (“use the blue one instead”), so that more words must be shared; `aimed` is
    about the topic of one clause.
    """

    effect: Effect = "states"
    reach: Literal["", "latest", "perhaps", "aimed"] = ""
    about: tuple[ClauseChange, ...] = ()
    own: str = ""
    """The clauses that make the change, where other clauses are about somebody else."""


NO_CHANGE: Final = Change()
MOST_ABOUT: Final = 4  # clauses of one sentence; chosen: more are a story

_REVOKES = re.compile(
    r"\b(?:(?:you|we)(?:'re| are)?(?: now)? (?:may|can|could|are (?:now )?(?:allowed|free|welcome)"
    r" to|may now|can now)\b(?! (?:not|never|no longer))[^.;]*\b(?:again|now|after all|anyway"
    r"|from now on|freely)\b|(?:now|from now on)\b[ ,]+(?:you|we) (?:may|can|are (?:allowed"
    r"|free))\b(?! (?:not|never|only|no longer))|you (?:may|can) now\b|no longer (?:need(?:ed"
    r"|s)?|requir\w+|necessary|appl(?:y|ies)|want(?:ed)?|mandatory|forbidden|banned|off[- ]limits"
    r"|prohibited|have to|has to|must|valid|in force|care|matters?|a rule|insist|mind)\b|(?:not"
    r"|n't) (?:need(?:ed)?|requir\w+|necessary|mandatory|forbidden|banned|have|off[- ]limits"
    r"|a rule|matter|apply)\b[^.;]*\b(?:any ?more|any longer|now|from now on)\b|(?:do not|don't"
    r"|need not|needn't|doesn't|does not)(?: (?:need|have)(?: to| for)?| always have to| bother)\b"
    r"[^.;]*\b(?:any ?more|any longer|from now on|now|going forward)\b|no (?:more )?need (?:to"
    r"|for)\b[^.;]*\b(?:any ?more|any longer|now|from now on)\b|(?:forget|ignore|disregard"
    r"|scrap|drop|cancel|lift|remove|revoke|withdraw|undo|scratch|never ?mind|dump|retire|relax"
    r"|waive|discard|skip)\b[^.;]*\b(?:rules?|instructions?|restrictions?|ban|requirements?"
    r"|constraints?|limits?|guidelines?|policy|what i said|i (?:said|told|asked|wanted|gave)"
    r"|thing about|part about|freeze)\b|(?:rule|restriction|ban|requirement|limit|constraint"
    r"|instruction|policy|freeze|guideline)s?\b[^.;]*\b(?:no longer|(?:is|are) (?:off|gone"
    r"|lifted|over|cancel\w+|void|history|dropped|withdrawn|revoked)|(?:has|have) been (?:lifted"
    r"|dropped|removed|cancel\w+|revoked|withdrawn))\b|(?:is|are|it's|that's|am|i'm)(?: now"
    r"| all)? (?:fine|ok|okay|allowed|permitted|welcome|acceptable|all right|alright|good|free"
    r"|open|safe|unlocked|optional)\b[^.;]*\b(?:again|now|after all|from now on|any ?more)\b"
    r"|(?:is|are|it's) now (?:fine|ok|okay|allowed|permitted|welcome|acceptable|all right|alright"
    r"|optional|unlocked)\b|(?:is|are) (?:now )?optional\b|not mandatory\b|(?:feel free to"
    r"|start|resume|go ahead and)\b[^.;]*\b(?:again|now|after all)\b|(?:go|going|went|switch"
    r"|switching) back to\b|you can stop\b|you may stop\b|i(?:'ve| have)? changed my mind\b"
    r"|i don't (?:mind|care)\b[^.;]*\b(?:any ?more|any longer|now)\b)|^(?:there(?:'s| is) )?no"
    r" (?:more )?need (?:to|for)\b"
)
_UPDATES = re.compile(
    r"\b(?:instead\b|rather than\b|actually\b|change of plans?\b|correction\b|switch(?:ed|ing)?"
    r" (?:to|from|over)\b|no longer\b|any ?more\b|any longer\b|new rule\b|replac\w+\b|update(?:d)?"
    r"\b(?=[^.]{0,30}\brule)|stop [a-z]+ing\b|change (?:that|the|my|it)\b|make (?:it|that)\b)"
    r"|^(?:ok(?:ay)?[, ]+)?now\b|^(?:please )?(?:forget|drop|scrap) (?:about )?the\b"
)
_LATEST = re.compile(  # points at the rule just given, without its words
    r"\b(?:forget|ignore|scratch|drop|cancel|scrap|undo|lift|disregard|revoke)(?: about)?"
    r" (?:that|this|the last|the previous|my last|my previous)\b"
    r"(?: (?:last|previous|one|rule|instruction|restriction)|[.!]*$)"
    r"|\b(?:that|this|the last|the previous|my last|my previous)"
    r" (?:rule|instruction|restriction|limit|ban|requirement)\b"
)
_REVOKES_HAN = re.compile(
    "不用再|不必再|无需再|不需要再|不再需要|不必[^，。]{1,20}了|不用[^，。]{1,20}了"
    "|无需[^，。]{1,20}了|不需要[^，。]{1,20}了|不再(?:要求|限制|禁止|强制|适用)"
    "|(?:现在|以后|今后|又|已经|重新|还是)(?:又|也|就|你|您|都)*可以|可以(?:不|再|继续"
    "|重新|随便|恢复)[^，。？?]{1,20}|可以[^，。？?]{1,24}了|允许[^，。]{1,20}了|(?:取消"
    "|撤销|解除|废除|收回|去掉|放宽|作废)[^，。]{0,24}(?:规定|要求|限制|规则|禁令|约束"
    "|指令|那条|的话|说法)|(?<![^，,。；\\s])(?:取消|撤销|解除|废除|收回|去掉"
    "|放宽)(?=[^，。]{2})"
    "|(?:规定|要求|限制|规则|禁令|约束|那条|说的)[^，。]{0,16}(?:作废|取消|不算|无效"
    "|解除|失效|不适用)|(?:忘掉|忘了|忽略|不用管|别管|无视)[^，。]{0,6}(?:之前|刚才|前面"
    "|上面|我说|那条|那个)|恢复(?:使用|用|成|到|原)|不强制|没(?:有)?必要再|改变主意"
    "|也可以了|解禁"
)
_UPDATES_HAN = re.compile(
    "改成|改为|改用|换成|换为|调整为|更新为|变成|而不是|代替|不再|别再|不要再|更正|纠正"
    "|还是(?:用|要|改)|改一下|取代|从今天起改|改到|别再|太[少多长短][，,了]"
)
_LATEST_HAN = re.compile(
    "(?:刚才|上面|上一条|前面|之前)(?:说的|的)?(?:那条|那个|规则|要求|规定|话)?(?:作废"
    "|取消|不算|不用管|忽略)|(?:取消|撤销|忽略|忘掉)(?:刚才|上一条|上面|那条)|^(?:改成"
    "|改为|换成)"
)
_TURNS_INTO: Final = re.compile("改成|改为|改用|换成|换为|调整为|更新为")
_CLAUSE: Final = re.compile(r"[,;，；]\s*(?:but |不过|但是?)?")
_CUES: Final = word_set("""
    again now freely longer anymore more forget ignore disregard scrap drop cancel lift remove
    revoke withdraw undo scratch mind nevermind dump retire relax waive discard skip rule rules
    restriction restrictions ban requirement limit constraint instruction policy freeze
    guideline optional mandatory free back stop mind changed instead rather actually change plan
    plans correction switch switched switching replace replaces replaced update updated make
    lifted dropped feel resume need anyway after
""")
_ALL_CUES: Final = _CUES | english_changes.CUE_PARTS
_FORBIDS: Final = re.compile(
    r"\b(?:never|always|must|only|don't use|do not use|stop [a-z]+ing)\b|不要|别再|必须|只能|一律"
    r"|禁止|务必|改用|改成|改为|换成"
)
_LIFTS: Final = re.compile(
    r"\bno longer (?:need|have|must|requir)|\b(?:don't|do not) (?:need|have|bother)"
    r"|不用再|不必|取消|作废|不需要|撤销|解除"
)
_ASKS: Final = re.compile(
    "[?？]$|(?:吗|呢|么)[。！!]*$|^(?:can|could|may|should|do|does|is|are|why|what|how"
    "|when)\\b.*\\?"
)


def change_of(sentence: str, *, is_rule: bool, is_prompt: bool = False) -> Change:
    """How a sentence, lower case and masked, changes earlier rules.

    A prompt lays rules down and takes none back in passing, so only whole sentences count in it.
    """
    is_chinese = has_han(sentence)
    latin = latin_words(sentence)
    if not is_chinese and _ALL_CUES.isdisjoint(latin):
        return NO_CHANGE
    words = sentence.strip(" \"'*_")
    if not is_rule and _ASKS.search(words):
        return NO_CHANGE
    if is_chinese or not _CUES.isdisjoint(latin):
        if (_LATEST_HAN if is_chinese else _LATEST).search(words):
            return Change(effect="updates" if is_rule else "revokes", reach="latest")
        change = _by_form(words, is_rule=is_rule, is_chinese=is_chinese)
    else:
        change = NO_CHANGE
    return (
        change if is_prompt else _by_clause(words, change, is_rule=is_rule, is_chinese=is_chinese)
    )


def _by_clause(words: str, change: Change, *, is_rule: bool, is_chinese: bool) -> Change:
    """`change` with the changes of single clauses, or these alone."""
    forms = chinese_changes if is_chinese else english_changes
    clauses = forms.CLAUSES.own(words)
    if change != NO_CHANGE and clauses != forms.CLAUSES.of(words):
        own = ", ".join(clauses)
        change = _by_form(own, is_rule=is_rule, is_chinese=is_chinese)
        change = replace(change, own=own) if change != NO_CHANGE else change
    about = tuple(islice(forms.aims(words), MOST_ABOUT))
    if change != NO_CHANGE:
        return replace(change, about=about) if about else change
    effect: Effect = "updates" if is_rule else "revokes"
    return Change(effect=effect, reach="aimed", about=about) if about else NO_CHANGE


def _by_form(words: str, *, is_rule: bool, is_chinese: bool) -> Change:
    """The change that the sentence makes as a whole."""
    if _revokes(words, is_rule=is_rule, is_chinese=is_chinese):
        return Change(effect="revokes")
    if is_rule and any(
        _revokes(c, is_rule=True, is_chinese=is_chinese) for c in _CLAUSE.split(words)
    ):
        return Change(effect="updates")
    if (_UPDATES_HAN if is_chinese else _UPDATES).search(words):
        if is_rule:
            return Change(effect="updates")
        return Change(effect="revokes", reach="" if _TURNS_INTO.search(words) else "perhaps")
    return NO_CHANGE


def _revokes(words: str, *, is_rule: bool, is_chinese: bool) -> bool:
    if not (_REVOKES_HAN if is_chinese else _REVOKES).search(words):
        return False
    # “never … again” and “from now on, only …” lay down a rule, whatever else they say.
    return not is_rule or not _FORBIDS.search(words) or bool(_LIFTS.search(words))
