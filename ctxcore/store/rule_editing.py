"""Stores what people say of the rules of sessions, and who said it when.

An edit is in force until it is cleared. The session's row has a copy of those in force.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from ctxcore.facts.rule_edits import RuleEdit, RuleEdits
from ctxcore.store.appending import get_session
from ctxcore.store.database import Area
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import dump_rule_edits, to_rule_edit_info
from ctxcore.store.values import RuleEditInfo
from ctxcore.tables import RULE_EDIT, SESSION


class RuleEditing(Area):
    """The edits of the rules of sessions."""

    def add_rule_edit(
        self, session_id: str, edit: RuleEdit, *, by: str, at: datetime
    ) -> RuleEditInfo:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if not 0 < edit.seq <= session["length"]:
                raise RecordNotFoundError(kind="message", record_id=edit.seq)
            same = _in_force(connection, session_id, edit)
            if same is not None:
                return same
            place = {"session_id": session_id, "seq": edit.seq, "kind": edit.kind}
            row = {**place, "text": edit.text, "set_by": by, "set_at": at}
            connection.execute(insert(RULE_EDIT), {**row, "cleared_by": None, "cleared_at": None})
            renew_edits(connection, session_id)
            found = _in_force(connection, session_id, edit)
            assert found is not None
            return found

    def clear_rule_edit(self, session_id: str, edit_id: int, *, by: str, at: datetime) -> bool:
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            own = (RULE_EDIT.c.session_id == session_id) & (RULE_EDIT.c.id == edit_id)
            is_set = RULE_EDIT.c.cleared_at.is_(None)
            changed = update(RULE_EDIT).where(own, is_set)
            values = {"cleared_by": by, "cleared_at": at}
            is_cleared = connection.execute(changed, values).rowcount > 0
            if not is_cleared and connection.execute(select(RULE_EDIT.c.id).where(own)).first():
                return False
            if not is_cleared:
                raise RecordNotFoundError(kind="rule edit", record_id=edit_id)
            renew_edits(connection, session_id)
            return True

    def rule_edits(self, session_id: str, *, with_cleared: bool = False) -> list[RuleEditInfo]:
        every = select(RULE_EDIT).where(RULE_EDIT.c.session_id == session_id)
        found = every if with_cleared else _set_edits(session_id)
        return self._list(found.order_by(RULE_EDIT.c.seq, RULE_EDIT.c.id), to_rule_edit_info)


def renew_edits(connection: Connection, session_id: str) -> None:
    """Writes the copy of the edits in force into the locked session."""
    rows = connection.execute(_set_edits(session_id)).mappings()
    edits = RuleEdits.of(to_rule_edit_info(row).edit for row in rows)
    changed = {"rule_edits": dump_rule_edits(edits)}
    connection.execute(update(SESSION).where(SESSION.c.id == session_id), changed)


def _set_edits(session_id: str) -> Select[Any]:
    of_session = RULE_EDIT.c.session_id == session_id
    return select(RULE_EDIT).where(of_session, RULE_EDIT.c.cleared_at.is_(None))


def _in_force(connection: Connection, session_id: str, edit: RuleEdit) -> RuleEditInfo | None:
    """The same edit, where it is in force."""
    found = _set_edits(session_id).where(RULE_EDIT.c.seq == edit.seq, RULE_EDIT.c.kind == edit.kind)
    edits = map(to_rule_edit_info, connection.execute(found).mappings())
    return next((known for known in edits if known.edit.key == edit.key), None)
