"""Owns finding the data files that litellm's package carries, without importing litellm.

`find_spec` of a top-level name reads no module; importing litellm would take seconds.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def bundled_file(*parts: str) -> Path | None:
    """The path of a file inside litellm's package; None if it is not there."""
    try:
        spec = find_spec("litellm")
    except ValueError:  # a stand-in module without a spec was put into sys.modules
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(next(iter(spec.submodule_search_locations)), *parts)
    return path if path.is_file() else None
