"""Looks up models in a table of their windows, longest outputs and prices.

`models.tsv` holds them as of one day; `tools/update_models.py` writes it. A line is parsed when its
model is looked up. A name that is not listed takes the window of its family, which is so marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path

from ctxcore.plain import Plain
from ctxcore.tokens.families import counter_id_of

TABLE = Path(__file__).with_name("models.tsv")
DATE_MARK = "# as of "
"""What the first line says before the day."""
COLUMNS = (
    "model",
    "provider",
    "window",
    "max_output",
    "reply",
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_hour",
)
"""The second line. Prices are dollars per million tokens; an empty cell is unknown."""
REPLY_BESIDE = "beside"
"""In the column `reply`: the reply has its room beside the window, not in it."""


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
    is_assumed: bool = False
    """Whether the window is that of the model's family, because its own is not listed."""
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    cache_hour_price: float | None = None
    """What is written to a cache for an hour, where that has a price of its own."""


@dataclass(frozen=True, slots=True)
class _Family:
    window_tokens: int
    shares_output: bool = True


# What the sellers of these families list at least for a chat model: claude-haiku-4-5,
# gemini-2.5-pro, gpt-5-chat. Open weights are missing: their window is set by who serves them.
_FAMILIES: Mapping[str, _Family] = {
    r"(^|[/.])claude-(?!v?[12]|instant)": _Family(200_000),
    r"(^|/)gemini-(?!.*(embedding|tts|image|live|audio|robotics|computer|omni|gemma))": _Family(
        1_048_576, shares_output=False
    ),
    r"(^|/)(gpt-4o|gpt-4\.1|gpt-5|o[134](-|$))": _Family(128_000),
}


READER_WINDOWS: Mapping[str, int] = {
    f"scripted/reader-{size}k": size * 1_024 for size in (4, 8, 12, 40)
}
"""The scripted demo models, which answer from their context, and the window of each in tokens."""


def _own(model: str, *, window_tokens: int, max_output_tokens: int) -> ModelInfo:
    """The entry of a model of this library, which costs nothing."""
    return ModelInfo(
        model=model,
        counter_id=counter_id_of(model),
        provider=model.partition("/")[0],
        window_tokens=window_tokens,
        max_output_tokens=max_output_tokens,
        input_price=0.0,
        output_price=0.0,
        cache_read_price=0.0,
        cache_write_price=0.0,
    )


_OWN: Mapping[str | None, ModelInfo] = {
    "local/smollm2-135m": _own("local/smollm2-135m", window_tokens=8_192, max_output_tokens=1_024),
    **{
        model: _own(model, window_tokens=window, max_output_tokens=512)
        for model, window in READER_WINDOWS.items()
    },
}


def model_info(model: str | None) -> ModelInfo:
    """The entry for `model`, looked up without its prefix where it is not listed with it.

    A window that is not listed is that of the family, where one is known, and `is_assumed`.
    Provider and prices are left out if the entry is of another provider than the prefix names.
    """
    if model in _OWN:
        return _OWN[model]
    unknown = ModelInfo(model=model or "", counter_id=counter_id_of(model))
    found = next(filter(None, map(_table().info, _names(unknown.model))), None)
    if found is None:
        return _with_window(unknown)
    info = replace(found, model=unknown.model, counter_id=unknown.counter_id)
    return _with_window(info if _is_sold_by(info.model, found) else _without_prices(info))


def _with_window(info: ModelInfo) -> ModelInfo:
    """`info` with the window of its family where its own is not listed."""
    if info.window_tokens is not None:
        return info
    name = info.model.lower()
    family = next((found for known, found in _FAMILIES.items() if re.search(known, name)), None)
    if family is None:
        return info
    return replace(
        info,
        window_tokens=family.window_tokens,
        shares_output=family.shares_output,
        is_assumed=True,
    )


def model_names() -> list[str]:
    """Every listed model, in alphabetical order."""
    return sorted([*_table().lines, *(info.model for info in _OWN.values())])


def as_of() -> date:
    """The day that the listed windows and prices are of."""
    return _table().as_of


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
        cache_hour_price=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The lines of the table by the models they are about."""

    as_of: date
    lines: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> Table:
        """The table that `text` is: its day, its columns, a line for each model.

        Raises:
            ValueError: the first line is no day, or the second names other columns.
        """
        first, columns, *lines = text.splitlines()
        if columns.split("\t") != list(COLUMNS):
            raise ValueError(f"other columns than {COLUMNS}: {columns!r}")
        day = date.fromisoformat(first.removeprefix(DATE_MARK))
        return cls(as_of=day, lines={line.partition("\t")[0]: line for line in lines})

    def info(self, model: str) -> ModelInfo | None:
        """The entry listed under exactly this name, without a counter; None if there is none."""
        line = self.lines.get(model)
        if line is None:
            return None
        name, provider, window, most, reply, *prices = line.split("\t")
        paid, made, cached, written, for_hour = map(_price, prices)
        return ModelInfo(
            model=name,
            counter_id="",
            provider=provider or None,
            window_tokens=int(window) if window else None,
            max_output_tokens=int(most) if most else None,
            shares_output=reply != REPLY_BESIDE,
            input_price=paid,
            output_price=made,
            cache_read_price=cached,
            cache_write_price=written,
            cache_hour_price=for_hour,
        )


def _price(per_million: str) -> float | None:
    """Dollars a token; moving the decimal point in the text keeps every digit."""
    return float(f"{per_million}e-6") if per_million else None


@cache
def _table() -> Table:
    return Table.read(TABLE.read_text(encoding="utf-8"))
