"""Small conversations in units, for the tests of worth."""

from __future__ import annotations

from ctxcore.messages.values import Role
from ctxcore.salience.units import Unit, UnitKind


def said(*texts: str, first: Role = "user") -> list[Unit]:
    """Utterances of two people in turn, ten tokens each and more where they are longer."""
    roles: tuple[Role, Role] = ("user", "assistant") if first == "user" else ("assistant", "user")
    return [utterance(text, seq=seq, role=roles[seq % 2]) for seq, text in enumerate(texts)]


def utterance(text: str, *, seq: int = 0, role: Role = "user", kind: UnitKind = "talk") -> Unit:
    """One unit of 4 tokens and one for every 4 bytes."""
    return Unit(seq=seq, text=text, role=role, kind=kind, tokens=4 + len(text.encode()) // 4)


def output(text: str, *, seq: int = 0) -> Unit:
    """A piece of what a tool returned."""
    return utterance(text, seq=seq, role="tool", kind="output")
