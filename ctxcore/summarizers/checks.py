"""Owns what counts as a usable summary, whoever wrote it, and cutting one that is too long."""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from ctxcore.errors import SummarizerError
from ctxcore.summarizers.sentences import split_sentences
from ctxcore.tokens.counter import TokenCounter

_ERROR_TEXT = re.compile(
    r"(?:Error|Exception|Traceback \(most recent call last\)|错误|出错)\s*[:：]"
    r"|(?:[\w.]+(?:Error|Exception)): |HTTP(?:/\d\S*)? [45]\d\d\b|Error code: \d",
)
_TOOL_CALL = re.compile(r"<\|?(?:tool_call|function_call|function=|invoke|tool_use)|\[TOOL_CALLS\]")
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_CALL_KEYS = frozenset({"tool_calls", "function_call", "arguments", "parameters", "input"})


def check_summary(text: str, *, source_tokens: int, counter: TokenCounter, max_tokens: int) -> str:
    """The summary, stripped and cut to `max_tokens`; raises where it would stand for nothing.

    Raises:
        SummarizerError: the text is empty, a tool call or an error, or not smaller than the
            `source_tokens` it stands for.
    """
    words = text.strip()
    if not words:
        raise SummarizerError(problem="the text is empty")
    if kind := _not_a_summary(words):
        raise SummarizerError(problem=f"the text is {kind}")
    words = cut_at_sentence(words, max_tokens, counter)
    tokens = counter.count(words)
    if not words:
        raise SummarizerError(problem=f"nothing of it fits {max_tokens:,} tokens")
    if tokens >= source_tokens:
        raise SummarizerError(
            problem=f"its {tokens:,} tokens are no fewer than the {source_tokens:,} it stands for"
        )
    return words


def _not_a_summary(text: str) -> str | None:
    if _TOOL_CALL.match(text):
        return "a tool call"
    if _ERROR_TEXT.match(text):
        return "an error"
    fenced = _FENCED.fullmatch(text)
    return _json_kind(fenced[1] if fenced else text)


def _json_kind(text: str) -> str | None:
    if text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    if "error" in first or "errors" in first:
        return "an error"
    is_call = "name" in first and not _CALL_KEYS.isdisjoint(first)
    return "a tool call" if is_call or {"tool_calls", "function_call"} & first.keys() else None


def cut_at_sentence(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of `text` within `max_tokens` that ends a sentence or a line.

    Where not even the first sentence fits, its longest beginning of whole words, or of
    characters; empty where nothing fits.
    """
    if counter.count(text) <= max_tokens:
        return text
    return (
        _longest(text, _sentence_ends(text), max_tokens, counter)
        or _longest(text, [m.start() for m in re.finditer(r"\s", text)], max_tokens, counter)
        or _longest(text, list(range(1, len(text))), max_tokens, counter)
    )


def _sentence_ends(text: str) -> list[int]:
    ends: list[int] = []
    at = 0
    for span in split_sentences(text):
        for word in span.text.split():  # white space within a sentence was collapsed
            at = text.index(word, at) + len(word)
        ends.append(at)
    return ends


def _longest(text: str, ends: list[int], max_tokens: int, counter: TokenCounter) -> str:
    """The text up to the last of the ascending `ends` that fits; empty where none does."""
    fitting = bisect_right(ends, max_tokens, key=lambda end: counter.count(text[:end].rstrip()))
    while fitting:  # counts need not grow with every character: look again
        cut = text[: ends[fitting - 1]].rstrip()
        if counter.count(cut) <= max_tokens:
            return cut
        fitting -= 1
    return ""
