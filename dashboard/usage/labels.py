"""Owns the names and colours of what the usage charts stack."""

from __future__ import annotations

from ctxcore.assembly.verdicts import INPUT_SEGMENTS
from dashboard.charts.palette import SEGMENT_COLORS
from dashboard.charts.usage import PROVIDER_COLORS
from dashboard.texts import t
from dashboard.usage.account import OTHER_TOOLS, Share
from dashboard.usage.rows import PROVIDER_PARTS, SUMMARIES, Source

_SUMMARIES = {SUMMARIES: "#C44E52"}
"""Of no segment, so that it is not taken for the summary inside a context."""


def part_names(source: Source) -> dict[str, str]:
    """What each part is called, in the order in which they are stacked."""
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


def share_name(share: Share) -> str:
    """What a part of the account is called."""
    kind = t(f"usage.share.{share.kind}")
    tool = t("usage.share.other_tools") if share.name == OTHER_TOOLS else share.name
    return t("usage.share.of_tool", tool=tool, kind=kind) if tool else kind
