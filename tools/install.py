"""Installs into this environment with pip, and says what it is doing while it does.

Run it as `python -m tools.install --step NAME --told TEXT PIP-ARGUMENT…`; the Makefile does. It
needs nothing but pip, as nothing else is installed yet. pip's last lines are shown if it fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

LAST_LINES: Final = 40  # of pip's output that a failure shows; chosen: its error and what led to it
EVERY_SECONDS: Final = 5.0  # chosen: silence of more than that looks like a hang

_FETCHING: Final = re.compile(r"^\s*(?:Downloading|Using cached) (?P<file>\S+\.(?:whl|gz|zip)\S*)")
_SIZE: Final = re.compile(r"\((?P<size>[\d.]+) (?P<unit>[kMG]?B)\)")
_NEEDED: Final = re.compile(r"^(?:Collecting|Requirement already satisfied:) (?P<name>[\w.-]+)")
_INSTALLING: Final = re.compile(r"^Installing collected packages: (?P<names>.+)")
_BUILDING: Final = re.compile(
    r"^\s*(?:Building|Preparing) .*?(?:wheel|metadata).* for (?P<name>\S+)"
)
_MEGABYTES: Final = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}


@dataclass(slots=True)
class Progress:
    """What pip has done so far, read from its lines."""

    packages: int = 0
    megabytes: float = 0.0
    doing: str = ""
    is_installing: bool = False
    _seen: set[str] = field(default_factory=set)

    def read(self, line: str) -> None:
        """Takes one line of pip's output."""
        if found := _NEEDED.match(line):
            self._seen.add(found["name"].lower())
            self.packages = len(self._seen)
            self.doing = f"looking at {found['name']}"
        elif found := _FETCHING.match(line):
            size = _SIZE.search(line)
            self.megabytes += float(size["size"]) * _MEGABYTES[size["unit"]] if size else 0.0
            self.doing = f"{_name_of(found['file'])}{f' {size[0]}' if size else ''}"
        elif found := _BUILDING.match(line):
            self.doing = "preparing this project"
        elif found := _INSTALLING.match(line):
            self.is_installing = True
            self.doing = f"writing {len(found['names'].split(', '))} packages"

    @property
    def line(self) -> str:
        """One line that tells it."""
        if self.is_installing:
            return f"    {self.doing}; this can take minutes"
        return f"    {self.packages} packages, {self.megabytes:.0f} MB so far: {self.doing}"


def _name_of(file: str) -> str:
    """The package of a file's name, e.g. `streamlit` of `streamlit-1.67.0-py3-none-any.whl`."""
    return file.rsplit("/", 1)[-1].split("-", 1)[0]


def follow(
    lines: Iterable[str],
    say: Callable[[str], None],
    *,
    clock: Callable[[], float] = time.monotonic,
    every_seconds: float = EVERY_SECONDS,
) -> list[str]:
    """Says what `lines` of pip tell, now and then and when it begins to write; the last lines."""
    progress, last = Progress(), deque[str](maxlen=LAST_LINES)
    said_at, was_installing = clock(), False
    for line in lines:
        last.append(line.rstrip("\n"))
        progress.read(line)
        begins = progress.is_installing and not was_installing
        was_installing = progress.is_installing
        is_due = not was_installing and progress.doing and clock() - said_at >= every_seconds
        if begins or is_due:
            say(progress.line)
            said_at = clock()
    return list(last)


def install(arguments: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs `pip install` with these arguments; returns its exit code."""
    command = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check")
    with subprocess.Popen(
        (*command, "--progress-bar", "off", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},  # else its lines come in blocks
    ) as process:
        assert process.stdout is not None
        last = follow(process.stdout, say)
    if process.returncode:
        say("    pip failed; its last lines:")
        for line in last:
            say(f"    {line}")
    return process.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Says the step, installs, and says how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--step", required=True, help="what is installed, in a word or two")
    parser.add_argument("--told", default="", help="what that is, and roughly how much")
    options, pip_arguments = parser.parse_known_args(arguments)

    def say(text: str) -> None:
        print(text, flush=True)

    started = time.monotonic()
    say(f"==> {options.step}: {options.told}" if options.told else f"==> {options.step}")
    code = install(pip_arguments, say)
    if code == 0:
        say(f"    done in {time.monotonic() - started:.0f} s")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
