"""Owns what counts as a usable summary, whoever wrote it, and cutting one that is too long."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from ctxcore.errors import SummarizerError
from ctxcore.reasons.problems import SummaryProblem
from ctxcore.text.sentences import sentence_ends
from ctxcore.text.signals import is_error_reply
from ctxcore.tokens.families import TokenCounter

_TOOL_CALL = re.compile(r"<\|?(?:tool_call|function_call|function=|invoke|tool_use)|\[TOOL_CALLS\]")
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_CALL_KEYS = frozenset({"tool_calls", "function_call", "arguments", "parameters", "input"})


def check_summary(
    text: str,
    *,
    source_tokens: int,
    counter: TokenCounter,
    max_tokens: int,
    max_chars: int | None = None,
) -> str:
    """The summary, stripped and cut to its limits; raises where it would stand for nothing.

    Raises:
        SummarizerError: the text is empty, a tool call or an error, or not smaller than the
            `source_tokens` it stands for.
    """
    words = text.strip()
    if not words:
        raise SummarizerError(problem=SummaryProblem.EMPTY())
    if problem := _not_a_summary(words):
        raise SummarizerError(problem=problem())
    words = cut_at_sentence(words, max_tokens, counter, max_chars=max_chars)
    tokens = counter.count(words)
    if not words:
        raise SummarizerError(
            problem=SummaryProblem.LIMIT(tokens=max_tokens)
            if max_chars is None
            else SummaryProblem.LIMIT_CHARS(tokens=max_tokens, chars=max_chars)
        )
    if tokens >= source_tokens:
        raise SummarizerError(problem=SummaryProblem.LARGER(tokens=tokens, needed=source_tokens))
    return words


def _not_a_summary(text: str) -> SummaryProblem | None:
    if _TOOL_CALL.match(text):
        return SummaryProblem.IS_CALL
    if is_error_reply(text):
        return SummaryProblem.IS_ERROR
    fenced = _FENCED.fullmatch(text)
    return _json_kind(fenced[1] if fenced else text)


def _json_kind(text: str) -> SummaryProblem | None:
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
        return SummaryProblem.IS_ERROR
    is_call = "name" in first and not _CALL_KEYS.isdisjoint(first)
    return (
        SummaryProblem.IS_CALL
        if is_call or {"tool_calls", "function_call"} & first.keys()
        else None
    )


def cut_at_sentence(
    text: str, max_tokens: int, counter: TokenCounter, *, max_chars: int | None = None
) -> str:
    """The longest beginning of `text` within its limits that ends a sentence or a line.

    Where not even the first sentence fits, its longest beginning of whole words, or of
    characters; empty where nothing fits.
    """

    def fits(part: str) -> bool:
        is_short = max_chars is None or len(part) <= max_chars
        return is_short and counter.count(part) <= max_tokens

    if fits(text):
        return text
    return (
        _longest(text, sentence_ends(text), fits)
        or _longest(text, [m.start() for m in re.finditer(r"\s", text)], fits)
        or _longest(text, range(1, len(text)), fits)
    )


def _longest(text: str, ends: Sequence[int], fits: Callable[[str], bool]) -> str:
    """The text up to the last of the ascending `ends` that fits; empty where none does."""
    fitting = bisect_left(ends, True, key=lambda end: not fits(text[:end].rstrip()))
    while fitting:  # counts need not grow with every character: look again
        cut = text[: ends[fitting - 1]].rstrip()
        if fits(cut):
            return cut
        fitting -= 1
    return ""


_THINKING = re.compile(
    r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)"  # an open one is thinking to the end
    r"|\A(?:.*\n)?[ \t]*</think>[ \t]*\n",  # some servers keep the opening tag to themselves
    re.DOTALL | re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"(?:(?:sure|certainly|okay|ok)[,.!:]? *)?(?:here(?:['’]s| is)|below is)\b[^\n]{0,80}"
    r"\bsummary\b[^\n]{0,60}:[ \t]*\n"
    r"|(?:好的[，。,.]?)?(?:以下|下面)是[^\n]{0,40}(?:摘要|总结)[^\n]{0,20}[:：][ \t]*\n",
    re.IGNORECASE,
)
_FENCED_REPLY = re.compile(r"```[\w-]*[ \t]*\n((?:(?!```).)*)```", re.DOTALL)
_TAGGED = re.compile(r"<((?:\w+_)?summary)>(.*)</\1>", re.DOTALL | re.IGNORECASE)
_FINISHED = re.compile(r"[.!?。！？；…][\"'”’」』）)\]*_`]*\Z")


def unwrap(reply: str) -> str:
    """The summary within a reply: no leaked thinking, no preamble, no fence or tags around it."""
    text = _THINKING.sub("", reply, count=1).strip()
    if preamble := _PREAMBLE.match(text):
        text = text[preamble.end() :].strip()
    if fenced := _FENCED_REPLY.fullmatch(text):
        text = fenced[1].strip()
    if tagged := _TAGGED.fullmatch(text):
        text = tagged[2].strip()
    return text


def cut_unfinished(text: str) -> str:
    """`text` without the sentence or point it breaks off in; whole where it is the only one."""
    words = text.rstrip()
    ends = sentence_ends(words)
    if _FINISHED.search(words) or len(ends) < 2:
        return words
    return words[: ends[-2]]
