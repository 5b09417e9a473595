"""Markup: of a page its words, of a document its elements."""

from __future__ import annotations

from ctxcore.compression.outputs import markup_lines
from tests.unit.compression.counters import shrink

BERTHS = "".join(
    f"<berth id='K-{n:03d}'><state>{'taken' if n % 3 else 'free'}</state><depth>{n / 2}</depth>"
    "</berth>"
    for n in range(60)
)


def test_of_a_page_the_words_stay_and_the_tags_are_counted() -> None:
    page = "<div><script>let x = 1;</script><p>The harbour <b>sleeps</b>.</p></div>"

    assert markup_lines(page) == (["The harbour", "sleeps", "."], 7)


def test_of_a_document_each_element_of_a_list_is_a_line_with_its_tags() -> None:
    lines, tags = markup_lines(f"<harbour>{BERTHS}</harbour>")

    assert tags == 0
    assert len(lines) == 60
    assert lines[41] == "<berth id='K-041'><state>taken</state><depth>20.5</depth></berth>"


def test_the_element_that_the_query_names_is_kept_whole() -> None:
    compressed = shrink(f"<harbour>{BERTHS}</harbour>", 120, "how deep is K-041?")

    assert "<berth id='K-041'><state>taken</state><depth>20.5</depth></berth>" in compressed.text
    assert compressed.tokens <= 120
