"""Importing, in fresh interpreters, beside peers.

Run it as `python -m benchmarks.startup`. Each time is that of the import alone, taken inside the
interpreter; the first round, which warms the disk cache, is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.peers import OFFLINE, is_there
from benchmarks.timing import interleaved, print_command, print_times

ROUNDS = 9
BASELINE = "import ctxcore"
_FIT = "from ctxcore import fit; fit([{'role': 'user', 'content': 'hi'}], max_tokens=100)"
_CODE = "from time import perf_counter; t = perf_counter(); {}; print(perf_counter() - t)"
_PEERS = {"langchain_core": "import langchain_core.messages", "litellm": "import litellm"}


def main() -> None:
    """Print one table."""
    print_command()
    contenders = _contenders()
    interleaved(contenders, rounds=1, most_seconds=1)
    times = interleaved(contenders, rounds=ROUNDS, most_seconds=120)
    print_times("Fresh interpreters", times, baseline=BASELINE)


def _contenders() -> Mapping[str, Callable[[], float]]:
    statements = {BASELINE: BASELINE, "ctxcore, import and first fit()": _FIT}
    statements |= {said: said for name, said in _PEERS.items() if is_there(name)}
    return {name: partial(_seconds, statement) for name, statement in statements.items()}


def _seconds(statement: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(statement)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **OFFLINE},
    )
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
