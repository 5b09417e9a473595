"""Five measures of what a model still knows after compaction, beside peers, without any model.

Run it as `python -m benchmarks.fidelity`. Demo data by default; `--data FOLDER`, as often as
wanted, measures other conversations of the same format (`benchmarks.fidelity.talks` has it).
Everything is deterministic but times; where a file has more than the limit, a fixed sample counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from benchmarks.conversations import DEMO
from benchmarks.fidelity import (
    caching,
    evidence,
    instructions,
    literals,
    next_calls,
    requests,
    searches,
)
from benchmarks.fidelity.methods import Method, own_methods, plain_methods
from benchmarks.fidelity.packages import package_methods
from benchmarks.fidelity.progress import tell
from benchmarks.fidelity.tables import Table
from benchmarks.fidelity.talks import HALVES, Talk, half_of, load_talks
from benchmarks.timing import print_command

Measure = Callable[[Sequence[Talk], Sequence[Method], int], Iterator[Table]]


def _of_evidence(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    yield from evidence.measure(talks, methods, limit)
    yield from requests.measure(talks, methods, limit)
    yield from searches.measure(talks, methods, limit)


MEASURES: Mapping[int, Measure] = {
    1: _of_evidence,
    2: literals.measure,
    3: next_calls.measure,
    4: instructions.measure,
    5: caching.measure,
}


def main() -> None:
    """Print the tables of the measures that are asked for."""
    options = _options()
    talks = half_of(load_talks(options.data), options.half)
    with redirect_stdout(StringIO()) as missing:
        methods = [*own_methods(), *plain_methods(), *package_methods()]
    if options.method:
        methods = [m for m in methods if any(part in m.name for part in options.method)]
    if not options.json:
        print_command()
        print(f"{len(talks)} conversations, at most {options.limit} of a file a measure")
        print(missing.getvalue(), end="")
    tables = []
    for number in options.measure:
        begun = time.perf_counter()
        for table in MEASURES[number](talks, methods, options.limit):
            tables.append(table)
            if not options.json:
                print(table.render(), flush=True)
        tell(f"measure {number}: {time.perf_counter() - begun:.0f} s")
    if options.json:
        print(json.dumps([table.to_json() for table in tables], ensure_ascii=False, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", action="extend", help="folders")
    parser.add_argument("--measure", type=int, nargs="+", choices=list(MEASURES))
    parser.add_argument("--method", nargs="+", help="only methods with one of these in their name")
    parser.add_argument("--limit", type=int, default=5, help="conversations of a file a measure")
    parser.add_argument("--half", choices=HALVES, help="of the conversations, by hash of their id")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.data = options.data or [DEMO]
    options.measure = options.measure or list(MEASURES)
    return options


if __name__ == "__main__":
    main()
