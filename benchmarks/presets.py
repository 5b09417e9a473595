"""Planning a compaction and building a context under each preset, 10,000 messages in memory.

Run it as `python -m benchmarks.presets`. Counts are known, those of a preset's own rule too: each
message is counted when it is appended. The aim is 50 ms for both together.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.timing import print_command
from ctxcore import Policy
from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.fitting import ruling
from ctxcore.assembly.history import ListHistory
from ctxcore.compaction.planning import plan
from ctxcore.compaction.triggers import find_trigger, for_trigger, measure
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

MODEL = "gpt-4o"


def main() -> None:
    """Print a line for each preset."""
    print_command()
    options = _options()
    messages = repeated(load_messages(options.data), options.size)
    print(f"{options.size:,} messages, window {options.window:,}, median of {options.rounds}")
    print(f"{'preset':24}{'plan':>10}{'context':>10}{'together':>10}")
    for name in Policy.presets():
        planning, building = _times(name, messages, options.window, options.rounds)
        both = planning + building
        print(f"{name:24}{planning:>7.1f} ms{building:>7.1f} ms{both:>7.1f} ms")


def _times(
    name: str, messages: Sequence[JsonObject], window: int, rounds: int
) -> tuple[float, float]:
    """Milliseconds of planning and of building, medians."""
    policy, counter = Policy.preset(name), counter_for(MODEL)
    call = Call(
        policy=policy,
        counter=counter,
        budget=policy.budget(window_tokens=window),
        **ruling(policy, MODEL, None),
    )
    view = ListHistory(parse_messages(messages), counter)
    plans, contexts = [], []
    for _ in range(rounds + 1):  # the first one counts by the preset's own rule
        begun = time.perf_counter()
        measured = measure(view, call)
        trigger = find_trigger(measured, call)
        assert trigger is not None  # as long as the window is small for so many messages
        planned = plan(view, for_trigger(call, measured, trigger), None, measured, trigger)
        plans.append(time.perf_counter() - begun)
        assert planned is not None
        begun = time.perf_counter()
        build_context(view, replace(call), None)
        contexts.append(time.perf_counter() - begun)
    return 1_000 * statistics.median(plans[1:]), 1_000 * statistics.median(contexts[1:])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--window", type=int, default=128_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
