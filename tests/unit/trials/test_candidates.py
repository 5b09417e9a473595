"""What can be tried: presets, changed fields, and what simple programs do."""

from __future__ import annotations

import pytest

from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.errors import PolicyError, TrialError
from ctxcore.json_types import JsonObject
from ctxcore.messages.values import text_message
from ctxcore.policy.values import Policy
from ctxcore.settings.assignments import MOST_POLICIES, parse_assignments
from ctxcore.trials.candidates import (
    MOST_CANDIDATES,
    Candidate,
    distinct,
    edited,
    find_candidate,
    last_messages,
    no_compaction,
    of_preset,
    parse_baseline,
    today,
)
from tests.histories import assistant, user

TALK = [
    text_message("system", "You help."),
    *(one for at in range(30) for one in (user(f"ask {at} " * 9), assistant(f"say {at} " * 9))),
]


def walk(candidate: Candidate, max_tokens: int = 100_000) -> Walk:
    policy = candidate.policy_for({"name": "default"})
    recording = Recording(TALK)
    return Walk(recording, policy, max_tokens=max_tokens, refuses=candidate.is_refusing)


def shown(candidate: Candidate, at: int, max_tokens: int = 100_000) -> list[int]:
    """The numbers of the messages in the call that the message with index `at` answers."""
    found = walk(candidate, max_tokens)
    for call in found:
        if call.at == at:
            items = [item for group in found.sent for item in group.items]
            return [item.seq for item in items if item.seq]
    raise AssertionError(at)


def test_the_last_messages_and_the_system_prompt_are_all_that_is_sent() -> None:
    assert shown(parse_baseline("last-messages=5"), 40) == [1, 36, 37, 38, 39, 40]


def test_as_many_of_the_last_messages_are_sent_as_the_tokens_hold() -> None:
    sent = shown(parse_baseline("last-tokens=200"), 40)

    assert sent[0] == 1
    assert sent[1:] == list(range(sent[1], 41))
    assert 3 < len(sent) < 12


def test_a_summary_is_written_at_so_many_tokens_and_keeps_so_many() -> None:
    result = walk(parse_baseline("summarize=800/200")).result()

    assert result.summaries == len(result.compactions) > 1
    for made in result.compactions:
        assert made.before_tokens > 800
        assert made.record is not None
        assert made.record.covered_until < made.at


def test_without_compaction_everything_is_sent_until_it_does_not_fit() -> None:
    calls = list(walk(no_compaction(), max_tokens=600))

    over = [call.is_over for call in calls]
    assert over == sorted(over)
    assert over[0] is False
    assert over[-1] is True
    assert shown(no_compaction(), 40) == list(range(1, 41))


@pytest.mark.parametrize(
    "text",
    ["", "last-messages", "last-messages=0", "last=3", "summarize=20", "summarize=5/5", "pi"],
)
def test_what_is_no_baseline_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(TrialError, match="last-messages=20"):
        parse_baseline(text)


def test_what_is_edited_changes_todays_policy_and_nothing_else() -> None:
    mine: JsonObject = {"name": "pi", "trigger_ratio": 0.7}

    changed = edited({"trigger_ratio": 0.6}).policy_for(mine)

    assert changed == Policy.preset("pi", trigger_ratio=0.6)
    assert today().policy_for(mine) == Policy.preset("pi", trigger_ratio=0.7)
    assert edited({"name": "ladder"}).policy_for(mine) == Policy.preset("ladder")


def test_a_changed_preset_does_not_take_what_is_set_today() -> None:
    one = edited({"trigger_ratio": 0.6}, preset="pi")

    assert one.name == "pi trigger_ratio=0.6"
    assert one.policy_for({"name": "default", "min_messages": 4}) == Policy.preset(
        "pi", trigger_ratio=0.6
    )


@pytest.mark.parametrize("one", [no_compaction(), last_messages(3), today(), of_preset("pi")])
def test_a_candidate_reads_back_as_it_was(one: Candidate) -> None:
    assert Candidate.from_dict(one.to_dict()) == one


def test_a_name_is_tried_once_and_found_again() -> None:
    found = distinct([of_preset("pi"), last_messages(3), of_preset("pi")])

    assert [one.name for one in found] == ["pi", "last-messages=3"]
    assert find_candidate(found, "pi") is found[0]
    with pytest.raises(TrialError, match="no policy 'ladder'"):
        find_candidate(found, "ladder")


def test_more_than_anybody_reads_is_refused() -> None:
    with pytest.raises(TrialError, match=f"at most {MOST_CANDIDATES}"):
        distinct(last_messages(at) for at in range(1, MOST_CANDIDATES + 2))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], []),
        (["trigger_ratio=0.6"], [{"trigger_ratio": 0.6}]),
        (["trigger_ratio=0.5..0.9"], [{"trigger_ratio": at / 10} for at in range(5, 10)]),
        (
            ["trigger_ratio=0.5..0.9:0.2"],
            [{"trigger_ratio": 0.5}, {"trigger_ratio": 0.7}, {"trigger_ratio": 0.9}],
        ),
        (["upper_tokens=2000..8000"], [{"upper_tokens": at} for at in (2000, 4000, 6000, 8000)]),
        (
            ["name=pi", "keep_messages=5..9:4"],
            [{"name": "pi", "keep_messages": 5}, {"name": "pi", "keep_messages": 9}],
        ),
        (["facts_ratio=none"], [{"facts_ratio": None}]),
        (["summary_instructions=from a..b"], [{"summary_instructions": "from a..b"}]),
        (['strategies=["truncate"]'], [{"strategies": ["truncate"]}]),
    ],
)
def test_changes_of_fields_are_read_as_they_are_typed(
    texts: list[str], found: list[JsonObject]
) -> None:
    assert parse_assignments(texts) == found


def test_several_ranges_stand_for_all_combinations() -> None:
    found = parse_assignments(["trigger_ratio=0.5..0.7:0.1", "recent_ratio=0.1..0.2:0.1"])

    assert len(found) == 6
    assert found[1] == {"trigger_ratio": 0.5, "recent_ratio": 0.2}


@pytest.mark.parametrize(
    "text", ["trigger_ratio", "=3", "trigger_ratio=", "min_messages=a..b", "min_messages=1..inf"]
)
def test_what_changes_no_field_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(TrialError, match=r"LOW\.\.HIGH"):
        parse_assignments([text])


@pytest.mark.parametrize("range_", ["0.9..0.5", "0.5..0.5", "0.5..0.9:0", "0.5..0.9:-0.1"])
def test_a_range_that_does_not_rise_is_refused(range_: str) -> None:
    with pytest.raises(TrialError, match="ends above its start"):
        parse_assignments([f"trigger_ratio={range_}"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nope=3", "policy field 'nope' is '3'; allowed: one of"),
        ("trigger_ratio=2", "policy field 'trigger_ratio' is 2.0; allowed: a number"),
        ("trigger_ratio=0.5..1.5:0.5", "policy field 'trigger_ratio' is 1.5"),
        ("min_messages=soon", "policy field 'min_messages' is 'soon'"),
        ("strategies=[", "policy field 'strategies'"),
    ],
)
def test_a_field_or_value_that_is_not_allowed_is_named(text: str, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_assignments([text])

    assert told in str(caught.value)
    assert "CTXCORE_" not in str(caught.value)


def test_a_sweep_of_too_many_policies_is_refused() -> None:
    with pytest.raises(TrialError, match=f"at most {MOST_POLICIES}"):
        parse_assignments(["trigger_ratio=0.1..0.9:0.01"])
    with pytest.raises(TrialError, match=f"at most {MOST_POLICIES}"):
        parse_assignments(["trigger_ratio=0.1..0.9:0.1", "recent_ratio=0.1..0.9:0.1"])
