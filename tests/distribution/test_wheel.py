"""The wheel, installed alone outside of the checkout: what it brings, and that it works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxcore import __version__
from tests.limits import HANG_SECONDS
from tests.unit.test_readme import ROOT, examples, lines

pytestmark = pytest.mark.slow

DISTRIBUTION = "ctxcore-window"


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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "uv", "build", "--out-dir", str(folder), folder=ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without extras, with the newest versions of what it needs."""
    folder = tmp_path_factory.mktemp("installed")
    environment = folder / "environment"
    [wheel] = built.glob("*.whl")
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--python", sys.executable, str(environment), folder=folder)
    run(*uv, "pip", "install", "--python", str(environment), str(wheel), folder=folder)
    empty = folder / "empty"
    empty.mkdir()
    return Installed(programs=environment / "bin", folder=empty)


def test_the_source_distribution_holds_what_is_built_and_tested(built: Path) -> None:
    [path] = built.glob("*.tar.gz")

    with tarfile.open(path) as archive:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}

    assert {"pyproject.toml", "LICENSE", "README.md", "ctxcore/py.typed", "Makefile"} <= names
    assert "tests/distribution/test_wheel.py" in names


def test_only_the_package_goes_into_the_environment(installed: Installed) -> None:
    listed = (
        "from importlib.metadata import files\n"
        f"print(*sorted({{path.parts[0] for path in files({DISTRIBUTION!r})}}))"
    )

    found = installed.run("python", "-c", listed).split()

    assert found == ["..", "ctxcore", f"ctxcore_window-{__version__}.dist-info"]  # ..: the program


def test_the_command_tells_its_version(installed: Installed) -> None:
    assert installed.run("ctxcore", "--version").split() == ["ctxcore", __version__]


def test_the_example_of_the_readme_prints_what_stands_below_it(installed: Installed) -> None:
    [(code, expected), *_] = examples("README.md")

    assert lines(installed.run("python", "-c", code)) == lines(expected)


def test_the_command_line_reads_a_conversation(installed: Installed) -> None:
    talk = ROOT / "data" / "demo_incident.json"

    seen = json.loads(installed.run("ctxcore", "fit", str(talk), "--max-tokens", "2000", "--json"))

    assert seen["errors"] == []
    assert len(seen["results"]) == 1
