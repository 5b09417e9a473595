"""Repairs: what is made legal when a context is rendered, each by name."""

from __future__ import annotations

import pytest

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from ctxcore.reasons.codes import RepairCode
from ctxcore.tokens.count import count_messages
from tests.histories import assistant, call, user


def rendered(*messages: Message) -> Context:
    """All of `messages` as they are sent; legal everywhere, and counted as sent."""
    context = fit(messages, max_tokens=10_000)
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[]] * 4
    assert context.tokens == count_messages(context.messages)
    return context


def repairs(context: Context) -> list[tuple[str, int | None]]:
    """Kind and place of each repair."""
    return [(repair.kind, repair.at) for repair in context.repairs]


def test_an_unanswered_call_gets_a_result_that_says_so() -> None:
    context = rendered(user("hi"), assistant("", call("a")), user("well?"))

    assert repairs(context) == [("missing_result", 1)]
    assert context.messages[2] == {
        "role": "tool",
        "tool_call_id": "a",
        "content": "[no result recorded]",
    }


def test_a_result_without_a_call_becomes_a_text_that_says_so() -> None:
    context = rendered(user("hi"), assistant("yes"), tool_result("a", "42", name="search"))

    assert repairs(context) == [("orphan_result", 2)]
    assert context.messages[2]["role"] == "user"
    assert "search; the call is not recorded]\n42" in str(context.messages[2]["content"])


def test_a_system_message_between_a_call_and_its_result_does_not_part_them() -> None:
    rules = text_message("system", "be brief")

    context = rendered(user("hi"), assistant("", call("a")), rules, tool_result("a", "42"))

    assert repairs(context) == []
    assert [message["role"] for message in context.messages][-2:] == ["assistant", "tool"]


def test_neighbouring_users_merge() -> None:
    context = rendered(user("one"), user("two"))

    assert repairs(context) == [("merged", 1)]
    assert context.messages == [{"role": "user", "content": "one\n\ntwo"}]


def test_what_merging_saves_is_shared_by_size() -> None:
    context = rendered(*(user(f"remark number {n}") for n in range(50)))

    assert all(0 < verdict.after_tokens <= verdict.before_tokens for verdict in context.verdicts)


def test_speakers_of_merged_messages_are_named_in_words() -> None:
    ada = parse_message({"role": "user", "name": "ada", "content": "one"})
    bob = parse_message({"role": "user", "name": "bob", "content": "two"})

    assert rendered(ada, bob).messages == [{"role": "user", "content": "ada: one\n\nbob: two"}]


def test_speakers_whose_words_begin_with_their_name_are_not_named_again() -> None:
    ada = parse_message({"role": "user", "name": "Ada_King", "content": "Ada King: one"})
    bob = parse_message({"role": "user", "name": "bob", "content": "bobsled: two"})

    merged = rendered(ada, bob).messages

    assert merged == [{"role": "user", "content": "Ada King: one\n\nbob: bobsled: two"}]


def test_a_leading_assistant_gets_a_user_before_it() -> None:
    context = rendered(text_message("system", "rules"), assistant("welcome"), user("hi"))

    assert repairs(context) == [("leading_assistant", 1)]
    assert context.messages[1] == {"role": "user", "content": "[conversation starts here]"}


def test_an_id_that_is_used_again_is_renamed_with_its_result() -> None:
    turn = [assistant("", call("a")), tool_result("a", "42")]

    context = rendered(user("hi"), *turn, *turn)

    assert repairs(context) == [("renamed_call", 3)]
    again = parse_message(context.messages[3]).calls[0].id
    assert again != "a"
    assert context.messages[4]["tool_call_id"] == again


def test_a_missing_id_is_made_up() -> None:
    context = rendered(user("hi"), assistant("", call("")), tool_result("", "42"))

    assert repairs(context) == [("renamed_call", 1)]
    made_up = str(context.messages[2]["tool_call_id"] or "")
    assert made_up
    assert context.repairs[0].reason == RepairCode.NAMED_CALL(new_id=made_up)


def test_broken_arguments_are_kept_inside_an_object() -> None:
    broken = ToolCall(id="a", name="search", arguments="not json")

    context = rendered(user("hi"), assistant("", broken), tool_result("a", "42"))

    assert repairs(context) == [("broken_arguments", 1)]
    assert parse_message(context.messages[1]).calls[0].arguments == '{"arguments": "not json"}'


def test_an_empty_message_says_that_it_is() -> None:
    context = rendered(user("hi"), Message(role="assistant"), user("well?"))

    assert repairs(context) == [("empty_message", 1)]
    assert context.messages[1]["content"] == "[empty message]"


def test_a_refusal_is_said_in_words() -> None:
    refusal = parse_message({"role": "assistant", "content": None, "refusal": "I cannot."})

    context = rendered(user("hi"), refusal, user("why?"))

    assert repairs(context) == [("refusal_in_words", 1)]
    assert context.messages[1] == {"role": "assistant", "content": "I cannot."}


def test_white_space_before_a_call_is_left_out() -> None:
    context = rendered(user("hi"), assistant("\n\n", call("a")), tool_result("a", "42"))

    assert repairs(context) == [("blank_text", 1)]
    assert context.messages[1]["content"] is None


@pytest.mark.parametrize("name", ["Ada Lovelace", "a<b", "x" * 65])
def test_a_name_that_openai_refuses_is_said_in_words(name: str) -> None:
    context = rendered(parse_message({"role": "user", "name": name, "content": "hi"}))

    assert repairs(context) == [("name_in_words", 0)]
    assert context.messages == [{"role": "user", "content": f"{name}: hi"}]


def test_no_lone_surrogate_is_sent() -> None:
    history = [
        user("a\ud83d"),
        assistant("b\ude00", call("a", q="\ud83d")),
        tool_result("a", "\ud83d"),
    ]

    context = rendered(*history)

    str(context.messages).encode("utf-8")
    assert context.messages[0]["content"] == "a\ufffd"


def test_the_history_itself_is_not_touched() -> None:
    history = [user("one"), user("two"), assistant("", call("a"))]
    before = list(history)

    rendered(*history)

    assert history == before
