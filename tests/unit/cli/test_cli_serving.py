"""`ctxcore serve`: what it starts, with which database and flags, and what it needs."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ctxcore.cli import app, serving

ROOT = Path(__file__).resolve().parents[3]


class Started:
    """What would have been started: the module and its arguments."""

    def __init__(self) -> None:
        self.module = ""
        self.arguments: list[str] = []

    def run_module(self, name: str, **_: Any) -> None:
        self.module, self.arguments = name, sys.argv[1:]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    found = Started()
    monkeypatch.setattr(runpy, "run_module", found.run_module)
    monkeypatch.setattr(sys, "argv", ["ctxcore"])
    for name in ("CTXCORE_DATABASE_URL", "CTXCORE_MODEL"):
        monkeypatch.setenv(name, "")  # restored afterwards, whatever the command sets
    return found


def test_the_dashboard_of_the_checkout_is_started_on_this_machine_only(started: Started) -> None:
    done = CliRunner().invoke(app, ["serve"])

    assert done.exit_code == 0, done.output
    assert started.module == "streamlit"
    assert started.arguments[:2] == ["run", str(ROOT / "app.py")]
    assert "--server.address=127.0.0.1" in started.arguments
    assert not any("port" in argument or "headless" in argument for argument in started.arguments)


def test_the_database_is_in_the_folder_of_the_user_unless_one_is_named(
    started: Started, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("ctxcore.store.sql.user_data_path", lambda *_, **__: tmp_path / "data")
    CliRunner().invoke(app, ["serve"])
    assert os.environ["CTXCORE_DATABASE_URL"] == f"sqlite:///{tmp_path / 'data' / 'ctxcore.db'}"

    CliRunner().invoke(app, ["serve", "--database", "postgres://host/chat"])
    assert os.environ["CTXCORE_DATABASE_URL"] == "postgresql+psycopg://host/chat"


def test_options_become_flags_and_the_model_of_new_sessions(started: Started) -> None:
    options = ["--host", "0.0.0.0", "--port", "9000", "--no-browser", "--model", "gpt-4o"]

    CliRunner().invoke(app, ["serve", *options])

    assert {"--server.address=0.0.0.0", "--server.port=9000", "--server.headless=true"} <= set(
        started.arguments
    )
    assert "--browser.serverAddress=localhost" in started.arguments
    assert os.environ["CTXCORE_MODEL"] == "gpt-4o"


def test_without_the_extra_it_says_what_to_install(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "is_installed", lambda name: name != "plotly")

    done = CliRunner().invoke(app, ["serve"])

    assert done.exit_code == 1
    assert 'pip install "ctxcore-window[dashboard]"' in done.output
    assert started.module == ""


def test_a_wheel_without_the_dashboard_says_so_too(
    started: Started, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(serving, "_PLACES", (tmp_path,))

    assert CliRunner().invoke(app, ["serve"]).exit_code == 1
    assert started.module == ""
