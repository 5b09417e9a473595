"""What policies would have made of one message: shortened, folded, there when it was needed."""

from __future__ import annotations

from collections.abc import Generator

from ctxcore.compaction.simulation import Recording
from ctxcore.facts.finding import find_facts
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.replay.message_fates import CALLS_A_STEP, MessageFate, Need, fate_under
from tests.histories import assistant, call, user

CODE = "The berth is QX-4417."
FILLER = "And what about the weather there, would it matter? " * 12
ASKED = user("Was it QX-4417?")
SAID: list[Message] = [
    *(user("Where does it go?"), assistant("North."), user(CODE), assistant("Noted.")),
    *(message for _ in range(40) for message in (user(FILLER), assistant("It would."))),
    *(ASKED, assistant("It was.")),
]
[FACT] = [fact for fact in find_facts(user(CODE)) if fact.text == "QX-4417"]
NEED = Need(fact=FACT, at=SAID.index(ASKED))
OLDEST = Policy(strategies=("fold_oldest",), facts_ratio=None, recall_ratio=None)


def fate(policy: Policy, seq: int = 3, *, window: int = 3_000) -> MessageFate:
    recording = Recording(SAID)
    found, steps = walked(
        fate_under(recording, policy, seq, [NEED], name="tried", window_tokens=window)
    )
    assert sum(steps) == sum(message.role == "assistant" for message in SAID)
    assert max(steps) <= CALLS_A_STEP
    return found


def walked(walk: Generator[int, None, MessageFate]) -> tuple[MessageFate, list[int]]:
    """The fate, and the calls passed in each step."""
    steps = list[int]()
    while True:
        try:
            steps.append(next(walk))
        except StopIteration as ended:
            found: MessageFate = ended.value
            return found, steps


def test_where_everything_fits_it_is_shown_and_there() -> None:
    found = fate(OLDEST, window=60_000)

    assert (found.hidden_from, found.compaction, found.is_shown) == (None, None, True)
    assert (found.there, found.needed) == (1, 1)


def test_a_fold_names_the_call_the_compaction_and_its_trigger() -> None:
    found = fate(OLDEST)

    assert found.hidden_from is not None
    assert 2 < found.hidden_from < 42
    assert found.compaction == 1
    assert found.trigger is not None
    assert not found.is_shown


def test_what_uses_a_fact_does_not_count_as_having_it() -> None:
    summary_without = fate(OLDEST.override(strategies=("truncate",)))

    assert (summary_without.there, summary_without.needed) == (0, 1)


def test_facts_beside_the_summary_count_as_there() -> None:
    found = fate(OLDEST.override(strategies=("truncate",), facts_ratio=0.1))

    assert not found.is_shown
    assert found.there == 1


def test_a_shortened_output_says_from_which_call_on() -> None:
    rows = "\n".join(f"row {at}: QX-{at} at quay {at * 7}" for at in range(400))
    said = [
        *(user("Read it."), assistant("", call("a", name="read")), tool_result("a", rows)),
        assistant("Done."),
        *(message for _ in range(6) for message in (user("And?"), assistant("So."))),
    ]
    recording = Recording(said)

    found, _ = walked(fate_under(recording, Policy(), 3, [], name="default", window_tokens=9_000))

    assert found.shortened_from is not None


def test_it_is_read_back_from_json() -> None:
    found = fate(OLDEST)

    assert MessageFate.from_dict(found.to_dict()) == found
