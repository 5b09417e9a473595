"""Everything that `make setup` installs has one version, which pyproject.toml allows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
UNPINNED = {"bench"}  # peers are measured as they are today


def required() -> list[Requirement]:
    """What the library and its extras ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [one for extra, needs in extras.items() if extra not in UNPINNED for one in needs]
    found = [Requirement(one) for one in [*project["dependencies"], *asked]]
    return [one for one in found if one.name != project["name"]]  # an extra that has another's


def pinned() -> dict[str, list[Requirement]]:
    """The lines of constraints.txt by name; one name may have a version for each Python."""
    found: dict[str, list[Requirement]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text:
            found.setdefault(canonicalize_name(Requirement(text).name), []).append(
                Requirement(text)
            )
    return found


@pytest.mark.parametrize("asked", required(), ids=lambda asked: asked.name)
def test_what_is_asked_for_has_a_version_that_is_allowed(asked: Requirement) -> None:
    pins = pinned().get(canonicalize_name(asked.name), [])

    assert pins, "run `make lock`"
    for pin in pins:
        [version] = pin.specifier
        assert version.operator == "=="
        assert asked.specifier.contains(version.version), "run `make lock`"
