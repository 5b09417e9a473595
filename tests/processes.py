"""Fresh interpreters for tests: what must be the same in each of them, and what one prints."""

from __future__ import annotations

import os
import subprocess
import sys

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


def printed_by(script: str) -> str:
    """What `script` prints; it must end well."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    return done.stdout
