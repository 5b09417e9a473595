"""Finds installed packages and the files in them without importing them."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path


def is_installed(package: str) -> bool:
    """Whether `package`, a name without dots, can be imported."""
    return _spec(package) is not None


def package_file(package: str, *parts: str) -> Path | None:
    """The path of a file inside `package`; None if it is not there."""
    spec = _spec(package)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    found = (Path(folder, *parts) for folder in folders)
    return next((path for path in found if path.is_file()), None)


def _spec(package: str) -> ModuleSpec | None:
    try:
        return find_spec(package)
    except ValueError:  # a stand-in module without a spec was put into sys.modules
        return None
