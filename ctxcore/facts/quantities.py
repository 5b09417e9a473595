"""Owns amounts and numbers with their names: 5,000 EUR, timeout 30 s, port 8080, 预算 5000 元."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ctxcore.facts.dates import subject_of
from ctxcore.facts.reading import latin_words
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role

BARE_WEIGHT: Final = 0.5  # of what is seldom asked for again: 5s, 10%, a setting in printed code

_NUMBER: Final = r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?"
_UNIT: Final = (
    r"(?:%|percent|ms|s|sec(?:onds?)?|min(?:utes?)?|h(?:ours?|rs?)?|days?|weeks?|months?"
    r"|years?|[KMGT]i?B|bytes?|bits?|kg|g|lbs?|pounds?|km|mi(?:les?)?|cm|mm|m|feet|ft"
    r"|inch(?:es)?"
    r"|°[CF]|degrees|people|guests|persons?|passengers?|nights?|bags?|tickets?|tokens?"
    r"|words?|characters?|lines?|pages?|items?|requests?|users?|rows?|times|retries|px|pt"
    r"|dpi|fps|rpm|mph|kcal|cal(?:ories)?|cups?|tbsp|tsp|ml|l(?:iters?|itres?)?|oz|kWh|W"
    r"|V|Hz|[kKMG]Hz|stars?|points?)"
)
_MONEY = re.compile(
    r"[$€£¥￥]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?"
    r"|\d(?<![\w.,]\d)(?:[\d,]*\d)?(?:\.\d+)?\s?(?:k|m|million|billion|thousand)?\s?(?:USD|EUR"
    r"|GBP|CNY|RMB|JPY|CHF|dollars?|euros?|bucks|yuan|cents|Dollars?|Euros?)\b"
)
_MONEY_SIGNS: Final = (  # every amount of money has one of them
    *("$", "€", "£", "¥", "￥"),
    *("usd", "eur", "gbp", "cny", "rmb", "jpy", "chf", "dollar", "bucks", "yuan", "cents"),
)
_MONEY_HAN = re.compile(
    r"(?:人民币)?(?:\d[\d,]*(?:\.\d+)?"
    r"|[一二三四五六七八九十百千两]{1,6})\s?[万亿千百]?\s?(?:元|块钱|块(?=[，。、,]|$)"
    r"|美元|美金|欧元|英镑|日元|港币|人民币)"
)
_QUANTITY = re.compile(rf"\d(?<![\w.,$€£¥-]\d)(?:[\d,]*\d)?(?:\.\d+)?\s?{_UNIT}(?!\w)")
_QUANTITY_HAN = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s?(公斤|千克|公里|千米|平方米|平米|米|厘米|毫米|小时|分钟|秒"
    r"|毫秒|天|人|位|个人|张|间|晚|次|倍|度|字|行|页|条|项|件|岁|层|分|台|套|升|毫升|斤"
    r"|克|瓦|GB|MB|KB|%|％)"
)
_NOUN: Final = (
    r"ports?|timeouts?|budget|retries|retry limit|max(?:imum)?(?: \w+)?|min(?:imum)?(?:"
    r" \w+)?|limit|threshold|batch size|page size|chunk size|pool size|size|temperature"
    r"|version|age|height|weight|width|length"
    r"|deadline|interval|ttl|rate limit|quota|capacity|price|cost|fee|rent|salary|total"
    r"|count|score|rating|ratio|line|step|chapter|page|level|floor|room|number of \w+"
    r"|window|memory|workers?|threads?|replicas?|concurrency|delay|workdays|seed|epochs?"
    r"|learning rate|discount|tax(?: rate)?|coverage"
)
_NAMED_NUMBER = re.compile(
    rf"\b((?:[a-z][\w-]*[ _-])?(?:{_NOUN}))\b(?P<join>\s*(?:is|was|of|to|at|=|:|from \S+"
    r" to|set to|should be|must be|will be|changed to|is now|has been (?:set|raised"
    r"|lowered|changed) to|goes to|:=|->|→|are|about|around|under|over)?(?: (?:now|about"
    r"|around|set to|changed to|only|exactly))*\s*)"
    rf"(?P<value>[$€£¥]?\s?(?:{_NUMBER})(?:\.\d+)*(?:\s?(?:{_UNIT})(?!\w))?)",
    re.IGNORECASE,
)
_NOUN_WORDS = """
    port ports timeout timeouts budget retries retry max maximum min minimum limit threshold batch
    page chunk pool size temperature version age height weight width length deadline interval ttl
    rate quota capacity price cost fee rent salary total count score rating ratio line step chapter
    level floor room number window memory worker workers thread threads replica replicas
    concurrency delay workdays seed epoch epochs learning discount tax coverage
"""
_NOUNS: Final = frozenset(_NOUN_WORDS.split())  # every name has one of these words
_SETTING = re.compile(rf"[=:]\s?({_NUMBER})(?![\w.:/-])(\s?{_UNIT}(?!\w))?")
_SETTING_NAME = re.compile(r"(?<![\w.-])[A-Za-z][\w.-]{2,40}$")
_NAMED_NUMBER_HAN = re.compile(
    r"([\u4e00-\u9fff]{2,8}?)(?:是|为|有|约|大概|大约|在|设为|设置为|设成|改成|改为|调到"
    r"|调整为|提高到|降到|增加到|减到|不超过|：|:|="
    r"|\s)\s?(?P<value>\d[\d,]*(?:\.\d+)?\s?(?:[万亿千百]?元|[万亿]|公斤|公里|平方米|平米"
    r"|米|厘米|小时|分钟|秒|毫秒|天|人|位|张|间|晚|次|岁|GB|MB|KB|%|％|度|字|行|页|分|个"
    r"|层)?)"
)
_NO_NAME_HAN = re.compile("^(?:周|星期|大概|一般|记得|电话|手机)|[的得像了]$")
_WEAK_NAMES = frozenset(
    {
        "line",
        "lines",
        "step",
        "page",
        "chapter",
        "id",
        "index",
        "length",
        "start",
        "end",
        "offset",
        "limit",
    }
)


def quantities(text: str, counted: str, role: Role) -> Iterator[Fact]:
    """Amounts with a unit and numbers with a name; where both, the name has it.

    `counted` is the part of `text` around digits; only Chinese writes amounts without.
    """
    covered: set[str] = set()
    for fact in _named_numbers(counted, role) if counted else ():
        covered.add(fact.text)
        yield fact
    for words in _amounts(text, counted, role):
        if words not in covered and not words.isdigit():
            weight = BARE_WEIGHT if len(words) < 4 or words[0] == "0" else 1.0
            yield Fact(kind="amount", text=words, key=words.lower(), role=role, weight=weight)


def _amounts(text: str, counted: str, role: Role) -> Iterator[str]:
    lower = counted.lower()
    patterns = [_MONEY] if any(map(lower.__contains__, _MONEY_SIGNS)) else []
    patterns += [] if role == "tool" else [_QUANTITY]
    if not counted.isascii():
        patterns += [] if role == "tool" else [_QUANTITY_HAN]
    for pattern in patterns if counted else ():
        yield from (found[0].strip() for found in pattern.finditer(counted))
    if "元" in text or "块" in text:
        yield from (found[0].strip() for found in _MONEY_HAN.finditer(text))


def _named_numbers(text: str, role: Role) -> Iterator[Fact]:
    if role == "tool":
        yield from _settings(text, role)
        return
    if not _NOUNS.isdisjoint(latin_words(text)):
        for found in _NAMED_NUMBER.finditer(text):
            yield _quantity(found[1], found["value"], role)
    yield from _settings(text, role)
    if not text.isascii():
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
