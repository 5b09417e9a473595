"""The README is read in a minute and shows what it says; the examples in `examples/` run."""

from __future__ import annotations

import itertools
import os
import re
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


@pytest.mark.slow
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


def test_the_readme_has_an_example_and_commands() -> None:
    languages = [block.language for block in blocks("README.md")]

    assert languages == ["sh", "python", "text"]


def test_the_readme_is_read_in_a_minute() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|^\|.*?$|\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)

    assert len(text.splitlines()) <= 85
    assert len(prose.split()) <= 340


def test_the_figures_of_the_readme_are_those_of_the_benchmarks() -> None:
    measured = _rows("docs/benchmarks.md", "evidence of LoCoMo's questions, 2,000")
    pairs = zip(measured[:6:2], measured[1:6:2], strict=True)
    joined = [[f"{one} · {two}" for one, two in zip(*pair, strict=True)] for pair in pairs]

    assert _rows("README.md", "evidence of LoCoMo's questions, 2,000") == [*joined, *measured[6:]]


def test_the_figures_of_the_comparison_were_measured() -> None:
    text = (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    sources = ("docs/benchmarks.md", "docs/designs.md")
    measured = "".join((ROOT / page).read_text(encoding="utf-8") for page in sources)

    figures = set(re.findall(r"(?<![\w.])\.\d\d\b", text))

    assert figures
    assert {figure for figure in figures if figure not in measured} == set()


def _rows(page: str, first: str) -> list[list[str]]:
    """The cells behind the first one of a row and of those below it, without marks of bold."""
    lines = (ROOT / page).read_text(encoding="utf-8").replace("*", "").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"| {first}"))
    table = itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    return [[cell.strip() for cell in line.split("|")[2:-1]] for line in table]
