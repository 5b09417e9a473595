"""Looks up models in litellm's catalogue: window, longest output and prices.

litellm's data files are found without importing it, which would take seconds.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.tokens.families import counter_id_of


def bundled_file(*parts: str) -> Path | None:
    """The path of a file inside litellm's package; None if it is not there."""
    try:
        spec = find_spec("litellm")
    except ValueError:  # a stand-in module without a spec was put into sys.modules
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(next(iter(spec.submodule_search_locations)), *parts)
    return path if path.is_file() else None


logger = logging.getLogger(__name__)

_TEXT_MODES = frozenset({"chat", "completion", "responses", "embedding"})
# OpenAI states these totals and litellm lists them less the output: 272,000 + 128,000 and
# 922,000 + 128,000. Gemini states an input limit. Everyone else states one shared window.
_TOTALS_LISTED_LESS_OUTPUT = frozenset({400_000, 1_050_000})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo(Plain):
    """The catalogue's entry for a model; prices are US dollars a token, unknown values None."""

    model: str
    counter_id: str
    provider: str | None = None
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    shares_output: bool = True
    """Whether the reply takes its room from `window_tokens`; where not, no reserve is needed."""
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None


_LOCAL = ModelInfo(  # this library's built-in model
    model="local/smollm2-135m",
    counter_id=counter_id_of("local/smollm2-135m"),
    provider="local",
    window_tokens=8192,
    max_output_tokens=1024,
    input_price=0.0,
    output_price=0.0,
    cache_read_price=0.0,
    cache_write_price=0.0,
)


def model_info(model: str | None) -> ModelInfo:
    """The entry for `model`, looked up without its prefix where it is not listed with it.

    Provider and prices are left out if the entry is of another provider than the prefix names.
    """
    if model == _LOCAL.model:
        return _LOCAL
    listed = _catalogue() if model else {}
    unknown = ModelInfo(model=model or "", counter_id=counter_id_of(model))
    found = next((listed[name] for name in _names(unknown.model) if name in listed), None)
    if found is None:
        return unknown
    info = replace(found, model=unknown.model, counter_id=unknown.counter_id)
    return info if _is_sold_by(info.model, found) else _without_prices(info)


def model_names() -> list[str]:
    """Every listed model, in alphabetical order."""
    return sorted([*_catalogue(), _LOCAL.model])


def _names(model: str) -> Iterator[str]:
    """The names that `model` may be listed under: itself, then without its prefixes in turn."""
    rest = model
    while rest:
        yield rest
        yield rest.lower()
        if rest.startswith("ft:"):  # fine-tuned: `ft:gpt-4o:our-company::id`
            yield ":".join(rest.split(":")[:2])
        rest = rest.partition("/")[2]


def _is_sold_by(model: str, listed: ModelInfo) -> bool:
    prefix, slash, _ = model.lower().partition("/")
    if not slash or model.lower() == listed.model.lower():
        return True
    return (listed.provider or "").startswith(prefix)


def _without_prices(info: ModelInfo) -> ModelInfo:
    return replace(
        info,
        provider=None,
        input_price=None,
        output_price=None,
        cache_read_price=None,
        cache_write_price=None,
    )


@cache
def _catalogue() -> Mapping[str, ModelInfo]:
    path = bundled_file("model_prices_and_context_window_backup.json")
    try:
        entries = json.loads(path.read_bytes()) if path else {}
    except (OSError, ValueError):
        entries = {}
    if not isinstance(entries, dict) or not entries:
        logger.warning("model catalogue is empty file=%s", "unreadable" if path else "missing")
        return {}
    return {
        name: _parse_entry(name, cast("JsonObject", entry))
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _TEXT_MODES
    }


def _parse_entry(name: str, entry: JsonObject) -> ModelInfo:
    provider = entry.get("litellm_provider")
    window, output = _tokens(entry.get("max_input_tokens")), _tokens(entry.get("max_output_tokens"))
    return ModelInfo(
        model=name,
        counter_id="",  # filled in by `model_info`: most entries are never looked up
        provider=provider if isinstance(provider, str) else None,
        window_tokens=window,
        max_output_tokens=output,
        shares_output=_shares_output(name, window, output),
        input_price=_price(entry.get("input_cost_per_token")),
        output_price=_price(entry.get("output_cost_per_token")),
        cache_read_price=_price(entry.get("cache_read_input_token_cost")),
        cache_write_price=_price(entry.get("cache_creation_input_token_cost")),
    )


def _shares_output(name: str, window: int | None, output: int | None) -> bool:
    if "gemini" in name:
        return False
    return "gpt" not in name or (window or 0) + (output or 0) not in _TOTALS_LISTED_LESS_OUTPUT


def _tokens(value: JsonValue) -> int | None:
    """A limit in tokens; the file writes 0 for unknown."""
    return value if isinstance(value, int) and value > 0 else None


def _price(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) else None
