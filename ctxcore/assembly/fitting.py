"""Implements `fit`: messages in, the context that a model may be sent out; calls no model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

from ctxcore.assembly.binding import OnMismatch, bind
from ctxcore.assembly.building import Call, build_context, oversize_share
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rules.values import SentNames, defined_names
from ctxcore.assembly.states import CompactionState, Seen, to_state
from ctxcore.budget import TokenBudget
from ctxcore.facts.facts_block import parse_facts_block, render_facts
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.messages.arguments import checked_knowledge, checked_tools
from ctxcore.messages.canonical import digest_of, digest_of_texts, digest_of_words, printable
from ctxcore.messages.shapes.reading import Given, read_list
from ctxcore.messages.shapes.values import PassedMessages
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import NoticeCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.catalog import ModelInfo, model_info
from ctxcore.tokens.count import count_message, count_tools, counter_for
from ctxcore.tokens.families import provider_of
from ctxcore.tokens.rules import RuleCounter, rule_counter

_NO_REASONING = ("openai",)  # its chat API refuses unknown keys


def fit(
    messages: Given,
    *,
    policy: Policy | None = None,
    max_tokens: int | None = None,
    model: str | None = None,
    tools: Sequence[Mapping[str, object]] | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    on_mismatch: OnMismatch = "raise",
    count_factor: float = 1.0,
) -> Context:
    """The part of `messages` that a model may be sent: within budget, legal, fully explained.

    Args:
        messages: the whole conversation, as OpenAI (chat or Responses), Anthropic or Gemini write
            it, or `Message` values; `in_shape()` of what comes back writes it so again.
        policy: thresholds; the preset `default` without one.
        max_tokens: the input budget, all of it usable (under a policy with `max_tokens_is_window`
            less the reserve); without it the model's window decides, and where that is unknown
            everything is sent.
        model: whose tokens count and whose window it is.
        tools: the tool definitions sent along; they count and are never cut.
        knowledge: retrieved texts by name; trimmed before recent messages, never folded.
        state: what earlier compactions left behind (`result.state`), or a plain summary of what
            came before.
        on_mismatch: what to do where `state` was made from other messages: "raise", or "rebuild"
            the context without what is no longer true; `context.notices` lists it.
        count_factor: what the provider counts for one of our tokens, where they are estimates; the
            budget is divided by it.

    Raises:
        BudgetError: what must be kept does not fit.
        MessageError: one of `messages` is no message, or of another shape than those before it;
            `tools` or `knowledge` are not what they may be.
        StateError: `state` was made from other messages.
    """
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
        on_mismatch=on_mismatch,
        count_factor=count_factor,
    )
    return prepared.context(prepared.state.active)


@dataclass(frozen=True)
class Prepared:
    """A history with everything that one request needs to know."""

    view: HistoryView
    call: Call
    state: CompactionState
    notices: tuple[Reason, ...] = ()
    passed: PassedMessages | None = None
    """The list that was read; None where the history came from somewhere else."""
    seen: Callable[[], Seen] | None = None
    """Makes the digests of that list; None where there is none."""

    def calling(self, call: Call) -> Prepared:
        """The same with another call."""
        return replace(self, call=call)

    def context(self, active: Compaction | None) -> Context:
        """The context under `active`, with the list that was passed."""
        context = build_context(self.view, self.call, active)
        return replace(context, passed=self.passed, notices=self.notices)

    def bound(self, state: CompactionState, context: Context) -> CompactionState:
        """`state` with digests of the messages it was made from and of those of `context`, where
        it depends on them.
        """
        own = ("knowledge", "recalled")
        known = [text.text for text in context.synthetic if text.kind in own]
        if self.seen is None or not (state.is_bound or known):
            return state
        messages = [made.message for made in context.made_of if not made.message.is_system]
        seen = replace(
            self.seen(),
            sent=tuple(digest_of_words([message]) for message in messages),
            knowledge=tuple(digest_of_texts([text]) for text in known),
        )
        return replace(state, seen=seen)


def prepare(
    messages: Given,
    *,
    policy: Policy | None,
    max_tokens: int | None,
    model: str | None,
    tools: Sequence[Mapping[str, object]] | None,
    knowledge: Mapping[str, str] | None,
    state: CompactionState | str | None,
    on_mismatch: OnMismatch = "raise",
    count_factor: float = 1.0,
) -> Prepared:
    """What `fit` and the compaction verbs share: counted messages, budget and state."""
    policy, full_state = policy or Policy(), to_state(state)
    counter, passed, tools = counter_for(model), read_list(messages), checked_tools(tools)
    bound = bind(passed, full_state, policy, counter, on_mismatch=on_mismatch)
    parsed, own, full_state = bound.digested.messages, bound.digested.own, bound.state
    system = (m for seq, m in enumerate(parsed, 1) if m.is_system and seq not in own)
    names = SentNames(defined_names(tools))
    sent_tools = names.applied(tools)
    tools_tokens = count_tools(sent_tools, counter) if tools else 0
    budget = budget_of(
        policy,
        model_info(model),
        max_tokens=max_tokens,
        system_tokens=sum(count_message(message, counter) for message in system),
        tools_tokens=tools_tokens,
        count_factor=count_factor,
    )
    call = Call(
        policy=_naming_sent(policy, names),
        counter=counter,
        budget=budget,
        tools_tokens=tools_tokens,
        tool_names=names,
        knowledge=checked_knowledge(knowledge),
        sends_reasoning=takes_reasoning(model),
        working=full_state.working,
        left_out=full_state.left_out,
        recalls=full_state.recalls,
        **ruling(policy, model, sent_tools),
    )
    view = ListHistory(
        parsed,
        counter,
        pinned=[at + 1 for at in full_state.pinned],
        excluded=[at + 1 for at in full_state.excluded],
        oversize_tokens=oversize_tokens(policy, budget),
        own=own,
        inherited=parse_facts_block(full_state.inherited) if full_state.inherited else (),
        rule_edits=RuleEdits.of(full_state.rule_edits),
    )
    prefix = _Prefix(view, call, tools)
    return Prepared(
        view,
        call,
        full_state,
        notices=(*bound.notices, *prefix.changes(full_state.seen)),
        passed=passed,
        seen=lambda: prefix.seen(bound.digested.seen()),
    )


def _naming_sent(policy: Policy, names: SentNames) -> Policy:
    """`policy` with limits for both names of renamed tools: a list may be an earlier context."""
    if not (names.original and (policy.tool_limits or policy.protected_tools)):
        return policy
    limits, kept = dict(policy.tool_limits), dict.fromkeys(policy.protected_tools)
    for sent, own in names.original.items():
        if own in limits:
            limits.setdefault(sent, limits[own])
        if own in kept:
            kept[sent] = None
    return policy.override(tool_limits=tuple(limits.items()), protected_tools=tuple(kept))


@dataclass
class _Prefix:
    """The parts that every context and prompt cache begins with."""

    view: HistoryView
    call: Call
    tools: Sequence[Mapping[str, object]] | None

    def seen(self, seen: Seen) -> Seen:
        """`seen` with what the prefix is now."""
        anchor = self.view.anchors().goal
        goal = None if anchor is None else self.view.get([anchor])[0]
        # A longer request is not shown whole, and a summary stands for it.
        is_shown = goal is not None and goal.tokens <= self.call.policy.request_tokens
        return replace(
            seen,
            system=self._system,
            tools=self._tool_definitions,
            goal="" if goal is None else digest_of(goal.message),
            request=printable(goal.message.text) if goal is not None and is_shown else "",
            rules=self._rules(),
        )

    def changes(self, before: Seen | None) -> Iterator[Reason]:
        """What changed since a state was made; the request is reported with its message."""
        if before is not None and before.system != self._system:
            yield NoticeCode.PREFIX_CHANGED(part="system")
        if before is not None and before.tools != self._tool_definitions:
            yield NoticeCode.PREFIX_CHANGED(part="tools")

    @cached_property
    def _system(self) -> str:
        rows = self.view.get(self.view.anchors().system)
        return digest_of_texts([row.message.text for row in rows])

    @cached_property
    def _tool_definitions(self) -> str:
        dumped = (
            json.dumps(tool, ensure_ascii=False, sort_keys=True, default=str)
            for tool in self.tools or ()
        )
        return digest_of_texts(list(dumped))

    def _rules(self) -> str:
        budget = self.call.budget
        if budget is None or not budget.facts_tokens:
            return ""
        system = set(self.view.anchors().system)
        rules = [entry for entry in self.view.standing() if system.isdisjoint(entry.seqs)]
        most = max(budget.facts_tokens, budget.min_instruction_tokens)
        return render_facts(rules, max_tokens=most, counter=self.call.counter).text


def budget_of(
    policy: Policy,
    info: ModelInfo,
    *,
    max_tokens: int | None,
    system_tokens: int,
    tools_tokens: int,
    count_factor: float = 1.0,
) -> TokenBudget | None:
    """The budget of one request; None where the window is unknown."""
    if max_tokens is not None:
        return policy.input_budget(
            max_tokens,
            system_tokens=system_tokens,
            tools_tokens=tools_tokens,
            count_factor=count_factor,
        )
    own_window = policy.window_tokens or policy.fallback_window_tokens
    if info.window_tokens is None and own_window is None:
        return None
    budget = policy.budget(
        window_tokens=info.window_tokens,
        system_tokens=system_tokens,
        tools_tokens=tools_tokens,
        max_output_tokens=info.max_output_tokens,
        shares_output=info.shares_output,
        count_factor=count_factor,
    )
    is_own = policy.window_tokens is not None and policy.window_tokens <= (info.window_tokens or 0)
    return replace(budget, is_assumed=info.is_assumed and not is_own)


class Ruling(TypedDict):
    """How the triggers of a policy count: the two fields of a `Call`."""

    rule: RuleCounter | None
    rule_tools_tokens: int


def ruling(
    policy: Policy, model: str | None, tools: Sequence[Mapping[str, object]] | None
) -> Ruling:
    """How the triggers of `policy` count, and what the tool definitions take by that."""
    rule = rule_counter(policy.counting, model)
    if rule is None or not tools:
        return Ruling(rule=rule, rule_tools_tokens=0)
    definitions = json.dumps(list(tools), ensure_ascii=False, default=str)
    return Ruling(rule=rule, rule_tools_tokens=rule.count(definitions))


def takes_reasoning(model: str | None) -> bool:
    """Whether the provider of `model` takes thinking back inside an open tool turn."""
    return provider_of(model) not in _NO_REASONING


def oversize_tokens(policy: Policy, budget: TokenBudget | None) -> int | None:
    """Above how many tokens a tool output is shortened when it is appended; None: never."""
    share = oversize_share(policy, budget)
    return None if share is None else int(share)
