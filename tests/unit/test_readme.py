"""The README is read in a minute and shows what it says; the examples in `examples/` run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import HANG_SECONDS
from tests.pages import ROOT, blocks

EXAMPLES = sorted(
    path
    for path in ROOT.glob("examples/*/*.py")
    # They need a running proxy, and a server: tests of these integrations run them.
    if path.parent.name not in ("litellm_proxy", "fastapi")
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.parent.name)
def test_an_example_runs(example: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, *(program if example.name.startswith("test_") else ()), example],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_readme_has_examples_and_commands() -> None:
    languages = [block.language for block in blocks("README.md")]

    assert languages.count("python") > 1
    assert "console" in languages


def test_the_readme_is_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
