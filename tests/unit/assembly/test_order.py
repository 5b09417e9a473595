"""The order of a context: what stands where, what moves when, and what the prefix is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from tests.histories import assistant, call, user
from tests.words import context_of, sent, words

SYSTEM = text_message("system", "be brief")
GOAL = user("fix the bug")
ACKNOWLEDGEMENT = "assistant: Understood. I have the context from our earlier conversation."
SUMMARY = "user: <conversation_summary>\nso far\n</conversation_summary>"


def covering(until: int, **more: object) -> Compaction:
    """A record that stands for the messages up to `until`."""
    record = Compaction(covered_until=until, summary="so far", summarized_until=until)
    return replace(record, **more)  # type: ignore[arg-type]  # its own fields


def turns(count: int) -> list[Message]:
    """A goal, then `count` turns of a question and an answer."""
    talk = [text for n in range(count) for text in (assistant(f"answer {n}"), user(f"ask {n}"))]
    return [SYSTEM, GOAL, *talk]


def test_everything_has_its_place() -> None:
    history = turns(3)
    active = covering(6, pins=(4,))

    context = context_of(
        history, 200, active=active, pinned=[4, 5], knowledge={"faq": "refunds take a week"}
    )

    assert sent(context) == [
        "system: be brief",
        "user: fix the bug\n\nask 0\n\n" + SUMMARY.removeprefix("user: "),
        "assistant: answer 2",
        "user: [pinned from earlier in this conversation]",
        "assistant: answer 1",
        'user: <knowledge name="faq">\nrefunds take a week\n</knowledge>\n\nask 2',
    ]
    assert context.prefix_messages == 3


def test_a_summary_is_acknowledged_unless_the_assistant_speaks_next() -> None:
    user_next = context_of(turns(3), 200, active=covering(5))
    assistant_next = context_of(turns(3), 200, active=covering(6))

    assert sent(user_next)[2] == ACKNOWLEDGEMENT
    assert sent(assistant_next)[1].endswith(SUMMARY.removeprefix("user: "))
    assert sent(assistant_next)[2] == "assistant: answer 2"


def test_the_goal_is_not_repeated_while_its_message_is_there() -> None:
    assert str(sent(context_of(turns(3), 500))).count("fix the bug") == 1


def test_the_goal_comes_first_once_its_message_is_covered() -> None:
    context = context_of(turns(3), 500, active=covering(6))

    assert sent(context)[1].startswith("user: fix the bug")
    assert context.verdict(1).verdict == "kept"
    assert context.verdict(1).reason.code == VerdictCode.GOAL


def test_of_a_long_goal_an_excerpt_stays() -> None:
    history = [user(words(3_000)), *turns(3)[2:]]

    context = context_of(history, 4_000, active=covering(5))

    assert context.verdict(0).verdict == "compressed"
    assert 900 < context.verdict(0).after_tokens <= 1_000


def steps(*ids: str) -> list[Message]:
    """Calls with their results."""
    made = ((assistant("", call(name)), tool_result(name, f"output {name}")) for name in ids)
    return [message for pair in made for message in pair]


def test_one_long_turn_reads_request_summary_calls() -> None:
    history = [SYSTEM, GOAL, *steps("a", "b", "c")]

    context = context_of(history, 200, active=covering(6))

    assert sent(context) == [
        "system: be brief",
        "user: fix the bug\n\n" + SUMMARY.removeprefix("user: "),
        "assistant:  (c)",
        "tool: output c",
    ]


def test_a_covered_request_that_is_not_the_goal_stands_before_its_calls() -> None:
    history = [SYSTEM, GOAL, assistant("done"), user("and now this"), *steps("a", "b")]

    context = context_of(history, 200, active=covering(6))

    assert sent(context)[1].endswith("</conversation_summary>\n\nand now this")
    assert sent(context)[2] == "assistant:  (b)"
    assert context.verdict(3).reason.code == VerdictCode.LAST_REQUEST


def test_the_prefix_survives_the_next_user_message() -> None:
    for request in ([GOAL], [GOAL, assistant("done"), user("and now this")]):
        history = [SYSTEM, *request, *steps("a", "b", "c")]
        active = covering(len(history) - 2)
        before = context_of(history, 200, active=active)

        after = context_of([*history, assistant("there"), user("thanks a lot")], 200, active=active)

        assert before.prefix_messages >= 1
        assert after.messages[: before.prefix_messages] == before.messages[: before.prefix_messages]


def test_a_long_request_that_is_the_goal_promises_no_more_than_the_system_prompt() -> None:
    history = [SYSTEM, user(words(1_500)), *steps("a", "b")]
    active = covering(4)

    before = context_of(history, 3_000, active=active)
    after = context_of([*history, assistant("there"), user("more")], 3_000, active=active)

    assert before.prefix_messages == 1
    assert after.messages[:1] == before.messages[:1]


def test_a_pin_moves_only_with_a_compaction() -> None:
    history = turns(4)
    before = context_of(history, 500, active=covering(5))

    pinned = context_of(history, 500, active=covering(5), pinned=[3])

    assert pinned.messages[:2] == before.messages[:2]
    assert pinned.verdict(2).reason.code == VerdictCode.PINNED
    moved = context_of(history, 500, active=covering(5, pins=(3,)), pinned=[3])
    assert moved.verdict(2).reason.code == VerdictCode.PINNED_FRONT


def test_a_pin_outside_the_window_stays() -> None:
    policy = Policy.preset("sliding-summary", system_estimate_tokens=0)

    context = context_of(turns(10), 120, policy=policy, pinned=[5])

    assert context.verdict(4).reason.code == VerdictCode.PINNED
    assert "answer 1" in str(sent(context))


def test_a_pinned_system_message_is_sent_once() -> None:
    context = context_of(turns(2), 500, active=covering(3, pins=(1,)), pinned=[1])

    assert str(sent(context)).count("be brief") == 1


def test_an_excluded_message_is_gone_wherever_it_lies() -> None:
    context = context_of(turns(3), 500, excluded=[2, 4])

    assert "fix the bug" not in str(sent(context))
    assert context.verdict(1).reason.code == VerdictCode.EXCLUDED
    assert context.verdict(3).verdict == "dropped"


def test_room_of_excluded_messages_is_used_for_older_ones() -> None:
    history = [*turns(3), assistant("big"), user(words(400)), assistant("small"), user("end")]

    context = context_of(history, 120, excluded=[10])

    assert VerdictCode.OUTSIDE not in {run.reason.code for run in context.runs}


def test_what_slides_out_of_the_window_leaves_a_marker_with_its_number() -> None:
    context = context_of(turns(30), 60)

    gone = sum(verdict.reason.code == VerdictCode.OUTSIDE for verdict in context.verdicts)
    assert gone > 40
    assert f"[{gone} earlier messages are not shown]" in sent(context)[1]


def test_a_chinese_conversation_gets_chinese_words() -> None:
    history = [user("请检查日志。"), *(user(f"第{n}个问题") for n in range(60))]

    assert "条消息]" in sent(context_of(history, 40))[0]


def test_thinking_goes_back_only_inside_the_open_tool_turn() -> None:
    def thinking(call_id: str) -> dict[str, object]:
        function = {"name": "search", "arguments": "{}"}
        made = [{"id": call_id, "function": function, "signature": f"s-{call_id}"}]
        return {"role": "assistant", "reasoning_content": f"hm {call_id}", "tool_calls": made}

    def turn(call_id: str) -> list[dict[str, object]]:
        output: dict[str, object] = {"role": "tool", "tool_call_id": call_id, "content": "42"}
        return [{"role": "user", "content": "hi"}, thinking(call_id), output]

    answer: dict[str, object] = {"role": "assistant", "content": "so"}
    answered = [*turn("a"), answer, *turn("b")]
    for_anthropic = str(fit(answered, max_tokens=500, model="claude-sonnet-4-5").messages)
    for_openai = str(fit(answered, max_tokens=500, model="gpt-4o").messages)

    assert "hm b" in for_anthropic
    assert "s-b" in for_anthropic
    assert "hm a" not in for_anthropic
    assert "s-a" not in for_anthropic
    assert "hm" not in for_openai


def test_a_router_reads_one_line_a_message_without_the_current_one() -> None:
    history = [user("hello  there"), text_message("assistant", "hi", action="GREET"), user("now")]

    assert context_of(history, 500).render_text() == "USER: hello there\nASSISTANT: [GREET] hi"
    assert context_of([user("now")], 500).render_text() == ""


def test_a_routers_text_is_headed_by_the_summary() -> None:
    active = covering(4, covered_messages=3)

    text = context_of(turns(2), 500, active=active).render_text()

    assert text.splitlines()[:2] == ["[Earlier conversation summary (3 turns)]:", "so far"]


@pytest.mark.parametrize("recorded", [["a"], ["a", "b"], ["b", "a"], ["b"]])
def test_results_stand_in_the_order_of_their_calls(recorded: list[str]) -> None:
    history = [user("look"), assistant("", call("b"), call("a"))]
    history += [tool_result(one, f"found {one}") for one in recorded]

    context = context_of(history, 500)

    assert [one["tool_call_id"] for one in context.messages if one["role"] == "tool"] == ["b", "a"]
