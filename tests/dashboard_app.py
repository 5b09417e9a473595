"""Runs the dashboard in a test: its real main script, a store of the test's own, a scripted model.

One helper opens it and checks every run: no exception, the shell around the page, content in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.scripted import Script, ScriptedModel
from ctxcore.json_types import JsonObject
from ctxcore.reasons.values import Reason
from ctxcore.store.sql import DATABASE_VARIABLE
from ctxcore.store.values import SessionInfo
from dashboard import background, demos, services, slow_reads, texts
from dashboard.chat_page.turn_runner import TurnRunner, turn_runner
from dashboard.widgets import choice_key
from dashboard.wording import reason_text
from tests.engines import quiet_litellm
from tests.limits import HANG_SECONDS

ROOT = Path(__file__).resolve().parent.parent
MAIN = ROOT / "dashboard" / "main.py"
PAGES = (
    "chat",
    "context",
    "usage",
    "compaction",
    "lab",
    "sessions",
    "reports",
    "settings",
    "health",
)
MODEL = "scripted/demo"
WINDOW_TOKENS = 2_000


class Dashboard:
    """An open dashboard; `run` and `go` check what holds on every page."""

    def __init__(self, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
        self.model = model
        self._monkeypatch = monkeypatch
        self.reopen()

    @property
    def engine(self) -> ContextEngine:
        """The engine that the pages use."""
        return services.engine()

    @property
    def turn_runner(self) -> TurnRunner:
        """The runner that the pages use."""
        return turn_runner()

    def reopen(self) -> None:
        """Begins another visit."""
        self.at = AppTest.from_file(str(MAIN), default_timeout=HANG_SECONDS)

    def run(self) -> AppTest:
        """Runs the page once more."""
        self.at.run()
        self.check()
        return self.at

    def go(self, page: str) -> AppTest:
        """Switches to another page."""
        self.at.switch_page(f"../pages/{page}.py")
        return self.run()

    def open_row(self, key: str, option: str) -> AppTest:
        """Opens the row with that option in the table with this key.

        AppTest cannot click in a table; a browser test does.
        """
        assert choice_key(key) in self.at.session_state, f"no table {key!r}"
        self.at.session_state[choice_key(key)] = option
        return self.run()

    def opened_row(self, key: str) -> object:
        """The option of the open row in the table with this key."""
        return self.at.session_state[choice_key(key)]

    def check(self) -> None:
        """The page ran through, has content, and stands in its shell."""
        assert not self.at.exception, [error.message for error in self.at.exception]
        assert self.at.sidebar.selectbox(key="shell_language").value in ("en", "zh")
        assert self.at.sidebar.button(key="shell_new").label
        assert len(self.at.main.children) > 0
        # AppTest formats a widget's value outside of the script, for its next run.
        shown = self.at.session_state[texts.STATE_KEY]
        self._monkeypatch.setattr(texts, "OUTSIDE", shown)

    def texts(self) -> str:
        """Everything that is written on the page, in one text."""
        at = self.at
        groups = (at.markdown, at.caption, at.error, at.warning, at.info, at.subheader)
        return "\n".join(str(element.value) for group in groups for element in group)


def talked(app: Dashboard, title: str, turns: int) -> SessionInfo:
    """A session of so many turns."""
    session = app.engine.create_session(title)
    said: list[JsonObject] = []
    for number in range(turns):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    app.engine.append(session.id, said)
    return session


def say(app: Dashboard, text: str) -> None:
    """Sends a message on the chat page."""
    app.at.chat_input(key="chat_ask").set_value(text).run()
    app.check()


@contextmanager
def open_dashboard(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    replies: Iterable[Script] = (),
    with_demo: bool = False,
) -> Iterator[Dashboard]:
    """A dashboard on an empty store in `folder`; with the demo sessions only if asked for."""
    monkeypatch.setenv(DATABASE_VARIABLE, f"sqlite:///{folder / 'test.db'}")
    monkeypatch.setenv(services.MODEL_VARIABLE, MODEL)
    monkeypatch.setenv(services.WARM_UP_VARIABLE, "0")
    # What a page shows must not depend on whether a compaction behind it was quick enough.
    monkeypatch.setattr(background, "GRACE_SECONDS", HANG_SECONDS)
    monkeypatch.setattr(slow_reads, "GRACE_SECONDS", HANG_SECONDS)
    if not with_demo:
        monkeypatch.setattr(demos, "demos", tuple)
    _forget()
    quiet_litellm()
    with ScriptedModel("demo", replies) as model:
        opened = Dashboard(model, monkeypatch)
        save_figures(
            opened.engine.store,
            MODEL,
            {"window_tokens": WINDOW_TOKENS, "max_output_tokens": 200},
        )
        try:
            yield opened
            assert opened.engine.wait(timeout_seconds=HANG_SECONDS)
        finally:
            opened.engine.store.close()
            _forget()


def _forget() -> None:
    """Lets go of what the process keeps between runs."""
    for cached in (
        services._housekeeping,
        services._store,
        services._engine,
        services._layers,
        services._job_runner,
        services.plugins,
        turn_runner,
    ):
        cached.clear()


def rendered(reason: Reason, language: texts.Language) -> str:
    """The text of `reason` on a page in `language`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "OUTSIDE", language)
        return reason_text(reason)
