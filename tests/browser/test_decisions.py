"""Compactions that ask first, or run behind the page, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore.messages.values import JsonObject
from ctxcore.store.values import Scope, SessionInfo
from tests.browser.conftest import Server, fresh_page
from tests.browser.test_chat import IS_IDLE, open_session, press, say
from tests.losing_sessions import ticket_session

pytestmark = pytest.mark.browser


def full_session(server: Server, preset: str) -> SessionInfo:
    """A session above its trigger, whose summaries take their time."""
    session = server.engine.create_session(f"Full {preset}")
    said: list[JsonObject] = []
    for number in range(13):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    server.engine.append(session.id, said)
    policy: JsonObject = {"name": preset, "summary_model": "scripted/summaries"}
    server.engine.save_policy(Scope(kind="session", owner=session.id), policy)
    return session


def test_a_question_survives_a_reload_and_is_answered_by_keyboard(
    page: Page, server: Server
) -> None:
    session = full_session(server, "pi")
    open_session(page, server, session)
    say(page, "Where do we go?")
    page.locator(".st-key-chat_question").wait_for()

    page.reload()
    page.locator(".st-key-chat_question").wait_for()
    page.wait_for_selector(IS_IDLE)
    page.locator(".st-key-chat_answer_compact button:visible").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-chat_answer_drop_oldest button:visible")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")

    expect(page.locator(".st-key-chat_log")).to_contain_text("Compacting…")
    expect(page.locator(".st-key-chat_log")).to_contain_text("You said: Where do we go?")
    expect(page.locator(".st-key-chat_question")).to_have_count(0)
    assert server.engine.store.active_compaction(session.id) is not None


def test_a_new_session_opens_where_the_question_is_answered(page: Page, server: Server) -> None:
    session = full_session(server, "pi")
    open_session(page, server, session)
    say(page, "Where do we go?")
    page.locator(".st-key-chat_answer_new_session button:visible").click()

    expect(page.locator(".st-key-chat_log")).to_contain_text("You said: Where do we go?")
    assert session.id not in page.url
    open_session(page, server, session)
    page.locator(".st-key-chat_moved button").click()
    expect(page.locator(".st-key-chat_log")).to_contain_text("You said: Where do we go?")


def test_a_background_compaction_lets_a_person_go_on_and_redraws_the_page(
    browser: Browser, server: Server
) -> None:
    session = full_session(server, "default")
    with fresh_page(browser, locale="zh-CN", color_scheme="dark") as page:
        open_session(page, server, session)
        say(page, "Where do we go?")

        expect(page.get_by_text("正在后台压缩")).to_be_visible()
        expect(page.locator(".st-key-chat_ask textarea")).to_be_enabled()
        expect(page.get_by_text("在此压缩").first).to_be_attached()
        expect(page.get_by_text("正在后台压缩")).to_have_count(0)


def test_the_typed_command_opens_the_dialog(page: Page, server: Server) -> None:
    session = full_session(server, "default")
    open_session(page, server, session)

    say(page, "/compact")

    page.get_by_role("dialog").wait_for()
    assert server.engine.session(session.id).length == 26


def test_a_pin_in_the_dialog_works_the_proposal_out_again(page: Page, server: Server) -> None:
    """A toast from there took the place of the whole page."""
    session = server.engine.session(ticket_session(server.engine))
    open_session(page, server, session)
    say(page, "/compact")
    dialog = page.get_by_role("dialog")
    dialog.locator(".st-key-compact_lost summary").click()
    dialog.get_by_test_id("stDataFrame").wait_for()

    press(page, dialog.get_by_role("button", name="Pin message"))

    expect(dialog.get_by_text("is pinned. Every context contains it")).to_be_visible()
    expect(dialog.get_by_role("button", name="Confirm")).to_be_enabled()
    assert [mark.kind for mark in server.engine.store.marks(session.id)] == ["pin"]
    expect(page.get_by_text("The proposal was updated.")).to_be_visible()
    expect(dialog.get_by_role("button", name=re.compile("Pin message"))).to_be_visible()

    press(page, dialog.get_by_role("button", name="Unpin message"))

    expect(dialog.get_by_text("may be shortened and folded again")).to_be_visible()
    expect(dialog.get_by_role("button", name="Confirm")).to_be_enabled()
    assert server.engine.store.marks(session.id) == []
