"""Attacks the library and prints a table of what was lost; an exit code other than 0 if anything.

Run it as `make torture`, or as `python -m tools.torture --kills 500 --parts kills writers`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tools import postgres
from tools.torture.fuzzing import TARGETS, check_target
from tools.torture.kills import WORKLOADS, check_kills, check_migration
from tools.torture.outcomes import Outcome, table
from tools.torture.providers import check_providers
from tools.torture.storage import check_flipped_bytes, check_full_disk, check_read_only
from tools.torture.units import UNITS, check_unit
from tools.torture.writers import check_writers

PARTS = ("kills", "units", "writers", "postgres", "storage", "providers", "fuzzing")

Attack = Callable[[], Outcome]


def attacks(options: argparse.Namespace, folder: Path) -> Iterator[Attack]:
    """What is done, in order; forking ones come first, while there are no threads."""
    if "kills" in options.parts:
        each = -(-options.kills // (len(WORKLOADS) + 1))
        for workload in WORKLOADS:
            kills = partial(check_kills, workload, folder / workload.name)
            yield partial(kills, kills=each, seed=options.seed)
        yield partial(check_migration, folder / "migration", kills=each, seed=options.seed)
    if "units" in options.parts:
        for name in (*UNITS, "import of an export"):
            yield partial(check_unit, name, folder / "units" / name, stride=options.stride)
    crowd = partial(check_writers, processes=4, threads=8, writes=16)
    if "writers" in options.parts:
        yield partial(crowd, f"sqlite:///{folder / 'writers.db'}")
    if "postgres" in options.parts:
        yield from _on_postgres(folder, crowd, kills=options.kills, seed=options.seed)
    if "storage" in options.parts:
        yield partial(check_full_disk, folder / "full", times=20)
        yield partial(check_read_only, folder / "read-only")
        yield partial(
            check_flipped_bytes, folder / "flipped", files=options.files, seed=options.seed
        )
    if "fuzzing" in options.parts:
        for name in TARGETS:
            yield partial(check_target, name, folder / "fuzzing", seconds=options.fuzz_seconds)
    if "providers" in options.parts:
        yield from check_providers(megabytes=100)


def _on_postgres(
    folder: Path, crowd: Callable[..., Outcome], *, kills: int, seed: int
) -> Iterator[Attack]:
    """Writers and kills on a server of their own; a tenth of the kills that SQLite gets."""
    if reason := postgres.missing():
        yield lambda: Outcome(attack="PostgreSQL", unit="", skipped=reason)
        return
    each = -(-kills // (10 * len(WORKLOADS)))
    with postgres.server() as server:
        with postgres.database(server) as url:
            yield partial(crowd, url, name="PostgreSQL")
        for workload in WORKLOADS:
            attack = partial(check_kills, workload, folder / "postgres", server=server)
            yield partial(attack, kills=each, seed=seed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the attacks; what the process returns."""
    parser = argparse.ArgumentParser(prog="python -m tools.torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="of processes, in all workloads")
    parser.add_argument("--stride", type=int, default=1, help="kill at each so-manyth statement")
    parser.add_argument("--files", type=int, default=200, help="with flipped bytes")
    parser.add_argument("--fuzz-seconds", type=int, default=30, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args(arguments)
    outcomes: list[Outcome] = []
    with TemporaryDirectory(prefix="torture-") as folder:
        for attack in attacks(options, Path(folder)):
            started = monotonic()
            outcomes.append(attack())
            took = monotonic() - started
            print(f"{outcomes[-1].attack}: {took:,.0f} s", file=sys.stderr, flush=True)
    print(table(outcomes))
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
