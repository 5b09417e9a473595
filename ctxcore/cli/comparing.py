"""`ctxcore compare`: tries policies on conversations and prints a row for each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.budget import ASSUMED_WINDOW_TOKENS
from ctxcore.cli import options, trying
from ctxcore.cli.choices import Budget, choose_summarizer
from ctxcore.cli.output import (
    ESTIMATED,
    amount,
    one_line,
    plural,
    print_all,
    print_json,
    progress,
)
from ctxcore.cli.running import About, shows_details
from ctxcore.cli.sessions import User
from ctxcore.cli.tables import add_row, closing, facts, make_table, section
from ctxcore.tokens.costs import dollars_text

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject, JsonValue
    from ctxcore.trials.values import Figures, Trial, TriedSession

_BAR_MESSAGES = 500  # chosen: fewer are compared before a bar could be seen
_BAR_FILES = 4  # from so many files on, a bar counts files instead
_UNKNOWN = "–"
_LEGEND = (
    "none: everything is sent as it is, and a call that does not fit is refused",
    "refused: calls that a provider would reject",
    "over: calls whose required messages did not fit",
    "cuts: compactions that dropped messages without a summary",
    "reused: what a prompt cache can reuse",
    "literals, facts, rules: the share that is there when it is needed",
)

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help=f"Window for all policies; default: the model's, or {ASSUMED_WINDOW_TOKENS:,}.",
    ),
]
Times = Annotated[bool, typer.Option("--times", help="Show how long each policy took.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One conversation under every candidate."""

    about: About
    budget: Budget
    tried: TriedSession
    seconds: tuple[float, ...]
    """How long each candidate took."""


def run_compare(
    paths: trying.Paths = None,
    sessions: trying.Sessions = None,
    presets: trying.Presets = None,
    changes: trying.Changes = None,
    baselines: trying.Baselines = None,
    config: options.Config = None,
    window: Window = None,
    max_tokens: options.MaxTokens = None,
    model: options.Model = None,
    summarizer: options.SummarizerModel = None,
    database: options.Database = None,
    user: User = "local",
    only_id: options.ConversationId = None,
    html: trying.HtmlFile = None,
    csv: trying.CsvFile = None,
    overwrite: trying.Overwrite = False,
    times: Times = False,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Walk through conversations under several policies, with one window for all.

    Each recorded answer counts as one call to a model; compactions happen where a policy would
    have made them, and confirmations are answered with yes. Beside the policies stand no
    compaction and a simple program. Numbers of several conversations are added up.
    """
    source = trying.Source(
        paths=paths or (),
        session_ids=sessions or (),
        only_id=only_id,
        database=database,
        user=user,
        model=model,
        window=window,
        max_tokens=max_tokens,
        scope=" for all",
    )
    source.check()
    reports = trying.Reports(html=html, csv=csv, overwrite=overwrite)
    reports.check()
    choice = trying.choose_candidates(
        presets, changes, baselines, config, has_sessions=bool(sessions), compares=True
    )
    has_bar = len(source.paths) < _BAR_FILES and not any(path.is_dir() for path in source.paths)
    outcome = trying.run_parts(
        source,
        partial(_compare, summarizer=summarizer, has_bar=has_bar),
        choice,
        joined=_joined,
        sharing=trying.Sharing(jobs=jobs, cluster=cluster, is_here=summarizer is not None),
        config=config,
    )
    compared = outcome.done
    if as_json:
        document = outcome.to_dict(
            "compare", (_document(one, choice, times=times) for one in compared)
        )
        print_json({**document, "totals": _total_documents(compared, choice)})
    elif shows_details(source.paths, outcome, show_all=show_all):
        print_all([part for one in compared for part in _details(one, choice, times=times)])
    elif compared:
        failures = len(outcome.failures)
        print_all(_total_views(compared, choice, times=times, failures=failures))
    reports.write(choice.candidates, [one.tried for one in compared])
    raise typer.Exit(outcome.exit_code)


def _compare(part: trying.Part, *, summarizer: str | None, has_bar: bool) -> Compared:
    from ctxcore.replay.replaying import run_to_end
    from ctxcore.trials.running import Trying, tried_session

    subject, candidates = part.subject, part.candidates
    session, replays, seconds = subject.session, [], []
    one, count = Trying(session), len(session.messages)
    is_shown = has_bar and part.has_bar and count >= _BAR_MESSAGES
    with progress("comparing", len(candidates) * count, is_shown=is_shown) as advance:
        for candidate in candidates:
            begun = time.perf_counter()
            writer = choose_summarizer(summarizer, session.model)
            replays.append(run_to_end(one.under(candidate, summarizer=writer), advance))
            seconds.append(time.perf_counter() - begun)
    return Compared(
        about=subject.about,
        budget=subject.budget,
        tried=tried_session(session, candidates, replays),
        seconds=tuple(seconds),
    )


def _joined(parts: Sequence[Compared]) -> Compared:
    """What was found of a conversation under all candidates."""
    tried = tuple(one for part in parts for one in part.tried.tried)
    seconds = tuple(one for part in parts for one in part.seconds)
    return replace(parts[0], tried=replace(parts[0].tried, tried=tried), seconds=seconds)


def _trial(compared: Sequence[Compared], choice: trying.Choice) -> Trial:
    from ctxcore.trials.values import Trial

    return Trial(candidates=choice.candidates, sessions=tuple(one.tried for one in compared))


def _calls(tried: TriedSession) -> int:
    return tried.tried[0].figures.calls


def _document(compared: Compared, choice: trying.Choice, *, times: bool) -> JsonObject:
    tried = compared.tried
    rows: list[JsonObject] = [
        {"policy": one.candidate, **one.figures.document(), **_timed(seconds, times=times)}
        for one, seconds in zip(tried.tried, compared.seconds, strict=True)
    ]
    return {
        **compared.about.to_dict(),
        "messages": tried.messages,
        "calls": _calls(tried),
        "window_tokens": tried.window_tokens,
        "max_tokens": tried.max_tokens,
        "window_is_assumed": tried.is_window_assumed,
        "is_exact": tried.is_exact,
        "policies": [*rows],
    }


def _timed(seconds: float, *, times: bool) -> JsonObject:
    return {"seconds": round(seconds, 3)} if times else {}


def _total_documents(compared: Sequence[Compared], choice: trying.Choice) -> list[JsonValue]:
    from ctxcore.trials.comparing import compared_rows

    return [
        {
            "policy": candidate.name,
            "kind": candidate.kind,
            "overrides": candidate.overrides,
            "change_share": None if change is None else round(change, 4),
            **figures.document(),
        }
        for candidate, figures, change in compared_rows(_trial(compared, choice))
    ]


def _details(compared: Compared, choice: trying.Choice, *, times: bool) -> Iterator[RenderableType]:
    """One conversation under every candidate."""
    yield compared.about.heading()
    tried = compared.tried
    messages, calls = plural(tried.messages, "message"), plural(_calls(tried), "call")
    yield facts(
        (
            ("model", one_line(compared.about.model or "not named")),
            ("budget", compared.budget.text),
            ("recorded", f"{messages}, {calls} to a model"),
        )
    )
    yield from _views([compared], choice, times=times, failures=0)
    yield Text()


def _total_views(
    compared: Sequence[Compared], choice: trying.Choice, *, times: bool, failures: int
) -> Iterator[RenderableType]:
    """All conversations together."""
    assumed = sum(one.budget.is_assumed for one in compared)
    count = plural(len(compared), "conversation")
    messages = plural(sum(one.tried.messages for one in compared), "message")
    calls = plural(sum(_calls(one.tried) for one in compared), "call")
    budgets = {one.budget.text for one in compared}
    is_shared = len(budgets) == 1
    budget = budgets.pop() if is_shared else "the window of each one's model"
    rest = f"; {assumed:,} assumed" if assumed and is_shared else ""
    yield Text(f"{count}, {messages}, {calls} to a model · {budget}{rest}")
    yield from _views(compared, choice, times=times, failures=failures)


def _views(
    compared: Sequence[Compared], choice: trying.Choice, *, times: bool, failures: int
) -> Iterator[RenderableType]:
    from ctxcore.trials.report import reference_name

    trial = _trial(compared, choice)
    reference = reference_name(trial)
    seconds = [sum(took) for took in zip(*(one.seconds for one in compared), strict=True)]
    yield section("On the way", "what is sent, what it costs, and what it takes")
    yield _calls_table(trial, seconds if times else None)
    yield section("There when needed", "at the calls that use it; the cost with a prompt cache")
    yield _kept_table(trial, reference)
    yield section("At the end", "what happened to the messages, and the size of the next call")
    yield _end_table(trial)
    yield from closing([*_LEGEND, *([] if trial.is_exact else [ESTIMATED])], failures)


def _calls_table(trial: Trial, seconds: Sequence[float] | None) -> Table:
    columns = (">compactions", ">summaries", ">cuts", ">refused", ">over", ">sent")
    table = make_table("policy", *columns, *((">seconds",) if seconds else ()))
    for at, (candidate, one) in enumerate(zip(trial.candidates, trial.totals, strict=True)):
        counts = (one.compactions, one.summaries, one.cuts, one.rejected, one.over)
        add_row(
            table,
            one_line(candidate.name),
            *(f"{count:,}" for count in counts),
            amount(one.sent_tokens, is_exact=trial.is_exact),
            *((f"{seconds[at]:.1f}",) if seconds else ()),
        )
    return table


def _kept_table(trial: Trial, reference: str | None) -> Table:
    from ctxcore.trials.comparing import compared_rows
    from ctxcore.trials.report import change_text, share_text

    against = (f">vs {one_line(reference)}",) if reference else ()
    table = make_table("policy", ">cost", *against, ">reused", ">literals", ">facts", ">rules")
    for candidate, one, change in compared_rows(trial):
        shares = (one.reuse_share, one.literals_share, one.facts_share, one.rules_share)
        add_row(
            table,
            one_line(candidate.name),
            _UNKNOWN if one.cost is None else dollars_text(one.cost),
            *((change_text(change, _UNKNOWN),) if against else ()),
            *(share_text(share, _UNKNOWN) for share in shares),
        )
    return table


def _end_table(trial: Trial) -> Table:
    table = make_table("policy", ">kept", ">shortened", ">folded", ">dropped", ">tokens")
    for candidate, one in zip(trial.candidates, trial.totals, strict=True):
        add_row(table, one_line(candidate.name), *_end_cells(one, is_exact=trial.is_exact))
    return table


def _end_cells(one: Figures, *, is_exact: bool) -> Iterator[str]:
    """What became of the messages; a next call that cannot be made has no size."""
    counts = (one.kept, one.shortened, one.folded, one.dropped)
    yield from (f"{count:,}" for count in counts)
    yield amount(one.end_tokens, is_exact=is_exact) if one.end_tokens else _UNKNOWN
