"""The compaction page: history, detail, undo and redo, forks, what was rejected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.events import FAILED, PLANNED
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import from_json
from ctxcore.store.values import Scope, SessionInfo
from dashboard import services
from dashboard.compaction_dialog.ways import way_label
from dashboard.safe_markdown import plain_label
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard, rendered
from tests.limits import HANG_SECONDS
from tests.losing_sessions import ticket_session


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def long_session(app: Dashboard, turns: int = 12) -> SessionInfo:
    """A session well above the trigger of the test's window."""
    session = app.engine.create_session("Long")
    said: list[JsonObject] = []
    for number in range(turns):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    app.engine.append(session.id, said)
    return app.engine.session(session.id)


def opened(app: Dashboard, session: SessionInfo, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()
    return app.go("compaction")


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("has_messages", [True, False])
def test_without_a_compaction_the_page_says_so(
    app: Dashboard, language: Language, has_messages: bool
) -> None:
    session = app.engine.create_session("Empty")
    if has_messages:
        app.engine.append(session.id, [{"role": "user", "content": "hello"}])

    at = opened(app, session, language)

    key = "compaction.empty" if has_messages else "compaction.no_session"
    assert at.info[0].value == translate(key, language)


@pytest.mark.parametrize("language", languages())
def test_a_compaction_is_told_with_its_numbers(app: Dashboard, language: Language) -> None:
    session = long_session(app)
    made = app.engine.compact(session.id)
    assert made is not None

    at = opened(app, session, language)

    record, effect = made.compaction, made.effect
    assert effect is not None
    assert f"≈{effect.without_tokens:,} → ≈{effect.with_tokens:,}" in app.texts()
    table = at.dataframe[0].value
    assert table[translate("compaction.state", language)][0] == translate(
        "compaction.state.active", language
    )
    assert table[translate("compaction.call_with", language)][0] == effect.with_tokens
    strategy = translate("fact.strategy.keep_by_worth", language)
    assert strategy in table[translate("compaction.strategies", language)][0]
    assert table[translate("usage.seconds", language)][0] == made.details["seconds"]
    assert len(at.get("plotly_chart")) == 1
    assert [text.value for text in at.text] == ([record.facts] if record.facts else [])


def test_facts_that_are_carried_are_shown(app: Dashboard) -> None:
    session = long_session(app)
    for number in range(40):
        told = f"The order ORD-{4170 + number} goes to customer CU-{number + 880} in Utrecht."
        app.engine.append(session.id, [{"role": "user", "content": told}])
    for number in range(12):
        more = [{"role": "user", "content": f"and {number}? " + "more " * 60}]
        app.engine.append(session.id, more)
    made = app.engine.confirm(app.engine.propose(session.id), summary="They talked.")
    assert made is not None

    at = opened(app, session)

    assert "CU-" in made.compaction.facts
    assert made.compaction.facts in [text.value for text in at.text]


def test_undo_and_redo_change_the_state_and_delete_nothing(app: Dashboard) -> None:
    session = long_session(app)
    app.engine.compact(session.id)
    at = opened(app, session)
    assert at.button(key="compaction_redo").disabled

    at.button(key="compaction_undo").click().run()
    app.check()

    assert at.dataframe[0].value["State"][0] == "undone"
    assert app.engine.session(session.id).active_compaction_id is None
    assert at.button(key="compaction_undo").disabled

    at.button(key="compaction_redo").click().run()
    app.check()

    assert at.dataframe[0].value["State"][0] == "active"


def test_the_dialog_records_an_edited_summary(app: Dashboard) -> None:
    session = long_session(app)
    at = opened(app, session)

    at.button(key="compaction_compact").click().run()
    at.text_area(key="compact_summary").set_value("Only what matters.").run()
    at.button(key="compact_confirm").click().run()
    app.check()

    assert "Only what matters." in app.texts()
    (row,) = at.dataframe[0].value.to_dict("records")
    seen = at.dataframe[1].value
    assert list(seen["Mentioned"]) == [0, 0]
    assert seen["Not at all"][1] > 0  # the summary says nothing of them
    steps = at.dataframe[2].value
    made = app.engine.store.active_compaction(session.id)
    assert made is not None
    assert made.effect is not None
    assert row["Next call with it"] == made.effect.with_tokens == made.compaction.after_tokens
    assert steps["How"].iloc[-1] == translate("fact.strategy.edited_summary", "en")
    assert steps["After"].iloc[-1] == made.compaction.after_tokens
    assert list(steps["Before"])[1:] == list(steps["After"])[:-1]


@pytest.mark.parametrize("language", languages())
def test_an_edited_summary_is_measured_before_it_is_confirmed(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.session(ticket_session(app.engine))
    at = opened(app, session, language)
    at.button(key="compaction_compact").click().run()
    proposal = at.session_state["compact_proposal"]

    at.text_area(key="compact_summary").set_value("Everything is fine.").run()
    app.check()

    edited = app.engine.edit(proposal, "Everything is fine.")
    assert edited.effect is not None
    more = len(edited.outcome.lost) - len(proposal.outcome.lost)
    assert more > 0
    assert translate("compact.loses_more", language, count=f"{more:,}") in app.texts()
    assert f"≈{edited.effect.without_tokens:,} → ≈{edited.effect.with_tokens:,}" in app.texts()


def test_the_dialog_and_the_page_count_the_same_folded_messages(app: Dashboard) -> None:
    demo = services.PROJECT / "data" / "demo_incident.json"
    (session,) = app.engine.import_(demo.read_text(encoding="utf-8"), name="demo")
    app.engine.set_model(session.id, "scripted/roomy")  # some of what is planned to fold is kept
    save_figures(app.engine.store, "scripted/roomy", {"window_tokens": 8_000})
    at = opened(app, session)
    at.button(key="compaction_compact").click().run()
    (proposed,) = [
        one.label for one in at.expander if one.label.startswith("Messages to be folded")
    ]

    at.button(key="compact_confirm").click().run()
    app.check()

    (recorded,) = [one.label for one in at.expander if one.label.startswith("Folded messages")]
    assert proposed.rpartition("(")[2] == recorded.rpartition("(")[2]


def test_what_a_person_asked_for_compared_no_number(app: Dashboard) -> None:
    session = long_session(app)
    app.engine.compact(session.id)

    table = opened(app, session).dataframe[0].value

    assert table["Why"][0] == rendered(TriggerCode.ASKED(tokens=0), "en")


def test_a_fork_at_an_older_compaction_goes_on_from_it(app: Dashboard) -> None:
    session = long_session(app)
    first = app.engine.compact(session.id)
    assert first is not None
    said = [{"role": "user", "content": "and then? " * 60} for _ in range(14)]
    app.engine.append(session.id, said)
    second = app.engine.compact(session.id)
    assert second is not None
    at = opened(app, session)
    app.open_row(f"compaction_rows_{session.id}_2", first.id)

    at.button(key=f"compaction_fork_{first.id}").click().run()
    app.check()

    fork = next(one for one in app.engine.sessions() if one.parent_id == session.id)
    assert fork.length == session.length
    active = app.engine.store.active_compaction(fork.id)
    assert active is not None
    assert active.compaction == first.compaction
    assert at.session_state["session_id"] == fork.id


def test_an_undone_compaction_cannot_be_forked(app: Dashboard) -> None:
    session = long_session(app)
    made = app.engine.compact(session.id)
    app.engine.undo(session.id)
    assert made is not None

    at = opened(app, session)

    assert at.button(key=f"compaction_fork_{made.id}").disabled


def test_attempts_that_changed_nothing_are_told_with_their_reason(app: Dashboard) -> None:
    session = app.engine.create_session("Short")
    app.engine.append(session.id, [{"role": "user", "content": "hello"}])
    assert app.engine.compact(session.id) is None

    at = opened(app, session)

    assert at.dataframe[0].value["Reason"][0] == "no message can be folded"


@pytest.mark.parametrize("language", languages())
def test_a_failed_summary_is_told_with_its_reason(app: Dashboard, language: Language) -> None:
    session = long_session(app)
    with ScriptedModel("bad", otherwise=ScriptedReply(error="auth")) as summarizer:
        policy: JsonObject = {"summary_model": summarizer.model}
        app.engine.save_policy(Scope(kind="session", owner=session.id), policy)
        assert app.engine.compact(session.id) is None

    at = opened(app, session, language)

    table = at.dataframe[0].value
    failed = translate("compaction.outcome.failed", language)
    assert table[translate("compaction.outcome", language)][0] == failed
    (event,) = app.engine.store.last_events(session.id, (FAILED,), limit=1)
    why = rendered(from_json(event.body["reason"]), language)
    assert why in app.texts().replace("\\", "")


@pytest.mark.parametrize("language", languages())
def test_shadow_mode_tells_what_it_would_have_done_newest_first(
    app: Dashboard, language: Language
) -> None:
    session = long_session(app, turns=16)
    policy: JsonObject = {"is_shadow": True, "check_at": "after_answer"}
    app.engine.save_policy(Scope(kind="session", owner=session.id), policy)
    for text in ("one", "two"):
        list(app.engine.chat(session.id, text))

    at = opened(app, session, language)

    assert app.engine.compactions(session.id) == []
    table = at.dataframe[0].value
    newest, first = app.engine.store.last_events(session.id, (PLANNED,), limit=2)
    told = list(table[translate("compaction.call_without", language)])
    assert told == [event.body["next_call_tokens"] for event in (newest, first)]
    expected = list(table[translate("compaction.expected", language)])
    assert [after < before for before, after in zip(told, expected, strict=True)] == [True, True]
    rule = rendered(from_json(newest.body["trigger"]), language)
    assert table[translate("compaction.trigger", language)][0] == rule
    assert translate("compaction.planned.on", language) in app.texts()


def test_the_address_names_a_compaction(app: Dashboard) -> None:
    session = long_session(app)
    first = app.engine.compact(session.id)
    more = "what about it? " * 30
    for number in range(8):  # appended, as after a turn a compaction may begin in the background
        said = {"role": "user", "content": f"And more of {number}: {more}"}
        app.engine.append(session.id, [said, {"role": "assistant", "content": f"It is {number}."}])
    second = app.engine.compact(session.id)
    assert first is not None
    assert second is not None
    app.at.query_params["compaction"] = str(first.number)

    opened(app, session)

    key = f"compaction_rows_{session.id}_{len(app.engine.compactions(session.id))}"
    assert app.opened_row(key) == first.id
    app.open_row(key, second.id)
    assert app.at.query_params["compaction"] == str(second.number)


def test_folded_messages_are_listed_on_request(app: Dashboard) -> None:
    session = long_session(app)
    made = app.engine.compact(session.id)
    assert made is not None
    at = opened(app, session)
    at.session_state[f"compaction_folded_{made.id}"] = True

    at.run()
    app.check()

    assert "Question 0" in at.dataframe[-1].value["Text"][0]


# what people want kept, and what a model made up

GUESSED = "They talked about it, and Katarzyna paid 7,431 euros."


@pytest.mark.parametrize("language", languages())
def test_another_focus_makes_another_proposal_which_the_page_tells(
    app: Dashboard, language: Language
) -> None:
    session = long_session(app)
    scope = Scope(kind="session", owner=session.id)
    app.engine.save_policy(scope, {"summary_instructions": "Keep *numbers*."})
    at = opened(app, session, language)
    at.button(key="compaction_compact").click().run()
    plain = at.session_state["compact_proposal"].after

    at.text_input(key="compact_focus").set_value("Question 3").run()
    app.check()
    focused = at.session_state["compact_proposal"].after
    at.button(key="compact_confirm").click().run()
    app.run()

    assert "Question 3:" not in str(plain.messages)
    assert "Question 3:" in str(focused.messages)
    (made,) = app.engine.compactions(session.id)
    assert made.details["focus"] == "Question 3"
    assert made.details["instructions"] == "Keep *numbers*."
    told = app.texts()
    assert translate("compaction.focus", language, text="Question 3") in told
    assert translate("compaction.instructions", language, text=r"Keep \*numbers\*\.") in told


def modelled(app: Dashboard, summarizer: ScriptedModel, **fields: float) -> SessionInfo:
    """A long session whose summaries `summarizer` writes."""
    session = long_session(app)
    scope = Scope(kind="session", owner=session.id)
    app.engine.save_policy(scope, {"summary_model": summarizer.model, **fields})
    return session


@pytest.mark.parametrize("language", languages())
def test_a_refused_summary_is_told_in_the_dialog_and_on_the_page(
    app: Dashboard, language: Language
) -> None:
    with ScriptedModel("guessing", otherwise=ScriptedReply(text=GUESSED)) as summarizer:
        session = modelled(app, summarizer)
        at = opened(app, session, language)

        at.button(key="compaction_compact").click().run()
        app.check()
        warned = [warning.value for warning in at.warning]
        written = at.text_area(key="compact_summary").value
        at.button(key="compact_confirm").click().run()
        app.run()

    (told,) = [text for text in warned if "Katarzyna" in text]
    assert "7,431" in told
    assert "Katarzyna" not in written
    (made,) = app.engine.compactions(session.id)
    assert made.compaction.summarizer == "extractive"
    assert made.compaction.reason is not None
    assert made.compaction.reason.code == OutcomeCode.QUOTED_INSTEAD
    assert told in [warning.value for warning in at.warning]


@pytest.mark.parametrize("language", languages())
def test_a_summary_that_fails_for_now_is_told_before_messages_are_left_out(
    app: Dashboard, language: Language
) -> None:
    with ScriptedModel("away", otherwise=ScriptedReply(error="unavailable")) as summarizer:
        session = modelled(app, summarizer)
        more = [{"role": "user", "content": f"Note {n}: " + "so it is. " * 90} for n in range(12)]
        app.engine.append(session.id, more)  # does not fit any more, so that something must go
        at = opened(app, session, language)

        at.button(key="compaction_compact").click().run()
        app.check()

    told = translate("compact.summary_failed", language).split("{")[0]
    [warning] = [one.value for one in at.warning if one.value.startswith(told)]
    assert "scripted/away" in warning
    assert app.engine.compactions(session.id) == []


def test_the_dialog_marks_estimates(app: Dashboard) -> None:
    session = long_session(app)
    at = opened(app, session)

    at.button(key="compaction_compact").click().run()
    app.check()

    effect = app.engine.propose(session.id).effect
    assert effect is not None
    assert any(f"**≈{effect.without_tokens:,} → ≈" in one.value for one in at.markdown)


@pytest.mark.parametrize("language", languages())
def test_what_a_summary_adds_is_marked_until_it_is_corrected(
    app: Dashboard, language: Language
) -> None:
    with ScriptedModel("guessing", otherwise=ScriptedReply(text=GUESSED)) as summarizer:
        session = modelled(app, summarizer, unsupported_ratio=1.0)
        at = opened(app, session, language)

        at.button(key="compaction_compact").click().run()
        app.check()
        marked = app.texts()
        corrected = GUESSED.replace("Katarzyna", "She")
        at.text_area(key="compact_summary").set_value(corrected).run()
        at.button(key="compact_confirm").click().run()
        app.run()

    assert ":orange-background[Katarzyna]" in marked
    assert translate("compact.unsupported", language, count="2", items="Katarzyna, 7,431") in marked
    (made,) = app.engine.compactions(session.id)
    check = made.details["check"]
    assert isinstance(check, dict)
    assert check["unsupported"] == [{"kind": "number", "text": "7,431"}]
    assert ":orange-background[7,431]" in app.texts()


@pytest.mark.parametrize("language", languages())
def test_each_sentence_opens_its_messages_and_what_nobody_said_is_marked(
    app: Dashboard, language: Language
) -> None:
    invented = "The choir rehearsed a solemn requiem before breakfast."
    summary = f"Goal: an answer to question 0.\nDone: {invented}"
    with ScriptedModel("inventing", otherwise=ScriptedReply(text=summary)) as summarizer:
        session = modelled(app, summarizer)
        made = app.engine.compact(session.id)
    assert made is not None
    at = opened(app, session, language)
    at.session_state[f"compaction_sentences_{made.id}"] = True

    at.run()
    app.check()
    table = at.dataframe[-1].value
    doubted = translate("compaction.doubt.unsourced", language)
    app.open_row(f"compaction_sentences_{made.id}", "1")

    assert list(table[translate("compaction.sentences.doubt", language)]) == ["", doubted]
    first, second = made.compaction.sentences
    assert first.seqs
    assert second.seqs == ()
    messages = ", ".join(map(str, first.seqs))
    assert list(table[translate("compaction.sentences.messages", language)]) == [messages, ""]
    assert translate("compaction.sentences.none", language) in app.texts()
    assert doubted in [warning.value for warning in at.warning]
    assert f":orange-background[Done: {invented}" in app.texts().replace("\\", "")


def test_an_edited_summary_has_its_sentences_traced_again(app: Dashboard) -> None:
    session = long_session(app)
    proposed = app.engine.propose(session.id)

    made = app.engine.confirm(proposed, summary="Goal: an answer to question 0.")

    assert made is not None
    (sentence,) = made.compaction.sentences
    assert sentence.text == "Goal: an answer to question 0."
    asked = [info.seq for info in app.engine.store.messages(session.id)]
    assert sentence.seqs
    assert set(sentence.seqs) <= set(asked)


@pytest.mark.parametrize("language", languages())
def test_presets_and_strategies_stand_side_by_side_and_a_chosen_one_is_proposed(
    app: Dashboard, language: Language
) -> None:
    session = long_session(app)
    at = opened(app, session, language)
    at.button(key="compaction_compact").click().run()
    own = at.session_state["compact_proposal"]

    at.session_state["compact_ways"] = True
    at.run()
    assert app.engine.jobs.wait(at.session_state["compact_ways_job"], HANG_SECONDS)
    at.run()
    app.check()

    way = translate("compact.ways.way", language)
    (table,) = [shown.value for shown in at.dataframe if way in shown.value]
    rows = app.engine.compare_compactions(session.id)
    assert list(table[way]) == [way_label(row.alternative) for row in rows]
    sizes = [row.effect.with_tokens for row in rows if row.effect]
    assert sizes == [
        size for size in table[translate("compact.ways.next_call", language)] if size > 0
    ]
    assert own.effect is not None
    assert sizes[0] == own.effect.with_tokens

    chosen = next(
        at for at, row in enumerate(rows) if row.effect and row.effect.with_tokens != sizes[0]
    )
    app.open_row("compact_ways_rows", rows[chosen].alternative.key)
    proposal = at.session_state["compact_proposal"]
    assert proposal.way == rows[chosen].alternative
    assert proposal.effect == rows[chosen].effect
    assert (
        translate("compact.ways.by", language, way=plain_label(way_label(proposal.way)))
        in app.texts()
    )

    at.button(key="compact_confirm").click().run()
    app.check()
    made = app.engine.store.active_compaction(session.id)
    assert made is not None
    assert made.details["way"] == rows[chosen].alternative.key


@pytest.mark.parametrize("language", languages())
def test_a_phrase_is_asked_for_and_a_message_with_it_tells_its_story(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Ferry")
    said = ["The berth is QX-4417.", "Fine, and what else?", "Nothing else."]
    app.engine.append(session.id, [{"role": "user", "content": text} for text in said])
    list(app.engine.chat(session.id, "Go on."))
    at = opened(app, app.engine.session(session.id), language)

    at.text_input(key="story_words").set_value("QX-4417").run()
    app.check()

    hits = app.engine.said_about(session.id, "QX-4417")
    assert translate("story.why.found", language, count=str(len(hits))) in app.texts()
    message, now = (translate(f"story.why.{name}", language) for name in ("message", "now"))
    (table,) = [shown.value for shown in at.dataframe if message in shown.value]
    assert list(table[message]) == [hit.seq for hit in hits]
    assert table[message][0] == 1
    assert table[now][0] == translate("usage.verdict.kept", language)
    assert translate("story.always.whole", language) in app.texts()

    app.open_row("story_hits", str(hits[-1].seq))
    assert translate("story.no_calls", language) in app.texts()  # it is the newest message

    at.text_input(key="story_words").set_value("zeppelin").run()
    app.check()
    assert translate("story.why.none", language) in app.texts()


@pytest.mark.parametrize("language", languages())
def test_generations_tell_what_each_lost_and_how_long_each_sentence_lived(
    app: Dashboard, language: Language
) -> None:
    session = long_session(app)
    app.engine.compact(session.id)
    at = opened(app, app.engine.session(session.id), language)
    assert translate("generations.title", language) not in app.texts()
    more = [
        {"role": role, "content": f"Case OPS-{number}: {'sand and tide ' * 20}"}
        for number in range(40)
        for role in ("user", "assistant")
    ]
    app.engine.append(session.id, more)
    app.engine.compact(session.id)

    at = opened(app, app.engine.session(session.id), language)
    at.session_state["compaction_generations"] = True
    at.session_state["compaction_lives"] = True
    at.run()
    assert app.engine.jobs.wait(at.session_state["compaction_generations_job"][1], HANG_SECONDS)
    at.run()
    app.check()

    generations, lives = app.engine.generations(session.id), app.engine.sentence_lives(session.id)
    gone = translate("generations.gone", language)
    tables = [table.value for table in at.dataframe if gone in table.value]
    number = translate("compaction.number", language)
    assert list(tables[0][number]) == [one.number for one in generations] == [1, 2]
    standing = translate("generations.rank.standing", language)
    assert list(tables[0][standing]) == [one.count("standing") for one in generations]
    still = translate("generations.still", language)
    last = translate("generations.last", language)
    (sentences,) = [table.value for table in at.dataframe if last in table.value]
    assert len(sentences) == len(lives)
    assert list(sentences[last]).count(still) == sum(life.is_kept for life in lives)
