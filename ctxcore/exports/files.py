"""The files of an export: each with a name of its own, and all of them packed into a ZIP."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from itertools import tee
from typing import BinaryIO, NamedTuple

from ctxcore.exports.values import ExportForm, SessionContent, Written
from ctxcore.store.values import SessionInfo

_TITLE_CHARS = 60  # chosen: with id and ending far below the limits of file systems
_ID_CHARS = 8


class ExportedFile(NamedTuple):
    """A file of an export."""

    name: str
    """Without folders; no two of one export are equal."""
    data: bytes


def exported_files(form: ExportForm, contents: Iterable[SessionContent]) -> Iterator[ExportedFile]:
    """The files of `contents` in a form, made one at a time."""
    if form.is_joined:
        for written in form.write(contents):
            yield ExportedFile(f"ctxcore-{form.name}{form.suffix}", to_bytes(written))
        return
    taken: set[str] = set()
    named, read = tee(contents)
    for content, written in zip(named, form.write(read), strict=True):
        yield ExportedFile(_own_name(content.session, form, taken), to_bytes(written))


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
