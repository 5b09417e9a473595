"""Summarizes with a model, in parts where the messages do not fit its window.

A model that refuses a temperature, or thinks longer than its reply has room, is remembered as such
from its first reply on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ctxcore.errors import SummarizerError
from ctxcore.gateway.errors import ProviderError
from ctxcore.gateway.values import Connection, Gateway, ModelReply, ModelRequest
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.problems import SummaryProblem, core
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.checks import check_summary, cut_at_sentence, cut_unfinished, unwrap
from ctxcore.summarizers.prompts import FINAL, Prompt, Stage, system_text, to_prompt
from ctxcore.summarizers.protocol import SummaryRequest, SummaryUsage
from ctxcore.summarizers.transcript import Entry, group_sizes, to_entries
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_each, counter_for
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.prices import Price, cost_of

THINKING_TOKENS = 8_192  # chosen: room for thinking beside the summary; only what is used costs

Report: TypeAlias = Callable[[SummaryUsage], None]


@dataclass(slots=True, kw_only=True)
class SummaryModel:
    """Sends single requests for summaries to a model; safe to share between threads."""

    gateway: Gateway
    model: str
    connection: Connection | None = None
    price: Price | None = None
    """What a call costs; None: what the gateway knows."""
    temperature: float | None = None
    """None once the model refused one."""
    max_output_tokens: int
    thinking_tokens: int = 0
    """The room for thinking beside the summary, once the model needed it."""

    def ask(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        spare_tokens: int,
        check: Callable[[str], str],
        report: Report,
    ) -> str:
        """The text of the reply after `check`.

        Args:
            prompt: the system and user text to send.
            max_tokens: of the summary; thinking comes on top.
            spare_tokens: what the window has left for thinking.
            check: returns the summary in a text, raises `SummarizerError` where it is none.
            report: called with the usage of every request.

        Raises:
            SummarizerError: the provider failed (it is the cause), or the reply is no summary.
        """
        reply = self._reply(prompt, max_tokens, spare_tokens, report)
        try:
            text = check(_text(reply))
        except SummarizerError as error:
            report(_usage(reply, self.model, error=error.problem))
            raise
        report(_usage(reply, self.model))
        return text

    def _reply(
        self, prompt: Prompt, max_tokens: int, spare_tokens: int, report: Report
    ) -> ModelReply:
        """The reply; requested again with room for thinking if that used up the first one's."""
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
        return self._send(prompt, max_tokens, report)

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
            reply = self.gateway.complete(request)
        except ProviderError as error:  # without its detail, which may quote the conversation
            report(SummaryUsage(model=self.model, error=core(error.reason)))
            raise
        if self.price is not None:
            reply = replace(reply, cost=cost_of(reply.usage, self.price))
        return reply


def _text(reply: ModelReply) -> str:
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
    """Reasoning models accept only their own default."""
    return error.kind == "bad_request" and "temperature" in error.detail


def _usage(reply: ModelReply, model: str, *, error: Reason | None = None) -> SummaryUsage:
    return SummaryUsage(
        model=model,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cached_tokens=reply.usage.cached_tokens,
        cache_write_tokens=reply.usage.cache_write_tokens,
        cache_hour_tokens=reply.usage.cache_hour_tokens,
        cost=reply.cost,
        latency_seconds=reply.latency_seconds,
        error=error,
    )


ASSUMED_WINDOW_TOKENS = 8_192  # chosen: nearly every model served today accepts it
TEMPERATURE = 0.2  # source design 1: facts rather than variety
FRAME_TOKENS = 160  # chosen: bounds headings, tags and message frames of a request
ESTIMATE_MARGIN = 0.9  # of a window, where tokens are estimated: about 7 % off (tokens/estimate.py)
OUTPUT_SHARE = 4  # chosen: at most a quarter of the window is the summary
PART_SHARE = 4  # chosen: four summaries of parts fit one merge, so that merging ends
CARRIED_SHARE = 8  # chosen: what stands beside the summary takes an eighth of the window at most
LEAST_INPUT_TOKENS = 200  # chosen: with less room every request would carry a few sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A request for a summary, and the room for it."""

    request: SummaryRequest
    source_tokens: int
    """Tokens of everything that is summarized."""
    input_tokens: int
    """The most that the previous summary and the messages may take in one request."""
    output_tokens: int
    spare_tokens: int
    """The most that a reply may take beside its summary."""

    @property
    def part_tokens(self) -> int:
        """The longest summary of a part."""
        return max(1, min(self.output_tokens, self.input_tokens // PART_SHARE))


class ModelSummarizer:
    """A summarizer that lets a model write the summaries; safe to share between threads.

    Args:
        gateway: sends the requests.
        model: the model's name; also the summarizer's.
        connection: how that model is reached.
        price: what it costs; by default what the gateway knows.
        window_tokens: its window; by default the catalogue's, and 8,192 where that has none.
        max_output_tokens: its longest reply; by default the catalogue's. The length of a summary
            is limited by the request.
        temperature: left out for a model that refuses it.
        counter: counts the tokens that limit a summary; by default the model's own, which always
            decides what fits the window.
    """

    def __init__(
        self,
        gateway: Gateway,
        model: str,
        *,
        connection: Connection | None = None,
        price: Price | None = None,
        window_tokens: int | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = TEMPERATURE,
        counter: TokenCounter | None = None,
    ) -> None:
        info = model_info(model)
        self._window = window_tokens or info.window_tokens or ASSUMED_WINDOW_TOKENS
        self._shares_output = info.shares_output
        self._own_counter = counter_for(model)
        self._counter = counter or self._own_counter
        self._model = SummaryModel(
            gateway=gateway,
            model=model,
            connection=connection,
            price=price,
            temperature=temperature,
            max_output_tokens=max_output_tokens or info.max_output_tokens or self._window,
        )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.model

    def summarize(self, request: SummaryRequest) -> str:
        """The model's summary within the request's limits; empty if there is nothing to summarize.

        Without new messages the previous summary is kept as it is, if it is within the limits.

        Raises:
            SummarizerError: the provider failed (it is the cause), or a reply is no summary.
        """
        previous = request.previous.strip()
        request = self._with_room(request)
        dates = request.dates if request.form == "dated_points" else ()
        entries = to_entries(request.messages, counter=self._own_counter, dates=dates)
        if not entries and self._is_within(previous, request):
            return previous
        job = self._job(request)
        if self._size(entries) + self._own_counter.count(previous) > job.input_tokens:
            return self._fold(job, entries, previous)
        return self._ask(job, entries, previous=previous, stage="whole")

    def _with_room(self, request: SummaryRequest) -> SummaryRequest:
        """`request` with what stands beside the summary cut where the window is small."""
        if not request.carried:
            return request
        most = self._window // CARRIED_SHARE
        return replace(request, carried=cut_at_sentence(request.carried, most, self._own_counter))

    def _is_within(self, text: str, request: SummaryRequest) -> bool:
        is_short = request.max_chars is None or len(text) <= request.max_chars
        return is_short and self._counter.count(text) <= request.max_tokens

    def _job(self, request: SummaryRequest) -> _Job:
        most = self._model.max_output_tokens
        output = min(request.max_tokens, most, self._window // OUTPUT_SHARE)
        if output < 1:
            raise SummarizerError(problem=SummaryProblem.NO_ROOM())
        system = system_text(request, max_tokens=output, stage="middle")  # the longest there is
        told = self._own_counter.count(system) + self._own_counter.count(request.carried)
        taken = told + FRAME_TOKENS
        thinking = min(self._model.thinking_tokens, self._window // OUTPUT_SHARE)
        margin = 1.0 if self._own_counter.is_exact else ESTIMATE_MARGIN
        left = int((self._window - self._shared(output + thinking)) * margin) - taken
        if left < LEAST_INPUT_TOKENS:
            problem = SummaryProblem.WINDOW(model=self.name, tokens=self._window)
            raise SummarizerError(problem=problem)
        source = sum(count_each(request.messages, self._counter))
        return _Job(
            request=request,
            source_tokens=source + self._counter.count(request.previous),
            input_tokens=left,
            output_tokens=output,
            spare_tokens=self._window - output - taken,
        )

    def _shared(self, output_tokens: int) -> int:
        return output_tokens if self._shares_output else 0

    def _fold(self, job: _Job, entries: Sequence[Entry], previous: str) -> str:
        """Summaries of parts, merged with the previous one; n parts take about 4/3 n requests."""
        if self._own_counter.count(previous) > job.input_tokens // 2:
            entries = [Entry(label="PREVIOUS SUMMARY", text=previous), *entries]
            previous = ""
        most = job.input_tokens - 1  # a line break joins it to the next
        pieces = [piece for entry in entries for piece in entry.split(most, self._own_counter)]
        parts = self._condensed(job, pieces, "part")
        room = job.input_tokens - self._own_counter.count(previous)
        while self._size(parts) > room:
            merged = self._condensed(job, parts, "middle")
            assert len(merged) < len(parts)  # a part is short enough that two fit one request
            parts = merged
        return self._ask(job, parts, previous=previous, stage="merge")

    def _condensed(self, job: _Job, entries: Sequence[Entry], stage: Stage) -> list[Entry]:
        """A summary of each group of neighbours that fits one request, as entries to merge."""
        sizes = [self._size([entry]) for entry in entries]
        ranges = group_sizes(sizes, job.input_tokens)
        groups = [entries[group.start : group.stop] for group in ranges]
        texts = [
            group[0].text
            if stage == "middle" and len(group) == 1
            else self._ask(job, group, stage=stage)
            for group in groups
        ]
        return [
            Entry(label=f"PART {at} OF {len(texts)}", text=text)
            for at, text in enumerate(texts, start=1)
        ]

    def _size(self, entries: Sequence[Entry]) -> int:
        return sum(self._own_counter.count(entry.render()) + 1 for entry in entries)

    def _ask(self, job: _Job, entries: Sequence[Entry], *, stage: Stage, previous: str = "") -> str:
        request = job.request
        is_final = stage in FINAL
        limit = job.output_tokens if is_final else job.part_tokens
        prompt = to_prompt(request, entries, previous=previous, max_tokens=limit, stage=stage)

        def check(text: str) -> str:
            return check_summary(
                text,
                source_tokens=job.source_tokens,
                counter=self._counter if is_final else self._own_counter,
                max_tokens=limit,
                max_chars=request.max_chars if is_final else None,
            )

        shown = self._size(entries) + self._own_counter.count(previous)
        spare = max(0, job.spare_tokens - self._shared(shown))
        return self._model.ask(
            prompt, max_tokens=limit, spare_tokens=spare, check=check, report=request.report
        )
