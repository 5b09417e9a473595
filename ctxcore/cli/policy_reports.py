"""`ctxcore policy history` and `ctxcore policy effects`: who changed what, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.options import AsCsv, AsJson, Database
from ctxcore.cli.output import (
    known_dollars,
    one_line,
    percent,
    print_all,
    print_csv,
    print_json,
    print_note,
)
from ctxcore.cli.policy_files import change_documents, change_texts
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.scopes import ScopeName, scope_named, scope_text
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table, section
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.policy_effects import PolicyFigures, VersionEffect
    from ctxcore.messages.values import JsonObject
    from ctxcore.policy.changes import FieldChange
    from ctxcore.store.values import PolicyChange

By = Annotated[
    str | None, typer.Option("--by", metavar="USER", help="Only what this user changed.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest N versions.")]
CAVEAT = (
    "before and under a version the traffic may differ: other tasks, models or users change these "
    "figures too"
)


def run_history(
    by: By = None,
    limit: Limit = 50,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List who changed which field of which policy, newest first, with its values.

    Operators see all changes, other users those that concern them.
    """
    try:
        with opened_engine(database, user) as engine:
            own = None if engine.user().is_operator else user
            changes = engine.reports.changes(user_id=own, by=by, limit=limit)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("policy history", failure, as_json=as_json)
    if as_json:
        print_json(to_document("policy history", map(_change_document, changes)))
    elif as_csv:
        print_csv([_cells(change, field) for change, field in _fields(changes)])
    elif changes:
        print_all(_history_table(changes))
    else:
        print_note("no policy was ever changed here")


def run_effects(
    scope: ScopeName = "me",
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Show figures of the calls before and under each version of a scope's policy.

    They are compared once both have 50 calls.
    """
    try:
        with opened_engine(database, user) as engine:
            effects = engine.reports.effects(scope_named(scope, engine))
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("policy effects", failure, as_json=as_json)
    if as_json:
        print_json(to_document("policy effects", map(_effect_document, effects)))
    elif effects:
        print_all(part for effect in effects for part in _effect_view(effect))
        print_note(CAVEAT)
    else:
        print_note("the policy of this scope was never changed")


def _fields(changes: Sequence[PolicyChange]) -> Iterator[tuple[PolicyChange, FieldChange]]:
    for change in changes:
        for field in change.fields:
            yield change, field


def _cells(change: PolicyChange, field: FieldChange) -> dict[str, object]:
    version = change.version
    before, after = change_texts(field)
    return {
        "at": version.created_at.isoformat(timespec="seconds"),
        "by": version.created_by,
        "scope": scope_text(version.scope),
        "version": version.version,
        "field": field.field,
        "before": before,
        "after": after,
    }


def _history_table(changes: Sequence[PolicyChange]) -> Iterator[RenderableType]:
    table = make_table(">at", "by", "scope", ">version", ">field", "*before", "*after")
    table.columns[0].justify = table.columns[4].justify = "left"
    for change, field in _fields(changes):
        cells = _cells(change, field)
        at = f"{change.version.created_at.astimezone():%Y-%m-%d %H:%M}"
        texts = [one_line(str(cells[name])) for name in ("by", "scope", "version", "field")]
        add_row(table, at, *texts, str(cells["before"]), str(cells["after"]))
    yield table


def _change_document(change: PolicyChange) -> JsonObject:
    version = change.version
    return {
        "version_id": version.id,
        "scope": scope_text(version.scope),
        "version": version.version,
        "by": version.created_by,
        "at": version.created_at.isoformat(),
        "changes": change_documents(change.fields),
    }


def _effect_document(effect: VersionEffect) -> JsonObject:
    return {
        **_change_document(effect.change),
        "is_told": effect.is_told,
        "before": effect.before.to_dict(),
        "after": effect.after.to_dict(),
    }


def _effect_view(effect: VersionEffect) -> Iterator[RenderableType]:
    from ctxcore.engine.policy_effects import LEAST_CALLS

    version = effect.change.version
    at = f"{version.created_at.astimezone():%Y-%m-%d %H:%M}"
    yield section(f"version {version.version}", f"{at} by {one_line(version.created_by)}")
    for field in effect.change.fields:
        before, after = change_texts(field)
        yield Text(f"  {field.field}: {before} → {after}")
    for name, figures in (("before", effect.before), ("under it", effect.after)):
        if not figures.has_enough:
            yield Text(f"  {name}: not yet, {figures.calls:,} of {LEAST_CALLS} calls", style="dim")
    table = make_table("", ">before", ">under it")
    for name, shown in _FIGURES.items():
        add_row(table, name, shown(effect.before), shown(effect.after))
    yield table


def _number(value: float | None, digits: int = 0) -> str:
    return "unknown" if value is None else f"{value:,.{digits}f}"


def _told(value: str, figures: PolicyFigures) -> str:
    """A figure that says something only with enough calls."""
    return value if figures.has_enough else f"({value})" if figures.calls else "–"


_FIGURES: dict[str, Callable[[PolicyFigures], str]] = {
    "calls": lambda one: f"{one.calls:,}",
    "tokens a call": lambda one: _told(_number(one.call_tokens), one),
    "cost a call": lambda one: _told(known_dollars(one.call_dollars), one),
    "from cache": lambda one: _told(
        "unknown" if one.cached_ratio is None else percent(one.cached_ratio), one
    ),
    "compactions per 100 calls": lambda one: _told(_number(one.compactions_per_100, 1), one),
    "failed summaries": lambda one: f"{one.failed_summaries:,}",
    "refused as too long": lambda one: f"{one.refused:,}",
    "forgetful turns per 100": lambda one: _told(_number(one.forgetful_per_100, 1), one),
}
