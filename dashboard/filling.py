"""Owns how far a session is from its next compaction, in the counts that its policy compares.

A policy may compare the whole input or the history alone, by the model's counts or by a rule of its
own; what is shown as a share of the trigger is always what the trigger looks at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ctxcore.compaction.triggers import measure
from ctxcore.engine.services import CallTarget
from dashboard.texts import t


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """What the trigger of a policy compares."""

    tokens: int
    compares: Literal["input", "history"] = "input"
    counting: str = "model"

    @property
    def is_plain(self) -> bool:
        """Whether it is the input by the model's counts, as every context tells it."""
        return self.compares == "input" and self.counting == "model"

    def plus(self, tokens: int) -> Filling:
        """The same with so many tokens more."""
        return replace(self, tokens=self.tokens + tokens)


def filling_of(target: CallTarget) -> Filling:
    """What the trigger compares now, nothing of the history left out."""
    policy = target.call.policy
    measured = measure(target.view, target.call, target.record).ruling
    of_history = policy.trigger_on == "history"
    return Filling(
        tokens=measured.history_tokens if of_history else measured.input_tokens,
        compares=policy.trigger_on,
        counting=policy.counting,
    )


def told(filling: Filling) -> str:
    """Whose count the trigger compares; empty where it is the one that is shown anyway."""
    if filling.counting != "model":
        return t(f"compact.compares.{filling.compares}.by_rule", rule=filling.counting)
    return t("compact.compares.history") if filling.compares == "history" else ""
