"""Checks summaries, cuts those that are too long, and unwraps the replies of models."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ctxcore.errors import SummarizerError
from ctxcore.reasons.problems import SummaryProblem
from ctxcore.reasons.values import Fact, QuoteCode, Reason, quoted
from ctxcore.summarizers.prompts import LEAKED_TAG, system_text
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.support import SummaryCheck, SummarySource, check_support, joined
from ctxcore.text.languages import Language
from ctxcore.text.numerals import BESIDE_NUMBERS
from ctxcore.text.sentences import sentence_ends, split_sentences
from ctxcore.text.signals import is_error_reply, is_refusal
from ctxcore.tokens.families import TokenCounter

_TOOL_CALL = re.compile(r"<\|?(?:tool_call|function_call|function=|invoke|tool_use)|\[TOOL_CALLS\]")
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_CALL_KEYS = frozenset({"tool_calls", "function_call", "arguments", "parameters", "input"})
# Chosen: what servers put into an error that they do not call one.
_ERROR_KEYS = frozenset({"detail", "details", "message", "msg", "status", "code", "title", "type"})
_TRACE_KEYS = frozenset({"statusCode", "status_code", "traceId", "request_id", "path", "timestamp"})


def check_summary(
    text: str,
    *,
    source_tokens: int,
    counter: TokenCounter,
    max_tokens: int,
    max_chars: int | None = None,
) -> str:
    """The summary, stripped and cut to its limits; raises where it is unusable.

    Raises:
        SummarizerError: the text is empty, a tool call or an error, or not smaller than the
            `source_tokens` that it replaces.
    """
    summary = text.strip()
    if not summary:
        raise SummarizerError(problem=SummaryProblem.EMPTY())
    if problem := _not_a_summary(summary):
        raise SummarizerError(problem=problem())
    summary = cut_at_sentence(summary, max_tokens, counter, max_chars=max_chars)
    if not summary and max_chars is None:
        raise SummarizerError(problem=SummaryProblem.LIMIT(tokens=max_tokens))
    if not summary:
        limit = SummaryProblem.LIMIT_CHARS(tokens=max_tokens, chars=max_chars)
        raise SummarizerError(problem=limit)
    tokens = counter.count(summary)
    if tokens >= source_tokens:
        raise SummarizerError(problem=SummaryProblem.LARGER(tokens=tokens, needed=source_tokens))
    return summary


def _not_a_summary(text: str) -> SummaryProblem | None:
    if _TOOL_CALL.match(text):
        return SummaryProblem.IS_CALL
    if is_error_reply(text):
        return SummaryProblem.IS_ERROR
    fenced = _FENCED.fullmatch(text)
    text = fenced[1] if fenced else text
    try:
        value = json.loads(text) if text[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    is_error = bool(first) and first.keys() <= _ERROR_KEYS | _TRACE_KEYS
    if is_error or "error" in first or "errors" in first:
        return SummaryProblem.IS_ERROR
    is_named_call = "name" in first and not _CALL_KEYS.isdisjoint(first)
    is_call = is_named_call or "tool_calls" in first or "function_call" in first
    return SummaryProblem.IS_CALL if is_call else None


LEAST_ECHO: Final[Mapping[Language, int]] = {"en": 24, "zh": 10}
"""Characters of a sentence of the prompt; chosen: the headings that it asks for are shorter."""
SHOWN_ITEMS: Final = 8  # chosen: named in the reason; the check has all
# What separates speakers in the prompts of models: ChatML, Llama, Mistral, Gemma, DeepSeek, Alpaca.
_TEMPLATE = re.compile(
    r"<[|｜][\w▁]{2,24}[|｜]>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>"
    r"|^### (?:Instruction|Response|Input):",
    re.MULTILINE,
)
_POINT = re.compile(r"^(?:\d{1,2}[.)]|-)\s+")


def check_content(
    summary: str, request: SummaryRequest, *, facts: str, most_ratio: float | None
) -> SummaryCheck:
    """What `summary` names that its source lacks, and whether it may not be used.

    The source is what the `request` holds, and the `facts` beside the previous summary. A summary
    is refused where it has no word or repeats our prompt, where the model refused, and where more
    than `most_ratio` of what it names is not in its source.
    """
    source = SummarySource.of(request, facts=facts)
    found = check_support(summary, source)
    first = next((span.text for span in split_sentences(summary)), "")
    problem: Reason | None = None
    if not any(map(str.isalnum, summary)):
        problem = SummaryProblem.EMPTY()
    elif echo := _echo(summary, request, source):
        problem = SummaryProblem.ECHO(words=quoted(echo))
    elif is_refusal(summary) and joined(first) not in source.joined:
        problem = SummaryProblem.REFUSAL(words=quoted(first))
    elif most_ratio is not None and found.share > most_ratio:
        problem = _unsupported(found)
    return replace(found, refused=problem)


def _unsupported(found: SummaryCheck) -> Reason:
    """The problem that the source lacks so much of what a summary names."""
    items: tuple[Fact, ...] = tuple(one.text for one in found.unsupported[:SHOWN_ITEMS])
    more = (QuoteCode.MORE(),) if len(found.unsupported) > SHOWN_ITEMS else ()
    return SummaryProblem.UNSUPPORTED(
        count=len(found.unsupported), named=found.named, items=(*items, *more)
    )


def _echo(summary: str, request: SummaryRequest, source: SummarySource) -> str:
    """The tag, or the sentence, of our prompt that `summary` repeats; empty where none does."""
    for pattern in (LEAKED_TAG, _TEMPLATE):
        for tag in pattern.finditer(summary):
            if tag[0] not in source.text:
                return tag[0]
    words = joined(summary)
    prompt = system_text(
        replace(request, focus="", instructions=""), max_tokens=request.max_tokens, stage="middle"
    )
    for line in prompt.splitlines():
        for span in split_sentences(_POINT.sub("", line)):
            said = joined(span.text)
            is_long = len(said) >= LEAST_ECHO[request.language]
            if is_long and said in words and said not in source.joined:
                return span.text
    return ""


def cut_at_sentence(
    text: str, max_tokens: int, counter: TokenCounter, *, max_chars: int | None = None
) -> str:
    """The longest beginning of `text` within its limits that ends a sentence or a line.

    Where not even the first sentence fits, its longest beginning of whole words, or of characters
    without a part of a number; empty where nothing fits.
    """

    def fits(part: str) -> bool:
        is_short = max_chars is None or len(part) <= max_chars
        return is_short and counter.count(part) <= max_tokens

    if fits(text):
        return text
    return (
        _longest(text, sentence_ends(text), fits)
        or _longest(text, [m.start() for m in re.finditer(r"\s", text)], fits)
        or _longest(text, [m.start() for m in BESIDE_NUMBERS.finditer(text)], fits)
    )


def _longest(text: str, ends: Sequence[int], fits: Callable[[str], bool]) -> str:
    """The text up to the last of the ascending `ends` that fits; empty where none does."""
    fitting = bisect_left(ends, True, key=lambda end: not fits(text[:end].rstrip()))
    # Counts need not grow with every character, so the place found may not fit after all.
    cuts = (text[:end].rstrip() for end in reversed(ends[:fitting]))
    return next(filter(fits, cuts), "")


_THINKING = re.compile(
    # without an end tag all is thinking
    r"\A\s*<(think|thinking|reasoning|analysis|scratchpad)>.*?(?:</\1>|\Z)"
    r"|\A(?:.*\n)?[ \t]*</think>[ \t]*\n",  # some servers leave out the start tag
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
    """The summary in a reply, without thinking, preamble, code fence or tags around it."""
    text = _THINKING.sub("", reply, count=1).strip()
    if preamble := _PREAMBLE.match(text):
        text = text[preamble.end() :].strip()
    if fenced := _FENCED_REPLY.fullmatch(text):
        text = fenced[1].strip()
    if tagged := _TAGGED.fullmatch(text):
        text = tagged[2].strip()
    return text


def cut_unfinished(text: str) -> str:
    """`text` without its unfinished last sentence or point; whole where that is the only one."""
    words = text.rstrip()
    ends = sentence_ends(words)
    if _FINISHED.search(words) or len(ends) < 2:
        return words
    return words[: ends[-2]]
