"""What binding a state to its messages costs `fit`, beside the same call without it.

Run it as `python -m benchmarks.bound_states`. The messages are those of the demo conversations, or
of any folder with `--data`, repeated; the state is that of one compaction.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.timing import (
    Cost,
    Work,
    cost_of,
    effort_of,
    interleaved,
    print_command,
    print_costs,
)
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
            "state made by hand": _fit(messages, replace(state, seen=None)),
            "state bound to its messages": _fit(messages, state),
        }
        timed = {name: partial(_cost, work) for name, work in ways.items()}
        costs = interleaved(timed, rounds=ROUNDS, most_seconds=MOST_SECONDS)
        efforts = {name: effort_of(work) for name, work in ways.items()}
        title = f"fit() on {size:,} messages"
        print_costs(title, costs, baseline="state made by hand", efforts=efforts)


def _fit(messages: Sequence[JsonObject], state: CompactionState) -> Work:
    return partial(fit, messages, max_tokens=BUDGET, model=MODEL, state=state)


def _cost(work: Work) -> Cost:
    gc.collect()  # so that neither pays for what the other left
    return cost_of(work)


if __name__ == "__main__":
    main()
