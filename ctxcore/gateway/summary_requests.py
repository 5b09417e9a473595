"""Owns one request for a summary: sent, told to who asked, its reply read or refused.

What a model does not take is learned from its first reply and remembered: a temperature, or too
little room beside its thinking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ctxcore.errors import SummarizerError
from ctxcore.gateway.errors import ProviderError
from ctxcore.gateway.values import Connection, Gateway, ModelReply, ModelRequest
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.problems import SummaryProblem, core
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.cleaning import cut_unfinished, unwrap
from ctxcore.summarizers.prompts import Prompt
from ctxcore.summarizers.protocol import SummaryUsage

THINKING_TOKENS = 8_192  # room beside the summary for a model that thinks; costs what it uses

Report: TypeAlias = Callable[[SummaryUsage], None]


@dataclass(slots=True, kw_only=True)
class SummaryModel:
    """A model as a writer of summaries; safe to share between threads."""

    gateway: Gateway
    model: str
    connection: Connection | None = None
    temperature: float | None = None
    """None once the model refused to be told one."""
    max_output_tokens: int
    thinking_tokens: int = 0
    """What its replies get beside the summary, once it was seen to think."""

    def ask(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        spare_tokens: int,
        check: Callable[[str], str],
        report: Report,
    ) -> str:
        """What `check` makes of the reply's words.

        Args:
            prompt: what the model is told and shown.
            max_tokens: of the summary; the reply may think beside it.
            spare_tokens: what the window has left for that.
            check: raises `SummarizerError` where the words are no summary.
            report: told of every request.

        Raises:
            SummarizerError: the provider failed (it is the cause), or the reply is no summary.
        """
        reply = self._reply(prompt, max_tokens, spare_tokens, report)
        try:
            text = check(_words(reply))
        except SummarizerError as error:
            report(_usage(reply, self.model, error=error.problem))
            raise
        report(_usage(reply, self.model))
        return text

    def _reply(
        self, prompt: Prompt, max_tokens: int, spare_tokens: int, report: Report
    ) -> ModelReply:
        """The reply; asked once more with the room for thinking that the first time lacked."""
        most = min(self.max_output_tokens, max_tokens + spare_tokens)
        room = min(max_tokens + self.thinking_tokens, most)
        reply = self._send(prompt, room, report)
        more = min(max_tokens + THINKING_TOKENS, most)
        if not _thought_too_long(reply) or more <= room:
            return reply
        self.thinking_tokens = THINKING_TOKENS
        report(_usage(reply, self.model, error=SummaryProblem.THINKING()))
        return self._send(prompt, more, report)

    def _send(self, prompt: Prompt, max_tokens: int, report: Report) -> ModelReply:
        temperature = self.temperature
        try:
            return self._complete(prompt, max_tokens, temperature, report)
        except ProviderError as error:
            if temperature is None or not _refuses_temperature(error):
                raise SummarizerError(problem=core(error.reason)) from error
        self.temperature = None
        try:
            return self._complete(prompt, max_tokens, None, report)
        except ProviderError as error:
            raise SummarizerError(problem=core(error.reason)) from error

    def _complete(
        self, prompt: Prompt, max_tokens: int, temperature: float | None, report: Report
    ) -> ModelReply:
        messages: list[JsonObject] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        request = ModelRequest(
            model=self.model,
            messages=messages,
            max_output_tokens=max_tokens,
            temperature=temperature,
            connection=self.connection,
        )
        try:
            return self.gateway.complete(request)
        except ProviderError as error:  # without its words: those may repeat the conversation's
            report(SummaryUsage(model=self.model, error=core(error.reason)))
            raise


def _words(reply: ModelReply) -> str:
    if reply.calls:
        raise SummarizerError(problem=SummaryProblem.CALL_REPLY())
    if reply.finish_reason == "content_filter":
        raise SummarizerError(problem=SummaryProblem.FILTER())
    text = unwrap(reply.text)
    return cut_unfinished(text) if reply.finish_reason == "length" else text


def _thought_too_long(reply: ModelReply) -> bool:
    if reply.finish_reason != "length":
        return False
    return bool(reply.thoughts or reply.usage.reasoning_tokens) or not unwrap(reply.text)


def _refuses_temperature(error: ProviderError) -> bool:
    """Reasoning models take none but their own."""
    return error.kind == "bad_request" and "temperature" in error.detail


def _usage(reply: ModelReply, model: str, *, error: Reason | None = None) -> SummaryUsage:
    return SummaryUsage(
        model=model,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cached_tokens=reply.usage.cached_tokens,
        cost=reply.cost,
        latency_seconds=reply.latency_seconds,
        error=error,
    )
