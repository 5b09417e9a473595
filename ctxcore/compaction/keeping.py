"""Owns which folded blocks stay verbatim: those worth most per token, as far as there is room.

A block stays whole or not at all. What earlier compactions kept competes again with what folds now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxcore.assembly.history import Counted
from ctxcore.worth.scoring import Worth, score_units
from ctxcore.worth.units import Unit, split_message

Block = Sequence[Counted]

MOST_OTHERS = 400  # what a summary leaves free of its room is a tenth of usable at most
LEAST_SHARE = 4  # a block that takes more than a quarter of the room pushes out too many others


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which blocks stay, and which come next if there is more room than was thought."""

    kept: tuple[int, ...] = ()
    """Places, ascending."""
    next_best: tuple[int, ...] = ()
    """Places, the best first."""


def choose_blocks(blocks: Sequence[Block], sizes: Sequence[int], room_tokens: int) -> Chosen:
    """Which of `blocks`, oldest first, stay within `room_tokens`, each of its size."""
    units, owners = _units(blocks)
    if not units:
        return Chosen()
    values = _values(units, owners, score_units(units), len(blocks))
    order = sorted(range(len(blocks)), key=lambda at: (-values[at] / max(1, sizes[at]), -at))
    most = max(room_tokens // LEAST_SHARE, 1)
    kept: list[int] = []
    others: list[int] = []
    left = room_tokens
    for at in order:
        if values[at] <= 0 or sizes[at] > most:
            continue
        if sizes[at] <= left:
            kept.append(at)
            left -= sizes[at]
        elif len(others) < MOST_OTHERS:
            others.append(at)
    return Chosen(kept=tuple(sorted(kept)), next_best=tuple(others))


def _units(blocks: Sequence[Block]) -> tuple[list[Unit], list[int]]:
    """The units of all blocks, and which block each belongs to."""
    units: list[Unit] = []
    owners: list[int] = []
    for at, block in enumerate(blocks):
        for row in block:
            made = split_message(row.message, seq=row.seq, tokens=row.sent_tokens)
            units += made
            owners += [at] * len(made)
    return units, owners


def _values(
    units: Sequence[Unit], owners: Sequence[int], worths: Sequence[Worth], count: int
) -> list[float]:
    """What each block is worth; a literal pays once in a block."""
    values, seen = [0.0] * count, [set[str]() for _ in range(count)]
    for owner, worth in zip(owners, worths, strict=True):
        values[owner] += worth.talk
        for literal, value in worth.literals:
            if literal not in seen[owner]:
                seen[owner].add(literal)
                values[owner] += value
    return values
