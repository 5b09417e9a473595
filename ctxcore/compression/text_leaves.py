"""Owns long texts inside JSON, e.g. what a command printed: they lose lines, not their middle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxcore.compression.kinds import detect_text_kind
from ctxcore.compression.line_selection import Lines
from ctxcore.compression.markers import Elision
from ctxcore.compression.target import Target
from ctxcore.compression.tree import Leaf

LEAST_LINES: Final = 8
LEAST_CHARS: Final = 400


def has_lines(text: str) -> bool:
    """Whether leaving lines out says more than cutting the middle out."""
    return len(text) >= LEAST_CHARS and text.count("\n") >= LEAST_LINES


class LinedLeaf(Leaf):
    """A text of many lines: shortened, it keeps the lines worth most."""

    __slots__ = ("_found", "_lines", "_target")

    def __init__(self, value: str, worth: float, target: Target) -> None:
        super().__init__(value, worth, target.terms)
        self._target = target
        self._lines: Lines | None = None
        self._found: dict[int, tuple[str, list[Elision]]] = {}

    def _text(self) -> str:
        return self._selected()[0] or super()._text()

    def gone(self, path: str) -> Iterator[Elision]:
        text, gone = self._selected() if self._keep_chars else ("", [])
        if not text:
            yield from super().gone(path)
        for part in gone:
            yield Elision(
                unit=part.unit, count=part.count, path=path, start=part.start, stop=part.stop
            )

    def _selected(self) -> tuple[str, list[Elision]]:
        """The lines for the length that is kept, and what is gone; no text if none has room."""
        keep = self._keep_chars[-1]
        if keep not in self._found:
            text = str(self.value)
            if self._lines is None:
                self._lines = Lines.of(text.split("\n"), detect_text_kind(text), self._target)
            self._found[keep] = self._lines.select(self._full[0] * keep / len(text))
        return self._found[keep]
