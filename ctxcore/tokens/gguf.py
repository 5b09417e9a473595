"""Reads the merges of a byte-pair vocabulary out of a weights file of the form GGUF.

Only the file's head is read: 2 of the 98 MB of the built-in model.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

_Read = TypeVar("_Read")

# The numbers of types as in GGUF's specification, version 3.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_NUMBERS |= {12: "d"}
_STRING, _ARRAY = 8, 9
_MERGES = b"tokenizer.ggml.merges"
_ENTRIES = 10_000  # chosen: a head names dozens; more is no such file


def read_merges(path: Path) -> bytes:
    """The merges in order, one a line, as they are written in the file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no GGUF file, is cut short or names no merges.
    """
    with path.open("rb") as file:
        try:
            return b"\n".join(_find(file))
        except (struct.error, KeyError, OverflowError) as error:
            raise ValueError(f"{path.name} is no whole GGUF file") from error


def token_bytes(written: str) -> bytes:
    """The bytes of a token, which GPT-2 writes as one visible character each."""
    return written.translate(_TO_LATIN).encode("latin-1")


def _find(file: BinaryIO) -> list[bytes]:
    magic, _, _, entries = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or entries > _ENTRIES:
        raise ValueError("no GGUF file")
    for _ in range(entries):
        name, kind = _string(file), _number(file, "I")
        if name == _MERGES and kind == _ARRAY:
            return list(_array(file, lambda _: _string(file)))
        _skip(file, kind)
    raise ValueError("the file names no merges")


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _ARRAY:
        for _ in _array(file, lambda inner: _skip(file, inner)):
            pass
    elif kind == _STRING:
        _string(file)
    else:
        _number(file, _NUMBERS[kind])


def _array(file: BinaryIO, read: Callable[[int], _Read]) -> Iterator[_Read]:
    kind, length = struct.unpack("<IQ", file.read(12))
    return (read(kind) for _ in range(length))


def _string(file: BinaryIO) -> bytes:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length)


def _number(file: BinaryIO, form: str) -> int:
    form = f"<{form}"
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return int(value)


def _alphabet() -> dict[int, int]:
    """The bytes by the character that GPT-2 writes for each: itself where it is visible."""
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in visible]
    return {256 + place: byte for place, byte in enumerate(others)}


_TO_LATIN = _alphabet()
