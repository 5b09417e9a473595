"""Fresh interpreters for tests: what must be the same in each of them, or hold in a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tests.limits import HANG_SECONDS


def printed_under_hash_seeds(script: str) -> set[bytes]:
    """What `script` prints in processes with other hash seeds; one text if that changes nothing."""
    return {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            timeout=HANG_SECONDS,
        ).stdout
        for seed in ("1", "2", "3")
    }


def fresh(
    script: str,
    *arguments: str,
    options: Sequence[str] = ("-W", "error"),
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that has run `script`, with what it printed."""
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *options, "-c", script, *arguments],
        env={**os.environ, **own, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )


def printed_by(script: str) -> str:
    """What `script` prints; it must end well."""
    done = fresh(script, options=())
    assert done.returncode == 0, done.stderr
    return done.stdout
