"""Notes the SQL statements that run, of all databases of the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event
from sqlalchemy.engine import Engine


@contextmanager
def statements_run() -> Iterator[list[str]]:
    """The statements that run inside, in order."""
    run: list[str] = []

    def note(connection: object, cursor: object, statement: str, *others: object) -> None:
        run.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        event.remove(Engine, "before_cursor_execute", note)
