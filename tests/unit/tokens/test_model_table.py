"""The table of windows and prices: what it says, how it is read, and how it is written."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.tokens.catalog import COLUMNS, TABLE, ModelInfo, Table, as_of, model_info
from tools.update_models import to_table

DAY = date(2026, 10, 21)


@pytest.fixture(scope="module")
def shipped() -> Table:
    return Table.read(TABLE.read_text(encoding="utf-8"))


def written(**entry: JsonValue) -> ModelInfo:
    """What is read back of litellm's entry for `m`."""
    table = Table.read(to_table({"m": {"mode": "chat", **entry}}, DAY))
    found = table.info("m")
    assert found is not None
    return found


def test_the_table_has_its_day_and_thousands_of_models(shipped: Table) -> None:
    assert shipped.as_of == as_of()
    assert date(2026, 1, 1) <= as_of() <= date.today()  # noqa: DTZ011 - a day, not a moment
    assert len(shipped.lines) > 3_000


def test_the_documentation_tells_the_same_day_and_number(shipped: Table) -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    day = f"{shipped.as_of.day} {shipped.as_of:%B %Y}"

    assert f"a table of {len(shipped.lines):,} models as of {day}" in page


def test_every_line_is_sane(shipped: Table) -> None:
    for model in shipped.lines:
        info = shipped.info(model)
        assert info is not None
        sizes = (info.window_tokens, info.max_output_tokens)
        prices = (info.input_price, info.output_price, info.cache_read_price)
        assert info.model == model
        assert all(size is None or 0 < size <= 100_000_000 for size in sizes), info
        # the dearest listed is a cent for a token
        assert all(price is None or 0 <= price <= 1e-2 for price in prices), info


@pytest.mark.parametrize(
    ("model", "window", "output", "dollars_per_million"),
    [  # as the providers' pages say
        ("gpt-4o", 128_000, 16_384, (2.5, 10)),
        ("gpt-4.1", 1_047_576, 32_768, (2, 8)),
        ("gpt-5", 272_000, 128_000, (1.25, 10)),
        ("claude-sonnet-4-5", 200_000, 64_000, (3, 15)),
        ("gemini/gemini-2.5-flash", 1_048_576, 65_536, (0.3, 2.5)),
    ],
)
def test_known_facts_are_in_it(
    model: str, window: int, output: int, dollars_per_million: tuple[float, float]
) -> None:
    info = model_info(model)

    assert (info.window_tokens, info.max_output_tokens) == (window, output)
    assert (info.input_price, info.output_price) == pytest.approx(
        [dollars / 1e6 for dollars in dollars_per_million]
    )


@pytest.mark.parametrize("price", [2.5e-06, 1.0000000000000001e-05, 7.5e-08, 3, 0, 0.1 + 0.2])
def test_a_price_is_read_as_it_was_listed(price: float) -> None:
    info = written(input_cost_per_token=price, cache_creation_input_token_cost=price)

    assert (info.input_price, info.cache_write_price) == (price, price)
    assert info.output_price is None


def test_what_litellm_lists_as_nothing_or_zero_is_unknown() -> None:
    info = written(max_input_tokens=0, max_output_tokens="8k", litellm_provider=None)

    assert info == ModelInfo(model="m", counter_id="")


@pytest.mark.parametrize(
    ("name", "window", "output", "shares"),
    [
        ("gpt-9", 272_000, 128_000, False),
        ("gpt-9", 128_000, 16_384, True),
        ("other", 272_000, 128_000, True),
        ("gemini-9", 1_048_576, 65_535, False),
    ],
)
def test_a_reply_beside_the_window_is_told(
    name: str, window: int, output: int, shares: bool
) -> None:
    entry: JsonObject = {"mode": "chat", "max_input_tokens": window, "max_output_tokens": output}
    found = Table.read(to_table({name: entry}, DAY)).info(name)

    assert found is not None
    assert found.shares_output is shares


def test_only_models_of_text_are_written_in_order() -> None:
    modes = {
        "b": "chat",
        "a": "embedding",
        "c": "image_generation",
        "d": "completion",
        "e": "responses",
    }
    entries: JsonObject = {name: {"mode": mode} for name, mode in modes.items()}

    assert list(Table.read(to_table(entries, DAY)).lines) == ["a", "b", "d", "e"]


@pytest.mark.parametrize(
    "text", ["# as of yesterday\n" + "\t".join(COLUMNS), "# as of 2026-10-21\nmodel\tprice\n"]
)
def test_another_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"yesterday|other columns"):
        Table.read(text)
