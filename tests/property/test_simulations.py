"""What holds for the beginning of a history, and for every walk through a recording."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.items import to_dictionary, total
from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message, Reasoning, text_message
from ctxcore.policy.values import Policy
from tests.examples import fewer
from tests.histories import assistant, call, histories, sound_histories
from tests.words import Words

presets = st.sampled_from(Policy.presets())
small_windows = st.integers(min_value=300, max_value=6_000)


def answers(view: HistoryView, count: int) -> list[object]:
    """All that a view says of itself, asked from every place."""
    places = range(count + 1)
    return [
        view.count(),
        view.anchors(),
        view.get(range(1, count + 1)),
        [(view.totals(after=at), view.messages(after=at), view.turns(after=at)) for at in places],
        [view.tail(tokens, after=at) for at in places for tokens in (0, 1, 7, 40, 300, 9_999)],
        view.sizes(1, count),
        [view.spans_tokens([(1, last)])[0] for last in places],
    ]


@given(st.data(), histories(), st.sampled_from([None, 20, 100]))
def test_a_prefix_answers_as_a_history_of_these_messages_does(
    data: st.DataObject, history: list[Message], oversize: int | None
) -> None:
    count = data.draw(st.sampled_from(cut_points(history)))
    marks = st.sets(st.integers(min_value=1, max_value=max(1, len(history))), max_size=3)
    pinned, excluded = data.draw(marks), data.draw(marks)

    def view(messages: list[Message]) -> ListHistory:
        return ListHistory(
            messages, Words(), oversize_tokens=oversize, pinned=pinned, excluded=excluded
        )

    prefix = PrefixHistory(view(history), data.draw(st.integers(0, count)))
    prefix.grow(count)

    assert answers(prefix, count) == answers(view(history[:count]), count)


def thinking(history: list[Message]) -> list[Message]:
    """`history` with the model's thinking beside every second call."""
    thought = Reasoning(text="first the order, then the refund")
    return [
        assistant(f"step {at}", call(f"t{at}"))
        if message.is_tool_result and at % 4 == 0
        else Message(role="assistant", content=(thought, *message.content), calls=message.calls)
        if message.calls and at % 2
        else message
        for at, message in enumerate(history)
    ]


@fewer(10)
@given(st.one_of(histories(), sound_histories().map(thinking)), small_windows, presets)
def test_what_is_known_of_a_context_that_grew_is_what_building_it_gives(
    history: list[Message], window: int, preset: str
) -> None:
    recording, policy = Recording(history, model="claude-sonnet-4-5"), Policy.preset(preset)

    known = Walk(recording, policy, max_tokens=window).result()
    built = Walk(recording, policy, max_tokens=window, builds_all=True).result()

    assert known.calls == built.calls
    assert known.state == built.state


def sent(history: list[Message], policy: Policy, window: int, *, builds_all: bool) -> object:
    """The messages of each call, as a provider gets them, and what they take."""
    recording = Recording(history, model="claude-sonnet-4-5")
    walk = Walk(recording, policy, max_tokens=window, builds_all=builds_all)
    calls = ((one.at, list(map(to_dictionary, walk.sent)), walk.sent) for one in walk)
    return [(at, messages, [total(group.items) for group in made]) for at, messages, made in calls]


@fewer(10)
@given(st.one_of(histories(), sound_histories().map(thinking)), small_windows, presets)
def test_the_messages_of_a_context_that_grew_are_those_that_building_it_gives(
    history: list[Message], window: int, preset: str
) -> None:
    policy = Policy.preset(preset)

    grown = sent(history, policy, window, builds_all=False)

    assert grown == sent(history, policy, window, builds_all=True)


@given(histories(), small_windows, presets)
def test_no_walk_sends_what_a_provider_refuses_or_what_does_not_fit(
    history: list[Message], window: int, preset: str
) -> None:
    walked = Walk(Recording(history), Policy.preset(preset), window_tokens=window).result()

    assert walked.budget is not None
    assert walked.illegal_calls == 0
    assert walked.peak_tokens <= walked.budget.usable_tokens
    assert sum(walked.verdicts.values()) == (len(history) if walked.context else 0)


@given(sound_histories(), presets)
def test_where_all_fits_everything_is_sent_in_every_call(
    history: list[Message], preset: str
) -> None:
    short = history[:9]
    walked = Walk(Recording(short), Policy.preset(preset), window_tokens=1_000_000).result()

    assert not walked.compactions
    assert walked.context is not None
    assert len(walked.calls) == sum(message.role == "assistant" for message in short)


def test_an_empty_recording_has_no_calls() -> None:
    walked = Walk(Recording([]), Policy(), window_tokens=1_000).result()

    assert (walked.calls, walked.compactions, dict(walked.verdicts)["kept"]) == ((), (), 0)


def test_a_greeting_before_anybody_spoke_is_no_call() -> None:
    greeted = [text_message("assistant", "hi"), text_message("user", "help"), assistant("sure")]

    walked = Walk(Recording(greeted), Policy(), window_tokens=1_000).result()

    assert [(one.at, one.turn) for one in walked.calls] == [(2, 1)]
