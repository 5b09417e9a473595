"""`ctxcore autopsy`: what went wrong in recorded conversations, in short and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import RenderableType
from rich.table import Table

from ctxcore.cli import options
from ctxcore.cli.languages import Language, load_texts, reason_teller
from ctxcore.cli.output import (
    check_out,
    check_redaction,
    known_dollars,
    one_line,
    percent,
    plural,
    print_all,
    print_error,
    print_json,
    progress,
    secrets_text,
    write_file,
)
from ctxcore.cli.running import problem_document, told_failures
from ctxcore.cli.tables import add_row, bullets, facts, make_table, section
from ctxcore.errors import FormatError
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.autopsy.values import Autopsy, AutopsyTotals
    from ctxcore.messages.values import JsonObject

PAGE: Final = Path("ctxcore-autopsy.html")
# Chosen: the answer fits a screen; the page has more, and --json all.
_MOST_CAUSES = 3
_MOST_FOLDS = 8
_MOST_AGAIN = 3
_MOST_TOOLS = 5
_MANY_FILES = 4

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Transcripts, or folders of them; default: where Claude Code, Codex and other "
        "programs keep theirs.",
    ),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help=f"Where the page is written; default: {PAGE}, which is overwritten.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Let --html overwrite a file.")]
Lang = Annotated[Language, typer.Option("--lang", help="The language of the page.")]
NoTexts = Annotated[
    bool,
    typer.Option(
        "--no-texts",
        help="Leave out of the page what was said, titles and folders, so that it can be shared.",
    ),
]
Redact = Annotated[
    bool,
    typer.Option("--redact", help="Replace keys, tokens and passwords that are quoted by marks."),
]
Beside = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="NAME",
        help=f"What compactions are compared with: {', '.join(Policy.presets())}.",
    ),
]


def run_autopsy(
    paths: Paths = None,
    html: HtmlFile = None,
    overwrite: Overwrite = False,
    lang: Lang = "en",
    no_texts: NoTexts = False,
    redact: Redact = False,
    preset: Beside = "default",
    model: options.Model = None,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    as_json: options.AsJson = False,
) -> None:
    """Find out what compactions lost, what users had to say again, and where the tokens went.

    Writes one HTML page that holds all it needs; with --json prints everything instead. Nothing is
    sent anywhere.
    """
    check_out(html, overwrite=overwrite, option="--overwrite", hint="--html")
    if preset not in Policy.presets():
        raise typer.BadParameter(
            f"{preset!r} is none of {', '.join(Policy.presets())}", param_hint="--preset"
        )
    if redact:
        check_redaction()
    found = _examined(paths or _known_folders(), Policy.preset(preset), model, jobs, cluster)
    if redact:
        found = _redacted(found)
    if as_json:
        print_json(_document(found))
    elif found.sessions:
        print_all(_summary(found, preset))
        page = _page(found, lang, has_texts=not no_texts)
        write_file(html or PAGE, page.encode(), overwrite=overwrite or html is None)
    if not found.sessions:
        print_error(f"no conversation in {plural(len(found.unread), 'file')}")
        for unread in found.unread[:_MOST_FOLDS]:
            print_error(f"{unread.path}: {unread.reason}")
        raise typer.Exit(1)


def _redacted(found: Autopsy) -> Autopsy:
    """The findings without secrets; says on standard error how many were left out."""
    from ctxcore.redaction.redacting import redact

    cleaned, counts = redact(found)
    print_error(f"secrets left out: {secrets_text(counts)}")
    return cleaned


def _known_folders() -> list[Path]:
    from ctxcore.autopsy.running import KNOWN_FOLDERS

    places = [Path(folder).expanduser() for folder in KNOWN_FOLDERS]
    there = [place for place in places if place.is_dir()]
    if not there:
        print_error(f"name a file or a folder; there is none of {', '.join(KNOWN_FOLDERS)}")
        raise typer.Exit(2)
    return there


def _examined(
    paths: Sequence[Path],
    policy: Policy,
    model: str | None,
    jobs: int | None,
    cluster: str | None,
) -> Autopsy:
    from ctxcore.autopsy.running import autopsy, files_at
    from ctxcore.workers import open_workers

    try:
        files = files_at(paths)
    except FormatError as error:
        print_error(str(error.reason))
        raise typer.Exit(1) from error
    is_shown = len(files) >= _MANY_FILES
    with (
        progress("examining", len(files), is_shown=is_shown, unit="files") as advance,
        told_failures(),
        nullcontext(jobs) if cluster is None else open_workers(cluster=cluster) as workers,
    ):
        return autopsy(
            files, policy, model=model, workers=workers, on_progress=lambda _done, _all: advance(1)
        )


def _page(found: Autopsy, language: Language, *, has_texts: bool) -> str:
    from ctxcore.autopsy.page import WORDS, render_page

    if language == "en":
        return render_page(found, has_texts=has_texts)
    texts = load_texts(language)
    words = {key: texts.get(f"autopsy.{key}", text) for key, text in WORDS.items()}
    say = reason_teller(texts)
    return render_page(found, words, language=language, say=say, has_texts=has_texts)


def _summary(found: Autopsy, preset: str) -> Iterator[RenderableType]:
    from ctxcore.autopsy.summing import largest_causes, spending_of

    totals = found.totals
    yield facts(_facts(found, totals))
    if totals.folds:
        yield section("What compactions lost", f"{preset} had as many tokens")
        yield _folds_table(found, preset)
    said = [(one, said) for one in found.sessions for said in one.said_again]
    if said:
        yield section("Said again by users", "after a compaction had folded it")
        lines = [f"{one.title}, message {said.at + 1:,}: {said.text}" for one, said in said]
        yield from bullets(lines, most=_MOST_AGAIN, more="on the page")
    if tools := spending_of(found.sessions, ("tool",), _MOST_TOOLS):
        yield section("Tools that took most", "each message for every call that sent it")
        lines = [
            f"{one.name}: {one.sent_tokens or one.tokens:,} tokens, {known_dollars(one.dollars)}"
            for one in tools
        ]
        yield from bullets(lines, most=_MOST_TOOLS, more="")
    if causes := largest_causes(found, _MOST_CAUSES):
        yield section("Largest avoidable causes")
        lines = [
            f"{cause.hint.tokens:,} tokens, {known_dollars(cause.hint.dollars)}: "
            f"{cause.hint.reason}"
            for cause in causes
        ]
        yield from bullets(lines, most=_MOST_CAUSES, more="")


def _facts(found: Autopsy, totals: AutopsyTotals) -> Iterator[tuple[str, str]]:
    copies = f"; {found.copies:,} {'copy' if found.copies == 1 else 'copies'} left out"
    unread = f"; {plural(len(found.unread), 'file')} without one"
    notes = f"{copies if found.copies else ''}{unread if found.unread else ''}"
    yield "conversations", f"{totals.sessions:,}{notes}"
    cached = percent(totals.cached_tokens / totals.sent_tokens) if totals.sent_tokens else ""
    from_cache = f", {cached} from cache" if cached else ""
    sent = f", {totals.sent_tokens:,} tokens sent{from_cache}" if totals.sent_tokens else ""
    yield "calls to models", f"{totals.calls:,}{sent}"
    yield "cost", f"{known_dollars(totals.dollars)} by list prices"
    yield "compactions", f"{totals.folds:,}"
    if totals.folds:
        lost = f"{totals.gone:,} of {totals.needed:,} things that were needed later"
        yield "lost", f"{lost}; {plural(totals.rules_gone, 'rule')}"
        again = f"{totals.repeated_tokens:,} tokens read again"
        yield "then", f"{again}; users said something again {plural(totals.said_again, 'time')}"
    if totals.breaks:
        paid = f"{totals.break_tokens:,} tokens paid again"
        yield (
            "cache lost",
            f"{plural(totals.breaks, 'time')}; {paid}, {known_dollars(totals.break_dollars)}",
        )


def _folds_table(found: Autopsy, preset: str) -> Table:
    table = make_table(
        "conversation", ">message", ">before", ">after", ">needed", ">lost", f">lost by {preset}"
    )
    folds = [(one, fold) for one in found.sessions for fold in one.folds]
    for session, fold in sorted(folds, key=lambda pair: -pair[1].gone)[:_MOST_FOLDS]:
        add_row(
            table,
            one_line(session.title),
            f"{fold.at + 1:,}",
            "unknown" if fold.before_tokens is None else f"{fold.before_tokens:,}",
            f"{fold.after_tokens:,}",
            f"{fold.needed:,}",
            f"{fold.gone:,}",
            "does not fit" if fold.ours_gone is None else f"{fold.ours_gone:,}",
        )
    return table


def _document(found: Autopsy) -> JsonObject:
    return {
        "command": "autopsy",
        "totals": found.totals.to_dict(),
        "copies": found.copies,
        "results": [session.to_dict() for session in found.sessions],
        "errors": [{"path": one.path, **problem_document(one.reason)} for one in found.unread],
    }
