"""Measures contenders side by side, and prints what a call of each costs.

They take turns, so that a slow spell of the machine hits all of them alike. Ratios are of processor
time, which other programs change less. SQL statements and memory are measured in one more call.
"""

from __future__ import annotations

import shlex
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Final

from benchmarks.statements import statements_run

Work = Callable[[], object]
MEBIBYTE: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one call took."""

    seconds: float
    cpu_seconds: float
    """Of the processor, in all threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a call does, which is the same on any machine."""

    statements: int
    """SQL statements."""
    peak_bytes: int
    """The most memory at once, beyond what was taken before; of Python's own objects."""


Costs = Mapping[str, Sequence[Cost]]


def print_command() -> None:
    """The command line that this table came from."""
    print(f"$ python {shlex.join(sys.orig_argv[1:])}")


def cost_of(work: Work) -> Cost:
    """How long `work` takes."""
    start, cpu_start = perf_counter(), process_time()
    work()
    return Cost(seconds=perf_counter() - start, cpu_seconds=process_time() - cpu_start)


def effort_of(work: Work) -> Effort:
    """What `work` does, in a call that takes several times as long."""
    tracemalloc.start()
    try:
        with statements_run() as run:
            work()
        return Effort(statements=len(run), peak_bytes=tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def interleaved(
    contenders: Mapping[str, Callable[[], Cost]], *, rounds: int, most_seconds: float
) -> Costs:
    """The cost that each contender reports, `rounds` times in turn.

    One that has used up `most_seconds` sits out the rounds that are left; all run at least once.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            if sum(cost.seconds for cost in costs[name]) < most_seconds:
                costs[name].append(run())
    return costs


def print_costs(
    title: str, costs: Costs, *, baseline: str, efforts: Mapping[str, Effort] | None = None
) -> None:
    """A table of medians, each beside that of `baseline`; and what the calls did, where known."""
    base = cpu_median(costs[baseline])
    print(f"\n{title}")
    head = f"  {'':<46} {'median':>12} {'CPU':>12} {'ratio':>9}  runs"
    print(head + (f" {'statements':>11} {'peak memory':>13}" if efforts else ""))
    for name, taken in costs.items():
        cpu, wall = cpu_median(taken), median(cost.seconds for cost in taken)
        ratio = f"{cpu / base:>8.4g}×" if base else f"{'-':>9}"
        line = f"  {name:<46} {shown(wall):>12} {shown(cpu):>12} {ratio}  {len(taken):>4}"
        print(line + (_did(efforts[name]) if efforts else ""))


def cpu_median(costs: Sequence[Cost]) -> float:
    """The median of their processor seconds."""
    return median(cost.cpu_seconds for cost in costs)


def shown(seconds: float) -> str:
    """A time to read."""
    return f"{seconds * 1000:,.2f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def _did(effort: Effort) -> str:
    return f" {effort.statements:>11,} {effort.peak_bytes / MEBIBYTE:>9,.1f} MiB"
