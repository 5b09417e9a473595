"""Owns `lint`: what a provider would refuse in a list of messages, before it is sent.

It reads every shape and checks the rules that hold after the usual conversion: system messages
hoisted, tool results joined with the user message behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from ctxcore.assembly.repairs import is_json_object, is_plain_name
from ctxcore.errors import MessageError
from ctxcore.messages.shapes.reading import read_list
from ctxcore.messages.values import Media, Message, Opaque, Text

Provider = Literal["openai", "anthropic", "gemini", "bedrock"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing a provider would refuse: the rule, the place in the list passed, a sentence."""

    rule: str
    at: int
    detail: str


def lint(messages: Iterable[Mapping[str, object] | Message], provider: Provider) -> list[Violation]:
    """Everything `provider` would refuse in `messages`; empty for none.

    An empty conversation has nothing to refuse. Raises ValueError for an unknown provider, and
    MessageError where `messages` is no list.
    """
    if provider not in PROVIDERS:
        raise ValueError(f"unknown provider {provider!r}; one of {', '.join(PROVIDERS)}")
    parsed, violations = _parse(messages)
    violations += _unpaired(parsed)
    violations += _ids(parsed, provider)
    if provider == "openai":
        violations += _names(parsed)
    else:
        violations += [*_turns(parsed), *_arguments(parsed), *_empty(parsed)]
    return sorted(violations, key=lambda violation: violation.at)


Placed = tuple[int, Message]


def _parse(
    messages: Iterable[Mapping[str, object] | Message],
) -> tuple[list[Placed], list[Violation]]:
    violations: list[Violation] = []

    def note(at: int, error: MessageError) -> None:
        violations.append(Violation(rule="format", at=at, detail=str(error)))

    passed = read_list(messages, refuse=note)
    firsts = (passed.places_of(at)[0] for at in range(len(passed.messages)))
    return list(zip(firsts, passed.messages, strict=True)), violations


def _unpaired(placed: Sequence[Placed]) -> Iterator[Violation]:
    """Calls not answered before the next message, and results without a call before them."""
    open_calls: dict[str, int] = {}
    for at, message in placed:
        if message.is_tool_result:
            if open_calls.pop(message.answers or "", None) is None:
                yield Violation(
                    rule="orphan_result",
                    at=at,
                    detail=f"no open call {message.answers!r} directly before this result",
                )
            continue
        yield from _unanswered(open_calls)
        open_calls = {call.id: at for call in message.calls}
    yield from _unanswered(open_calls)


def _unanswered(open_calls: Mapping[str, int]) -> Iterator[Violation]:
    for call_id, at in open_calls.items():
        yield Violation(
            rule="missing_result", at=at, detail=f"call {call_id!r} has no result behind it"
        )


def _ids(placed: Sequence[Placed], provider: Provider) -> Iterator[Violation]:
    """Ids that are missing or used twice; OpenAI minds it within one message only."""
    seen: set[str] = set()
    for at, message in placed:
        if provider == "openai":
            seen.clear()
        for call in message.calls:
            if not call.id or call.id in seen:
                problem = "is used twice" if call.id else "is missing"
                yield Violation(rule="call_id", at=at, detail=f"call id {call.id!r} {problem}")
            seen.add(call.id)


def _turns(placed: Sequence[Placed]) -> Iterator[Violation]:
    """An assistant first, or two neighbours of one role."""
    talk = [(at, message) for at, message in placed if not message.is_system]
    if talk and talk[0][1].role != "user":
        yield Violation(
            rule="first_role", at=talk[0][0], detail="the first message is not a user's"
        )
    for (_, one), (at, other) in pairwise(talk):
        if one.role == other.role and one.role in ("user", "assistant"):
            yield Violation(rule="alternation", at=at, detail=f"two {one.role} messages in a row")


def _arguments(placed: Sequence[Placed]) -> Iterator[Violation]:
    for at, message in placed:
        for call in message.calls:
            if not is_json_object(call.arguments):
                detail = f"arguments of call {call.id!r} are not a JSON object"
                yield Violation(rule="arguments", at=at, detail=detail)


def _empty(placed: Sequence[Placed]) -> Iterator[Violation]:
    for at, message in placed:
        if message.is_tool_result or message.is_system:
            continue
        said = [part for part in message.content if isinstance(part, (Text, Media, Opaque))]
        if not said and not message.calls:
            yield Violation(rule="empty", at=at, detail=f"an empty {message.role} message")
        if any(isinstance(part, Text) and not part.text.strip() for part in said):
            detail = f"white space alone in {message.role} message"
            yield Violation(rule="empty", at=at, detail=detail)


def _names(placed: Sequence[Placed]) -> Iterator[Violation]:
    for at, message in placed:
        if not message.is_tool_result and not is_plain_name(message.name):
            detail = f"the name {message.name!r} has white space or one of <|\\/>, or is too long"
            yield Violation(rule="name", at=at, detail=detail)
