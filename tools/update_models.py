"""Writes ctxcore's table of windows and prices from the file in the installed litellm.

Run it as `python -m tools.update_models 2026-10-21`, with the day that this litellm was released.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.packages import package_file
from ctxcore.tokens.catalog import COLUMNS, DATE_MARK, REPLY_BESIDE, TABLE

SOURCE = "model_prices_and_context_window_backup.json"
_TEXT_MODES = frozenset({"chat", "completion", "responses", "embedding"})
_PRICES = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
)
# OpenAI states these totals and litellm lists them less the output: 272,000 + 128,000 and
# 922,000 + 128,000. Gemini states an input limit. Everyone else states one shared window.
_TOTALS_LISTED_LESS_OUTPUT = frozenset({400_000, 1_050_000})


def main() -> None:
    """Write the table and print how many models it has."""
    day = date.fromisoformat(sys.argv[1])
    source = package_file("litellm", SOURCE)
    if source is None:
        sys.exit("litellm is not installed, or without its list of models")
    text = to_table(json.loads(source.read_bytes()), day)
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {len(text.splitlines()) - 2:,} models as of {day}")


def to_table(entries: Mapping[str, JsonValue], day: date) -> str:
    """The table of the text models among litellm's `entries`, in alphabetical order."""
    lines = sorted("\t".join(_cells(name, entry)) for name, entry in _text_models(entries))
    return "\n".join([f"{DATE_MARK}{day}", "\t".join(COLUMNS), *lines, ""])


def _text_models(entries: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonObject]]:
    for name, entry in entries.items():
        if isinstance(entry, dict) and entry.get("mode") in _TEXT_MODES:
            yield name, entry


def _cells(name: str, entry: JsonObject) -> list[str]:
    provider = entry.get("litellm_provider")
    window, output = _tokens(entry.get("max_input_tokens")), _tokens(entry.get("max_output_tokens"))
    return [
        name,
        provider if isinstance(provider, str) else "",
        str(window or ""),
        str(output or ""),
        "" if _shares_output(name, window + output) else REPLY_BESIDE,
        *(_price(entry.get(key)) for key in _PRICES),
    ]


def _shares_output(name: str, total: int) -> bool:
    return "gemini" not in name and ("gpt" not in name or total not in _TOTALS_LISTED_LESS_OUTPUT)


def _tokens(value: JsonValue) -> int:
    """A limit in tokens; 0 is unknown, in litellm's file too."""
    return value if isinstance(value, int) and value > 0 else 0


def _price(value: JsonValue) -> str:
    """Dollars per million tokens, in the digits that the price per token is written with."""
    if not isinstance(value, (int, float)):
        return ""
    return format((Decimal(repr(value)) * 1_000_000).normalize(), "f")


if __name__ == "__main__":
    main()
