"""Packs the dashboard into wheels, under one private folder of the library."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PRIVATE_FOLDER = "ctxcore/_dashboard"
# Each keeps its place beside the others: app.py finds the rest from there, as in a checkout.
PACKED = (
    ".streamlit/config.toml",
    "app.py",
    "dashboard",
    "data/demo_incident.json",
    "data/demo_trip_zh.json",
    "pages",
)


class PackDashboard(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the dashboard's files to a wheel; an editable install uses the checkout's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds; `version` is `standard` or `editable`."""
        if version != "editable":
            packed = {path: f"{PRIVATE_FOLDER}/{path}" for path in PACKED}
            build_data["force_include"].update(packed)
