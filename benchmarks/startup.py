"""Importing and a command on a small file, in fresh interpreters, beside peers.

Run it as `python -m benchmarks.startup`. Time and memory are taken inside the interpreter; the
first round, which warms the disk cache, is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers import OFFLINE, is_there
from benchmarks.timing import Cost, Effort, interleaved, print_command, print_costs

ROUNDS = 9
BASELINE = "import ctxcore"
_FIT = "from ctxcore import fit; fit([{'role': 'user', 'content': 'hi'}], max_tokens=100)"
_INSPECT = "from ctxcore.cli import app; app(['inspect', {!r}], standalone_mode=False)"
_SMALL = [
    {"role": "user", "content": "Never deploy on a Friday. What is in the release notes?"},
    {"role": "assistant", "content": "Version 2.4.1 fixes the login page and the export."},
]
_TIMED = (
    "from time import perf_counter, process_time; t, c = perf_counter(), process_time(); {}; "
    "print(perf_counter() - t, process_time() - c)"
)
_TRACED = "import tracemalloc; tracemalloc.start(); {}; print(tracemalloc.get_traced_memory()[1])"
_PEERS = {"langchain_core": "import langchain_core.messages", "litellm": "import litellm"}


def main() -> None:
    """Print one table."""
    print_command()
    with TemporaryDirectory() as folder:
        small = Path(folder, "small.json")
        small.write_text(json.dumps(_SMALL), encoding="utf-8")
        _measure(_statements(small))


def _measure(statements: Mapping[str, str]) -> None:
    contenders = {name: partial(_cost, statement) for name, statement in statements.items()}
    interleaved(contenders, rounds=1, most_seconds=1)
    costs = interleaved(contenders, rounds=ROUNDS, most_seconds=120)
    efforts = {name: _effort(statement) for name, statement in statements.items()}
    print_costs("Fresh interpreters", costs, baseline=BASELINE, efforts=efforts)


def _statements(small: Path) -> Mapping[str, str]:
    own = {
        BASELINE: BASELINE,
        "ctxcore, import and first fit()": _FIT,
        "ctxcore inspect of two messages": _INSPECT.format(str(small)),
    }
    return {**own, **{said: said for name, said in _PEERS.items() if is_there(name)}}


def _cost(statement: str) -> Cost:
    seconds, cpu_seconds = map(float, _printed(_TIMED, statement))
    return Cost(seconds=seconds, cpu_seconds=cpu_seconds)


def _effort(statement: str) -> Effort:
    (peak_bytes,) = _printed(_TRACED, statement)
    return Effort(statements=0, peak_bytes=int(peak_bytes))


def _printed(code: str, statement: str) -> list[str]:
    """What a fresh interpreter prints in its last line."""
    done = subprocess.run(
        [sys.executable, "-c", code.format(statement)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **OFFLINE},
    )
    return done.stdout.splitlines()[-1].split()


if __name__ == "__main__":
    main()
