"""Texts that make a pattern or a parser look at the same characters again and again.

Each is made at any length, so that work can be compared between lengths.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Final

Maker = Callable[[int], str]
"""A text of about so many characters."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"

_UNITS: Final[Mapping[str, str]] = {
    # one character
    **{f"only {name}": char for name, char in {
        "small letters": "a", "capitals": "A", "digits": "7", "zeros": "0", "spaces": " ",
        "tabs": "\t", "line feeds": "\n", "carriage returns": "\r", "nulls": "\x00",
        "stars": "*", "underscores": "_", "equals signs": "=", "dashes": "-", "plus signs": "+",
        "number signs": "#", "at signs": "@", "tildes": "~", "backticks": "`", "pipes": "|",
        "slashes": "/", "backslashes": "\\", "dots": ".", "commas": ",", "colons": ":",
        "semicolons": ";", "question marks": "?", "exclamation marks": "!", "ampersands": "&",
        "percent signs": "%", "dollar signs": "$", "carets": "^", "double quotes": '"',
        "apostrophes": "'", "opening parentheses": "(", "closing parentheses": ")",
        "opening brackets": "[", "closing brackets": "]", "opening braces": "{",
        "closing braces": "}", "less-than signs": "<", "greater-than signs": ">",
        "Chinese characters": "中", "Chinese full stops": "。", "Chinese commas": "，",
        "opening Chinese quotes": "“", "opening corner brackets": "「", "kana": "あ",
        "hangul": "한", "Arabic letters": "م", "Cyrillic letters": "ж", "ellipses": "…",
        "emoji": "😀", "combining marks": "\u0301", "zero-width joiners": "\u200d",
        "lone high surrogates": "\ud800", "lone low surrogates": "\udc00",
        "wide spaces": "\u3000", "non-breaking spaces": "\xa0", "line separators": "\u2028",
        "next lines": "\x85", "dotted capital I": "İ", "escape characters": "\x1b",
    }.items()},
    # a few characters
    "letters and spaces": "a ", "letters and dots": "a.", "letters and dashes": "a-",
    "letters and underscores": "a_", "letters and slashes": "a/", "letters and colons": "a:",
    "letters and at signs": "a@", "letters and line feeds": "a\n", "dots and spaces": ". ",
    "digits and dots": "1.", "digits and commas": "1,", "digits and dashes": "1-",
    "digits and colons": "12:", "digits and slashes": "1/", "digits and spaces": "1 ",
    "humps": "aB", "words of two scripts": "a中", "stars and spaces": "* ",
    "stars and underscores": "*_", "bold words": "**a**", "links": "[a](b)", "images": "![](",
    "spaces and line feeds": " \n", "windows lines": "\r\n", "blank lines with tabs": "\t\n",
    "quotes and spaces": '" ', "quotes and letters": '"a', "apostrophes and letters": "'a ",
    "escaped quotes": '\\"', "quotes with commas": '","', "brackets in turn": "[]",
    "braces in turn": "{}", "lists within lists": "[[", "objects within objects": '{"a":',
    "lists within objects": '[{"a":', "brackets that do not match": "[}(]{)", "fences": "```\n",
    "fences of tildes": "~~~\n", "quoted lines": "> a\n", "rules": "---\n", "headings": "# a\n",
    "bullets": "- a\n", "numbered lines": "1. a\n", "tables of bars": "|a|b|\n",
    "opening tags": "<a>", "opening tags without end": "<a ", "closing tags": "</a>",
    "comments": "<!--", "scripts": "<script>", "self-closing tags": "<a/>", "entities": "&amp;",
    "color codes": "\x1b[31m", "escape sequences without end": "\x1b[", "window titles": "\x1b]0;",
    "letters with combining marks": "e\u0301", "joined emoji": "👩\u200d👩\u200d👧 ",
    "flags": "🇩🇪", "skin tones": "👍🏽", "surrogates in pairs": "\ud83d\ude00",
    "surrogates and letters": "\ud800a", "addresses": "a@b.co ", "links to pages": "http://a/",
    "paths": "/a/b", "windows paths": "C:\\a", "versions": "1.2.3-", "dates": "2024-01-",
    "times": "12:30:", "money": "$1,", "hexadecimal": "0x1f", "uuids": "0a1b2c3d-",
    "environment names": "A_B", "conditions": "if a, ", "negations": "never not ",
    "rules of conduct": "always a ", "errors": "error ", "errors in a line": "Error: a ",
    "nothing failed": "0 errors ", "tracebacks": "Traceback ", "Chinese sentences": "请不要。",
    "Chinese numerals": "一百", "Chinese dates": "三月", "Chinese errors": "错误：",
    "assignments": "a=1 ", "code lines": "def a():\n", "literals": "'a': 1, ", "calls": "f(",
    "announced lists": "a: [\n", "lists in lines": "[1,\n", "diff lines": "+a\n-b\n",
    "hunks": "@@ -1,2 +1,2 @@\n", "elided": "… 3 items", "names of values": '"~1",',
    "stack frames": "  at a.b(c.js:1)\n", "names and values": "a: b\n", "log lines": "12:00:00 a\n",
    "words with hyphens": "well-known-", "abbreviations": "e.g. ", "initials": "A. ",
}  # fmt: skip


def _repeated(unit: str) -> Maker:
    return lambda chars: (unit * (chars // len(unit) + 1))[:chars]


def _words(chars: int) -> str:
    """Letters at random without a blank: no two parts are alike."""
    return "".join(random.Random(1).choices(_LETTERS, k=chars))


def make_prose(chars: int) -> str:
    """Words of two to nine letters."""
    chosen = random.Random(2)
    words = ("".join(chosen.choices(_LETTERS, k=chosen.randint(2, 9))) for _ in range(chars // 5))
    return " ".join(words)[:chars]


def _base64(chars: int) -> str:
    return base64.b64encode(random.Random(3).randbytes(chars * 3 // 4)).decode()


def _hexadecimal(chars: int) -> str:
    return random.Random(4).randbytes(chars // 2).hex()


def _records(chars: int) -> str:
    rows = [{"id": n, "name": f"n{n}", "tags": [n % 3, n % 7]} for n in range(chars // 38)]
    return json.dumps(rows, separators=(",", ":"))


def _uneven_records(chars: int) -> str:
    """Records that share no key."""
    return json.dumps([{f"k{n}": n, f"x{n}": "a"} for n in range(chars // 26)])


def _numbers(chars: int) -> str:
    return json.dumps([n * 7919 % 100_003 for n in range(chars // 7)])


def _strings(chars: int) -> str:
    return json.dumps([f"value number {n}" for n in range(chars // 20)])


def _long_string(chars: int) -> str:
    return json.dumps({"log": make_prose(chars)})


def _json_in_json(chars: int) -> str:
    text = json.dumps([{"a": n, "b": "text"} for n in range(chars // 40)])
    return json.dumps({"body": text, "also": [text[:-1]]})


def _wide_object(chars: int) -> str:
    return json.dumps({f"key {n}": n for n in range(chars // 16)})


def _keyed_records(chars: int) -> str:
    return json.dumps({f"r{n}": {"id": f"r{n}", "size": n} for n in range(chars // 36)})


def _nested(chars: int) -> str:
    """Lists in lists, many and as deep as they are parsed."""
    part = "[" * 30 + "1" + "]" * 30
    return f"[{','.join([part] * (chars // 62))}]"


def _deep(chars: int) -> str:
    return "[" * (chars // 2) + "]" * (chars // 2)


def _cut_json(chars: int) -> str:
    return _records(chars)[:-40]


def _python_literal(chars: int) -> str:
    return repr([{"id": n, "name": f"it's {n}", "is_new": True} for n in range(chars // 45)])


def _json_lines(chars: int) -> str:
    return "\n".join(json.dumps({"at": n, "level": "info"}) for n in range(chars // 30))


def _comma_separated(chars: int) -> str:
    return "id,name,size\n" + "\n".join(f"{n},name {n},{n % 9}" for n in range(chars // 18))


def _diff(chars: int) -> str:
    lines = "\n".join(f" same {n}\n-old {n}\n+new {n}" for n in range(chars // 30))
    return f"--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n{lines}"


def _page(chars: int) -> str:
    parts = "".join(f"<div class=c{n}><p>part {n}</p></div>" for n in range(chars // 40))
    return f"<!doctype html><html><body>{parts}</body></html>"


def _markup(chars: int) -> str:
    items = "".join(f'<item n="{n}">x</item>' for n in range(chars // 26))
    return f"<all>{items}</all>"


def _tags_within_tags(chars: int) -> str:
    return "<b>" * (chars // 7) + "</b>" * (chars // 7)


def _many_tags(chars: int) -> str:
    """Tags of which none is closed."""
    return "".join(f"<t{n}>" for n in range(chars // 7))


def _log(chars: int) -> str:
    lines = (f"2024-05-01 10:00:{n % 60:02d} INFO request {n}" for n in range(chars // 40))
    return "\n".join(lines)


def _long_lines(chars: int) -> str:
    return "\n".join([make_prose(chars // 4)] * 4)


def _short_lines(chars: int) -> str:
    return "\n".join(f"l{n}" for n in range(chars // 6))


def _listing(chars: int) -> str:
    return "\n".join(f"src/part_{n}/file_{n % 9}.py" for n in range(chars // 24))


def _opened_at_the_start(chars: int) -> str:
    """A quote, a fence and a tag that never end."""
    return f'"```\n<note>{make_prose(chars)}'


def _one_word_of_parts(chars: int) -> str:
    return "_".join(f"part{n}" for n in range(chars // 9))


def _increasing(chars: int) -> str:
    """Runs of stars, each longer than the one before."""
    return " ".join("*" * n for n in range(int((2 * chars) ** 0.5)))


TEXTS: Final[Mapping[str, Maker]] = {
    **{name: _repeated(unit) for name, unit in _UNITS.items()},
    "letters at random": _words,
    "prose": make_prose,
    "base64": _base64,
    "a dump": _hexadecimal,
    "records": _records,
    "records without a shared key": _uneven_records,
    "numbers": _numbers,
    "strings": _strings,
    "one long string": _long_string,
    "JSON in JSON": _json_in_json,
    "an object of many keys": _wide_object,
    "records by name": _keyed_records,
    "nested lists": _nested,
    "nested too deep": _deep,
    "JSON that was cut off": _cut_json,
    "a literal of Python": _python_literal,
    "JSON lines": _json_lines,
    "comma-separated values": _comma_separated,
    "a diff": _diff,
    "a page": _page,
    "markup": _markup,
    "tags within tags": _tags_within_tags,
    "tags without an end": _many_tags,
    "a log": _log,
    "long lines": _long_lines,
    "short lines": _short_lines,
    "a listing": _listing,
    "opened and never closed": _opened_at_the_start,
    "one word of many parts": _one_word_of_parts,
    "ever longer runs": _increasing,
    "ever longer code marks": lambda chars: _increasing(chars).replace("*", "`"),
}

_SIGNS: Final = "!`[](){}<>*_~$:|\\\"'#@\n"

PAIRS: Final[Mapping[str, Maker]] = {
    f"{first!r} and {second!r}": _repeated(first + second)
    for first, second in combinations(_SIGNS, 2)
}
"""Signs of markup, quotes and brackets, each in turn with each other one."""
