"""`ctxcore import`: conversations of files become stored sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import RenderableType

from ctxcore.cli.accounts import repair_documents, repair_lines
from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import (
    Advance,
    one_line,
    plural,
    print_all,
    print_json,
    progress,
)
from ctxcore.cli.running import (
    Failure,
    Outcome,
    fail,
    find_files,
    print_failures,
    problem_document,
)
from ctxcore.cli.sessions import User, opened_engine, short_ids
from ctxcore.cli.tables import add_row, bullets, closing, make_table, section
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.engine.exchange import ImportPreview
    from ctxcore.engine.imported import ImportedBefore
    from ctxcore.messages.values import JsonObject
    from ctxcore.store.values import SessionInfo

_SHOWN_BYTES: Final = 2_000_000  # chosen: less is imported before a bar could be seen
_MOST_LINES: Final = 10

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Files that `ctxcore inspect` reads, or folders of them."),
]
Again = Annotated[bool, typer.Option("--again", help="Also import what this user imported before.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Imported:
    """A conversation of a file, and the session that it is now."""

    path: Path
    preview: ImportPreview
    session: SessionInfo
    before: ImportedBefore | None
    """Set where an earlier import made the session, and this one nothing."""


def run_import(
    paths: Paths,
    again: Again = False,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Store conversations of files as sessions; what was imported before is skipped.

    A file is checked to its end before anything of it is stored. The database and the user are
    made if there are none.
    """
    files, failures = find_files(paths)
    done: list[_Imported] = []
    sizes = {file: file.stat().st_size for file in files}
    total = sum(sizes.values())
    try:
        with (
            opened_engine(database, user, creates=True) as engine,
            progress("importing", total, is_shown=total >= _SHOWN_BYTES) as advance,
        ):
            for file in files:
                try:
                    done += _import_file(engine, file, again, _scaled(advance, sizes[file]))
                except ContextError as error:
                    failures.append(Failure.of_file(error, str(file)))
            names = short_ids(one.session.id for one in done)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("import", failure, as_json=as_json)
    print_failures(failures)
    outcome = Outcome(done=tuple(done), failures=tuple(failures))
    if as_json:
        print_json(outcome.to_dict("import", map(_document, done)))
    elif done:
        print_all(_report(done, names, failures=len(failures)))
    raise typer.Exit(outcome.exit_code)


def _import_file(
    engine: ContextEngine, file: Path, again: bool, advance: Callable[[float], None]
) -> Iterator[_Imported]:
    """Imports what is new in a file; `advance` gets the share of it that was done since."""
    previews = engine.preview_file(file)
    known = {} if again else engine.file_imported_before(file)
    new = [preview.place for preview in previews if preview.place not in known]
    messages = sum(previews[place].messages for place in new) or 1
    last = 0

    def step(done: int, of: int) -> None:
        nonlocal last
        advance((done - last) / messages)
        last = 0 if done == of else done

    made = dict(zip(new, engine.import_file(file, places=new, on_progress=step), strict=True))
    if not new:
        advance(1.0)
    for preview in previews:
        before = known.get(preview.place)
        session = made[preview.place] if before is None else before.session
        yield _Imported(path=file, preview=preview, session=session, before=before)


def _scaled(advance: Advance, size: int) -> Callable[[float], None]:
    """Turns shares of a file into its bytes."""
    done = 0.0

    def step(share: float) -> None:
        nonlocal done
        before, done = round(done * size), done + share
        advance(round(done * size) - before)

    return step


def _document(one: _Imported) -> JsonObject:
    preview, before = one.preview, one.before
    return {
        "path": str(one.path),
        "id": preview.id,
        "session_id": one.session.id,
        "title": preview.title,
        "format": preview.format,
        "model": preview.model,
        "messages": preview.messages,
        "calls": preview.calls,
        "compactions": preview.compactions,
        "problems": [problem_document(problem) for problem in preview.problems],
        "repairs": repair_documents(preview.repairs),
        "ignored": dict(preview.ignored),
        "imported_before": before.imported_at.isoformat() if before else None,
    }


def _report(
    done: Sequence[_Imported], names: dict[str, str], *, failures: int
) -> Iterator[RenderableType]:
    """One line a conversation, then what was left out or put right."""
    counted = ("messages", "calls", "compactions", "problems", "repairs")
    are_known = any(one.before for one in done)
    last = [">imported before"] if are_known else []
    table = make_table(">session", "title", "format", *(f">{name}" for name in counted), *last)
    table.columns[0].justify = "left"
    for one in done:
        preview = one.preview
        repairs = sum(repair.count for repair in preview.repairs)
        numbers = (
            *(preview.messages, preview.calls, preview.compactions),
            *(len(preview.problems), repairs),
        )
        add_row(
            table,
            names[one.session.id],
            one_line(preview.title),
            one_line(preview.format),
            *(f"{number:,}" if number else "" for number in numbers),
            *([f"{one.before.imported_at:%Y-%m-%d}" if one.before else ""] if are_known else []),
        )
    yield table
    yield from _told("Problems", done, lambda preview: map(str, preview.problems))
    yield from _told("Repairs", done, lambda preview: repair_lines(preview.repairs))
    skipped = sum(one.before is not None for one in done)
    stored = f"{plural(len(done) - skipped, 'session')} stored"
    left = f"{skipped:,} imported before and skipped (--again imports them)"
    yield from closing([stored, left] if skipped else [stored], failures)


def _told(
    title: str, done: Iterable[_Imported], texts: Callable[[ImportPreview], Iterable[str]]
) -> Iterator[RenderableType]:
    lines = [f"{one.path.name}: {text}" for one in done for text in texts(one.preview)]
    if lines:
        yield section(title)
        yield from bullets(lines, most=_MOST_LINES, more="(--json lists all)")
