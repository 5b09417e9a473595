"""The documentation's examples run, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ctxcore.assembly.rules.registry import RULES
from ctxcore.formats.reading import FORMATS
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.presets import PRESETS
from dashboard.page_registry import PAGES as REGISTERED_PAGES
from tests.engines import quiet_litellm
from tests.limits import HANG_SECONDS

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/compression.md",
    "docs/configuration.md",
    "docs/extending.md",
    "docs/formats/apis-and-datasets.md",
    "docs/formats/coding-agents.md",
    "docs/formats/frameworks.md",
    "docs/formats/other-agents.md",
    "docs/how-it-works.md",
    "docs/integrations/langchain.md",
    "docs/integrations/litellm-proxy.md",
    "docs/integrations/openai-agents.md",
    "docs/integrations/opentelemetry.md",
    "docs/integrations/pydantic-ai.md",
    "docs/models.md",
    "docs/sessions.md",
    "docs/shapes.md",
    "docs/state.md",
)

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def blocks(page: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def examples(page: str) -> list[tuple[str, str]]:
    """Each python block of a page with the text block that follows it."""
    found = blocks(page)
    following = [*found[1:], ("", "")]
    return [
        (code, output if kind == "text" else "")
        for (language, code), (kind, output) in zip(found, following, strict=True)
        if language == "python"
    ]


def commands() -> list[tuple[str, str]]:
    """Each command line of the README and the page of commands with its output."""
    pages = ("README.md", "docs/autopsy.md", "docs/checks.md", "docs/command-line.md")
    found = [block for page in pages for block in blocks(page)]
    shown = [text for language, text in found if language == "console"]
    return [(line.removeprefix("$ "), rest) for line, _, rest in (t.partition("\n") for t in shown)]


def lines(text: str) -> list[str]:
    """The lines of a text without blanks at their ends or empty lines around them."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.fixture(autouse=True)
def _registered_goes() -> Iterator[None]:
    """What an example registers is gone after it."""
    with contextlib.ExitStack() as stack:
        for registry in (STRATEGIES, FORMATS, RULES, PRESETS, REGISTERED_PAGES):
            stack.enter_context(registry.restored())
        yield


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_stands_below_them(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    quiet_litellm()
    names: dict[str, Any] = {}

    for code, expected in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec", dont_inherit=True), names)

        assert lines(printed.getvalue()) == lines(expected)


@pytest.mark.parametrize(("command", "expected"), commands())
def test_the_commands_of_the_pages_print_what_stands_below_them(
    command: str, expected: str, tmp_path: Path
) -> None:
    for folder in ("data", "examples"):  # a command may write a file beside them
        (tmp_path / folder).symlink_to(ROOT / folder)
    program, *arguments = command.split()
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

    done = subprocess.run(
        [sys.executable, "-m", f"{program}.cli", *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=HANG_SECONDS,
    )

    assert lines(done.stdout) == lines(expected)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda page: page.stem
)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


EXAMPLES = sorted(
    path
    for path in ROOT.glob("examples/*/*.py")
    if path.parent.name != "litellm_proxy"  # needs a running proxy: tests/integration/proxy runs it
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.parent.name)
def test_an_example_runs(example: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, *(program if example.name.startswith("test_") else ()), example],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=HANG_SECONDS,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.stem)
def test_the_yaml_of_a_page_is_yaml(page: Path) -> None:
    found = [text for language, text in blocks(str(page)) if language == "yaml"]

    assert all(yaml.safe_load(text) for text in found)


def test_the_readme_has_examples_and_commands() -> None:
    assert examples("README.md")
    assert len(commands()) > 1


def test_the_readme_is_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
