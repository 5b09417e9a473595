"""Ranges of characters, for the insides of `[…]` in patterns."""

from __future__ import annotations

import re
from typing import Final

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The unified ideographs of the basic plane."""
HAN_RUN: Final = re.compile(f"[{HAN}]+")
UNSPACED: Final = f"\u3040-\u30ff\u31f0-\u31ff{HAN}\U00020000-\U000323af"
"""Han of all planes and Kana: scripts that put no blanks between words."""
