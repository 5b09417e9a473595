"""The commands say the same whoever does the work: this process, several, or a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.limits import HANG_SECONDS

DEMOS = ("data/demo_incident.json",)
COMMANDS = {
    "compare": (*DEMOS, "--set", "trigger_ratio=0.5..0.8:0.1", "--window", "4000"),
    "replay": (*DEMOS, "examples/autopsy/session.jsonl", "--window", "4000"),
    "autopsy": ("examples/autopsy",),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a scheduler with two workers, processes of their own."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield str(found.scheduler_address)


def said(command: str, options: Sequence[str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "ctxcore.cli", command, *COMMANDS[command], "--json", *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_processes_and_clusters_find_what_one_process_finds(command: str, cluster: str) -> None:
    alone = said(command, ("--jobs", "1"))

    assert said(command, ("--jobs", "2")) == alone
    assert said(command, ("--cluster", cluster)) == alone


@pytest.mark.slow
def test_a_command_without_its_cluster_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ctxcore.cli", "compare", *DEMOS, "--cluster", "nowhere"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )

    assert done.returncode == 1
    assert "no cluster answers at 'nowhere'" in done.stderr
    assert "Traceback" not in done.stderr
