"""Files that are chosen for import are examined first, as `ctxcore autopsy` does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.autopsy.page import verdict_of
from dashboard.sessions_page.examining import examination
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard
from tests.losing_sessions import PART, recorded_session


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


@pytest.mark.parametrize("language", languages())
def test_what_compactions_lost_is_shown_before_the_import(
    app: Dashboard, language: Language
) -> None:
    app.engine.store.save_setting("language:local", language)
    app.run()
    app.go("sessions")
    at = app.at
    at.segmented_control(key="sessions_view").set_value("import").run()
    at.file_uploader[0].upload("lost.jsonl", recorded_session().encode()).run()
    app.check()

    steps: list[tuple[int, int]] = []
    found = examination([("lost.jsonl", recorded_session())])(lambda *step: steps.append(step))
    titles = [expander.label for expander in at.expander]
    assert steps == [(1, 1)]
    assert translate("sessions.autopsy.lost", language) in titles
    assert any(PART in str(table.value.to_dict()) for table in at.dataframe)
    if language == "en":
        assert any(verdict_of(found) in text.value.replace("\\", "") for text in at.markdown)
    assert app.engine.sessions(title="ABC-1234") == []
