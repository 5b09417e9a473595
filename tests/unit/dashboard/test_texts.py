"""Both languages say the same things, and another language is another folder."""

from __future__ import annotations

import json
import shutil
import string
from pathlib import Path

import pytest

from dashboard import texts
from dashboard.texts import about, catalogue, language_of, languages, translate

OF_THE_LIBRARY = ("reason.", "settings.field.", "settings.group.", "lab.report.", "autopsy.")
"""Begin texts of codes, fields and reports; where English has none, the library has its own."""


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def own(language: str) -> dict[str, str]:
    """The texts of a language that the library has no English for."""
    return {
        key: text for key, text in catalogue(language).items() if not key.startswith(OF_THE_LIBRARY)
    }


def test_both_languages_have_the_same_keys() -> None:
    assert own("en").keys() == own("zh").keys()


def test_both_languages_fill_in_the_same_values() -> None:
    chinese = own("zh")
    different = [
        key for key, text in own("en").items() if placeholders(text) != placeholders(chinese[key])
    ]
    assert different == []


@pytest.mark.parametrize("language", languages())
def test_no_key_stands_in_two_files(language: str) -> None:
    paths = [path for path in (texts.FOLDER / language).glob("*.json") if path.name != texts.ABOUT]
    files = [json.loads(path.read_text("utf-8")) for path in paths]

    assert sum(map(len, files)) == len({key for file in files for key in file})
    assert catalogue(language).keys() == {key for file in files for key in file}


@pytest.mark.parametrize("language", languages())
def test_no_text_is_empty(language: str) -> None:
    assert [key for key, text in catalogue(language).items() if not text.strip()] == []


def test_a_browser_s_locale_decides_the_language() -> None:
    assert [language_of(code) for code in ("zh-CN", "zh", "en-GB", "fr", "zhx", None)] == [
        *("zh", "zh"),
        *("en", "en", "en", "en"),
    ]


def test_a_missing_text_shows_its_key() -> None:
    assert translate("no.such.key", "zh") == "no.such.key"


@pytest.fixture
def with_german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A third language of two texts; its folder."""
    folder = tmp_path / "texts"
    shutil.copytree(texts.FOLDER, folder)
    write(folder / "de" / texts.ABOUT, {"name": "Deutsch", "locales": ["de"]})
    write(
        folder / "de" / "few.json", {"common.cancel": "Abbrechen", "reason.verdict.pinned": "fest"}
    )
    monkeypatch.setattr(texts, "FOLDER", folder)
    return folder / "de"


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_folder_is_a_language(with_german: Path) -> None:
    assert languages() == ("en", "de", "zh")
    assert about("de").name == "Deutsch"
    assert language_of("de-AT") == "de"
    assert translate("common.cancel", "de") == "Abbrechen"


def test_what_a_language_lacks_is_shown_in_english(with_german: Path) -> None:
    assert translate("common.exact", "de") == catalogue("en")["common.exact"]
    assert translate("no.such.key", "de") == "no.such.key"


def test_the_closest_locale_decides(with_german: Path) -> None:
    write(with_german.parent / "de_ch" / texts.ABOUT, {"name": "Mundart", "locales": ["de-CH"]})

    assert [language_of(code) for code in ("de", "de-AT", "de-CH")] == ["de", "de", "de_ch"]


@pytest.mark.parametrize("text", ["{size.wrong} {other}", "{0}", "{", "{size[0]}"])
def test_a_text_with_wrong_blanks_is_shown_in_english(with_german: Path, text: str) -> None:
    key = next(key for key, english in catalogue("en").items() if "{count}" in english)
    blanks = {name: "3" for _, name, _, _ in string.Formatter().parse(catalogue("en")[key]) if name}
    write(with_german / "few.json", {key: text})

    assert translate(key, "de", **blanks) == translate(key, "en", **blanks)


@pytest.mark.parametrize("content", ["{", "[]", '{"common.cancel": 3}', '"a"'])
def test_a_damaged_file_of_a_language_stops_no_page(with_german: Path, content: str) -> None:
    (with_german / "few.json").write_text(content, encoding="utf-8")
    assert translate("common.cancel", "de") == catalogue("en")["common.cancel"]

    (with_german / texts.ABOUT).write_text(content, encoding="utf-8")
    texts._all_about.cache_clear()
    assert languages() == ("en", "zh")
