"""Owns `lint`: what a provider would refuse in a list of messages, before it is sent.

It reads every shape and checks the rules that hold after the usual conversion: system messages
hoisted, tool results joined with the user message behind them. The rules are in `rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxcore.assembly.rules.registry import RULES
from ctxcore.assembly.rules.sent_names import defined_names
from ctxcore.assembly.rules.values import PROVIDERS as PROVIDERS
from ctxcore.assembly.rules.values import Conversation, Violation
from ctxcore.assembly.rules.values import Provider as Provider
from ctxcore.errors import MessageError
from ctxcore.messages.beside import checked_tools
from ctxcore.messages.shapes.reading import read_list
from ctxcore.messages.values import Message
from ctxcore.reasons.values import Reason


def lint(
    messages: Iterable[Mapping[str, object] | Message],
    provider: Provider,
    *,
    tools: Sequence[Mapping[str, object]] | None = None,
) -> list[Violation]:
    """Everything `provider` would refuse in `messages` and `tools`; empty for none.

    What is wrong with a tool definition comes first. An empty conversation has nothing to refuse.
    Raises ValueError for an unknown provider, and MessageError where `messages` is no list.
    """
    if provider not in PROVIDERS:
        raise ValueError(f"unknown provider {provider!r}; one of {', '.join(PROVIDERS)}")
    conversation = _read(messages, tools)
    found = [one for rule in RULES.values() for one in rule.violations(conversation, provider)]
    return sorted(found, key=lambda violation: -1 if violation.at is None else violation.at)


def _read(
    messages: Iterable[Mapping[str, object] | Message],
    tools: Sequence[Mapping[str, object]] | None,
) -> Conversation:
    unread: list[tuple[int, Reason]] = []

    def note(at: int, error: MessageError) -> None:
        unread.append((at, error.reason))

    passed = read_list(messages, refuse=note)
    firsts = (passed.places_of(at)[0] for at in range(len(passed.messages)))
    return Conversation(
        placed=list(zip(firsts, passed.messages, strict=True)),
        unread=unread,
        tools=defined_names(checked_tools(tools)),
    )
