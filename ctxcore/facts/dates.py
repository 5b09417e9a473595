"""Finds dates and times, written and spoken, in English and Chinese; the words stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.languages import HAN, has_han
from ctxcore.text.latin import latin_words, plain_words
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_CLOCK: Final = (
    r"(?:\d{1,2}(?::\d{2}){1,2}(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?|noon|midnight)"
)
_AT: Final = (
    rf"(?:,? (?:at|by|around|from|before|after|until) {_CLOCK}| {_CLOCK}| (?:morning"
    r"|afternoon|evening|night))?"
)

_ENGLISH = late(
    rf"\b(?:{_CLOCK},? on (?:\d{{1,2}} {MONTH}(?:,? \d{{4}}\b)?"
    rf"|{MONTH} \d{{1,2}}(?:,? \d{{4}}\b)?|{DAY})"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}})?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?"
    rf"|\d{{4}}/\d{{1,2}}/\d{{1,2}}|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}"
    rf"|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?{_AT}|\d{{1,2}}(?:st|nd|rd"
    rf"|th)?(?: of)? {MONTH}(?:,? \d{{4}}\b)?{_AT}|{MONTH} \d{{4}}\b|(?:(?:next|this|last|coming"
    rf"|every|on) )?{DAY}{_AT}|(?:tomorrow|yesterday|today|tonight|the day after tomorrow){_AT}"
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
_DATE_DIGITS = late(r"\d(?::\d\d|/\d|\.\d\d?\.\d{4}|\d{3}-\d\d)")
_MONTHS: Final = word_set("""
    jan january feb february mar march apr april may jun june jul july aug august sep sept september
    oct october nov november dec december
""")
# A date without a digit has one of these words.
_SPOKEN_WORDS: Final = word_set("""
    noon midnight tomorrow yesterday today tonight ago monday mondays tuesday tuesdays
    wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays
    minute minutes hour hours day days week weeks weekend month months year years summer winter
    spring fall autumn quarter
""")
_DATE_WORDS: Final = _MONTHS | _SPOKEN_WORDS | word_set("am pm m")
_NUMERAL: Final = "[一二三四五六七八九十两\\d]{1,3}"
_PART: Final = "(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)"
_HOUR: Final = (
    f"(?:{_PART}?{_NUMERAL}点(?:半|整|{_NUMERAL}分?|一刻|三刻)?"
    f"|{_PART}?\\d{{1,2}}[:：]\\d{{2}}|{_PART})"
)
_CHINESE = late(
    f"(?:\\d{{4}}年)?{_NUMERAL}月(?:{_NUMERAL}[日号]|[初中底])?{_HOUR}?|\\d{{4}}年"
    f"|(?:[上下这本]个?|每)?(?:周|星期|礼拜)[一二三四五六日天末]{_HOUR}?"
    f"|(?:大后天|后天|明天|昨天|前天|今天|今晚|明晚|明早){_HOUR}?|(?:下|上|本)个?(?:月|周"
    f"|季度|学期)(?:{_NUMERAL}[日号]|[初中底])?|(?:明年|去年|后年|今年){_NUMERAL}?月?"
    f"|{_NUMERAL}[号日](?![线码楼店馆院])(?:之?前|之?后)?{_HOUR}?"
    f"|{_HOUR}|{_NUMERAL}(?:天|周|个月|年|小时|分钟)(?:之?后|之?前|以内)|春节|国庆节?"
    "|元旦|中秋节?|端午节?|清明节?"
)
_DIGIT = late("[0-9]")
_NUMERIC = late(  # as programs print them
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\w)"
    r"|\d{4}/\d{2}/\d{2}(?!\d)"
)
_WRITTEN = late(rf"{_NUMERIC.pattern}|\b{MONTH} \d{{1,2}},? \d{{4}}\b")
_ABSOLUTE = late(rf"\d{{4}}|\d[/.]\d|{MONTH} \d|\d {MONTH}|\d月|[日号]|(?i:{DAY})|周|星期")
RELATIVE_WEIGHT: Final = 0.5  # of “last month”; chosen: it says little without the message's date
_VAGUE = word_set(
    "today yesterday tonight 今天 昨天 今年 凌晨 早上 早晨 上午 中午 下午 傍晚 晚上 夜里"
)

_SAYS: Final = (
    r" (?:is|was|will be|has been|got|gets|starts?|begins?|ends?|takes place|happens|opens|closes"
    r"|due)(?: now| then)?(?: due| set| planned| scheduled| moved| rescheduled| postponed| pushed"
    r"| changed| shifted| brought forward)?(?: to| on| at| for| by| from| until| in)?"
    rf" (?P<date>{_ENGLISH.pattern})"
)
_HAS_SUBJECT = late(_SAYS, re.IGNORECASE)  # tells fast whether `_SUBJECT` finds anything
_SUBJECT = late(
    r"\b(?:the|our|my|your|this|its|his|her|their)?\s?((?!it\b|this\b|that\b|there\b"
    rf"|today\b|he\b|she\b)[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?){_SAYS}",
    re.IGNORECASE,
)
_MOVED = late(
    r"\b(?:move|push|postpone|reschedule|shift|change|set|delay|bring)(?:d|ed)? (?:the"
    rf"|our|my) ([a-z][\w-]*(?: [a-z][\w-]*){{0,2}}?) (?:forward )?(?:from .{{1,30}}"
    rf" )?(?:to|for|until|on) (?P<date>{_ENGLISH.pattern})",
    re.IGNORECASE,
)
_MOVES = ("move", "push", "postpone", "reschedule", "shift", "change", "set", "delay", "bring")
_SUBJECT_HAN = late(
    f"([{HAN}]{{2,8}}?)(?:的?(?:时间|日期|截止日期?))?(?:是|为|在|定在|安排在"
    "|改到|改成|改为|推迟到|提前到|延到|延期到|挪到|订在|定于|："
    f"|:)(?P<date>{_CHINESE.pattern})"
)


def dates(text: str, counted: str, role: Role) -> Iterator[Fact]:
    """Dates and times; one with a clear subject (“the meeting is on …”) is named after it.

    `counted` is the part of `text` around digits; of the rest, lines with words such as Friday.
    """
    if not counted and not _may_speak(text):  # most prose
        return
    is_tool = role == "tool"
    is_numeric = is_tool and _MONTHS.isdisjoint(latin_words(counted))
    pattern = _NUMERIC if is_numeric else _WRITTEN if is_tool else _ENGLISH
    in_counted = _found(pattern, counted)
    spoken = "" if is_tool or not _may_speak(text) else _lines_with_date_words(text)
    in_spoken = _found(_ENGLISH, spoken)
    han = "" if text.isascii() else "\n".join(filter(has_han, text.split("\n")))
    in_han = list(_CHINESE.finditer(han))
    dated = (counted if in_counted else "", spoken if in_spoken else "")
    named = [] if is_tool else list(_named(dated, han if in_han else "", role))
    yield from named
    covered = tuple(fact.text for fact in named)
    for found in (*in_counted, *in_spoken, *in_han):
        words = found[0].strip(" .,")
        if words.lower() not in _VAGUE and len(words) > 1 and not words.endswith(covered):
            weight = 1.0 if _ABSOLUTE.search(words) else RELATIVE_WEIGHT
            yield Fact(kind="date", text=words, key=words.lower(), role=role, weight=weight)


_MASK: Final = "\0"
_SHORT_WORDS = late(rf"\b(?:{MONTH}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*|[ap]\.?m\.?)(?!\w)")
_DIGITS = late(r"\d+")


def without_times(line: str) -> str | None:
    """`line` with every date, time and number masked; None where it has neither date nor time.

    Two lines that differ only in the time are then the same.
    """
    masked = _ENGLISH.sub(_MASK, _NUMERIC.sub(_MASK, line))
    if not line.isascii():
        masked = _CHINESE.sub(_MASK, masked)
    if _MASK not in masked:
        return None
    return _DIGITS.sub(_MASK, _SHORT_WORDS.sub(_MASK, masked))


def _found(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The dates in `text`; the slow search runs only where digits or a word may make one."""
    may_date = _DATE_DIGITS.search(text) or not _DATE_WORDS.isdisjoint(latin_words(text))
    return list(pattern.finditer(text)) if may_date else []


def _named(dated: Sequence[str], han: str, role: Role) -> Iterator[Fact]:
    """The dates with a subject in English texts that hold dates, and in a Chinese one."""
    may_name = [text for text in dated if _HAS_SUBJECT.search(text)]
    may_move = [text for text in dated if any(map(text.lower().__contains__, _MOVES))]
    for pattern, texts in ((_SUBJECT, may_name), (_MOVED, may_move), (_SUBJECT_HAN, [han])):
        for found in (match for text in texts for match in pattern.finditer(text)):
            subject, date = subject_of(found[1]), found["date"].strip(" .,")
            value = date.lower()
            key = f"{subject}=" if subject else value
            yield Fact(kind="date", text=date, key=key, subject=subject, value=value, role=role)


def _may_speak(text: str) -> bool:
    """Whether `text` may have a date in words alone; a quick test of plain texts."""
    return not text.isascii() or not _SPOKEN_WORDS.isdisjoint(latin_words(text))


def _lines_with_date_words(text: str) -> str:
    """The lines and sentences of `text` with a word that may be a date, and no digit."""
    return "\n".join(filter(_is_spoken_date, re.split(r"\n|(?<=[.!?]) ", text)))


def _is_spoken_date(piece: str) -> bool:
    if piece.isascii() and _SPOKEN_WORDS.isdisjoint(plain_words(piece)):
        return False
    return any(map(piece.lower().__contains__, _WORDS)) and not _DIGIT.search(piece)


_LEADING = late(
    r"^(?:(?:the|our|my|your|this|its|his|her|their|that|and|but|so|ok|okay|actually|then|now|well"
    r"|a|an|new|current|if|when|because|since|though|i think|think|said|says|know|hope|guess)\s+)+"
)
_LEADING_HAN = late(
    "^(?:那|那么|好的?|我们?的?|你们?的?|这个?|那个?|把|将|所以|但是?|请|新的|现在|目前"
    "|本次|今后|以后|另外|还有|下次的?)+"
)


_NO_SUBJECT = word_set("it which what there who that 这 那 它 时间 日期")


def subject_of(words: str) -> str:
    """The name of a thing without what leads to it: “The team meeting”, “our team meeting”."""
    plain = _LEADING_HAN.sub("", _LEADING.sub("", " ".join(words.lower().split())))
    return "" if plain in _NO_SUBJECT else plain
