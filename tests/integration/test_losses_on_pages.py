"""What a compaction lost, on the compaction page, in its dialog and in the chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import LossCode, LossVerdictCode
from ctxcore.store.values import Scope
from dashboard.lost_facts import unpin_block
from dashboard.texts import Language, languages, translate
from dashboard.wording import name_text
from tests.dashboard_app import Dashboard, open_dashboard, rendered
from tests.engines import START
from tests.losing_sessions import losing_session, recorded_session, ticket_session


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def opened(app: Dashboard, session_id: str, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session_id
    app.run()
    return app.go("compaction")


def lost_table(at: Any, language: Language = "en") -> Any:
    """The table of lost facts."""
    name = translate("compact.lost.fact", language)
    return next(table.value for table in at.dataframe if name in table.value)


@pytest.mark.parametrize("language", languages())
def test_lost_facts_are_listed_with_what_was_needed_first(
    app: Dashboard, language: Language
) -> None:
    session_id, made = losing_session(app.engine)
    lost = made.compaction.facts_lost or ()
    app.engine.append(session_id, [{"role": "user", "content": f"What about {lost[-1]}?"}])

    at = opened(app, session_id, language)

    table = lost_table(at, language)
    length = app.engine.session(session_id).length
    assert table[translate("compact.lost.fact", language)][0] == lost[-1]
    by = translate("compact.lost.by.user", language)
    assert table[translate("compact.lost.needed_later", language)][0] == f"#{length} · {by}"
    assert len(table) == len(lost)
    assert at.dataframe[0].value[translate("compact.lost", language)][0] == len(lost)
    kind = rendered(LossCode.IDENTIFIER(), language)
    assert f"{kind}: {len(lost):,}" in app.texts()
    assert any(lost[-1] in code.value for code in at.code)


@pytest.mark.parametrize("language", languages())
def test_one_sentence_judges_and_the_presets_are_compared_on_request(
    app: Dashboard, language: Language
) -> None:
    session_id, made = losing_session(app.engine)
    lost = made.compaction.facts_lost or ()
    app.engine.append(session_id, [{"role": "user", "content": f"What about {lost[-1]}?"}])

    at = opened(app, session_id, language)

    needed = len(app.engine.losses(session_id, made.id).needed)
    sentence = rendered(LossVerdictCode.GONE(gone=1, needed=needed), language)
    assert sentence in app.texts()
    others = app.engine.losses_under(session_id, made.id, Policy.presets())
    at.button(key=f"compaction_presets_{made.id}_ask").click().run()
    app.check()
    fits = next(one for one in others if one.gone is not None)
    name = name_text("settings.preset", fits.preset)
    told = translate("compaction.verdict.under", language, preset=name, gone=f"{fits.gone:,}")
    assert told in app.texts()


def test_dates_and_bare_numbers_are_folded_away(app: Dashboard) -> None:
    session = app.engine.create_session("Dates")
    said: list[JsonObject] = [{"role": "user", "content": "Go through all the deliveries."}]
    for day in range(1, 29):
        text = f"Looked at REQ-{4100 + day}, due 2026-03-{day:02}. " + "It is so. " * 40
        said += [{"role": "assistant", "content": text}, {"role": "user", "content": "Go on."}]
    app.engine.append(session.id, said)
    no_facts: JsonObject = {"facts_ratio": None}
    app.engine.save_policy(Scope(kind="session", owner=session.id), no_facts)
    made = app.engine.compact(session.id)
    assert made is not None
    report = app.engine.losses(session.id, made.id)
    ranks = [one.rank for one in report.lost or ()]
    assert {"other", "minor"} <= set(ranks)

    at = opened(app, session.id)

    assert len(lost_table(at)) == len(ranks) - ranks.count("minor")
    at.toggle(key=f"compaction_lost_{made.id}_minor").set_value(True).run()
    app.check()
    assert len(lost_table(at)) == len(ranks)


@pytest.mark.parametrize("language", languages())
def test_nothing_lost_and_not_looked_for_are_told_apart(app: Dashboard, language: Language) -> None:
    session_id, made = losing_session(app.engine)
    store = app.engine.store
    none = replace(made.compaction, facts_lost=())
    old = replace(made.compaction, facts_lost=None)
    store.record_compaction(session_id, "none", none, parent_id=made.id, at=START)
    store.record_compaction(session_id, "old", old, parent_id="none", at=START)
    opened(app, session_id, language)
    assert translate("compaction.lost.not_looked_for", language) in app.texts()

    app.open_row(f"compaction_rows_{session_id}_3", "none")

    assert translate("compaction.lost.nothing", language) in app.texts()


def test_one_click_pins_the_message_and_the_context_says_the_fact_again(app: Dashboard) -> None:
    session_id, made = losing_session(app.engine)
    at = opened(app, session_id)
    key = f"compaction_lost_{made.id}"
    fact = str(lost_table(at)["Fact"][0])
    assert fact not in str(app.engine.context(session_id).messages)

    at.button(key=f"{key}_pin").click().run()
    app.check()

    assert fact in str(app.engine.context(session_id).messages)
    assert translate("compact.lost.state.pinned", "en") in app.texts()
    seq = int(lost_table(at)["In message"][0])
    assert translate("compact.lost.pinned", "en", seq=seq) in [toast.value for toast in at.toast]

    at.button(key=f"{key}_unpin").click().run()
    app.check()

    assert fact not in str(app.engine.context(session_id).messages)
    assert not at.button(key=f"{key}_pin").disabled
    assert translate("context.unpinned", "en", seq=seq) in [toast.value for toast in at.toast]


def test_a_pin_is_taken_back_from_any_message_of_its_block(app: Dashboard) -> None:
    (session,) = app.engine.import_(recorded_session(), name="recorded.jsonl")
    view = app.engine.call_target(session.id).view
    result = next(row for row in view.tail(100_000) if row.message.is_tool_result)
    app.engine.pin(session.id, result.seq - 1)
    opened(app, session.id)

    unpin_block(session.id, result.block)

    assert app.engine.call_target(session.id).view.anchors().pinned == ()


def test_a_message_that_is_shown_again_need_not_be_pinned(app: Dashboard) -> None:
    session_id, made = losing_session(app.engine)
    at = opened(app, session_id)
    assert not at.button(key=f"compaction_lost_{made.id}_pin").disabled
    app.engine.save_policy(Scope(kind="session", owner=session_id), {"window_tokens": 100_000})

    app.engine.undo(session_id)
    app.run()

    assert at.button(key=f"compaction_lost_{made.id}_pin").disabled
    assert translate("compact.lost.state.shown", "en") in app.texts()


def test_an_excluded_message_is_not_pinned_by_the_way(app: Dashboard) -> None:
    session_id, made = losing_session(app.engine)
    at = opened(app, session_id)
    seq = int(lost_table(at)["In message"][0])

    app.engine.exclude(session_id, seq - 1)
    app.run()

    assert at.button(key=f"compaction_lost_{made.id}_pin").disabled
    assert translate("compact.lost.state.excluded", "en") in app.texts()


@pytest.mark.parametrize("language", languages())
def test_what_another_product_lost_stands_beside_ours(app: Dashboard, language: Language) -> None:
    (session,) = app.engine.import_(recorded_session(), name="recorded.jsonl")
    (made,) = app.engine.compactions(session.id)
    at = opened(app, session.id, language)
    at.session_state[f"compaction_account_{made.id}"] = True

    at.run()
    app.check()

    said = translate("compaction.lost.said", language)
    sides = next(table.value for table in at.dataframe if said in table.value)
    assert len(sides) == 2
    before = translate("compaction.before_message", language)
    own = next(table.value for table in at.dataframe if before in table.value)
    told = translate("fact.trigger.auto", language)
    assert list(own[translate("compaction.trigger", language)]) == [told]
    again = translate("compaction.lost.again", language)
    repeats = next(table.value for table in at.dataframe if again in table.value)
    assert list(repeats[again]) == ["/srv/app/part_2.py"]
    table = lost_table(at, language)
    assert {*table[translate("compact.lost.ours_keeps", language)]} <= {
        translate("compaction.yes", language),
        translate("compaction.no", language),
    }


@pytest.mark.parametrize("language", languages())
def test_the_dialog_tells_what_would_be_lost_before_it_is_confirmed(
    app: Dashboard, language: Language
) -> None:
    session_id = ticket_session(app.engine)
    at = opened(app, session_id, language)
    at.session_state["compact_lost"] = True

    at.button(key="compaction_compact").click().run()
    app.check()

    lost = lost_table(at, language)
    assert len(lost) > 1
    labels = [block.label for block in at.expander]
    assert translate("compact.lost.proposed", language, count=f"{len(lost):,}") in labels
    assert app.engine.compactions(session_id) == []


def test_a_fact_that_is_written_into_the_summary_is_not_lost(app: Dashboard) -> None:
    at = opened(app, ticket_session(app.engine))
    at.session_state["compact_lost"] = True
    at.button(key="compaction_compact").click().run()
    before = list(lost_table(at)["Fact"])
    summary = at.text_area(key="compact_summary")

    summary.set_value(f"{summary.value} {before[0]}").run()
    app.check()

    assert list(lost_table(at)["Fact"]) == before[1:]


def test_a_pin_in_the_dialog_leads_to_a_proposal_that_keeps_the_fact(app: Dashboard) -> None:
    session_id = ticket_session(app.engine)
    at = opened(app, session_id)
    at.session_state["compact_lost"] = True
    at.button(key="compaction_compact").click().run()
    fact = lost_table(at)["Fact"][0]

    seq = int(lost_table(at)["In message"][0])
    at.button(key="compact_lost_facts_pin").click().run()
    app.check()
    assert fact not in list(lost_table(at)["Fact"])
    assert translate("compact.lost.pinned", "en", seq=seq) in app.texts()
    assert translate("compact.again", "en") in [toast.value for toast in at.toast]
    at.button(key="compact_confirm").click().run()
    app.check()

    (made,) = app.engine.compactions(session_id)
    assert fact not in (made.compaction.facts_lost or ())
    assert str(fact) in str(app.engine.context(session_id).messages)


def test_a_pin_in_the_dialog_can_be_taken_back_there(app: Dashboard) -> None:
    session_id = ticket_session(app.engine)
    at = opened(app, session_id)
    at.session_state["compact_lost"] = True
    at.button(key="compaction_compact").click().run()
    fact, seq = lost_table(at)["Fact"][0], int(lost_table(at)["In message"][0])
    at.button(key="compact_lost_facts_pin").click().run()

    at.button(key=f"compact_unpin_{seq}").click().run()
    app.check()

    assert fact in list(lost_table(at)["Fact"])
    assert translate("context.unpinned", "en", seq=seq) in app.texts()
    assert app.engine.call_target(session_id).view.anchors().pinned == ()
    at.button(key="compact_cancel").click().run()
    at.button(key="compaction_compact").click().run()
    assert translate("context.unpinned", "en", seq=seq) not in app.texts()


@pytest.mark.parametrize("language", languages())
def test_the_chat_counts_what_is_no_longer_in_the_context(
    app: Dashboard, language: Language
) -> None:
    session_id, made = losing_session(app.engine)
    count = len(made.compaction.facts_lost or ())
    opened(app, session_id, language)

    app.go("chat")

    assert translate("chat.marker.lost", language, count=f"{count:,}") in app.texts()
    app.engine.undo(session_id)
    app.run()
    assert translate("chat.marker.lost", language, count=f"{count:,}") not in app.texts()
