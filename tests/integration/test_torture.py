"""A bounded slice of `make torture`: whatever kills a process, nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import HANG_SECONDS
from tests.processes import fresh
from tools.torture.fuzzing import TARGETS, mutate_blindly, seeds
from tools.torture.outcomes import Outcome, table

# In a process of its own: what forks must have no threads.
ATTACK = """
import json, sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tools.torture.kills import WORKLOADS, check_kills, check_migration
from tools.torture.storage import check_full_disk, check_read_only
from tools.torture.units import check_unit
from tools.torture.writers import check_writers

name, folder = sys.argv[1], Path(sys.argv[2])
attacks = {
    **{load.name: partial(check_kills, load, folder, kills=3, seed=7) for load in WORKLOADS},
    "migration": partial(check_migration, folder, kills=3, seed=7),
    "create": partial(check_unit, "create", folder),
    "fork, each": partial(check_unit, "fork", folder, stride=5),
    "branch, each": partial(check_unit, "branch", folder, stride=6),
    "undo, each": partial(check_unit, "undo", folder, stride=4),
    "redo, each": partial(check_unit, "redo", folder, stride=4),
    "import, each": partial(check_unit, "import of several", folder, stride=25),
    "native import, each": partial(check_unit, "import of an export", folder, stride=15),
    "writers": partial(
        check_writers, f"sqlite:///{folder / 'w.db'}", processes=2, threads=4, writes=8
    ),
    "disk full": partial(check_full_disk, folder, times=2),
    "read-only": partial(check_read_only, folder),
}
print(json.dumps(asdict(attacks[name]())))
"""
NAMES = [
    *("append", "streaming turn", "import", "read-only"),
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            *("compaction", "undo and redo", "create", "create, fork, branch", "migration"),
            *("writers", "disk full"),
            *("fork, each", "branch, each", "undo, each", "redo, each"),
            *("import, each", "native import, each"),
        )
    ),
]


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost(name: str, tmp_path: Path) -> None:
    done = fresh(ATTACK, name, str(tmp_path), options=())

    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["problems"] == []
    assert outcome["count"] >= 2


@pytest.mark.slow
def test_the_same_attacks_find_nothing_on_postgres(postgres_database: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.torture", "--parts", "postgres", "--kills", "60"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, timeout=HANG_SECONDS
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PostgreSQL | 1 kills |") == 6


@pytest.mark.parametrize("name", TARGETS)
def test_no_nonsense_crashes_a_reader(name: str) -> None:
    outcome = mutate_blindly(name, seeds(name), seconds=1_000, most=200)

    assert outcome.problems == []
    assert outcome.count == 200


def test_the_table_has_a_line_for_each_attack_and_every_problem() -> None:
    lost = Outcome(attack="kill -9: append", unit="kills", count=500, problems=["lost 'a'"])
    absent = Outcome(attack="writers", unit="", skipped="there is no database")

    assert table([lost, absent]).splitlines()[2:] == [
        "| kill -9: append | 500 kills |  | 1 problems |",
        "| writers | – |  | there is no database |",
        "",
        "kill -9: append: lost 'a'",
    ]


@pytest.mark.slow
def test_the_tool_ends_well_only_without_problems(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.torture", "--parts", "kills", "--kills", "7"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, timeout=HANG_SECONDS
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| 1 kills |") == 7
