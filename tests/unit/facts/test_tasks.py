"""The kind of a task, from tool names and the shapes of messages."""

from __future__ import annotations

import pytest

from ctxcore.facts.tasks import MOST_OF_TASK, Task, find_task, kind_of_tool
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import TaskType
from tests.histories import assistant, call, user


def working(*tools: str) -> list[Message]:
    """A request, and a call of each tool."""
    history = [user("please")]
    for at, name in enumerate(tools):
        history += [assistant("", call(f"c{at}", name)), tool_result(f"c{at}", "ok")]
    return history


@pytest.mark.parametrize(
    ("tools", "kind"),
    [
        (("edit_file", "bash", "Read"), "code"),
        (("strReplaceEditor", "mcp__repo__run_tests"), "code"),
        (("run_sql_query", "plot_chart", "web_search"), "analysis"),
        (("edit_file", "bash", "run_sql_query"), "mixed"),
        (("edit_file", "book_table_for", "send_mail", "open_door"), "mixed"),
    ],
)
def test_tools_tell_the_kind(tools: tuple[str, ...], kind: TaskType) -> None:
    assert find_task(working(*tools)).kind == kind


def test_what_spoke_for_it_is_told_with_its_counts() -> None:
    task = find_task(working("bash", "edit_file", "bash"))

    assert task == Task(kind="code", evidence=(("bash", 2), ("edit_file", 1)))
    assert str(task) == "task code: bash 2, edit_file 1"


def test_short_requests_without_tools_are_a_conversation() -> None:
    talk = [user("hi there, how was it?"), assistant("fine"), user("and the food?")]

    assert find_task(talk).kind == "conversation"


def test_code_in_messages_is_code_even_without_tools() -> None:
    talk = [user("fix it"), assistant("```py\na = 1\n```"), user("and\n```py\nb\n```")]

    assert find_task(talk).kind == "code"


def test_nothing_to_go_by_is_unknown() -> None:
    assert find_task([]).kind == "unknown"
    assert find_task([user("a long text " * 200)]).kind == "unknown"


def test_tools_that_serve_customers_leave_it_to_the_messages() -> None:
    history = [*working("get_user_details", "cancel_reservation"), user("thanks, and my bag?")]

    assert find_task(history).kind == "conversation"


def test_the_newest_messages_decide() -> None:
    history = [*working(*["bash"] * 20), *(user(f"and {n}?") for n in range(MOST_OF_TASK))]

    assert find_task(history).kind == "conversation"
    assert find_task([text_message("system", "bash"), *history]).kind == "conversation"


def test_the_application_may_state_it() -> None:
    assert find_task(working("bash"), as_reason="analysis") == Task(kind="analysis", is_stated=True)


def test_a_tool_is_known_by_its_last_name_in_any_case() -> None:
    assert [kind_of_tool(name) for name in ("mcp__x__ReadFile", "WebSearch", "hug")] == [
        *("code", "analysis", "other")
    ]
