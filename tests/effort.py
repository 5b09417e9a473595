"""How much work a call is: as calls made, which a busy machine does not change, or as time."""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable, Mapping
from functools import _lru_cache_wrapper, lru_cache
from types import FrameType
from typing import Final, TypeVar

from ctxcore.tokens import exact
from tests.hostile_texts import make_prose

CLOCK_SECONDS: Final = 0.05  # some clocks of processor time move by 4 ms
LEAST_SECONDS: Final = 0.004  # of prose; chosen: what takes less is measured too roughly
TRIES: Final = 6  # a busy machine adds to the time of some runs
T = TypeVar("T")


def calls_made(work: Callable[[T], object], given: T) -> int:
    """How many functions `work(given)` calls in this thread, those written in C included."""
    made = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(given)
    finally:
        sys.setprofile(before)
    return made


def processor_seconds(work: Callable[[T], object], given: T, *, runs: int = 3) -> float:
    """The processor time of the fastest of some runs; the first also loads what is needed."""
    return min(_timed(work, given) for _ in range(runs))


def _steady(work: Callable[[T], object], given: T) -> float:
    """The processor time of a run, of as many as a coarse clock needs."""
    total, runs = 0.0, 0
    while total < CLOCK_SECONDS:
        forget()
        total += _timed(work, given)
        runs += 1
    return total / runs


def times_prose(work: Callable[[str], object], text: str, prose: str, *, most: float) -> float:
    """How often the time that `work` takes for prose it takes for `text`, which is as long.

    Where one run says more than `most`, the least of a few beside prose: a busy machine slows both.
    """
    plain = max(LEAST_SECONDS, processor_seconds(work, prose))
    best = processor_seconds(work, text, runs=1) / plain
    for _ in range(TRIES if best > most else 0):
        forget()
        plain = processor_seconds(work, prose, runs=1)
        forget()
        taken = processor_seconds(work, text, runs=1)
        best = min(best, taken / max(LEAST_SECONDS, plain))
    return best


def slow_texts(
    work: Callable[[str], object],
    texts: Mapping[str, Callable[[int], str]],
    chars: int,
    *,
    most: float,
) -> dict[str, float]:
    """The `texts` of `chars` characters that take over `most` times as long as prose."""
    prose = make_prose(chars)
    taken = {name: times_prose(work, make(chars), prose, most=most) for name, make in texts.items()}
    return {name: times for name, times in taken.items() if times > most}


def superlinear_texts(
    work: Callable[[str], object],
    texts: Mapping[str, Callable[[int], str]],
    chars: int,
    *,
    most: float,
) -> dict[str, float]:
    """The `texts` whose work grows up to `chars` characters with an exponent of over `most`."""
    grown = {name: least_growth(work, make, chars, most=most) for name, make in texts.items()}
    return {name: exponent for name, exponent in grown.items() if exponent > most}


def least_growth(
    work: Callable[[str], object], make: Callable[[int], str], chars: int, *, most: float
) -> float:
    """The exponent with which the processor time of `work` grows up to texts of `chars` characters.

    Nothing that was cached before helps. Where one run says more than `most`, the least times of a
    few runs are compared: a busy machine adds to some.
    """
    small, large = make(chars // 8), make(chars)
    sizes = math.log(len(large) / len(small))
    least_small = least_large = exponent = math.inf
    for _ in range(TRIES):
        least_small = min(least_small, _steady(work, small))
        least_large = min(least_large, _steady(work, large))
        exponent = math.log(least_large / least_small) / sizes
        if exponent <= most:
            break
    return exponent


def forget() -> None:
    """Empties what the library has cached, but not what it has loaded once."""
    for cached in _caches(len(sys.modules)):
        cached.cache_clear()
    exact.forget()


@lru_cache(maxsize=1)
def _caches(modules: int) -> list[_lru_cache_wrapper[object]]:
    """The bounded caches of the library, with so many `modules` loaded: a search takes 10 ms."""
    own = [module for name, module in sys.modules.items() if name.startswith("ctxcore")]
    cached = [one for module in own for one in vars(module).values()]
    return [
        one
        for one in cached
        if isinstance(one, _lru_cache_wrapper) and one.cache_info().maxsize is not None
    ]


def _timed(work: Callable[[T], object], given: T) -> float:
    """The processor time of a run without the collector, which also walks what others left."""
    gc.disable()
    try:
        started = time.process_time()
        work(given)
        return time.process_time() - started
    finally:
        gc.enable()
