"""Switches telemetry on where the environment asks for it; loads nothing where it does not."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

from ctxcore.engine.core import ContextEngine

VARIABLE: Final = "CTXCORE_TELEMETRY"
"""Set to `otel`, it has the dashboard and the proxy send spans and metrics."""


def instrument_if_asked(engine: ContextEngine) -> None:
    """Has what `engine` does sent to OpenTelemetry, if the environment asks for it.

    Raises:
        ConfigurationError: OpenTelemetry is asked for and not installed.
    """
    if os.environ.get(VARIABLE, "").lower() == "otel":
        import_module("ctxcore.integrations.opentelemetry").instrument(engine)
