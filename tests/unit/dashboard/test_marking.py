"""Originals with what was left out of them marked, and where that is known from."""

from __future__ import annotations

import json

from hypothesis import given

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.history import ListHistory
from ctxcore.compression.markers import with_reference
from ctxcore.compression.outputs import compress
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import counter_for
from dashboard.context_page.marking import (
    MOST_LINES,
    mark_elided,
    mark_missing,
    mark_pieces,
    pieces_of,
)
from dashboard.context_page.shortened import (
    LeftOut,
    elided_of,
    find_shortened,
    left_out,
    limits_for,
    mark,
    queries_for,
    with_block,
)
from tests.histories import outputs

SHIPS: list[dict[str, object]] = [
    {"ship": f"S-{n:03d}", "port": {"berth": n * 7919}, "crew": 3} for n in range(40)
]


def gone(text: str) -> list[str]:
    """The marked lines without their marks and blanks."""
    return [line[2:].strip() for line in text.split("\n") if line.startswith("- ")]


def test_rows_that_are_gone_are_marked_whole_and_columns_in_every_row() -> None:
    output = json.dumps(SHIPS)
    shorter = compress(output, max_tokens=120)

    marked = gone(mark_elided(output, shorter.elided).text)

    assert [part.unit for part in shorter.elided]
    for ship in SHIPS:
        is_said = f'"{ship["ship"]}"' in shorter.text
        assert any(str(ship["ship"]) in line for line in marked) is not is_said
    assert any('"berth"' in line for line in marked)


def test_what_is_gone_of_json_inside_a_string_and_of_printed_objects_is_marked() -> None:
    for output in (json.dumps({"error": "", "response": str(SHIPS)}), str(SHIPS)):
        shorter = compress(output, max_tokens=120)

        marked = gone(mark_elided(output, shorter.elided).text)

        assert mark_elided(output, ()).text.split("\n")[0].strip() in ("{", "[")
        said = [ship for ship in SHIPS if f'"{ship["ship"]}"' in shorter.text]
        assert 0 < len(said) < len(SHIPS)
        assert not [ship for ship in said if any(f'"{ship["ship"]}"' in line for line in marked)]
        assert any('"berth"' in line for line in marked)


def test_words_around_json_are_shown_and_never_marked() -> None:
    output = f"Found {len(SHIPS)} ships:\n{json.dumps(SHIPS)}\ndone"

    marked = mark_elided(output, compress(output, max_tokens=120).elided)

    assert marked.text.startswith("  Found 40 ships:\n  [\n")
    assert marked.text.endswith("\n  ]\n  done")
    assert gone(marked.text)


def test_lines_of_text_are_marked_where_they_are_gone() -> None:
    output = "\n".join(f"step {n} took {n * 13} ms" for n in range(200))
    shorter = compress(output, max_tokens=100)

    marked = gone(mark_elided(output, shorter.elided).text)

    assert 0 < len(marked) < 200
    assert not [line for line in marked if line in shorter.text.split("\n")]


@given(outputs())
def test_nothing_gone_marks_nothing_and_every_line_is_there(output: str) -> None:
    marked = mark_elided(output, ())

    assert marked.gone_lines == 0
    assert not gone(marked.text)
    assert marked.lines >= 1


def test_without_knowing_what_was_left_out_the_words_tell() -> None:
    assert gone(mark_missing("one\ntwo\n\nthree", "one … three").text) == ["two"]
    assert gone(mark_missing('{"a": "x", "b": ["y"]}', '{"a":"x"}').text) == ['"y"']


def test_a_line_of_which_a_piece_is_sent_is_told_in_parts() -> None:
    said = "one two three\n\nfour five"

    stayed = pieces_of(said, "one two … five", 3)

    assert stayed == [(0, 7), (20, 24)]
    assert mark_pieces(said, stayed).text.split("\n") == [
        "  one two",
        "-  three",
        "  ",
        "- four ",
        "  five",
    ]


def test_of_json_in_pieces_each_value_is_marked_where_it_stands() -> None:
    """The second "red" is not taken for the first, though the short text has the word."""
    said = json.dumps({"ships": [{"hull": "red"}, {"hull": "red", "crew": 3}]})

    stayed = pieces_of(said, '… {"hull": "red"}, …', 1)

    assert stayed is not None
    assert gone(mark_pieces(said, stayed).text) == ['"ships": [', '"hull": "red",', '"crew": 3']


@given(outputs())
def test_an_original_that_is_sent_whole_has_nothing_gone(output: str) -> None:
    assert mark_pieces(output, [(0, len(output))]).gone_lines == 0


def test_a_text_that_is_not_made_of_pieces_is_none() -> None:
    assert pieces_of("one two three", "one two", 1) is None
    assert pieces_of("one two three", "three … one", 1) is None
    assert pieces_of("one two three", "one … 2 words … three", 1) is None


def test_a_reference_to_the_original_is_no_piece_of_it() -> None:
    assert pieces_of("one two", with_reference("… two", 7), 7) == [(4, 7)]


def test_a_long_original_is_shown_to_a_limit_and_counted_whole() -> None:
    marked = mark_elided("\n".join("ab" for _ in range(MOST_LINES + 5)), ())

    assert (marked.lines, marked.text.count("\n") + 1) == (MOST_LINES + 5, MOST_LINES)


def test_what_the_library_left_out_of_a_message_is_found_again() -> None:
    ask = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "look for the crew of S-017"},
        {"role": "assistant", "content": "", "tool_calls": [ask]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(SHIPS * 9)},
    ]
    policy, counter = Policy(), counter_for(None)
    context = fit(messages, max_tokens=2_000, policy=policy)

    [one] = find_shortened(context)
    asked = queries_for(one, ListHistory(parse_messages(messages), counter))
    elided = elided_of(one, limits_for(policy, "search", 500), asked, counter)

    assert (one.seq, one.name) == (3, "search")
    assert elided
    assert '"S-017"' in one.sent
    found = left_out(one, limits_for(policy, "search", 500), asked, counter)
    assert found == LeftOut(elided=elided)
    assert mark(one, found) == mark_elided(one.original, elided)
    assert mark(one, LeftOut()) == mark_missing(one.original, one.sent)
    assert elided_of(one, [], asked, counter) is None
    assert with_block(one, [one]) == [one]
