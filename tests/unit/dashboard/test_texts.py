"""Both languages say the same things."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

from dashboard import texts
from dashboard.texts import LANGUAGES, catalogue, language_of, translate

FOLDER = Path(texts.__file__).parent / "texts"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys() -> None:
    assert catalogue("en").keys() == catalogue("zh").keys()


def test_both_languages_fill_in_the_same_values() -> None:
    different = [
        key
        for key, text in catalogue("en").items()
        if placeholders(text) != placeholders(catalogue("zh")[key])
    ]
    assert different == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_stands_in_two_files(language: str) -> None:
    files = [json.loads(path.read_text("utf-8")) for path in (FOLDER / language).glob("*.json")]

    assert sum(map(len, files)) == len({key for file in files for key in file})


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty(language: texts.Language) -> None:
    assert [key for key, text in catalogue(language).items() if not text.strip()] == []


def test_a_browser_s_locale_decides_the_language() -> None:
    assert [language_of(code) for code in ("zh-CN", "zh", "en-GB", "fr", None)] == [
        "zh",
        "zh",
        "en",
        "en",
        "en",
    ]


def test_a_missing_text_shows_its_key() -> None:
    assert translate("no.such.key", "zh") == "no.such.key"
