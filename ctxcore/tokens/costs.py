"""What calls cost together, and why the cost of some is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

from ctxcore.json_types import JsonObject
from ctxcore.plain import Plain
from ctxcore.reasons.codes import CostCode
from ctxcore.reasons.values import Reason, document


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCost:
    """The cost of one call, or of several with the same price."""

    dollars: float | None
    model: str | None
    has_usage: bool
    calls: int = 1

    @property
    def gap(self) -> Reason | None:
        """Why the cost is not known; None where it is."""
        if self.dollars is not None:
            return None
        if not self.has_usage:
            return CostCode.NO_USAGE()
        return CostCode.NO_PRICE(model=self.model) if self.model else CostCode.NO_MODEL()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCost(Plain):
    """Calls whose cost is not known, and why."""

    reason: Reason
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Plain):
    """What calls cost together."""

    dollars: float | None
    """The sum of what is known, in US dollars; None where nothing is."""
    unknown: tuple[UnknownCost, ...] = ()
    """The other calls, the most first."""

    def document(self) -> JsonObject:
        """The sum and its gaps as JSON."""
        return {
            "dollars": None if self.dollars is None else round(self.dollars, 6),
            "unknown": [
                {"calls": gap.calls, "reason": document(gap.reason)} for gap in self.unknown
            ],
        }


def sum_costs(parts: Iterable[CallCost]) -> Cost:
    """The sum of the known costs, with the number of unknown ones."""
    known: list[float] = []
    unknown: Counter[Reason] = Counter()
    for part in parts:
        if part.dollars is not None:
            known.append(part.dollars)
        if part.gap is not None:
            unknown[part.gap] += part.calls
    return Cost(
        dollars=fsum(known) if known else None,
        unknown=tuple(UnknownCost(reason=why, calls=n) for why, n in unknown.most_common()),
    )


def dollars_text(dollars: float) -> str:
    """US dollars to the cent; of less than ten cents two significant figures."""
    is_small = dollars != 0 and abs(dollars) < 0.0995  # what two figures round below ten cents
    return f"${dollars:.2g}" if is_small else f"${dollars:,.2f}"


def tokens_text(tokens: int) -> str:
    """A number of tokens in few characters, e.g. `12.3k`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if abs(tokens) >= size:
            figures = f"{tokens / size:.1f}".removesuffix(".0")
            return f"{figures}{unit}"
    return str(tokens)
