"""What holds for standing instructions, whatever the history: said, and the prefix kept."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.errors import BudgetError
from ctxcore.facts.presence import is_present
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message
from tests.histories import assistant, sound_histories, user
from tests.words import Words

SAID = (
    "Never call me before nine.",
    "From now on answer in short sentences.",
    "You may call me before nine again.",
    "以后不要用表格。",
    "现在可以用表格了。",
    "Just tell me about the order.",
)
FEW = settings(max_examples=25)


@st.composite
def ruled_histories(draw: st.DrawFn) -> list[Message]:
    """Turns among which some lay down rules and some take them back."""
    history = draw(sound_histories())
    for rule in draw(st.lists(st.sampled_from(SAID), min_size=1, max_size=5)):
        at = draw(st.sampled_from(cut_points(history)))
        history = [*history[:at], user(rule), assistant("Very well."), *history[at:]]
    return history


@FEW
@given(ruled_histories(), st.integers(1_500, 6_000), st.data())
def test_every_standing_instruction_is_said(
    history: list[Message], window: int, data: st.DataObject
) -> None:
    """There are few enough that all of them find room."""
    cut = data.draw(st.sampled_from(cut_points(history)))
    active = Compaction(covered_until=cut, seen_until=len(history)) if cut else None
    try:
        context = fit(history, max_tokens=window, state=CompactionState(active=active))
    except BudgetError:
        return

    sent = "\n".join(str(message.get("content")) for message in context.messages)
    for entry in ListHistory(history, Words()).standing():
        assert is_present(entry.fact, sent)


@FEW
@given(ruled_histories(), st.data())
def test_rules_are_found_once_whatever_is_asked_first(
    history: list[Message], data: st.DataObject
) -> None:
    rules_first, facts_first = ListHistory(history, Words()), ListHistory(history, Words())
    until = data.draw(st.integers(0, len(history)))
    rules_first.standing(until=until)

    facts = list(facts_first.facts())

    assert list(rules_first.facts()) == facts
    assert rules_first.standing() == facts_first.standing()


@FEW
@given(ruled_histories(), ruled_histories(), st.data())
def test_the_prefix_lasts_while_everything_uncovered_fits(
    history: list[Message], more: list[Message], data: st.DataObject
) -> None:
    cut = data.draw(st.sampled_from(cut_points(history)))
    active = Compaction(covered_until=cut, summary="so far", seen_until=len(history))
    state = CompactionState(active=active if cut else None)
    later = [*history, *(message for message in more if not message.is_system)]

    before = fit(history, max_tokens=1_000_000, state=state)
    after = fit(later, max_tokens=1_000_000, state=state)

    known = before.prefix_messages
    assert after.messages[:known] == before.messages[:known]
