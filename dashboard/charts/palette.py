"""Owns the colour of each segment, the same on every page and in both modes.

Hues are those of Okabe and Ito, told apart by people with colour blindness; reserve is hatched too.
"""

from __future__ import annotations

from typing import Final

from ctxcore.assembly.verdicts import Segment

SEGMENT_COLORS: Final[dict[Segment, str]] = {
    "system": "#0072B2",
    "tools": "#E69F00",
    "pinned": "#CC79A7",
    "facts": "#F0E442",
    "summary": "#009E73",
    "kept": "#726DB1",
    "recent": "#56B4E9",
    "recalled": "#A6761D",
    "knowledge": "#66A61E",
    "unattributed": "#999999",
    "reserve": "#808790",
    "free": "#80879033",
}
"""`free` is see-through, so that it is pale on white and dark on black."""

TRIGGER_COLOR = "#D55E00"
TARGET_COLOR = "#009E73"
