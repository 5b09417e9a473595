"""How much a call sent, by our count or the provider's."""

from __future__ import annotations

from ctxcore.assembly.verdicts import INPUT_SEGMENTS
from ctxcore.store.values import CallInfo


def estimate_tokens(call: CallInfo) -> int | None:
    """Our count of the input of the call; None for imported calls."""
    if not call.estimate:
        return None
    return sum(call.estimate.get(name, 0) for name in INPUT_SEGMENTS)


def sent_tokens(call: CallInfo) -> int | None:
    """The input of the call: our count, else the provider's."""
    ours = estimate_tokens(call)
    return call.input_tokens if ours is None else ours
