"""`ctxcore signals`: lists turns of a stored session that show that something was forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import one_line, plural, print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.sessions import Session, User, find_session, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.compression.markers import reference
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject
    from ctxcore.store.values import SignalInfo

_TEXT_CHARS = 60  # of a message in the table; chosen: one line
_KINDS = {"repeated": "repeated", "asked_again": "asked again", "said_so": "said so"}
_VERDICTS = {
    "kept": "shown",
    "compressed": "shortened",
    "summarized": "folded",
    "recalled": "folded, recalled later",
    "dropped": "outside",
    None: "not found",
}


def run_signals(
    session: Session, database: Database = None, user: User = "local", as_json: AsJson = False
) -> None:
    """List the turns of a stored session that repeat something, ask for it again or say so.

    Each stands with the earlier message, and what the context made of that.
    """
    try:
        with opened_engine(database, user) as engine:
            found = find_session(engine, session)
            signals = engine.signals(found.id)
            said = {
                one.seq: _said(engine.store.messages(found.id, one.seq, one.seq)[0].message.text)
                for one in signals
            }
    except ContextError as error:
        failure = Failure(path="", id=session, kind=type(error).__name__, reason=error.reason)
        fail("signals", failure, as_json=as_json)
    if as_json:
        print_json(to_document("signals", [_document(one) for one in signals]))
    elif signals:
        print_all(_table(signals, said))
        hidden = sum(one.is_forgetting for one in signals)
        print_note(f"{plural(len(signals), 'signal')}, {hidden:,} of what the context did not show")
    else:
        print_note("no turn of this session repeats anything, asks for it again or says so")


def _said(text: str) -> str:
    return one_line(text)[:_TEXT_CHARS]


def _document(signal: SignalInfo) -> JsonObject:
    return {
        "id": signal.id,
        "session_id": signal.session_id,
        "seq": signal.seq,
        "kind": signal.kind,
        "earlier": list(signal.earlier),
        "verdict": signal.verdict,
        "compaction_id": signal.compaction_id,
        "right": signal.is_right,
        "at": signal.created_at.isoformat(),
    }


def _table(signals: Sequence[SignalInfo], said: Mapping[int, str]) -> Iterator[RenderableType]:
    table = make_table("message", "signal", "earlier", "was", "said")
    for one in signals:
        dismissed = " (dismissed)" if one.is_right is False else ""
        add_row(
            table,
            reference(one.seq),
            _KINDS[one.kind] + dismissed,
            ", ".join(map(reference, one.earlier)),
            _VERDICTS[one.verdict],
            said[one.seq],
        )
    yield table
