"""Examines many files at once, one process a core; memory holds a conversation a process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from ctxcore.autopsy.examining import examine
from ctxcore.autopsy.summing import sum_up
from ctxcore.autopsy.values import Autopsy, ExaminedSession, UnreadFile
from ctxcore.errors import ContextError, FormatError
from ctxcore.formats.reading import find_transcripts, stream_transcripts
from ctxcore.formats.records import Records
from ctxcore.formats.values import Transcript
from ctxcore.policy.values import Policy
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason
from ctxcore.workers import Here, Workers, open_workers

Progress = Callable[[int, int], None]
"""Called with how many files are done, of how many."""

KNOWN_FOLDERS: tuple[str, ...] = (
    "~/.claude/projects",
    "~/.codex/sessions",
    "~/.pi/agent/sessions",
    "~/.gemini/tmp",
    "~/.qwen/projects",
)
"""Where programs keep their sessions."""

FEW_BYTES = 4_000_000  # chosen: less is examined before other processes have started


def autopsy(
    paths: Sequence[str | Path],
    policy: Policy | None = None,
    *,
    model: str | None = None,
    workers: Workers | int | None = None,
    on_progress: Progress | None = None,
) -> Autopsy:
    """Examines every conversation at `paths`; files that cannot be read are listed, not raised.

    Args:
        paths: Files and folders.
        policy: What recorded compactions are compared with; the default's where it is None.
        model: Counts in place of the model that a file names.
        workers: Processes; one a core where it is None. Each imports the program's main module,
            so a program whose main module does something when it is imported, as a Streamlit
            page does, passes 1. Or what `open_workers` gives, e.g. those of a cluster, which find
            the same files under the same paths.
        on_progress: Called after each file.

    Raises:
        FormatError: there is nothing at one of `paths`.
        WorkersError: the workers were ended again and again.
    """
    files = files_at(paths)
    policy = policy or Policy.preset("default")
    found: dict[Path, _Found] = {}
    for file, examined in _examine_all(files, policy, model, workers):
        found[file] = examined
        if on_progress:
            on_progress(len(found), len(files))
    ordered = [found[file] for file in files]
    return sum_up(
        (session for sessions, _ in ordered for session in sessions),
        (unread for _, unread in ordered if unread is not None),
    )


def files_at(paths: Iterable[str | Path]) -> list[Path]:
    """The files that may be transcripts at `paths`, each once.

    Raises:
        FormatError: there is nothing at one of them.
    """
    return list(dict.fromkeys(file for path in paths for file in find_transcripts(path)))


_Found = tuple[list[ExaminedSession], UnreadFile | None]


def _examine_all(
    files: Sequence[Path], policy: Policy, model: str | None, workers: Workers | int | None
) -> Iterator[tuple[Path, _Found]]:
    """Every file with what was found in it, in the order in which they are done."""
    sizes = {file: file.stat().st_size for file in files}
    with _used(workers, files, sum(sizes.values())) as used:
        largest_first = sorted(files, key=lambda file: -sizes[file])
        work = partial(examine_file, policy=policy, model=model)
        for place, found in used.as_done(work, largest_first):
            yield largest_first[place], found


def _used(
    workers: Workers | int | None, files: Sequence[Path], size: int
) -> AbstractContextManager[Workers]:
    if workers is not None and not isinstance(workers, int):
        return nullcontext(workers)
    if size < FEW_BYTES:
        return nullcontext(Here())
    return open_workers(min(workers or os.cpu_count() or 1, len(files)))


def examine_file(path: Path, policy: Policy, model: str | None = None) -> _Found:
    """Every conversation of a file, and why the rest could not be read."""
    sessions: list[ExaminedSession] = []
    try:
        for found in stream_transcripts(Records.of_file(path)):
            if isinstance(found, Transcript):
                sessions.append(examine(found, policy, model=model))
    except ContextError as error:
        return sessions, UnreadFile(path=str(path), reason=_reason(error))
    if not sessions:
        return sessions, UnreadFile(path=str(path), reason=FileProblem.NO_CONVERSATION())
    return sessions, None


def _reason(error: ContextError) -> Reason:
    return error.problem if isinstance(error, FormatError) else reason_of(error)
