"""Hints of whole sessions: by the engine, on the command line and on the Usage page.

Each session is made by an engine from made-up messages, with the usage that a provider reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.formats.hints import Hint
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.report_codes import HintCode
from dashboard.texts import languages, translate
from tests.dashboard_app import MODEL, Dashboard, open_dashboard, rendered
from tests.engines import ended
from tests.histories import call
from tests.unit.cli.files import compacted_session, results, run, run_json

FIGURES = {
    "window_tokens": 60_000,
    "input_price": 3e-6,
    "output_price": 15e-6,
    "cache_read_price": 3e-7,
}
CODE = "def greet(name): return name\n" * 120
FILE = "src/greet.py"


def definition(name: str, words: int) -> JsonObject:
    """A tool whose description has so many times four words."""
    described = "what it does here " * words
    function: JsonObject = {"name": name, "description": described, "parameters": {}}
    return {"type": "function", "function": function}


READER, UNUSED = definition("read_file", 3), definition("send_parcel", 200)


def answer(text: str = "Yes.", **given: Any) -> ScriptedReply:
    """An answer for which the provider reports 9,000 input tokens, none of them cached."""
    usage = ModelUsage(input_tokens=9_000, output_tokens=5, cached_tokens=0)
    return ScriptedReply(text=text, usage=usage, **given)


def the_hint(engine: ContextEngine, session_id: str, code: HintCode) -> Hint:
    """The only hint of this kind that the engine has of a session."""
    [hint] = [one for one in engine.reports.hints(session_id) if one.reason.code == code]
    return hint


def check_inspected(file: Path, hint: Hint) -> None:
    """`ctxcore inspect` has the same hint of a file, as JSON and as a line."""
    [found] = results(run_json("inspect", file, "--hints"))[0]["hints"]
    assert (found["code"], found["at"]) == (hint.reason.code, hint.at)
    assert "Hints" in run("inspect", file, "--hints").stdout


def check_page(app: Dashboard, session_id: str, hint: Hint) -> None:
    """The Usage page has it in its table, in every language."""
    for language in languages():
        app.engine.store.save_setting("language:local", language)
        app.reopen()
        app.at.query_params["session"] = session_id
        app.run()
        at = app.go("usage")
        name = translate("usage.hints.hint", language)
        [table] = [one.value for one in at.dataframe if name in one.value]
        told = rendered(hint.reason, language)
        assert f"{told[0].upper()}{told[1:]}" in list(table[name])


def exported(engine: ContextEngine, session_id: str, folder: Path) -> Path:
    """The export of a session in a file."""
    file = folder / "export.jsonl"
    file.write_text(engine.export(session_id), encoding="utf-8")
    return file


def test_a_file_read_again_unchanged_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = [answer("", calls=(call(f"c{at}", "read_file", path=FILE),)) for at in range(2)]
    with open_dashboard(tmp_path, monkeypatch, replies=[*reads, answer()]) as app:
        save_figures(app.engine.store, MODEL, FIGURES)
        session = app.engine.create_session("greeting")
        ended(
            app.engine.chat(session.id, "Is it right?", tools=[READER], run_tool=lambda asked: CODE)
        )

        hint = the_hint(app.engine, session.id, HintCode.READ_AGAIN)

        assert hint.reason == HintCode.READ_AGAIN(path=FILE, times=1)
        assert hint.at == 4
        assert hint.dollars is not None
        check_inspected(exported(app.engine, session.id, tmp_path), hint)
        check_page(app, session.id, hint)


def test_a_tool_that_is_never_called_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch, replies=[answer() for _ in range(10)]) as app:
        save_figures(app.engine.store, MODEL, FIGURES)
        session = app.engine.create_session("parcels", tools=[UNUSED])
        for turn in range(10):
            ended(app.engine.chat(session.id, f"Is parcel {turn} late?"))

        hint = the_hint(app.engine, session.id, HintCode.TOOLS_UNUSED)

        facts = hint.reason.facts
        assert (facts["count"], facts["calls"], facts["names"]) == (1, 10, ("send_parcel",))
        assert hint.tokens == 10 * int(str(facts["size"]))
        check_inspected(exported(app.engine, session.id, tmp_path), hint)
        check_page(app, session.id, hint)


def test_a_clock_in_the_prefix_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_dashboard(tmp_path, monkeypatch, replies=[answer() for _ in range(3)]) as app:
        save_figures(app.engine.store, MODEL, FIGURES)
        session = app.engine.create_session("boats")
        for minute in range(3):
            system = f"You help. It is 2026-03-02 09:0{minute}."
            ended(app.engine.chat(session.id, f"Boat {minute}?", system=system))

        hint = the_hint(app.engine, session.id, HintCode.CLOCK)

        assert hint.reason == HintCode.CLOCK(times=2)
        assert hint.tokens == 2 * 9_000
        assert hint.dollars == pytest.approx(hint.tokens * (3e-6 - 3e-7))
        check_page(app, session.id, hint)


def test_a_compaction_that_too_few_calls_followed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch) as app:
        save_figures(app.engine.store, MODEL, FIGURES)
        session = app.engine.create_session("desks")
        for turn in range(12):
            ended(app.engine.chat(session.id, f"{turn}: " + "We moved the desks upstairs. " * 20))
        assert app.engine.compact(session.id) is not None
        ended(app.engine.chat(session.id, "And the chairs?"))

        hint = the_hint(app.engine, session.id, HintCode.FOLD_UNPAID)

        assert hint.reason.facts["calls"] == 1
        assert int(str(hint.reason.facts["needed"])) > 1
        check_page(app, session.id, hint)


def test_a_recorded_compaction_that_too_few_calls_followed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = compacted_session(tmp_path / "session.jsonl")
    with open_dashboard(tmp_path, monkeypatch) as app:
        [session] = app.engine.import_(file.read_text(encoding="utf-8"), name=file.name)

        hint = the_hint(app.engine, session.id, HintCode.FOLD_UNPAID)

        assert hint.reason == HintCode.FOLD_UNPAID(calls=1, needed=2)
        check_inspected(file, hint)
        check_page(app, session.id, hint)
