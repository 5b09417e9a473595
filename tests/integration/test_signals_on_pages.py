"""Forgetting signals on the pages: the mark at a turn, a person's answer, the counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxcore.store.values import SessionInfo, SignalInfo
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def signalled(app: Dashboard, language: Language = "en") -> SessionInfo:
    """A session of two turns, the second of which says so."""
    session = app.engine.create_session("Ferry")
    for text in ("The ferry leaves at 7:15.", "And the way back?"):
        for _ in app.engine.chat(session.id, text):
            pass
    signal = SignalInfo(
        session_id=session.id,
        seq=3,
        kind="said_so",
        earlier=(1,),
        verdict="summarized",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    app.engine.store.record_signals([signal])
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()
    return session


@pytest.mark.parametrize("language", languages())
def test_a_turn_is_marked_and_leads_to_the_earlier_message(
    app: Dashboard, language: Language
) -> None:
    signalled(app, language)

    app.go("chat")

    assert translate("signals.verdict.summarized", language) in app.texts()
    [button] = [
        one
        for one in app.at.button
        if (one.key or "").startswith("chat_signal_") and (one.key or "").endswith("_open")
    ]
    assert button.label == translate("chat.signal.open", language, seq=1)
    button.click()
    app.run()
    assert [one.key for one in app.at.button if one.key == "chat_newest"]


def test_one_click_dismisses_a_wrong_one(app: Dashboard) -> None:
    session = signalled(app)
    app.go("chat")

    [button] = [one for one in app.at.button if (one.key or "").endswith("_wrong")]
    button.click()
    app.run()

    [signal] = app.engine.signals(session.id)
    assert signal.is_right is False
    assert translate("signals.verdict.summarized", "en") not in app.texts()


@pytest.mark.parametrize("language", languages())
def test_the_usage_page_counts_them_by_policy(app: Dashboard, language: Language) -> None:
    session = signalled(app, language)
    [signal] = app.engine.signals(session.id)
    app.engine.judge_signal(session.id, signal.id, is_right=True)

    app.go("usage")

    assert translate("usage.signals", language) in app.texts()
    app.check()


def test_without_signals_the_usage_page_is_silent(app: Dashboard) -> None:
    session = app.engine.create_session("Ferry")
    for _ in app.engine.chat(session.id, "Hello"):
        pass
    app.at.query_params["session"] = session.id
    app.run()
    app.go("usage")

    assert translate("usage.signals", "en") not in app.texts()
