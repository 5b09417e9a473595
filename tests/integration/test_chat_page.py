"""The chat page: say, stop, retry, mark, compact, undo, and what it tells of each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ctxcore.gateway.local.status import LOCAL_MODEL, LocalModelStatus
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.values import ToolCall, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.problems import LocalModelProblem
from ctxcore.store.holders import Holder, holder_text, parse_holder, this_process
from ctxcore.store.values import Claim, Scope, SessionFactor, SessionInfo
from ctxcore.tokens.factors import CountFactor
from dashboard.chat_page import model_picker
from dashboard.chat_page.following import has_changed
from dashboard.shown_texts import MOST_REST_CHARS
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import MODEL, Dashboard, open_dashboard, say, talked
from tests.limits import HANG_SECONDS


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def long_session(app: Dashboard, turns: int = 12) -> SessionInfo:
    """A session well above the trigger of the test's window."""
    return talked(app, "Long", turns)


@pytest.mark.parametrize("language", languages())
def test_a_first_run_offers_something_to_say(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    app.run()

    label = app.at.button(key="chat_suggest_first").label
    assert label == translate("chat.suggestion.first", "zh" if language == "zh" else "en")


def test_a_suggestion_starts_a_session_with_an_answer(app: Dashboard) -> None:
    app.run()

    app.at.button(key="chat_suggest_second").click().run()
    app.check()

    session = app.engine.sessions()[0]
    assert session.length == 2
    assert session.title.startswith("Write a short packing list")
    assert "You said: Write a short packing list" in app.texts()


def test_an_answer_is_stored_and_shown(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()

    say(app, "Hello there")

    assert "You said: Hello there" in app.texts()
    assert app.at.chat_input(key="chat_ask").disabled is False


def test_what_a_model_writes_never_becomes_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = ScriptedReply(text="Look ![cat](http://192.0.2.1/cat.png) for $5 :smile:")
    with open_dashboard(tmp_path, monkeypatch, replies=[reply]) as app:
        app.engine.create_session("Chat")
        app.run()

        say(app, "A picture, please")

        assert "![" not in app.texts()
        assert "[cat](http://192.0.2.1/cat.png)" in app.texts()


def test_a_failed_turn_says_why_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ScriptedReply(error="auth"), ScriptedReply(text="Better now.")]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        app.engine.create_session("Chat")
        app.run()
        say(app, "Hello")
        assert "key" in app.at.error[0].value

        app.at.button(key="chat_retry").click().run()
        app.check()

        assert "Better now." in app.texts()
        assert [error.value for error in app.at.error] == []


def test_what_could_not_be_sent_is_kept_on_the_page(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", model="scripted/nobody-wrote-it")
    app.run()

    say(app, "Hello")

    assert app.at.error
    assert "Hello" in app.texts()
    assert app.engine.session(session.id).length <= 1


def test_a_stopped_answer_is_labelled_and_kept(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    events = app.engine.chat(session.id, "Tell me something that goes on and on and on")
    for event in events:
        if type(event).__name__ == "TextDelta":
            events.close()  # type: ignore[attr-defined]  # what the runner does on Stop
            break
    app.run()

    assert translate("chat.ended.stopped", "en") in app.texts()
    assert "You said" in app.texts()
    assert app.at.button(key="chat_retry").label == translate("chat.retry_stopped", "en")


def test_a_call_and_its_result_are_one_row_that_opens(app: Dashboard) -> None:
    session = app.engine.create_session("Tools")
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    app.engine.append(
        session.id,
        [
            {"role": "user", "content": "Look it up"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "forty-two"},
        ],
    )
    app.run()

    (label,) = [one.label for one in app.at.expander if "look\\_up" in one.label]
    assert "→ forty\\-two" in label
    assert not app.at.code
    app.at.session_state["chat_tool_2_0"] = True
    app.run()
    assert [code.value for code in app.at.code][-2:] == ["{}", "forty-two"]


def test_a_turn_with_open_calls_says_what_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ToolCall(id="c1", name="look_up", arguments="{}")
    with open_dashboard(tmp_path, monkeypatch, replies=[ScriptedReply(calls=(call,))]) as app:
        app.engine.create_session("Chat")
        app.run()

        say(app, "Look it up")

        assert translate("chat.ended.awaiting_tools", "en") in app.texts()
        assert not [one for one in app.at.button if one.key == "chat_retry"]
        say(app, "Never mind")
        assert app.model.requests[-1].messages[-1]["content"] == "Never mind"


def test_an_answer_without_words_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_dashboard(tmp_path, monkeypatch, replies=[ScriptedReply(text="")]) as app:
        app.engine.create_session("Chat")
        app.run()

        say(app, "Hello")

        assert translate("chat.no_words", "en") in app.texts()


def test_only_the_newest_messages_are_drawn_until_older_ones_are_asked_for(app: Dashboard) -> None:
    long_session(app, turns=30)
    app.run()
    assert "Question 0" not in app.texts()

    app.at.button(key="chat_older").click().run()
    app.check()

    assert "Question 0" in app.texts()


def test_a_message_can_be_pinned_and_let_go(app: Dashboard) -> None:
    session = long_session(app)
    app.run()

    app.at.menu_button(key="chat_menu_3").click("pin").run()
    app.check()
    assert [(mark.seq, mark.kind) for mark in app.engine.store.marks(session.id)] == [(3, "pin")]

    app.at.button(key="chat_unpin_3").click().run()
    app.check()
    assert app.engine.store.marks(session.id) == []


def test_a_message_can_be_excluded(app: Dashboard) -> None:
    session = long_session(app)
    app.run()

    app.at.menu_button(key="chat_menu_24").click("exclude").run()
    app.check()

    assert translate("chat.excluded_mark", "en") in app.texts()
    assert app.engine.context(session.id).verdict(23).reason == VerdictCode.EXCLUDED()


def test_a_fork_is_taken_in_hand(app: Dashboard) -> None:
    session = long_session(app)
    app.run()

    app.at.menu_button(key="chat_menu_4").click("fork").run()
    app.check()

    fork = app.engine.session(str(app.at.sidebar.selectbox(key="shell_session").value))
    assert (fork.parent_id, fork.length) == (session.id, 4)


def test_a_compaction_is_looked_at_confirmed_and_taken_back(app: Dashboard) -> None:
    session = long_session(app)
    before = app.engine.context(session.id).messages
    app.run()

    app.at.button(key="chat_compact").click().run()
    app.check()
    assert app.at.text_area(key="compact_summary").value

    app.at.text_area(key="compact_summary").set_value("They talked about it.").run()
    app.at.button(key="compact_confirm").click().run()
    app.check()
    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    assert active.compaction.summary == "They talked about it."
    assert any(e.label.startswith("Compacted here") for e in app.at.expander)

    app.at.button(key="chat_undo").click().run()
    app.check()
    assert app.engine.context(session.id).messages == before
    assert app.at.button(key="chat_redo").disabled is False


def test_a_stale_proposal_is_refused_with_a_sentence(app: Dashboard) -> None:
    session = long_session(app)
    app.run()
    app.at.button(key="chat_compact").click().run()
    app.engine.pin(session.id, 2)

    app.at.button(key="compact_confirm").click().run()
    app.check()

    assert app.engine.store.active_compaction(session.id) is None
    assert any("changed" in warning.value for warning in app.at.warning)
    app.at.button(key="compact_refresh").click().run()
    app.check()
    assert app.at.button(key="compact_confirm").disabled is False


def test_a_summary_that_saves_nothing_is_warned_about(app: Dashboard) -> None:
    long_session(app)
    app.run()
    app.at.button(key="chat_compact").click().run()

    app.at.text_area(key="compact_summary").set_value("far too long " * 2_000).run()
    app.check()

    assert any("not get smaller" in warning.value for warning in app.at.warning)


def test_nothing_to_fold_is_said_instead_of_offered(app: Dashboard) -> None:
    session = app.engine.create_session("Short")
    app.engine.append(session.id, [{"role": "user", "content": "Hi"}])
    app.run()

    app.at.button(key="chat_compact").click().run()
    app.check()

    assert app.at.info
    assert app.at.button(key="compact_confirm").disabled is True


def test_the_model_of_a_session_can_be_changed(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", model="gpt-4o")
    app.engine.append(session.id, [{"role": "user", "content": "Hi"}])
    app.run()

    app.at.selectbox(key=f"chat_model_{session.id}").select(MODEL).run()
    app.check()

    assert app.engine.session(session.id).model is None
    assert app.at.selectbox(key=f"chat_model_{session.id}").value == MODEL


def test_an_unknown_window_is_said_and_gives_no_percentage(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", model="a-model-nobody-knows")
    app.engine.append(session.id, [{"role": "user", "content": "Hi"}])
    app.run()

    assert translate("compact.no_window", "en") in app.texts()
    assert "%" not in app.at.markdown[0].value


@pytest.mark.parametrize("language", languages())
def test_a_provider_that_counts_far_less_than_was_sent_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    replies = [
        ScriptedReply(text="Read.", usage=ModelUsage(input_tokens=180, output_tokens=1)),
        ScriptedReply(text="Hello.", usage=ModelUsage(input_tokens=1_200, output_tokens=1)),
    ]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        app.engine.store.save_setting("language:local", language)
        app.engine.create_session("Chat")
        app.run()

        say(app, "A long page. " + "These are its many words. " * 200)
        warnings = [warning.value for warning in app.at.warning]
        say(app, "Hi")

        assert any("180" in warning and "num_ctx" in warning for warning in warnings)
        assert not any("num_ctx" in warning.value for warning in app.at.warning)


def test_a_learned_factor_shows_the_corrected_size_with_its_error(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.engine.append(session.id, [{"role": "user", "content": "word " * 400}])
    learned = CountFactor(value=1.1, error_ratio=0.03, calls=5)
    app.engine.store.set_count_factor(
        session.id, SessionFactor(model=MODEL, counter_id="estimate:o200k", factor=learned)
    )
    app.run()

    context = app.engine.context(session.id)
    assert context.budget is not None
    assert f"≈{round(context.tokens * 1.1):,} ± 3\u00a0%" in app.texts()
    assert f"of {round(context.budget.usable_tokens * 1.1):,} usable" in app.texts()


def test_a_window_of_the_models_family_is_called_assumed(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", model="claude-opus-4-9")
    app.engine.append(session.id, [{"role": "user", "content": "Hello"}])

    app.run()

    assert translate("compact.assumed", "en") in app.texts()


def test_what_does_not_fit_is_compacted_before_it_is_sent(app: Dashboard) -> None:
    session = long_session(app, turns=40)
    app.run()
    assert "do not fit" in app.texts()

    say(app, "And now?")

    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    assert app.model.requests[-1].input_tokens < active.compaction.before_tokens
    assert "do not fit" not in app.texts()


def test_a_built_in_model_that_cannot_run_says_why_and_what_else_there_is(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = LocalModelStatus(available=False, reason=LocalModelProblem.PROCESSOR(flags=("avx2",)))
    monkeypatch.setattr(model_picker, "local_model_status", lambda: status)
    app.engine.create_session("Chat", model=LOCAL_MODEL)
    app.run()

    said = app.at.warning[0].value
    assert "this processor lacks avx2" in said
    assert "API key" in said
    assert "server by its address" in said


def test_an_interrupted_turn_shows_what_had_come(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    store, counter = app.engine.store, app.engine.call_target(session.id).call.counter
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    store.begin_turn(
        session.id,
        "t1",
        [text_message("user", "Hello")],
        counter=counter,
        at=long_ago,
        lease_until=long_ago,
    )
    store.save_partial(session.id, "t1", "Half an ans", lease_until=long_ago)
    app.engine.interrupt_stale_turns()
    app.run()

    assert "Half an ans" in app.texts()
    assert translate("chat.ended.interrupted", "en") in app.texts()
    app.at.button(key="chat_retry").click().run()
    app.check()
    assert "You said: Hello" in app.texts()


FAR = holder_text(Holder(host="far-away", space="another", pid=77, started="1"))


def begin_elsewhere(app: Dashboard, session_id: str, holder: str) -> None:
    """A turn that a process runs beside the dashboard."""
    store, counter = app.engine.store, app.engine.call_target(session_id).call.counter
    now = datetime.now(UTC)
    store.begin_turn(
        session_id,
        "t1",
        [text_message("user", "Hello")],
        counter=counter,
        at=now,
        lease_until=now + timedelta(hours=1),
        claim=Claim(holder=holder),
    )


@pytest.mark.parametrize("language", languages())
def test_a_turn_of_another_host_is_told_and_can_be_ended(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    session = app.engine.create_session("Chat")
    begin_elsewhere(app, session.id, FAR)
    app.run()
    told = translate("chat.elsewhere", language, pid=77, host="far-away")
    assert told in app.texts().replace("\\", "")  # the name of a host is no markdown
    stamp = app.engine.session_stamp(session.id)
    assert not has_changed(session.id, stamp)

    app.at.button(key="chat_take_over").click().run()
    app.check()

    assert translate("chat.ended.interrupted", language) in app.texts()
    app.at.button(key="chat_retry").click().run()
    app.check()
    assert "You said: Hello" in app.texts()


def test_a_turn_of_a_process_that_has_ended_is_interrupted_when_it_is_looked_at(
    app: Dashboard,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    own = parse_holder(this_process())
    assert own is not None
    session = app.engine.create_session("Chat")
    app.run()
    begin_elsewhere(app, session.id, holder_text(replace(own, pid=ended.pid)))
    assert has_changed(session.id, app.engine.session_stamp(session.id))

    app.run()

    assert translate("chat.ended.interrupted", "en") in app.texts()
    assert app.engine.store.leases() == []


def test_what_is_recalled_is_shown_and_neither_stored_nor_sent(app: Dashboard) -> None:
    session = long_session(app)
    app.engine.append(session.id, [{"role": "user", "content": "The ferry to Orust *sails*"}])
    app.run()

    say(app, "/recall ferries of Orust")

    assert app.at.button(key="chat_recall_open_25").label.startswith("#25 · user")
    assert "The ferry to Orust *sails*" in [text.value for text in app.at.text]
    assert app.engine.session(session.id).length == 25
    assert not app.model.requests
    app.at.button(key="chat_recall_dismiss").click().run()
    app.check()
    assert not [button for button in app.at.button if button.key == "chat_recall_dismiss"]


@pytest.mark.parametrize("language", languages())
def test_that_nothing_was_recalled_is_told(app: Dashboard, language: Language) -> None:
    app.engine.store.save_setting("language:local", language)
    long_session(app)
    app.run()

    say(app, "/recall whales")

    told = translate("chat.recall.none", language).format(words="whales")
    assert told in [caption.value for caption in app.at.caption]


@pytest.mark.parametrize("text", ["/recall", "/RECALL  "])
def test_recall_without_words_is_explained_and_not_sent(app: Dashboard, text: str) -> None:
    long_session(app)
    app.run()

    say(app, text)

    assert "Type words to look for behind /recall" in app.at.error[0].value
    assert not app.model.requests


def test_a_message_that_was_found_is_opened_until_one_goes_back(app: Dashboard) -> None:
    session = long_session(app, turns=60)
    app.run()
    say(app, "/recall question 7")

    app.at.button(key="chat_recall_open_16").click().run()
    app.check()

    shown = menus(app)
    assert (shown[0], shown[-1]) == (1, 16)
    assert not [button for button in app.at.button if button.key == "chat_recall_dismiss"]
    told = translate("chat.opened", "en").format(seq=16, count=120)
    assert told in [caption.value for caption in app.at.caption]
    app.at.button(key="chat_newer").click().run()
    app.check()
    assert menus(app)[-1] == 26
    app.at.button(key="chat_newest").click().run()
    app.check()
    assert menus(app)[-1] == session_length(app, session)
    assert app.at.button(key="chat_recall_dismiss")


def test_saying_something_goes_back_to_the_newest_messages(app: Dashboard) -> None:
    session = long_session(app, turns=60)
    app.run()
    say(app, "/recall question 7")
    app.at.button(key="chat_recall_open_16").click().run()

    say(app, "And now?")

    assert menus(app)[-1] == session_length(app, session) == 122
    assert not [button for button in app.at.button if button.key == "chat_recall_dismiss"]


def test_an_address_opens_a_message(app: Dashboard) -> None:
    session = long_session(app, turns=60)
    app.at.query_params["session"] = session.id
    app.at.query_params["m"] = "30"

    app.run()

    assert menus(app)[-1] == 30
    told = translate("chat.found", "en", seq=30)
    assert f":material/target: {told}" in [caption.value for caption in app.at.caption]
    app.at.button(key="chat_newest").click().run()
    app.check()
    assert "m" not in app.at.query_params
    assert menus(app)[-1] == session_length(app, session)


@pytest.mark.parametrize("language", languages())
def test_the_menu_of_a_message_tells_what_became_of_it(app: Dashboard, language: Language) -> None:
    app.engine.store.save_setting("language:local", language)
    session = app.engine.create_session("Ferry")
    for number in range(30):
        list(app.engine.chat(session.id, f"Question {number}: " + "and what about it? " * 20))
    app.engine.wait(session.id)
    assert app.engine.compactions(session.id)
    app.at.query_params["session"] = session.id
    app.at.query_params["m"] = "4"
    app.run()
    assert translate("story", language, seq="4") in [one.label for one in app.at.expander]

    app.at.session_state[f"chat_story_{session.id}_4"] = True
    app.run()
    app.check()

    story = app.engine.story(session.id, 4)
    first = next(step for step in story.steps if not step.is_shown)
    told = translate(
        "story.hidden", language, call=f"{first.call:,}", needed=f"{len(story.uses):,}"
    )
    assert told in app.texts()
    table = next(one.value for one in app.at.dataframe)
    assert list(table[translate("usage.call", language)]) == [step.call for step in story.steps]
    chain = next(text.value for text in app.at.markdown if " → " in text.value)
    assert chain.startswith(translate("story.chain.said", language, seq="4"))
    assert f"{first.call:,}" in chain

    key = f"story_{session.id}_4"
    app.at.button(key=f"{key}_pin").click().run()
    app.check()
    assert [mark.seq for mark in app.engine.store.marks(session.id)] == [4]
    app.at.button(key=f"{key}_start").click().run()
    assert app.engine.jobs.wait(app.at.session_state[f"{key}_fates"], HANG_SECONDS)
    app.run()
    policy = translate("story.presets.policy", language)
    (fates,) = [one.value for one in app.at.dataframe if policy in one.value]
    assert len(fates) == len(Policy.presets())


def test_a_preset_of_the_story_is_tried_in_the_session_and_undone(app: Dashboard) -> None:
    session = long_session(app)
    scope = Scope(kind="session", owner=session.id)
    app.engine.save_policy(scope, {"reserve_tokens": 300})
    list(app.engine.chat(session.id, "And now?"))
    app.at.query_params["session"] = session.id
    app.at.query_params["m"] = "2"
    app.at.query_params["why"] = "1"
    app.run()
    assert "why" not in app.at.query_params
    key = f"story_{session.id}_2"
    app.at.button(key=f"{key}_start").click().run()
    assert app.engine.jobs.wait(app.at.session_state[f"{key}_fates"], HANG_SECONDS)
    app.run()
    chosen = app.engine.fates(session.id, 2)[1].name
    app.open_row(f"{key}_presets", chosen)
    assert policies_in_force(app) == ["default"]
    asked = [one.proto.query_string for one in app.at.get("page_link")]
    assert f"session={session.id}&try={chosen}" in asked

    app.at.button(key=f"{key}_apply").click().run()
    app.check()
    assert policies_in_force(app) == [chosen]
    assert not [one for one in app.at.button if one.key == f"{key}_apply"]
    assert app.engine.policy(session.id).policy.name == chosen
    assert app.engine.policy(session.id).policy.reserve_tokens == 300

    undo = f"story_{session.id}_undo"
    app.at.button(key=undo).click().run()
    app.check()
    assert policies_in_force(app) == ["default"]
    assert app.engine.policy(session.id).policy.name == "default"
    stored = app.engine.store.policy(scope)
    assert stored is not None
    assert stored.overrides == {"reserve_tokens": 300}

    app.at.button(key=f"{key}_apply").click().run()
    app.engine.save_policy(scope, {"reserve_tokens": 500})
    app.at.button(key=undo).click().run()
    assert app.engine.policy(session.id).policy.reserve_tokens == 500
    assert "Not undone" in app.texts()
    assert not [one for one in app.at.button if one.key == undo]


def policies_in_force(app: Dashboard) -> list[str]:
    """The policies that the table of a story names as in force."""
    column, mark = (
        translate("story.presets.policy", "en"),
        translate("story.presets.in_force", "en", name=""),
    )
    (fates,) = [one.value for one in app.at.dataframe if column in one.value]
    return [name.removesuffix(mark) for name in fates[column] if name.endswith(mark)]


def test_another_session_is_shown_from_its_end(app: Dashboard) -> None:
    session, other = long_session(app, turns=60), long_session(app, turns=60)
    app.at.query_params["session"] = session.id
    app.at.query_params["m"] = "30"
    app.run()

    app.at.selectbox(key="shell_session").set_value(other.id).run()
    app.check()

    assert "m" not in app.at.query_params
    assert menus(app)[-1] == session_length(app, other)


@pytest.mark.parametrize("wrong", ["0", "-3", "9999", "x", "1" * 40])
def test_an_address_of_no_message_shows_the_newest(app: Dashboard, wrong: str) -> None:
    session = long_session(app, turns=6)
    app.at.query_params["session"] = session.id
    app.at.query_params["m"] = wrong

    app.run()
    app.check()

    assert menus(app)[-1] == session_length(app, session)


def menus(app: Dashboard) -> list[int]:
    """The numbers of the messages that are shown, by their menus."""
    return [int(str(menu.key).rpartition("_")[2]) for menu in app.at.get("menu_button")]


def session_length(app: Dashboard, session: SessionInfo) -> int:
    return app.engine.session(session.id).length


def test_a_sentence_of_a_message_becomes_a_standing_rule(app: Dashboard) -> None:
    session = app.engine.create_session("Rules")
    said = ["The berth is booked under Nansen.", "Fine. The tug comes at noon."]
    app.engine.append(session.id, [{"role": "user", "content": text} for text in said])
    app.at.query_params["session"] = session.id
    app.run()

    app.at.menu_button(key="chat_menu_1").click("rule").run()
    app.at.menu_button(key="chat_menu_2").click("rule").run()
    app.check()
    offered = [app.at.button(key=f"chat_rule_{at}").label.replace("\\", "") for at in range(2)]
    app.at.button(key="chat_rule_1").click().run()
    app.check()

    assert offered == ["Fine.", "The tug comes at noon."]
    edits = [(edit.seq, edit.text) for edit in app.engine.rule_edits(session.id)]
    assert edits == [(1, said[0]), (2, "The tug comes at noon.")]


def test_of_a_long_message_the_beginning_is_drawn_and_the_rest_on_request(app: Dashboard) -> None:
    session = app.engine.create_session("Long")
    text = "".join(f"Line {number} of **many**.\n\n" for number in range(20_000))
    app.engine.append(session.id, [{"role": "user", "content": text}])
    app.run()

    assert "Line 0 of **many**." in app.texts()
    assert "Line 1999 of" not in app.texts()
    app.at.toggle(key="chat_words_1").set_value(True).run()
    app.check()
    rest = max((code.value for code in app.at.code), key=len)
    assert "Line 1999 of **many**." in rest
    assert len(rest) == MOST_REST_CHARS


@pytest.mark.parametrize("text", [">" * 20_000, "1. " * 5_000 + "a"], ids=["quotes", "lists"])
def test_what_overflows_a_browser_is_drawn_as_plain_text(app: Dashboard, text: str) -> None:
    session = app.engine.create_session("Deep")
    app.engine.append(session.id, [{"role": "user", "content": text}])
    app.run()

    assert any(code.value == text for code in app.at.code)
    assert text not in app.texts()
