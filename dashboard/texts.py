"""Owns every word the dashboard shows: catalogues of `key: text`, one file an area and language.

Widget keys, addresses and option values are never translated, only what a person reads.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

Language: TypeAlias = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}
STATE_KEY = "texts_language"
OUTSIDE: Language = "en"  # where no page is being drawn

_FOLDER = Path(__file__).parent / "texts"


@cache
def catalogue(language: Language) -> dict[str, str]:
    """All texts of one language by key."""
    merged: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.json")):
        merged.update(json.loads(path.read_text(encoding="utf-8")))
    return merged


def language() -> Language:
    """The language of the page that is being drawn."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return OUTSIDE
    chosen = st.session_state.get(STATE_KEY, "en")
    return cast("Language", chosen) if chosen in LANGUAGES else "en"


def language_of(locale: str | None) -> Language:
    """The language for a browser's locale, e.g. `zh-CN`."""
    return "zh" if (locale or "").lower().startswith("zh") else "en"


def t(key: str, **values: object) -> str:
    """The text of `key` in the page's language, with `values` filled in."""
    return translate(key, language(), **values)


def has_text(key: str) -> bool:
    """Whether there is a text under `key`."""
    return key in catalogue("en")


def translate(key: str, language: Language, **values: object) -> str:
    """The text of `key` in `language`; English where it is missing, the key where both are."""
    text = catalogue(language).get(key) or catalogue("en").get(key) or key
    return text.format(**values) if values else text
