"""What is found: that a turn repeats, asks again or says so, and where the earlier message was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.plain import Plain

SignalKind = Literal["repeated", "asked_again", "said_so"]
"""`repeated`: a user says again what the context did not show; `asked_again`: user or model asks
again, or a call reads again; `said_so`: a user says that it was said before."""
SIGNAL_KINDS: Final[tuple[SignalKind, ...]] = get_args(SignalKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSignal(Plain):
    """A forgetting signal in one message."""

    seq: int
    """The message that repeats, asks or says so."""
    kind: SignalKind
    earlier: tuple[int, ...] = ()
    """The messages that said it before; empty where none was found."""
    verdict: VerdictKind | None = None
    """What the context made of them; `kept`: it showed them. None where none was found."""
    is_covered: bool = False
    """Whether a compaction covers the first of `earlier`."""


def tells_of_forgetting(verdict: VerdictKind | None) -> bool:
    """Whether a signal about messages with this verdict means that the context hid them."""
    return verdict is not None and verdict != "kept"
