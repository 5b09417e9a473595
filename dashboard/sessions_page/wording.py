"""What the sessions page says of a session in a few words."""

from __future__ import annotations

from ctxcore.tokens.costs import Cost
from dashboard import numbers
from dashboard.texts import has_text, t


def cost_text(cost: Cost | None) -> str:
    """What is known of a cost, with a + where some calls are missing; empty without calls."""
    if cost is None:
        return ""
    return numbers.money(cost.dollars) + ("+" if cost.unknown and cost.dollars is not None else "")


def origin_text(origin: str) -> str:
    """How a session was made, or the format of its file."""
    key = f"sessions.origin.{origin}"
    return t(key) if has_text(key) else origin
