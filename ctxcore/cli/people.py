"""`ctxcore users` and `ctxcore audit`: roles, and who read what others said.

Whoever can open the database can also give roles: that is how the first operator is made where
people log in, and the next one where none is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import one_line, print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.sessions import Limit, User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.messages.values import JsonObject
    from ctxcore.store.values import AuditRecord, UserInfo

Change = Annotated[
    str | None, typer.Option("--change", metavar="ID", help="Change the roles of this user.")
]
Operator = Annotated[
    bool | None,
    typer.Option("--operator/--no-operator", help="Sees the figures of all, and sets roles."),
]
Auditor = Annotated[
    bool | None,
    typer.Option("--auditor/--no-auditor", help="An operator who may read what others said."),
]
_ACTIONS = {
    "open": "opened",
    "list": "saw the title",
    "export": "copied or exported",
    "recall": "searched",
    "replay": "replayed",
    "change": "changed",
    "delete": "deleted",
    "assign": "assigned",
    "backup": "copied the database",
    "restore": "restored the database",
    "roles": "set roles",
    "login_roles": "got roles by login",
}


def run_users(
    change: Change = None,
    operator: Operator = None,
    auditor: Auditor = None,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """List the users with their roles, or change the roles of one; for operators."""
    if (change is None) != (operator is None and auditor is None):
        raise typer.BadParameter("--change takes --operator or --auditor, and these take --change")
    try:
        with opened_engine(database, user) as engine:
            if change is not None:
                _set(engine, change, operator, auditor)
            users = engine.users()
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("users", failure, as_json=as_json)
    if as_json:
        print_json(to_document("users", map(_user_document, users)))
    else:
        print_all(_users(users))


def run_audit(
    limit: Limit = 50,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """List who read what others said and who set roles, the newest first.

    Operators see all of it, others what concerns them.
    """
    try:
        with opened_engine(database, user) as engine:
            records = engine.people.audit(limit=limit)
            names = engine.people.names(records)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("audit", failure, as_json=as_json)
    if as_json:
        print_json(to_document("audit", map(_record_document, records)))
    elif records:
        print_all(_records(records, names))
    else:
        print_note("nobody has read what others said")


def _set(engine: ContextEngine, user_id: str, operator: bool | None, auditor: bool | None) -> None:
    known = engine.store.user(user_id)
    is_operator = known.is_operator if operator is None else operator
    is_auditor = known.is_auditor if auditor is None else auditor
    if is_operator:
        engine.people.appoint(user_id, is_auditor=is_auditor)
    else:
        engine.people.set_roles(user_id, is_operator=False, is_auditor=is_auditor)


def _user_document(user: UserInfo) -> JsonObject:
    return {
        "id": user.id,
        "name": user.name,
        "group": user.group,
        "operator": user.is_operator,
        "auditor": user.reads_others,
        "since": user.created_at.isoformat(),
    }


def _users(users: Sequence[UserInfo]) -> Iterator[RenderableType]:
    table = make_table(">id", "name", "group", "roles", ">since")
    table.columns[0].justify = table.columns[-1].justify = "left"
    for user in users:
        roles = _roles(is_operator=user.is_operator, is_auditor=user.reads_others)
        since = f"{user.created_at:%Y-%m-%d}"
        add_row(table, one_line(user.id), one_line(user.name), one_line(user.group), roles, since)
    yield table


def _roles(*, is_operator: bool, is_auditor: bool) -> str:
    if not is_operator:
        return "user"
    return "operator, auditor" if is_auditor else "operator"


def _record_document(record: AuditRecord) -> JsonObject:
    return {
        "id": record.id,
        "at": record.created_at.isoformat(),
        "user_id": record.user_id,
        "action": record.action,
        "owner_id": record.owner_id,
        "session_id": record.session_id,
        "operator": record.is_operator,
        "auditor": record.is_auditor,
    }


def _records(records: Sequence[AuditRecord], names: Mapping[str, str]) -> Iterator[RenderableType]:
    table = make_table(">at", "who", "*what", "whose", ">session")
    table.columns[0].justify = table.columns[-1].justify = "left"
    for one in records:
        what = _ACTIONS[one.action]
        if one.is_operator is not None:
            is_auditor = bool(one.is_auditor)
            what += f": {_roles(is_operator=one.is_operator, is_auditor=is_auditor)}"
        whose = "everybody" if one.owner_id is None else names.get(one.owner_id, one.owner_id)
        add_row(
            table,
            f"{one.created_at.astimezone():%Y-%m-%d %H:%M}",
            one_line(names.get(one.user_id, one.user_id)),
            what,
            one_line(whose),
            one_line((one.session_id or "")[:8]),
        )
    yield table
