"""What holds for every compaction, whatever the history, the window and the preset."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
from ctxcore.errors import BudgetError, SummarizerError
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, VerdictCode
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.tokens.count import count_messages
from tests.histories import histories, sound_histories, user, windows

presets = st.sampled_from(Policy.presets())


class Broken:
    """A summarizer that always fails."""

    name = "broken"

    def summarize(self, request: SummaryRequest) -> str:
        """Nothing."""
        raise SummarizerError(problem="the model is away")


class Verbose:
    """A summarizer that repeats everything twice."""

    name = "verbose"

    def summarize(self, request: SummaryRequest) -> str:
        """More than the source."""
        return "\n".join(message.text for message in request.messages) * 2 or "nothing at all"


def _compact(
    history: list[Message],
    window: int,
    preset: str = "default",
    state: CompactionState | None = None,
    *,
    force: bool = True,
) -> CompactionResult:
    policy = Policy.preset(preset)
    try:
        return compact(history, max_tokens=window, policy=policy, state=state, force=force)
    except BudgetError as error:
        assume(error is None)
        raise


@given(histories(), windows(), presets)
def test_a_compacted_context_is_within_budget_legal_and_counted(
    history: list[Message], window: int, preset: str
) -> None:
    context = _compact(history, window, preset).context

    assert context.tokens <= window
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[], [], [], []]
    if not any("reasoning_content" in message for message in context.messages):
        assert context.tokens == count_messages(context.messages)


@given(histories(), windows(), presets)
def test_an_applied_compaction_is_smaller_and_cuts_at_a_legal_point(
    history: list[Message], window: int, preset: str
) -> None:
    result = _compact(history, window, preset)
    assume(result.applied)

    assert result.after_tokens < result.before_tokens
    assert result.state.active is not None
    assert result.state.active.covered_until in cut_points(history)
    assert set(result.folded) <= set(range(result.state.active.covered_until))


@given(histories(), windows(), presets)
def test_every_message_has_one_verdict_after_a_compaction(
    history: list[Message], window: int, preset: str
) -> None:
    context = _compact(history, window, preset).context

    places = [place for run in context.runs for place in range(run.first, run.last + 1)]
    assert places == list(range(len(history)))
    assert sum(context.breakdown.to_dict().values()) == window


@given(sound_histories(), sound_histories(), st.integers(min_value=400, max_value=3_000), presets)
def test_the_cut_never_moves_back_along_a_chain(
    history: list[Message], more: list[Message], window: int, preset: str
) -> None:
    first = _compact(history, window, preset)
    second = _compact([*history, *more[1:]], window, preset, first.state)

    covered = [
        result.state.active.covered_until if result.state.active else 0
        for result in (first, second)
    ]
    assert covered == sorted(covered)


@given(sound_histories(), st.integers(min_value=300, max_value=4_000), presets)
def test_leaving_the_record_out_gives_the_context_before(
    history: list[Message], window: int, preset: str
) -> None:
    policy = Policy.preset(preset)
    try:
        before = fit(history, max_tokens=window, policy=policy)
    except BudgetError:
        return

    _compact(history, window, preset)

    assert fit(history, max_tokens=window, policy=policy).messages == before.messages


@given(sound_histories(), st.integers(min_value=300, max_value=4_000))
def test_pins_stay_and_excluded_messages_go(history: list[Message], window: int) -> None:
    history = [history[0], user("my account is DE-4711"), user("forget this"), *history[1:]]
    state = CompactionState(pinned=frozenset({1}), excluded=frozenset({2}))

    context = _compact(history, window, state=state).context

    sent = str(context.messages)
    assert "DE-4711" in sent or context.verdict(1).verdict == "compressed"
    assert context.verdict(2).reason.code == VerdictCode.EXCLUDED
    assert "forget this" not in sent


@given(sound_histories(), st.integers(min_value=300, max_value=4_000))
def test_a_plan_tells_what_compact_then_folds(history: list[Message], window: int) -> None:
    policy = Policy()
    plan = plan_compaction(history, policy=policy, max_tokens=window)
    result = _compact(history, window, force=False)

    if result.applied and plan is not None:
        assert result.folded == plan.fold
        # Joined texts count a few more, and so do rules that only the finished summary shows to be
        # missing from it, and the line that tells of facts left out.
        assert result.after_tokens <= plan.expected_tokens * 1.1 + 16
    if plan is None:
        assert not result.applied


@given(sound_histories(), st.integers(min_value=300, max_value=2_000))
def test_a_failed_summary_changes_nothing_unless_the_input_cannot_be_sent(
    history: list[Message], window: int
) -> None:
    try:
        result = compact(history, max_tokens=window, summarizer=Broken())
    except BudgetError:
        return

    if result.applied and result.folded:
        assert result.before_tokens > window
        assert result.summary == ""
        assert result.reason.mentions(OutcomeCode.TRUNCATED_INSTEAD)
        assert "dropped" in {verdict.verdict for verdict in result.context.verdicts}
    assert "away" not in str(result.context.messages)


@given(sound_histories(), st.integers(min_value=300, max_value=2_000), presets)
def test_a_summary_is_never_longer_than_its_source(
    history: list[Message], window: int, preset: str
) -> None:
    policy = Policy.preset(preset)
    try:
        result = compact(
            history, max_tokens=window, policy=policy, summarizer=Verbose(), force=True
        )
    except BudgetError:
        return

    record = result.state.active
    if record is not None and record.summary:
        assert record.summary_tokens < record.source_tokens
        assert 0 < record.compression_rate < 1
    assert not result.applied or result.after_tokens < result.before_tokens


@given(histories(), windows(), presets)
def test_sizes_after_and_own_texts_add_up_after_a_compaction(
    history: list[Message], window: int, preset: str
) -> None:
    context = _compact(history, window, preset).context

    after = sum(verdict.after_tokens for verdict in context.verdicts)
    own = sum(text.tokens for text in context.synthetic)
    assert context.tokens - after - own == 3  # the priming of the reply


@given(sound_histories(), windows(), presets)
def test_system_and_last_user_message_outlive_every_compaction(
    history: list[Message], window: int, preset: str
) -> None:
    context = _compact(history, window, preset).context
    last_user = max(at for at, message in enumerate(history) if message.role == "user")

    assert context.verdict(0).verdict == "kept"
    assert context.verdict(last_user).verdict in ("kept", "compressed")


@given(histories(), windows(), presets)
def test_the_same_compaction_gives_the_same_bytes(
    history: list[Message], window: int, preset: str
) -> None:
    one, other = _compact(history, window, preset), _compact(history, window, preset)

    assert json.dumps(one.context.messages) == json.dumps(other.context.messages)
    assert one.state == other.state


@given(sound_histories(), st.integers(min_value=600, max_value=6_000), presets)
def test_a_session_that_grows_is_within_its_budget_at_every_call(
    history: list[Message], window: int, preset: str
) -> None:
    policy, state = Policy.preset(preset, requires_confirmation=False), CompactionState()
    ends = [at for at in range(1, len(history)) if history[at].role in ("user", "tool")]
    for end in ends[-8:]:
        try:
            result = compact(history[: end + 1], max_tokens=window, policy=policy, state=state)
        except BudgetError:
            return
        state = result.state
        assert result.context.tokens <= window
        assert lint(result.context.messages, "anthropic") == []


@given(
    sound_histories(),
    st.integers(min_value=2_000, max_value=6_000),
    st.sampled_from(["sliding-summary", "dual-threshold"]),
)
def test_a_compaction_that_is_applied_leaves_nothing_in_neither_summary_nor_context(
    history: list[Message], window: int, preset: str
) -> None:
    result = _compact(history, window, preset, force=False)
    assume(result.applied)

    assert "dropped" not in {verdict.verdict for verdict in result.context.verdicts}


def test_after_three_failures_nothing_is_tried_until_a_person_asks() -> None:
    history = [user(f"question {n}: " + "words " * 60) for n in range(12)]
    policy = Policy(trigger_ratio=0.5)
    state = CompactionState()
    for _ in range(3):
        state = compact(
            history, max_tokens=1_500, policy=policy, summarizer=Broken(), state=state
        ).state

    stopped = compact(history, max_tokens=1_500, policy=policy, state=state)
    asked = compact(history, max_tokens=1_500, policy=policy, state=state, force=True)

    assert stopped.reason == OutcomeCode.FAILURES(failures=3)
    assert asked.applied
    assert asked.state.failures == 0


def test_a_plain_summary_is_accepted_as_state() -> None:
    context = fit([user("go on")], max_tokens=500, state="The customer is called Ada.")

    assert "The customer is called Ada." in str(context.messages)
    assert context.breakdown.summary > 0


def test_a_policy_that_is_switched_off_only_slides() -> None:
    history = [user(f"question {n}: " + "words " * 60) for n in range(40)]

    result = compact(history, max_tokens=800, policy=Policy(trigger_ratio=1.0))

    assert not result.applied
    assert result.reason.code == OutcomeCode.SWITCHED_OFF
    assert result.context.tokens <= 800


@pytest.mark.parametrize("preset", Policy.presets())
def test_a_second_compaction_carries_the_first_summary_on(preset: str) -> None:
    policy = Policy.preset(preset)
    history = [user("The order is ORD-2026-417 and must arrive before Friday.")]
    history += [user(f"remark {n}: " + "plain words " * 20) for n in range(40)]
    first = compact(history[:-10], max_tokens=1_200, policy=policy, force=True)

    second = compact(history, max_tokens=1_200, policy=policy, force=True, state=first.state)

    assert first.applied
    assert second.applied
    assert "ORD-2026-417" in str(second.context.messages)
