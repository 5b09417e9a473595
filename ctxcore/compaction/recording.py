"""Owns a recorded conversation that is counted once and walked through as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ctxcore.assembly.building import Call
from ctxcore.assembly.fitting import budget_of, oversize_tokens, ruling, takes_reasoning
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.rules.sent_names import SentNames, defined_names
from ctxcore.messages.beside import checked_tools
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_message, count_tools, counter_for


class Recording:
    """A conversation that is counted once and walked through as often as wanted."""

    def __init__(
        self,
        messages: Iterable[Mapping[str, object] | Message],
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        self.messages = tuple(parse_messages(messages))
        self._counter, tools = counter_for(model), checked_tools(tools)
        self.model = model
        self._tools = tools
        self._names = SentNames(defined_names(tools))
        sent = self._names.applied(tools)
        self._tools_tokens = count_tools(sent, self._counter) if tools else 0
        self._histories: dict[int | None, ListHistory] = {}

    def prepare(
        self, policy: Policy, *, window_tokens: int | None = None, max_tokens: int | None = None
    ) -> tuple[HistoryView, Call]:
        """The counted history and what surrounds it in each request."""
        info = model_info(self.model)
        if window_tokens is not None:
            info = replace(info, window_tokens=window_tokens)
            own = policy.window_tokens
            policy = (
                policy if own is None else policy.override(window_tokens=max(own, window_tokens))
            )
        budget = budget_of(
            policy,
            info,
            max_tokens=max_tokens,
            system_tokens=self._system_tokens(),
            tools_tokens=self._tools_tokens,
        )
        call = Call(
            policy=policy,
            counter=self._counter,
            budget=budget,
            tools_tokens=self._tools_tokens,
            tool_names=self._names,
            sends_reasoning=takes_reasoning(self.model),
            **ruling(policy, self.model, self._tools),
        )
        return self._history(oversize_tokens(policy, budget)), call

    @property
    def history(self) -> HistoryView:
        """The counted messages, no tool output shortened."""
        return self._history(None)

    def summarizer(self) -> Summarizer:
        """The one that quotes, without a model."""
        return ExtractiveSummarizer(self._counter)

    def _system_tokens(self) -> int:
        system = (message for message in self.messages if message.is_system)
        return sum(count_message(message, self._counter) for message in system)

    def _history(self, limit: int | None) -> ListHistory:
        if limit not in self._histories:
            made = ListHistory(self.messages, self._counter, oversize_tokens=limit)
            self._histories[limit] = made
        return self._histories[limit]
