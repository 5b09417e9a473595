"""Spans and metrics, read from the SDK's exporters in memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ctxcore import ContextEngine, reply_of
from ctxcore.integrations.opentelemetry import instrument
from ctxcore.integrations.telemetry import instrument_if_asked
from ctxcore.store.values import Scope
from tests.engines import ended, engine_with
from tests.integration.frameworks.conversations import answer, note

SECRET = "the colour of the door is vermilion"


class Exported:
    """What an engine exports."""

    def __init__(self) -> None:
        self._spans, self._metrics = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meters = MeterProvider(metric_readers=[self._metrics])

    def watch(self, engine: ContextEngine) -> Any:
        return instrument(engine, tracer_provider=self.tracers, meter_provider=self.meters)

    def spans(self, beginning: str) -> list[ReadableSpan]:
        return [one for one in self._spans.get_finished_spans() if one.name.startswith(beginning)]

    def attributes(self, beginning: str) -> dict[str, Any]:
        [span] = self.spans(beginning)
        return dict(span.attributes or {})

    def points(self) -> dict[str, list[Any]]:
        data = self._metrics.get_metrics_data()
        assert data is not None
        scopes = [scope for one in data.resource_metrics for scope in one.scope_metrics]
        metrics = [metric for scope in scopes for metric in scope.metrics]
        return {metric.name: list(metric.data.data_points) for metric in metrics}


def test_a_call_is_a_span_with_its_usage_and_no_text() -> None:
    exported = Exported()
    with engine_with() as (engine, _):
        exported.watch(engine)
        session = engine.create_session()
        ended(engine.chat(session.id, SECRET))
        [call] = engine.calls(session.id)

    told = exported.attributes("chat ")
    context = exported.attributes("ctxcore.context")
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == call.model
    assert told["gen_ai.conversation.id"] == session.id
    assert told["gen_ai.usage.input_tokens"] == call.input_tokens
    assert told["gen_ai.usage.output_tokens"] == call.output_tokens
    assert context["ctxcore.context.recent"] > 0
    assert SECRET not in repr([span.to_json() for span in exported.spans("")])


def test_metrics_have_the_names_of_the_conventions() -> None:
    exported = Exported()
    with engine_with() as (engine, _):
        exported.watch(engine)
        ended(engine.chat(engine.create_session().id, "hello"))

    points = exported.points()
    kinds = {point.attributes["gen_ai.token.type"] for point in points["gen_ai.client.token.usage"]}
    assert kinds == {"input", "output"}
    assert points["gen_ai.client.operation.duration"][0].count == 1


def test_histograms_have_the_boundaries_of_the_conventions() -> None:
    exported = Exported()
    with engine_with() as (engine, _):
        exported.watch(engine)
        ended(engine.chat(engine.create_session().id, "hello"))

    bounds = {name: found[0].explicit_bounds for name, found in exported.points().items()}
    assert bounds["gen_ai.client.token.usage"][:3] == (1, 4, 16)
    assert bounds["gen_ai.client.token.usage"][-1] == 67_108_864
    for name in ("duration", "time_to_first_chunk"):
        found = bounds[f"gen_ai.client.operation.{name}"]
        assert (found[0], found[-1], len(found)) == (0.01, 81.92, 14)


def test_a_streamed_call_tells_how_long_its_answer_took_to_begin() -> None:
    exported = Exported()
    with engine_with() as (engine, _):
        exported.watch(engine)
        ended(engine.chat(engine.create_session().id, "hello"))

    told = exported.attributes("chat ")["gen_ai.response.time_to_first_chunk"]
    [point] = exported.points()["gen_ai.client.operation.time_to_first_chunk"]
    assert told >= 0
    assert (point.count, point.sum) == (1, told)


def test_an_answer_that_came_whole_tells_no_time_of_a_first_chunk() -> None:
    exported = Exported()
    with engine_with() as (engine, _):
        exported.watch(engine)
        session = engine.create_session()
        call = engine.begin_call(session.id, [{"role": "user", "content": "hello"}])
        said = {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}
        engine.end_call(call, reply_of(said, seconds=1.0))

    assert "gen_ai.response.time_to_first_chunk" not in exported.attributes("chat ")
    assert "gen_ai.client.operation.time_to_first_chunk" not in exported.points()


def test_spans_name_the_policy_in_force() -> None:
    exported = Exported()
    with engine_with(window=6_000) as (engine, _):
        session = engine.create_session()
        engine.save_policy(Scope(kind="session", owner=session.id), {"name": "sliding-summary"})
        for turn in range(40):
            said = {"role": "user", "content": note(turn)}
            engine.append(session.id, [said, {"role": "assistant", "content": answer(turn)}])
        exported.watch(engine)
        info = engine.compact(session.id)
        ended(engine.chat(session.id, "and now?"))

    assert info is not None
    assert info.policy_version_id is not None
    for name in ("ctxcore.context_compacted", "ctxcore.context"):
        told = dict(exported.spans(name)[-1].attributes or {})
        assert told["ctxcore.policy.preset"] == "sliding-summary"
        assert told["ctxcore.policy.version"] == info.policy_version_id


def test_a_compaction_tells_what_it_saved_and_lost() -> None:
    exported = Exported()
    with engine_with(window=6_000) as (engine, _):
        session = engine.create_session()
        for turn in range(40):
            said = {"role": "user", "content": note(turn)}
            engine.append(session.id, [said, {"role": "assistant", "content": answer(turn)}])
        exported.watch(engine)
        info = engine.compact(session.id)

    told = exported.attributes("ctxcore.context_compacted")
    assert info is not None
    assert info.effect is not None
    assert told["ctxcore.compaction.after_tokens"] == info.effect.with_tokens
    assert told["ctxcore.compaction.trigger"].startswith("trigger.")
    assert told["ctxcore.compaction.facts_lost"] >= 0
    [saved] = exported.points()["ctxcore.compaction.saved"]
    assert saved.value == info.effect.saved_tokens


def test_a_failed_call_has_the_type_of_its_error() -> None:
    exported = Exported()
    with engine_with(window=40_000, provider_window=5) as (engine, _):
        exported.watch(engine)
        assert ended(engine.chat(engine.create_session().id, "fact " * 90)).state == "failed"

    assert "error.type" in dict(exported.spans("chat ")[0].attributes or {})
    assert exported.spans("chat ")[0].status.status_code.name == "ERROR"


def test_a_fault_of_telemetry_stops_no_turn_and_it_can_be_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        def on_context(self, *told: object) -> None:
            raise OSError("no collector")

        on_call = on_event = on_context

    with engine_with() as (engine, _):
        end = engine.watch(Broken())
        session = engine.create_session()
        assert ended(engine.chat(session.id, "hello")).state == "done"
        assert "a watcher failed" in caplog.text
        end()
        caplog.clear()
        ended(engine.chat(session.id, "hello again"))
        assert "a watcher failed" not in caplog.text


def test_it_is_off_unless_the_environment_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_with() as (engine, _):
        monkeypatch.delenv("CTXCORE_TELEMETRY", raising=False)
        instrument_if_asked(engine)
        assert not engine._services.watchers.are_there
        monkeypatch.setenv("CTXCORE_TELEMETRY", "otel")
        instrument_if_asked(engine)
        assert engine._services.watchers.are_there


def test_nothing_of_it_is_loaded_where_it_is_off() -> None:
    code = (
        "import sys; from ctxcore import ContextEngine, open_store; "
        "from ctxcore.integrations.telemetry import instrument_if_asked; "
        "instrument_if_asked(ContextEngine(open_store('sqlite://'))); "
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
