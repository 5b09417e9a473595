"""The files of an export: each with a name of its own, and all of them packed into a ZIP."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from itertools import tee
from typing import BinaryIO, NamedTuple

from ctxcore.exports.values import ExportForm, SessionContent, Written
from ctxcore.reasons.values import Reason
from ctxcore.store.values import SessionInfo

_TITLE_CHARS = 60  # chosen: with id and ending far below the limits of file systems
_ID_CHARS = 8


class ExportedFile(NamedTuple):
    """A file of an export."""

    name: str
    """Without folders; no two of one export are equal."""
    data: bytes
    damage: tuple[Reason, ...] = ()
    """What of the stored sessions cannot be read, and is not in it."""


def exported_files(form: ExportForm, contents: Iterable[SessionContent]) -> Iterator[ExportedFile]:
    """The files of `contents` in a form, made one at a time."""
    if form.is_joined:
        damage: list[Reason] = []
        for written in form.write(_noting(contents, damage)):
            name = f"ctxcore-{form.name}{form.suffix}"
            yield ExportedFile(name, to_bytes(written), tuple(damage))
        return
    taken: set[str] = set()
    named, read = tee(contents)
    for content, written in zip(named, form.write(read), strict=True):
        name = _own_name(content.session, form, taken)
        yield ExportedFile(name, to_bytes(written), content.damage)


def _noting(contents: Iterable[SessionContent], damage: list[Reason]) -> Iterator[SessionContent]:
    """`contents`; what of them is damaged is added to `damage`."""
    for content in contents:
        damage += content.damage
        yield content


def noting_damage(files: Iterable[ExportedFile], damage: list[Reason]) -> Iterator[ExportedFile]:
    """`files`; what of their sessions is damaged is added to `damage`."""
    for file in files:
        damage += file.damage
        yield file


def to_bytes(written: Written) -> bytes:
    """The content of a file; lone surrogates stay, since `native` loses nothing."""
    return written if isinstance(written, bytes) else written.encode("utf-8", "surrogatepass")


def file_title(session: SessionInfo) -> str:
    """The title of a session as the name of a file, without ending; its id where it has none."""
    kept = "".join(char if char.isalnum() or char in "-_ " else "_" for char in session.title)
    return kept.strip()[:_TITLE_CHARS].strip() or session.id[:_ID_CHARS]


def _own_name(session: SessionInfo, form: ExportForm, taken: set[str]) -> str:
    name = f"{file_title(session)}-{session.id[:_ID_CHARS]}"
    if name.casefold() in taken:
        name = f"{file_title(session)}-{session.id}"
    taken.add(name.casefold())
    return f"{name}{form.suffix}"


def write_zip(out: BinaryIO, files: Iterable[ExportedFile]) -> Iterator[int]:
    """Packs files into `out`; yields after each how many there are."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, file in enumerate(files, start=1):
            packed.writestr(file.name, file.data)
            yield number
