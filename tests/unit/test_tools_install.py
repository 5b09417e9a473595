"""What is said while packages are installed, from the lines of pip alone."""

from __future__ import annotations

from itertools import count

import pytest

from tools.install import Progress, follow, main

LINES = (
    "Collecting streamlit==1.67.0 (from -c constraints.txt)\n",
    "  Downloading streamlit-1.67.0-py3-none-any.whl (9.1 MB)\n",
    "Collecting pandas\n",
    "  Downloading https://files.example/pandas-2.3.1-cp311-manylinux.whl.metadata (91 kB)\n",
    "  Using cached pandas-2.3.1-cp311-manylinux.whl (12.0 MB)\n",
    "Installing collected packages: pandas, streamlit\n",
    "Successfully installed pandas streamlit\n",
)


def test_packages_and_megabytes_are_summed() -> None:
    progress = Progress()
    for line in LINES[:5]:
        progress.read(line)

    assert progress.packages == len(("streamlit", "pandas"))
    assert progress.line == "    2 packages, 21 MB so far: pandas (12.0 MB)"


def test_something_is_said_again_and_again_and_before_the_long_silence() -> None:
    said: list[str] = []
    seconds = count()

    follow(LINES, said.append, clock=lambda: float(next(seconds)), every_seconds=3)

    assert "2 packages, 9 MB so far" in said[0]
    assert "writing 2 packages" in said[-1]


def test_nothing_is_said_when_all_is_there_at_once() -> None:
    said: list[str] = []

    follow(["Requirement already satisfied: pandas\n"], said.append)

    assert said == []


def test_a_failure_shows_the_last_lines_of_pip_and_its_code(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["--step", "Nothing", "./no-such-folder-here"]) != 0

    told = capfd.readouterr().out
    assert "==> Nothing" in told
    assert "pip failed" in told
    assert "no-such-folder-here" in told


def test_what_is_there_already_is_done(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--step", "pip", "--told", "is there", "--no-index", "pip"]) == 0

    assert "==> pip: is there" in capfd.readouterr().out
