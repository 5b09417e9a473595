"""The usage page shows what a past call was sent, whole and with a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxcore.reasons.codes import BreakCode, RequestCode
from ctxcore.store.values import CallInfo, SessionInfo
from dashboard.call_view.messages import PART_CHARS
from dashboard.call_view.request import to_json
from dashboard.reads import call_request
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard, rendered
from tests.small_transcript import claude_code_lines


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def _chatted(app: Dashboard, question: str = "What is it?") -> tuple[SessionInfo, CallInfo]:
    session = app.engine.create_session("Chat", system="You help.")
    for _ in app.engine.chat(session.id, question, knowledge={"faq": "refunds take a week"}):
        pass
    return app.engine.session(session.id), app.engine.store.calls(session.id)[-1]


def _opened(app: Dashboard, session: SessionInfo, call: CallInfo, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()
    at = app.go("usage")
    at.session_state[f"usage_request_{call.id}"] = True
    return app.run()


def _table(at: Any, language: Language) -> Any:
    column = translate("usage.request.made_of", language)
    (table,) = [shown.value for shown in at.dataframe if column in shown.value]
    return table


@pytest.mark.parametrize("language", languages())
def test_a_call_is_shown_with_its_verdict_and_the_texts_that_no_message_holds(
    app: Dashboard, language: Language
) -> None:
    session, call = _chatted(app)

    at = _opened(app, session, call, language)

    said = rendered(RequestCode.IDENTICAL(), language)
    assert [shown.value.casefold() for shown in at.success] == [said.casefold()]
    table = _table(at, language)
    assert list(table[translate("usage.request.role", language)]) == ["system", "user"]
    knowledge = translate("common.segment.knowledge", language)
    assert list(table[translate("usage.request.made_of", language)]) == ["#1", f"{knowledge} + #2"]
    mark = translate("usage.request.own.mark", language)
    assert list(table[translate("usage.request.own", language)]) == ["", mark]
    assert any("You help." in shown.value for shown in at.code)


def test_nothing_is_read_before_the_section_is_opened(app: Dashboard) -> None:
    session, _ = _chatted(app)
    app.at.query_params["session"] = session.id
    app.run()

    at = app.go("usage")

    assert [shown.label for shown in at.expander].count(translate("usage.request", "en")) == 2
    assert not at.success


def test_a_long_message_is_shown_a_part_at_a_time(app: Dashboard) -> None:
    session, call = _chatted(app, "start " + "x" * PART_CHARS + " end")
    at = _opened(app, session, call)

    app.open_row(f"usage_request_message_{call.id}", "1")
    (first,) = [shown.value for shown in at.code if "start" in shown.value]
    at.number_input(key=f"usage_request_message_{call.id}_part_1").set_value(2)
    app.run()

    assert len(first) == PART_CHARS
    assert any(shown.value.endswith("end") for shown in at.code)


@pytest.mark.parametrize("language", languages())
def test_an_imported_call_says_what_is_known(app: Dashboard, language: Language) -> None:
    [session] = app.engine.import_(claude_code_lines(), name="s.jsonl")
    calls = app.engine.store.calls(session.id)

    at = _opened(app, session, calls[0], language)

    said = rendered(RequestCode.IMPORTED(product=session.origin), language)
    told = " ".join(str(shown.value) for shown in at.info).replace("\\", "").casefold()
    assert said.casefold() in told


def test_the_file_has_the_whole_request(app: Dashboard) -> None:
    session, call = _chatted(app)
    app.at.query_params["session"] = session.id
    app.run()

    found = json.loads(to_json(call_request(session, call.id)))

    assert found["verdict"] == {"code": "request.identical", "text": "rebuilt, identical"}
    assert [message["role"] for message in found["messages"]] == ["system", "user"]
    assert found["digest"] == call.digest
    assert found["max_output_tokens"] == 200


@pytest.mark.parametrize("language", languages())
def test_a_request_is_shown_in_the_form_of_each_provider(
    app: Dashboard, language: Language
) -> None:
    session, call = _chatted(app)
    at = _opened(app, session, call, language)
    at.session_state[f"usage_request_view_{call.id}"] = "form"
    app.run()
    for shape, key in (("openai", "messages"), ("anthropic", "system"), ("gemini", "contents")):
        at.session_state[f"usage_request_{call.id}_form"] = shape
        app.run()
        assert key in json.loads(at.code[-1].value)
    accepted = translate("usage.request.accepted", language).replace("{provider}", "Anthropic")
    assert any(accepted in shown.value for shown in at.markdown)


@pytest.mark.parametrize("language", languages())
def test_a_request_is_compared_with_the_call_before(app: Dashboard, language: Language) -> None:
    session, _ = _chatted(app)
    app.engine.set_system(session.id, "You help in rhymes. Always.")
    for _ in app.engine.chat(session.id, "And now?"):
        pass
    session, call = app.engine.session(session.id), app.engine.store.calls(session.id)[-1]
    at = _opened(app, session, call, language)
    at.session_state[f"usage_request_view_{call.id}"] = "changes"
    app.run()

    cause = rendered(BreakCode.SYSTEM(), language)
    assert any(cause in shown.value for shown in at.warning)
    column = translate("usage.changes.kind", language)
    (table,) = [shown.value for shown in at.dataframe if column in shown.value]
    kinds = [translate(f"usage.changes.{kind}", language) for kind in ("changed", "new")]
    assert [kind in list(table[column]) for kind in kinds] == [True, True]
    assert at.code[-1].value.splitlines() == [
        "-You help.",
        "+You help in rhymes.",
        "+Always.",
    ]
