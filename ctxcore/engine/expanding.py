"""Owns getting originals back: for a caller by reference, for a model that calls the tool.

A session's messages are all that is read, so whose session it is decides; a model is not shown
what a person left out of its contexts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ctxcore.compression.expanding import (
    EXPAND_NAME,
    EXPAND_TOKENS,
    EXPAND_TOOL,
    LEAST_TOKENS,
    is_answered_beside,
    seq_of,
)
from ctxcore.compression.extracting import extract_with
from ctxcore.engine.desk import Desk, Subject
from ctxcore.errors import ContextError, PartNotFoundError
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.reasons.problems import PartProblem
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.counter import TokenCounter

_MOST_USABLE_RATIO = 0.25  # of an answer, as of an output that is shortened when it is appended


def expand(
    desk: Desk,
    session_id: str,
    ref: str,
    *,
    path: str | None = None,
    rows: str | None = None,
    grep: str | None = None,
    max_tokens: int = EXPAND_TOKENS,
    counter: TokenCounter | None = None,
) -> str:
    """Exact parts of the message that `ref` means; see `ContextEngine.expand`."""
    session = desk.session(session_id)
    seq = seq_of(ref)
    if seq is None or not 1 <= seq <= session.length:
        raise PartNotFoundError(part=ref, problem=_what_there_is(session.length))
    text = desk.store.messages(session_id, seq, seq)[0].message.text
    if not text:
        raise PartNotFoundError(part=ref, problem=PartProblem.NO_TEXT())
    return extract_with(
        text,
        path=path,
        rows=rows,
        grep=grep,
        max_tokens=max_tokens,
        counter=counter or counter_for(session.model or desk.default_model),
    )


def is_own(call: ToolCall, tools: Sequence[JsonObject]) -> bool:
    """Whether `call` is this library's to answer in a request with `tools`."""
    return call.name == EXPAND_NAME and is_answered_beside(tools)


def answer_expand(desk: Desk, subject: Subject, call: ToolCall) -> str:
    """What a model that calls the tool is told; what is wrong with the call, as an error."""
    try:
        return _answer(desk, subject, json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError):
        return "Error: the arguments are no JSON object"
    except ContextError as error:
        return f"Error: {error}"


def _answer(desk: Desk, subject: Subject, arguments: object) -> str:
    if not isinstance(arguments, dict):
        raise ValueError
    ref = str(arguments.get("ref", ""))
    if seq_of(ref) in subject.view.anchors().excluded:
        raise PartNotFoundError(part=ref, problem=PartProblem.LEFT_OUT())
    return expand(
        desk,
        subject.session.id,
        ref,
        path=_text(arguments.get("path")),
        rows=_text(arguments.get("rows")),
        grep=_text(arguments.get("grep")),
        max_tokens=_limit(subject, arguments.get("max_tokens")),
        counter=subject.call.counter,
    )


def _limit(subject: Subject, asked: object) -> int:
    budget = subject.call.budget
    wanted = asked if isinstance(asked, int) and asked > 0 else EXPAND_TOKENS
    most = wanted if budget is None else int(budget.usable_tokens * _MOST_USABLE_RATIO)
    return max(LEAST_TOKENS, min(wanted, most))


def _text(value: object) -> str | None:
    """An argument; models write an empty text, or a number, where they mean none or a text."""
    return None if value is None or value == "" else str(value)


def _what_there_is(length: int) -> Reason:
    return PartProblem.MESSAGES(last=length) if length else PartProblem.NO_MESSAGES()


def without_expand(tools: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """`tools` as the caller gave them."""
    return tuple(tool for tool in tools if tool != EXPAND_TOOL)
