"""Which folded blocks stay verbatim, and which facts are carried beside the summary."""

from __future__ import annotations

from dataclasses import replace

from ctxcore.assembly.history import Counted, ListHistory
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.compacting import compact
from ctxcore.compaction.drafting import LEAST_SUMMARY_TOKENS
from ctxcore.compaction.keeping import join_pieces, keep_blocks
from ctxcore.messages.values import Message, Role, text_message
from ctxcore.policy.values import Policy
from tests.words import Words

CHAT = "Sounds good, thanks a lot, that is really nice of you and I am glad to hear it."
TOLD = "My order ORD-77120 of 14 March cost 249.90 euros and goes to Lena Okafor in Utrecht."


def _talk(*texts: str) -> list[Message]:
    roles: tuple[Role, Role] = ("user", "assistant")
    return [text_message(roles[at % 2], text) for at, text in enumerate(texts)]


def _rows(messages: list[Message]) -> list[list[Counted]]:
    view = ListHistory(messages, Words())
    return [[row] for row in view.get(range(1, view.count() + 1))]


def test_what_tells_most_stays_within_the_room() -> None:
    blocks = _rows(_talk(CHAT, TOLD, CHAT, CHAT))
    size = blocks[1][0].sent_tokens

    keeping, others = keep_blocks(blocks, 4 * size, Words())

    assert 2 in keeping.seqs
    assert keeping.tokens <= 4 * size
    assert all(2 not in addition.block for addition in others)
    assert keep_blocks(blocks, 0, Words())[0].seqs == ()


def test_a_block_of_more_than_a_quarter_of_the_room_does_not_stay() -> None:
    blocks = _rows(_talk(" ".join([TOLD] * 4), CHAT))

    keeping, others = keep_blocks(blocks, 3 * blocks[0][0].sent_tokens, Words())

    assert blocks[0][0].sent_tokens > 64
    assert 1 not in keeping.seqs
    assert all(1 not in addition.block for addition in others)


def test_of_a_long_message_the_pieces_that_tell_stay_with_marks_of_what_is_gone() -> None:
    long = " ".join([CHAT] * 8 + [TOLD] + [CHAT] * 8)
    blocks = _rows(_talk(long, CHAT))

    keeping, _ = keep_blocks(blocks, 260, Words())
    text = join_pieces(keeping.pieces[1])

    assert "ORD-77120" in text
    assert "…" in text
    assert keeping.sizes[1] < blocks[0][0].sent_tokens
    assert keeping.tokens <= 260


def test_of_a_long_turn_in_a_meeting_the_sentences_with_new_words_stay() -> None:
    turn = " ".join([CHAT] * 4 + [TOLD] + [CHAT] * 4)
    names = ("ada", "ben", "cleo", "ada")
    messages = [
        replace(text_message("user", text), name=name)
        for name, text in zip(names, (CHAT, turn, CHAT, CHAT), strict=True)
    ]

    keeping, _ = keep_blocks(_rows(messages), 100, Words(), is_meeting=True)

    assert "ORD-77120" in join_pieces(keeping.pieces[2])
    assert keeping.sizes[2] < 80


def test_a_short_turn_in_a_meeting_costs_no_frame_beside_others() -> None:
    long = "Springs then and rubber buttons so that it does not wear"
    messages = [replace(text_message("user", text), name="ada") for text in ("Kinetic.", long)]
    blocks = _rows(messages)
    room = blocks[1][0].sent_tokens

    assert keep_blocks(blocks, room, Words(), is_meeting=True)[0].seqs == (1,)


def test_a_newest_block_that_leaves_no_room_is_opened() -> None:
    output = text_message("assistant", " ".join([CHAT] * 20 + [TOLD]))
    blocks = _rows([text_message("user", TOLD), output])

    keeping, _ = keep_blocks(blocks[:1], 200, Words(), opened=blocks[1:])

    assert set(keeping.seqs) == {1, 2}
    assert keeping.tokens <= 200
    assert "ORD-77120" in join_pieces(keeping.pieces[2]) or 2 not in keeping.pieces


def test_a_sentence_that_no_longer_holds_does_not_stay() -> None:
    rule = "Never quote prices in dollars."
    blocks = _rows(_talk(f"{TOLD} {rule} {TOLD.replace('ORD', 'INV')}", CHAT))

    keeping, _ = keep_blocks(blocks, 1_000, Words(), outdated={1: (rule,)})

    assert rule not in join_pieces(keeping.pieces.get(1, ()))


def test_joined_pieces_are_the_message_without_what_is_gone() -> None:
    assert join_pieces(("One. ", None, None, "Four. ", "Five.")) == "One. … Four. Five."
    assert join_pieces((None, "Two.", None)) == "… Two. …"
    assert join_pieces(("One. ", "Two.")) == "One. Two."


def test_a_gap_does_not_join_the_paragraphs_around_it() -> None:
    assert join_pieces(("One.\n\n", None, "Three.")) == "One.\n\n… Three."
    assert join_pieces(("One.\n\n", None, None, "Four.\n\n", None)) == "One.\n\n… Four.\n\n…"
    assert join_pieces(("One.\n\n", "Two.\n\n")) == "One.\n\nTwo."


def test_of_messages_sent_as_one_the_telling_one_stays_whole() -> None:
    chat = f"{CHAT} {CHAT}"
    told = f"{TOLD} {TOLD.replace('ORD', 'INV')} {TOLD.replace('ORD', 'REF')} {chat}"
    said = [chat, chat, told, chat, chat]
    blocks = _rows(_talk("\n\n".join(said), *[CHAT] * 60))
    room = sum(row.sent_tokens for block in blocks for row in block) // 2

    keeping, _ = keep_blocks(blocks, room, Words(), is_talk=True)

    kept = {piece.strip() for piece in keeping.pieces[1] if piece}
    assert told in kept
    assert kept <= set(said)


def _long(first: str, *, turns: int = 40) -> list[Message]:
    more = [text for _ in range(turns) for text in (CHAT, CHAT)]
    return _talk(first, "Noted.", *more)


def test_a_folded_rule_is_carried_word_for_word() -> None:
    rule = "From now on never send invoices before Friday."
    result = compact(_long(f"Hello there. {rule}"), max_tokens=1_200)

    assert result.applied
    assert rule in str(result.context.messages)
    assert result.context.breakdown.facts <= 36  # 3 % of 1,200


def test_a_rule_that_was_taken_back_is_not_carried() -> None:
    talk = _long("Never use tables in your answers.", turns=20)
    talk += _talk("You may use tables in your answers again.", "All right.")
    talk += _long("And now something else.", turns=20)

    result = compact(talk, max_tokens=2_000, force=True)

    assert "Never use tables" not in str(result.context.synthetic)


def test_facts_are_carried_where_the_summary_fails_and_the_input_does_not_fit() -> None:
    class Fails:
        name = "fails"

        def summarize(self, request: object) -> str:
            raise RuntimeError("no")

    rule = "Always answer in formal English, please."
    result = compact(_long(rule), max_tokens=900, summarizer=Fails())

    assert result.applied
    assert result.summary == ""
    assert rule in str(result.context.messages)


def test_the_presets_of_documents_carry_no_facts() -> None:
    for name in Policy.presets():
        has_facts = Policy.preset(name).facts_ratio is not None
        assert has_facts is (name == "default")


def test_what_was_kept_competes_again() -> None:
    talk = _long(TOLD)
    first = compact(talk, max_tokens=1_200)
    assert first.state.active is not None
    again = compact([*talk, *_long("And then?")], max_tokens=1_200, state=first.state)

    assert again.applied
    assert "ORD-77120" in str(again.context.messages)
    assert again.state.active is not None
    assert set(again.state.active.kept) <= set(range(1, again.state.active.covered_until + 1))


def test_what_was_folded_may_stay_once_there_is_room_again() -> None:
    talk = _talk(*(TOLD.replace("77120", str(77120 + at)) for at in range(40)))
    tight = compact(talk, max_tokens=400, target_tokens=300, force=True).state

    more = [*talk, *_long("And then?", turns=10)]
    roomy = compact(more, max_tokens=2_000, target_tokens=700, state=tight, force=True).state

    assert tight.active is not None
    assert roomy.active is not None
    again = {seq for seq in roomy.active.kept if seq <= tight.active.covered_until}
    assert again - {*tight.active.kept}


def test_compacting_piece_by_piece_keeps_as_much_as_compacting_at_once() -> None:
    talk = [*_long(TOLD, turns=15), *_long("Moved to Trondheim on 4 May.", turns=15)]
    at_once = compact(talk, max_tokens=900, target_tokens=900, force=True)
    state = None
    for count in range(10, len(talk) + 1, 10):
        fed = compact(talk[:count], max_tokens=900, target_tokens=900, force=True, state=state)
        state = fed.state

    for text in ("ORD-77120", "Trondheim"):
        assert text in str(at_once.context.messages)
        assert text in str(fed.context.messages)


WALKS = tuple(
    f"I walked route {at} with my brother and we saw the {animal} near the {place} in the rain."
    for at, (animal, place) in enumerate(
        (animal, place)
        for animal in ("heron", "badger", "otter", "marten", "falcon", "adder")
        for place in ("quarry", "chapel", "sluice", "orchard", "viaduct")
    )
)


def _compacted(messages: list[Message]) -> Compaction:
    state = compact(messages, max_tokens=600, force=True).state
    assert state.active is not None
    return state.active


def test_in_mere_talk_a_summary_of_quotes_takes_a_line_and_messages_the_rest() -> None:
    record = _compacted(_talk(*WALKS))

    assert record.summary_tokens <= LEAST_SUMMARY_TOKENS
    assert record.after_tokens > 0.3 * 600
    assert len(record.kept) > 3
