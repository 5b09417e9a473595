"""`ctxcore export`: writes stored sessions as files, in any registered form."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.options import Database
from ctxcore.cli.output import (
    check_out,
    check_redaction,
    plural,
    print_error,
    print_note,
    progress,
    secrets_text,
    write_file,
)
from ctxcore.cli.running import Failure, fail
from ctxcore.cli.sessions import User, find_session, opened_engine
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.exports.files import ExportedFile
    from ctxcore.reasons.values import Reason
    from ctxcore.redaction.shapes import SecretKind

_STDOUT = "-"
_MOST_DAMAGE = 20  # chosen: the first ones tell enough

Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SESSION",
        help="Ids of stored sessions, or their beginnings; `ctxcore sessions` lists them.",
    ),
]
Every = Annotated[
    bool, typer.Option("--all", help="All sessions of the user that are not deleted.")
]
Form = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="E.g. native, claude-code, markdown, html or usage-csv; a name that is none is "
        "answered with all of them.",
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A file, a folder that is there, or - for stdout, the default.",
    ),
]
Zipped = Annotated[bool, typer.Option("--zip", help="Pack the files into one ZIP.")]
Redacts = Annotated[
    bool,
    typer.Option("--redact", help="Put marks in the place of keys, tokens and passwords."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")]


def run_export(
    sessions: Sessions = None,
    every: Every = False,
    form: Form = "native",
    out: Target = _STDOUT,
    zipped: Zipped = False,
    redacts: Redacts = False,
    overwrite: Overwrite = False,
    database: Database = None,
    user: User = "local",
) -> None:
    """Write stored sessions as files: complete, for another program, or for reading.

    Several sessions need a folder as --out, or --zip; tables of usage hold all of them.
    """
    from ctxcore.exports.registry import export_form  # 0.4 s, for the database

    if bool(sessions) == every:
        raise typer.BadParameter("name sessions, or pass --all for every one", param_hint="SESSION")
    if redacts:
        check_redaction()
    folder = Path(out) if out != _STDOUT and Path(out).is_dir() else None
    if out != _STDOUT and folder is None:
        check_out(Path(out), overwrite=overwrite, option="--overwrite")
    try:
        is_joined = export_form(form).is_joined
        with opened_engine(database, user) as engine:
            ids = _all_ids(engine) if every else _named_ids(engine, sessions or [])
            if len(ids) > 1 and not (zipped or folder or is_joined):
                raise typer.BadParameter(
                    f"{len(ids):,} sessions need a folder, or --zip", param_hint="--out"
                )
            if redacts:
                _tell_secrets(engine, ids)
            files = engine.export_many(ids, form, redacts=redacts)
            if zipped:
                files = iter([_packed(files, len(ids))])
            damage: list[Reason] = []
            for file in files:
                _write(file, folder, out, overwrite=overwrite)
                damage += file.damage
    except ContextError as error:
        failure = Failure(path=form, kind=type(error).__name__, reason=error.reason)
        fail("export", failure, as_json=False)
    if folder is not None:
        print_note(f"exported {plural(len(ids), 'session')} to {folder}")
    if damage:
        _tell_damage(damage)
        raise typer.Exit(1)


def _tell_damage(damage: Sequence[Reason]) -> None:
    """Prints what of the sessions is damaged, and so is not in the files."""
    for reason in damage[:_MOST_DAMAGE]:
        print_error(str(reason))
    if (more := len(damage) - _MOST_DAMAGE) > 0:
        print_note(f"and {more:,} more")
    print_note(
        f"everything else was exported; {plural(len(damage), 'part')} of the sessions cannot be "
        "read: see `ctxcore doctor`"
    )


def _tell_secrets(engine: ContextEngine, ids: Iterable[str]) -> None:
    """Prints how many secrets are left out, by kind."""
    counts: Counter[SecretKind] = Counter()
    for session_id in ids:
        counts.update(engine.secrets_in(session_id))
    print_note(f"secrets left out: {secrets_text(counts)}")


def _named_ids(engine: ContextEngine, beginnings: Iterable[str]) -> list[str]:
    """The ids of the sessions named, each once."""
    return list(dict.fromkeys(find_session(engine, one).id for one in beginnings))


def _all_ids(engine: ContextEngine) -> list[str]:
    count = engine.store.count_sessions(engine.user_id)
    return [session.id for session in engine.sessions(limit=max(count, 1))]


def _packed(files: Iterable[ExportedFile], count: int) -> ExportedFile:
    from ctxcore.exports.files import ExportedFile, noting_damage, write_zip

    data = io.BytesIO()
    damage: list[Reason] = []
    with progress("exporting", count, is_shown=True) as advance:
        for _ in write_zip(data, noting_damage(files, damage)):
            advance(1)
    return ExportedFile("ctxcore-sessions.zip", data.getvalue(), tuple(damage))


def _write(file: ExportedFile, folder: Path | None, out: str, *, overwrite: bool) -> None:
    if folder is not None:
        write_file(folder / file.name, file.data, overwrite=overwrite)
    elif out != _STDOUT:
        write_file(Path(out), file.data, overwrite=overwrite)
    else:
        sys.stdout.buffer.write(file.data)
        sys.stdout.buffer.flush()
