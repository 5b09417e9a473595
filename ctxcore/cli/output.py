"""Output of the command line: escaped texts, formatted numbers, JSON, files and progress.

Texts of files may hold control characters (escape sequences, marks that turn the direction of
text). They are shown as escapes, and nothing is read as markup.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, RenderableType

from ctxcore.csv_text import csv_text
from ctxcore.tokens.costs import Cost, dollars_text

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject, JsonValue
    from ctxcore.redaction.shapes import SecretKind

ESTIMATED = "~ estimated"
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    """`text` on one line, control characters escaped."""
    return escape(" ".join(text.split()))


def block(text: str) -> str:
    """`text` with its lines kept, control characters escaped."""
    return "\n".join(escape(line.expandtabs(4)) for line in text.split("\n"))


def escape(text: str) -> str:
    """`text` with control characters, line feeds included, as escapes."""
    return _CONTROLS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_escape(text: str) -> str:
    r"""JSON text of the same meaning, with control characters as `\u` escapes.

    Line feeds stay, since in JSON they are only between values.
    """
    return _CONTROLS.sub(_unit_escapes, text)


def _unit_escapes(found: re.Match[str]) -> str:
    if found[0] == "\n":
        return "\n"
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def amount(tokens: int, *, is_exact: bool = True) -> str:
    """A number of tokens, with `~` before it where it is estimated."""
    return f"{'' if is_exact or not tokens else '~'}{tokens:,}"


def percent(ratio: float) -> str:
    """A share, never rounded to 0 % or 100 %."""
    if 0 < ratio < 0.01:
        return "<1 %"
    return "99 %" if 0.99 < ratio < 1 else f"{ratio:.0%}".replace("%", " %")


def known_dollars(dollars: float | None) -> str:
    """US dollars, or that they are not known."""
    return "unknown" if dollars is None else dollars_text(dollars)


def cost_text(cost: Cost) -> str:
    """What calls cost, and why the cost of some is not known."""
    known = known_dollars(cost.dollars)
    gaps = (f"{plural(gap.calls, 'call')} unknown: {gap.reason}" for gap in cost.unknown)
    return one_line(" · ".join((known, *gaps)))


def plural(count: int, noun: str) -> str:
    """`3 messages`, `1 message`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def stdout() -> Console:
    """The console for results; it reads nothing as markup."""
    _escape_unencodable()
    return Console(markup=False, highlight=False, emoji=False)


def _escape_unencodable() -> None:
    """Makes stdout escape characters that its encoding lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def print_all(renderables: Iterable[RenderableType]) -> None:
    """Print results one below the other."""
    console = stdout()
    for renderable in renderables:
        console.print(renderable)


def print_error(sentence: str) -> None:
    """Print one plain sentence on stderr."""
    typer.echo(f"error: {one_line(sentence)}", err=True)


def print_note(sentence: str) -> None:
    """Print one line on stderr that is no error."""
    typer.echo(one_line(sentence), err=True)


def print_text(text: str) -> None:
    """Print a text as it is, for a file or a pipe."""
    typer.echo(text.encode("utf-8", "backslashreplace"))


def print_json(document: JsonValue) -> None:
    """Print one JSON document."""
    _escape_unencodable()
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "")
    text = json.dumps(document, ensure_ascii=not is_utf8, indent=2)
    typer.echo(json_escape(text))


def print_csv(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows as CSV; control characters of texts are escaped."""
    shown = [
        {name: escape(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    ]
    _escape_unencodable()
    typer.echo(csv_text(shown), nl=False)


def check_out(path: Path | None, *, overwrite: bool, option: str, hint: str = "--out") -> None:
    """Refuse a path of the option `hint` that cannot be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder", param_hint=hint)
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"no folder {str(path.parent)!r} to write in", param_hint=hint)
    if path.exists() and not overwrite:
        problem = f"{str(path)!r} exists; pass {option} to overwrite it"
        raise typer.BadParameter(problem, param_hint=hint)


def check_redaction() -> None:
    """Refuse to go on where secrets cannot be recognised, before any work is done."""
    from ctxcore.redaction.shapes import RedactionUnavailableError, can_redact

    if not can_redact():
        print_error(str(RedactionUnavailableError()))
        raise typer.Exit(1)


def secrets_text(counts: Mapping[SecretKind, int]) -> str:
    """How many secrets of each kind, as `2 × AWS key, 1 × JWT`; `none` if there are none."""
    from ctxcore.redaction.redacting import LABELS

    return ", ".join(f"{count} × {LABELS[kind]}" for kind, count in counts.items()) or "none"


def write_messages(
    path: Path, named: Sequence[tuple[str, Sequence[JsonObject]]], *, overwrite: bool
) -> None:
    """Write the messages of conversations: one as a list, several as one object a line."""
    if len(named) == 1:
        text = json.dumps(named[0][1], ensure_ascii=False, indent=2)
    else:
        lines = ({"id": own_id, "messages": messages} for own_id, messages in named)
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    write_file(path, (json_escape(text) + "\n").encode(), overwrite=overwrite)


def write_file(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file and say so, or say why it cannot be written."""
    try:
        with path.open("wb" if overwrite else "xb") as file:
            file.write(data)
    except OSError as error:
        print_error(f"{path} cannot be written: {error.strerror or error}")
        raise typer.Exit(1) from error
    print_note(f"wrote {path}")


Advance = Callable[[int], None]


@contextmanager
def progress(label: str, total: int, *, is_shown: bool, unit: str = "") -> Iterator[Advance]:
    """Shows a transient progress bar on a terminal; the yielded function moves it on.

    The bar counts `unit`s where they are named, else it shows a percentage.
    """
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not is_shown or not console.is_terminal:
        yield lambda count: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
    )

    numbers = (MofNCompleteColumn(), TextColumn(unit)) if unit else (TaskProgressColumn(),)
    columns = (TextColumn(label, markup=False), BarColumn(), *numbers)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
