"""Compares the candidates of a trial: what one costs against another, and which are worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ctxcore.trials.candidates import Candidate
from ctxcore.trials.values import Figures, Trial

Measure: TypeAlias = Literal["literals", "facts"]
"""What counts as kept: exact strings when calls use them, or facts that hold at any call."""


def usual_measure(totals: Sequence[Figures]) -> Measure:
    """Literals, unless no call uses any: a conversation without tools."""
    return "literals" if any(one.literals for one in totals) else "facts"


def kept_share(figures: Figures, measure: Measure) -> float | None:
    """The share of what was needed that was there; None where nothing was looked for."""
    return figures.literals_share if measure == "literals" else figures.facts_share


def are_priced(totals: Sequence[Figures]) -> bool:
    """Whether the costs of all candidates are known and some cost anything; else tokens are
    compared: all policies cost the same with a model that costs nothing."""
    return all(one.cost is not None for one in totals) and any(one.cost for one in totals)


def spent(figures: Figures, *, is_priced: bool) -> float:
    """What is compared: US dollars, or tokens sent where prices are not known."""
    return (figures.cost or 0.0) if is_priced else float(figures.sent_tokens)


def reference_at(candidates: Sequence[Candidate], totals: Sequence[Figures]) -> int | None:
    """Which candidate the others are compared with: today's policy, else doing nothing.

    One that had calls refused did not do the same work: then it is the first baseline that did.
    """
    for kind in ("today", "none", "baseline"):
        for at, candidate in enumerate(candidates):
            if candidate.kind == kind and not totals[at].over:
                return at
    return None


def change_share(figures: Figures, reference: Figures, *, is_priced: bool) -> float | None:
    """How much more (or, below 0, less) it spends than `reference`, as a share of that.

    None where calls were refused: less work is no saving.
    """
    whole = spent(reference, is_priced=is_priced)
    if figures.over or reference.over or not whole:
        return None
    return spent(figures, is_priced=is_priced) / whole - 1


def frontier(totals: Sequence[Figures], measure: Measure) -> list[int]:
    """The candidates that no other beats: none that spends no more keeps more, the cheapest first.

    One whose calls were refused is never among them.
    """
    is_priced = are_priced(totals)
    rated = [
        (spent(one, is_priced=is_priced), -share, at)
        for at, one in enumerate(totals)
        if not one.over and (share := kept_share(one, measure)) is not None
    ]
    found: list[int] = []
    best = -1.0
    for _, less, at in sorted(rated):
        if -less > best:
            best = -less
            found.append(at)
    return found


def compared_rows(trial: Trial) -> list[tuple[Candidate, Figures, float | None]]:
    """Each candidate with its sums and its change against the reference."""
    totals = trial.totals
    at = reference_at(trial.candidates, totals)
    is_priced = are_priced(totals)
    return [
        (
            candidate,
            figures,
            None if at is None else change_share(figures, totals[at], is_priced=is_priced),
        )
        for candidate, figures in zip(trial.candidates, totals, strict=True)
    ]
