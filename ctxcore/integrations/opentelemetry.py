"""Spans and metrics of an engine by OpenTelemetry's conventions for generative AI.

Attributes are names, numbers and codes; texts of messages are never among them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from ctxcore import __version__
from ctxcore.assembly.context import Context
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import COMPACTED, FAILED, REDONE, UNDONE
from ctxcore.engine.policies import EffectivePolicy
from ctxcore.integrations.requirements import require
from ctxcore.reasons.values import to_json
from ctxcore.store.values import CallInfo, Event
from ctxcore.tokens.families import provider_of

require("opentelemetry", extra="otel")

from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import SpanKind, Status, StatusCode, TracerProvider, get_tracer

_SCOPE: Final = "ctxcore"
_CONVERSATION: Final = "gen_ai.conversation.id"
_PRESET: Final = "ctxcore.policy.preset"
_VERSION: Final = "ctxcore.policy.version"
_OPERATION: Final = "gen_ai.operation.name"
_NANOSECONDS: Final = 1_000_000_000

# Boundaries that the conventions give for these two kinds of histograms:
# https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-metrics.md
_SECONDS: Final = [0.01 * 2**step for step in range(14)]
_TOKENS: Final = [4**step for step in range(14)]
# Chosen: contexts are built within milliseconds, where those for calls have one bucket.
_BUILD_SECONDS: Final = [0.001 * 2**step for step in range(14)]

Attributes = dict[str, str | int | float | bool]


def instrument(
    engine: ContextEngine,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> Callable[[], None]:
    """Sends what `engine` does as spans and metrics; the returned function ends this.

    Args:
        engine: whose context builds, calls and compactions are told.
        tracer_provider: where spans go; the global one by default.
        meter_provider: where metrics go; the global one by default.

    Raises:
        ConfigurationError: OpenTelemetry is not installed.
    """
    return engine.watch(_Telemetry(tracer_provider, meter_provider))


class _Telemetry:
    """Turns what an engine tells into spans and measurements."""

    def __init__(self, tracers: TracerProvider | None, meters: MeterProvider | None) -> None:
        self._tracer = get_tracer(_SCOPE, __version__, tracer_provider=tracers)
        meter = get_meter(_SCOPE, __version__, meter_provider=meters)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of calls, as the provider counts them",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "How long calls took",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._first_tokens = meter.create_histogram(
            "gen_ai.client.operation.time_to_first_chunk",
            "s",
            "How long streamed answers took to begin",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._builds = meter.create_histogram(
            "ctxcore.context.duration",
            "s",
            "How long contexts took to build",
            explicit_bucket_boundaries_advisory=_BUILD_SECONDS,
        )
        self._sizes = meter.create_histogram(
            "ctxcore.context.tokens",
            "{token}",
            "Tokens of contexts, as they were counted",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._saved = meter.create_counter(
            "ctxcore.compaction.saved", "{token}", "Tokens that compactions took out of next calls"
        )
        self._lost = meter.create_counter(
            "ctxcore.compaction.facts_lost", "{fact}", "Facts that contexts no longer hold"
        )

    def on_context(
        self, session_id: str, context: Context, seconds: float, effective: EffectivePolicy
    ) -> None:
        """A context was built."""
        parts = {
            f"ctxcore.context.{name}": size for name, size in context.breakdown.to_dict().items()
        }
        policy = {_PRESET: effective.policy.name, _VERSION: effective.version_id}
        attributes = _known({_CONVERSATION: session_id, **policy, **parts})
        self._span("ctxcore.context", seconds, attributes, SpanKind.INTERNAL)
        self._builds.record(seconds)
        self._sizes.record(context.tokens)

    def on_call(self, call: CallInfo, first_token_seconds: float | None) -> None:
        """A call was made, or failed."""
        provider = provider_of(call.model) or "unknown"
        common = _known(
            {
                _OPERATION: "chat",
                "gen_ai.provider.name": provider,
                "gen_ai.request.model": call.model,
            }
        )
        problem = _known({"error.type": _code(to_json(call.error)) if call.error else None})
        own = _known(
            {
                _CONVERSATION: call.session_id,
                "gen_ai.usage.input_tokens": call.input_tokens,
                "gen_ai.usage.output_tokens": call.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
                "gen_ai.usage.cache_creation.input_tokens": call.cache_write_tokens,
                "gen_ai.response.time_to_first_chunk": first_token_seconds,
                _VERSION: call.policy_version_id,
                "ctxcore.call.cost": call.cost,
                "ctxcore.call.without_tokens": call.without_tokens,
                "ctxcore.call.cleared_tokens": call.cleared_tokens,
                "ctxcore.call.is_compacted": call.compaction_id is not None,
            }
        )
        seconds = call.latency_seconds or 0.0
        name = f"chat {call.model}" if call.model else "chat"
        self._span(name, seconds, {**common, **problem, **own}, SpanKind.CLIENT)
        if call.latency_seconds is not None:
            self._durations.record(call.latency_seconds, {**common, **problem})
        if first_token_seconds is not None:
            self._first_tokens.record(first_token_seconds, {**common, **problem})
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens is not None:
                self._tokens.record(tokens, {**common, "gen_ai.token.type": kind})

    def on_event(self, event: Event) -> None:
        """A compaction was recorded, failed, or undone."""
        if event.kind not in (COMPACTED, FAILED, UNDONE, REDONE):
            return
        body = event.body
        effect = body.get("effect")
        effect = effect if isinstance(effect, dict) else {}
        before, after = effect.get("without_tokens"), effect.get("with_tokens")
        attributes = _known(
            {
                _CONVERSATION: event.session_id,
                _PRESET: body.get("preset"),
                _VERSION: body.get("policy_version_id"),
                "ctxcore.compaction.id": body.get("compaction_id"),
                "ctxcore.compaction.trigger": _code(body.get("trigger")),
                "ctxcore.compaction.before_tokens": before,
                "ctxcore.compaction.after_tokens": after,
                "ctxcore.compaction.messages_folded": body.get("messages_folded"),
                "ctxcore.compaction.facts_lost": body.get("facts_lost"),
                "ctxcore.compaction.cost": body.get("cost"),
                "error.type": _code(body.get("reason")) if event.kind == FAILED else None,
            }
        )
        seconds = body.get("seconds")
        seconds = float(seconds) if isinstance(seconds, (int, float)) else 0.0
        self._span(f"ctxcore.{event.kind}", seconds, attributes, SpanKind.INTERNAL)
        if event.kind == COMPACTED and isinstance(before, int) and isinstance(after, int):
            self._saved.add(max(before - after, 0))
        lost = body.get("facts_lost")
        if isinstance(lost, int):
            self._lost.add(lost)

    def _span(self, name: str, seconds: float, attributes: Attributes, kind: SpanKind) -> None:
        """A span that ends now and took `seconds`."""
        end = time.time_ns()
        begin = end - int(seconds * _NANOSECONDS)
        span = self._tracer.start_span(name, kind=kind, attributes=attributes, start_time=begin)
        if "error.type" in attributes:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)


def _known(values: Mapping[str, object]) -> Attributes:
    """The values that are known and that attributes may have."""
    return {
        name: value for name, value in values.items() if isinstance(value, (str, int, float, bool))
    }


def _code(reason: object) -> str | None:
    """The code of a stored reason."""
    return str(reason.get("code")) if isinstance(reason, dict) else None
