"""A dashboard that others could reach does not start without a login."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import HANG_SECONDS
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
STREAMLIT = ["-m", "streamlit", "run", "app.py", "--server.headless=true"]
SERVE = ["-m", "ctxcore.cli", "serve", "--no-browser"]


def ended(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    """The code that the program ends with, and what it says about it."""
    variables = {"CTXCORE_DATABASE_URL": f"sqlite:///{tmp_path / 'test.db'}"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "CTXCORE_WITHOUT_LOGIN": "", **variables},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    return done.returncode, done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "command",
    [
        [*STREAMLIT, "--server.address=0.0.0.0", "--server.port"],
        [*SERVE, "--host", "0.0.0.0", "--port"],
    ],
    ids=["streamlit", "ctxcore"],
)
def test_it_ends_with_one_sentence_that_says_what_to_do(command: list[str], tmp_path: Path) -> None:
    code, said = ended(tmp_path, *command, str(free_port()))

    assert code == 1
    assert said.startswith("ctxcore: not started: at 0.0.0.0 ")
    assert said.endswith("or set CTXCORE_WITHOUT_LOGIN=allow where something else keeps others out")


def test_an_incomplete_login_is_told_as_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "secrets.toml"
    file.write_text('[auth]\ncookie_secret = "x"\n', encoding="utf-8")
    command = [*STREAMLIT, "--server.address=0.0.0.0", f"--secrets.files={file}"]

    code, said = ended(tmp_path, *command, f"--server.port={free_port()}")

    assert code == 1
    assert said.endswith("the login is incomplete: [auth] lacks redirect_uri")
