"""What a search of the history gives to people and models."""

from __future__ import annotations

from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.recall_hits import RecalledMessage, RecallHit, find_hits, hits_text
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from tests.words import Words

WORDS = Words()


def message(seq: int, text: str) -> RecalledMessage:
    return RecalledMessage(seq=seq, role="user", created_at=None, text=text)


def hit(seq: int, text: str, *after: RecalledMessage) -> RecallHit:
    return RecallHit(seq=seq, role="user", created_at=None, text=text, score=1.0, after=after)


HITS = [hit(9, "the best", message(10, "its answer")), hit(4, "the next", message(5, "another"))]


def test_the_best_comes_first_and_each_with_what_follows_it() -> None:
    assert hits_text(HITS, WORDS, max_tokens=100) == (
        "[m9 · user]\nthe best\n[m10 · user]\nits answer\n\n"
        "[m4 · user]\nthe next\n[m5 · user]\nanother"
    )


def test_hits_come_before_what_stands_around_them() -> None:
    whole = WORDS.count(f"{HITS[0]}\n\n")

    text = hits_text(HITS, WORDS, max_tokens=2 * whole)

    assert text == "[m9 · user]\nthe best\n\n[m4 · user]\nthe next"
    assert hits_text(HITS, WORDS, max_tokens=whole - 1) == ""


def test_matches_side_by_side_are_one_hit() -> None:
    said = [text_message("user", f"pebble {at}") for at in range(20)]
    for at in (10, 11):
        said[at] = text_message("user", f"the ferry at pier {at}")

    hits = find_hits(ListHistory(said, WORDS), "ferry pier", WORDS, limit=9)

    [one] = hits
    passage = [*one.before, one, *one.after]
    assert {11, 12} <= {each.seq for each in passage}
    assert passage == sorted(passage, key=lambda each: each.seq)


def test_calls_of_our_own_tools_and_their_answers_are_not_found() -> None:
    call = ToolCall(id="r", name="recall_history", arguments='{"query": "ferry"}')
    other = ToolCall(id="s", name="search", arguments='{"query": "ferry"}')
    said = [
        Message(role="assistant", calls=(call,)),
        tool_result("r", "[m1 · user]\nthe ferry", name="recall_history"),
        Message(role="assistant", calls=(other,)),
        tool_result("s", "a ferry was found", name="search"),
    ]

    [one] = find_hits(ListHistory(said, WORDS), "ferry", WORDS, limit=9)

    assert {each.seq for each in (*one.before, one, *one.after)} == {3, 4}


def test_only_what_was_said_before_a_message_is_found() -> None:
    said = [text_message("user", "the ferry"), text_message("user", "which ferry?")]
    history = ListHistory(said, WORDS)

    [one] = find_hits(history, "ferry", WORDS, limit=9, before=2)

    assert (one.seq, one.after) == (1, ())
    assert find_hits(history, "ferry", WORDS, limit=9, before=1) == []
    assert find_hits(history, "ferry", WORDS, limit=0) == []


def test_an_answer_some_messages_behind_what_was_named_is_found() -> None:
    said = [text_message("user", f"pebble {at}") for at in range(20)]
    for at in (5, 6, 7):
        said[at] = text_message("user", f"the lighthouse at cape {at}")
    said[12] = text_message("assistant", "It has 212 of them.")

    hits = find_hits(
        ListHistory(said, WORDS), "How many steps? The lighthouse cape.", WORDS, limit=9
    )

    assert 13 in {one.seq for hit in hits for one in (*hit.before, hit, *hit.after)}


def passage_of(hit: RecallHit) -> list[int]:
    return [one.seq for one in (*hit.before, hit, *hit.after)]


def test_what_was_said_below_the_date_that_is_asked_for_is_found() -> None:
    said = []
    for day in (2, 9, 16):
        said.append(text_message("user", f"[{day} May 2024] Good morning."))
        said += [text_message("user", f"pebble {at} of the beach") for at in range(20)]
    for at in (12, 33, 54):  # twelve messages below each date
        said[at] = text_message("user", "Then I baked bread.")

    first, *_ = find_hits(ListHistory(said, WORDS), "Bread, 9 May 2024", WORDS, limit=9)

    assert first.text == "[9 May 2024] Good morning."
    assert 34 in passage_of(first)


def test_a_passage_goes_on_while_it_is_about_the_query_and_ends_behind_it() -> None:
    said = [text_message("user", f"pebble {at} lies here") for at in range(60)]
    for at in range(30, 37):
        said[at] = text_message("user", f"the ferry boards at pier {at}")

    [one] = find_hits(ListHistory(said, WORDS), "ferry pier", WORDS, limit=9)

    assert {*range(31, 38)} <= {*passage_of(one)}
    assert {*passage_of(one)} <= {*range(24, 47)}


def test_where_all_is_about_the_query_a_passage_still_ends() -> None:
    said = [text_message("user", f"the ferry of pier {at} takes {at * 31}") for at in range(60)]

    hits = find_hits(ListHistory(said, WORDS), "ferry", WORDS, limit=9)

    assert len(hits) > 2
    assert all(len(passage_of(hit)) <= 29 for hit in hits)
