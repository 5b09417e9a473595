"""What is too much for a browser's markdown is found, and what people write is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dashboard.nesting import MOST_LEVELS, MOST_PAIRS, is_beyond_browsers
from tests.hostile_texts import TEXTS

PARSER = MarkdownIt("commonmark", {"maxNesting": 10_000}).enable(["strikethrough", "table"])
LEVELS_OF_A_LIST = 2  # the list, and its item
MARKS = st.sampled_from(
    ["*", "_", "~~", "**a", "b** ", "> ", ">", "- ", "1. ", "\n", " ", "a", "`"]
)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 20_000,
        "> " * 200 + "a",
        "1. " * 200,
        "+ \t" * 200,
        "> - " * 60 + "a",
        "*a **b " * 600 + "c** d* " * 600,
        "\n".join("  " * depth + "- a" for depth in range(200)),
        "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|\n" * 1_000,
    ],
    ids=["quotes", "spaced", "numbers", "pluses", "mixed", "emphasis", "indented", "table"],
)
def test_text_that_overflows_or_stalls_a_browser_is_found(text: str) -> None:
    assert is_beyond_browsers(text)


@pytest.mark.parametrize(
    "text",
    [
        *(TEXTS[name](20_000) for name in ("prose", "a log", "code lines", "records", "a listing")),
        *(
            TEXTS[name](20_000)
            for name in ("bullets", "headings", "quoted lines", "numbered lines")
        ),
        "- **Name:** what it does\n\n" * 800,
        "| a | b |\n|---|---|\n" + "| some text | more |\n" * 800,
        "-" * 5_000,
        " " * 5_000,
        "[" * 5_000,
        "> > > a mail that was answered three times",
    ],
)
def test_what_people_write_is_left_alone(text: str) -> None:
    assert not is_beyond_browsers(text)


@given(st.lists(MARKS, max_size=60).map("".join), st.integers(1, 12))
def test_nothing_nests_deeper_than_measured(text: str, times: int) -> None:
    text = text * times
    tokens = PARSER.parse(text)
    outside = max((token.level for token in tokens if token.type != "inline"), default=0)
    inside = max((inner.level for token in tokens for inner in token.children or ()), default=0)

    if outside > LEVELS_OF_A_LIST * (MOST_LEVELS + 2) or inside > MOST_PAIRS:
        assert is_beyond_browsers(text)
