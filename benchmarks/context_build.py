"""Building one context out of 1,000 to 100,000 messages, beside peers.

Run it as `python -m benchmarks.context_build`. Counts are known where a session is kept by this
library, since each message is counted when it is appended; a peer counts again in every call.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.peers import MODEL, peers
from benchmarks.timing import interleaved, print_times, seconds_of
from ctxcore import Policy, count_messages, fit
from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.history import ListHistory
from ctxcore.messages.openai import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

MOST_SECONDS = 20.0  # of one contender at one size
BASELINE = "ctxcore, counts known"


def main() -> None:
    """Print one table for each size."""
    options = _options()
    source = load_messages(options.data)
    for size in options.sizes:
        messages = repeated(source, size)
        each = count_messages(messages, model=MODEL) / size
        title = f"{size:,} messages of {each:.0f} tokens, budget {options.max_tokens:,}"
        times = interleaved(
            _timed(_contenders(messages, options.max_tokens)),
            rounds=options.rounds,
            most_seconds=MOST_SECONDS,
        )
        print_times(title, times, baseline=BASELINE)


def _contenders(
    messages: Sequence[JsonObject], max_tokens: int
) -> Mapping[str, Callable[[], object]]:
    policy, counter = Policy(), counter_for(MODEL)
    call = Call(policy=policy, counter=counter, budget=policy.input_budget(max_tokens))
    history = ListHistory(parse_messages(messages), counter)
    return {
        BASELINE: partial(build_context, history, call),
        "ctxcore fit(), everything counted": partial(
            fit, messages, max_tokens=max_tokens, model=MODEL
        ),
        **peers(messages, max_tokens),
    }


def _timed(contenders: Mapping[str, Callable[[], object]]) -> Mapping[str, Callable[[], float]]:
    return {name: partial(seconds_of, work) for name, work in contenders.items()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--max-tokens", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
