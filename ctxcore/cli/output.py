"""Owns making texts of files harmless to look at, and how numbers are written.

What a terminal would obey (escape sequences, marks that turn the direction of text) is shown as an
escape; nothing here is ever read as markup.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject, JsonValue

ESTIMATED = "~ estimated"

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    """`text` on one line, fit to be shown."""
    return escape(" ".join(text.split()))


def block(text: str) -> str:
    """`text` with its lines as they are, fit to be shown."""
    return "\n".join(escape(line.expandtabs(4)) for line in text.split("\n"))


def escape(text: str) -> str:
    """`text` with everything a terminal would obey, line feeds too, as escapes."""
    return _OBEYED.sub(_escaped, text)


def json_escape(text: str) -> str:
    r"""JSON text that means the same with the same characters as `\u` escapes.

    Line feeds stay: in JSON text they stand between values only.
    """
    return _OBEYED.sub(lambda found: _unit_escapes(found[0]), text)


def amount(tokens: int, *, is_exact: bool = True) -> str:
    """A number of tokens; `~` before it says that it is estimated."""
    return f"{'' if is_exact or not tokens else '~'}{tokens:,}"


def percent(ratio: float) -> str:
    """A share; never rounded to nothing or to all."""
    if 0 < ratio < 0.01:
        return "<1 %"
    return "99 %" if 0.99 < ratio < 1 else f"{ratio:.0%}".replace("%", " %")


def plural(count: int, noun: str) -> str:
    """`3 messages`, `1 message`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def how_counted(counter_id: str, *, is_exact: bool) -> str:
    """Whether counts are exact, and by which counter."""
    return f"{'exact' if is_exact else 'estimated'}, {counter_id.removeprefix('estimate:')}"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unit_escapes(character: str) -> str:
    if character == "\n":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


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


Advance = Callable[[int], None]


@contextmanager
def progress(label: str, total: int, *, is_shown: bool) -> Iterator[Advance]:
    """A bar that the yielded function moves on by so many of `total`; gone when it is over."""
    console = stderr()
    if not is_shown or not console.is_terminal:
        yield lambda count: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn(label, markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
