"""Environments with the wheel, outside of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.limits import HANG_SECONDS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment with the wheel, and an empty folder to run in."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints."""
        return run(str(self.programs / program), *arguments, folder=self.folder)


def run(*command: str, folder: Path) -> str:
    """What `command` prints; it does not see the checkout."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> Path:
    """The wheel, built in `folder` from the source distribution, which is built there too."""
    run(sys.executable, "-m", "uv", "build", "--out-dir", str(folder), folder=ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


def install(requirement: str, folder: Path, *options: str) -> Installed:
    """A fresh environment in `folder` with what `requirement` asks for."""
    environment, empty = folder / "environment", folder / "empty"
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--python", sys.executable, str(environment), folder=folder)
    into = ("--python", str(environment))
    run(*uv, "pip", "install", *into, *options, requirement, folder=folder)
    empty.mkdir()
    return Installed(programs=environment / "bin", folder=empty)
