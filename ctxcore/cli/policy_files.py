"""`ctxcore policy export` and `ctxcore policy import`: a stored policy as a YAML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import check_out, one_line, print_all, print_json, print_note, print_text
from ctxcore.cli.policies import written
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.scopes import ScopeName, scope_named, scope_text
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError
from ctxcore.settings.loading import text_of_file

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject, JsonValue
    from ctxcore.policy.changes import FieldChange

Whole = Annotated[
    bool, typer.Option("--whole", help="Every field, also those that the scope inherits.")
]
OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write to this file, not to stdout.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")]
PolicyFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A YAML file as `ctxcore policy export` writes it.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Save what the preview shows.")]


def run_export(
    scope: ScopeName = "me",
    whole: Whole = False,
    out: OutFile = None,
    overwrite: Overwrite = False,
    database: Database = None,
    user: User = "local",
) -> None:
    """Write what a scope changes about the policy as YAML."""
    check_out(out, overwrite=overwrite, option="--overwrite")
    try:
        with opened_engine(database, user) as engine:
            text = engine.reports.policy_text(scope_named(scope, engine), whole=whole)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("policy export", failure, as_json=False)
    if out is None:
        print_text(text.rstrip("\n"))
        return
    out.write_text(text, encoding="utf-8", newline="\n")
    print_note(f"wrote {out}")


def run_import(
    path: PolicyFile,
    scope: ScopeName = "me",
    yes: Yes = False,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Show what a YAML file would change in a scope's policy; with --yes save it.

    The file replaces what the scope set before; that version remains and can be restored.
    """
    try:
        text = text_of_file(path)
        with opened_engine(database, user) as engine:
            target = scope_named(scope, engine)
            draft = engine.reports.draft(target, text, name=str(path))
            changes = draft.changes
            is_saved = yes and bool(changes)
            if is_saved:
                engine.save_policy(target, draft.after)
    except ContextError as error:
        failure = Failure(path=str(path), kind=type(error).__name__, reason=error.reason)
        fail("policy import", failure, as_json=as_json)
    if as_json:
        result: JsonObject = {
            "scope": scope_text(target),
            "is_saved": is_saved,
            "changes": change_documents(changes),
        }
        print_json(to_document("policy import", [result]))
        return
    if not changes:
        print_note(f"{scope_text(target)}: the file changes nothing")
        return
    print_all(changes_table(changes))
    if is_saved:
        print_note(f"saved for {scope_text(target)}; in force from the next turn on")
    else:
        print_note(f"not saved; pass --yes to save this for {scope_text(target)}")


def changes_table(changes: Iterable[FieldChange]) -> Iterator[RenderableType]:
    """One line a field: its value before and after."""
    table = make_table(">field", "*before", "*after")
    table.columns[0].justify = "left"
    for change in changes:
        add_row(table, change.field, *change_texts(change))
    yield table


def change_texts(change: FieldChange) -> tuple[str, str]:
    """The values before and after; a field that was or is not set is inherited."""
    before = one_line(written(change.before)) if change.was_set else "inherited"
    return before, one_line(written(change.after)) if change.is_set else "inherited"


def change_documents(changes: Iterable[FieldChange]) -> list[JsonValue]:
    """Changes as JSON."""
    return [change.to_dict() for change in changes]
