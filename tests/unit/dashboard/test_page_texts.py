"""The words of the usage, compaction, sessions and settings pages, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from ctxcore.policy.values import Policy
from ctxcore.store.values import ScopeKind
from dashboard.settings.fields import FIELDS
from dashboard.settings.scopes import scope_names
from dashboard.texts import catalogue
from dashboard.wording import name_text

ROOT = Path(__file__).resolve().parents[3]
AREAS = ("context", "usage", "compaction", "sessions", "settings", "reports")
SOURCES = ("preset", "environment", "file", *get_args(ScopeKind), "call")
DECLARED = ("settings.field.", "settings.group.")
"""Begin texts whose English stands in the library."""
_FIXED = re.compile(r'"((?:context|usage|compaction|sessions|settings|reports)(?:\.[a-z_]+)+)"')


def _begins(key: str, known: Iterable[str]) -> bool:
    """Whether it is no key but what several begin with."""
    return any(one.startswith(f"{key}.") for one in known)


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("area", AREAS)
def test_both_languages_say_the_same_things(area: str) -> None:
    english, chinese = (
        {
            key: text
            for key, text in catalogue(code).items()
            if key.startswith(f"{area}.") and not key.startswith(DECLARED)
        }
        for code in ("en", "zh")
    )

    assert english.keys() == chinese.keys()
    assert {key: blanks(text) for key, text in english.items()} == {
        key: blanks(text) for key, text in chinese.items()
    }
    assert all(chinese.values())


def test_every_text_that_is_asked_for_exists() -> None:
    sources = [*ROOT.glob("dashboard/**/*.py"), *ROOT.glob("pages/*.py")]
    asked = {key for path in sources for key in _FIXED.findall(path.read_text(encoding="utf-8"))}

    assert len(asked) > 100
    known = catalogue("en")
    assert {key for key in asked - known.keys() if not _begins(key, known)} == set()


def test_every_scope_and_preset_has_words() -> None:
    names = [
        f"settings.scope.{scope}{end}"
        for scope in scope_names(is_operator=True, has_session=True)
        for end in ("", ".told")
    ]
    names += [
        f"settings.preset.{preset}{end}" for preset in Policy.presets() for end in ("", ".told")
    ]
    names += [f"settings.source.{source}" for source in SOURCES]

    assert [name for name in names if name not in catalogue("en")] == []


def test_every_choice_has_words() -> None:
    choices = [(field.name, choice) for field in FIELDS for choice in field.choices]

    assert [
        (name, choice)
        for name, choice in choices
        if name_text(f"settings.choice.{name}", choice) == choice
        and f"settings.choice.{name}.{choice}" not in catalogue("en")
    ] == []
