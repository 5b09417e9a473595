"""Which parts `make check-all` has, by what the machine offers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.check_all import (
    Part,
    Setting,
    UnknownPartError,
    Version,
    chosen_parts,
    find_pythons,
    parts,
)

OWN = sys.version_info[:2]


def setting(*versions: Version, no_postgres: str = "") -> Setting:
    return Setting(
        own=("python",),
        own_version=(3, 11),
        pythons={version: f"/python{version[1]}" for version in versions},
        extras=("dashboard", "dev"),
        folder=Path("/made"),
        no_postgres=no_postgres,
    )


def named(name: str, given: Setting) -> Part:
    [part] = [part for part in parts(given) if part.name == name]
    return part


def test_what_other_pythons_have_to_pass_runs_on_the_newest() -> None:
    part = named("newest-python", setting((3, 11), (3, 12), (3, 14)))

    made, installed, weights, tested = part.commands
    assert "/python14" in made
    assert {"constraints.txt", ".[dashboard,dev]"} <= set(installed)
    assert "--require-hashes" in weights
    assert tested[0] == "/made/newest-python/bin/python"
    assert tested[-2:] == ("tests/unit", "tests/integration")


def test_a_python_is_not_tried_twice() -> None:
    only = setting((3, 11))

    assert named("oldest-python", only).skipped == "Python 3.11 is what `check` ran on"
    assert named("newest-python", only).skipped == "Python 3.11 is the only one here"
    assert named("oldest-python", setting((3, 12), (3, 13))).commands


def test_the_lowest_versions_are_those_of_the_oldest_python() -> None:
    compiled, made, *_ = named("lowest-versions", setting((3, 11), (3, 13))).commands

    assert {"lowest-direct", "3.11", "--extra=dashboard", "--extra=dev"} <= set(compiled)
    assert "/python11" in made


def test_without_a_database_the_reason_is_told() -> None:
    assert named("postgres", setting((3, 11), no_postgres="there is none")).skipped == (
        "there is none"
    )


def test_with_a_database_the_tests_on_it_are_a_part_of_their_own() -> None:
    given = setting((3, 11))

    [slow], [on_postgres] = named("slow", given).commands, named("postgres", given).commands
    assert slow[-1] == "not on_postgres"
    assert on_postgres[-3:] == ("on_postgres", "tests/contract", "tests/integration")


def test_parts_are_chosen_by_name_and_keep_their_order() -> None:
    all_parts = parts(setting((3, 11)))

    assert [part.name for part in chosen_parts(all_parts, ["torture", "slow"])] == [
        "slow",
        "torture",
    ]
    assert chosen_parts(all_parts, None) == all_parts
    with pytest.raises(UnknownPartError, match="no part is named fast; known: check, "):
        chosen_parts(all_parts, ["fast"])


def test_the_proxy_has_an_environment_of_its_own() -> None:
    made, installed, tested = named("proxy", setting((3, 11))).commands

    assert made[-1] == "/made/proxy"
    assert ".[proxy]" in installed
    assert "constraints.txt" not in installed
    assert tested[0] == "/made/proxy/bin/python"
    assert tested[-3:] == ("-m", "proxy", "tests/integration/proxy")


def test_what_is_no_python_is_not_found(tmp_path: Path) -> None:
    broken = tmp_path / "python3.12"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)

    assert find_pythons([broken, Path(sys.executable)]) == {OWN: sys.executable}
