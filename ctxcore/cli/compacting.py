"""`ctxcore compact`: compacts conversations and prints the result, in detail or a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli import options, trying
from ctxcore.cli.choices import (
    NEEDS_YES,
    choose_confirm,
    choose_policy,
    choose_summarizer,
)
from ctxcore.cli.compacting_ways import (
    Given,
    ways_details,
    ways_document,
    ways_of,
    ways_of_session,
)
from ctxcore.cli.contexts import (
    budget_line,
    context_details,
    context_document,
    counts_line,
    next_call,
    size_line,
    unseen,
)
from ctxcore.cli.output import (
    ESTIMATED,
    amount,
    block,
    check_out,
    one_line,
    percent,
    plural,
    print_all,
    print_json,
    write_messages,
)
from ctxcore.cli.running import About, run_over, short_names, shows_details
from ctxcore.cli.sessions import User
from ctxcore.cli.tables import TailText, add_row, closing, facts, make_table, quoted, section
from ctxcore.reasons.values import document
from ctxcore.tokens.costs import dollars_text

if TYPE_CHECKING:
    from ctxcore.compaction.compacting import CompactionResult
    from ctxcore.compaction.loss_report import LostFact
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.reasons.values import Reason

_MOST_LOST = 8  # chosen: two lines; `--json` has all

Target = Annotated[
    int | None,
    typer.Option(
        "--target-tokens",
        metavar="TOKENS",
        min=1,
        help="Size to compact to; default: the policy's share of the budget.",
    ),
]
Focus = Annotated[
    str,
    typer.Option(
        "--focus",
        metavar="TEXT",
        help="What the compaction should keep, in your own words.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Compact even if no trigger is reached.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Let --out overwrite a file.")]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare",
        help="Compare every preset and strategy at the end of the conversation; compact nothing.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Confirm compactions without asking.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """One conversation with the result of compacting it."""

    about: About
    result: CompactionResult
    writer: str | None = None
    """The model that `--summarizer` names."""
    focus: str = ""

    @property
    def refused(self) -> Reason | None:
        """Why the check refused what the model wrote."""
        return self.result.check.refused if self.result.check else None

    @property
    def failed(self) -> bool:
        """Whether the model wrote no usable summary."""
        has_failed = self.result.state.failures > 0 or self.refused is not None
        return self.writer is not None and has_failed


def run_compact(
    paths: trying.Paths = None,
    sessions: trying.Sessions = None,
    max_tokens: options.MaxTokens = None,
    target_tokens: Target = None,
    model: options.Model = None,
    window: options.Window = None,
    preset: options.Preset = None,
    config: options.Config = None,
    focus: Focus = "",
    force: Force = False,
    summarizer: options.SummarizerModel = None,
    yes: Yes = False,
    database: options.Database = None,
    user: User = "local",
    only_id: options.ConversationId = None,
    show: options.Show = False,
    out: options.Out = None,
    overwrite: Overwrite = False,
    compare: Compare = False,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Fold older messages into a summary, and show each step with its gain.

    No file is changed. The summary quotes the conversation, and no model is called, unless
    --summarizer names one. A policy that needs confirmation (pi) asks on the terminal. A stored
    session can be compared, by its own policy.
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
    )
    policy = choose_policy(preset, window, max_tokens, config)
    _check(source, compare=compare)
    check_out(out, overwrite=overwrite, option="--overwrite")
    if compare:
        given = Given(
            policy=policy, preset=preset, window=window, max_tokens=max_tokens, config=config
        )
        raise typer.Exit(_compare(source, given, as_json=as_json))

    def work(transcript: Transcript) -> Compacted:
        from ctxcore.compaction.compacting import compact

        about = About.of(transcript, model)
        result = compact(
            transcript.messages,
            policy=policy,
            max_tokens=max_tokens,
            target_tokens=target_tokens,
            summarizer=choose_summarizer(summarizer, about.model),
            model=about.model,
            tools=transcript.tools,
            focus=focus,
            force=force,
            confirm=choose_confirm(about.id, is_confirmed=yes),
        )
        return Compacted(about=about, result=result, writer=summarizer, focus=focus)

    outcome = run_over(source.paths, work, only_id=only_id)
    compacted = outcome.done
    if out is not None and compacted:
        named = [(one.about.id, one.result.context.messages) for one in compacted]
        write_messages(out, named, overwrite=overwrite)
    if as_json:
        results = (_document(one, policy.name, with_messages=show) for one in compacted)
        print_json(outcome.to_dict("compact", results))
    elif show or shows_details(source.paths, outcome, show_all=show_all):
        print_all([part for one in compacted for part in _details(one, policy.name, show=show)])
    elif compacted:
        print_all(_table(compacted, failures=len(outcome.failures)))
    raise typer.Exit(1 if any(one.failed for one in compacted) else outcome.exit_code)


def _check(source: trying.Source, *, compare: bool) -> None:
    """Refuses what a stored session cannot be given."""
    source.check()
    if source.session_ids and not compare:
        problem = "goes with --compare; `engine.compact` and the dashboard compact a stored session"
        raise typer.BadParameter(problem, param_hint="--session")
    if source.session_ids and source.max_tokens is not None:
        problem = "is for files; give --window for a stored session"
        raise typer.BadParameter(problem, param_hint="--max-tokens")


def _compare(source: trying.Source, given: Given, *, as_json: bool) -> int:
    """Prints the ways to compact each conversation; returns the exit code."""
    model = source.model
    outcome = trying.run_source(
        source,
        of_file=lambda transcript: ways_of(transcript, model, given),
        of_session=lambda engine, session_id: ways_of_session(engine, session_id, model, given),
        config=given.config,
    )
    if as_json:
        documents = map(ways_document, outcome.done)
        print_json(outcome.to_dict("compact", documents))
    else:
        print_all([part for one in outcome.done for part in ways_details(one)])
    return outcome.exit_code


def _document(compacted: Compacted, preset: str, *, with_messages: bool) -> JsonObject:
    result = compacted.result
    return {
        **compacted.about.to_dict(),
        "preset": preset,
        "focus": compacted.focus,
        "applied": result.applied,
        "reason": document(result.reason),
        "strategies": list(result.strategies),
        "trigger": document(result.trigger.reason) if result.trigger else None,
        "steps": [{**step.to_dict(), "outcome": document(step.outcome)} for step in result.steps],
        "before_tokens": result.before_tokens,
        "after_tokens": result.after_tokens,
        "tokens_saved": result.tokens_saved,
        "next_call": result.effect.to_dict() if result.effect else None,
        "needs_confirmation": result.needs_confirmation,
        "summarizer": compacted.writer or "extractive",
        "cost": result.cost,
        "seconds": round(result.seconds, 3),
        "folded": list(result.folded),
        "summary": result.summary,
        "check": None if result.check is None else result.check.to_dict(),
        "facts_lost": None if result.facts_lost is None else list(result.facts_lost),
        "lost": [_lost_document(one) for one in _ranked(result)],
        "facts_restored": list(result.facts_restored),
        "lineage": [
            {"text": one.text, "start": one.start, "messages": list(one.messages)}
            for one in result.lineage
        ],
        "context": context_document(result.context, with_messages=with_messages),
    }


def _details(compacted: Compacted, preset: str, *, show: bool) -> Iterator[RenderableType]:
    result = compacted.result
    yield compacted.about.heading()
    yield facts(
        (
            ("model", one_line(compacted.about.model or "not named")),
            ("policy", preset),
            ("budget", budget_line(result.context.budget)),
            ("outcome", _outcome(result)),
            ("focus", one_line(compacted.focus)),
            ("written by", _writer(compacted)),
            ("without a source", _unsupported(result)),
            ("doubtful", _doubtful(result)),
            ("why", str(result.trigger or "")),
            ("next call", next_call(result.effect) if result.applied else ""),
            ("did not fit", unseen(result.effect)),
            ("folded", plural(result.messages_removed, "message") if result.applied else ""),
            ("facts lost", _lost(result)),
            ("facts restored", _first_of(result.facts_restored)),
            ("messages", counts_line(result.context)),
            ("sent", size_line(result.context)),
        )
    )
    if result.steps:
        yield section("Steps")
        yield _steps_table(result)
    if result.summary:
        size = amount(result.context.breakdown.summary, is_exact=result.context.is_exact)
        yield section("Summary", f"{size} tokens with its frame")
        yield quoted(block(result.summary))
    if show and result.lineage:
        yield section("Where the summary comes from")
        yield _lineage_table(result)
    yield from context_details(result.context, show=show)
    yield Text()


def _outcome(result: CompactionResult) -> Text:
    if result.applied:
        return Text(f"compacted ({result.strategy})", style="green")
    return Text(f"nothing done: {_why_not(result)}", style="yellow")


def _why_not(result: CompactionResult) -> str:
    return NEEDS_YES if result.needs_confirmation else one_line(str(result.reason))


def _writer(compacted: Compacted) -> str:
    """The model that wrote the summary, with time and cost."""
    result = compacted.result
    if compacted.writer is None or not result.seconds:
        return ""
    cost = "cost unknown" if result.cost is None else dollars_text(result.cost)
    wrote = "" if result.summary_written else ", no summary"
    if compacted.refused is not None:
        wrote = f"; refused: {one_line(str(compacted.refused))}; quoted instead"
    return f"{one_line(compacted.writer)}: {result.seconds:.1f} s, {cost}{wrote}"


def _unsupported(result: CompactionResult) -> str:
    """What the model's summary names and its source does not."""
    found = result.check.unsupported if result.check else ()
    return _first_of([one.text for one in found])


def _doubtful(result: CompactionResult) -> str:
    """The sentences of the model's summary that its source does not support as a whole."""
    found = result.check.sentences if result.check else ()
    return _first_of([f"{one.text} ({one.problem})" for one in found if not one.items])


def _lost(result: CompactionResult) -> str:
    """The lost facts that matter most; dates and bare numbers are only counted."""
    ranked = _ranked(result)
    shown = [one.text for one in ranked if one.rank != "minor"]
    minor = len(ranked) - len(shown)
    counted = f"{minor:,} dates and bare numbers" if minor else ""
    return " · ".join(filter(None, (_first_of(shown), counted)))


def _ranked(result: CompactionResult) -> Sequence[LostFact]:
    from ctxcore.compaction.loss_report import sort_by_rank

    return sort_by_rank(result.lost)


def _lost_document(lost: LostFact) -> JsonObject:
    return {"text": lost.text, "kind": lost.kind, "rank": lost.rank, "message": lost.seq - 1}


def _first_of(texts: Sequence[str]) -> str:
    """The first of `texts` on a line, and how many more there are."""
    named = ", ".join(map(one_line, texts[:_MOST_LOST]))
    more = len(texts) - _MOST_LOST
    return f"{named} and {more:,} more (--json)" if more > 0 else named


def _lineage_table(result: CompactionResult) -> Table:
    """Each sentence of the summary with its messages."""
    table = make_table("*sentence", "*messages")
    for sentence in result.lineage:
        add_row(table, one_line(sentence.text), ", ".join(map(str, sentence.messages)) or "none")
    return table


def _steps_table(result: CompactionResult) -> Table:
    is_exact = result.context.is_exact
    table = make_table("strategy", ">before", ">after", ">gain", "*outcome")
    for step in result.steps:
        sizes = (step.before_tokens, step.after_tokens, step.before_tokens - step.after_tokens)
        outcome = one_line(
            f"{step.outcome}" if result.applied else f"{step.outcome}, but discarded"
        )
        add_row(table, step.strategy, *(amount(n, is_exact=is_exact) for n in sizes), outcome)
    return table


def _table(compacted: Sequence[Compacted], *, failures: int) -> Iterator[RenderableType]:
    """One line a conversation: what was folded and gained, or why nothing was."""
    names = short_names([one.about for one in compacted])
    table = make_table(
        "conversation", ">folded", ">next call", ">with it", ">less", ">unseen", "*outcome"
    )
    for name, one in zip(names, compacted, strict=True):
        result = one.result
        is_exact, effect = result.context.is_exact, result.effect
        sent = amount(result.context.tokens, is_exact=is_exact)
        sizes = ("", sent, "", "") if result.applied else (sent, "", "", "")
        if effect is not None:
            sizes = (
                amount(effect.without_tokens, is_exact=is_exact),
                amount(effect.with_tokens, is_exact=is_exact),
                percent(effect.saved_ratio),
                amount(effect.unseen_tokens, is_exact=is_exact),
            )
        folded = f"{result.messages_removed:,}" if result.applied else ""
        outcome = result.strategy if result.applied else f"nothing done: {_why_not(result)}"
        add_row(table, TailText(name), folded, *sizes, outcome)
    yield table
    all_exact = all(one.result.context.is_exact for one in compacted)
    yield from closing([] if all_exact else [ESTIMATED], failures)
