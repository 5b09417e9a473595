"""Times contenders side by side and prints their medians with ratios.

Contenders take turns, so that a slow spell of the machine hits all of them alike.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter

Times = Mapping[str, Sequence[float]]


def print_command() -> None:
    """The command line that this table came from."""
    print(f"$ python {shlex.join(sys.orig_argv[1:])}")


def seconds_of(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def interleaved(
    contenders: Mapping[str, Callable[[], float]], *, rounds: int, most_seconds: float
) -> Times:
    """The seconds that each contender reports, `rounds` times in turn.

    One that has used up `most_seconds` sits out the rounds that are left; all run at least once.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            if sum(times[name]) < most_seconds:
                times[name].append(run())
    return times


def print_times(title: str, times: Times, *, baseline: str) -> None:
    """A table of medians, each beside that of `baseline`."""
    base = median(times[baseline])
    print(f"\n{title}")
    print(f"  {'':<46} {'median':>12} {'ratio':>9}  runs")
    for name, taken in times.items():
        middle = median(taken)
        print(f"  {name:<46} {_shown(middle):>12} {middle / base:>8.4g}×  {len(taken)}")


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:,.2f} ms" if seconds < 1 else f"{seconds:,.2f} s"
