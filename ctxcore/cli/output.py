"""Owns the ways out: stdout for results, stderr for errors and progress, files for messages.

With `--json` nothing but the document reaches stdout. A file is never overwritten unless asked.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer
from rich.console import Console, RenderableType

from ctxcore.cli.texts import json_escape, one_line
from ctxcore.messages.values import JsonObject, JsonValue


def stdout() -> Console:
    """The console for results; nothing printed on it is read as markup."""
    _never_fail_to_encode()
    return Console(markup=False, highlight=False, emoji=False)


def stderr() -> Console:
    """The console for errors and progress."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def print_all(renderables: Iterable[RenderableType]) -> None:
    """Print results one below the other."""
    console = stdout()
    for renderable in renderables:
        console.print(renderable)


def print_error(sentence: str) -> None:
    """Print one plain sentence on stderr."""
    typer.echo(f"error: {one_line(sentence)}", err=True)


def print_note(sentence: str) -> None:
    """Print on stderr what is no error but good to know."""
    typer.echo(one_line(sentence), err=True)


def print_text(text: str) -> None:
    """Print a text as it is, for a file or a pipe."""
    typer.echo(text.encode("utf-8", "backslashreplace"))


def print_json(document: JsonValue) -> None:
    """Print one JSON document."""
    _never_fail_to_encode()
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "")
    text = json.dumps(document, ensure_ascii=not is_utf8, indent=2)
    typer.echo(json_escape(text))


def check_out(path: Path | None, *, overwrite: bool, option: str) -> None:
    """Refuse, before any work, to write where a file is.

    Raises:
        typer.BadParameter: there is one, it is a folder, or there is no folder for it.
    """
    if path is None:
        return
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder", param_hint="--out")
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"no folder {str(path.parent)!r} to write in", param_hint="--out")
    if path.exists() and not overwrite:
        problem = f"{str(path)!r} exists; pass {option} to overwrite it"
        raise typer.BadParameter(problem, param_hint="--out")


def write_messages(
    path: Path, named: Sequence[tuple[str, Sequence[JsonObject]]], *, overwrite: bool
) -> None:
    """Write the messages of conversations: one as a list, several as one object a line."""
    if len(named) == 1:
        text = json.dumps(named[0][1], ensure_ascii=False, indent=2)
    else:
        lines = ({"id": own_id, "messages": messages} for own_id, messages in named)
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="\n") as file:
            file.write(json_escape(text) + "\n")
    except OSError as error:
        print_error(f"{path} cannot be written: {error.strerror or error}")
        raise typer.Exit(1) from error
    print_note(f"wrote {path}")


def _never_fail_to_encode() -> None:
    """Show what the terminal's encoding lacks as escapes, rather than stop half-way."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
