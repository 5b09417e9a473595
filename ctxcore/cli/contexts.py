"""Contexts as JSON and as tables, for the commands that build one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
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
    from ctxcore.assembly.effects import CompactionEffect
    from ctxcore.assembly.verdicts import Run, VerdictKind
    from ctxcore.budget import TokenBudget
    from ctxcore.messages.values import JsonObject, JsonValue

_MOST_REPAIRS = 10  # chosen: a glance; `--json` lists all
_MOST_RUNS = 60  # chosen: two screens; `--json` lists all
_STYLES: dict[VerdictKind, str] = {
    "kept": "green",
    "compressed": "cyan",
    "summarized": "yellow",
    "recalled": "magenta",
    "dropped": "red",
}


def context_document(context: Context, *, with_messages: bool) -> JsonObject:
    """A context as JSON; its messages are null unless `with_messages`."""
    from ctxcore.cli.accounts import check_legality, legality_document

    return {
        "tokens": context.tokens,
        "is_exact": context.is_exact,
        "history_messages": len(context.verdicts),
        "sent_messages": len(context.messages),
        "prefix_messages": context.prefix_messages,
        "budget": asdict(context.budget) if context.budget else None,
        "breakdown": {**context.breakdown.to_dict(), "window": context.breakdown.window},
        "runs": [
            {**asdict(run), "reason": document(run.reason)} for run in _joined_runs(context.runs)
        ],
        "repairs": [
            {"kind": repair.kind, "at": repair.at, "reason": document(repair.reason)}
            for repair in context.repairs
        ],
        "synthetic": [asdict(text) for text in context.synthetic],
        "legality": legality_document(check_legality(context.messages)),
        "messages": cast("JsonValue", context.messages) if with_messages else None,
    }


def budget_line(budget: TokenBudget | None) -> str:
    """A budget in one line."""
    if budget is None:
        return "window unknown, so everything is sent; set --max-tokens, --window or --model"
    usable = f"usable {budget.usable_tokens:,}"
    assumed = ", window assumed from the model's family" if budget.is_assumed else ""
    if not budget.reserve_tokens:
        return f"{usable} tokens, no reserve{assumed}"
    sizes = f"window {budget.window_tokens:,} - reserve {budget.reserve_tokens:,}"
    return f"{usable} = {sizes}{assumed}"


def next_call(effect: CompactionEffect | None) -> str:
    """What a compaction changes in the next call."""
    if effect is None:
        return "could not be sent without it"
    without = amount(effect.without_tokens, is_exact=effect.is_exact)
    with_it = amount(effect.with_tokens, is_exact=effect.is_exact)
    change = "less" if effect.saved_tokens >= 0 else "more"
    return f"{without} → {with_it} tokens, {percent(abs(effect.saved_ratio))} {change}"


def unseen(effect: CompactionEffect | None) -> str:
    """What became of the messages that had no room in the window; empty where there were none."""
    if effect is None or not effect.unseen_tokens:
        return ""
    size = amount(effect.unseen_tokens, is_exact=effect.is_exact)
    hidden = f"{size} tokens that the model could not see"
    if not effect.summary_tokens:
        return f"{hidden} stay out of sight: no summary stands for them"
    return f"{hidden} become a summary of {amount(effect.summary_tokens, is_exact=effect.is_exact)}"


def size_line(context: Context) -> Text:
    """The size of the context, and its share of the usable tokens."""
    line = Text(f"{amount(context.tokens, is_exact=context.is_exact)} tokens  ")
    line.append("exact" if context.is_exact else "estimated", style="dim")
    if context.budget:
        line.append("  ").append(gauge(context.tokens / context.budget.usable_tokens))
        line.append(" of usable")
    return line


def counts_line(context: Context) -> str:
    """The number of messages of each verdict."""
    counts: Counter[str] = Counter()
    for run in context.runs:
        counts[run.verdict] += run.last - run.first + 1
    verdicts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    sent = f"{plural(len(context.messages), 'message')} sent"
    return f"{len(context.verdicts):,} in the file: {verdicts} · {sent}"


def context_details(context: Context, *, show: bool) -> Iterator[RenderableType]:
    """Verdicts, window, repairs and legality; the messages if `show` is set."""
    from ctxcore.cli.accounts import check_legality

    yield section("What happens to the messages")
    yield _verdict_table(context)
    yield section("What fills the window")
    yield from _window_view(context)
    if context.repairs:
        yield section("Repairs", "the file itself is not changed")
        lines = [
            f"{repair.kind}: {repair.detail}"
            if repair.at is None
            else f"{repair.kind} at message {repair.at:,}: {repair.detail}"
            for repair in context.repairs
        ]
        yield from bullets(lines, most=_MOST_REPAIRS, more="(--json lists all)")
    yield section("Would providers accept the messages sent?")
    yield from legality_view(check_legality(context.messages))
    if show:
        yield section("The messages sent")
        for at, message in enumerate(context.messages):
            yield from _message_view(at, message)


def _verdict_table(context: Context) -> Table:
    """Runs of messages with one verdict and reason, tokens before and after."""
    is_exact = context.is_exact
    runs = _joined_runs(context.runs)
    table = make_table("messages", "becomes", "*reason", ">before", ">after")
    for run in runs[:_MOST_RUNS]:
        places = f"{run.first:,}" if run.first == run.last else f"{run.first:,}-{run.last:,}"
        sizes = (
            amount(tokens, is_exact=is_exact) for tokens in (run.before_tokens, run.after_tokens)
        )
        verdict = Text(run.verdict, style=_STYLES[run.verdict])
        add_row(table, places, verdict, str(run.reason), *sizes)
    if len(runs) > _MOST_RUNS:
        left = plural(len(runs) - _MOST_RUNS, "more run")
        add_row(table, "…", "", f"{left} (--json lists all)", "", "", style="dim")
    table.add_section()
    sums = (sum(run.before_tokens for run in runs), sum(run.after_tokens for run in runs))
    sizes = (amount(tokens, is_exact=is_exact) for tokens in sums)
    add_row(table, "all", "", "", *sizes, style="bold")
    return table


def _joined_runs(runs: Iterable[Run]) -> list[Run]:
    """`runs` with neighbours of the same verdict and reason joined."""
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


def _window_view(context: Context) -> Iterator[RenderableType]:
    """The segments as a bar, and as a table that is its legend."""
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
