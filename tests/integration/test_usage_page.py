"""The usage page: what turns sent, what was left out, where the tokens went."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ctxcore.assembly.verdicts import Run
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import TextDelta
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.reasons.codes import CallCode
from ctxcore.store.values import CallInfo, Scope, SessionInfo
from dashboard import reads, slow_reads
from dashboard.selection import select_session
from dashboard.texts import Language, languages, translate
from dashboard.usage import hints
from dashboard.usage.account import PATH_CHARS
from dashboard.widgets import LONG_TEXT_PIXELS
from tests.dashboard_app import Dashboard, open_dashboard, rendered, talked
from tests.limits import HANG_SECONDS
from tests.small_transcript import claude_code_lines


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def chatted(app: Dashboard, turns: int) -> SessionInfo:
    """A session whose turns were really answered, so that calls are recorded."""
    session = app.engine.create_session("Chat")
    for number in range(turns):
        for _ in app.engine.chat(session.id, f"Question {number}: " + "what about it? " * 20):
            pass
    return app.engine.session(session.id)


def opened(app: Dashboard, session: SessionInfo, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()
    return app.go("usage")


def figures(at: Any) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def charts(at: Any) -> list[Any]:
    """The charts below the timeline."""
    return [drawn for drawn in _drawn(at) if "yaxis3" not in drawn["layout"]]


def timeline(at: Any) -> dict[str, Any]:
    """The traces of the timeline by their names."""
    (drawn,) = [drawn for drawn in _drawn(at) if "yaxis3" in drawn["layout"]]
    return {trace["name"]: trace for trace in drawn["data"]}


def _drawn(at: Any) -> list[Any]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


@pytest.mark.parametrize("language", languages())
def test_the_error_of_our_count_stands_beside_the_provider_s(
    app: Dashboard, language: Language
) -> None:
    session = chatted(app, turns=2)
    at = opened(app, session, language)
    unknown = translate("usage.band.unknown", language).format(calls=3, tokens="200")
    assert unknown in [one.value for one in at.caption]

    for number in range(3):
        list(app.engine.chat(session.id, f"More {number}: " + "what about it? " * 90))
    at = opened(app, session, language)

    told = translate("usage.band", language).split("{")[0]
    [line] = [one.value for one in at.caption if one.value.startswith(told)]
    assert "\u00a0% ± " in line


@pytest.mark.parametrize("language", languages())
def test_without_messages_the_page_says_what_to_do(app: Dashboard, language: Language) -> None:
    at = opened(app, app.engine.create_session("Empty"), language)

    assert at.info[0].value == translate("usage.empty", language)
    assert not at.metric


@pytest.mark.parametrize("language", languages())
def test_a_call_that_a_person_stopped_says_so(app: Dashboard, language: Language) -> None:
    session = app.engine.create_session("Chat")
    events = app.engine.chat(session.id, "Tell me.")
    next(event for event in events if isinstance(event, TextDelta))
    events.close()  # type: ignore[attr-defined]  # what the runner does on Stop

    at = opened(app, session, language)

    column = translate("usage.error", language)
    tables = [shown.value for shown in at.dataframe if column in shown.value]
    stopped = [rendered(CallCode.STOPPED(), language)]
    assert [list(table[column]) for table in tables] == [stopped, stopped]  # timeline and turn


@pytest.mark.parametrize("language", languages())
def test_summaries_are_told_apart_from_answers_and_counted_in(
    app: Dashboard, language: Language
) -> None:
    reply = ScriptedReply(text="They asked what about it.")
    with ScriptedModel("summaries", otherwise=reply) as summarizer:
        session = app.engine.create_session("Chat")
        scope = Scope(kind="session", owner=session.id)
        app.engine.save_policy(scope, {"summary_model": summarizer.model})
        for number in range(8):
            list(app.engine.chat(session.id, f"Question {number}: " + "what about it? " * 20))
        app.engine.compact(session.id)
    summaries = [one for one in app.engine.store.calls(session.id) if one.purpose == "summary"]

    at = opened(app, app.engine.session(session.id), language)

    table = at.dataframe[0].value
    calls = list(table[translate("usage.figure.calls", language)])
    sent = list(table[translate("usage.figure.sent", language)])
    assert calls == [8, len(summaries), 8 + len(summaries)]
    assert sent[1] == sum(one.input_tokens or 0 for one in summaries)
    assert sent[2] == sent[0] + sent[1]
    told = figures(at)[translate("usage.figure.calls", language)]
    assert told == str(calls[2])
    names = {trace["name"] for trace in charts(at)[0]["data"]}
    assert translate("usage.part.summaries", language) in names


def test_a_chat_is_told_turn_by_turn(app: Dashboard) -> None:
    session = chatted(app, 3)
    calls = app.engine.store.calls(session.id)

    at = opened(app, session)

    told = figures(at)
    assert (told["Turns"], told["Calls"]) == ("3", "3")
    assert "unknown" not in told["Tokens sent"]
    bars = charts(at)[0]["data"]
    drawn = sum(sum(trace["y"]) for trace in bars if trace["type"] == "bar")
    assert drawn == sum(
        size
        for call in calls
        for name, size in call.estimate.items()
        if name not in ("reserve", "free")
    )


def test_of_a_long_session_only_the_runs_of_the_chosen_turn_are_read(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = chatted(app, 3)
    store = app.engine.store
    calls = store.calls(session.id)
    asked: list[Sequence[str]] = []
    read_runs = store.runs

    def told(session_id: str, call_ids: Sequence[str]) -> dict[str, tuple[Run, ...]]:
        asked.append(call_ids)
        return read_runs(session_id, call_ids)

    def without_runs(session_id: str, *, with_runs: bool) -> list[CallInfo]:
        assert not with_runs
        return [replace(call, runs=()) for call in calls]

    monkeypatch.setattr(store, "runs", told)
    monkeypatch.setattr(store, "calls", without_runs)
    monkeypatch.setattr(hints, "MOST_CALLS", len(calls) - 1)
    opened(app, session)

    assert translate("usage.verdicts", "en", number=3) in app.texts()
    assert asked == [(calls[-1].id,)]


def test_a_turn_that_was_just_answered_is_on_the_page(app: Dashboard) -> None:
    session = chatted(app, 1)
    opened(app, session)
    for _ in app.engine.chat(session.id, "One more"):
        pass

    at = app.run()

    assert figures(at)["Turns"] == figures(at)["Calls"] == "2"
    states = next(frame.value["State"] for frame in at.dataframe if "State" in frame.value)
    assert list(states) == ["done", "done"]


def test_cumulative_and_context_size_are_other_charts(app: Dashboard) -> None:
    at = opened(app, chatted(app, 6))

    at.segmented_control(key="usage_mode").set_value("context").run()
    app.check()

    assert charts(at)[0]["layout"]["annotations"]
    assert translate("common.segment.trigger", "en") in app.texts()


def test_the_verdicts_of_a_turn_that_was_compacted_are_told(app: Dashboard) -> None:
    session = chatted(app, 20)
    assert app.engine.compactions(session.id)

    opened(app, session)

    assert translate("usage.verdicts", "en", number=20) in app.texts()
    assert "Not sent:" in app.texts()
    app.open_row(f"usage_turns_{session.id}_20", "1")
    assert translate("usage.verdicts", "en", number=1) in app.texts()


@pytest.mark.parametrize("language", languages())
def test_an_imported_transcript_is_asked_first_where_its_tokens_went(
    app: Dashboard, language: Language
) -> None:
    (session,) = app.engine.import_(claude_code_lines(), name="small.jsonl")

    at = opened(app, session, language)

    titles = [translate(name, language) for name in ("usage.timeline", "usage.account")]
    assert [one.value for one in at.subheader[:2]] == titles
    # 9,060 plain at 3, 10,000 cached at .3, 400 written at 3.75, 160 out at 15, each per million
    assert figures(at)[translate("usage.figure.cost", language)] == "$0.034"
    tables = [frame.value for frame in at.dataframe]
    assert "Read" in list(tables[1].iloc[:, 0])
    assert "/project/greet.py" in list(tables[2].iloc[:, 0])


@pytest.mark.parametrize("language", languages())
def test_the_timeline_has_a_point_for_each_call_and_tells_the_selected_one(
    app: Dashboard, language: Language
) -> None:
    (session,) = app.engine.import_(claude_code_lines(), name="small.jsonl")
    calls = app.engine.calls(session.id)

    at = opened(app, session, language)

    traces = timeline(at)
    assert traces[translate("usage.part.cached", language)]["y"] == [1_000, 2_000, 3_000, 4_000]
    assert traces[translate("usage.figure.cost", language)]["y"] == [call.cost for call in calls]
    number = at.number_input(key=f"usage_timeline_call_{session.id}")
    assert number.value == 4
    number.set_value(2).run()
    app.check()
    assert app.at.query_params["call"] == "2"
    name = translate("usage.timeline.call_of_turn", language, number="2", turn="1")
    assert name in app.texts()


@pytest.mark.parametrize("language", languages())
def test_what_the_provider_left_out_of_a_call_is_told(app: Dashboard, language: Language) -> None:
    lines = claude_code_lines().splitlines()
    edit = {"type": "clear_tool_uses_20250919"}
    for at, uses, tokens in ((-1, 2, 4_000), (-3, 1, 1_500)):
        edited = json.loads(lines[at])
        applied = [{**edit, "cleared_tool_uses": uses, "cleared_input_tokens": tokens}]
        edited["message"]["context_management"] = {"applied_edits": applied}
        lines[at] = json.dumps(edited)
    text = "\n".join(lines)
    (session,) = app.engine.import_(text, name="small.jsonl")
    copy = app.engine.export(session.id)
    (again,) = app.engine.import_(copy, name="copy.jsonl")

    told = translate("usage.cleared", language, calls="2", tokens="5,500", parts="3")
    assert opened(app, session, language) is not None
    assert told in app.texts()
    cleared = [(one.cleared_parts, one.cleared_tokens) for one in app.engine.calls(again.id)]
    assert cleared == [(None, None)] * 2 + [(1, 1_500), (2, 4_000)]


def test_the_address_names_a_call(app: Dashboard) -> None:
    (session,) = app.engine.import_(claude_code_lines(), name="small.jsonl")
    app.at.query_params["call"] = "3"

    at = opened(app, session)

    assert at.number_input(key=f"usage_timeline_call_{session.id}").value == 3


def test_the_address_names_a_turn(app: Dashboard) -> None:
    session = chatted(app, 3)
    app.at.query_params["turn"] = "2"

    opened(app, session)

    key = f"usage_turns_{session.id}_3"
    assert app.opened_row(key) == "2"
    app.open_row(key, "1")
    assert app.at.query_params["turn"] == "1"
    assert translate("usage.verdicts", "en", number=1) in app.texts()


def test_a_chat_s_timeline_is_by_segments_or_by_the_provider_s_count(app: Dashboard) -> None:
    session = chatted(app, 20)
    calls = [call for call in app.engine.calls(session.id) if call.purpose == "answer"]
    folded = sum(call.compaction_id != before.compaction_id for before, call in pairwise(calls))

    at = opened(app, session)

    traces = timeline(at)
    assert translate("common.segment.recent", "en") in traces
    assert len(traces[translate("usage.compaction", "en")]["x"]) == folded > 0
    control = at.segmented_control(key=f"usage_timeline_source_{session.id}")
    control.set_value("provider").run()
    app.check()
    assert translate("usage.part.fresh", "en") in timeline(at)


@pytest.mark.parametrize("language", languages())
def test_where_the_tokens_go_now_and_in_all_calls(app: Dashboard, language: Language) -> None:
    (session,) = app.engine.import_(claude_code_lines(), name="small.jsonl")
    at = opened(app, session, language)
    once = _tool_table(at, language)

    at.segmented_control(key="usage_account_view_3").set_value("sent").run()
    app.check()

    sent, cost = _tool_table(at, language), translate("usage.figure.cost", language)
    total = translate("usage.sum", language)
    assert all(sent[total] > once[total])
    assert cost in sent
    assert cost not in once
    at.segmented_control(key="usage_account_view_3").set_value("now").run()
    app.check()
    assert list(_tool_table(at, language)[total]) == list(once[total])


def test_what_a_chat_sent_in_all_calls_is_read_from_its_verdicts(app: Dashboard) -> None:
    session = chatted(app, 20)
    assert app.engine.compactions(session.id)
    at = opened(app, session)

    at.segmented_control(key="usage_account_view_3").set_value("sent").run()
    app.check()

    sizes = [call.estimate for call in app.engine.calls(session.id) if call.purpose == "answer"]
    names = ("recent", "kept", "pinned", "summary", "recalled")
    history = sum(size.get(name, 0) for size in sizes for name in names)
    bars = next(drawn for drawn in charts(at) if drawn["data"][0].get("orientation") == "h")
    drawn = sum(bars["data"][0]["x"])
    assert history * 0.9 < drawn < history * 1.1


def _tool_table(at: Any, language: Language) -> Any:
    name = translate("usage.tool", language)
    return next(frame.value for frame in at.dataframe if name in frame.value)


@pytest.mark.parametrize("language", languages())
def test_why_a_cost_is_not_known_is_said(app: Dashboard, language: Language) -> None:
    lines = claude_code_lines().replace("claude-sonnet-4-5", "nobody/knows")
    (session,) = app.engine.import_(lines, name="small.jsonl")

    at = opened(app, session, language)

    unknown = translate("common.unknown", language)
    assert figures(at)[translate("usage.figure.cost", language)] == unknown
    assert "nobody/knows" in app.texts()
    assert translate("usage.cost.settings", language) in app.texts()


def test_numbers_of_a_chart_are_there_as_a_table(app: Dashboard) -> None:
    at = opened(app, chatted(app, 2))
    at.session_state["usage_turn_estimate_numbers"] = True

    at.run()
    app.check()

    assert any("System" in frame.value.columns for frame in at.dataframe)
    assert at.download_button(key="usage_turn_estimate_csv").label == "Download CSV"


def test_a_long_session_shows_its_newest_turns(app: Dashboard) -> None:
    lines = []
    for number in range(150):
        lines.append({"role": "user", "content": f"Question {number}"})
        lines.append({"role": "assistant", "content": "Yes."})
    session = app.engine.create_session("Long")
    app.engine.append(session.id, lines)
    for _ in app.engine.chat(session.id, "One more"):
        pass

    at = opened(app, session)

    assert at.slider(key="usage_range_151").value == (52, 151)


def test_a_long_path_shows_its_end_and_a_long_message_leaves_room_for_numbers(
    app: Dashboard,
) -> None:
    path = "/srv/" + "deep/" * 20 + "settings.py"
    arguments = json.dumps({"path": path})
    calls = [
        {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    ]
    session = app.engine.create_session("Paths")
    app.engine.append(
        session.id,
        [
            {"role": "user", "content": "Please look at the settings, all of them. " * 4},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c", "content": "a = 1"},
        ],
    )
    for _ in app.engine.chat(session.id, "Go on."):
        pass

    at = opened(app, session)

    files = next(frame.value for frame in at.dataframe if "File" in frame.value)
    assert files["File"][0].endswith("deep/settings.py")
    assert len(files["File"][0]) == PATH_CHARS
    turns = next(frame for frame in at.dataframe if "Message" in frame.value)
    assert json.loads(turns.proto.columns)["Message"]["width"] == LONG_TEXT_PIXELS


def test_without_a_call_nothing_is_said_of_calls(app: Dashboard) -> None:
    session = talked(app, "Written elsewhere", turns=2)

    at = opened(app, session)

    assert figures(at) == {"Turns": "2", "Calls": "0"}
    turns = next(frame.value for frame in at.dataframe if "Message" in frame.value)
    assert list(turns) == ["Turn", "Message", "State", "Compactions"]
    assert translate("usage.no_provider", "en") in app.texts()


def test_the_session_of_somebody_else_stays_closed(app: Dashboard) -> None:
    app.engine.store.create_user("other", at=app.engine.user().created_at)
    app.engine.store.update_user("local", is_operator=False)
    theirs = ContextEngine(app.engine.store, user_id="other").create_session("Theirs")
    select_session(None)

    at = opened(app, theirs)

    assert "Theirs" not in app.texts()
    assert at.info


@pytest.mark.parametrize("language", languages())
def test_the_survival_map_is_drawn_once_it_is_opened(app: Dashboard, language: Language) -> None:
    session = chatted(app, 3)
    at = opened(app, session, language)
    kept = translate("usage.verdict.kept", language)
    assert not [one for one in charts(at) if one["data"][0]["type"] == "heatmap"]

    at.session_state["usage_survival"] = True
    app.run()

    (drawn,) = [one for one in charts(at) if one["data"][0]["type"] == "heatmap"]
    heatmap = drawn["data"][0]
    assert heatmap["x"] == ["1", "2", "3"]
    assert heatmap["y"] == ["1", "2", "3", "4", "5"]
    assert heatmap["text"][0] == [kept, kept, kept]
    assert heatmap["text"][4] == ["", "", kept]


def test_the_page_is_there_before_all_messages_are_counted(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def late(*given: Any, **named: Any) -> TokenReport:
        assert go_on.wait(HANG_SECONDS)
        return usage_report(*given, **named)

    monkeypatch.setattr(reads, "usage_report", late)
    monkeypatch.setattr(slow_reads, "GRACE_SECONDS", 0.0)
    at = opened(app, chatted(app, turns=2))
    working = translate("usage.counting", "en")
    assert working in app.texts()
    told = len(charts(at))

    go_on.set()
    monkeypatch.setattr(slow_reads, "GRACE_SECONDS", HANG_SECONDS)

    assert len(charts(app.run())) == told + 1
    assert working not in app.texts()
