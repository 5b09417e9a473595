"""Short ways to find facts and to fold them, for tests."""

from __future__ import annotations

import json

from ctxcore.facts.finding import find_facts
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import Message, Role, ToolCall, text_message, tool_result


class FourBytes:
    """Counts four UTF-8 bytes as one token."""

    id = "four-bytes"
    is_exact = False

    def count(self, text: str) -> int:
        return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def found(text: str, kind: Kind, role: Role = "user") -> list[str]:
    """The literals of one kind in a message."""
    return [fact.text for fact in facts(text, role) if fact.kind == kind and fact.text]


def facts(text: str, role: Role = "user") -> tuple[Fact, ...]:
    """The facts of a message of words."""
    return find_facts(text_message(role, text))


def of_call(name: str, **arguments: object) -> tuple[Fact, ...]:
    """The facts of a message that makes one call."""
    call = ToolCall(id="1", name=name, arguments=json.dumps(arguments))
    return find_facts(Message(role="assistant", calls=(call,)))


def of_output(output: str, name: str = "", **arguments: object) -> tuple[Fact, ...]:
    """The facts of the output of a call."""
    message = tool_result("1", output)
    return find_facts(message, function_name=name, arguments=json.dumps(arguments))


def folded(*said: str | tuple[Fact, ...]) -> Ledger:
    """The ledger of what a user says, a message each, numbered from 1; facts stand as they are."""
    ledger = Ledger()
    for seq, one in enumerate(said, start=1):
        ledger.add(seq, facts(one) if isinstance(one, str) else one)
    return ledger


def held(ledger: Ledger, kind: Kind) -> list[str]:
    """The literals of one kind that hold."""
    return [entry.text for entry in entries(ledger, kind)]


def entries(ledger: Ledger, kind: Kind) -> list[Entry]:
    """The entries of one kind that hold."""
    return [entry for entry in live(ledger) if entry.kind == kind]
