"""The chat page as a person sees and types it: what scrolls, the commands, a second tab."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, fresh_page
from tests.browser.test_chat import IS_IDLE, long_session, open_session, say, session_with

pytestmark = pytest.mark.browser

LONG_MESSAGES = 24
FIELD = ".st-key-chat_ask textarea"
SCREENS = ((1440, 900), (390, 844))
IN_SIGHT = """selector => {
    const { top, bottom, height } = document.querySelector(selector).getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
}"""
SCROLLS = "element => element.scrollHeight > element.clientHeight"


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_log_scrolls_and_the_page_does_not(
    browser: Browser, server: Server, width: int, height: int
) -> None:
    with fresh_page(browser, viewport={"width": width, "height": height}) as page:
        open_session(page, server, long_session(server))
        expect(page.locator(".ctx-strip-words")).to_contain_text("tokens")

        assert not page.get_by_test_id("stMain").evaluate(SCROLLS)
        assert page.locator(".st-key-chat_log").evaluate(SCROLLS)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for selector in (".ctx-strip-words", ".st-key-chat_compact", FIELD):
            assert page.evaluate(IN_SIGHT, selector), selector
        menu = page.locator(".st-key-chat_model_menu").get_by_role("button")
        expect(menu).to_have_count(1)  # the front end draws two and hides one from everybody


def test_a_command_is_chosen_by_keyboard_alone(page: Page, server: Server) -> None:
    session = long_session(server)
    server.engine.confirm(server.engine.propose(session.id))
    open_session(page, server, session)
    field = page.locator(FIELD)
    options = page.get_by_role("option")
    page.locator(".ctx-commands-button").wait_for()

    field.press_sequentially("/u")
    expect(options).to_have_count(2)
    expect(field).to_have_attribute("aria-activedescendant", "ctx-command-unpin")
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")

    expect(page.get_by_text("Compaction undone")).to_be_visible()
    expect(field).to_have_value("")
    assert server.engine.session(session.id).active_compaction_id is None

    field.press_sequentially("/rec")
    field.press("Tab")
    expect(field).to_have_value("/recall ")
    field.press_sequentially("Question 3")
    field.press("Enter")
    expect(page.locator(".st-key-chat_recall_dismiss")).to_be_attached()
    assert server.engine.session(session.id).length == LONG_MESSAGES


def test_escape_closes_the_list_and_a_path_does_not_open_it(page: Page, server: Server) -> None:
    open_session(page, server, long_session(server))
    field, commands = page.locator(FIELD), page.locator(".ctx-commands-list")
    page.locator(".ctx-commands-button").click()
    expect(commands).to_be_visible()
    expect(field).to_be_focused()

    field.press("Escape")

    expect(commands).to_be_hidden()
    field.fill("/etc")
    expect(commands).to_be_visible()
    field.press_sequentially("/hosts")
    expect(commands).to_be_hidden()


def test_the_strip_follows_an_answer_while_it_streams(page: Page, server: Server) -> None:
    session = session_with(server, "endless")
    open_session(page, server, session)

    say(page, "Go on")

    expect(page.locator(".st-key-chat_log")).to_contain_text("word20 ")
    words = page.locator(".ctx-strip-words")
    before = words.inner_text()
    expect(words).not_to_have_text(before)
    page.locator(".st-key-chat_stop button").click()
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)


def test_a_second_tab_shows_what_the_first_one_does(browser: Browser, server: Server) -> None:
    session = long_session(server)
    server.engine.set_model(session.id, "scripted/endless")
    with fresh_page(browser) as first, fresh_page(browser) as second:
        open_session(first, server, session)
        open_session(second, server, session)
        second.evaluate("document.body.dataset.mark = 'same page'")

        say(first, "Go on")

        expect(second.locator(".st-key-chat_log")).to_contain_text("word20 ")
        first.locator(".st-key-chat_stop button").click()
        expect(second.locator(".st-key-chat_stop")).to_have_count(0)
        second.wait_for_selector(IS_IDLE)
        expect(second.locator(".st-key-chat_log")).to_contain_text("Stopped.")

        server.engine.append(session.id, [{"role": "user", "content": "Written by a program"}])
        expect(second.locator(".st-key-chat_log")).to_contain_text("Written by a program")
        assert second.evaluate("document.body.dataset.mark") == "same page"


def test_details_of_a_message_show_where_the_keyboard_is(page: Page, server: Server) -> None:
    session = server.engine.create_session("Few")
    server.engine.append(session.id, [{"role": "user", "content": "Hello"}])
    open_session(page, server, session)
    about = page.get_by_test_id("stLayoutWrapper").filter(
        has=page.locator(":scope > .st-key-chat_about_1")
    )
    menu = page.locator(".st-key-chat_menu_1 button").first
    menu.wait_for(state="attached")
    expect(about).to_have_css("opacity", "0")

    menu.focus()

    expect(about).to_have_css("opacity", "1")
