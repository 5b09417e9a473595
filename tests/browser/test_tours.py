"""The tours of docs/tour.md in a real browser, each within its clicks; `make screenshots` keeps the
pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.scripted import ScriptedModel, echo
from ctxcore.store.values import Scope, SessionInfo
from tests.browser.conftest import Server, fresh_page
from tests.browser.tours import Tour, demo_session
from tests.engines import ended, quiet_litellm
from tests.histories import assistant, user
from tests.limits import BROWSER_SECONDS
from tests.tour_transcripts import write_transcripts

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCREEN = {"width": 1440, "height": 900}
USERS = 30
SUPPORT = Scope(kind="group", owner="support")


@pytest.fixture
def screen(browser: Browser) -> Iterator[Page]:
    quiet_litellm()  # the engines of the tests answer in this process
    with fresh_page(browser, viewport=SCREEN, locale="en-GB") as opened:
        yield opened


def test_a_folder_of_transcripts_to_its_three_largest_causes(
    screen: Page, server: Server, tmp_path: Path
) -> None:
    tour = Tour(page=screen, name="causes", most_clicks=5)
    tour.start(server.url)

    tour.go("Sessions")
    tour.click(screen.locator(".st-key-sessions_view").get_by_text("Import", exact=True))
    tour.upload(write_transcripts(tmp_path))
    expect(screen.locator(".st-key-sessions_import_start button")).to_be_visible()
    tour.shot()
    tour.click(screen.locator(".st-key-sessions_import_start button"))
    tour.click(screen.locator(".st-key-sessions_causes_find button"))

    for number in (1, 2, 3):
        expect(screen.locator(f".st-key-sessions_cause_{number}")).to_be_visible()
    expect(screen.locator(".st-key-sessions_cause_1")).to_contain_text("tokens")
    screen.locator(".st-key-sessions_cause_3").scroll_into_view_if_needed()
    tour.shot()
    tour.end()


def test_a_forgotten_fact_from_the_complaint_to_the_applied_policy(
    screen: Page, server: Server
) -> None:
    session = forgetful_session(server)
    tour = Tour(page=screen, name="forgotten", most_clicks=12)
    tour.start(f"{server.url}/?session={session.id}")
    expect(screen.get_by_text("I do not find that").last).to_be_visible()
    tour.shot()

    tour.go("Compaction")
    tour.type(screen.locator(".st-key-story_words input"), "batch size")
    start = screen.locator(f'[class*="st-key-story_{session.id}"][class*="_start"] button')
    expect(start).to_be_visible()
    start.scroll_into_view_if_needed()
    tour.shot()
    tour.click(start)
    presets = screen.locator(f'[class*="st-key-story_{session.id}"][class*="_presets_table"]')
    expect(presets).to_be_visible(timeout=BROWSER_SECONDS * 1_000)
    tour.click_row(presets, 1)  # the first is in force
    apply = screen.locator(f'[class*="st-key-story_{session.id}"][class*="_apply"] button')
    expect(apply).to_be_visible()
    apply.scroll_into_view_if_needed()
    tour.shot()
    tour.click(apply)
    expect(screen.locator(f'[class*="st-key-story_{session.id}"][class*="_undo"]')).to_be_visible()
    assert server.engine.policy(session.id).policy.name != "sliding-summary"

    tour.go("Chat")
    question = screen.locator('[data-testid="stChatInputTextArea"]')
    tour.type(question, "What is the batch size?")
    expect(screen.get_by_text("Found in messages recalled for this question.")).to_be_visible()
    expect(screen.get_by_text("It was 200").last).to_be_visible()
    expect(screen.locator(".st-key-chat_stop")).to_have_count(0)
    tour.settle()
    tour.shot()
    tour.end()


def test_thirty_users_on_a_policy_its_effect_its_revert_and_the_report_of_the_month(
    screen: Page, server: Server
) -> None:
    tour = Tour(page=screen, name="policy", most_clicks=15)
    with thirty_users(server) as talk:
        talk()
        tour.start(server.url)
        open_assigning(tour)
        choose(tour, ".st-key-settings_assign_who", "support")
        screen.keyboard.press("Escape")
        choose(tour, ".st-key-settings_assign_preset", "sliding summary")
        save = screen.locator(".st-key-settings_assign_save button")
        tour.click(save)
        expect(screen.locator(".st-key-settings_assign_undo")).to_be_visible()
        assert server.engine.store.policy(SUPPORT) is not None
        save.scroll_into_view_if_needed()
        tour.shot()
        talk()

    tour.go("Reports")
    tour.click(screen.locator(".st-key-reports_view").get_by_text("Effects of settings"))
    choose(tour, ".st-key-reports_effects_scope", "support")
    (effect,) = server.engine.reports.effects(SUPPORT)
    assert effect.is_told
    assert (effect.after.call_tokens or 0) < (effect.before.call_tokens or 0)
    card = screen.locator(f".st-key-reports_effect_{effect.change.version.id}")
    expect(card).to_contain_text("sliding summary")
    expect(card).not_to_contain_text("not yet")
    table = card.get_by_test_id("data-grid-canvas").first
    expect(table).to_contain_text(str(effect.before.calls))
    expect(table).to_contain_text(str(effect.after.calls))
    tour.shot()

    open_assigning(tour)
    tour.click(screen.locator(".st-key-settings_assign_undo button"))
    expect(screen.locator(".st-key-settings_assign_undo")).to_have_count(0)
    reverted = server.engine.store.policy(SUPPORT)
    assert reverted is not None
    assert reverted.overrides == {}
    tour.shot()

    tour.go("Reports")
    tour.click(screen.locator(".st-key-reports_view").get_by_text("Savings"))
    expect(screen.locator(".st-key-reports_savings_sums")).to_be_visible()
    tour.shot()
    with screen.expect_download() as download:
        tour.click(screen.locator(".st-key-reports_savings_csv button"))
    rows = csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines())
    mine = [row for row in rows if row["policy_version_id"] == str(effect.change.version.id)]
    assert len(mine) == USERS
    assert sum(int(row["calls"]) for row in mine) == effect.after.calls
    assert all(int(row["unsent_tokens"]) > 0 for row in mine)
    tour.end()


def open_assigning(tour: Tour) -> None:
    """Opens the view of who has what: two clicks."""
    tour.go("Settings")
    tour.click(tour.page.locator(".st-key-settings_view").get_by_text("Who has what"))


def choose(tour: Tour, field: str, text: str) -> None:
    """Opens a list with a click and takes what is found by typing."""
    entry = tour.page.locator(f"{field} input").first
    tour.click(entry)
    entry.fill(text)
    expect(tour.page.get_by_role("option").first).to_contain_text(text)
    entry.press("Enter")
    tour.settle()


@contextmanager
def thirty_users(server: Server) -> Iterator[Callable[[], None]]:
    """Thirty users of a group with a long session each; the call lets each ask twice."""
    store = server.engine.store
    model = ScriptedModel("support", otherwise=echo("Noted."))
    figures = {"window_tokens": 2_000, "input_price": 3e-6, "output_price": 15e-6}
    save_figures(store, model.model, figures)
    history = [
        message
        for order in range(8)
        for message in (
            user(f"What became of order {order}? " + "It was to come on Monday. " * 20),
            assistant(f"Order {order} was sent on Tuesday."),
        )
    ]
    sessions: list[tuple[ContextEngine, str]] = []
    for number in range(1, USERS + 1):
        name = f"agent-{number:02}"
        server.engine.create_user(name, name=f"Agent {number:02}", group=SUPPORT.owner)
        engine = ContextEngine(store, user_id=name, gateway=LiteLLMGateway(), model=model.model)
        session = engine.create_session(f"Orders {number:02}")
        engine.append(session.id, history)
        sessions.append((engine, session.id))

    def talk() -> None:
        for engine, session_id in sessions:
            for question in ("Which orders are late?", "And which were sent?"):
                assert ended(engine.chat(session_id, question)).error is None
                engine.wait(session_id)

    try:
        yield talk
    finally:
        model.remove()


def forgetful_session(server: Server) -> SessionInfo:
    """The coding demo under a policy that forgets, with a complaint about it at its end."""
    engine, session = demo_session(server, "quiet_hours.json", "scripted/reader-8k")
    engine.save_policy(Scope(kind="session", owner=session.id), {"name": "sliding-summary"})
    for question in ("Which rules did I set?", "What is the batch size?"):
        for _ in engine.chat(session.id, question):
            pass
    engine.wait(session.id)
    return engine.session(session.id)
