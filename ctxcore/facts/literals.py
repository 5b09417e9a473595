"""Owns literals: identifiers, paths, URLs, dates, amounts and named numbers, as they were written.

The text is cut into runs of letters, digits and joining signs once; each different run is looked at
once. What is only a word is left to others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from ctxcore.facts.dates import dates
from ctxcore.facts.quantities import quantities
from ctxcore.facts.reading import latin_words, near_digits
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import Role

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
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|ya?ml|toml|md|mdx|rst|txt|csv|tsv|html?"
    "|s?css|less|sql|sh|bash|zsh|ps1|go|rs"
    "|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|ex|exs|erl|lua|r|ipynb|ini|cfg|conf|env"
    "|lock|log|xml|svg|png|jpe?g|gif|pdf"
    "|docx?|xlsx?|pptx?|zip|tar|gz|db|sqlite|proto|graphql|vue|tf|gradle|properties|patch|diff"
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
