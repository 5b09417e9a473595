"""The fixture for pytest, in a run of its own, as users have it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[3] / "data" / "demo_incident.json"
TEST = f"""
def test_passes(ctxcore_check):
    [replay] = ctxcore_check({str(DEMO)!r}, window=200_000, max_facts_lost=0)
    assert len(replay.calls) == 98

def test_fails(ctxcore_check):
    ctxcore_check({str(DEMO)!r}, policy="default", window=8_000, max_facts_lost=3)
"""


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    return done.stdout


def test_a_lost_fact_fails_a_test_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "test_context.py").write_text(TEST)

    shown = run(tmp_path)

    assert "1 failed, 1 passed" in shown
    assert "facts are lost that the conversation uses later, 3 are allowed" in shown
    assert "Traceback" not in shown


def test_runs_that_do_not_use_it_load_nothing_of_the_library(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    loaded = {name for name in sys.modules if name.startswith('ctxcore')}\n"
        "    assert loaded == {'ctxcore', 'ctxcore.integrations',"
        " 'ctxcore.integrations.pytest_plugin'}\n"
    )

    assert "1 passed" in run(tmp_path)
