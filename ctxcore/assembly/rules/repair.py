"""Owns the note of one thing that was made legal."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.reasons.codes import RepairCode
from ctxcore.reasons.values import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing made legal: what, and at which place of the history.

    The place counts from 0; None is a text of our own, or a tool definition.
    """

    reason: Reason
    at: int | None

    @property
    def kind(self) -> str:
        """What was repaired, in one word, e.g. `missing_result`."""
        named = self.reason.code == RepairCode.NAMED_CALL
        code = RepairCode.RENAMED_CALL if named else self.reason.code
        return code.rpartition(".")[2]

    @property
    def detail(self) -> str:
        """What was repaired, in English."""
        return str(self.reason)
