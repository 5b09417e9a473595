"""Opens pages quickly: Streamlit looks through all installed packages for components only once.

It does so for every opened page, which takes 200 ms of processor time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import pytest
from streamlit.components.v2 import manifest_scanner


@contextmanager
def one_scan_for_components() -> Iterator[None]:
    """Each opened page gets the components that were found for the first one."""
    scan = lru_cache(maxsize=1)(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: list(scan()))
        yield
