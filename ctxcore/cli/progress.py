"""Owns telling on stderr how far long work is, where somebody looks on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ctxcore.cli.output import stderr

Advance = Callable[[int], None]


@contextmanager
def progress(label: str, total: int, *, is_shown: bool) -> Iterator[Advance]:
    """A bar that the yielded function moves on by so many of `total`; gone when it is over."""
    console = stderr()
    if not is_shown or not console.is_terminal:
        yield lambda count: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn(label, markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
