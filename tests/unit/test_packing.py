"""What a wheel packs: all of the dashboard in the checkout, and nothing of a user."""

from __future__ import annotations

from pathlib import Path

from dashboard.demos import demos
from dashboard.page_registry import PAGES
from hatch_build import PACKED

ROOT = Path(__file__).resolve().parents[2]


def test_everything_packed_is_there() -> None:
    assert all((ROOT / path).exists() for path in PACKED)


def test_app_pages_settings_and_demo_sessions_are_packed() -> None:
    packed = {ROOT / path for path in PACKED}

    assert {ROOT / "app.py", ROOT / "dashboard", ROOT / ".streamlit" / "config.toml"} <= packed
    assert {page.file.parent for page in PAGES.values()} <= packed
    assert all({demo.path, *demo.path.parents} & packed for demo in demos())


def test_no_database_of_a_user_is_packed() -> None:
    assert ROOT / "data" not in {ROOT / path for path in PACKED}
