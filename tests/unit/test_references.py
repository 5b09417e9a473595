"""Pages that list things of the code list all of them, and nothing else."""

from __future__ import annotations

import fnmatch
import re
from typing import Final

import pytest

import ctxcore
from ctxcore.reasons import foreign, message_problems, problems, report_codes, storage_problems
from ctxcore.reasons.values import Code
from tests.pages import PAGES, ROOT, unknown_options
from tools.docs_site.references import api_names, codes_text, commands_text

_MODULES: Final = (foreign, message_problems, problems, report_codes, storage_problems)


def _problems() -> set[str]:
    """The codes that an error may have."""
    kinds = {
        value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Code) and re.search("Problem|Damage", name)
    }
    return {code.value for kind in kinds for code in kind}


def test_troubleshooting_says_of_every_problem_what_to_do() -> None:
    text = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+\.(?:[a-z_0-9]+|\*))`", text))

    missing = {code for code in _problems() if not any(fnmatch.fnmatch(code, n) for n in named)}

    assert missing == set()


def test_troubleshooting_names_only_codes_that_exist() -> None:
    text = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    tables = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`([a-z_]+\.(?:[a-z_0-9]+|\*))`", tables))
    known = set(re.findall(r"^\| `([\w.]+)` \|", codes_text(), re.MULTILINE))

    assert {name for name in named if not fnmatch.filter(known, name)} == {
        "dashboard.turn_broke_off",  # codes of the dashboard are not the library's
        "undo.saved_since",
    }


def test_the_api_pages_have_every_public_name_once() -> None:
    pages = (ROOT / "docs/api").glob("*.md")

    documented = [name for page in pages for name in api_names(page.read_text(encoding="utf-8"))]

    assert sorted(documented) == [name for name in ctxcore.__all__ if name != "__version__"]


def test_the_command_reference_has_commands_below_others_and_their_options() -> None:
    text = commands_text()

    assert "## ctxcore compact\n" in text
    assert "### ctxcore policy import\n" in text
    assert "| `--summarizer" in text
    assert "--help" not in text


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_methods_of_the_engine_that_exist(page: str) -> None:
    named = re.findall(r"`engine\.(\w+)", (ROOT / page).read_text(encoding="utf-8"))

    assert [name for name in named if not hasattr(ctxcore.ContextEngine, name)] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_commands_and_options_that_exist(page: str) -> None:
    named = re.findall(r"`(ctxcore [a-z][^`\n]*)`", (ROOT / page).read_text(encoding="utf-8"))

    assert {words: told for words in named if (told := unknown_options(words.split()[1:]))} == {}
