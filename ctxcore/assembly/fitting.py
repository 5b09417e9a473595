"""Owns `fit`: messages in, the context that a model may be sent out; no model is called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.records import Compaction, CompactionState, to_state
from ctxcore.budget import TokenBudget
from ctxcore.errors import MessageError
from ctxcore.messages.beside import checked_knowledge, checked_tools
from ctxcore.messages.shapes.reading import read_list
from ctxcore.messages.shapes.values import Passed
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.tokens.catalog import ModelInfo, model_info
from ctxcore.tokens.count import count_message, count_tools, counter_for
from ctxcore.tokens.counter import TokenCounter
from ctxcore.tokens.counting import RuleCounter, counter_of_rule
from ctxcore.tokens.families import provider_of

_NO_REASONING = ("openai",)  # refuses keys it does not know


def fit(
    messages: Iterable[Mapping[str, object] | Message],
    *,
    policy: Policy | None = None,
    max_tokens: int | None = None,
    model: str | None = None,
    tools: Sequence[Mapping[str, object]] | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
) -> Context:
    """The part of `messages` that a model may be sent: within budget, legal, fully explained.

    Args:
        messages: the whole conversation, as OpenAI (chat or Responses), Anthropic or Gemini write
            it, or `Message` values; `in_shape()` of what comes back writes it so again.
        policy: thresholds; the preset `default` without one.
        max_tokens: the input budget, all of it usable; without it the model's window decides, and
            where that is unknown everything is sent.
        model: whose tokens count and whose window it is.
        tools: the tool definitions sent along; they count and are never cut.
        knowledge: retrieved texts by name; trimmed before recent messages, never folded.
        state: what earlier compactions left behind (`result.state`), or a plain summary of what
            came before.

    Raises:
        BudgetError: what must be kept does not fit.
        MessageError: one of `messages` is no message, or of another shape than those before it;
            `tools` or `knowledge` are not what they may be; or `state` knows more messages.
    """
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
    )
    return prepared.context(prepared.state.active)


class Prepared:
    """A history with everything that one request needs to know."""

    def __init__(
        self, view: HistoryView, call: Call, state: CompactionState, passed: Passed | None = None
    ) -> None:
        self.view = view
        self.call = call
        self.state = state
        self.passed = passed

    def context(self, active: Compaction | None) -> Context:
        """The context under `active`, which knows the list that was passed."""
        return replace(build_context(self.view, self.call, active), passed=self.passed)


def prepare(
    messages: Iterable[Mapping[str, object] | Message],
    *,
    policy: Policy | None,
    max_tokens: int | None,
    model: str | None,
    tools: Sequence[Mapping[str, object]] | None,
    knowledge: Mapping[str, str] | None,
    state: CompactionState | str | None,
) -> Prepared:
    """What `fit` and the compaction verbs share: counted messages, budget and state."""
    policy, full_state = policy or Policy(), to_state(state)
    counter, passed = counter_for(model), read_list(messages)
    parsed, tools = passed.messages, checked_tools(tools)
    _check_whole(full_state, len(parsed))
    tools_tokens = count_tools(tools, counter) if tools else 0
    budget = budget_of(
        policy,
        model_info(model),
        max_tokens=max_tokens,
        system_tokens=_system_tokens(parsed, counter),
        tools_tokens=tools_tokens,
    )
    call = Call(
        policy=policy,
        counter=counter,
        budget=budget,
        tools_tokens=tools_tokens,
        knowledge=checked_knowledge(knowledge),
        sends_reasoning=takes_reasoning(model),
        working=full_state.working,
        **ruling(policy, model, tools),
    )
    view = ListHistory(
        parsed,
        counter,
        pinned=[at + 1 for at in full_state.pinned],
        excluded=[at + 1 for at in full_state.excluded],
        oversize_tokens=oversize_tokens(policy, budget),
    )
    return Prepared(view, call, full_state, passed)


def _check_whole(state: CompactionState, count: int) -> None:
    """Refuses a state that stands for more messages than there are."""
    if state.active is not None and state.active.last_seq > count:
        raise MessageError(
            place="state",
            problem=f"it knows {state.active.last_seq:,} messages but {count:,} were passed; "
            "pass the whole conversation, including what is covered",
        )


def budget_of(
    policy: Policy,
    info: ModelInfo,
    *,
    max_tokens: int | None,
    system_tokens: int,
    tools_tokens: int,
) -> TokenBudget | None:
    """The budget of one request; None where nobody knows the window."""
    if max_tokens is not None:
        return policy.input_budget(
            max_tokens, system_tokens=system_tokens, tools_tokens=tools_tokens
        )
    own_window = policy.window_tokens or policy.fallback_window_tokens
    if info.window_tokens is None and own_window is None:
        return None
    return policy.budget(
        window_tokens=info.window_tokens,
        system_tokens=system_tokens,
        tools_tokens=tools_tokens,
        max_output_tokens=info.max_output_tokens,
        shares_output=info.shares_output,
    )


class Ruling(TypedDict):
    """The part of a call that says how its policy's triggers count."""

    rule: RuleCounter | None
    rule_tools_tokens: int


def ruling(
    policy: Policy, model: str | None, tools: Sequence[Mapping[str, object]] | None
) -> Ruling:
    """How the triggers of `policy` count, and what that says of the tool definitions."""
    rule = counter_of_rule(policy.counting, model)
    if rule is None or not tools:
        return Ruling(rule=rule, rule_tools_tokens=0)
    definitions = json.dumps(list(tools), ensure_ascii=False, default=str)
    return Ruling(rule=rule, rule_tools_tokens=rule.count(definitions))


def takes_reasoning(model: str | None) -> bool:
    """Whether the provider of `model` takes thinking back inside an open tool turn."""
    return provider_of(model) not in _NO_REASONING


def oversize_tokens(policy: Policy, budget: TokenBudget | None) -> int | None:
    """Above how many tokens a tool output is shortened when it is appended; None: never."""
    if policy.oversize_ratio is None or budget is None:
        return None
    return int(budget.usable_tokens * policy.oversize_ratio)


def _system_tokens(messages: Sequence[Message], counter: TokenCounter) -> int:
    return sum(count_message(message, counter) for message in messages if message.is_system)
