"""`ctxcore doctor`, `backup` and `restore`: whether a database is sound, and copies of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import (
    one_line,
    plural,
    print_all,
    print_error,
    print_json,
    print_note,
    progress,
)
from ctxcore.cli.running import Failure, fail, problem_document, to_document
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.messages.values import JsonObject
    from ctxcore.store.values import Finding

_UNREAD = "files and indexes of the server are not read: pg_amcheck does that"
_LISTED = 100  # chosen: a screen or two; --json has all
Repairs = Annotated[
    bool,
    typer.Option("--repair", help="Make again what can be derived from what is sound."),
]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the backup.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def run_doctor(
    repairs: Repairs = False,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Check all of a database: messages, references, token counts, search, what was left over.

    Exits with 1 if damage is left. Messages have no checksums: each is parsed.
    """
    try:
        with opened_engine(database, user) as engine:
            found = _examined(engine, repairs=repairs)
            info = engine.store.database_info()
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("doctor", failure, as_json=as_json)
    left = [one for one in found if not one.is_repaired]
    if as_json:
        print_json(to_document("doctor", map(_document, found)))
    else:
        print_all(_table(found[:_LISTED]) if found else ())
        if len(found) > _LISTED:
            print_note(f"{len(found) - _LISTED:,} more; --json lists all")
        print_note(_told(found, left, info.sessions))
        if info.kind != "sqlite":
            print_note(_UNREAD)
    if left:
        raise typer.Exit(1)


def _examined(engine: ContextEngine, *, repairs: bool) -> list[Finding]:
    total = engine.store.database_info().sessions
    with progress("checking", total, is_shown=True, unit="sessions") as advance:
        return list(
            engine.examine_database(repairs=repairs, on_progress=lambda done, all_: advance(1))
        )


def _document(finding: Finding) -> JsonObject:
    return {
        "session_id": finding.session_id,
        "repairable": finding.is_repairable,
        "repaired": finding.is_repaired,
        **problem_document(finding.reason),
    }


def _table(found: Sequence[Finding]) -> Iterator[RenderableType]:
    table = make_table("session", "*found", "state")
    for one in found:
        state = "repaired" if one.is_repaired else "repairable" if one.is_repairable else "damaged"
        add_row(table, one_line(one.session_id or ""), one_line(str(one.reason)), state)
    yield table


def _told(found: Sequence[Finding], left: Sequence[Finding], sessions: int) -> str:
    checked = f"checked {plural(sessions, 'session')}: "
    if not found:
        return checked + "nothing is damaged"
    repaired = len(found) - len(left)
    repairable = sum(one.is_repairable for one in left)
    parts = [
        f"{repaired:,} repaired" if repaired else "",
        f"{repairable:,} can be repaired with --repair" if repairable else "",
    ]
    if lost := len(left) - repairable:
        parts.append(f"{lost:,} cannot be repaired: restore a backup, or go on without")
    return checked + "; ".join(filter(None, parts))


def run_backup(
    file: BackupFile, force: Force = False, database: Database = None, user: User = "local"
) -> None:
    """Copy the database into a file while it is in use.

    The file appears once it is complete. For PostgreSQL the command of its own tool is printed.
    """
    from ctxcore.engine.health import dump_command

    try:
        with opened_engine(database, user) as engine:
            info = engine.store.database_info()
            if info.kind != "sqlite":
                print_error("PostgreSQL is backed up with its own tool; run this:")
                typer.echo(dump_command(info))
                raise typer.Exit(1)
            engine.back_up(file, overwrite=force)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("backup", failure, as_json=False)
    print_note(f"backed up to {one_line(str(file))}")


def run_restore(
    file: BackupFile, force: Force = False, database: Database = None, user: User = "local"
) -> None:
    """Put a backup in the place of the database, which is kept beside it.

    The backup is checked before. A database with sessions is replaced only with --force. Records of
    who read what stay.
    """
    from ctxcore.store.restoring import restore

    now = datetime.now(UTC)
    try:
        kept, findings = restore(file, database, at=now, user_id=user, overwrite=force)
    except ContextError as error:
        failure = Failure(path=str(file), kind=type(error).__name__, reason=error.reason)
        fail("restore", failure, as_json=False)
    left = [one for one in findings if not one.is_repaired]
    print_all(_table(left[:_LISTED]) if left else ())
    print_note(f"restored {one_line(str(file))}")
    if kept is not None:
        print_note(f"the former database is {one_line(str(kept))}")
    if left:
        print_note(f"{plural(len(left), 'part')} cannot be read")
