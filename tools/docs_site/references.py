"""Pages that are made from the code when the site is built: commands, codes, public names.

A page has a comment, such as `<!-- commands -->`, where they stand; other readers of the Markdown
do not see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final, cast

import typer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer

import ctxcore
from ctxcore.cli import app as command_line
from ctxcore.reasons.values import Code, known_codes
from tools.docs_site.links import DOCS

_MARK: Final = re.compile(
    r"^<!-- (commands|codes|decisions|api:(?P<names>[^>]*)) -->$", re.MULTILINE
)
_CODE: Final = re.compile(r"(`[^`]+`)")
_NAMES: Final = re.compile(r"(?<![\w-])--[a-z][\w-]*|\bCTXCORE_\w+")
_MARKUP: Final = re.compile(r"([|<>*_\[\]{}])")
_TICKS: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)(?=(\w)?)")
_RAISES: Final = re.compile(r"^Raises \([^)]*\):$")
_FULL: Final = frozenset({"ContextEngine"})  # all methods are public, and have a page
_HIDDEN: Final = frozenset({"help"})


def commands_text() -> str:
    """Every command with its arguments and options, as Markdown."""
    root = typer.main.get_command(command_line)
    return "\n".join(_commands(root, ("ctxcore",)))


def codes_text() -> str:
    """Every code of the library with its English sentence, by area, as Markdown."""
    kinds: dict[type[Code], list[Code]] = {}
    for code in known_codes().values():
        if type(code).__module__.startswith(f"{ctxcore.__name__}."):
            kinds.setdefault(type(code), []).append(code)
    parts = []
    for kind in sorted(kinds, key=lambda kind: kinds[kind][0].value):
        rows = [f"| `{code.value}` | {_cell(code.text)} |" for code in kinds[kind]]
        area = _areas(kinds[kind])
        about = (kind.__doc__ or "").strip().splitlines()[0]
        parts.append(
            "\n".join([f"## {area}", "", about, "", *_head("Code", "Sentence"), *rows, ""])
        )
    return "\n".join(parts)


def decisions_text() -> str:
    """A link to each record of a decision, as Markdown."""
    pages = sorted((DOCS / "adr").glob("0*.md"))
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in pages]
    return "\n".join(
        f"- [{title.removeprefix('# ')}]({page.name})"
        for page, title in zip(pages, titles, strict=True)
    )


def api_text(names: Iterable[str]) -> str:
    """Public names, documented from their docstrings, as Markdown with reStructuredText."""
    return "\n".join(["```{eval-rst}", *(line for name in names for line in _object(name)), "```"])


def fill_marks(app: Sphinx, page: str, source: list[str]) -> None:
    """Puts what is made from the code in the place of the comments of a page."""
    source[0] = _MARK.sub(_made, source[0])


def api_names(text: str) -> list[str]:
    """The public names that a page documents."""
    marks = [match["names"] for match in _MARK.finditer(text) if match["names"]]
    return [name for mark in marks for name in re.split(r"[,\s]+", mark.strip())]


def _made(match: re.Match[str]) -> str:
    if match["names"]:
        return api_text(api_names(match[0]))
    return {"commands": commands_text, "codes": codes_text, "decisions": decisions_text}[match[1]]()


def _object(name: str) -> Iterator[str]:
    if name not in ctxcore.__all__:
        raise ExtensionError(f"{name!r} is no public name of ctxcore")
    value = getattr(ctxcore, name)
    if isinstance(value, type):
        yield f".. autoclass:: ctxcore.{name}"
        yield "   :members:"
        if name in _FULL:
            yield "   :inherited-members:"
        if issubclass(value, BaseException):
            yield "   :show-inheritance:"
    elif callable(value):
        yield f".. autofunction:: ctxcore.{name}"
    else:
        yield from _constant(name)
    yield ""


def _constant(name: str) -> Iterator[str]:
    """A constant with the text below it in its module; Sphinx takes that of its type."""
    home = import_module(f"{ctxcore.__name__}.{ctxcore._HOMES[name]}")
    about = ModuleAnalyzer.for_module(home.__name__).find_attr_docs()[("", name)]
    yield f".. py:data:: ctxcore.{name}"
    yield ""
    yield from (f"   {line}" for line in about)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The lines about a command, and those of the commands below it."""
    if len(path) > 1:
        yield from _command(command, path)
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


def _command(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    context = typer.Context(command, info_name=" ".join(path))
    yield f"{'#' * len(path)} {' '.join(path)}"
    yield ""
    yield _prose(command.help or "")
    yield ""
    if getattr(command, "commands", None):
        return
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{' '.join(path)} {pieces}\n```"
    yield ""
    rows = [_row(given, context) for given in command.get_params(context)]
    shown = [row for row in rows if row]
    if shown:
        yield from (*_head("Argument or option", "What it does"), *shown, "")


def _row(given: Any, context: typer.Context) -> str:
    if given.name in _HIDDEN or getattr(given, "hidden", False):
        return ""
    if given.param_type_name == "argument":
        name, about = f"`{given.metavar or given.name.upper()}`", given.help or ""
    else:
        record = cast("tuple[str, str] | None", given.get_help_record(context))
        if record is None:
            return ""
        name, about = f"`{record[0]}`", record[1]
    return f"| {name.replace('|', '&#124;')} | {_cell(about)} |"


def _head(*columns: str) -> tuple[str, str]:
    return f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"


def _cell(text: str) -> str:
    """A text for a cell of a table, nothing of which is taken for markup but code."""
    pieces = _CODE.split(_named(text))
    return "".join(
        piece.replace("|", "\\|") if piece.startswith("`") else _MARKUP.sub(r"\\\1", piece)
        for piece in pieces
    )


def _prose(text: str) -> str:
    return "\n\n".join(_named(part) for part in text.split("\n\n"))


def _named(text: str) -> str:
    """A text on one line, with options and variables of the environment as code."""
    words = _CODE.split(" ".join(text.split()))
    return "".join(
        piece if piece.startswith("`") else _NAMES.sub(r"`\g<0>`", piece) for piece in words
    )


def _areas(codes: Iterable[Code]) -> str:
    """The areas of the codes of one enum, e.g. `store`."""
    areas = dict.fromkeys(code.value.partition(".")[0] for code in codes)
    return ", ".join(f"`{area}`" for area in areas)


def mark_code(
    app: Sphinx, kind: str, name: str, value: object, options: object, text: list[str]
) -> None:
    """Makes `words` in a docstring code, whatever stands behind, and all its errors a section."""
    if kind in ("attribute", "data", "property"):
        text.insert(0, "")  # napoleon would take the words before a colon for a type
    text[:] = [_RAISES.sub("Raises:", _TICKS.sub(_as_code, line)) for line in text]


def _as_code(match: re.Match[str]) -> str:
    return f"``{match[1]}``" + ("\\ " if match[2] else "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the filling to Sphinx, before links and sections of docstrings are looked at."""
    app.connect("source-read", fill_marks, priority=400)
    app.connect("autodoc-process-docstring", mark_code, priority=400)
    return {"parallel_read_safe": True}
