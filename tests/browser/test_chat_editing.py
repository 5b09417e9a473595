"""Editing a message and the system prompt in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server
from tests.browser.test_chat import IS_IDLE, open_details, open_session, say

pytestmark = pytest.mark.browser

LOG = ".st-key-chat_log"


def test_an_edited_message_is_answered_beside_the_first_one(page: Page, server: Server) -> None:
    session = server.engine.create_session("Edited")
    open_session(page, server, session)
    say(page, "How far is the moon?")
    expect(page.locator(LOG)).to_contain_text("You said: How far is the moon?")

    page.wait_for_selector(IS_IDLE)
    page.locator(".st-key-chat_menu_1 button").first.click()
    page.get_by_text("Edit and send again").first.click()
    page.locator(".st-key-chat_edit_text textarea").fill("How far is the sun?")
    page.locator(".st-key-chat_edit_text textarea").blur()
    page.locator(".st-key-chat_edit_send button").click()

    expect(page.locator(LOG)).to_contain_text("You said: How far is the sun?")
    expect(page.locator(".st-key-chat_parting_1")).to_contain_text("2 of 2")
    back = page.locator(".st-key-chat_previous_1 button")
    back.focus()
    back.press("Enter")
    expect(page.locator(".st-key-chat_parting_1")).to_contain_text("1 of 2")
    expect(page.locator(LOG)).to_contain_text("You said: How far is the moon?")
    assert server.engine.session(session.id).length == 2


def test_a_system_prompt_is_written_and_taken_back(page: Page, server: Server) -> None:
    session = server.engine.create_session("Instructed", system="Be brief.")
    open_session(page, server, session)

    open_details(page)
    page.locator(".st-key-instructions_open button").click()
    field = page.locator(".st-key-instructions_system textarea")
    expect(field).to_have_value("Be brief.")
    field.fill("Be long.")
    field.blur()
    page.locator(".st-key-instructions_save button").click()
    prompts = page.locator("summary").get_by_text("System prompt", exact=True)  # in the log
    expect(prompts).to_have_count(2)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert server.engine.system(session.id) == "Be long."

    open_details(page)
    page.locator(".st-key-instructions_open button").click()
    page.locator(".st-key-instructions_versions summary").click()
    page.locator(".st-key-instructions_back_0 button").click()

    expect(prompts).to_have_count(3)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert server.engine.system(session.id) == "Be brief."
