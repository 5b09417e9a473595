"""What is imported: a text, or a file that is read piece by piece, never held as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from ctxcore.errors import FormatError
from ctxcore.formats.native import KIND, is_native
from ctxcore.formats.records import Records, decoded_pieces
from ctxcore.reasons.foreign import system_reason
from ctxcore.reasons.storage_problems import FileProblem

_PIECE_CHARS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ImportSource:
    """A file to import, under its name; it is read anew each time it is asked for."""

    name: str
    records: Callable[[], Records]
    """Opens its JSON values."""
    pieces: Callable[[], Iterator[str]]
    """Its text, as `decode_text` gives it, piece by piece."""

    @classmethod
    def of_text(cls, text: str, *, name: str) -> ImportSource:
        """A text that is held already."""
        return cls(
            name=name,
            records=lambda: Records.of_text(text, name=name),
            pieces=lambda: _pieces(text),
        )

    @classmethod
    def of_file(cls, path: Path) -> ImportSource:
        """A file, which is opened once it is asked for.

        Raises:
            FormatError: later, where it cannot be read.
        """

        def pieces() -> Iterator[str]:
            try:
                with path.open("rb") as file:
                    yield from decoded_pieces(file)
            except OSError as error:
                problem = FileProblem.UNREADABLE(reason=system_reason(error))
                raise FormatError(path=str(path), problem=problem) from error

        return cls(name=str(path), records=lambda: Records.of_file(path), pieces=pieces)

    @property
    def text(self) -> str:
        """All of it; only an export of this library, which is one conversation, needs that."""
        return "".join(self.pieces())

    @cached_property
    def is_native(self) -> bool:
        """Whether it is an export of this library, whose first key says so."""
        return KIND in next(self.pieces(), "") and is_native(self.text)

    @cached_property
    def digest(self) -> str:
        """A hash of its text, the same for a file and for what `decode_text` makes of it."""
        found = hashlib.sha256()
        for piece in self.pieces():
            found.update(piece.encode("utf-8", "surrogatepass"))
        return found.hexdigest()


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS))
