"""Owns what an import page needs of uploaded files: what they hold, and importing what was chosen.

Nothing is written before it was chosen; a file that cannot be read is told beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.exchange import ImportPreview
from ctxcore.errors import ContextError
from ctxcore.formats.reading import decode_text
from ctxcore.store.values import SessionInfo
from dashboard.jobs import Progress
from dashboard.tell import tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file as it was uploaded, with what it holds."""

    name: str
    text: str
    found: tuple[ImportPreview, ...] = ()
    error: ContextError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One conversation of the uploads, by file and place."""

    file: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of an import."""

    sessions: tuple[SessionInfo, ...]
    errors: tuple[tuple[str, ContextError], ...] = ()
    """What went wrong, by the name of the file; told in the language of whoever looks."""


def read_upload(engine: ContextEngine, name: str, data: bytes) -> Upload:
    """What a file holds; nothing is written."""
    text = decode_text(data)
    try:
        return Upload(name=name, text=text, found=tuple(engine.preview_import(text, name=name)))
    except ContextError as error:
        return Upload(name=name, text="", error=error)


def choices(uploads: Sequence[Upload]) -> list[Choice]:
    """All conversations in the order of the files."""
    return [
        Choice(file=at, place=preview.place)
        for at, upload in enumerate(uploads)
        for preview in upload.found
    ]


def import_work(
    engine: ContextEngine, uploads: Sequence[Upload], chosen: Iterable[Choice]
) -> Callable[[Progress], Imported]:
    """The import of what was chosen, as work that tells its progress in messages."""
    wanted = list(chosen)
    sizes = {
        Choice(file=at, place=preview.place): preview.messages
        for at, upload in enumerate(uploads)
        for preview in upload.found
    }
    total = sum(sizes[choice] for choice in wanted)

    def work(note: Progress) -> Imported:
        sessions: list[SessionInfo] = []
        errors: list[tuple[str, ContextError]] = []
        for at, upload in enumerate(uploads):
            places = [choice.place for choice in wanted if choice.file == at]
            before = sum(session.length for session in sessions)
            if not places:
                continue
            try:
                sessions += engine.import_(
                    upload.text,
                    name=upload.name,
                    places=places,
                    on_progress=_Sum(note, before, total),
                )
            except ContextError as error:
                errors.append((upload.name, error))
        return Imported(sessions=tuple(sessions), errors=tuple(errors))

    return work


class _Sum:
    """Progress over several conversations, each of which tells only its own."""

    def __init__(self, note: Progress, before: int, total: int) -> None:
        self._note, self._before, self._total = note, before, total

    def __call__(self, done: int, of: int) -> None:
        self._note(self._before + done, self._total)
        if done == of:
            self._before += of


def problem_lines(uploads: Iterable[Upload]) -> list[tuple[str, str]]:
    """What could not be read, with the file it is in."""
    return [
        (upload.name, tell(problem))
        for upload in uploads
        for preview in upload.found
        for problem in preview.problems
    ]
