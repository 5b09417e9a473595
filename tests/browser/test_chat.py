"""The chat page in a real browser: what only a browser can show."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from ctxcore.messages.values import JsonObject
from ctxcore.store.values import SessionInfo
from tests.browser.conftest import ENDLESS_REPLY, LONG_REPLY, Server, fresh_page

pytestmark = pytest.mark.browser

IS_IDLE = '[data-test-script-state="notRunning"]'


def open_session(page: Page, server: Server, session: SessionInfo) -> None:
    page.goto(f"{server.url}/?session={session.id}")
    page.locator(".st-key-chat_ask textarea").wait_for()
    page.wait_for_selector(IS_IDLE)


def say(page: Page, text: str) -> None:
    field = page.locator(".st-key-chat_ask textarea")
    field.fill(text)
    # Enter does nothing while a file is still on its way.
    expect(page.get_by_test_id("stChatInputSubmitButton")).to_be_enabled()
    field.press("Enter")


def press(page: Page, button: Locator) -> None:
    """Presses a button by keyboard: a click misses what a table moves while it loads."""
    page.wait_for_selector(IS_IDLE)
    button.press("Enter")


def open_details(page: Page) -> None:
    page.wait_for_selector(IS_IDLE)
    page.get_by_test_id("stPopoverButton").filter(has_text="Details", visible=True).click()


def sidebar_link(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stSidebarNavItems").get_by_role("link", name=name)


def session_with(server: Server, model: str) -> SessionInfo:
    return server.engine.create_session("Slow", model=f"scripted/{model}")


def long_session(server: Server) -> SessionInfo:
    session = server.engine.create_session("Long")
    said: list[JsonObject] = []
    for number in range(12):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    server.engine.append(session.id, said)
    return session


def answer(server: Server, session: SessionInfo) -> str:
    return server.engine.store.messages(session.id)[-1].message.text


def test_an_answer_is_visible_before_its_end(page: Page, server: Server) -> None:
    session = session_with(server, "endless")
    open_session(page, server, session)

    say(page, "Go on")

    expect(page.locator(".st-key-chat_log")).to_contain_text("word20 ")
    assert server.engine.session(session.id).length == 1  # the answer is not stored yet
    expect(page.locator(".st-key-chat_suggest_first")).to_have_count(0)
    expect(page.locator(".st-key-chat_ask textarea")).to_be_disabled()
    page.locator(".st-key-chat_stop button").click()
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)


def test_the_address_of_the_chat_page_opens_it(page: Page, server: Server) -> None:
    session = server.engine.create_session("Found")

    page.goto(f"{server.url}/chat?session={session.id}")

    expect(page.locator(".st-key-chat_ask textarea")).to_be_visible()
    assert page.url == f"{server.url}/?session={session.id}"
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_nothing_stands_twice_beside_an_answer_after_an_error(page: Page, server: Server) -> None:
    session = session_with(server, "endless")
    server.engine.append(session.id, [{"role": "user", "content": "Hello"}])
    open_session(page, server, session)
    picture = FilePayload(name="cat.png", mimeType="image/png", buffer=b"\x89PNG\x00\xff")
    page.locator(".st-key-chat_ask input[type=file]").set_input_files(picture)
    expect(page.locator(".st-key-chat_ask")).to_contain_text("cat.png")
    say(page, "What is it?")
    expect(page.get_by_role("alert")).to_contain_text("cat.png")
    page.wait_for_selector(IS_IDLE)

    say(page, "Go on")
    expect(page.locator(".st-key-chat_log")).to_contain_text("word20 ")

    expect(page.get_by_role("alert")).to_have_count(0)
    for key in ("chat_log", "chat_menu_1", "chat_strip_bar", "chat_compact", "chat_details"):
        expect(page.locator(f".st-key-{key}")).to_have_count(1)
    page.locator(".st-key-chat_stop button").click()
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)


def test_the_strip_stands_once_when_nothing_is_left_out_any_more_while_a_turn_runs(
    page: Page, server: Server
) -> None:
    session = server.engine.create_session("Full", model="scripted/endless")
    said: list[JsonObject] = [
        {"role": "user", "content": f"Note {number}: " + "so it is. " * 60} for number in range(20)
    ]
    server.engine.append(session.id, said)  # more than fits, which the strip says
    open_session(page, server, session)
    strip = page.locator(".ctx-strip-words")
    expect(strip).to_contain_text("outside the window")

    say(page, "Go on")  # compacts first, and then nothing is left out

    expect(page.locator(".st-key-chat_log")).to_contain_text("word20 ")
    expect(strip).to_have_count(1)
    expect(strip).not_to_contain_text("outside the window")
    page.locator(".st-key-chat_stop button").click()
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)


def test_stop_keeps_the_answer_so_far(page: Page, server: Server) -> None:
    session = session_with(server, "endless")
    open_session(page, server, session)
    say(page, "Go on")
    expect(page.locator(".st-key-chat_log")).to_contain_text("word10 ")

    page.locator(".st-key-chat_stop button").click()

    expect(page.locator(".st-key-chat_log")).to_contain_text("Stopped.")
    kept = answer(server, session)
    assert kept.startswith("word0 word1 ")
    assert len(kept) < len(ENDLESS_REPLY)
    expect(page.locator(".st-key-chat_ask textarea")).to_be_enabled()


def test_a_page_switch_does_not_end_an_answer(page: Page, server: Server) -> None:
    session = session_with(server, "slow")
    open_session(page, server, session)
    say(page, "Go on")
    expect(page.locator(".st-key-chat_log")).to_contain_text("word5 ")

    sidebar_link(page, "Sessions").click()
    page.wait_for_url("**/sessions**")
    page.wait_for_selector(IS_IDLE)
    sidebar_link(page, "Chat").click()

    expect(page.locator(".st-key-chat_log")).to_contain_text("word299")
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)
    assert answer(server, session) == LONG_REPLY


def test_a_compaction_is_confirmed_and_taken_back_by_keyboard_and_mouse(
    page: Page, server: Server
) -> None:
    session = long_session(server)
    open_session(page, server, session)

    page.keyboard.press("Control+k")
    page.get_by_role("dialog").wait_for()
    page.locator(".st-key-compact_confirm button").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Compacted here").first).to_be_attached()
    assert server.engine.store.active_compaction(session.id) is not None

    open_details(page)
    page.locator(".st-key-chat_undo button").first.click()
    expect(page.get_by_text("Compacted here")).to_have_count(0)
    assert server.engine.store.active_compaction(session.id) is None


def test_escape_closes_the_dialog_and_changes_nothing(page: Page, server: Server) -> None:
    session = long_session(server)
    open_session(page, server, session)
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").wait_for()

    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert server.engine.store.active_compaction(session.id) is None


def test_no_request_leaves_the_origin(page: Page, server: Server) -> None:
    session = long_session(server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    open_session(page, server, session)
    say(page, "Hello")
    expect(page.locator(".st-key-chat_log")).to_contain_text("You said: Hello")

    own = (server.url, server.url.replace("http", "ws", 1), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []


@pytest.fixture
def sink() -> Iterator[tuple[str, list[str]]]:
    """A server that should never be asked for anything, and what it was asked for."""
    hits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    served = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}", hits
    served.shutdown()
    thread.join()
    served.server_close()


def test_an_image_in_an_answer_is_not_fetched(
    page: Page, server: Server, sink: tuple[str, list[str]]
) -> None:
    address, hits = sink
    session = server.engine.create_session("Image")
    server.engine.append(
        session.id,
        [
            {"role": "user", "content": "A picture?"},
            {"role": "assistant", "content": f"Here: ![cat]({address}/cat.png?q=secret)"},
        ],
    )

    open_session(page, server, session)

    expect(page.get_by_role("link", name="cat")).to_be_visible()
    assert page.locator(".st-key-chat_log img[src^=http]").count() == 0
    # Even an image that gets onto the page is refused by the policy of the page itself.
    refused = """address => new Promise(end => {
        const image = document.body.appendChild(new Image());
        image.onload = () => end(false);
        image.onerror = () => end(true);
        image.src = address;
    })"""
    assert page.evaluate(refused, f"{address}/direct.png") is True
    assert hits == []


def test_a_chinese_browser_gets_a_chinese_page_on_a_phone(browser: Browser, server: Server) -> None:
    phone: JsonObject = {"width": 390, "height": 844}
    with fresh_page(browser, viewport=phone, locale="zh-CN", color_scheme="dark") as page:
        open_session(page, server, long_session(server))

        expect(page.locator(".st-key-chat_compact button").first).to_contain_text("压缩")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_messages_that_overflow_a_markdown_parser_are_plain_text(
    page: Page, server: Server
) -> None:
    session = server.engine.create_session("Deep")
    texts = (">" * 20_000, "[" * 5_000, "1. " * 2_000 + "a")
    server.engine.append(session.id, [{"role": "user", "content": text} for text in texts])
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on("console", lambda told: broken.append(told.text) if told.type == "error" else None)

    open_session(page, server, session)

    expect(page.get_by_text("[" * 100)).to_be_visible()
    expect(page.get_by_text(">" * 100)).to_be_visible()
    assert not [text for text in broken if "call stack" in text]
    expect(page.get_by_test_id("stException")).to_have_count(0)
