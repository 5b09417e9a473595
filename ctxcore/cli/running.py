"""Runs a command over files: finds and reads conversations, collects results and failures."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import typer
from rich.console import Group
from rich.text import Text

from ctxcore.cli.output import one_line, print_error, print_json, progress
from ctxcore.errors import (
    BudgetError,
    CompactionRefusedError,
    ContextError,
    FormatError,
    WorkersError,
)
from ctxcore.reasons.foreign import system_reason
from ctxcore.reasons.places import PlaceCode, in_file
from ctxcore.reasons.problems import core
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason, to_json

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.workers import Workers

S = TypeVar("S")
T = TypeVar("T")
STDIN = Path("-")
_MANY_FILES = 4  # chosen: fewer are read before a bar could be seen
_MOST_DETAILS = 10  # chosen: a session with its sub-agents rarely has more conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One conversation without its messages."""

    path: str
    id: str
    title: str
    format: str
    model: str | None
    """The model of `--model`, else the one that the file names."""
    parent_id: str | None

    @classmethod
    def of(cls, transcript: Transcript, model: str | None) -> About:
        """The identity of `transcript`."""
        return cls(
            path=transcript.path,
            id=transcript.id,
            title=transcript.title,
            format=transcript.format,
            model=model or transcript.model,
            parent_id=transcript.parent_id,
        )

    @classmethod
    def of_session(cls, session_id: str, title: str, model: str | None) -> About:
        """The identity of a stored session; `model` is the one that it is counted by."""
        return cls(
            path="",
            id=session_id,
            title=title or session_id,
            format="stored session",
            model=model,
            parent_id=None,
        )

    def to_dict(self) -> JsonObject:
        """The first keys of each result."""
        return asdict(self)

    def heading(self) -> Group:
        """The lines above a conversation's details."""
        where = Text(one_line(Path(self.path).name), style="bold cyan")
        where.append(f"  {self.format}", style="not bold dim")
        if self.id != Path(self.path).stem:
            where.append(f"  {one_line(self.id)}", style="not bold dim")
        if self.parent_id:
            where.append(f"  sub-agent of {one_line(self.parent_id)}", style="not bold dim")
        title = () if self.title == self.id else (Text(one_line(self.title), style="bold"),)
        return Group(where, *title)


def short_names(all_about: Sequence[About]) -> list[str]:
    """Names for a table: each path below the folder that all share, with the id if needed."""
    paths = [Path(about.path).absolute() for about in all_about]
    if len(set(paths)) == 1:
        return [one_line(about.id) for about in all_about]
    try:
        base = os.path.commonpath([path.parent for path in paths])
    except ValueError:  # none at all, or different drives
        base = None
    counts = Counter(paths)
    return [
        one_line(_short_name(Path(os.path.relpath(path, base)), about.id, counts[path]))
        for path, about in zip(paths, all_about, strict=True)
    ]


def _short_name(path: Path, own_id: str, conversations: int) -> str:
    if conversations == 1:
        return str(path)
    if own_id.startswith(path.stem):
        return str(path.with_name(own_id))
    return f"{path} {own_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One file or conversation that could not be handled."""

    path: str
    kind: str
    reason: Reason
    """The problem with its path."""
    line: int | None = None
    id: str | None = None

    @classmethod
    def of(cls, error: ContextError, path: str, own_id: str | None = None) -> Failure:
        """`error` as a failure of the file at `path`, or of one conversation in it."""
        kind = type(error).__name__
        if isinstance(error, FormatError):
            return cls.of_file(error, path)
        place = PlaceCode.CONVERSATION(path=path, id=own_id)
        reason = PlaceCode.AT(place=place, problem=error.reason)
        return cls(path=path, kind=kind, reason=reason, id=own_id)

    @classmethod
    def of_file(cls, error: ContextError, path: str) -> Failure:
        """`error`, which names its place, as a failure of the whole file at `path`."""
        line = error.line if isinstance(error, FormatError) else None
        return cls(path=path, kind=type(error).__name__, reason=error.reason, line=line)

    def to_dict(self) -> JsonObject:
        """The failure as JSON."""
        return {
            "path": self.path,
            "id": self.id,
            "line": self.line,
            "kind": self.kind,
            **problem_document(self.reason),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """The results and failures of a command."""

    done: tuple[T, ...]
    failures: tuple[Failure, ...]

    @property
    def exit_code(self) -> int:
        """1 if nothing was read, a budget cannot work or a person refused, else 0."""
        failing = (BudgetError.__name__, CompactionRefusedError.__name__)
        is_failed = any(failure.kind in failing for failure in self.failures)
        return 1 if is_failed or not self.done else 0

    def __add__(self, other: Outcome[T]) -> Outcome[T]:
        """Both, one after the other."""
        return Outcome(done=self.done + other.done, failures=self.failures + other.failures)

    def to_dict(self, command: str, results: Iterable[JsonObject]) -> JsonObject:
        """The document that `--json` prints."""
        return to_document(command, results, self.failures)


@contextmanager
def told_failures() -> Iterator[None]:
    """Prints why work could not be shared out, and exits with 1."""
    try:
        yield
    except WorkersError as error:
        print_error(str(error.reason))
        raise typer.Exit(1) from error


def run_over(
    paths: Sequence[Path], work: Callable[[Transcript], T], *, only_id: str | None = None
) -> Outcome[T]:
    """Applies `work` to every conversation at `paths`; prints failures on stderr at the end."""
    return run_shared(
        paths, work, prepare=lambda one: [one], joined=lambda found: found[0], only_id=only_id
    )


def run_shared(
    paths: Sequence[Path],
    work: Callable[[S], T],
    *,
    prepare: Callable[[Transcript], Sequence[S]],
    joined: Callable[[Sequence[T]], T],
    only_id: str | None = None,
    workers: Workers | None = None,
) -> Outcome[T]:
    """The same in parts that `prepare` makes of each conversation, and whose results are `joined`.

    With `workers` these do the parts; `work` is then a function of a module.
    """
    files, failures = find_files(paths)
    reading = _Reading(files=files, failures=failures, only_id=only_id)
    done = work_on(reading.prepared(prepare), work, failures, joined=joined, workers=workers)
    if not reading.is_found:
        reason = FileProblem.NO_SUCH_ID(beginning=only_id)
        failures.append(Failure(path=str(paths[0]), kind="NotFound", reason=reason))
    print_failures(failures)
    return Outcome(done=tuple(done), failures=tuple(failures))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf(Generic[S]):
    """One part of the work on a conversation."""

    part: S
    count: int
    """How many parts there are."""
    path: str
    """Its file; empty for a stored session."""
    own_id: str

    def failure(self, error: ContextError) -> Failure:
        """`error` as a failure of the conversation."""
        if self.path:
            return Failure.of(error, self.path, self.own_id)
        kind, own_id = type(error).__name__, self.own_id
        return Failure(path=own_id, kind=kind, reason=error.reason, id=own_id)


def work_on(
    parts: Iterable[PartOf[S]],
    work: Callable[[S], T],
    failures: list[Failure],
    *,
    joined: Callable[[Sequence[T]], T],
    workers: Workers | None,
) -> list[T]:
    """The result for each conversation; one of whose parts one fails is added to `failures`."""
    from ctxcore.workers import Here, in_order

    done: list[T] = []
    found: list[T | ContextError] = []
    for part, made in in_order(workers or Here(), partial(_attempt, work), parts):
        found.append(made)
        if len(found) < part.count:
            continue
        errors = [one for one in found if isinstance(one, ContextError)]
        if errors:
            failures.append(part.failure(errors[0]))
        else:
            done.append(joined([one for one in found if not isinstance(one, ContextError)]))
        found = []
    return done


def _attempt(work: Callable[[S], T], part: PartOf[S]) -> tuple[PartOf[None], T | ContextError]:
    where = PartOf(part=None, count=part.count, path=part.path, own_id=part.own_id)
    try:
        return where, work(part.part)
    except ContextError as error:
        return where, error


@dataclass(slots=True, kw_only=True)
class _Reading:
    """Conversations that are read one after the other, as they are needed."""

    files: Sequence[Path]
    failures: list[Failure]
    only_id: str | None
    is_found: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_found = self.only_id is None

    def prepared(self, prepare: Callable[[Transcript], Sequence[S]]) -> Iterator[PartOf[S]]:
        """The parts of each; what cannot be read or prepared is a failure."""
        for path in _with_progress(self.files):
            name = _name(path)
            try:
                transcripts = _read(path)
            except ContextError as error:
                self.failures.append(Failure.of_file(error, name))
                continue
            for transcript in transcripts:
                if not transcript.id.startswith(self.only_id or ""):
                    continue
                self.is_found = True
                try:
                    yield from parts_of(prepare(transcript), name, transcript.id)
                except ContextError as error:
                    self.failures.append(Failure.of(error, name, transcript.id))


def parts_of(parts: Sequence[S], path: str, own_id: str) -> Iterator[PartOf[S]]:
    """The parts of one conversation, each with where it belongs."""
    for part in parts:
        yield PartOf(part=part, count=len(parts), path=path, own_id=own_id)


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Failure]]:
    """The files at `paths`, each once, and what cannot be found."""
    from ctxcore.formats.reading import find_transcripts

    files: list[Path] = []
    failures = []
    for path in paths:
        try:
            found = [path] if path == STDIN else find_transcripts(path)
        except FormatError as error:
            failures.append(Failure.of(error, str(path)))
            continue
        if not found:
            reason = PlaceCode.AT(place=in_file(str(path)), problem=FileProblem.NO_FILES())
            failures.append(Failure(path=str(path), kind="NotFound", reason=reason))
        files += found
    return list(dict.fromkeys(files)), failures


def _with_progress(files: Sequence[Path]) -> Iterator[Path]:
    """`files`, with a progress bar if there are many."""
    is_shown = len(files) >= _MANY_FILES
    with progress("reading", len(files), is_shown=is_shown, unit="files") as advance:
        for path in files:
            yield path
            advance(1)


def _name(path: Path) -> str:
    return "stdin" if path == STDIN else str(path)


def _read(path: Path) -> list[Transcript]:
    """The conversations of a file; bytes that are not UTF-8 are a problem of the first.

    Raises:
        FormatError: the file cannot be read or holds no conversation.
        ContextError: it is a damaged export of this library.
    """
    from ctxcore.formats.native import is_native
    from ctxcore.formats.reading import collect_transcripts
    from ctxcore.formats.records import Records, decode_text

    name = _name(path)
    data = read_bytes(path)
    if is_native(text := decode_text(data)):
        from ctxcore.engine.trials import read_export  # 0.4 s, for the database

        return [read_export(text, name=name)]
    try:
        return collect_transcripts(lambda: Records.of_bytes(data, name=name), name=name)
    except FormatError as error:
        if b"\0" not in data:
            raise
        raise FormatError(
            path=name,
            line=error.line,
            problem=FileProblem.NULS(problem=error.problem),
        ) from error


def read_bytes(path: Path) -> bytes:
    """The bytes of a file or of stdin.

    Raises:
        FormatError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        problem = FileProblem.UNREADABLE(reason=system_reason(error))
        raise FormatError(path=str(path), problem=problem) from error


def print_failures(failures: Iterable[Failure]) -> None:
    """Prints each failure; only the first that lists the readable formats does so."""
    are_listed = False
    for failure in failures:
        print_error(str(_without_formats(failure.reason) if are_listed else failure.reason))
        are_listed = are_listed or failure.reason.mentions(FileProblem.EXPECTED)


def _without_formats(reason: Reason) -> Reason:
    """`reason` without the list of readable formats."""
    inner = reason.facts.get("problem")
    if not isinstance(inner, Reason):
        return reason
    if reason.code == FileProblem.EXPECTED:
        return inner
    return Reason(reason.code, {**reason.facts, "problem": _without_formats(inner)})


def shows_details(paths: Sequence[Path], outcome: Outcome[T], *, show_all: bool) -> bool:
    """Whether each conversation is shown in detail rather than as a line of a table."""
    is_one_file = len(paths) == 1 and not paths[0].is_dir()
    return show_all or len(outcome.done) <= (_MOST_DETAILS if is_one_file else 1)


def fail(command: str, failure: Failure, *, as_json: bool) -> NoReturn:
    """Prints the failure of a command with a single input, and exits with 1."""
    if as_json:
        print_json(to_document(command, [], [failure]))
    print_error(str(failure.reason))
    raise typer.Exit(1)


def to_document(
    command: str, results: Iterable[JsonObject], failures: Iterable[Failure] = ()
) -> JsonObject:
    """The document that a command prints with `--json`."""
    return {
        "command": command,
        "results": list(results),
        "errors": [failure.to_dict() for failure in failures],
    }


def problem_document(reason: Reason) -> JsonObject:
    """A problem as JSON: a code with its facts for programs, and a sentence for people."""
    return {"facts": {}, **to_json(core(reason)), "reason": str(reason)}
