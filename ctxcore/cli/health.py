"""`ctxcore health`: the state of an installation, as the dashboard's Health page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import one_line, plural, print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, problem_document, to_document
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.health import CounterHealth, Health
    from ctxcore.messages.values import JsonObject

Check = Annotated[bool, typer.Option("--check", help="Read all of the database for damage.")]
Backup = Annotated[
    Path | None,
    typer.Option("--backup", metavar="FILE", help="Copy the database into a new file."),
]


def run_health(
    check: Check = False,
    backup: Backup = None,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Show versions, database, running turns, failed calls, models and counters."""
    try:
        with opened_engine(database, user) as engine:
            found = engine.health()
            problems = engine.check_database() if check else None
            if backup is not None:
                engine.back_up(backup)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("health", failure, as_json=as_json)
    if as_json:
        print_json(to_document("health", [health_document(found, problems, checked=check)]))
        return
    print_all(_tables(found))
    if check:
        print_note(_told(problems))
    if backup is not None:
        print_note(f"backed up to {one_line(str(backup))}")


def health_document(
    health: Health, problems: list[str] | None, *, checked: bool = False
) -> JsonObject:
    """The same as one JSON object; `problems` is null unless the database was checked."""
    database: JsonObject = {
        "kind": health.database.kind,
        "url": health.database.url,
        "size_bytes": health.database.size_bytes,
        "revision": health.database.revision,
        "sessions": health.database.sessions,
        "checked": checked and problems is not None,
        "problems": list(problems) if problems is not None else None,
    }
    return {
        "versions": dict(health.versions),
        "catalogue_date": health.catalogue_date,
        "database": database,
        "running_turns": [
            {
                "session_id": turn.session_id,
                "turn": turn.number,
                "model": turn.model,
                "started_at": turn.started_at.isoformat(),
            }
            for turn in health.running
        ],
        "failed_calls": [
            {
                "at": call.created_at.isoformat(),
                "session_id": call.session_id,
                "model": call.model,
                **(problem_document(call.error) if call.error else {}),
            }
            for call in health.errors
        ],
        "counters": [_counter(one) for one in health.counters],
        "models": [
            {
                "model": model.model,
                "window_tokens": model.window_tokens,
                "window_source": model.window_source,
                "price_source": model.price_source,
            }
            for model in health.models
        ],
    }


def _counter(one: CounterHealth) -> JsonObject:
    is_known = one.factor.error_ratio is not None
    return {
        "model": one.model,
        "counter": one.counter_id,
        "calls": one.calls,
        "provider_per_own": one.factor.value if is_known else None,
        "error_ratio": one.factor.error_ratio,
    }


def _tables(health: Health) -> Iterator[RenderableType]:
    table = make_table("what", "*is")
    for name, version in health.versions:
        add_row(table, name, version)
    database = health.database
    add_row(table, "database", one_line(database.url))
    add_row(table, "size", f"{database.size_bytes / 1_000_000:,.1f} MB")
    add_row(table, "schema", database.revision or "unknown")
    add_row(table, "sessions", f"{database.sessions:,} with deleted ones")
    add_row(table, "running", plural(len(health.running), "turn"))
    yield table
    if health.errors:
        errors = make_table("failed at", "model", "*error")
        for call in health.errors:
            at = f"{call.created_at:%Y-%m-%d %H:%M:%S}"
            add_row(errors, at, one_line(call.model or "unknown"), one_line(str(call.error)))
        yield errors
    if health.counters:
        yield _counters(health)
    models = make_table("model", ">window", "window from", "price from")
    for model in health.models:
        window = "unknown" if model.window_tokens is None else f"{model.window_tokens:,}"
        add_row(models, one_line(model.model), window, model.window_source, model.price_source)
    yield models


def _counters(health: Health) -> RenderableType:
    table = make_table("model", "counted by", ">calls", ">provider / ours")
    for one in health.counters:
        error = one.factor.error_ratio
        share = "too few" if error is None else f"{one.factor.value:.0%} ± {error:.0%}"
        add_row(table, one_line(one.model), one.counter_id, f"{one.calls:,}", share)
    return table


def _told(problems: list[str] | None) -> str:
    if problems is None:
        return "this database cannot be checked from here"
    return "; ".join(problems) if problems else "the database is not damaged"
