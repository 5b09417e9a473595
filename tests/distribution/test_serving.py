"""The wheel with the dashboard, installed outside the checkout: `ctxcore serve` from any folder."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.distribution.environments import ROOT, Installed, build, install
from tests.servers import free_port, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with its dashboard, at the versions of constraints.txt."""
    wheel = build(tmp_path_factory.mktemp("dist"))
    limits = ("--constraint", str(ROOT / "constraints.txt"))
    return install(f"{wheel}[dashboard]", tmp_path_factory.mktemp("installed"), *limits)


def test_the_dashboard_opens_from_a_folder_of_others(installed: Installed, tmp_path: Path) -> None:
    foreign = tmp_path / "dashboard"  # a package of the user's by the same name
    foreign.mkdir()
    (foreign / "__init__.py").write_text("raise RuntimeError('not ours')")

    with _serving(installed, tmp_path) as address, urllib.request.urlopen(address) as page:
        assert "default-src 'self'" in page.headers["content-security-policy"]

    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "not ours" not in log
    assert "Traceback" not in log


def test_nothing_but_the_library_is_at_the_top(installed: Installed) -> None:
    (packages,) = installed.programs.parent.glob("lib/python*/site-packages")

    packed = packages / "ctxcore" / "_dashboard"
    for name in ("app.py", "dashboard/styles.css", "dashboard/components/commands.js"):
        assert (packed / name).is_file(), name
    assert not {"app.py", "dashboard", "data", "pages"} & {path.name for path in packages.iterdir()}


@contextmanager
def _serving(installed: Installed, folder: Path) -> Iterator[str]:
    port = free_port()
    command = [str(installed.programs / "ctxcore"), "serve", "--port", str(port), "--no-browser"]
    # Without the checkout in its way: an empty PYTHONPATH is none.
    variables = {"PYTHONPATH": "", "XDG_DATA_HOME": str(folder / "home")}
    with serving(command, port, folder=folder, log=folder / "log", variables=variables) as address:
        yield address
