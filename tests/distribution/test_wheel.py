"""The wheel, installed alone outside of the checkout: what it brings, and that it works."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from ctxcore import __version__
from tests.distribution.environments import Installed, build, install
from tests.pages import ROOT, blocks, lines

pytestmark = pytest.mark.slow

DISTRIBUTION = "ctxcore-window"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, beside the source distribution that it is built from."""
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without extras, with the newest versions of what it needs."""
    return install(str(wheel), tmp_path_factory.mktemp("installed"))


def test_the_source_distribution_holds_what_is_built_and_tested(wheel: Path) -> None:
    [path] = wheel.parent.glob("*.tar.gz")

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
    example = next(block for block in blocks("README.md") if block.language == "python")

    assert lines(installed.run("python", "-c", example.text)) == lines(example.output)


def test_the_command_line_reads_a_conversation(installed: Installed) -> None:
    talk = ROOT / "data" / "demo_incident.json"

    seen = json.loads(installed.run("ctxcore", "fit", str(talk), "--max-tokens", "2000", "--json"))

    assert seen["errors"] == []
    assert len(seen["results"]) == 1
