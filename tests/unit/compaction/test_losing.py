"""What a compaction loses: kept, carried and summarized facts are said, the rest is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import ledger_at
from ctxcore.compaction.compacting import compact
from ctxcore.compaction.loss_report import (
    call_text,
    find_losses,
    loss_code,
    message_text,
    with_losses,
)
from ctxcore.facts.finding import find_facts
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.presence import SearchedText, is_present
from ctxcore.facts.values import KINDS, Fact, Kind
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import LossCode
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import assistant, call, histories, user
from tests.words import Words

HISTORY = [
    user("My order is ORD-2026-417 and the parcel is TRK-88-1203."),
    assistant("Noted: the depot is at /srv/depots/north.txt."),
    user("Always answer in French."),
    assistant("Bien sûr."),
    user("And now?"),
]


def lost(
    record: Compaction,
    history: list[Message] = HISTORY,
    before: Compaction | None = None,
    *,
    facts_ratio: float | None = None,
) -> tuple[str, ...]:
    """What `record` loses of `history`, every word one token."""
    policy = Policy(facts_ratio=facts_ratio)
    call = Call(policy=policy, counter=Words(), budget=policy.input_budget(100_000))
    found = find_losses(ListHistory(history, Words()), call, before, record)
    told = with_losses(record, found).facts_lost
    assert told is not None
    return told


def test_what_nothing_says_any_more_is_lost_the_most_worth_first() -> None:
    told = lost(Compaction(covered_until=4, summary="They talked."))

    # the goal, the first user message, is shown again: its ids are not lost
    assert told == ("Always answer in French.", "/srv/depots/north.txt")


@pytest.mark.parametrize(
    "saved",
    [
        {"kept": (2,)},
        {"facts": "Paths:\n- /srv/depots/north.txt"},
        {"summary": "The depot is at /srv/depots/north.txt."},
    ],
    ids=["kept", "carried", "summarized"],
)
def test_what_is_kept_carried_or_summarized_is_not_lost(saved: dict[str, object]) -> None:
    record = replace(Compaction(covered_until=4, summary="They talked."), **saved)  # type: ignore[arg-type]  # fields by name

    assert lost(record) == ("Always answer in French.",)


def test_a_rule_that_is_put_back_is_not_lost() -> None:
    record = Compaction(covered_until=4, summary="They talked.")

    assert lost(record, facts_ratio=0.03) == ("/srv/depots/north.txt",)


def test_what_is_not_covered_is_not_lost() -> None:
    assert lost(Compaction(covered_until=2, summary="They talked.")) == ("/srv/depots/north.txt",)


def test_what_an_earlier_compaction_lost_is_not_lost_again() -> None:
    before = Compaction(covered_until=2, summary="They talked.")

    told = lost(Compaction(covered_until=4, summary="They went on."), before=before)

    assert told == ("Always answer in French.",)


def test_what_an_earlier_compaction_still_carried_is_lost_where_the_next_one_drops_it() -> None:
    before = Compaction(covered_until=2, facts="Paths:\n- /srv/depots/north.txt")

    told = lost(Compaction(covered_until=4, summary="They went on."), before=before)

    assert told == ("Always answer in French.", "/srv/depots/north.txt")


def test_a_rule_that_was_taken_back_is_not_lost() -> None:
    history = [*HISTORY[:-1], user("You no longer have to answer in French."), user("And now?")]

    assert "Always answer in French." not in lost(
        Compaction(covered_until=4, summary="They talked."), history
    )


def test_a_record_that_covers_nothing_new_loses_nothing() -> None:
    before = Compaction(covered_until=4, summary="They talked.")

    assert lost(replace(before, shortened=()), before=before) == ()


class Silent:
    """A summarizer that says nothing of what was said."""

    name = "silent"

    def summarize(self, request: SummaryRequest) -> str:
        """Few words."""
        return "They talked."


def test_compact_tells_what_it_lost_and_keeps_it_in_the_record() -> None:
    talk = [
        message
        for n in range(12)
        for message in (
            user(f"Parcel TRK-{n + 20} went to depot {n}. " + "so it goes " * 30),
            assistant("well, well, well " * 30),
        )
    ]
    policy = Policy(facts_ratio=None, strategies=("fold_oldest",))

    result = compact(talk, policy=policy, max_tokens=900, summarizer=Silent(), force=True)

    assert result.facts_lost is not None
    assert "TRK-21" in result.facts_lost
    assert result.state.active is not None
    assert result.state.active.facts_lost == result.facts_lost
    said = "\n".join(str(message["content"]) for message in result.context.messages)
    assert not [text for text in result.facts_lost if text in said]


def test_an_unchanged_conversation_has_not_been_looked_at() -> None:
    assert compact([user("hi")], max_tokens=900).facts_lost is None


def test_the_values_of_a_call_are_said_without_its_json() -> None:
    asked = call("c1", path="/srv/a.txt", lines=[3, 4.5], deep={"on": True, "to": "B-12"})

    assert call_text(asked) == "/srv/a.txt\n3\n4.5\nB-12"
    assert message_text(assistant("Look.", asked)) == "Look.\n/srv/a.txt\n3\n4.5\nB-12"


def test_a_view_that_grows_is_read_on() -> None:
    view = PrefixHistory(ListHistory(HISTORY, Words()))
    for count in (0, 2, 5):
        view.grow(count)
        whole = Ledger()
        for seq, facts in view.facts():
            whole.add(seq, facts)

        assert live(ledger_at(view)) == live(whole)


PIECES = [
    *("ORD-2026-417", "1,204", "1204", "/srv/app/main.py", "main.py", "retries", "=", "3", "30"),
    *("retries: 3", "never call me", "Never", "订单", "不要删除", "。", ".", "\n", " ", ",", "_"),
    *("3.5", "v1.2.3", "naïve", "a_b", "A-1", "[x] ship it; [ ] test", "call me"),
]
pieces = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)
facts = st.builds(
    Fact,
    kind=st.sampled_from(KINDS),
    text=pieces,
    key=st.just("key"),
    subject=st.sampled_from(["", "retries", "max_retries", "订单"]),
)


@given(facts, pieces)
def test_a_text_that_is_indexed_says_what_the_definition_says(fact: Fact, text: str) -> None:
    assert SearchedText(text).says(fact) is is_present(fact, text)


@given(histories(), st.data())
def test_it_says_the_same_of_facts_that_were_found(
    history: list[Message], data: st.DataObject
) -> None:
    found = [fact for message in history for fact in find_facts(message)]
    some = data.draw(st.sets(st.sampled_from(range(len(history))))) if history else set()
    text = "\n".join(message_text(history[at]) for at in sorted(some))
    indexed = SearchedText(text)

    assert [indexed.says(one) for one in found] == [is_present(one, text) for one in found]


def test_every_kind_is_looked_for() -> None:
    kinds: tuple[Kind, ...] = KINDS
    for kind in kinds:
        fact = Fact(kind=kind, text="[x] TRK-88" if kind == "todo" else "TRK-88", key="k")

        assert SearchedText("the parcel TRK-88 left").says(fact) is True
        assert SearchedText("the parcel TRK-8 left").says(fact) is False


def test_every_kind_of_fact_has_a_code_for_its_loss() -> None:
    assert {loss_code(kind) for kind in KINDS} == set(LossCode)
