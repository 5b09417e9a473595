"""Spans and metrics of a chat that is compacted, on the console; runs without a key."""

from __future__ import annotations

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from ctxcore import ContextEngine, LiteLLMGateway, open_store
from ctxcore.integrations.opentelemetry import instrument

tracers = TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
meters = MeterProvider([PeriodicExportingMetricReader(ConsoleMetricExporter())])

model = "scripted/reader-4k"  # answers from its context, without a network
engine = ContextEngine(open_store("sqlite://"), gateway=LiteLLMGateway(), model=model)
instrument(engine, tracer_provider=tracers, meter_provider=meters)

session = engine.create_session()
for day in range(1, 8):
    said = f"Delivery {day} has {day * 17} crates. " + "Every crate is counted. " * 60
    engine.append(session.id, [{"role": "user", "content": said}])
for _ in engine.chat(session.id, "How many crates does delivery 3 have?"):
    pass
engine.compact(session.id)

tracers.shutdown()
meters.shutdown()  # exports the metrics
