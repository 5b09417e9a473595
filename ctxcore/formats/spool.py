"""Keeps what is read of a very long session in a temporary file until its messages are made."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from io import FileIO
from typing import Final, Generic, TypeVar, cast, overload

from ctxcore.errors import UnreadableError
from ctxcore.reasons.foreign import system_reason
from ctxcore.reasons.storage_problems import FileProblem

T = TypeVar("T")

# Chosen: less does not matter beside the program itself, and a file takes time.
_MOST_HELD: Final = 8_000_000  # bytes


class SpoolError(UnreadableError):
    """What is read cannot be kept in a temporary file; the reader of the file adds its path."""

    def __init__(self, folder: str, error: OSError) -> None:
        super().__init__(FileProblem.NO_ROOM(folder=folder, reason=system_reason(error)))


class LazySequence(Sequence[T], Generic[T]):
    """A sequence whose values are read when they are asked for; sent elsewhere it is a tuple."""

    @abstractmethod
    def _value(self, place: int) -> T:
        """The value at a place from 0 on."""

    def _values(self, places: Sequence[int]) -> Iterator[T]:
        """The values at these places, in this order."""
        return map(self._value, places)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        places = range(len(self))
        return tuple(self._values(places[at])) if isinstance(at, slice) else self._value(places[at])

    def __iter__(self) -> Iterator[T]:
        return self._values(range(len(self)))

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (tuple(self),)


class Spool(LazySequence[T]):
    """Values in the order they were added: the first in memory, the others in a temporary file.

    The file has no name, so nobody else can write what is read back; it ends with the spool.
    Values are read anew each time they are asked for; the one read last is remembered.
    """

    def __init__(self) -> None:
        self._held: list[T] = []
        self._left = _MOST_HELD
        self._file: FileIO | None = None
        self._starts = array("Q", [0])
        self._last: tuple[int, T] | None = None
        self._reading = threading.Lock()

    @property
    def values(self) -> Sequence[T]:
        """The values as a tuple; of a very long session as they are kept."""
        return tuple(self._held) if self.is_held else self

    @property
    def is_held(self) -> bool:
        """Whether all values are in memory."""
        return self._file is None

    def append(self, value: T, *, size: int) -> int:
        """Adds a value that takes about `size` bytes of memory; returns its place.

        Raises:
            SpoolError: the file cannot be written, e.g. on a full disk.
        """
        if self._file is None and size <= self._left:
            self._left -= size
            self._held.append(value)
        else:
            packed = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            try:
                self._write(packed)
            except OSError as error:
                folder = tempfile.tempdir or os.environ.get("TMPDIR", "/tmp")
                raise SpoolError(str(folder), error) from error
        return len(self) - 1

    def _write(self, packed: bytes) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 – ends with the spool
            weakref.finalize(self, self._file.close)
        with self._reading:
            self._file.seek(self._starts[-1])
            left = memoryview(packed)
            while left:  # what a nearly full disk takes may be a part
                left = left[self._file.write(left) :]
            self._starts.append(self._starts[-1] + len(packed))

    def __len__(self) -> int:
        return len(self._held) + len(self._starts) - 1

    def _value(self, place: int) -> T:
        spooled = place - len(self._held)
        return self._held[place] if spooled < 0 else self._read(spooled)

    def _read(self, nth: int) -> T:
        with self._reading:
            if self._last is None or self._last[0] != nth:
                file = cast("FileIO", self._file)
                file.seek(self._starts[nth])
                packed = file.read(self._starts[nth + 1] - self._starts[nth])
                self._last = nth, pickle.loads(packed)
            return self._last[1]
