"""Replaying a conversation: reuse, breaks, what was there when it was needed, and cost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode
from ctxcore.replay import replaying
from ctxcore.replay.references import LiteralUse
from ctxcore.replay.replaying import Replaying
from ctxcore.replay.values import Replay
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_message, counter_for
from ctxcore.tokens.prices import Price
from tests.histories import assistant, call, user
from tests.processes import printed_under_hash_seeds

PRICE = Price(input=2.0, cached=0.5, output=8.0)


class Silent:
    """A summarizer that says nothing of what was said."""

    name = "silent"

    def summarize(self, request: SummaryRequest) -> str:
        """Few words."""
        return "They talked."


def talk(turns: int = 30) -> list[Message]:
    """A rule, then turns about parcels; the tenth parcel is asked for again at the end."""
    history = [user("Always answer in French. Find out about my parcels.")]
    for n in range(turns):
        history += [
            assistant("", call(f"c{n}", parcel=f"TRK-{1000 + n}")),
            tool_result(
                f"c{n}", f"TRK-{1000 + n} is at depot DEP-{2000 + n}. " + "so it goes " * 30
            ),
            assistant(f"Parcel {n} is on its way. " + "more words " * 20),
            user(f"And what about parcel TRK-{1001 + n}?"),
        ]
    history.append(assistant("", call("last", depot="DEP-2010")))
    return history


def replayed(usable: int = 2_000, preset: str = "default", **overrides: object) -> Replay:
    """The talk under a preset with some fields changed."""
    policy = Policy.preset(preset, **overrides)
    return Replaying(Recording(talk()), price=PRICE).under(policy, max_tokens=usable)


@pytest.mark.parametrize("preset", Policy.presets())
def test_the_three_parts_of_every_call_add_up_and_the_calls_are_those_of_a_walk(
    preset: str,
) -> None:
    replay = replayed(preset=preset)
    walked = Walk(Recording(talk()), Policy.preset(preset), max_tokens=2_000).result()

    parts = [one.reused_tokens + one.resent_tokens + one.new_tokens for one in replay.calls]
    assert parts == [one.tokens for one in replay.calls] == [one.tokens for one in walked.calls]
    assert [one.at for one in replay.calls] == [one.at for one in walked.calls]
    assert replay.sent_tokens == walked.sent_tokens
    assert (replay.overflows, replay.illegal_calls) == (0, 0)


def test_where_all_fits_every_call_begins_as_the_one_before() -> None:
    replay = replayed(1_000_000)

    assert [one.cause for one in replay.calls] == [BreakCode.FIRST_CALL] + [None] * 60
    assert (replay.resent_tokens, dict(replay.breaks)) == (0, {})
    assert replay.literals_share == replay.facts.share() == replay.facts.standing_share == 1.0
    newest = replay.calls[-1].tokens
    assert replay.sent_tokens - replay.reused_tokens == newest


def test_under_a_small_budget_only_compactions_break_the_prefix() -> None:
    replay = replayed()

    assert replay.compactions
    assert dict(replay.breaks) == {BreakCode.COMPACTION: len(replay.compactions)}
    assert replay.breaks_per_100_calls == pytest.approx(100 * len(replay.compactions) / 61)
    assert replay.breaks_per_100_turns == pytest.approx(100 * len(replay.compactions) / 31)


def test_a_window_that_slides_breaks_the_prefix_without_a_compaction() -> None:
    replay = replayed(trigger_ratio=1.0)

    assert not replay.compactions
    assert set(replay.breaks) == {BreakCode.WINDOW_MOVED}


def test_a_standing_instruction_is_there_under_the_default_and_counted_apart() -> None:
    kept = replayed()
    lost = replayed(trigger_ratio=1.0, goal_max_tokens=0)

    assert kept.facts.standing_share == 1.0
    assert (lost.facts.standing_share or 0) < 0.5


def test_a_literal_that_the_context_lost_is_told_at_its_use() -> None:
    policy = Policy(facts_ratio=None, strategies=("fold_oldest",))
    uses = [
        LiteralUse(literal="DEP-2010", used_at=121),
        LiteralUse(literal="TRK-1030", used_at=121),
    ]

    replay = Replaying(Recording(talk()), uses=uses).under(
        policy, max_tokens=2_000, summarizer=Silent()
    )

    assert replay.calls[-1].literals_missed == ("DEP-2010",)
    assert (replay.literals_used, replay.literals_present) == (2, 1)


def test_what_is_only_ever_said_as_a_part_of_a_word_counts_as_that() -> None:
    uses = [LiteralUse(literal="EP-2010", used_at=121), LiteralUse(literal="K-9", used_at=121)]

    replay = Replaying(Recording(talk()), uses=uses).under(Policy(), max_tokens=1_000_000)

    assert replay.calls[-1].literals_missed == ("K-9",)


def test_a_compaction_tells_what_it_lost_and_where_that_was_needed() -> None:
    policy = Policy(facts_ratio=None, strategies=("fold_oldest",))

    replay = Replaying(Recording(talk())).under(policy, max_tokens=2_000, summarizer=Silent())

    (made,) = [one for one in replay.compactions if any(f.text == "DEP-2010" for f in one.lost)]
    (fact,) = [one for one in made.lost if one.text == "DEP-2010"]
    assert (fact.at, fact.needed_at, fact.needed_by) == (42, 121, "call")
    assert fact in made.needed_later
    assert "DEP-2011" not in [one.text for one in made.needed_later]


def test_costs_are_those_of_the_tokens() -> None:
    replay = replayed()
    counter = counter_for()

    answers = sum(count_message(one, counter) for one in talk() if one.role == "assistant")
    assert replay.output_tokens > answers  # and the summaries
    plain = replay.sent_tokens - replay.reused_tokens
    expected = (plain * 2.0 + replay.reused_tokens * 0.5 + replay.output_tokens * 8.0) / 1e6
    assert replay.cost == pytest.approx(expected)
    whole = (replay.sent_tokens * 2.0 + replay.output_tokens * 8.0) / 1e6
    assert replay.cost_without_cache == pytest.approx(whole)


def test_prices_are_those_of_the_model_where_none_are_given() -> None:
    info = model_info("gpt-4o")

    price = Replaying(Recording(talk(1), model="gpt-4o")).price

    assert info.input_price is not None
    assert price is not None
    assert price.input == pytest.approx(info.input_price * 1e6)
    unknown = Replaying(Recording(talk(1))).under(Policy(), max_tokens=2_000)
    assert (unknown.cost, unknown.cost_without_cache) == (None, None)


def test_what_a_cache_takes_up_costs_what_the_model_charges_for_it() -> None:
    price = replace(PRICE, cache_write=3.0)
    replay = Replaying(Recording(talk()), price=price).under(Policy(), max_tokens=2_000)

    anew = replay.sent_tokens - replay.reused_tokens
    parts = replay.reused_tokens * 0.5 + anew * 3.0 + replay.output_tokens * 8.0
    assert replay.cost == pytest.approx(parts / 1e6)
    whole = (replay.sent_tokens * 2.0 + replay.output_tokens * 8.0) / 1e6
    assert replay.cost_without_cache == pytest.approx(whole)


def test_a_call_that_cannot_be_made_misses_all_it_needs() -> None:
    history = [text_message("system", "rule " * 400), *talk(2)]

    replay = Replaying(Recording(history)).under(Policy(), max_tokens=300)

    assert replay.overflows == len(replay.calls)
    assert (replay.sent_tokens, replay.literals_present, replay.reuse_share) == (0, 0, None)
    assert replay.literals_used > 0


def test_without_a_call_there_is_nothing_to_tell() -> None:
    replay = Replaying(Recording([user("hi")])).under(Policy(), max_tokens=300)

    assert (replay.calls, replay.reuse_share, replay.literals_share) == ((), None, None)
    assert (replay.breaks_per_100_calls, replay.facts.share()) == (0.0, None)


def test_of_many_calls_facts_are_looked_at_in_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "MOST_LOOKS", 10)

    looked = [one.facts is not None for one in replayed().calls]

    assert (sum(looked), looked[0]) == (10, True)


def test_one_replaying_serves_several_policies() -> None:
    shared = Replaying(Recording(talk()), price=PRICE)

    for preset in ("pi", "default"):
        one = shared.under(Policy.preset(preset), max_tokens=2_000)
        assert one.to_dict() == replayed(preset=preset).to_dict()


def test_the_same_recording_gives_the_same_json_in_every_process() -> None:
    script = (
        "import json; from tests.unit.replay.test_replaying import replayed\n"
        "print(json.dumps(replayed(4_000).to_dict(), ensure_ascii=False))"
    )

    (printed,) = printed_under_hash_seeds(script)

    assert json.loads(printed) == json.loads(json.dumps(replayed(4_000).to_dict()))
