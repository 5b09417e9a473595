"""What models write loads nothing and means what it says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dashboard.safe_markdown import marked_text, plain_label, safe_markdown, with_line_breaks

PIECES = (
    *("![x](http://h/i.png)", "![", "]", "(http://h)", "[r]", "\n[r]: http://h\n", "!", "\\"),
    *("`", "``", "```", "~~~", "\n```\n", "\n~~~\n", "- ", "> ", "    ", "  ", "\n", "\n\n", "\r"),
    *("<div>", "$$", "$", ":red[", "a", " "),
)


def images(markdown: str) -> list[str]:
    """What a markdown parser would load."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    return [str(token.attrs.get("src")) for token in inline if token.type == "image"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![cat](http://x/c.png)", "[cat](http://x/c.png)"),
        ("![](http://x/c.png)", "[image](http://x/c.png)"),
        ("![cat][ref]\n\n[ref]: http://x", "[cat][ref]\n\n[ref]: http://x"),
        ("costs $5 or $6", "costs \\$5 or \\$6"),
        ("$$x^2$$ and $y", "$$x^2$$ and \\$y"),
        (":red[hot]", "\\:red[hot]"),
        ("Hi :smile:", "Hi :\u2060smile:"),
        ("at 12:30:45", "at 12:30:45"),
        ("plain *words*", "plain *words*"),
    ],
)
def test_prose_is_made_safe(written: str, shown: str) -> None:
    assert safe_markdown(written) == shown


@pytest.mark.parametrize(
    "code",
    [
        "```\n![x](http://x) costs $5 :smile:\n```",
        "~~~py\nprint('$HOME')\n~~~",
        "`$HOME :smile:`",
        "``a ` $b``",
    ],
)
def test_code_stays_as_it_was_written(code: str) -> None:
    assert safe_markdown(code) == code


def test_a_fence_that_is_still_being_written_is_code() -> None:
    assert safe_markdown("See:\n```sh\necho $HOME") == "See:\n```sh\necho $HOME"


def test_text_behind_a_fence_is_prose_again() -> None:
    assert safe_markdown("```\n$a\n```\n$b") == "```\n$a\n```\n\\$b"


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=300)
def test_a_parser_finds_no_image_in_what_is_shown(text: str) -> None:
    assert images(safe_markdown(text)) == []
    assert images(with_line_breaks(text)) == []


def test_lines_of_notes_stay_lines() -> None:
    drawn = MarkdownIt().render(with_line_breaks("one\ntwo\n\n```\na\nb\n```"))

    assert "one<br />\ntwo" in drawn
    assert drawn.count("<br") == 1


@pytest.mark.parametrize(
    "text",
    [
        "\\\\![x](http://h/i.png)",
        "!![x](http://h/i.png)",
        "\\`![x](http://h/i.png)\\`",
        "`a\n\n![x](http://h/i.png)\n\nb`",
        "a ` b\nc ` ![x](http://h/i.png) ` d",
        "- item\n\n  ```\n  code\n![x](http://h/i.png)",
        "<div>\n```\n\n![x](http://h/i.png)",
        "``` a`b\n![x](http://h/i.png)",
    ],
)
def test_an_image_cannot_hide_in_what_only_looks_like_code(text: str) -> None:
    assert images(text)
    assert images(safe_markdown(text)) == []


def test_certain_code_is_not_touched_even_where_it_looks_like_an_image() -> None:
    assert safe_markdown("So:\n```rust\nvec![a](b)\n```\n") == "So:\n```rust\nvec![a](b)\n```\n"


@given(st.text())
def test_making_safe_loses_no_words(text: str) -> None:
    kept = re.sub(r"[^a-zA-Z0-9]", "", safe_markdown(text))
    assert kept.replace("image", "") == re.sub(r"[^a-zA-Z0-9]", "", text).replace("image", "")


def test_a_label_is_one_short_line_without_markdown() -> None:
    label = plain_label("**Bold**\n![x](http://x)", max_chars=60)

    assert label == "\\*\\*Bold\\*\\* \\!\\[x\\]\\(http\\:\u2060//x\\)"
    assert len(plain_label("word " * 100, max_chars=20)) == 20


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("get https://a.example/b", "get https:\u2060//a.example/b"),
        ("WWW.a.example", "WWW\u2060.a.example"),
        ("to ana@a.example", "to ana@\u2060a.example"),
        ("at 10:30, a@b, a//b", "at 10:30, a@b, a//b"),
    ],
)
def test_an_address_in_a_label_is_no_link(text: str, broken: str) -> None:
    assert plain_label(text).replace("\\", "") == broken


def test_marked_words_are_highlighted_and_all_else_is_as_typed() -> None:
    text = marked_text("Pay *7* to Ana [now]\nor ana-maria.", ["Ana", "ana-maria", "]"])

    assert text == (
        r"Pay \*7\* to :orange-background[Ana] \[now:orange-background[\]]  "
        "\n"
        r"or :orange-background[ana\-maria]\.  "
    )
    assert marked_text("a\n*b*", []) == "a  \n\\*b\\*  "
