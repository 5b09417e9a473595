"""Every block of code in the documentation runs, or is checked as far as it can be."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from ctxcore.assembly.rules.registry import RULES
from ctxcore.engine.core import ContextEngine
from ctxcore.formats.reading import FORMATS
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.presets import PRESETS
from ctxcore.store.sql import SqlStore
from dashboard.page_registry import PAGES as REGISTERED_PAGES
from tests.engines import quiet_litellm
from tests.pages import (
    LANGUAGES,
    PAGES,
    ROOT,
    RUN_AS_THEY_ARE,
    Block,
    blocks,
    commands,
    lines,
    problem,
)
from tests.unit.cli.files import run

ALL_COMMANDS: Final = "docs/command-line.md"  # takes as long as ten others
# Those of the Chinese pages are those of the English ones: `test_chinese_pages`.
_WITH_BLOCKS: Final = [page for page in PAGES if "/zh/" not in page and blocks(page)]
_PARSERS: Final[dict[str, Callable[[str], object]]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


def pages_with(*languages: str) -> list[str]:
    """The pages that have a block in one of these languages."""
    return [
        page for page in _WITH_BLOCKS if any(block.language in languages for block in blocks(page))
    ]


@pytest.fixture(autouse=True)
def _registered_goes() -> Iterator[None]:
    """What an example registers is gone after it."""
    with contextlib.ExitStack() as stack:
        for registry in (STRATEGIES, FORMATS, RULES, PRESETS, REGISTERED_PAGES):
            stack.enter_context(registry.restored())
        yield


@pytest.fixture(scope="session")
def demo_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the demo conversations, to be copied."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    done = run("import", ROOT / "data", ROOT / "examples/autopsy", "--database", path)
    assert done.exit_code == 0
    return path


@pytest.fixture
def place(tmp_path: Path, demo_database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo files, a home with a session of Claude Code, and a database."""
    for folder in ("data", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    home = tmp_path / "home"
    shutil.copytree(ROOT / "examples/autopsy", home / ".claude/projects/demo")
    shutil.copy(demo_database, tmp_path / "ctxcore.db")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CTXCORE_DATABASE_URL", f"sqlite:///{tmp_path / 'ctxcore.db'}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_examples_of_a_page_print_what_stands_below_them(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    quiet_litellm()
    names: dict[str, Any] = {}

    with closed_after(names):
        for block in blocks(page):
            if block.language != "python":
                continue
            code = compile(block.text, page, "exec", dont_inherit=True)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if not block.reason:
                    exec(code, names)

            assert lines(printed.getvalue()) == ([] if block.reason else lines(block.output))


@contextlib.contextmanager
def closed_after(names: dict[str, Any]) -> Iterator[None]:
    """Closes the databases that examples leave open, as the end of a program does."""
    yield
    for found in names.values():
        store = found.store if isinstance(found, ContextEngine) else found
        if isinstance(store, SqlStore):
            store.close()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page == ALL_COMMANDS else [])
        for page in pages_with("console", "sh", "bash")
    ],
)
def test_the_commands_of_a_page_run(page: str, place: Path) -> None:
    for block in blocks(page):
        if not block.is_shell or block.reason:
            continue
        for words, expected in commands(block):
            printed = _run(words, place)

            assert not expected or lines(printed) == lines(expected)


def _run(words: list[str], place: Path) -> str:
    """What a command prints, which must end well."""
    program, *given = words
    assert program in RUN_AS_THEY_ARE, f"{words} is not run: say so above the block"
    if program == "mkdir":
        (place / given[0]).mkdir()
        return ""
    done = run(*(word.replace("~", str(place / "home")) for word in given))
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.stdout


@pytest.mark.parametrize("page", pages_with("console", "sh", "bash"))
def test_commands_that_are_not_run_have_options_that_exist(page: str) -> None:
    shown = [block for block in blocks(page) if block.is_shell and block.reason]

    found = {words: problem(list(words)) for block in shown for words in _all_words(block)}

    assert {words: told for words, told in found.items() if told} == {}


def _all_words(block: Block) -> list[tuple[str, ...]]:
    return [tuple(words) for words, _ in commands(block)]


@pytest.mark.parametrize("page", pages_with(*_PARSERS))
def test_data_in_a_page_can_be_read(page: str) -> None:
    for block in blocks(page):
        if block.language in _PARSERS:
            assert _PARSERS[block.language](block.text)


@pytest.mark.parametrize("page", _WITH_BLOCKS)
def test_a_page_has_only_blocks_that_are_checked(page: str) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
