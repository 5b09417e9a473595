"""What binding a state to its messages costs `fit`, in CPU time beside the same call without it.

Run it as `python -m benchmarks.bound_states`. The messages are those of the demo conversations, or
of any folder with `--data`, repeated; the state is that of one compaction.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.timing import interleaved, print_command, print_times
from ctxcore import CompactionState, compact, fit
from ctxcore.messages.values import JsonObject

MODEL = "gpt-4o"
BUDGET = 32_000
SIZES = (1_000, 10_000)
ROUNDS = 15
MOST_SECONDS = 60


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    data = load_messages(parser.parse_args().data)
    print_command()
    for size in SIZES:
        messages = repeated(data, size)
        state = compact(messages, max_tokens=BUDGET, model=MODEL, force=True).state
        ways = {
            "state made by hand": _timed(messages, replace(state, seen=None)),
            "state bound to its messages": _timed(messages, state),
        }
        times = interleaved(ways, rounds=ROUNDS, most_seconds=MOST_SECONDS)
        print_times(f"fit() on {size:,} messages, CPU time", times, baseline="state made by hand")


def _timed(messages: Sequence[JsonObject], state: CompactionState) -> Callable[[], float]:
    return partial(_seconds, messages, state)


def _seconds(messages: Sequence[JsonObject], state: CompactionState) -> float:
    gc.collect()  # so that neither pays for what the other left
    begun = time.process_time()
    fit(messages, max_tokens=BUDGET, model=MODEL, state=state)
    return time.process_time() - begun


if __name__ == "__main__":
    main()
