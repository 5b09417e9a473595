"""Which folded blocks stay verbatim, and which facts are carried beside the summary."""

from __future__ import annotations

from ctxcore.assembly.history import ListHistory
from ctxcore.compaction.compacting import compact
from ctxcore.compaction.keeping import choose_blocks
from ctxcore.messages.values import Message, Role, text_message
from ctxcore.policy.values import Policy
from tests.words import Words

CHAT = "Sounds good, thanks a lot, that is really nice of you and I am glad to hear it."
TOLD = "My order ORD-77120 of 14 March cost 249.90 euros and goes to Lena Okafor in Utrecht."


def _talk(*texts: str) -> list[Message]:
    roles: tuple[Role, Role] = ("user", "assistant")
    return [text_message(roles[at % 2], text) for at, text in enumerate(texts)]


def _blocks(messages: list[Message]) -> list[list[object]]:
    view = ListHistory(messages, Words())
    return [[row] for row in view.get(range(1, view.count() + 1))]


def test_what_tells_most_stays_within_the_room() -> None:
    blocks = _blocks(_talk(CHAT, TOLD, CHAT, CHAT))

    chosen = choose_blocks(blocks, [20] * 4, 80)  # type: ignore[arg-type]  # rows in lists

    assert 1 in chosen.kept
    assert choose_blocks(blocks, [20] * 4, 0).kept == ()  # type: ignore[arg-type]  # the same


def test_a_block_of_more_than_a_quarter_of_the_room_does_not_stay() -> None:
    blocks = _blocks(_talk(TOLD, CHAT))

    chosen = choose_blocks(blocks, [50, 5], 100)  # type: ignore[arg-type]  # rows in lists

    assert 0 not in (*chosen.kept, *chosen.next_best)


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
