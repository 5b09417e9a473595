"""The tours of docs/tour.md in a real browser, each within its clicks; `make screenshots` keeps the
pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.store.values import Scope, SessionInfo
from dashboard.demos import demos, prepare_readers
from tests.browser.conftest import Server, fresh_page
from tests.browser.tours import Tour
from tests.limits import BROWSER_SECONDS
from tests.tour_transcripts import write_transcripts

pytestmark = pytest.mark.browser

SCREEN = {"width": 1440, "height": 900}


@pytest.fixture
def screen(browser: Browser) -> Iterator[Page]:
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
    tour.shot()
    tour.end()


def forgetful_session(server: Server) -> SessionInfo:
    """The coding demo under a policy that forgets, with a complaint about it at its end."""
    prepare_readers()
    engine = ContextEngine(server.engine.store, gateway=LiteLLMGateway())
    demo = next(one for one in demos() if one.file == "quiet_hours.json")
    (session,) = engine.import_(demo.path.read_text(encoding="utf-8"), name=demo.file)
    engine.set_model(session.id, "scripted/reader-8k")
    engine.save_policy(Scope(kind="session", owner=session.id), {"name": "sliding-summary"})
    for question in ("Which rules did I set?", "What is the batch size?"):
        for _ in engine.chat(session.id, question):
            pass
    engine.wait(session.id)
    return engine.session(session.id)
