"""What gives way when what must be kept does not fit, and in which order."""

from __future__ import annotations

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compression.markers import REFERENCE_TOKENS
from ctxcore.errors import BudgetError, MessageError
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.problems import BudgetPart
from tests.histories import assistant, call, user
from tests.words import context_of, sent, words

SYSTEM = text_message("system", words(46))  # 50 tokens
GOAL = user(words(96, "goal"))  # 100
PIN = user(words(96, "pin"))  # 100
REQUEST = user(words(196, "request"))  # 200
HISTORY = [SYSTEM, GOAL, assistant("fine"), PIN, assistant("fine"), REQUEST]


def left(usable: int) -> dict[str, int]:
    """How many words of goal, pin and request are sent within `usable`."""
    text = str(context_of(HISTORY, usable, pinned=[4]).messages)
    return {name: text.count(name) for name in ("goal", "pin", "request")}


def test_all_of_it_fits() -> None:
    assert left(463) == {"goal": 96, "pin": 96, "request": 196}


def test_pins_give_way_before_the_goal() -> None:
    words_left = left(410)

    assert words_left["pin"] < 96
    assert (words_left["goal"], words_left["request"]) == (96, 196)


def test_the_goal_gives_way_before_the_last_user_message() -> None:
    words_left = left(350)

    assert words_left["pin"] < 20
    assert words_left["goal"] < 96
    assert words_left["request"] == 196


def test_the_last_user_message_keeps_head_and_tail() -> None:
    context = context_of([SYSTEM, user("first " + words(400) + " last")], 200)

    assert sent(context)[1].startswith("user: first")
    assert sent(context)[1].endswith("last")
    assert context.verdict(1).reason.code == VerdictCode.ELIDED_TO_WINDOW


def test_in_the_smallest_windows_a_few_words_of_what_must_be_kept_are_left() -> None:
    context = context_of([user("goal " + words(90)), *HISTORY], 100)

    assert context.tokens <= 100
    assert "goal" in str(context.messages)


def test_the_system_prompt_is_never_cut() -> None:
    with pytest.raises(BudgetError) as caught:
        context_of(HISTORY, 60, pinned=[4])

    assert caught.value.available == 60
    assert caught.value.needed > 60
    assert caught.value.parts["system"] == 50
    assert caught.value.parts[BudgetPart.FRAMING] == 3
    assert "shorten the system prompt" in str(caught.value)


def test_outputs_of_open_calls_are_shortened_and_their_calls_are_not() -> None:
    output = "\n".join(f"row {n} of the long listing" for n in range(300))
    open_turn = [user("list"), assistant("", call("a", path="/srv")), tool_result("a", output)]

    context = context_of(open_turn, 150, policy=Policy(oversize_ratio=None))

    assert '"/srv"' in str(context.messages[1])
    assert context.verdict(2).reason.code == VerdictCode.OUTPUT_SHORTENED
    assert context.verdict(2).before_tokens > 1_000


LISTING = "\n".join(f"row {n} of the long listing" for n in range(300))
LISTED = [
    *HISTORY[:5],
    user("list both"),
    assistant("", call("a"), call("b")),
    tool_result("a", LISTING),
    tool_result("b", LISTING),
]


def listed(usable: int, *, offers_expand: bool) -> list[str]:
    """What is sent of a turn with two long outputs, and a pin before it."""
    policy = Policy(oversize_ratio=None)
    context = context_of(LISTED, usable, policy=policy, pinned=[4], offers_expand=offers_expand)
    return sent(context)


def test_an_output_cut_to_the_window_says_where_its_original_is() -> None:
    *_, first, second = listed(600, offers_expand=True)

    assert first.endswith("[… whole: m8]")
    assert second.endswith("[… whole: m9]")


def test_where_nobody_answers_the_tool_no_output_names_its_original() -> None:
    assert "whole:" not in str(listed(600, offers_expand=False))


def test_what_names_an_original_takes_nothing_from_what_else_is_kept() -> None:
    """A reference takes its place among the words of its own message."""
    named = {"in all": 0, "in none": 0}
    for usable in range(200, 700, 19):
        with_tool, without = (listed(usable, offers_expand=is_so) for is_so in (True, False))

        for word in ("goal", "pin"):
            own = [text for text in with_tool[:-2] if word in text and "whole:" in text]
            reference = REFERENCE_TOKENS + 4 if own else 0  # elided texts are cut in steps
            assert str(with_tool).count(word) >= str(without).count(word) - reference
        named["in all"] += "[… whole: m9]" in with_tool[-1]
        named["in none"] += "whole:" not in str(with_tool)
    assert min(named.values()) > 1


def test_knowledge_is_trimmed_before_recent_messages() -> None:
    history: list[Message] = [user(words(40)), assistant(words(40)), user("end")]

    whole = context_of(history, 300, knowledge={"faq": words(60, "fact")})
    trimmed = context_of(history, 150, knowledge={"faq": words(60, "fact")})
    none = context_of(history, 110, knowledge={"faq": words(60, "fact")})

    assert whole.breakdown.knowledge > trimmed.breakdown.knowledge > 0
    assert "left out" in str(trimmed.messages)
    assert none.breakdown.knowledge == 0
    assert {context.verdict(0).verdict for context in (whole, trimmed, none)} == {"kept"}


def test_an_open_turn_above_its_share_of_a_preset_may_fill_the_window() -> None:
    calls = [call(f"c{n}", query=words(20)) for n in range(8)]
    history = [user("go"), assistant("", *calls), *(tool_result(c.id, "ok") for c in calls)]

    context = context_of(history, 480, policy=Policy.preset("sliding-summary"))

    assert context.tokens > context.budget.history_tokens + 3  # type: ignore[union-attr]  # known


def test_a_message_over_the_characters_of_a_preset_is_elided_and_says_so() -> None:
    history = [user("a" * 25_000), assistant("fine"), user("end")]

    context = context_of(history, 4_000, policy=Policy.preset("sliding-summary"))

    assert context.verdict(0).verdict == "compressed"
    assert context.verdict(0).reason.code == VerdictCode.TEXT_ELIDED


def test_an_oversize_output_is_shortened_to_its_share_of_usable() -> None:
    output = "\n".join(f"row {n} of the long listing" for n in range(300))
    history = [user("list"), assistant("", call("a")), tool_result("a", output), user("thanks")]

    context = context_of(history, 1_000)

    assert 100 < context.verdict(2).after_tokens <= 250


def test_a_state_that_knows_more_than_was_passed_is_refused() -> None:
    state = CompactionState(active=Compaction(covered_until=9, summary="so far"))

    with pytest.raises(MessageError, match="pass the whole conversation"):
        fit([user("hi")], max_tokens=100, state=state)


def test_a_plain_summary_is_acknowledged_in_its_language() -> None:
    context = fit([user("继续")], max_tokens=200, state="客户要求退款。")

    assert "明白了" in str(context.messages)


def test_an_error_tells_what_is_usable_and_what_repairs_take() -> None:
    history = [
        text_message("system", words(40)),
        user("go"),
        assistant("", *(call(f"c{n}", "look") for n in range(6))),
    ]

    with pytest.raises(BudgetError) as without:
        fit(history, max_tokens=60)
    usable = without.value.needed  # as much as what must be kept takes before it is made legal
    with pytest.raises(BudgetError) as raised:
        fit(history, max_tokens=usable)

    assert raised.value.available == usable
    assert raised.value.needed == sum(raised.value.parts.values()) > usable
    assert raised.value.parts[BudgetPart.REPAIRS] > 0
