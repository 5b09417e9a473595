"""What an attack did, and what it found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Outcome:
    """One line of the table."""

    attack: str
    unit: str
    """What is counted, e.g. `kills`."""
    count: int = 0
    figures: dict[str, int] = field(default_factory=dict)
    """What else was counted, by what it is."""
    problems: list[str] = field(default_factory=list)
    """What was lost, was half there, crashed or did not end."""
    skipped: str = ""
    """Why it was not done."""

    def add(self, what: str, number: int = 1) -> None:
        """Adds to a figure."""
        self.figures[what] = self.figures.get(what, 0) + number


def table(outcomes: Iterable[Outcome]) -> str:
    """The outcomes as a Markdown table, then every problem in full."""
    rows = ["| Attack | Done | Counted | Found |", "|---|---|---|---|"]
    told: list[str] = []
    for outcome in outcomes:
        counted = ", ".join(f"{number:,} {what}" for what, number in outcome.figures.items())
        found = outcome.skipped or f"{len(outcome.problems):,} problems"
        done = "–" if outcome.skipped else f"{outcome.count:,} {outcome.unit}"
        rows.append(f"| {outcome.attack} | {done} | {counted} | {found} |")
        told += [f"{outcome.attack}: {problem}" for problem in outcome.problems]
    return "\n".join([*rows, *([""] if told else []), *told])
