"""Owns amounts and numbers with their names: 5,000 EUR, timeout 30 s, port 8080, 预算 5000 元."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from ctxcore.facts.dates import dates, subject_of
from ctxcore.facts.reading import latin_words, near_digits
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import Role

BARE_WEIGHT: Final = 0.5  # of what is seldom asked for again: 5s, 10%, a setting in printed code

_NUMBER: Final = r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?"
_UNIT: Final = (
    r"(?:%|percent|ms|s|sec(?:onds?)?|min(?:utes?)?|h(?:ours?|rs?)?|days?|weeks?|months?|years?"
    r"|[KMGT]i?B|bytes?|bits?|kg|g|lbs?|pounds?|km|mi(?:les?)?|cm|mm|m|feet|ft|inch(?:es)?|°[CF]"
    r"|degrees|people|guests|persons?|passengers?|nights?|bags?|tickets?|tokens?|words?|characters?"
    r"|lines?|pages?|items?|requests?|users?|rows?|times|retries|px|pt|dpi|fps|rpm|mph|kcal"
    r"|cal(?:ories)?|cups?|tbsp|tsp|ml|l(?:iters?|itres?)?|oz|kWh|W|V|Hz|[kKMG]Hz|stars?|points?)"
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
    r"(?:人民币)?(?:\d[\d,]*(?:\.\d+)?|[一二三四五六七八九十百千两]{1,6})\s?[万亿千百]?\s?(?:元"
    r"|块钱|块(?=[，。、,]|$)|美元|美金|欧元|英镑|日元|港币|人民币)"
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
    r"|version|age|height|weight|width|length|deadline|interval|ttl|rate limit|quota|capacity|price"
    r"|cost|fee|rent|salary|total|count|score|rating|ratio|line|step|chapter|page|level|floor|room"
    r"|number of \w+|window|memory|workers?|threads?|replicas?|concurrency|delay|workdays|seed"
    r"|epochs?|learning rate|discount|tax(?: rate)?|coverage"
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
    r"([\u4e00-\u9fff]{2,8}?)(?:是|为|有|约|大概|大约|在|设为|设置为|设成|改成|改为|调到|调整为"
    r"|提高到|降到|增加到|减到|不超过|：|:|=|\s)\s?(?P<value>\d[\d,]*(?:\.\d+)?\s?(?:[万亿千百]?元"
    r"|[万亿]|公斤|公里|平方米|平米|米|厘米|小时|分钟|秒|毫秒|天|人|位|张|间|晚|次|岁|GB|MB|KB|%|％"
    r"|度|字|行|页|分|个|层)?)"
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


MOST_RUNS: Final = 1_500  # different ones of a message
PROSE_DIGIT_CHARS: Final = 8_000  # around digits, of what people and models say
OUTPUT_DIGIT_CHARS: Final = 1_500  # and of what tools print: mostly tables
MOST_OF_A_KIND: Final = 24
LITERAL_CHARS: Final = 160

_RUN = re.compile(r"[A-Za-z0-9_./\\~$@#%&?=:+-]{3,}")
_URL = re.compile(
    r"(?:https?|ftp|wss?|s3|gs|postgres(?:ql)?|redis|mysql|sqlite|ssh"
    r"|git)(?:\+\w+)?://[^\s\"'<>`)\]}，。；、）」]{3,160}"
)
_EMAIL = re.compile(r"[A-Za-z0-9][\w.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_EXTENSION = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|ya?ml|toml|md|mdx|rst|txt|csv|tsv|html?|s?css|less|sql"
    "|sh|bash|zsh|ps1|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|ex|exs|erl|lua|r|ipynb|ini|cfg"
    "|conf|env|lock|log|xml|svg|png|jpe?g|gif|pdf|docx?|xlsx?|pptx?|zip|tar|gz|db|sqlite|proto"
    "|graphql|vue|tf|gradle|properties|patch|diff"
)
_PATH = re.compile(
    rf"(?:~|\.{{1,2}}|[A-Za-z]:|\$\w+)?[/\\][\w.@+-][\w.@+/\\-]*"
    rf"|[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w@+-][\w.@+-]*\.(?:{_EXTENSION})|\.[a-z]\w+(?:rc"
    r"|ignore|env)"
)
_NO_PATH = re.compile(
    r"[\\/][\w-]*|\\.*|(?:node|next|vue|three|express)\.js|console\.\w+|[eE]\.g|.*\.{3}.*",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HASH = re.compile(
    r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{16}|[0-9a-f]{20,64})"
)
_IDENTIFIER = re.compile(
    r"[A-Za-z]{1,12}[-_#]\d{2,}[\w-]{0,30}|[A-Z]{1,10}-?\d{2,}[A-Z\d-]{0,20}"
    r"|\d{1,6}-(?=\w*\d)[A-Za-z]\w{1,12}|#\d{1,9}|(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{6,24}"
    r"|[a-z]+(?:_[a-z]+)*_\d{2,12}|[a-z]{2,10}_[A-Za-z0-9]{8,40}"
    r"|(?=[\w-]*\d)[a-z0-9]+(?:-[a-z0-9]+){1,5}|\d{7,20}|\d{2,5}-\d{2,5}-\d{2,8}"
)
_ENVIRONMENT = re.compile(r"\$?[A-Z][A-Z0-9]{1,}(?:_[A-Z0-9]+)+")
_VERSION = re.compile(r"v?\d+\.\d+(?:\.\d+)+(?:-[\w.]+)?|v\d+(?:\.\d+)*")
_BRANCH = re.compile(
    r"(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor|users?|origin"
    r"|topic)/[\w.-]+(?:/[\w.-]+)*"
)
_NAME_WORDS = """
    ticket order reservation booking confirmation invoice case issue flight account customer
    tracking user job run build commit branch pr room gate seat table class payment certificate
    card passport serial session container pod task
"""
_NAMES = frozenset(_NAME_WORDS.split())
_NAMED = re.compile(
    rf"\b({'|'.join(_NAME_WORDS.split())})(?: (?:id|number|no\.?|code|name|hash|key))?"
    r"(?: (?:is|was|called|named))?(?::|=| #| )\s?[`\"'#]?([A-Za-z0-9][\w./-]{0,40})",
    re.IGNORECASE,
)
_NAMED_HAN = re.compile(
    r"((?:订单|工单|航班|车次|房间|分支|版本)(?:编?号|号码|名|id|ID)?"
    r"|(?:预订|预定|票|单|编|账|用户|会员|快递|运单|手机|电话|卡|学|工|批次|型|座位|合同|发票)(?:编?号|号码|码|名|id|ID))"
    r"(?:是|为|:|：|\s)?\s?([A-Za-z0-9][A-Za-z0-9_./-]{1,30})"
)
_DIGIT = re.compile(r"\d")
_TRIM = ".,:;?!/\\&=+-%"
_STOPS = ".,:;?!"  # behind a word in a sentence


def literals(text: str, role: Role) -> Iterator[Fact]:
    """The literals of `text`; at most `MOST_OF_A_KIND` of each kind, those said first."""
    seen: set[tuple[str, str]] = set()
    room: dict[Kind, int] = {}
    for fact in _all(text, role):
        if (fact.kind, fact.key) in seen or room.get(fact.kind, 0) >= MOST_OF_A_KIND:
            continue
        seen.add((fact.kind, fact.key))
        room[fact.kind] = room.get(fact.kind, 0) + 1
        yield fact


def _all(text: str, role: Role) -> Iterator[Fact]:
    if "://" in text:  # the search starts at the mark: most text has none
        for url in _URL.findall(text)[:MOST_OF_A_KIND]:
            yield _fact("url", url.rstrip(".,:;!?*_"), role)
        text = _URL.sub(" ", text)
    if "@" in text:
        for run in dict.fromkeys(text.split()):
            if "@" in run and (found := _EMAIL.search(run[:LITERAL_CHARS])):
                yield _fact("identifier", found[0], role)
    counted = near_digits(text, OUTPUT_DIGIT_CHARS if role == "tool" else PROSE_DIGIT_CHARS)
    named: set[str] = set()
    if counted:
        for fact in _named(counted, role):
            named.add(fact.text)
            yield fact
    runs = islice(dict.fromkeys(_RUN.findall(text)), MOST_RUNS)
    for run in [run for run in runs if not run.rstrip(_STOPS).isalpha()]:
        one = _literal(run, role)
        if one is not None and one.text not in named:
            yield one
    yield from dates(text, counted, role)
    yield from quantities(text, counted, role)


def _named(text: str, role: Role) -> Iterator[Fact]:
    patterns = [] if _NAMES.isdisjoint(latin_words(text)) else [_NAMED]
    for pattern in patterns if text.isascii() else [*patterns, _NAMED_HAN]:
        for found in pattern.finditer(text):
            literal = found[2].rstrip("./-")
            is_plain = literal.isdigit() and len(literal) < 3
            if _DIGIT.search(literal) and not is_plain and "/" not in literal:
                yield _fact("identifier", literal, role, subject=found[1].lower())


def _literal(run: str, role: Role) -> Fact | None:
    """The fact that a run of signs is, if it is one."""
    word = run.strip(_TRIM) if run[-1] in _TRIM or run[0] in ":?&=+%-" else run
    if run[0] in "/~." and not word.startswith(run[0]):
        word = run.rstrip(_TRIM)
    word = word.rpartition("=")[2] if "=" in word else word
    word = re.sub(r":\d+(?::\d+)?$", "", word) if ":" in word else word
    if len(word) < 3 or len(word) > LITERAL_CHARS or word.isalpha():
        return None
    kind = _kind(word)
    return _fact(kind, word, role) if kind else None


def _kind(word: str) -> Kind | None:
    if _UUID.fullmatch(word):
        return "identifier"
    if "/" in word or "\\" in word or "." in word:
        if _BRANCH.fullmatch(word) and not re.search(r"\.\w{1,4}$", word):
            return "identifier"
        if _PATH.fullmatch(word) and not re.fullmatch(r"[\d./-]+|[A-Za-z]+/[A-Za-z]+|\w/\w", word):
            return "path" if len(word) > 3 and not _NO_PATH.fullmatch(word) else None
        return "identifier" if _VERSION.fullmatch(word) else None
    if not _DIGIT.search(word):
        return "identifier" if _ENVIRONMENT.fullmatch(word) else None
    if word.isdigit():
        return "identifier" if len(word) >= 7 else None
    is_one = (
        _IDENTIFIER.fullmatch(word)
        or _HASH.fullmatch(word)
        or _ENVIRONMENT.fullmatch(word)
        or (_VERSION.fullmatch(word) and len(word) > 2)
    )
    return "identifier" if is_one and not _is_plain(word) else None


def _is_plain(word: str) -> bool:
    """Dates, times and counts with a unit are other kinds; `20-year-old` and `3-5` are words."""
    return bool(
        re.fullmatch(
            r"\d{4}-\d{1,2}(?:-\d{1,2})?\w*|\d{1,2}-\d{1,2}(?:-\d{2,4})?|\d+(?:st|nd|rd|th"
            r"|[kmgt]b|ms|px|am|pm|x|k|m|s|h|d|w|kg|km|cm|mm|gb|mb)"
            r"|\d+-(?:year|day|week|month|hour|minute|step|line|point|part|way|bit|inch|page|star"
            r"|time)[\w-]*|L\d+|h[1-6]|utf-?8|sha-?\d+|\d+-\d+",
            word,
            re.IGNORECASE,
        )
    )


def _fact(kind: Kind, text: str, role: Role, *, subject: str = "") -> Fact:
    return Fact(
        kind=kind,
        text=text,
        key=text.lower() if kind != "path" else text,
        subject=subject,
        role=role,
    )
