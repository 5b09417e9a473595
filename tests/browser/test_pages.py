"""The other pages in a real browser: settings that take effect, files in and out, deep links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ctxcore.messages.values import JsonObject
from ctxcore.store.values import Scope, SessionInfo
from dashboard.page_registry import PAGES
from tests.browser.conftest import Server
from tests.browser.test_chat import open_details
from tests.small_transcript import claude_code_lines

pytestmark = pytest.mark.browser

ROW_PIXELS = 35  # of a table; chosen by Streamlit
IS_IDLE = '[data-test-script-state="notRunning"]'


def open_page(page: Page, server: Server, name: str, session: SessionInfo) -> None:
    page.goto(f"{server.url}/{name}?session={session.id}")
    page.get_by_test_id("stSidebarNavLink").first.wait_for()
    page.wait_for_selector(IS_IDLE)


def small_session(server: Server, title: str = "Small") -> SessionInfo:
    session = server.engine.create_session(title)
    said: list[JsonObject] = [
        {"role": "user", "content": "Where is the key?"},
        {"role": "assistant", "content": "Under the mat."},
    ]
    server.engine.append(session.id, said)
    return session


def long_session(server: Server) -> SessionInfo:
    session = server.engine.create_session("Long")
    said: list[JsonObject] = []
    for number in range(12):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    server.engine.append(session.id, said)
    return session


@pytest.mark.parametrize("name", ["context", "usage", "compaction", "sessions", "settings"])
def test_a_deep_link_shows_the_page_in_its_shell(page: Page, server: Server, name: str) -> None:
    session = small_session(server, f"Deep {name}")
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)

    open_page(page, server, name, session)

    assert not missing
    expect(page.get_by_role("heading", level=1)).to_have_text(name.capitalize())
    expect(page.locator(".st-key-shell_session input")).to_have_value(f"Deep {name}")
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(len(list(PAGES.values())))


def test_a_row_opens_by_a_click_and_by_the_arrow_keys(page: Page, server: Server) -> None:
    oldest, *_ = [small_session(server, f"Row {number}") for number in (3, 2, 1)]
    open_page(page, server, "sessions", oldest)
    page.locator(".st-key-sessions_filter input").fill("Row ")
    page.locator(".st-key-sessions_filter input").press("Enter")
    grid = page.get_by_test_id("data-grid-canvas").first
    title = page.locator(".st-key-sessions_chosen strong").first
    expect(title).to_have_text("Row 3")
    expect(grid.locator("table")).to_have_attribute("aria-rowcount", "4")

    box = grid.bounding_box()
    assert box is not None
    row = box["height"] / 4
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 1.5 * row)
    expect(title).to_have_text("Row 1")
    page.wait_for_selector(IS_IDLE)
    page.keyboard.press("ArrowDown")
    expect(title).to_have_text("Row 2")
    page.wait_for_selector(IS_IDLE)

    page.keyboard.press("ArrowDown")
    expect(title).to_have_text("Row 3")


def test_a_threshold_moves_the_trigger_of_the_chat_page(page: Page, server: Server) -> None:
    session = small_session(server)
    open_page(page, server, "settings", session)
    page.locator(".st-key-settings_scope").get_by_text("This session").click()
    expect(page.get_by_text("Applies to “Small” only.")).to_be_visible()

    key = f"settings_main_session_{session.id}__trigger_ratio"
    page.locator(f".st-key-{key} input").fill("50")
    page.locator(".st-key-settings_save button").click()
    context = server.engine.context(session.id)
    budget = context.budget
    assert budget is not None
    # Calls of other tests may have taught the counter a factor: half of what is usable *now*.
    half, usable = budget.usable_tokens // 2, budget.usable_tokens
    expect(page.get_by_text(f"compacts at {half:,} of {usable:,} usable")).to_be_visible()
    page.get_by_test_id("stSidebarNavLink").first.click()

    page.locator(".ctx-strip-words").wait_for()
    open_details(page)
    expect(page.get_by_text(f"~{half - context.tokens:,} tokens until")).to_be_visible()
    saved = server.engine.store.policy(Scope(kind="session", owner=session.id))
    assert saved is not None
    assert saved.overrides == {"trigger_ratio": 0.5}


def test_a_transcript_is_imported_and_leads_to_its_account(
    page: Page, server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "small.jsonl"
    file.write_text(claude_code_lines(), encoding="utf-8")
    open_page(page, server, "sessions", small_session(server))
    page.locator(".st-key-sessions_view").get_by_text("Import").click()

    page.locator("input[type=file]").set_input_files(file)
    page.locator(".st-key-sessions_import_start button").click()
    expect(page.get_by_text("Imported 1.")).to_be_visible()
    page.get_by_test_id("stMain").get_by_role("link", name="Usage").click()

    expect(page.get_by_role("heading", name="Where the tokens go")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    expect(page.locator(".st-key-usage_figures")).to_contain_text("$0.034")
    expect(page.get_by_role("figure", name="Where the tokens go")).to_be_visible()


def test_an_export_is_downloaded_and_can_be_imported_again(
    page: Page, server: Server, tmp_path: Path
) -> None:
    session = small_session(server, "Key")
    open_page(page, server, "sessions", session)

    with page.expect_download() as waiting:
        page.locator(".st-key-sessions_export_file button").first.click()
    file = tmp_path / "key.jsonl"
    waiting.value.save_as(file)

    assert waiting.value.suggested_filename == "Key.jsonl"
    (again,) = server.engine.import_(file.read_text(encoding="utf-8"))
    assert server.engine.digest(again.id) == server.engine.digest(session.id)


def test_a_compaction_is_made_undone_and_redone_by_keyboard(page: Page, server: Server) -> None:
    session = long_session(server)
    open_page(page, server, "compaction", session)

    page.locator(".st-key-compaction_compact button").wait_for()

    page.keyboard.press("Control+k")
    page.locator(".st-key-compact_confirm button").press("Enter")
    expect(page.get_by_role("heading", name="Compaction 1")).to_be_visible()
    assert server.engine.session(session.id).active_compaction_id is not None

    page.locator(".st-key-compaction_undo button").first.press("Enter")
    expect(page.locator(".st-key-compaction_redo button").first).to_be_enabled()
    assert server.engine.session(session.id).active_compaction_id is None

    page.locator(".st-key-compaction_redo button").first.press("Enter")
    expect(page.locator(".st-key-compaction_undo button").first).to_be_enabled()
    assert server.engine.session(session.id).active_compaction_id is not None


def test_switching_the_language_keeps_page_and_session(page: Page, server: Server) -> None:
    session = small_session(server, "Sprache")
    open_page(page, server, "settings", session)
    page.locator(".st-key-settings_view").get_by_text("Language").click()
    try:
        page.locator(".st-key-settings_language").get_by_text("中文").click()

        expect(page.get_by_role("heading", level=1)).to_have_text("设置")
        expect(page.locator(".st-key-shell_session input")).to_have_value("Sprache")
        expect(page.get_by_test_id("stSidebarNavLink").first).to_contain_text("对话")
    finally:
        server.engine.store.save_setting("language:local", None)


def test_a_way_to_compact_is_chosen_by_a_click_in_its_row(page: Page, server: Server) -> None:
    session = long_session(server)
    open_page(page, server, "compaction", session)
    page.locator(".st-key-compaction_compact button").click()
    page.get_by_text("Presets and strategies side by side").click()
    dialog = page.get_by_role("dialog")
    grid = dialog.get_by_test_id("data-grid-canvas").first
    rows = server.engine.compare_compactions(session.id)
    expect(grid.locator("table")).to_have_attribute("aria-rowcount", str(len(rows) + 1))
    chosen = next(at for at, row in enumerate(rows[1:6], start=1) if row.effect)

    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 3, box["y"] + (chosen + 1.5) * ROW_PIXELS)

    name = rows[chosen].alternative.name
    expect(dialog.get_by_text(f"Proposed by: Preset {name}")).to_be_visible()
    effect = rows[chosen].effect
    assert effect is not None
    expect(dialog.get_by_text(f"≈{effect.with_tokens:,}").first).to_be_visible()
    page.locator(".st-key-compact_confirm button").click()
    expect(dialog).to_have_count(0)
    [made] = server.engine.compactions(session.id)
    assert made.details["way"] == f"preset:{name}"


def test_a_wrong_rule_is_dismissed_and_undone_by_a_click_each(page: Page, server: Server) -> None:
    session = server.engine.create_session("Rules")
    server.engine.append(session.id, [{"role": "user", "content": "Never call before nine."}])
    open_page(page, server, "context", session)

    page.locator(".st-key-context_rule_dismiss_0 button").first.click()
    expect(page.locator(".st-key-context_rule_dismiss_0")).to_have_count(0)
    [edit] = server.engine.rule_edits(session.id)
    page.get_by_text("Added and dismissed by people: 1").click()
    page.locator(f".st-key-context_rule_undo_{edit.id} button").click()

    expect(page.locator(".st-key-context_rule_dismiss_0")).to_have_count(1)
    assert server.engine.rule_edits(session.id) == []
