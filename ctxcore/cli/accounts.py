"""Owns the account of one conversation that `inspect` prints: values, no messages and no words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.rules.values import Violation
from ctxcore.cli.running import About, told
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.messages.values import JsonObject, JsonValue, Message, text_message
from ctxcore.reasons.values import document
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_messages, count_tools, counter_for

if TYPE_CHECKING:
    from ctxcore.formats.values import Problem, RecordedCompaction, Transcript

Legality = Mapping[str, Sequence[Violation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where the tokens of one conversation went, and what is odd about it."""

    about: About
    roles: Mapping[str, int]
    calls: int
    report: TokenReport
    tools_tokens: int
    """The tool definitions that the file shows."""
    input_tokens: int
    """What a request with all messages and tools would take."""
    live_tokens: int
    """The same of what lies behind the last recorded compaction, with its summary."""
    window_tokens: int | None
    compactions: tuple[RecordedCompaction, ...]
    problems: tuple[Problem, ...]
    ignored: Mapping[str, int]
    legality: Legality

    @property
    def messages(self) -> int:
        """All messages."""
        return sum(self.roles.values())

    @property
    def turns(self) -> int:
        """User messages: each starts one."""
        return self.roles.get("user", 0)

    @property
    def total_tokens(self) -> int:
        """Everything the file shows, tool definitions too."""
        return self.report.total_tokens + self.tools_tokens

    @property
    def usage_ratio(self) -> float | None:
        """How full the window would be if all were sent."""
        return self.input_tokens / self.window_tokens if self.window_tokens else None

    @property
    def violations(self) -> int:
        """Distinct things that at least one provider would refuse."""
        return len({violation for found in self.legality.values() for violation in found})


def take_account(transcript: Transcript, model: str | None, window: int | None) -> Account:
    """The account of `transcript`, counted for `model` or the model that it names."""
    about = About.of(transcript, model)
    counter, messages = counter_for(about.model), transcript.messages
    sent = count_messages(messages, model=about.model, tools=transcript.tools)
    return Account(
        about=about,
        roles=Counter(message.role for message in messages),
        calls=sum(len(message.calls) for message in messages),
        report=usage_report(transcript, counter),
        tools_tokens=count_tools(transcript.tools, counter),
        input_tokens=sent,
        live_tokens=_live_tokens(transcript, about.model) if transcript.compactions else sent,
        window_tokens=window or model_info(about.model).window_tokens,
        compactions=transcript.compactions,
        problems=transcript.problems,
        ignored=dict(transcript.ignored),
        legality=check_legality(messages, transcript.tools),
    )


def _live_tokens(transcript: Transcript, model: str | None) -> int:
    last = transcript.compactions[-1]
    summary = [text_message("user", last.summary)] if last.summary else []
    live = [*summary, *transcript.messages[last.at :]]
    return count_messages(live, model=model, tools=transcript.tools)


def check_legality(
    messages: Sequence[Message] | Sequence[JsonObject], tools: Sequence[JsonObject] = ()
) -> Legality:
    """What each provider would refuse in `messages` and `tools`."""
    return {provider: lint(messages, provider, tools=tools) for provider in PROVIDERS}


def legality_document(legality: Legality) -> JsonObject:
    """What `lint` says, by provider."""
    return {provider: [_violation(one) for one in found] for provider, found in legality.items()}


def _violation(one: Violation) -> JsonValue:
    return {"rule": one.rule, "at": one.at, "reason": document(one.reason)}


def account_document(account: Account) -> JsonObject:
    """The account as `--json` prints it."""
    roles: JsonObject = dict(account.roles)
    problems: list[JsonValue] = [
        {"line": problem.line, **told(problem.reason)} for problem in account.problems
    ]
    return {
        **account.about.to_dict(),
        "messages": account.messages,
        "messages_by_role": roles,
        "turns": account.turns,
        "calls": account.calls,
        "counter_id": account.report.counter_id,
        "is_exact": account.report.is_exact,
        "input_tokens": account.input_tokens,
        "live_tokens": account.live_tokens,
        "window_tokens": account.window_tokens,
        "usage_ratio": account.usage_ratio,
        "tokens": _tokens_document(account),
        "tools": [cast("JsonValue", asdict(tool)) for tool in account.report.tools],
        "files": [
            cast("JsonValue", {**asdict(file), "rereads": file.rereads})
            for file in account.report.files
        ],
        "provider_usage": _provider_document(account.report),
        "compactions": [_compaction_document(one) for one in account.compactions],
        "problems": problems,
        "ignored": dict(account.ignored),
        "legality": legality_document(account.legality),
    }


def _tokens_document(account: Account) -> JsonObject:
    report = account.report
    return {
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
    }


def _provider_document(report: TokenReport) -> JsonObject | None:
    return cast("JsonObject", asdict(report.provider)) if report.provider else None


def _compaction_document(one: RecordedCompaction) -> JsonObject:
    return {
        "at": one.at,
        "before_tokens": one.before_tokens,
        "trigger": one.trigger,
        "recorded_at": one.recorded_at.isoformat() if one.recorded_at else None,
        "summary": one.summary,
    }


def totals_document(accounts: Sequence[Account]) -> JsonObject:
    """Sums over all conversations."""
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
