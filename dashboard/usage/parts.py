"""The names and colours of the parts of an input, as the charts of the usage page stack them."""

from __future__ import annotations

from ctxcore.assembly.verdicts import INPUT_SEGMENTS
from dashboard.texts import t
from dashboard.usage.charts import PROVIDER_COLORS
from dashboard.usage.rows import PROVIDER_PARTS, SUMMARIES, Source
from dashboard.window_chart import SEGMENT_COLORS

_SUMMARIES = {SUMMARIES: "#C44E52"}
"""Not a colour of a segment: these are requests for summaries, not summaries in a context."""


def part_names(source: Source) -> dict[str, str]:
    """The names of the parts, in the order in which they are stacked."""
    if source == "estimate":
        names = {str(name): t(f"common.segment.{name}") for name in INPUT_SEGMENTS}
    else:
        names = {name: t(f"usage.part.{name}") for name in PROVIDER_PARTS}
    return names | {SUMMARIES: t("usage.part.summaries")}


def part_colors(source: Source) -> dict[str, str]:
    """The colour of each part."""
    if source == "estimate":
        return {name: SEGMENT_COLORS[name] for name in INPUT_SEGMENTS} | _SUMMARIES
    return {**PROVIDER_COLORS, **_SUMMARIES}
