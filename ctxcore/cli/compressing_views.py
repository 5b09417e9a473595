"""Owns how a compressed output is printed: its size, and what was left out beside what stayed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.tables import add_row, facts, make_table
from ctxcore.cli.texts import block, one_line, percent
from ctxcore.compression.markers import Elision, amount, totals
from ctxcore.compression.outputs import Compressed
from ctxcore.compression.sides import elided_text
from ctxcore.messages.values import JsonObject

MOST_PARTS = 200  # shown; the rest are counted
EXCERPT_CHARS = 60


def size_note(compressed: Compressed) -> str:
    """One line: tokens before and after, and how much of what is gone."""
    gone = ", ".join(amount(count, unit) for unit, count in totals(compressed.elided).items())
    return f"{size(compressed)}; {gone or 'nothing'} left out"


def size(compressed: Compressed) -> str:
    """Tokens before and after."""
    before, after = compressed.original_tokens, compressed.tokens
    share = percent(after / before) if before else "100 %"
    return f"{before:,} → {after:,} tokens ({share})"


def compressed_document(name: str, output: str, compressed: Compressed) -> JsonObject:
    """The result as JSON, with every part that was left out and where it was."""
    return {
        "path": name,
        "kind": compressed.kind,
        "original_tokens": compressed.original_tokens,
        "tokens": compressed.tokens,
        "text": compressed.text,
        "elided": [_part(output, part) for part in compressed.elided],
    }


def _part(output: str, part: Elision) -> JsonObject:
    return {
        "unit": part.unit,
        "count": part.count,
        "path": part.path,
        "start": part.start,
        "stop": part.stop,
        "begins": elided_text(output, part, max_chars=EXCERPT_CHARS),
    }


def side_by_side(output: str, compressed: Compressed) -> Iterator[RenderableType]:
    """The sizes, the result, and a line for each part that was left out of it."""
    yield facts((("kind", compressed.kind), ("size", size(compressed))))
    yield Text()
    yield Text(block(compressed.text))
    yield Text()
    if not compressed.elided:
        yield Text("nothing is left out", style="dim")
        return
    table = make_table("left out", ">how much", "*begins with")
    for part in compressed.elided[:MOST_PARTS]:
        begins = elided_text(output, part, max_chars=EXCERPT_CHARS)
        add_row(table, where(part), amount(part.count, part.unit), one_line(begins))
    yield table
    more = len(compressed.elided) - MOST_PARTS
    if more > 0:
        yield Text(f"and {more:,} more parts", style="dim")


def where(part: Elision) -> str:
    """The place of a part, as `extract` takes it: a path, and rows from where to where."""
    if part.start is None or part.stop is None:
        return one_line(part.path) or "the output"
    rows = f"{part.start:,}:{part.stop:,}".replace(",", "")
    return f"{one_line(part.path)} {rows}".strip()
