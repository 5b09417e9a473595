"""Owns a context as JSON, the same wherever a command has one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.inspecting import legality_view
from ctxcore.cli.output import amount, block, one_line, percent, plural
from ctxcore.cli.tables import add_row, bullets, gauge, make_table, quoted, section, segment_bar
from ctxcore.reasons.values import document

if TYPE_CHECKING:
    from ctxcore.assembly.context import Context
    from ctxcore.assembly.rules.values import Repair
    from ctxcore.assembly.verdicts import Run, VerdictKind
    from ctxcore.budget import TokenBudget
    from ctxcore.messages.values import JsonObject, JsonValue


def context_document(context: Context, *, with_messages: bool) -> JsonObject:
    """All of a context; its messages only if asked for, else null."""
    from ctxcore.cli.accounts import check_legality, legality_document

    budget = asdict(context.budget) if context.budget else None
    segments: JsonObject = dict(context.breakdown.to_dict())
    return {
        "tokens": context.tokens,
        "is_exact": context.is_exact,
        "history_messages": len(context.verdicts),
        "sent_messages": len(context.messages),
        "prefix_messages": context.prefix_messages,
        "budget": cast("JsonValue", budget),
        "breakdown": {**segments, "window": context.breakdown.window},
        "runs": [_run(run) for run in joined_runs(context.runs)],
        "repairs": [_repair(repair) for repair in context.repairs],
        "synthetic": [cast("JsonValue", asdict(one)) for one in context.synthetic],
        "legality": legality_document(check_legality(context.messages)),
        "messages": cast("JsonValue", context.messages) if with_messages else None,
    }


def joined_runs(runs: Iterable[Run]) -> list[Run]:
    """`runs` with neighbours of one verdict and reason as one, also where they were sent."""
    joined: list[Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last is not None and (last.verdict, last.reason) == (run.verdict, run.reason):
            joined[-1] = replace(
                last,
                last=run.last,
                before_tokens=last.before_tokens + run.before_tokens,
                after_tokens=last.after_tokens + run.after_tokens,
            )
        else:
            joined.append(run)
    return joined


def _run(run: Run) -> JsonObject:
    return {
        "first": run.first,
        "last": run.last,
        "verdict": run.verdict,
        "reason": document(run.reason),
        "before_tokens": run.before_tokens,
        "after_tokens": run.after_tokens,
    }


def _repair(repair: Repair) -> JsonObject:
    return {"kind": repair.kind, "at": repair.at, "reason": document(repair.reason)}


_MOST_REPAIRS = 10
_MOST_RUNS = 60
_STYLES: dict[VerdictKind, str] = {
    "kept": "green",
    "compressed": "cyan",
    "summarized": "yellow",
    "recalled": "magenta",
    "dropped": "red",
}


def budget_line(budget: TokenBudget | None) -> str:
    """The numbers of a budget in one line."""
    if budget is None:
        return "window unknown, so all is sent; name --max-tokens, --window or --model"
    usable = f"usable {budget.usable_tokens:,}"
    if not budget.reserve_tokens:
        return f"{usable} tokens, no reserve"
    return f"{usable} = window {budget.window_tokens:,} - reserve {budget.reserve_tokens:,}"


def size_line(context: Context) -> Text:
    """How much is sent, and how full that makes the usable part."""
    said = Text(f"{amount(context.tokens, is_exact=context.is_exact)} tokens  ")
    said.append("exact" if context.is_exact else "estimated", style="dim")
    if context.budget:
        said.append("  ").append(gauge(context.tokens / context.budget.usable_tokens))
        said.append(" of usable")
    return said


def counts_line(context: Context) -> str:
    """How many messages got which verdict."""
    counts: Counter[str] = Counter()
    for run in context.runs:
        counts[run.verdict] += run.last - run.first + 1
    verdicts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    sent = f"{plural(len(context.messages), 'message')} sent"
    return f"{len(context.verdicts):,} in the file: {verdicts} · {sent}"


def context_details(context: Context, *, show: bool) -> Iterator[RenderableType]:
    """Verdicts, window, repairs and legality; the messages if asked for."""
    from ctxcore.cli.accounts import check_legality

    yield section("What becomes of the messages")
    yield verdict_table(context)
    yield section("What fills the window")
    yield from window_view(context)
    if context.repairs:
        yield section("Repairs", "the file itself is not changed")
        yield from _repairs_view(context.repairs)
    yield section("Would a provider take the messages sent?")
    yield from legality_view(check_legality(context.messages))
    if show:
        yield section("The messages sent")
        for at, message in enumerate(context.messages):
            yield from _message_view(at, message)


def verdict_table(context: Context) -> Table:
    """Runs of messages with one verdict and reason, tokens before and after."""
    is_exact = context.is_exact
    runs = joined_runs(context.runs)
    table = make_table("messages", "verdict", "*reason", ">before", ">after")
    for run in runs[:_MOST_RUNS]:
        places = f"{run.first:,}" if run.first == run.last else f"{run.first:,}-{run.last:,}"
        add_row(
            table,
            places,
            Text(run.verdict, style=_STYLES[run.verdict]),
            str(run.reason),
            amount(run.before_tokens, is_exact=is_exact),
            amount(run.after_tokens, is_exact=is_exact),
        )
    if len(runs) > _MOST_RUNS:
        left = plural(len(runs) - _MOST_RUNS, "more run")
        add_row(table, "…", "", f"{left} (--json lists all)", "", "", style="dim")
    before = sum(run.before_tokens for run in runs)
    after = sum(run.after_tokens for run in runs)
    table.add_section()
    sums = (amount(before, is_exact=is_exact), amount(after, is_exact=is_exact))
    add_row(table, "all", "", "", *sums, style="bold")
    return table


def window_view(context: Context) -> Iterator[RenderableType]:
    """The segments as one bar and as a table whose glyphs are the bar's legend."""
    breakdown = context.breakdown
    segments = list(breakdown.to_dict().items())
    bar, glyphs = segment_bar([(name, max(tokens, 0)) for name, tokens in segments])
    yield bar
    yield Text()
    table = make_table("", "segment", ">tokens", ">share")
    whole = breakdown.window or breakdown.input_tokens
    for name, tokens in segments:
        if tokens:
            is_exact = context.is_exact or name == "reserve"
            size = amount(tokens, is_exact=is_exact)
            add_row(table, glyphs[name], name, size, percent(tokens / whole))
    table.add_section()
    if breakdown.window is None:
        size = amount(breakdown.input_tokens, is_exact=context.is_exact)
        add_row(table, "", "all sent, window unknown", size, "", style="bold")
    else:
        add_row(table, "", "window", f"{breakdown.window:,}", "", style="bold")
    yield table


def _repairs_view(repairs: Sequence[Repair]) -> Iterator[RenderableType]:
    said = [
        f"{repair.kind}: {repair.detail}"
        if repair.at is None
        else f"{repair.kind} at message {repair.at:,}: {repair.detail}"
        for repair in repairs
    ]
    yield from bullets(said, most=_MOST_REPAIRS, more="(--json lists all)")


def _message_view(at: int, message: JsonObject) -> Iterator[RenderableType]:
    content, calls = message.get("content"), message.get("tool_calls")
    heading = Text(f"\n{at} {message['role']}", style="bold cyan")
    if message.get("tool_call_id"):
        heading.append(f"  answers {one_line(str(message['tool_call_id']))}", style="not bold dim")
    yield heading
    if content:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        yield quoted(block(text))
    for call in calls if isinstance(calls, list) else []:
        yield quoted(f"calls {one_line(json.dumps(call, ensure_ascii=False))}")
