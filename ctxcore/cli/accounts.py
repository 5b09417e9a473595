"""The numbers of one conversation that `ctxcore inspect` prints, and their JSON form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

from ctxcore.cli.output import plural
from ctxcore.cli.running import About, problem_document
from ctxcore.reasons.values import document

if TYPE_CHECKING:
    from ctxcore.assembly.rules.values import Violation
    from ctxcore.formats.hints import Hint
    from ctxcore.formats.records import Problem
    from ctxcore.formats.report import TokenReport
    from ctxcore.formats.values import (
        RecordedCompaction,
        RecordedUsage,
        RepairSum,
        Transcript,
    )
    from ctxcore.messages.values import JsonObject, JsonValue, Message
    from ctxcore.tokens.costs import Cost

Legality: TypeAlias = "Mapping[str, Sequence[Violation]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The token counts, recorded compactions, problems and violations of one conversation."""

    about: About
    roles: Mapping[str, int]
    calls: int
    report: TokenReport
    tools_tokens: int
    """The tool definitions in the file."""
    input_tokens: int
    """A request with all messages and tools."""
    live_tokens: int
    """The same for the messages since the last recorded compaction, with its summary."""
    window_tokens: int | None
    window_is_assumed: bool
    """Whether it is that of the model's family."""
    compactions: tuple[RecordedCompaction, ...]
    problems: tuple[Problem, ...]
    repairs: tuple[RepairSum, ...]
    ignored: Mapping[str, int]
    legality: Legality
    cost: Cost
    """Of the calls whose usage the file has, by list prices."""
    hints: tuple[Hint, ...] = ()
    """What cost tokens for nothing, or may have."""

    @property
    def messages(self) -> int:
        """The number of all messages."""
        return sum(self.roles.values())

    @property
    def turns(self) -> int:
        """The number of user messages, each of which starts a turn."""
        return self.roles.get("user", 0)

    @property
    def total_tokens(self) -> int:
        """All tokens in the file, tool definitions included."""
        return self.report.total_tokens + self.tools_tokens

    @property
    def usage_ratio(self) -> float | None:
        """The share of the window that all messages would take."""
        return self.input_tokens / self.window_tokens if self.window_tokens else None

    @property
    def violations(self) -> int:
        """The number of distinct violations of at least one provider's rules."""
        return len({violation for found in self.legality.values() for violation in found})


def take_account(transcript: Transcript, model: str | None, window: int | None) -> Account:
    """The account of `transcript`, counted for `model` or else the model that it names."""
    from ctxcore.formats.hints import transcript_hints
    from ctxcore.formats.report import usage_report
    from ctxcore.formats.values import sum_repairs
    from ctxcore.tokens.catalog import model_info
    from ctxcore.tokens.count import count_each, count_messages, count_tools, counter_for
    from ctxcore.tokens.prices import list_price

    about = About.of(transcript, model)
    counter, messages = counter_for(about.model), transcript.messages
    info, counts = model_info(about.model), count_each(messages, counter)
    sent = count_messages(messages, model=about.model, tools=transcript.tools)
    return Account(
        about=about,
        roles=Counter(message.role for message in messages),
        calls=sum(len(message.calls) for message in messages),
        report=usage_report(transcript, counter, counts=counts),
        tools_tokens=count_tools(transcript.tools, counter),
        input_tokens=sent,
        live_tokens=_live_tokens(transcript, about.model) if transcript.compactions else sent,
        window_tokens=window or info.window_tokens,
        window_is_assumed=window is None and info.is_assumed,
        compactions=transcript.compactions,
        problems=transcript.problems,
        repairs=tuple(sum_repairs(transcript.repairs)),
        ignored=dict(transcript.ignored),
        legality=check_legality(messages, transcript.tools),
        cost=_list_cost(transcript.usage),
        hints=tuple(transcript_hints(transcript, counter, list_price, counts=counts)),
    )


def _list_cost(usage: Sequence[RecordedUsage]) -> Cost:
    from ctxcore.tokens.costs import CallCost, sum_costs
    from ctxcore.tokens.prices import cost_of, list_price

    return sum_costs(
        CallCost(
            dollars=cost_of(call.billed, list_price(call.model)) if call.model else None,
            model=call.model,
            has_usage=True,
        )
        for call in usage
    )


def _live_tokens(transcript: Transcript, model: str | None) -> int:
    from ctxcore.messages.values import text_message
    from ctxcore.tokens.count import count_messages

    last = transcript.compactions[-1]
    summary = [text_message("user", last.summary)] if last.summary else []
    live = [*summary, *transcript.messages[last.at :]]
    return count_messages(live, model=model, tools=transcript.tools)


def check_legality(
    messages: Sequence[Message] | Sequence[JsonObject], tools: Sequence[JsonObject] = ()
) -> Legality:
    """The violations of each provider's rules in `messages` and `tools`."""
    from ctxcore.assembly.legality import PROVIDERS, lint

    return {provider: lint(messages, provider, tools=tools) for provider in PROVIDERS}


def legality_document(legality: Legality) -> JsonObject:
    """The violations by provider as JSON."""
    return {
        provider: [{**asdict(one), "reason": document(one.reason)} for one in violations]
        for provider, violations in legality.items()
    }


def repair_documents(repairs: Iterable[RepairSum]) -> list[JsonValue]:
    """The repairs of a file by kind as JSON; `line` and facts are those of the first."""
    return [
        {"line": repair.line, "count": repair.count, **problem_document(repair.reason)}
        for repair in repairs
    ]


def repair_lines(repairs: Iterable[RepairSum]) -> Iterator[str]:
    """The same for people."""
    for repair in repairs:
        where = "" if repair.line is None else f", first in line {repair.line:,}"
        yield f"{repair.reason}: {plural(repair.count, 'time')}{where}"


def account_document(account: Account) -> JsonObject:
    """The account as JSON."""
    report = account.report
    return {
        **account.about.to_dict(),
        "messages": account.messages,
        "messages_by_role": dict(account.roles),
        "turns": account.turns,
        "calls": account.calls,
        "counter_id": report.counter_id,
        "is_exact": report.is_exact,
        "input_tokens": account.input_tokens,
        "live_tokens": account.live_tokens,
        "window_tokens": account.window_tokens,
        "window_is_assumed": account.window_is_assumed,
        "usage_ratio": account.usage_ratio,
        "tokens": {
            "system": report.system_tokens,
            "user": report.user_tokens,
            "assistant": report.assistant_tokens,
            "thinking": report.thinking_tokens,
            "calls": report.call_tokens,
            "results": report.result_tokens,
            "orphan_results": report.orphan_tokens,
            "recorded_summaries": report.summary_tokens,
            "tool_definitions": account.tools_tokens,
            "total": account.total_tokens,
            "unattributed": report.unattributed_tokens,
        },
        "tools": [asdict(tool) for tool in report.tools],
        "files": [{**asdict(file), "rereads": file.rereads} for file in report.files],
        "provider_usage": asdict(report.provider) if report.provider else None,
        "cost": account.cost.document() if report.provider else None,
        "hints": [
            {
                "at": hint.at,
                "tokens": hint.tokens,
                "dollars": hint.dollars,
                **problem_document(hint.reason),
            }
            for hint in account.hints
        ],
        "compactions": [
            {
                "at": compaction.at,
                "before_tokens": compaction.before_tokens,
                "trigger": compaction.trigger,
                "recorded_at": compaction.recorded_at.isoformat()
                if compaction.recorded_at
                else None,
                "summary": compaction.summary,
            }
            for compaction in account.compactions
        ],
        "problems": [
            {"line": problem.line, **problem_document(problem.reason)}
            for problem in account.problems
        ],
        "repairs": repair_documents(account.repairs),
        "ignored": dict(account.ignored),
        "legality": legality_document(account.legality),
    }


def totals_document(accounts: Sequence[Account]) -> JsonObject:
    """The sums over all conversations as JSON."""
    return {
        "conversations": len(accounts),
        "messages": sum(account.messages for account in accounts),
        "turns": sum(account.turns for account in accounts),
        "calls": sum(account.calls for account in accounts),
        "tokens": sum(account.total_tokens for account in accounts),
        "is_exact": all(account.report.is_exact for account in accounts),
        "compactions": sum(len(account.compactions) for account in accounts),
        "problems": sum(len(account.problems) for account in accounts),
        "violations": sum(account.violations for account in accounts),
    }
