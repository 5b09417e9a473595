"""Reads what may be quoted of machines: of outputs the telling lines, of calls short arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from ctxcore.messages.values import JsonValue, ToolCall
from ctxcore.text.identifiers import exact_strings
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, Span, split_sentences

# Chosen: bounds on what may be quoted of machine output and code.
TELLING_LINES = 100  # of one tool output; a log has thousands
TELLING_CODE_LINES = 8  # of one code block: what it is, seldom how
NAME_CHARS = 160  # of one without a blank; chosen: paths are long, and the next call needs them
OUTPUT_LINE_CHARS = 200
OUTPUT_CHARS_READ = 100_000  # from each end of a tool output
SHORT_OUTPUT_CHARS = 160  # a tool output this short is quoted whole
ARGUMENT_CHARS = 80  # of one argument of a tool call: a path or an id, not a file's content
CUE_SALIENCE = 0.1  # of each sign that a line tells an outcome; chosen: a literal has 1

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_FAILURES = "error|exception|fail|traceback|denied|not found|错误|失败|异常"
_OUTCOMES = "warn|passed|success|total|result|created|deleted|version|成功|结果|共计"
_CUE_WORDS = ((_FAILURES.split("|"), 4), (_OUTCOMES.split("|"), 2))
_PATH = re.compile(r"https?://|[\w.-]+/[\w.-]+")
_PLACE = re.compile(r"\b\w+\.\w{1,4}:\d+")
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
_DIGIT = re.compile(r"\d")
_OPEN_ENDS, _CLOSING_STARTS = tuple(",:;({[=+&|\\"), tuple(")}].,;|")
_DEFINITION = re.compile(r"^\s*(?:def|class|func|function|export|CREATE TABLE|\$ )", re.I)


def output_spans(output: str) -> list[Span]:
    """The few lines of a tool output that tell its outcome and name something."""
    records = _json_records(output)
    if records is None and len(output) <= SHORT_OUTPUT_CHARS and "\n" not in output.strip():
        return split_sentences(output)
    if records is None:
        if len(output) > 2 * OUTPUT_CHARS_READ:
            output = output[:OUTPUT_CHARS_READ] + "\n" + output[-OUTPUT_CHARS_READ:]
        records = output.splitlines()
    return _pick_lines(records, _cues, TELLING_LINES)


def _pick_lines(lines: Sequence[str], cues: Callable[[str], int], most: int) -> list[Span]:
    """The `most` different lines with the most of `cues`, in order."""
    shown = dict.fromkeys(" ".join(line[:OUTPUT_LINE_CHARS].split()) for line in lines)
    texts = [text for text in shown if text]
    if len(texts) > most:
        scores = [cues(text) for text in texts]
        best = sorted(range(len(texts)), key=lambda at: (-scores[at], at))[:most]
        texts = [texts[at] for at in sorted(best)]
    return [Span(text, "; ") for text in texts]


def _json_records(output: str) -> list[str] | None:
    """`key: value, …` of each object and list of plain values; None if it is not JSON.

    A single value stands with the first record that it heads: a unit with its numbers.
    """
    if output.lstrip()[:1] not in ("{", "["):
        return None
    try:
        waiting = [cast("JsonValue", json.loads(output))]
    except (ValueError, RecursionError):
        return None
    records, heading = list[str](), list[str]()
    while waiting:
        value = waiting.pop()
        pairs = value.items() if isinstance(value, dict) else [("", item) for item in _items(value)]
        plain = [_pair(key, item) for key, item in pairs if not isinstance(item, (dict, list))]
        nested = [item for _, item in pairs if isinstance(item, (dict, list)) and item]
        waiting += reversed(nested)
        heading += plain
        if len(plain) != 1 or not nested:
            records.append(", ".join(heading))
            heading = []
    return records


def _items(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else [value]


def _pair(key: str, value: JsonValue) -> str:
    return f"{key}: {value}" if key else str(value)


def fenced_pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The pieces of `text` in order, each with whether it is a code block."""
    return ((at % 2 == 1, piece) for at, piece in enumerate(_FENCE.split(text)))


def code_spans(code: str) -> list[Span]:
    """The few lines of a code block that tell what it is."""
    return _pick_lines(code.splitlines(), _code_cues, TELLING_CODE_LINES)


def call_text(call: ToolCall) -> str:
    """The short arguments of a tool call: `key=value, …`, of a single one its value alone."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return ""
    if not isinstance(arguments, dict):
        return ""
    short = {key: text for key, value in arguments.items() if (text := _argument(value))}
    if len(arguments) == 1:
        return "".join(short.values())
    return ", ".join(f"{key}={text}" for key, text in short.items())[:MAX_SENTENCE_CHARS]


def _argument(value: JsonValue) -> str:
    """A short argument in one line; empty for a long one."""
    text = " ".join(str(value).split())
    if len(text) <= ARGUMENT_CHARS:
        return text
    return text if len(text) <= NAME_CHARS and " " not in text and exact_strings(text) else ""


def is_torn(line: str) -> bool:
    """Whether a line of code or output means nothing without the lines around it: a bracket of it
    is open, it begins with what closes one, or it ends where something is to follow."""
    if line[-1:] in _OPEN_ENDS or line[:1] in _CLOSING_STARTS:
        return True
    return any(line.count(first) != line.count(last) for first, last in ("()", "[]", "{}"))


def cue_salience(line: str) -> float:
    """What the words of a line of machine output add for telling an outcome."""
    return CUE_SALIENCE * _outcome(line)


def _outcome(line: str) -> int:
    lower = line.lower()
    return sum(value for words, value in _CUE_WORDS if any(map(lower.__contains__, words)))


def _cues(line: str) -> int:
    """The value of the signs that a line tells an outcome or names something."""
    names = (
        ("/" in line and _PATH.search(line))
        or (":" in line and _PLACE.search(line))
        or _HASH.search(line)
    )
    return _outcome(line) + bool(names) + bool(_DIGIT.search(line))


def _code_cues(line: str) -> int:
    return _cues(line) + 3 * bool(_DEFINITION.search(line))
