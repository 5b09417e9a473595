"""Building one context out of 1,000 to 100,000 messages, beside peers.

Run it as `python -m benchmarks.context_build`. Counts are known where a session is kept by this
library, in memory or in a store, since each message is counted when it is appended; a peer counts
again in every call. The store is an SQLite file in a temporary folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.peers import MODEL, Contenders, peers
from benchmarks.stored import stored_session
from benchmarks.timing import Cost, cost_of, effort_of, interleaved, print_command, print_costs
from ctxcore import Policy, count_messages, fit
from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.history import ListHistory
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

MOST_SECONDS = 20.0  # of one contender at one size
BASELINE = "ctxcore, counts known"
_TURN: Sequence[JsonObject] = (
    {"role": "user", "content": "Which of the two do you think is the safer one, and why?"},
    {"role": "assistant", "content": "The first. It can be taken back at any time."},
)


def main() -> None:
    """Print one table for each size."""
    print_command()
    options = _options()
    source = load_messages(options.data)
    for size in options.sizes:
        messages = repeated(source, size)
        each = count_messages(messages, model=MODEL) / size
        title = f"{size:,} messages of {each:.0f} tokens, budget {options.max_tokens:,}"
        with TemporaryDirectory() as folder:
            contenders = _contenders(messages, options.max_tokens, Path(folder))
            costs = interleaved(
                _timed(contenders), rounds=options.rounds, most_seconds=MOST_SECONDS
            )
            efforts = {name: effort_of(work) for name, work in contenders.items()}
        print_costs(title, costs, baseline=BASELINE, efforts=efforts)


def _contenders(messages: Sequence[JsonObject], max_tokens: int, folder: Path) -> Contenders:
    policy, counter = Policy(), counter_for(MODEL)
    call = Call(policy=policy, counter=counter, budget=policy.input_budget(max_tokens))
    history = ListHistory(parse_messages(messages), counter)
    engine, session_id = stored_session(messages, folder, model=MODEL, usable_tokens=max_tokens)
    return {
        BASELINE: partial(build_context, history, call),
        "ctxcore, stored session": partial(engine.context, session_id),
        "ctxcore, appending a turn of two to it": partial(engine.append, session_id, _TURN),
        "ctxcore fit(), everything counted": partial(
            fit, messages, max_tokens=max_tokens, model=MODEL
        ),
        **peers(messages, max_tokens),
    }


def _timed(contenders: Contenders) -> Mapping[str, Callable[[], Cost]]:
    return {name: partial(cost_of, work) for name, work in contenders.items()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--max-tokens", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
