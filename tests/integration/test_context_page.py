"""The context page: verdicts, shortened messages beside their originals, and the way back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.policies import save_figures
from ctxcore.store.values import Scope, SessionInfo
from dashboard import widgets
from dashboard.context_page import rules
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import MODEL, Dashboard, open_dashboard

SHIPS = [
    {"ship": f"S-{n:03d}", "cargo": f"<b>gravel</b> **{n * 271}**", "berth": f"quay {n * 7919}"}
    for n in range(36)
]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def with_output(app: Dashboard, output: str = json.dumps(SHIPS)) -> SessionInfo:
    """A session with a tool output that is too large for the test's window."""
    session = app.engine.create_session("Ships")
    app.engine.append(session.id, [{"role": "user", "content": "Which ships are there?"}])
    app.engine.append(session.id, with_call("c", output))
    return app.engine.session(session.id)


def with_call(call_id: str, output: str) -> list[dict[str, object]]:
    """A call of a tool, what it returned, and the answer."""
    ask = {"id": call_id, "type": "function", "function": {"name": "list_ships", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [ask]},
        {"role": "tool", "tool_call_id": call_id, "content": output},
        {"role": "assistant", "content": "These."},
    ]


def opened(app: Dashboard, session: SessionInfo, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()
    return app.go("context")


@pytest.mark.parametrize("language", languages())
def test_a_damaged_message_is_told_and_the_rest_is_shown(
    app: Dashboard, tmp_path: Path, language: Language
) -> None:
    session = with_output(app)
    with closing(sqlite3.connect(tmp_path / "test.db")) as database, database:
        damaged = "UPDATE message SET body = '{' WHERE session_id = ? AND seq = 1"
        database.execute(damaged, (session.id,))

    page = opened(app, session, language)

    [warning] = page.warning
    start = translate("context.damage", language, count="1", first="")
    assert warning.value.replace("\\", "").startswith(start)
    assert not page.exception
    assert page.dataframe


def with_panes(app: Dashboard) -> Any:
    """The page with the original beside what is sent, which is drawn once it is opened."""
    assert not app.at.code
    app.at.session_state["context_sides"] = True
    return app.at.run()


@pytest.mark.parametrize("language", languages())
def test_an_empty_session_says_how_something_comes(app: Dashboard, language: Language) -> None:
    at = opened(app, app.engine.create_session("Empty"), language)

    assert at.info[0].value == translate("context.empty", language)


def test_the_page_says_whose_context_it_shows(app: Dashboard) -> None:
    opened(app, with_output(app))

    assert "Ships" in app.texts()


@pytest.mark.parametrize("language", languages())
def test_a_shortened_output_stands_beside_its_original(app: Dashboard, language: Language) -> None:
    session = with_output(app)

    opened(app, session, language)
    at = with_panes(app)

    original, sent = at.code[0].value, at.code[1].value
    verdict = app.engine.context(session.id).verdict(2)
    assert verdict.verdict == "compressed"
    assert at.selectbox(key=f"context_pick_{session.id}").value == 3
    assert "- " in original
    assert "S-017" in original
    assert json.loads(sent)
    told = app.texts()
    assert f"{verdict.before_tokens:,}" in told
    assert f"{verdict.after_tokens:,}" in told
    assert "gravel" not in told  # words of tools stand in code blocks alone


def test_a_trigger_beyond_the_window_is_not_waited_for(app: Dashboard) -> None:
    session = app.engine.create_session("Short")
    app.engine.append(session.id, [{"role": "user", "content": "hello"}])
    app.engine.save_policy(Scope(), {"trigger_ratio": 1.0})

    opened(app, session)

    context = app.engine.context(session.id)
    assert context.budget is not None
    left = context.budget.usable_tokens - context.tokens
    assert translate("compact.to_trigger", "en", left=f"{left:,}") in app.texts()


def test_the_verdicts_add_up_to_what_is_there(app: Dashboard) -> None:
    session = with_output(app)

    table = opened(app, session).dataframe[0].value

    runs = app.engine.context(session.id).runs
    assert list(table.iloc[:, -1]) == [run.after_tokens for run in runs]


def test_an_output_kept_in_pieces_shows_what_stayed_of_each_line(app: Dashboard) -> None:
    log = "\n".join(f"ship S-{n:03d} took berth {n * 7919}, crew {n % 7}" for n in range(60))
    save_figures(app.engine.store, MODEL, {"window_tokens": 4_000})
    session = with_output(app, log)
    assert app.engine.compact(session.id) is not None
    sent = dict(app.engine.compactions(session.id)[-1].compaction.shortened)[3]

    opened(app, session)
    at = with_panes(app)

    marked = at.code[0].value.split("\n")
    stayed = " ".join(line[2:] for line in marked if line.startswith("  "))
    pieces = [piece.split("\n")[0].strip() for piece in sent.split("…") if piece.strip()]
    assert all(piece in stayed for piece in pieces)
    assert any(line.startswith("- ") for line in marked)
    assert translate("context.in_pieces", "en") in app.texts()


def test_a_table_that_does_not_hold_all_verdicts_says_so(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = with_output(app)
    count = len(app.engine.context(session.id).runs)
    monkeypatch.setattr(widgets, "SHOWN_RUNS", count)
    assert len(opened(app, session).dataframe[0].value) == count
    told = translate("usage.verdicts.newest", "en", shown=2, count=count)
    assert told not in app.texts()

    monkeypatch.setattr(widgets, "SHOWN_RUNS", 2)
    app.run()

    assert len(app.at.dataframe[0].value) == 2
    assert told in app.texts()


def test_one_click_shows_an_output_whole_and_another_takes_that_back(app: Dashboard) -> None:
    session = with_output(app)
    at = opened(app, session)

    at.button(key="context_restore_3").click()
    app.run()

    assert app.engine.context(session.id).verdict(2).verdict == "kept"
    assert not at.error

    at.button(key="context_unpin_3").click()
    app.run()

    assert app.engine.context(session.id).verdict(2).verdict == "compressed"
    assert at.button(key="context_restore_3").label


def test_what_is_shortened_again_is_what_is_looked_at(app: Dashboard) -> None:
    """Pinning takes a message off the list, so that another one is looked at meanwhile."""
    session = with_output(app)
    app.engine.append(session.id, with_call("d", json.dumps(SHIPS * 2)))
    at = opened(app, session)
    pick = f"context_pick_{session.id}"
    assert len(at.selectbox(key=pick).options) > 1
    at.selectbox(key=pick).set_value(3).run()

    at.button(key="context_restore_3").click()
    app.run()
    assert at.selectbox(key=pick).value != 3

    at.button(key="context_unpin_3").click()
    app.run()
    assert at.selectbox(key=pick).value == 3


def test_a_session_without_shortened_messages_says_so(app: Dashboard) -> None:
    session = app.engine.create_session("Short")
    app.engine.append(session.id, [{"role": "user", "content": "hello"}])

    opened(app, session)

    assert translate("context.none_shortened", "en") in app.texts()


def test_what_no_window_holds_cannot_be_shown_whole(app: Dashboard) -> None:
    session = with_output(app, json.dumps(SHIPS * 9))

    at = opened(app, session)

    assert at.button(key="context_restore_3").disabled
    assert translate("context.too_large", "en") in app.texts()


@pytest.mark.parametrize("language", languages())
def test_rules_in_force_stand_with_their_messages_and_ended_ones_on_request(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Rules")
    said = ["Never restart db-7 on Mondays.", "From now on answer in French.", "Go on."]
    for text in (*said, "From now on answer in German instead."):
        app.engine.append(session.id, [{"role": "user", "content": text}])
        app.engine.append(session.id, [{"role": "assistant", "content": "As you wish."}])

    at = opened(app, app.engine.session(session.id), language)

    assert translate("context.rules.all_said", language, count="2") in app.texts()
    assert held_rules(at) == [said[0], "From now on answer in German instead."]
    rule = translate("context.rules.rule", language)
    at.session_state["context_rules_ended"] = True
    at.run()
    app.check()
    (ended,) = [table.value for table in at.dataframe if rule in table.value]
    assert list(ended[rule]) == [said[1]]
    assert list(ended[translate("context.rules.ended_by", language)]) == [7]


def held_rules(at: Any) -> list[str]:
    """The rules in force that have a button to dismiss them, as they are written."""
    rows = (
        row.value
        for row in at.markdown
        if row.value.startswith((":material/check: ", ":material/warning: "))
    )
    return [row.partition(" ")[2].partition(" · ")[0].replace("\\", "") for row in rows]


@pytest.mark.parametrize("language", languages())
def test_a_rule_is_dismissed_and_a_missed_one_added_by_a_click_and_both_are_undone(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Rules")
    wrong, missed = "Never restart db-7 on Mondays.", "The berth is booked under Nansen."
    for text in (wrong, f"Fine. {missed}"):
        app.engine.append(session.id, [{"role": "user", "content": text}])
    at = opened(app, app.engine.session(session.id), language)

    at.button(key="context_rule_dismiss_0").click()
    app.run()
    assert held_rules(at) == []
    at.text_input(key="context_rule_words").set_value("nansen").run()
    at.button(key="context_rule_add_0").click()
    app.run()

    assert held_rules(at) == [missed]
    assert translate("context.rules.added", language) in app.texts()
    edits = app.engine.rule_edits(session.id)
    assert [(edit.kind, edit.seq, edit.text) for edit in edits] == [
        ("dismiss", 1, wrong),
        ("add", 2, missed),
    ]
    for edit in edits:
        at.button(key=f"context_rule_undo_{edit.id}").click()
        app.run()
    assert held_rules(at) == [wrong]
    told = [edit.cleared_by for edit in app.engine.rule_edits(session.id, with_undone=True)]
    assert told == ["local", "local"]


def test_of_very_many_rules_the_first_are_shown(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "SHOWN_RULES", 2)
    session = app.engine.create_session("Rules")
    for text in ("Never sell tents.", "Never paint the doors green.", "Never call before nine."):
        app.engine.append(session.id, [{"role": "user", "content": text}])

    at = opened(app, app.engine.session(session.id))
    assert len(held_rules(at)) == 2

    at.toggle(key="context_rules_all").set_value(True).run()
    app.check()
    assert len(held_rules(at)) == 3


def test_a_session_without_rules_says_so(app: Dashboard) -> None:
    opened(app, with_output(app))

    assert translate("context.rules.none", "en") in app.texts()


@pytest.mark.parametrize("language", languages())
def test_what_people_ask_of_each_other_is_told_from_rules(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Letters")
    said = ["Anna: Where to?", "Ben: Rome.", "Anna: I prefer window seats.", "Ben: I see."]
    said += ["Anna: Fine. " * 20, "Ben: Indeed. " * 20] * 9
    roles = ("user", "assistant") * len(said)
    letters = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    app.engine.append(session.id, letters)
    app.engine.save_policy(Scope(kind="session", owner=session.id), {"window_tokens": 500})

    at = opened(app, session, language)

    assert translate("context.rules.only_others", language, count="1") in app.texts()
    [row] = [row.value for row in at.markdown if row.value.startswith(":material/group: ")]
    assert "I prefer window seats" in row
    assert translate("context.rules.for_others", language) in row


@pytest.mark.parametrize("language", languages())
def test_a_past_call_has_its_map_its_verdicts_and_what_was_sent(
    app: Dashboard, language: Language
) -> None:
    session = with_output(app)
    for question in ("Which is the largest?", "And the smallest?"):
        for _ in app.engine.chat(session.id, question):
            pass
    app.at.query_params["call"] = "1"

    at = opened(app, app.engine.session(session.id), language)

    assert at.segmented_control(key=f"context_moment_{session.id}").value == "past"
    assert at.number_input(key=f"context_moment_{session.id}_number").value == 1
    verdict = translate("usage.verdict", language)
    (table,) = [shown.value for shown in at.dataframe if verdict in shown.value]
    call = app.engine.store.calls(session.id, with_runs=True)[0]
    assert list(table[translate("common.segment.before", language)]) == [
        run.before_tokens for run in call.runs
    ]
    assert translate("usage.request", language) in [shown.label for shown in at.expander]

    at.segmented_control(key=f"context_moment_{session.id}").set_value("next")
    app.run()
    assert "call" not in app.at.query_params
    assert translate("context.rules", language) in app.texts()
