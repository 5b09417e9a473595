"""The rule that every entry is a message: what is none is refused as the list is read."""

from __future__ import annotations

from collections.abc import Iterator

from ctxcore.assembly.rules.values import Conversation, Finding, Provider, Rule


def _check(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    yield from conversation.unread


FORMAT = Rule(name="format", check=_check, refuse="reading", broken=[{"content": "hi"}])
