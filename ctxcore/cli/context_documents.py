"""Owns a context as JSON, the same wherever a command has one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import cast

from ctxcore.assembly.context import Context
from ctxcore.assembly.rules.repair import Repair
from ctxcore.assembly.verdicts import Run
from ctxcore.cli.accounts import check_legality, legality_document
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.values import document


def context_document(context: Context, *, with_messages: bool) -> JsonObject:
    """All of a context; its messages only if asked for, else null."""
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
