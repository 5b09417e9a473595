"""What `compare` and `replay` share: what is tried, on which conversations, and the reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ctxcore.cli.choices import Budget, check_one_budget, merged_policy
from ctxcore.cli.output import check_out, write_file
from ctxcore.cli.running import (
    About,
    Failure,
    Outcome,
    PartOf,
    find_files,
    parts_of,
    print_failures,
    run_over,
    run_shared,
    told_failures,
    work_on,
)
from ctxcore.errors import ContextError
from ctxcore.policy.layers import set_values
from ctxcore.policy.values import Policy
from ctxcore.trials.candidates import (
    DEFAULT_BASELINE,
    NONE,
    TODAY,
    Candidate,
    distinct,
    edited,
    no_compaction,
    of_preset,
    parse_baseline,
    today,
)

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.tokens.prices import Price
    from ctxcore.trials.values import Trial, TrialSession, TriedSession

S = TypeVar("S")
T = TypeVar("T")
MUCH_BYTES = 20_000_000  # chosen: times candidates; less is done before processes have started
SESSION_BYTES = 500_000  # chosen: what is assumed of a stored session
GivenPrice = Callable[["Price | None"], "Price | None"]
"""The price to use, for the one that is known."""

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Files that can be imported, our own exports among them, folders, or - for stdin.",
    ),
]
Sessions = Annotated[
    list[str] | None,
    typer.Option(
        "--session", metavar="ID", help="A stored session, or the beginning of its id; repeat."
    ),
]
Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help=f"{', '.join(Policy.presets())}, {TODAY} (from file, environment or session) or "
        f"{NONE} (no compaction); repeat for several.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a field of each preset named, else of today's policy; LOW..HIGH or "
        "LOW..HIGH:STEP tries several values; repeat for several fields.",
    ),
]
Baselines = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline",
        metavar="WHAT",
        help="What a simple program does: last-messages=20, last-tokens=8000 or "
        "summarize=20000/4000; repeat for several.",
    ),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a report as one HTML page."),
]
CsvFile = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the figures as a table."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Let --html and --csv overwrite files.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is tried, and the policy of conversations that have none of their own."""

    candidates: tuple[Candidate, ...]
    today: JsonObject


def choose_candidates(
    presets: Sequence[str] | None,
    changes: Sequence[str] | None,
    baselines: Sequence[str] | None,
    config: Path | None,
    *,
    has_sessions: bool,
    compares: bool,
) -> Choice:
    """The candidates that options name.

    `compares`: with no compaction and a baseline beside them, and all presets if none is named.
    """
    from ctxcore.settings.assignments import parse_assignments

    merged = merged_policy(None, config)
    own = set_values(merged.policy, merged.sources)
    names = _checked(presets)
    try:
        changed = parse_assignments(changes or ())
        simple = [parse_baseline(text) for text in baselines or ()]
        for overrides in changed:
            for name in names or (TODAY,):
                _edited(name, overrides).policy_for(own)
        named = [_named(name) for name in names]
        found = [_edited(name, one) for one in changed for name in names or (TODAY,)]
        if compares:
            before = [no_compaction(), *(simple or [parse_baseline(DEFAULT_BASELINE)])]
            is_set = has_sessions or bool(merged.sources) or (bool(changed) and not names)
            before += [today()] if is_set else []
            if not (named or found):
                named = [of_preset(name) for name in Policy.presets()]
            return Choice(candidates=tuple(distinct([*before, *named, *found])), today=own)
        asked = [*simple, *named, *found]
        usual = [today()] if has_sessions or merged.sources else [of_preset("default")]
        return Choice(candidates=tuple(distinct(asked or usual)), today=own)
    except ContextError as error:
        raise typer.BadParameter(str(error)) from error


def _checked(names: Sequence[str] | None) -> list[str]:
    known = (*Policy.presets(), TODAY, NONE)
    for name in names or ():
        if name not in known:
            problem = f"{name!r} is not one of {', '.join(known)}"
            raise typer.BadParameter(problem, param_hint="--preset")
    return list(dict.fromkeys(names or ()))


def _named(name: str) -> Candidate:
    return {TODAY: today, NONE: no_compaction}.get(name, lambda: of_preset(name))()


def _edited(name: str, changes: JsonObject) -> Candidate:
    return edited(changes, preset=None if name in (TODAY, NONE) else name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A conversation that policies are tried on."""

    about: About
    budget: Budget
    session: TrialSession
    transcript: Transcript | None = None
    """What it was read from; None for a stored session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where conversations come from, and what is given for all of them."""

    paths: Sequence[Path]
    session_ids: Sequence[str] = ()
    only_id: str | None = None
    database: str | None = None
    user: str = "local"
    model: str | None = None
    window: int | None = None
    max_tokens: int | None = None
    scope: str = ""
    """Added to the budget's text."""

    def check(self) -> None:
        """Refuses options that say nothing to read, or contradict each other."""
        check_one_budget(self.window, self.max_tokens)
        if not self.paths and not self.session_ids:
            raise typer.BadParameter("name a file, a folder or --session", param_hint="PATH")

    def files(self) -> list[Path]:
        """The files to read, stdin included; what cannot be found is not among them."""
        return find_files(self.paths)[0]

    def size(self) -> int:
        """About how many bytes there are to read."""
        sizes = [path.stat().st_size for path in self.files() if path.is_file()]
        return sum(sizes) + SESSION_BYTES * len(self.session_ids)


def run_subjects(
    source: Source,
    work: Callable[[Subject], T],
    *,
    today: JsonObject,
    price: GivenPrice = lambda known: known,
    config: Path | None = None,
) -> Outcome[T]:
    """Applies `work` to every conversation of the files and to every stored session.

    `price` gives the price to use for the one that is known.
    """
    return run_source(
        source,
        of_file=lambda one: work(_subject(one, source, today, price)),
        of_session=lambda engine, session_id: work(_stored(engine, session_id, source, price)),
        config=config,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A conversation with those of the candidates that are tried together."""

    subject: Subject
    candidates: tuple[Candidate, ...]
    has_bar: bool
    """Whether a bar shows how far it is; the process that shows it does the work itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Who does the work."""

    jobs: int | None = None
    """Processes; None: one a core, if there is much to do."""
    cluster: str | None = None
    """The address of a Dask scheduler."""
    is_here: bool = False
    """Whether it is done in this process in any case, e.g. since a model is called."""

    def size(self, source: Source, candidates: int) -> int:
        """How many processes of this machine there are to be."""
        if self.is_here:
            return 1
        if self.jobs is not None:
            return self.jobs
        return (os.cpu_count() or 1) if source.size() * candidates >= MUCH_BYTES else 1


def run_parts(
    source: Source,
    work: Callable[[Part], T],
    choice: Choice,
    *,
    joined: Callable[[Sequence[T]], T],
    sharing: Sharing,
    price: GivenPrice = lambda known: known,
    config: Path | None = None,
) -> Outcome[T]:
    """Applies `work`, a function of a module, to every conversation with all candidates.

    Where there are fewer conversations than processes, candidates are shared out too.
    """
    from ctxcore.workers import open_workers

    size = sharing.size(source, len(choice.candidates))
    with told_failures(), open_workers(size, cluster=sharing.cluster) as workers:
        few = len(source.session_ids) + len(source.files()) < workers.size
        stretch = -(-len(choice.candidates) // workers.size) if few else len(choice.candidates)

        def parts(subject: Subject) -> list[Part]:
            subject = replace(subject, transcript=None)  # its messages are the session's
            return [
                Part(
                    subject=subject,
                    candidates=choice.candidates[start : start + stretch],
                    has_bar=workers.size == 1,
                )
                for start in range(0, len(choice.candidates), stretch)
            ]

        outcome: Outcome[T] = Outcome(done=(), failures=())
        if source.paths:
            outcome += run_shared(
                source.paths,
                work,
                prepare=lambda one: parts(_subject(one, source, choice.today, price)),
                joined=joined,
                only_id=source.only_id,
                workers=workers,
            )
        if source.session_ids:
            failures: list[Failure] = []
            stored = _of_sessions(
                source,
                lambda engine, one: parts(_stored(engine, one, source, price)),
                config,
                failures,
            )
            done = work_on(stored, work, failures, joined=joined, workers=workers)
            print_failures(failures)
            outcome += Outcome(done=tuple(done), failures=tuple(failures))
        return outcome


def run_source(
    source: Source,
    *,
    of_file: Callable[[Transcript], T],
    of_session: Callable[[ContextEngine, str], T],
    config: Path | None = None,
) -> Outcome[T]:
    """Applies `of_file` to every conversation of the files, `of_session` to every stored one."""
    outcome: Outcome[T] = Outcome(done=(), failures=())
    if source.paths:
        outcome += run_over(source.paths, of_file, only_id=source.only_id)
    if source.session_ids:
        outcome += _over_sessions(source, of_session, config)
    return outcome


def _subject(
    transcript: Transcript,
    source: Source,
    today: JsonObject,
    price: GivenPrice,
) -> Subject:
    from ctxcore.tokens.prices import list_price
    from ctxcore.trials.values import TrialSession

    about = About.of(transcript, source.model)
    budget = Budget.of(source.window, source.max_tokens, about.model, scope=source.scope)
    session = TrialSession(
        id=about.id,
        title=about.title,
        messages=transcript.messages,
        model=about.model,
        tools=transcript.tools,
        window_tokens=budget.window_tokens,
        max_tokens=budget.max_tokens,
        is_window_assumed=budget.is_assumed,
        price=price(list_price(about.model)),
        today=today,
    )
    return Subject(about=about, budget=budget, session=session, transcript=transcript)


def _over_sessions(
    source: Source, work: Callable[[ContextEngine, str], T], config: Path | None
) -> Outcome[T]:
    failures: list[Failure] = []
    found = _of_sessions(
        source, lambda engine, session_id: [work(engine, session_id)], config, failures
    )
    done = [one.part for one in found]
    print_failures(failures)
    return Outcome(done=tuple(done), failures=tuple(failures))


def _of_sessions(
    source: Source,
    prepare: Callable[[ContextEngine, str], Sequence[S]],
    config: Path | None,
    failures: list[Failure],
) -> Iterator[PartOf[S]]:
    """What `prepare` makes of every stored session; what cannot be read is a failure."""
    from ctxcore.cli.sessions import find_session, opened_engine
    from ctxcore.settings.loading import load_layers

    try:
        with opened_engine(
            source.database, source.user, layers=load_layers(config=config)
        ) as engine:
            for beginning in dict.fromkeys(source.session_ids):
                try:
                    session_id = find_session(engine, beginning).id
                    yield from parts_of(prepare(engine, session_id), "", session_id)
                except ContextError as error:
                    failures.append(_failure(error, beginning))
    except ContextError as error:
        failures.append(_failure(error, source.database or ""))


def _failure(error: ContextError, named: str) -> Failure:
    return Failure(path=named, kind=type(error).__name__, reason=error.reason, id=named)


def _stored(
    engine: ContextEngine,
    session_id: str,
    source: Source,
    price: GivenPrice,
) -> Subject:
    from ctxcore.engine.trials import trial_session

    session = trial_session(
        engine,
        session_id,
        model=source.model,
        window_tokens=source.window,
        max_tokens=source.max_tokens,
    )
    session = replace(session, price=price(session.price))
    budget = Budget.of_session(session, is_given=source.window is not None, scope=source.scope)
    about = About.of_session(session.id, session.title, session.model)
    return Subject(about=about, budget=budget, session=session)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The files that a trial is written to besides what is printed."""

    html: Path | None
    csv: Path | None
    overwrite: bool

    def check(self) -> None:
        """Refuses files that cannot be written, before any work is done."""
        for path, option in ((self.html, "--html"), (self.csv, "--csv")):
            check_out(path, overwrite=self.overwrite, option="--overwrite", hint=option)

    def write(self, candidates: Sequence[Candidate], sessions: Sequence[TriedSession]) -> None:
        """Writes the files that are asked for, if anything was tried."""
        if sessions and (self.html is not None or self.csv is not None):
            from ctxcore.trials.values import Trial

            self._write(Trial(candidates=tuple(candidates), sessions=tuple(sessions)))

    def _write(self, trial: Trial) -> None:
        from ctxcore.csv_text import to_csv
        from ctxcore.trials.report import render_report
        from ctxcore.trials.tables import trial_rows

        if self.html is not None:
            page = render_report(trial).encode("utf-8", "replace")
            write_file(self.html, page, overwrite=self.overwrite)
        if self.csv is not None:
            table = to_csv(trial_rows(trial))
            write_file(self.csv, table, overwrite=self.overwrite)
