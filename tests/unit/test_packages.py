"""Installed packages are found without being imported."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from ctxcore.packages import is_installed, package_file


def test_a_file_of_a_package_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "__init__.py").write_text("raise AssertionError('imported')")
    (tmp_path / "some_package" / "a.txt").write_text("there")
    monkeypatch.syspath_prepend(tmp_path)

    assert is_installed("some_package")
    assert package_file("some_package", "a.txt") == tmp_path / "some_package" / "a.txt"
    assert package_file("some_package", "b.txt") is None


def test_a_module_without_a_folder_has_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_module.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    assert is_installed("some_module")
    assert package_file("some_module", "some_module.py") is None


@pytest.mark.parametrize("stand_in", [None, ModuleType("no_package")])
def test_what_is_not_there_has_no_files(
    stand_in: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_installed("no_package")

    monkeypatch.setitem(sys.modules, "no_package", stand_in)

    assert not is_installed("no_package")
    assert package_file("no_package", "a.txt") is None
