"""Planning a compaction and building a context under each preset, 10,000 messages in memory.

Run it as `python -m benchmarks.presets`. Counts are known, those of a preset's own rule too: each
message is counted when it is appended. The aim is 50 ms for both together.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.timing import (
    Work,
    cost_of,
    effort_of,
    interleaved,
    print_command,
    print_costs,
)
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
MOST_SECONDS = 20.0  # of one part of one preset


def main() -> None:
    """Print a table for each preset."""
    print_command()
    options = _options()
    messages = repeated(load_messages(options.data), options.size)
    print(f"{options.size:,} messages, window {options.window:,}")
    for name in Policy.presets():
        _print_preset(name, messages, options.window, options.rounds)


def _print_preset(name: str, messages: Sequence[JsonObject], window: int, rounds: int) -> None:
    policy, counter = Policy.preset(name), counter_for(MODEL)
    call = Call(
        policy=policy,
        counter=counter,
        budget=policy.budget(window_tokens=window),
        **ruling(policy, MODEL, None),
    )
    view = ListHistory(parse_messages(messages), counter)

    def plan_it() -> None:
        measured = measure(view, call)
        trigger = find_trigger(measured, call)
        assert trigger is not None  # as long as the window is small for so many messages
        assert plan(view, for_trigger(call, measured, trigger), None, measured, trigger) is not None

    works: Mapping[str, Work] = {"plan": plan_it, "context": partial(build_context, view, call)}
    for work in works.values():
        work()  # the first one counts by the preset's own rule
    timed = {part: partial(cost_of, work) for part, work in works.items()}
    costs = interleaved(timed, rounds=rounds, most_seconds=MOST_SECONDS)
    efforts = {part: effort_of(work) for part, work in works.items()}
    print_costs(name, costs, baseline="context", efforts=efforts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--window", type=int, default=128_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
