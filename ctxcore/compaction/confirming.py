"""Owns asking a person before a compaction that starts by itself, and the four answers.

Without anybody to answer, nothing changes. Source: the `pi` design, "user confirmation".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ctxcore.compaction.plans import CompactionPlan

Answer: TypeAlias = Literal["compact", "drop_oldest", "new_session", "refuse"]

ANSWERS: tuple[Answer, ...] = ("compact", "drop_oldest", "new_session", "refuse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a person is asked: may this plan be carried out?"""

    plan: CompactionPlan
    current_tokens: int
    max_tokens: int

    def __str__(self) -> str:
        return (
            f"the context is nearly full ({self.current_tokens:,} of {self.max_tokens:,} tokens); "
            f"compact {len(self.plan.fold)} older messages, keeping what matters of them?"
        )


Confirm: TypeAlias = Callable[[Confirmation], Answer]


def dropping(plan: CompactionPlan) -> CompactionPlan:
    """`plan` without a summary: what it would fold is left out."""
    return replace(
        plan,
        fold_as="truncation",
        strategies=("drop_oldest",),
        competing=None,
        stops=(),
        instead=None,
        emergency_until=None,
    )
