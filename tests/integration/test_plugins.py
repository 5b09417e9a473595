"""Plug-ins: an installed package registers what it brings; one that fails is told by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from ctxcore import plugins
from ctxcore.compaction.drafting import Draft
from ctxcore.compaction.strategies import Strategy, register_strategy
from ctxcore.engine.events import CompactionRejected
from ctxcore.plugins import load_plugins
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.presets import PRESETS, register_preset
from ctxcore.policy.values import Policy
from ctxcore.registries import NameTakenError
from ctxcore.store.values import Scope
from dashboard.page_registry import PAGES, Page, register_page
from tests.dashboard_app import open_dashboard
from tests.engines import ended, engine_with
from tests.limits import HANG_SECONDS

ENTRY_POINTS = """\
[ctxcore.plugins]
good = made_up_plugin:register
broken = made_up_plugin:fail
gone = made_up_nothing:register
leaves = made_up_plugin:leave
"""
CODE = """\
from ctxcore import Policy, register_preset, register_strategy

def register():
    register_strategy("made_up", lambda draft: draft)
    register_preset(Policy(name="made-up", strategies=("made_up", "fold_oldest")))

def fail():
    raise RuntimeError("no licence")

def leave():
    raise SystemExit("no *licence* either")
"""
TALK = '[{"role": "user", "content": "hi"}]'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a distribution that nobody built."""
    about = tmp_path / "made_up_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "made_up_plugin.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "_loaded", {})
    with STRATEGIES.restored(), PRESETS.restored(), PAGES.restored():
        yield tmp_path


@pytest.mark.usefixtures("folder")
def test_a_failing_plug_in_is_told_by_name_and_the_others_go_on() -> None:
    told = {plugin.name: plugin.problem and str(plugin.problem) for plugin in load_plugins()}

    assert told["good"] is None
    assert told["broken"] == (
        "the plug-in 'broken' (made_up_plugin:fail) failed: RuntimeError: no licence"
    )
    assert "ModuleNotFoundError" in str(told["gone"])
    assert "SystemExit" in str(told["leaves"])
    assert Policy.preset("made-up").strategies == ("made_up", "fold_oldest")


@pytest.mark.usefixtures("folder")
def test_a_plug_in_is_loaded_once() -> None:
    assert load_plugins() == load_plugins()


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = f"import sys; sys.path.insert(0, {str(folder)!r}); "
    return subprocess.run(
        [sys.executable, "-c", path + arguments[0], *arguments[1:]],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )


def test_importing_the_library_loads_none(folder: Path) -> None:
    done = _run(folder, "import ctxcore, sys; ctxcore.fit; print('made_up_plugin' in sys.modules)")

    assert done.stdout.strip() == "False"


def test_the_command_line_loads_them_and_tells_what_failed(folder: Path) -> None:
    (folder / "talk.json").write_text(TALK)
    start = "from ctxcore.cli import app; app()"

    done = _run(folder, start, "fit", str(folder / "talk.json"), "--preset", "made-up", "--json")

    assert done.returncode == 0, done.stderr
    assert "error: the plug-in 'broken' (made_up_plugin:fail) failed" in done.stderr


def test_the_dashboard_loads_them_and_shows_their_pages(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = folder / "my_page.py"
    script.write_text('import streamlit as st\nst.title("Mine")\n')
    register_page(Page(name="mine", file=script, title="My page"))

    with open_dashboard(folder, monkeypatch) as dashboard:
        at = dashboard.run()
        warned = [one.value for one in at.warning]
        at.switch_page(str(script)).run()
        titles = [one.value for one in at.title]

    assert any("no licence" in text for text in warned)
    assert any("no \\*licence\\* either" in text for text in warned)
    assert titles == ["Mine"]


def test_a_preset_that_is_there_is_not_replaced() -> None:
    with pytest.raises(NameTakenError, match="a preset named 'pi' already"):
        register_preset(Policy(name="pi"))


def test_a_strategy_that_is_there_is_not_replaced() -> None:
    with pytest.raises(NameTakenError, match="a strategy named 'truncate' already"):
        register_strategy("truncate", lambda draft: draft)


def test_a_strategy_that_is_no_function_is_not_taken() -> None:
    with pytest.raises(TypeError, match="strategy 'made_up' is no function but str"):
        register_strategy("made_up", cast("Strategy", "truncate"))


def _break(draft: Draft) -> Draft:
    raise ZeroDivisionError("no blocks")


def _forget(draft: Draft) -> Draft:
    return cast("Draft", None)


@pytest.mark.parametrize(
    ("fn", "told"),
    [
        (_break, "the strategy 'made_up' failed: ZeroDivisionError: no blocks"),
        (_forget, "the strategy 'made_up' failed: TypeError: it gave NoneType back, not a draft"),
    ],
)
def test_a_strategy_that_fails_is_told_by_name_and_the_turn_goes_on(
    fn: Strategy, told: str
) -> None:
    with STRATEGIES.restored(), engine_with(window=3_000) as (engine, _):
        register_strategy("made_up", fn)
        session, other = engine.create_session(), engine.create_session()
        engine.save_policy(Scope(kind="session", owner=session.id), {"strategies": ["made_up"]})
        events = [
            event for n in range(7) for event in engine.chat(session.id, f"{n} " + "word " * 250)
        ]
        elsewhere = ended(engine.chat(other.id, "hi"))

    rejected = {str(one.reason) for one in events if isinstance(one, CompactionRejected)}
    assert rejected == {told}
    assert (ended(events).state, elsewhere.state) == ("done", "done")
