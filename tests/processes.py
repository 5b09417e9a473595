"""Fresh interpreters for tests: what must be the same in each of them."""

from __future__ import annotations

import os
import subprocess
import sys


def printed_under_hash_seeds(script: str) -> set[bytes]:
    """What `script` prints in processes with other hash seeds; one text if that changes nothing."""
    return {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
