"""What holds for checkpoints of rules: a ledger that begins at one goes on as if it had not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.facts.checkpoints import dump_standing, dump_taken, load_standing, load_taken
from ctxcore.facts.finding import find_rules
from ctxcore.facts.ledger import RuleBook
from ctxcore.messages.values import Message, Role, text_message

SAID = (
    "Never call me before nine.",
    "From now on answer in short sentences.",
    "From now on answer in long sentences instead.",
    "Always answer in German.",
    "Answer in French from now on.",
    "You may call me before nine again.",
    "Forget that rule.",
    "Always run the tests \ud83d before you push.",
    "以后不要用表格。",
    "现在可以用表格了。",
    "Just tell me about the order.",
)
ROLES: tuple[Role, ...] = ("user", "system", "developer")
MESSAGES = st.lists(
    st.builds(
        lambda role, said: text_message(role, " ".join(said)),
        st.sampled_from(ROLES),
        st.lists(st.sampled_from(SAID), min_size=1, max_size=3),
    ),
    max_size=14,
)


def added(book: RuleBook, said: list[Message]) -> RuleBook:
    for seq, message in enumerate(said[book.begins :], start=book.begins + 1):
        book.add(seq, find_rules(message))
    return book


@settings(max_examples=100)
@given(MESSAGES, st.data())
def test_a_book_from_any_checkpoint_is_the_book_from_the_start(
    said: list[Message], data: st.DataObject
) -> None:
    whole = added(RuleBook(), said)
    at = data.draw(st.integers(0, len(said)))
    begun = load_standing(dump_standing(whole.standing(at)))
    until = data.draw(st.integers(at, len(said)))

    later = added(RuleBook(at, begun), said)

    assert begun == whole.standing(at)
    assert later.standing(until) == whole.standing(until)
    assert later.standing(len(said)) == whole.standing(len(said))
    after = {seq: rules for seq, rules in whole.taken.by_seq.items() if seq > at}
    assert later.taken.by_seq == after
    assert load_taken(dump_taken(after)) == {
        seq: tuple(map(tuple, rules)) for seq, rules in after.items()
    }


@settings(max_examples=50)
@given(MESSAGES, st.lists(st.integers(0, 20), max_size=8))
def test_what_is_found_in_pieces_is_what_is_found_at_once(
    said: list[Message], pieces: list[int]
) -> None:
    whole, slow = added(RuleBook(), said), added(RuleBook(), said)
    for most_compared in pieces:
        slow.advance(most_compared)

        assert slow.held() == whole.standing(slow.folded_until)

    assert slow.standing(len(said)) == whole.standing(len(said))
    assert slow.taken == whole.taken
