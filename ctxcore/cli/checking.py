"""`ctxcore check`: fails where a policy would lose what recorded conversations need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.etree import ElementTree

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli import options, trying
from ctxcore.cli.choices import choose_summarizer
from ctxcore.cli.comparing import Window
from ctxcore.cli.output import (
    check_out,
    one_line,
    plural,
    print_all,
    print_json,
    progress,
    write_file,
)
from ctxcore.cli.running import About, Outcome, problem_document, short_names
from ctxcore.cli.sessions import User

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject
    from ctxcore.trials.candidates import Candidate
    from ctxcore.trials.checking import Breach, Limits
    from ctxcore.trials.values import Figures

NoRuleLost = Annotated[
    bool, typer.Option("--no-rule-lost", help="Fail where a compaction loses a rule.")
]
MaxFactsLost = Annotated[
    int | None,
    typer.Option(
        "--max-facts-lost",
        metavar="N",
        min=0,
        help="Fail where a conversation uses more than N facts after they were lost.",
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="Fail where all calls cost more."),
]
MinReuse = Annotated[
    float | None,
    typer.Option(
        "--min-reuse",
        metavar="SHARE",
        min=0,
        max=1,
        help="Fail where a prompt cache can reuse less of what is sent.",
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit XML.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One conversation under one policy."""

    about: About
    policy: str
    figures: Figures
    breaches: tuple[Breach, ...]


def run_check(
    paths: trying.Paths = None,
    sessions: trying.Sessions = None,
    presets: trying.Presets = None,
    changes: trying.Changes = None,
    config: options.Config = None,
    no_rule_lost: NoRuleLost = False,
    max_facts_lost: MaxFactsLost = None,
    max_cost: MaxCost = None,
    min_reuse: MinReuse = None,
    window: Window = None,
    max_tokens: options.MaxTokens = None,
    model: options.Model = None,
    summarizer: options.SummarizerModel = None,
    database: options.Database = None,
    user: User = "local",
    only_id: options.ConversationId = None,
    junit: JUnit = None,
    overwrite: trying.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Fail where a policy would lose what recorded conversations need, for continuous integration.

    Each conversation is walked through as `ctxcore replay` does. A call that could not be made
    always fails. Exit status: 0 all passed, 1 some failed, 2 a wrong option or nothing to check.
    """
    from ctxcore.trials.checking import Limits

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
    source.check()
    check_out(junit, overwrite=overwrite, option="--overwrite", hint="--junit")
    choice = trying.choose_candidates(
        presets, changes, None, config, has_sessions=bool(sessions), compares=False
    )
    limits = Limits(
        no_rule_lost=no_rule_lost,
        max_facts_lost=max_facts_lost,
        max_cost=max_cost,
        min_reuse=min_reuse,
    )

    def work(subject: trying.Subject) -> list[Checked]:
        return [_checked(subject, one, limits, summarizer) for one in choice.candidates]

    outcome = trying.run_subjects(source, work, today=choice.today, config=config)
    checked = [one for several in outcome.done for one in several]
    if as_json:
        print_json(outcome.to_dict("check", map(_document, checked)))
    else:
        print_all(_lines(checked))
    if junit is not None:
        write_file(junit, _junit(checked, outcome).encode(), overwrite=overwrite)
    if not checked:
        raise typer.Exit(2)
    raise typer.Exit(1 if outcome.failures or any(one.breaches for one in checked) else 0)


def _checked(
    subject: trying.Subject, candidate: Candidate, limits: Limits, summarizer: str | None
) -> Checked:
    from ctxcore.replay.replaying import run_to_end
    from ctxcore.trials.checking import breaches
    from ctxcore.trials.running import Trying
    from ctxcore.trials.values import Figures

    chosen = choose_summarizer(summarizer, subject.about.model)
    trying_one = Trying(subject.session).under(candidate, summarizer=chosen)
    with progress("checking", len(subject.session.messages), is_shown=True) as advance:
        replay = run_to_end(trying_one, advance)
    return Checked(
        about=subject.about,
        policy=candidate.name,
        figures=Figures.of(replay),
        breaches=breaches(replay, limits),
    )


def _lines(checked: list[Checked]) -> Iterator[RenderableType]:
    for name, one in zip(short_names([one.about for one in checked]), checked, strict=True):
        mark, style = ("failed", "bold red") if one.breaches else ("passed", "green")
        figures = one.figures
        told = f"{plural(figures.calls, 'call')}, {plural(figures.compactions, 'compaction')}"
        yield Text.assemble((mark, style), f"  {name}  ", (f"{one.policy}: {told}", "dim"))
        for breach in one.breaches:
            yield Text(f"        {one_line(str(breach))}")
    failed = sum(bool(one.breaches) for one in checked)
    yield Text(f"{plural(len(checked), 'check')}, {failed} failed", style="bold")


def _document(one: Checked) -> JsonObject:
    found: list[JsonObject] = [
        {**problem_document(breach.reason), "at": breach.at} for breach in one.breaches
    ]
    return {
        **one.about.to_dict(),
        "policy": one.policy,
        "passed": not one.breaches,
        "breaches": [*found],
        "figures": one.figures.document(),
    }


def _junit(checked: Iterable[Checked], outcome: Outcome[list[Checked]]) -> str:
    """The results as JUnit XML: a case for each conversation and policy, and each unread file."""
    cases = [*checked]
    suite = ElementTree.Element("testsuite", name="ctxcore check")
    for one in cases:
        names = {"classname": one.about.path or "session", "name": f"{one.about.id} {one.policy}"}
        case = ElementTree.SubElement(suite, "testcase", names)
        if one.breaches:
            told = "\n".join(map(str, one.breaches))
            ElementTree.SubElement(case, "failure", message=str(one.breaches[0])).text = told
    for failure in outcome.failures:
        names = {"classname": failure.path, "name": failure.id or failure.path}
        case = ElementTree.SubElement(suite, "testcase", names)
        ElementTree.SubElement(case, "error", message=str(failure.reason))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(sum(bool(one.breaches) for one in cases)))
    suite.set("errors", str(len(outcome.failures)))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
