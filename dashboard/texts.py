"""Loads the texts of the dashboard: one folder per language, with catalogues of `key: text`.

A language may have any part of the texts; missing ones are shown in English. Widget keys,
addresses and option values are never translated.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

logger = logging.getLogger(__name__)

Language: TypeAlias = str
"""The name of the folder of a language, e.g. `zh`."""

FALLBACK: Language = "en"
STATE_KEY = "texts_language"
OUTSIDE = FALLBACK  # the language while no page is drawn; tests set it
FOLDER = Path(__file__).parent / "texts"
ABOUT = "language.json"  # beside a language's catalogues
_WRONG_BLANKS: Final = (KeyError, IndexError, ValueError, AttributeError, TypeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A language: its name, locales and separators."""

    name: str
    """In the language itself."""
    locales: tuple[str, ...] = ()
    """Prefixes of browser locales that select it."""
    between_sentences: str = " "
    between_words: str = ", "


def languages() -> tuple[Language, ...]:
    """The languages there are, English first."""
    return tuple(_all_about(FOLDER))


def about(language: Language) -> About:
    """The properties of a language."""
    return _all_about(FOLDER)[language]


def language_name(language: Language) -> str:
    """The name of a language in that language."""
    return about(language).name


def catalogue(language: Language) -> Mapping[str, str]:
    """All texts of one language by key."""
    return _catalogue(FOLDER, language)


def language() -> Language:
    """The language of the page that is being drawn."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return OUTSIDE
    chosen = st.session_state.get(STATE_KEY)
    return chosen if chosen in languages() else FALLBACK


def language_of(locale: str | None) -> Language:
    """The language for a browser's locale, e.g. `zh-CN`: the most specific match."""
    wanted = f"{locale or ''}-".lower()
    named = {f"{prefix}-".lower(): code for code in languages() for prefix in about(code).locales}
    fitting = [prefix for prefix in named if wanted.startswith(prefix)]
    return named[max(fitting, key=len)] if fitting else FALLBACK


def t(key: str, **values: object) -> str:
    """The text of `key` in the page's language, with `values` filled in."""
    return translate(key, language(), **values)


def has_text(key: str) -> bool:
    """Whether there is a text under `key`, in the page's language or in English."""
    return text_of(key, language()) is not None


def text_of(key: str, language: Language) -> str | None:
    """The text of `key` with its placeholders; in English if the language lacks it."""
    return catalogue(language).get(key) or catalogue(FALLBACK).get(key)


def translate(key: str, language: Language, **values: object) -> str:
    """The text of `key` in `language`; English if it is missing, the key if both are."""
    text = text_of(key, language) or key
    if not values:
        return text
    try:
        return text.format(**values)
    except _WRONG_BLANKS:
        logger.warning("blanks of a text language=%s key=%s", language, key)
        return catalogue(FALLBACK).get(key, key).format(**values)


@cache
def _all_about(folder: Path) -> Mapping[Language, About]:
    content = {path.parent.name: _read(path) for path in sorted(folder.glob(f"*/{ABOUT}"))}
    found = {
        name: _about(entries)
        for name, entries in content.items()
        if isinstance(entries.get("name"), str)
    }
    return {FALLBACK: found[FALLBACK], **found}


def _about(content: Mapping[str, Any]) -> About:
    known = {field.name for field in fields(About)}
    entries = {name: value for name, value in content.items() if name in known}
    return About(**{**entries, "locales": tuple(content.get("locales", ()))})


@cache
def _catalogue(folder: Path, language: Language) -> Mapping[str, str]:
    merged: dict[str, str] = {}
    for path in sorted((folder / language).glob("*.json")):
        if path.name != ABOUT:
            entries = _read(path).items()
            merged.update({key: text for key, text in entries if isinstance(text, str)})
    return merged


def _read(path: Path) -> Mapping[str, Any]:
    """The content of a file; empty if it is damaged, so that other languages still work."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        logger.warning("unreadable texts file=%s error=%s", path, error)
        return {}
    return content if isinstance(content, dict) else {}
