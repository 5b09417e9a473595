"""Owns dates and times, written and spoken, in English and Chinese; the words stay as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.reading import latin_words
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.languages import HAN

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_CLOCK: Final = (
    r"(?:\d{1,2}(?::\d{2}){1,2}(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?|noon|midnight)"
)
_AT: Final = (
    rf"(?:,? (?:at|by|around|from|before|after|until) {_CLOCK}| {_CLOCK}| (?:morning"
    r"|afternoon|evening|night))?"
)

_ENGLISH = re.compile(
    rf"\b(?:{_CLOCK},? on (?:\d{{1,2}} {_MONTH}(?:,? \d{{4}}\b)?"
    rf"|{_MONTH} \d{{1,2}}(?:,? \d{{4}}\b)?|{_DAY})"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}})?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?"
    rf"|\d{{4}}/\d{{1,2}}/\d{{1,2}}|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?{_AT}|\d{{1,2}}(?:st|nd|rd"
    rf"|th)?(?: of)? {_MONTH}(?:,? \d{{4}}\b)?{_AT}|{_MONTH} \d{{4}}\b|(?:(?:next|this|last|coming"
    rf"|every|on) )?{_DAY}{_AT}|(?:tomorrow|yesterday|today|tonight|the day after tomorrow){_AT}"
    r"|(?:next|last|this coming|the following) (?:week(?:end)?|month|year|summer|winter"
    r"|spring|fall|autumn|quarter)"
    r"|(?:in|within) (?:a|an|one|two|three|four|five|six|ten|\d+) (?:more )?(?:minutes?"
    r"|hours?|days?|weeks?|months?|years?)\b|(?:\d+|two|three|four|five|a few) (?:days?"
    rf"|weeks?|months?|years?) ago|{_CLOCK})(?!\w)",
    re.IGNORECASE,
)
_WORDS: Final = (
    *("day", "tomorrow", "tonight", "next ", "last ", "noon", "midnight", "following ", "within "),
    *(" ago", "in a ", "in an ", "in one ", "in two ", "in three ", "coming "),
)
_DATE_DIGITS = re.compile(r"\d(?::\d\d|/\d|\.\d\d?\.\d{4}|\d{3}-\d\d)")
_MONTH_WORDS = """
    jan january feb february mar march apr april may jun june jul july aug august sep sept september
    oct october nov november dec december
"""
_MONTHS: Final = frozenset(_MONTH_WORDS.split())
_OTHER_WORDS = """
    am pm m noon midnight tomorrow yesterday today tonight ago monday mondays tuesday tuesdays
    wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays
    minute minutes hour hours day days week weeks weekend month months year years summer winter
    spring fall autumn quarter
"""
_DATE_WORDS: Final = _MONTHS | frozenset(_OTHER_WORDS.split())
_NUMERAL: Final = "[一二三四五六七八九十两\\d]{1,3}"
_PART: Final = "(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)"
_HOUR: Final = (
    f"(?:{_PART}?{_NUMERAL}点(?:半|整|{_NUMERAL}分?|一刻|三刻)?"
    f"|{_PART}?\\d{{1,2}}[:：]\\d{{2}}|{_PART})"
)
_CHINESE = re.compile(
    f"(?:\\d{{4}}年)?{_NUMERAL}月(?:{_NUMERAL}[日号]|[初中底])?{_HOUR}?|\\d{{4}}年"
    f"|(?:[上下这本]个?|每)?(?:周|星期|礼拜)[一二三四五六日天末]{_HOUR}?"
    f"|(?:大后天|后天|明天|昨天|前天|今天|今晚|明晚|明早){_HOUR}?|(?:下|上|本)个?(?:月|周"
    f"|季度|学期)(?:{_NUMERAL}[日号]|[初中底])?|(?:明年|去年|后年|今年){_NUMERAL}?月?"
    f"|{_NUMERAL}[号日](?![线码楼店馆院])(?:之?前|之?后)?{_HOUR}?"
    f"|{_HOUR}|{_NUMERAL}(?:天|周|个月|年|小时|分钟)(?:之?后|之?前|以内)|春节|国庆节?"
    "|元旦|中秋节?|端午节?|清明节?"
)
_DIGIT = re.compile("[0-9]")
_HAS_HAN = re.compile(f"[{HAN}]")
_NUMERIC = re.compile(  # as programs print them
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\w)"
    r"|\d{4}/\d{2}/\d{2}(?!\d)"
)
_WRITTEN = re.compile(rf"{_NUMERIC.pattern}|\b{_MONTH} \d{{1,2}},? \d{{4}}\b")
_ABSOLUTE = re.compile(rf"\d{{4}}|\d[/.]\d|{_MONTH} \d|\d {_MONTH}|\d月|[日号]|(?i:{_DAY})|周|星期")
RELATIVE_WEIGHT: Final = 0.5  # “last month” says little once it is not known from when
_EMPTY = frozenset(
    {
        "today",
        "yesterday",
        "今天",
        "昨天",
        "早上",
        "上午",
        "中午",
        "下午",
        "晚上",
        "今年",
        "tonight",
        "凌晨",
        "傍晚",
        "夜里",
        "早晨",
    }
)

_SAYS: Final = (
    r" (?:is|was|will be|has been|got|gets|starts?|begins?|ends?|takes place|happens|opens|closes"
    r"|due)(?: now| then)?(?: due| set| planned| scheduled| moved| rescheduled| postponed| pushed"
    r"| changed| shifted| brought forward)?(?: to| on| at| for| by| from| until| in)?"
    rf" (?P<date>{_ENGLISH.pattern})"
)
_SAID_OF = re.compile(_SAYS, re.IGNORECASE)  # without the matter: found or not in no time
_MATTER = re.compile(
    r"\b(?:the|our|my|your|this|its|his|her|their)?\s?((?!it\b|this\b|that\b|there\b"
    rf"|today\b|he\b|she\b)[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?){_SAYS}",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:move|push|postpone|reschedule|shift|change|set|delay|bring)(?:d|ed)? (?:the"
    rf"|our|my) ([a-z][\w-]*(?: [a-z][\w-]*){{0,2}}?) (?:forward )?(?:from .{{1,30}}"
    rf" )?(?:to|for|until|on) (?P<date>{_ENGLISH.pattern})",
    re.IGNORECASE,
)
_MOVES = ("move", "push", "postpone", "reschedule", "shift", "change", "set", "delay", "bring")
_MATTER_HAN = re.compile(
    f"([\u4e00-\u9fff]{{2,8}}?)(?:的?(?:时间|日期|截止日期?))?(?:是|为|在|定在|安排在"
    "|改到|改成|改为|推迟到|提前到|延到|延期到|挪到|订在|定于|："
    f"|:)(?P<date>{_CHINESE.pattern})"
)


def dates(text: str, counted: str, role: Role) -> Iterator[Fact]:
    """Dates and times; one said of a clear matter (“the meeting is on …”) knows its subject.

    `counted` is the part of `text` around digits; further lines are read for words such as Friday.
    """
    covered: list[str] = []
    is_tool = role == "tool"
    in_counted = _found(_written_in(counted) if is_tool else _ENGLISH, counted)
    spoken = "" if is_tool else _spoken(text)
    in_spoken = _found(_ENGLISH, spoken)
    han = "" if text.isascii() else "\n".join(filter(_HAS_HAN.search, text.split("\n")))
    if not is_tool:
        for fact in _said_of(counted if in_counted else "", spoken if in_spoken else "", han, role):
            covered.append(fact.text)
            yield fact
    for found in (*in_counted, *in_spoken, *_CHINESE.finditer(han)):
        yield from _plain(found[0], covered, role)


def _found(dates_of: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(dates_of.finditer(text)) if text and _may_date(text) else []


def _written_in(text: str) -> re.Pattern[str]:
    """What finds the dates that a program prints in `text`."""
    return _NUMERIC if _MONTHS.isdisjoint(latin_words(text)) else _WRITTEN


def _said_of(counted: str, spoken: str, han: str, role: Role) -> Iterator[Fact]:
    """Dates said of a matter; where no date is, none is said of one."""
    for part, pattern in (
        (counted if _SAID_OF.search(counted) else "", _MATTER),
        (spoken if _SAID_OF.search(spoken) else "", _MATTER),
        (counted if _may_move(counted) else "", _MOVED),
        (spoken if _may_move(spoken) else "", _MOVED),
        (han, _MATTER_HAN),
    ):
        for found in pattern.finditer(part) if part else ():
            yield _of(subject_of(found[1]), found["date"], role)


def _may_move(text: str) -> bool:
    return bool(text) and any(map(text.lower().__contains__, _MOVES))


def _may_date(text: str) -> bool:
    """Whether `text` has digits or a word that every date has one of."""
    return bool(_DATE_DIGITS.search(text)) or not _DATE_WORDS.isdisjoint(latin_words(text))


def _spoken(text: str) -> str:
    """The lines of `text` with a word that may be a date, without a digit of its own."""
    lower = text.lower()
    if not any(map(lower.__contains__, _WORDS)):
        return ""
    pieces = re.split(r"\n|(?<=[.!?]) ", text)
    return "\n".join(
        piece
        for piece in pieces
        if any(map(piece.lower().__contains__, _WORDS)) and not _DIGIT.search(piece)
    )


def _plain(words: str, covered: list[str], role: Role) -> Iterator[Fact]:
    words = words.strip(" .,")
    if words.lower() not in _EMPTY and len(words) > 1 and not words.endswith(tuple(covered)):
        weight = 1.0 if _ABSOLUTE.search(words) else RELATIVE_WEIGHT
        yield Fact(kind="date", text=words, key=words.lower(), role=role, weight=weight)


def _of(subject: str, date: str, role: Role) -> Fact:
    date = date.strip(" .,")
    key = f"{subject}=" if subject else date.lower()
    return Fact(kind="date", text=date, key=key, subject=subject, value=date.lower(), role=role)


_LEADING = re.compile(
    r"^(?:(?:the|our|my|your|this|its|his|her|their|that|and|but|so|ok|okay|actually|then"
    r"|now|well|a|an|new|current|if|when|because|since|though|i think|think|said|says"
    r"|know|hope|guess|says)\s+)+"
)
_LEADING_HAN = re.compile(
    "^(?:那|那么|好的?|我们?的?|你们?的?|这个?|那个?|把|将|所以|但是?|请|新的|现在|目前"
    "|本次|今后|以后|另外|还有|下次的?)+"
)


def subject_of(words: str) -> str:
    """The name of a thing in a plain form: “The team meeting” and “our team meeting” meet."""
    plain = _LEADING_HAN.sub("", _LEADING.sub("", " ".join(words.lower().split())))
    return (
        ""
        if plain
        in ("it", "which", "what", "there", "who", "that", "这", "那", "它", "时间", "日期")
        else plain
    )
