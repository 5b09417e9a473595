"""Recognizes identifiers, paths and other exact strings in texts.

`exact_strings` finds everything that a later tool call may have to repeat; `kind_of_name` is
stricter and tells paths and identifiers from ordinary words and numbers.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits
from typing import Literal

from ctxcore.text.known_words import KnownWords
from ctxcore.text.patterns import blanks_except

URL = re.compile(
    r"(?:https?|ftp|wss?|s3|gs|postgres(?:ql)?|redis|mysql|sqlite|ssh|git)(?:\+\w+)?"
    r"://[^\s\"'<>`)\]}，。；、）」]{3,160}"
)
EMAIL = re.compile(r"[A-Za-z0-9][\w.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_EXTENSION = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|ya?ml|toml|md|mdx|rst|txt|csv|tsv|html?|s?css|less|sql"
    "|sh|bash|zsh|ps1|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|ex|exs|erl|lua|r|ipynb|ini|cfg"
    "|conf|env|lock|log|xml|svg|png|jpe?g|gif|pdf|docx?|xlsx?|pptx?|zip|tar|gz|db|sqlite|proto"
    "|graphql|vue|tf|gradle|properties|patch|diff"
)
_PATH = re.compile(
    rf"(?:~|\.{{1,2}}|[A-Za-z]:|\$\w+)?[/\\][\w.@+-][\w.@+/\\-]*|[\w.@+-]+(?:/[\w.@+-]+)+/?"
    rf"|[\w@+-][\w.@+-]*\.(?:{_EXTENSION})|\.[a-z]\w+(?:rc|ignore|env)"
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
    r"(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor|users?|origin|topic)"
    r"/[\w.-]+(?:/[\w.-]+)*"
)
# Dates, times, counts with a unit, and words such as `20-year-old` or `utf-8`.
_NO_IDENTIFIER = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?\w*|\d{1,2}-\d{1,2}(?:-\d{2,4})?|\d+(?:st|nd|rd|th"
    r"|[kmgt]b|ms|px|am|pm|x|k|m|s|h|d|w|kg|km|cm|mm|gb|mb)"
    r"|\d+-(?:year|day|week|month|hour|minute|step|line|point|part|way|bit|inch|page|star"
    r"|time)[\w-]*|L\d+|h[1-6]|utf-?8|sha-?\d+|\d+-\d+",
    re.IGNORECASE,
)
_EXACT_RUN = re.compile(r"[A-Za-z0-9_~./@#+-][A-Za-z0-9_./@:#+~-]*")
_TO_EXACT_RUNS = blanks_except(ascii_letters + digits + "_~./@#+-:")  # then `:` begins none
_EXACT_SIGN = re.compile(r"[0-9_/@.]|[a-z][A-Z]")
# Each exact string has a sign, a capital behind the beginning, or a dot inside.
_MAY_BE_EXACT = (re.compile(r"[0-9_/@]"), re.compile("[A-Z]"), re.compile(r"\.[A-Za-z.:#+~-]"))
_EDGES = ".:,#+-~"
_CODE_CHARS = 3  # JFK, EUR: shorter words in capitals are mostly no codes
_BARE_NUMBER = re.compile(r"[\d.,:+-]+")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def exact_strings(text: str) -> tuple[str, ...]:
    """The ids, paths, dates, numbers and addresses in `text`, each once, in order."""
    has_sign, has_capital, has_dot = _MAY_BE_EXACT
    if not (has_sign.search(text) or has_capital.search(text, 1) or has_dot.search(text)):
        return ()
    runs = text.translate(_TO_EXACT_RUNS).split() if text.isascii() else _EXACT_RUN.findall(text)
    return tuple(dict.fromkeys(filter(None, map(_EXACT.__getitem__, runs))))


def _exact_string(run: str) -> str | None:
    run = run.lstrip(":") or ":"
    word = run.strip(_EDGES) if run[0] != "." else run.rstrip(_EDGES)
    if len(word) < 2:
        return word if word.isdigit() else None
    is_code = word.isupper() and len(word) >= _CODE_CHARS
    return word if is_code or _EXACT_SIGN.search(word) else None


_EXACT = KnownWords(_exact_string)


def is_bare_number(word: str) -> bool:
    """Whether `word` is digits and their punctuation alone: an amount, a line, a size, a time."""
    return _BARE_NUMBER.fullmatch(word) is not None


def kind_of_name(word: str) -> Literal["path", "identifier"] | None:
    """Whether `word` is a path or an identifier; None for other words and numbers."""
    if _UUID.fullmatch(word):
        return "identifier"
    if "/" in word or "\\" in word or "." in word:
        return _kind_with_separators(word)
    if word.isdigit():
        return "identifier" if len(word) >= 7 else None
    patterns = [_ENVIRONMENT]
    if any(map(str.isdigit, word)):
        patterns += [_IDENTIFIER, _HASH, _VERSION]
    is_identifier = any(pattern.fullmatch(word) for pattern in patterns)
    return "identifier" if is_identifier and not _NO_IDENTIFIER.fullmatch(word) else None


def _kind_with_separators(word: str) -> Literal["path", "identifier"] | None:
    if _BRANCH.fullmatch(word) and not re.search(r"\.\w{1,4}$", word):
        return "identifier"
    if _PATH.fullmatch(word) and not re.fullmatch(r"[\d./-]+|[A-Za-z]+/[A-Za-z]+|\w/\w", word):
        return "path" if len(word) > 3 and not _NO_PATH.fullmatch(word) else None
    return "identifier" if _VERSION.fullmatch(word) else None


def snake_case(tool: str) -> str:
    """The name of a tool in snake case, without its server: `read_all` for `mcp__fs__readAll`."""
    return _CAMEL_HUMP.sub("_", tool.rpartition("__")[2]).lower()
