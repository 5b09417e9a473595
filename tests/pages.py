"""The blocks of the documentation's pages, and what can be said of a command without running it."""

from __future__ import annotations

import importlib.util
import re
import shlex
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from ctxcore.cli import app

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ("README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md")))
LANGUAGES: Final = {"python", "console", "sh", "bash", "text", "yaml", "toml", "json"}
RUN_AS_THEY_ARE: Final = {"ctxcore", "mkdir"}
ONLY_NAMED: Final = {"claude", "createdb", "dask", "docker", "litellm"}

_BLOCK: Final = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>[^>\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block; `reason` says why it is not run, and `output` is the text block below it."""

    language: str
    text: str
    output: str = ""
    reason: str = ""

    @property
    def is_shell(self) -> bool:
        """Whether its lines are commands."""
        return self.language in ("sh", "bash", "console")


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = list(_BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")))
    texts = [textwrap.dedent(match["text"]) for match in found]
    kinds = [match["language"] for match in found]
    below = [*zip(kinds, texts, strict=True), ("", "")][1:]
    return [
        Block(
            language=match["language"],
            text=text,
            output=output if language == "text" else "",
            reason=match["reason"] or "",
        )
        for match, text, (language, output) in zip(found, texts, below, strict=True)
    ]


def commands(block: Block) -> list[tuple[list[str], str]]:
    """Each command of a block in words, with the output that stands below it."""
    if block.language != "console":
        joined = block.text.replace("\\\n", " ")
        return [(words, "") for line in joined.splitlines() if (words := _words(line))]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    split = (part.partition("\n") for part in parts)
    return [(_words(line), output) for line, _, output in split]


def lines(text: str) -> list[str]:
    """The lines of a text without blanks at their ends or empty lines around them."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def problem(words: list[str]) -> str:
    """What is wrong with a command that is not run; empty where nothing is."""
    program, *rest = words
    if "=" in program:  # a variable for this command, or for those that follow
        return _wrong_variable(program) or (problem(rest) if rest else "")
    if program == "uvx":
        program, *rest = rest[rest.index("ctxcore") :]
    if program == "ctxcore":
        return _wrong_option(rest)
    if program == "pip":
        return _wrong_extra(rest)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return "" if set(rest) <= set(targets) else f"no target {rest}"
    if program == "python":
        return "" if importlib.util.find_spec(rest[1]) else f"no module {rest[1]}"
    if program == "export":
        return _wrong_variable(rest[0])
    return "" if program in RUN_AS_THEY_ARE | ONLY_NAMED else f"unknown program {program}"


def unknown_options(words: list[str]) -> list[str]:
    """Of the words behind `ctxcore`, commands and options that it does not know."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    known = {name for given in command.params for name in (*given.opts, *given.secondary_opts)}
    options = {word.partition("=")[0] for word in words if re.match("--[a-z]", word)}
    commands_left = words[:1] if getattr(command, "commands", None) and not options else []
    return [*commands_left, *(options - known - {"--help"})]


def _words(line: str) -> list[str]:
    return shlex.split(line, comments=True)


def _wrong_option(words: list[str]) -> str:
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if getattr(command, "commands", None):
        return "" if words == ["--help"] else f"no command {words}"
    left = command.make_parser(typer.Context(command)).parse_args(list(words))
    return f"too much: {left[1]}" if left[1] else ""


def _wrong_extra(words: list[str]) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {one for word in words for one in re.findall(r"ctxcore-window\[([^\]]+)\]", word)}
    unknown = {extra for group in named for extra in group.split(",")} - set(extras)
    return f"no extra {unknown}" if unknown else ""


def _wrong_variable(assignment: str) -> str:
    name = assignment.partition("=")[0]
    known = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    return "" if not name.startswith("CTXCORE_") or f"`{name}`" in known else f"no {name}"
