"""Texts in other languages, which the dashboard brings along."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

from ctxcore.cli.serving import dashboard_script
from ctxcore.reasons.values import Reason, fill

Language = Literal["en", "zh"]


def load_texts(language: Language) -> Mapping[str, str]:
    """All texts of a language by key; none where the dashboard is not installed."""
    script = dashboard_script()
    if script is None:
        return {}
    texts: dict[str, str] = {}
    for path in sorted((script.parent / "dashboard" / "texts" / language).glob("*.json")):
        texts.update(json.loads(path.read_text(encoding="utf-8")))
    return texts


def reason_teller(texts: Mapping[str, str]) -> Callable[[Reason], str]:
    """Gives the text of a reason in the language of `texts`; what these lack is told in English."""

    def tell(reason: Reason) -> str:
        facts = {
            name: tell(fact) if isinstance(fact, Reason) else fact
            for name, fact in reason.facts.items()
        }
        text = texts.get(f"reason.{reason.code}")
        return str(Reason(reason.code, facts)) if text is None else fill(text, facts)

    return tell
