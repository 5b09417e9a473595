"""Finds literals: URLs, paths, identifiers, dates, amounts, and numbers with a name or a unit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from ctxcore.facts.dates import dates, subject_of
from ctxcore.facts.reading import near_digits
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import Role
from ctxcore.text.identifiers import EMAIL, URL, kind_of_name
from ctxcore.text.languages import HAN
from ctxcore.text.latin import latin_words
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

# Chosen: bounds on the work that one message can make; what goes beyond them is a log or a dump.
MOST_RUNS: Final = 1_500  # different ones of a message
SHORTEST_RUN: Final = 4  # characters, with the blank behind it
PROSE_DIGIT_CHARS: Final = 8_000  # around digits, in what people and models write
OUTPUT_DIGIT_CHARS: Final = 1_500  # around digits, in what tools print: mostly tables
MOST_OF_A_KIND: Final = 24
LITERAL_CHARS: Final = 160

_RUN = late(r"[A-Za-z0-9_./\\~$@#%&?=:+-]{3,}")
# A path or an identifier has a digit, a separator, or is in capitals; a word may end in a stop.
_SIGNED_RUN = late(
    r"(?<![A-Za-z0-9_./\\~$@#%&?=:+-])(?=[A-Za-z~$@#%&?=:+-]*+"
    r"(?:[0-9_/\\]|\.(?=[\w./\\~$@#%&?=:+-])|(?<=(?:-[a-fA-F]{4}){3}-[a-fA-F]{12})))"
    r"[A-Za-z0-9_./\\~$@#%&?=:+-]{3,}",
    re.ASCII,
)
_SIGNS: Final = "0123456789_/\\"
_INNER_STOP = late(r"\.(?=[\w./\\~$@#%&?=:+-])", re.ASCII)
UUID_HYPHENS: Final = 4
_OWNERS = word_set("""
    ticket order reservation booking confirmation invoice case issue flight account customer
    tracking user job run build commit branch pr room gate seat table class payment certificate
    card passport serial session container pod task
""")
_NAMED = late(
    rf"\b({'|'.join(sorted(_OWNERS))})(?: (?:id|number|no\.?|code|name|hash|key))?"
    r"(?: (?:is|was|called|named))?(?::|=| #| )\s?[`\"'#]?([A-Za-z0-9][\w./-]{0,40})",
    re.IGNORECASE,
)
_NAMED_HAN = late(
    r"((?:订单|工单|航班|车次|房间|分支|版本)(?:编?号|号码|名|id|ID)?"
    r"|(?:预订|预定|票|单|编|账|用户|会员|快递|运单|手机|电话|卡|学|工|批次|型|座位|合同|发票)(?:编?号|号码|码|名|id|ID))"
    r"(?:是|为|:|：|\s)?\s?([A-Za-z0-9][A-Za-z0-9_./-]{1,30})"
)
_CODE = late(r'"([A-Z]{3,5})"')
"""A value of JSON that is a code, of an airport, a currency, a share: calls repeat it as it is.
Chosen: longer words in capitals are mostly names of states."""
_EDGES = ".,:;?!/\\&=+-%"
_STOPS = ".,:;?!"  # behind a word in a sentence


def literals(text: str, role: Role) -> Iterator[Fact]:
    """The literals of `text`; of each kind the first `MOST_OF_A_KIND`."""
    seen: dict[Kind, set[str]] = defaultdict(set)
    for fact in _all_literals(text, role):
        keys = seen[fact.kind]
        if fact.key not in keys and len(keys) < MOST_OF_A_KIND:
            keys.add(fact.key)
            yield fact


def _all_literals(text: str, role: Role) -> Iterator[Fact]:
    if "://" in text:  # most text has none, and `in` is faster than the pattern
        for url in URL.findall(text)[:MOST_OF_A_KIND]:
            yield _fact("url", url.rstrip(".,:;!?*_"), role)
        text = URL.sub(" ", text)
    if "@" in text:
        for run in dict.fromkeys(text.split()):
            if "@" in run and (found := EMAIL.search(run[:LITERAL_CHARS])):
                yield _fact("identifier", found[0], role)
    counted = near_digits(text, OUTPUT_DIGIT_CHARS if role == "tool" else PROSE_DIGIT_CHARS)
    named = list(_named_identifiers(counted, role)) if counted else []
    yield from named
    known = {fact.text for fact in named}
    for run in _signed_runs(text):
        word = _word_in(run)
        if word and word not in known and (kind := kind_of_name(word)):
            yield _fact(kind, word, role)
    if role == "tool" and '"' in text:
        for code in dict.fromkeys(_CODE.findall(text)):
            yield _fact("identifier", code, role)
    yield from dates(text, counted, role)
    yield from quantities(text, counted, role)


def _signed_runs(text: str) -> Iterable[str]:
    """The different runs of characters that may be a path or an identifier, in order."""
    if not _may_sign(text):
        return ()
    if len(text) < MOST_RUNS * SHORTEST_RUN:
        return dict.fromkeys(_SIGNED_RUN.findall(text))
    runs = islice(dict.fromkeys(_RUN.findall(text)), MOST_RUNS)
    return filter(_SIGNED_RUN.match, runs)


def _may_sign(text: str) -> bool:
    """Whether `text` has a sign of `_SIGNED_RUN`: most prose has none."""
    has_sign = any(map(text.__contains__, _SIGNS)) or text.count("-") >= UUID_HYPHENS
    return has_sign or bool(_INNER_STOP.search(text))


def _named_identifiers(text: str, role: Role) -> Iterator[Fact]:
    """Identifiers behind the name of what they identify: `order 4711`, `航班 CA123`."""
    patterns = [] if _OWNERS.isdisjoint(latin_words(text)) else [_NAMED]
    for pattern in patterns if text.isascii() else [*patterns, _NAMED_HAN]:
        for found in pattern.finditer(text):
            literal = found[2].rstrip("./-")
            is_short = literal.isdigit() and len(literal) < 3
            if any(map(str.isdigit, literal)) and not is_short and "/" not in literal:
                yield _fact("identifier", literal, role, subject=found[1].lower())


def _word_in(run: str) -> str:
    """A run of characters without its punctuation, a name before `=`, and places in a file."""
    word = run.strip(_EDGES) if run[-1] in _EDGES or run[0] in ":?&=+%-" else run
    if run[0] in "/~." and not word.startswith(run[0]):
        word = run.rstrip(_EDGES)
    word = word.rpartition("=")[2]
    word = re.sub(r":\d+(?::\d+)?$", "", word) if ":" in word else word
    return word if 3 <= len(word) <= LITERAL_CHARS and not word.isalpha() else ""


def _fact(kind: Kind, text: str, role: Role, *, subject: str = "") -> Fact:
    key = text if kind == "path" else text.lower()
    return Fact(kind=kind, text=text, key=key, subject=subject, role=role)


BARE_WEIGHT: Final = 0.5  # of 5s, 10%, a setting in code; chosen: seldom needed again

_NUMBER: Final = r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?"
_UNIT: Final = (
    r"(?:%|percent|ms|s|sec(?:onds?)?|min(?:utes?)?|h(?:ours?|rs?)?|days?|weeks?|months?|years?"
    r"|[KMGT]i?B|bytes?|bits?|kg|g|lbs?|pounds?|km|mi(?:les?)?|cm|mm|m|feet|ft|inch(?:es)?|°[CF]"
    r"|degrees|people|guests|persons?|passengers?|nights?|bags?|tickets?|tokens?|words?|characters?"
    r"|lines?|pages?|items?|requests?|users?|rows?|times|retries|px|pt|dpi|fps|rpm|mph|kcal"
    r"|cal(?:ories)?|cups?|tbsp|tsp|ml|l(?:iters?|itres?)?|oz|kWh|W|V|Hz|[kKMG]Hz|stars?|points?)"
)
_MONEY = late(
    r"[$€£¥￥]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?"
    r"|\d(?<![\w.,]\d)(?:[\d,]*\d)?(?:\.\d+)?\s?(?:k|m|million|billion|thousand)?\s?(?:USD|EUR"
    r"|GBP|CNY|RMB|JPY|CHF|dollars?|euros?|bucks|yuan|cents|Dollars?|Euros?)\b"
)
_MONEY_SIGNS: Final = (  # every amount of money has one of them
    *("$", "€", "£", "¥", "￥"),
    *("usd", "eur", "gbp", "cny", "rmb", "jpy", "chf", "dollar", "bucks", "yuan", "cents"),
)
_MONEY_HAN = late(
    r"(?:人民币)?(?:\d[\d,]*(?:\.\d+)?|[一二三四五六七八九十百千两]{1,6})\s?[万亿千百]?\s?(?:元"
    r"|块钱|块(?=[，。、,]|$)|美元|美金|欧元|英镑|日元|港币|人民币)"
)
_QUANTITY = late(rf"\d(?<![\w.,$€£¥-]\d)(?:[\d,]*\d)?(?:\.\d+)?\s?{_UNIT}(?!\w)")
_QUANTITY_HAN = late(
    r"(\d[\d,]*(?:\.\d+)?)\s?(公斤|千克|公里|千米|平方米|平米|米|厘米|毫米|小时|分钟|秒"
    r"|毫秒|天|人|位|个人|张|间|晚|次|倍|度|字|行|页|条|项|件|岁|层|分|台|套|升|毫升|斤"
    r"|克|瓦|GB|MB|KB|%|％)"
)
_NOUN: Final = (
    r"ports?|timeouts?|budget|retries|retry limit|max(?:imum)?(?: \w+)?|min(?:imum)?(?:"
    r" \w+)?|limit|threshold|batch size|page size|chunk size|pool size|size|temperature"
    r"|version|age|height|weight|width|length|deadline|interval|ttl|rate limit|quota|capacity|price"
    r"|cost|fee|rent|salary|total|count|score|rating|ratio|line|step|chapter|page|level|floor|room"
    r"|number of \w+|window|memory|workers?|threads?|replicas?|concurrency|delay|workdays|seed"
    r"|epochs?|learning rate|discount|tax(?: rate)?|coverage"
)
_NAMED_NUMBER = late(
    rf"\b((?:[a-z][\w-]*[ _-])?(?:{_NOUN}))\b(?P<join>\s*(?:is|was|of|to|at|=|:|from \S+"
    r" to|set to|should be|must be|will be|changed to|is now|has been (?:set|raised"
    r"|lowered|changed) to|goes to|:=|->|→|are|about|around|under|over)?(?: (?:now|about"
    r"|around|set to|changed to|only|exactly))*\s*)"
    rf"(?P<value>[$€£¥]?\s?(?:{_NUMBER})(?:\.\d+)*(?:\s?(?:{_UNIT})(?!\w))?)",
    re.IGNORECASE,
)
_NOUNS: Final = word_set("""
    port ports timeout timeouts budget retries retry max maximum min minimum limit threshold batch
    page chunk pool size temperature version age height weight width length deadline interval ttl
    rate quota capacity price cost fee rent salary total count score rating ratio line step chapter
    level floor room number window memory worker workers thread threads replica replicas
    concurrency delay workdays seed epoch epochs learning discount tax coverage
""")  # every name has one of these words
_SETTING = late(rf"[=:]\s?({_NUMBER})(?![\w.:/-])(\s?{_UNIT}(?!\w))?")
_SETTING_NAME = late(r"(?<![\w.-])[A-Za-z][\w.-]{2,40}$")
_NAMED_NUMBER_HAN = late(
    rf"([{HAN}]{{2,8}}?)(?:是|为|有|约|大概|大约|在|设为|设置为|设成|改成|改为|调到|调整为"
    r"|提高到|降到|增加到|减到|不超过|：|:|=|\s)\s?(?P<value>\d[\d,]*(?:\.\d+)?\s?(?:[万亿千百]?元"
    r"|[万亿]|公斤|公里|平方米|平米|米|厘米|小时|分钟|秒|毫秒|天|人|位|张|间|晚|次|岁|GB|MB|KB|%|％"
    r"|度|字|行|页|分|个|层)?)"
)
_NO_NAME_HAN = late("^(?:周|星期|大概|一般|记得|电话|手机)|[的得像了]$")
_WEAK_NAMES = word_set("line lines step page chapter id index length start end offset limit")


def quantities(text: str, counted: str, role: Role) -> Iterator[Fact]:
    """Amounts with a unit and numbers with a name; where both, the name has it.

    `counted` is the part of `text` around digits; only Chinese writes amounts without.
    """
    named = list(_named_numbers(counted, role)) if counted else []
    yield from named
    covered = {fact.text for fact in named}
    for words in _amounts(text, counted, role):
        if words not in covered and not words.isdigit():
            weight = BARE_WEIGHT if len(words) < 4 or words[0] == "0" else 1.0
            yield Fact(kind="amount", text=words, key=words.lower(), role=role, weight=weight)


def _amounts(text: str, counted: str, role: Role) -> Iterator[str]:
    lower = counted.lower()
    patterns = [_MONEY] if counted and any(map(lower.__contains__, _MONEY_SIGNS)) else []
    if counted and role != "tool":
        patterns += [_QUANTITY] if counted.isascii() else [_QUANTITY, _QUANTITY_HAN]
    for pattern in patterns:
        yield from (found[0].strip() for found in pattern.finditer(counted))
    if "元" in text or "块" in text:
        yield from (found[0].strip() for found in _MONEY_HAN.finditer(text))


def _named_numbers(text: str, role: Role) -> Iterator[Fact]:
    is_prose = role != "tool"
    if is_prose and not _NOUNS.isdisjoint(latin_words(text)):
        for found in _NAMED_NUMBER.finditer(text):
            yield _quantity(found[1], found["value"], role)
    yield from _settings(text, role)
    if is_prose and not text.isascii():
        for found in _NAMED_NUMBER_HAN.finditer(text):
            if not _NO_NAME_HAN.search(found[1]):
                yield _quantity(found[1], found["value"], role)


def _settings(text: str, role: Role) -> Iterator[Fact]:
    """Numbers as programs write them: `timeout=30`, `"port": 8080`."""
    for found in _SETTING.finditer(text):
        before = text[max(0, found.start() - 44) : found.start()].rstrip(" \"'")
        name = _SETTING_NAME.search(before)
        if name and name[0].lower() not in _WEAK_NAMES:
            fact = _quantity(name[0], f"{found[1]}{found[2] or ''}", role)
            yield replace(fact, subject=name[0], weight=BARE_WEIGHT if role != "user" else 1.0)


def _quantity(name: str, value: str, role: Role) -> Fact:
    subject = subject_of(name.replace("_", " ") if name.islower() else name)
    words = value.strip()
    return Fact(
        kind="number",
        text=words,
        key=f"{subject.lower()}=",
        subject=subject,
        value=words.lower().replace(" ", ""),
        role=role,
    )
