"""The Lab's live request: the price before anything is sent, both answers, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.live_trials import LIVE_ANSWERS, LIVE_OFFER
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import ToolCall
from tests.dashboard_app import MODEL, WINDOW_TOKENS, Dashboard, open_dashboard, talked
from tests.limits import HANG_SECONDS

QUESTION = "Which question was the first?"
SEND, PRICE = "lab_live_send", "lab_live_price"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    replies = [
        ScriptedReply(text="Question 0. ![x](http://a.example/x.png)"),
        ScriptedReply(text="I see", calls=(ToolCall(id="c", name="find", arguments='{"id": 7}'),)),
    ]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as opened:
        yield opened


def ask(app: Dashboard, second: str, *, turns: int = 12) -> None:
    """Opens the page on a session and asks for the price under today's and a second policy."""
    session = talked(app, "Questions", turns=turns)
    app.run()
    app.go("lab")
    app.at.selectbox(key="lab_live_session").set_value(session.id)
    app.at.text_area(key="lab_live_question").set_value(QUESTION)
    app.at.selectbox(key="lab_live_second").set_value(second)
    app.at.button(key=PRICE).click()
    app.run()
    end_jobs(app, LIVE_OFFER)


def send(app: Dashboard) -> None:
    app.at.button(key=SEND).click()
    app.run()
    end_jobs(app, LIVE_ANSWERS)


def end_jobs(app: Dashboard, kind: str) -> None:
    """Waits for the jobs of a kind, and draws the page."""
    for job in app.engine.jobs.recent(kind):
        assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    app.run()


def has_button(app: Dashboard, key: str) -> bool:
    return any(one.key == key for one in app.at.button)


@pytest.mark.parametrize(
    ("language", "unknown", "both"),
    [("en", "price of scripted", "Send both"), ("zh", "的价格未知", "两个都发送")],
)
def test_the_price_comes_first_and_both_answers_stand_side_by_side(
    app: Dashboard, language: str, unknown: str, both: str
) -> None:
    app.run()
    app.at.sidebar.selectbox(key="shell_language").set_value(language)
    ask(app, "last-messages=20")

    assert not len(app.model.requests)
    assert unknown in app.texts()
    assert app.at.button(key=SEND).label == both
    send(app)

    assert len(app.model.requests) == 2
    assert "Question 0." in app.texts()
    assert "![x]" not in app.texts()  # an image would be loaded from elsewhere
    assert '{"id": 7}' in [one.value for one in app.at.code]
    assert not app.at.error


def test_the_price_is_shown_where_it_is_known(app: Dashboard) -> None:
    app.run()
    prices = {"input_price": 1e-5, "output_price": 1e-5}
    limits = {"window_tokens": WINDOW_TOKENS, "max_output_tokens": 200}
    save_figures(app.engine.store, MODEL, {**limits, **prices})
    ask(app, "pi")

    costs = [one.value for one in app.at.metric if one.value.startswith("$")]
    assert len(costs) == 2
    assert "together at most" in app.texts()


def test_a_side_that_cannot_fit_is_said_before_and_only_the_other_is_sent(app: Dashboard) -> None:
    ask(app, "none", turns=40)

    assert any("Nothing can be sent" in one.value for one in app.at.warning)
    assert app.at.button(key=SEND).label == "Send the one that fits"
    send(app)

    assert len(app.model.requests) == 1
    assert "Not sent, because it did not fit." in app.texts()


def test_equal_sides_are_said_before_they_are_paid_for(app: Dashboard) -> None:
    ask(app, "none", turns=2)

    assert any("exactly the same" in one.value for one in app.at.info)


def test_a_question_can_be_sent_again_and_is_deleted_with_its_answers(app: Dashboard) -> None:
    ask(app, "pi")
    send(app)
    send(app)

    assert len(app.model.requests) == 4
    app.at.button(key="lab_live_delete").click()
    app.run()
    assert app.engine.jobs.recent() == []
    assert not has_button(app, SEND)


def test_a_question_without_words_is_refused(app: Dashboard) -> None:
    ask(app, "pi")
    app.at.text_area(key="lab_live_question").set_value(" ")
    app.at.button(key=PRICE).click()
    at = app.run()

    assert any("no question" in one.value for one in at.error)
    assert len(app.engine.jobs.recent(LIVE_OFFER)) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_sessions_there_is_no_form(app: Dashboard, language: str) -> None:
    app.run()
    app.at.sidebar.selectbox(key="shell_language").set_value(language)
    app.run()
    app.go("lab")

    assert not has_button(app, PRICE)
