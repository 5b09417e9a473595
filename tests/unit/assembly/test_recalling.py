"""What a context recalls: what the request asks for, of what is not shown, within its share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Recalls
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import CompactionResult, compact
from ctxcore.errors import BudgetError
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from tests.histories import assistant, call, histories, user, windows
from tests.words import Words, words

USABLE = 600
SHARE = 120  # a fifth of it
OFF = Policy(recall_ratio=None)


def around(*said: Message, turns: int = 12) -> list[Message]:
    """Messages between long talk about nothing, none of which a context of `USABLE` shows."""
    return [*_filler(turns), *said, *_filler(4 * turns)]


def _filler(turns: int) -> list[Message]:
    return [
        message
        for at in range(turns)
        for message in (user(f"pebble {at} {words(8)}"), assistant(f"shell {at} {words(8)}"))
    ]


def context(
    history: Sequence[Message],
    *,
    usable: int = USABLE,
    policy: Policy | None = None,
    recalls: Recalls = (),
    excluded: Collection[int] = (),
    knowledge: Mapping[str, str] | None = None,
) -> Context:
    """The context of a history after `recalls`, every word a token."""
    policy = policy or Policy()
    called = Call(
        policy=policy,
        counter=Words(),
        budget=policy.input_budget(usable),
        recalls=recalls,
        knowledge=knowledge or {},
    )
    return build_context(ListHistory(history, Words(), excluded=excluded), called)


def recalled(made: Context) -> str:
    """The texts that were recalled, one behind the other."""
    return "\n".join(text.text for text in made.synthetic if text.kind == "recalled")


def answer(history: Sequence[Message], request: str, **how: object) -> str:
    """What is recalled for a request behind a history."""
    return recalled(context([*history, user(request)], **how))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "request_text"),
    [
        ("We met Ingeborg at the harbour in Visby.", "Who did we meet at the harbour?"),
        ("set user_profile_id to 77", "what is the user profile id?"),
        ("See maxRetryCount in the client.", "Where is the retry count?"),
        ("The ferry leaves on 2026-05-07.", "What is on May 7th?"),
        ("The ferry leaves on 7 May 2026.", "Was there anything on 2026-05-07?"),
        ("The boat costs 12,500 kronor.", "What costs 12500?"),
        ("The boat costs 12500 kronor.", "What costs 12,500?"),
        ("They camped beneath Kebnekaise.", "Where are they camping, beneath which mountain?"),
        ("护照的编号是红色的，放在柜子的抽屉里。", "護照的編號放在哪個抽屜裡？"),
        ("護照的編號是紅色的，放在櫃子的抽屜裡。", "护照的编号放在哪个抽屉里？"),
    ],
)
def test_a_question_finds_what_is_not_shown(said: str, request_text: str) -> None:
    history = around(user(said), assistant("Noted."))

    made = context([*history, user(request_text)])

    assert said in recalled(made)
    assert made.verdict(history.index(user(said))).verdict == "recalled"
    assert made.verdict(history.index(user(said))).reason == VerdictCode.RECALLED()
    assert made.breakdown.recalled > 0


def with_main_topics() -> list[Message]:
    """A conversation in which Melker and his canvas are spoken of in every sixth message."""
    talk = [*around()]
    for at in range(3, len(talk), 6):
        talk[at] = text_message(talk[at].role, f"Melker stretched canvas number {at} {words(6)}")
    return talk


def test_a_clear_question_finds_what_is_spoken_of_all_the_time() -> None:
    assert "Melker stretched canvas" in answer(with_main_topics(), "Which canvas has Melker?")


@pytest.mark.parametrize("turn", ["How is your canvas?", "Are you well, Melker?"])
def test_small_talk_with_a_word_that_is_said_all_the_time_recalls_nothing(turn: str) -> None:
    assert answer(with_main_topics(), turn) == ""


def test_a_clear_question_takes_more_than_what_stands_beside_its_hits_where_there_is_room() -> None:
    beside = user("The jetty in Visby has a gate code.")
    far = user("The jetty was painted by Ingeborg.")
    history = [*around(beside, assistant("Noted.")), *around(far, assistant("Noted."))]

    folded = compact(history, max_tokens=6_000, target_tokens=60, force=True)
    request = user("What gate code has the jetty in Visby?")

    made = fit([*history, request], max_tokens=6_000, state=folded.state)

    assert beside.text in recalled(made)
    assert far.text in recalled(made)


def test_an_answer_comes_with_its_question() -> None:
    history = around(user("When does the ferry to Orust leave?"), assistant("At seven."))

    said = answer(history, "And when does the ferry to Orust leave?")

    assert said.index("When does the ferry") < said.index("At seven.")


def test_the_second_one_of_a_list_is_looked_for() -> None:
    history = around(user("Storforsen has the strongest rapids, take boots."), assistant("Noted."))
    choices = assistant("Two ways:\n1. rent a canoe\n2. hike along Storforsen rapids")

    said = answer([*history, choices], "What did we say of the second one?")

    assert "take boots" in said


def test_what_says_the_same_comes_once() -> None:
    twice = user("The gate code of the boathouse is 4471 until Friday.")
    history = around(twice, assistant("Noted."), *_filler(4), twice, assistant("Noted."))

    assert answer(history, "What is the gate code of the boathouse?").count("4471") == 1


def test_what_is_excluded_is_never_recalled() -> None:
    history = around(user("The gate code of the boathouse is 4471."), assistant("Noted."))
    at = 1 + next(at for at, message in enumerate(history) if "4471" in message.text)

    said = answer(history, "What is the gate code of the boathouse?", excluded=[at])

    assert "4471" not in said


def test_a_system_prompt_is_never_recalled() -> None:
    replaced = text_message("system", "The boathouse gate has code 4471.")
    history = [replaced, *around(), text_message("system", "Be brief."), *_filler(2)]

    assert "4471" not in answer(history, "What is the code of the boathouse gate?")


def test_of_a_long_output_the_piece_that_is_meant_comes_with_its_tool() -> None:
    rows = [f"row {at} of the long log says that all is well here" for at in range(400)]
    rows[211] = "row 211: ERROR boathouse gate refused code 4471"
    found = tool_result("c1", "\n".join(rows))
    history = around(user("Check the gate."), assistant("", call("c1", "read_log")), found)
    number = 1 + history.index(found)

    said = answer(history, "What did the boathouse gate refuse?", usable=4_000)

    assert f"[m{number} · tool read_log]" in said
    assert "refused code 4471" in said
    assert len(said.split()) < 400


def test_nothing_is_recalled_where_everything_is_shown() -> None:
    history = [user("The gate code is 4471."), assistant("Noted."), user("What is the gate code?")]

    made = context(history)

    assert made.breakdown.recalled == 0
    assert made.recalls == ()


@pytest.mark.parametrize("preset", [name for name in Policy.presets() if name != "default"])
def test_published_designs_recall_nothing(preset: str) -> None:
    history = around(user("The gate code of the boathouse is 4471."), assistant("Noted."))

    policy = replace(Policy.preset(preset), window_tokens=None)

    assert policy.recall_ratio is None
    assert answer(history, "What is the gate code of the boathouse?", policy=policy) == ""


def test_an_order_takes_no_room_from_other_messages() -> None:
    history = around(user("The gate code of the boathouse is 4471."), assistant("Noted."))
    request = user("Write down the gate code of the boathouse by the jetty in Visby.")

    made, without = context([*history, request]), context([*history, request], policy=OFF)

    assert made.messages[: len(without.messages) - 1] == without.messages[:-1]
    assert made.tokens <= USABLE


def test_knowledge_comes_before_what_is_recalled() -> None:
    history = around(user("The gate code of the boathouse is 4471."), assistant("Noted."))
    request = user("What is the gate code of the boathouse?")
    page = {"page": words(5_000, "known")}

    made = context([*history, request], knowledge=page)

    assert (
        made.breakdown.knowledge
        == context([*history, request], knowledge=page, policy=OFF).breakdown.knowledge
    )


def test_all_that_is_recalled_stays_within_its_share() -> None:
    history = around(*(user(f"gate code {n}: {words(30)} boathouse {n}") for n in range(20)))

    made = context([*history, user("What is the gate code of the boathouse?")])

    assert 0 < made.breakdown.recalled <= SHARE
    assert made.tokens <= USABLE


def test_for_one_request_there_is_a_limit_of_its_own() -> None:
    history = around(*(user(f"gate code {n}: {words(30)} boathouse {n}") for n in range(20)))
    policy = Policy(recall_max_tokens=60)

    made = context([*history, user("What is the gate code of the boathouse?")], policy=policy)

    assert 0 < made.breakdown.recalled <= 60


def test_what_was_recalled_stays_behind_a_request_that_led_to_calls() -> None:
    history = [
        *around(user("The gate code of the boathouse is 4471."), assistant("Noted.")),
        user("What is the gate code of the boathouse?"),
    ]
    first = context(history)
    worked = [assistant("", call("c1", "look")), tool_result("c1", "a gate"), assistant("4471.")]

    second = context([*history, *worked, user("Thanks!")], recalls=first.recalls)

    assert "4471" in recalled(first)
    assert recalled(second) == recalled(first)
    (text,) = [str(one) for one in second.messages if "recalled_messages" in str(one)]
    assert text.index("What is the gate code") < text.index("recalled_messages")


def asked_later(request: str) -> tuple[list[Message], CompactionResult]:
    """A request behind a conversation that was compacted without it, and its context."""
    said = around(user("The gate code of the boathouse is 4471."), assistant("Noted."))
    folded = compact(said, max_tokens=1_500, target_tokens=60, force=True)
    history = [*said, user(request)]
    return history, compact(history, max_tokens=1_500, state=folded.state)


def test_what_was_recalled_goes_with_a_turn_that_was_answered_at_once() -> None:
    history, done = asked_later("What is the gate code of the boathouse?")
    more = [*history, assistant("4471."), user("Thanks!")]

    after = fit(more, max_tokens=1_500, state=done.state)

    known = done.context.prefix_messages
    assert done.context.breakdown.recalled > 0
    assert after.breakdown.recalled == 0
    assert after.messages[:known] == done.context.messages[:known]


def test_a_request_recalls_once_and_its_calls_see_the_same_bytes() -> None:
    history, done = asked_later("What is the gate code of the boathouse?")
    worked = [*history, assistant("", call("c1", "look")), tool_result("c1", "boathouse gate")]

    after = fit(worked, max_tokens=1_500, state=done.state)

    assert done.context.breakdown.recalled > 0
    assert after.recalls == done.context.recalls
    assert after.messages[: len(done.context.messages)] == done.context.messages


def test_what_exceeds_the_share_starts_anew_with_the_newest_request() -> None:
    said = [user(f"The {name} code is {n} {words(60)}") for n, name in enumerate(("gate", "jetty"))]
    history = [*around(*said, turns=6), user("What is the gate code?")]
    first = context(history)

    second = context(
        [*history, assistant("Zero."), user("What is the jetty code?")], recalls=first.recalls
    )

    assert "gate code" in recalled(first)
    assert "jetty code" in recalled(second)
    assert second.breakdown.recalled <= SHARE


def test_a_compaction_and_its_state_start_without_what_was_recalled() -> None:
    history = [
        *around(user("The gate code of the boathouse is 4471."), assistant("Noted.")),
        user("What is the gate code of the boathouse?"),
    ]
    asked = fit(history, max_tokens=1_500)
    state = CompactionState(recalls=asked.recalls)

    done = compact(
        [*history, assistant("4471."), user("Thanks!")], max_tokens=1_500, state=state, force=True
    )

    assert asked.breakdown.recalled > 0
    assert all(seqs == () for _, seqs in done.state.recalls)
    assert done.context.breakdown.recalled == 0


def test_a_state_that_was_stored_goes_on_with_the_same_bytes() -> None:
    history, done = asked_later("What is the gate code of the boathouse?")
    state = CompactionState.from_json(done.state.to_json())
    worked = [assistant("", call("c1", "look")), tool_result("c1", "a gate"), assistant("4471.")]

    after = fit([*history, *worked, user("Thanks!")], max_tokens=1_500, state=state)

    assert state == done.state
    assert done.context.breakdown.recalled > 0
    assert after.messages[: len(done.context.messages)] == done.context.messages


def _made(history: list[Message], window: int, policy: Policy | None = None) -> Context:
    try:
        return fit(history, max_tokens=window, policy=policy or Policy())
    except BudgetError as error:
        assume(error is None)
        raise


QUESTIONS = st.sampled_from(
    [
        "Which order is late?",
        "Where is main.py?",
        "订单号是多少？",
        "请检查订单号",
        "thanks",
        "ORD-2026-417?",
    ]
)


@given(histories(), QUESTIONS, windows())
def test_with_recall_a_context_is_within_its_budget_and_legal(
    history: list[Message], question: str, window: int
) -> None:
    made = _made([*history, user(question)], window)

    assert made.tokens <= window
    assert made.breakdown.recalled <= 0.2 * window
    sent = parse_messages(made.messages)
    assert [problem for name in PROVIDERS for problem in lint(sent, name)] == []


@given(histories(), QUESTIONS, windows())
def test_without_anything_recalled_a_context_is_that_of_before(
    history: list[Message], question: str, window: int
) -> None:
    asked = [*history, user(question)]
    made = _made(asked, window)
    assume(not made.breakdown.recalled)

    assert made.messages == _made(asked, window, OFF).messages


@given(histories(), QUESTIONS, windows())
def test_what_was_recalled_is_recalled_again_in_the_next_call(
    history: list[Message], question: str, window: int
) -> None:
    asked = [*history, user(question)]
    made = _made(asked, window)

    again = fit(asked, max_tokens=window, state=CompactionState(recalls=made.recalls))

    assert again.messages == made.messages
