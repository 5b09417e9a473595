"""An autopsy and a comparison of policies over many sessions, by how many workers do it.

Run it as `python -m benchmarks.cluster`. The sessions are made up, in the form of Claude Code. The
workers are processes of this machine: those of the commands themselves, and those of a Dask cluster
on 127.0.0.1 that is started before the time is taken. The figures must be the same each time. On a
machine that does other things too, seconds say little: beside them stands the processor time of the
cluster's workers together, and of the busiest one, which is what the work takes at least.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from benchmarks.autopsy import write_session
from benchmarks.timing import print_command


def main() -> None:
    """Print a row for each command and number of workers."""
    options = _options()
    print_command()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    head = f"{'':<10} {'workers':<12} {'seconds':>8} {'speed-up':>9}"
    print(f"{head} {'CPU, all':>9} {'busiest':>8}  figures")
    with TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(options.files):
            path = folder / f"{number}.jsonl"
            write_session(path, round(options.megabytes * 1e6 / options.files), seed=number)
        for command in options.commands:
            _rows(command, folder, options.workers)


def _rows(command: str, folder: Path, counts: Sequence[int]) -> None:
    for kind in ("processes", "cluster"):
        first = 0.0
        for count in counts:
            seconds, digest, busy = _run(command, folder, kind, count)
            first = first or seconds
            row = f"{command:<10} {f'{count} {kind}':<12} {seconds:>8.1f} {first / seconds:>8.2f}×"
            cpu = f"{sum(busy):>9.1f} {max(busy):>8.1f}" if busy else f"{'–':>9} {'–':>8}"
            print(f"{row} {cpu}  {digest}", flush=True)


def _run(command: str, folder: Path, kind: str, count: int) -> tuple[float, str, list[float]]:
    """The seconds, what was found, and the processor time of each worker of a cluster."""
    if kind == "processes":
        return *_timed(command, folder, ["--jobs", str(count)]), []
    with _cluster(count) as client:
        before = client.run(process_time)
        seconds, digest = _timed(command, folder, ["--cluster", client.scheduler.address])
        after = client.run(process_time)
    return seconds, digest, [after[name] - before[name] for name in before]


def _timed(command: str, folder: Path, options: Sequence[str]) -> tuple[float, str]:
    begun = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "ctxcore.cli", command, str(folder), "--json", *options],
        capture_output=True,
        check=True,
    )
    seconds = perf_counter() - begun
    found: Any = json.loads(done.stdout)
    return seconds, sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster with so many workers."""
    distributed: Any = import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--megabytes", type=float, default=24.0, help="of all files")
    parser.add_argument("--commands", nargs="+", default=["autopsy", "compare"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    return parser.parse_args()


if __name__ == "__main__":
    main()
