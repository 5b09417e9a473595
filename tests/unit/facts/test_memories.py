"""What is pinned within a message, and what is asked to be remembered."""

from __future__ import annotations

import json

import pytest

from ctxcore.facts.agent_records import memories_of, passages_of
from ctxcore.messages.values import ToolCall, tool_result
from tests.histories import assistant, user


def test_a_user_pins_passages() -> None:
    text = "Do it. <Pin>Never touch it.</Pin> And <pin>\nuse tabs\n</pin> <Pin> </Pin>"

    assert passages_of(user(text)) == ["Never touch it.", "use tabs"]
    assert passages_of(user("<Pin>never closed")) == []


def test_nobody_else_pins() -> None:
    assert passages_of(assistant("<Pin>me</Pin>")) == []
    assert passages_of(tool_result("c", "<Pin>me</Pin>")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the key is under the mat.",
        "please remember: we ship on Fridays.",
        "Keep in mind that Ada is on leave.",
        "记住，发布时间是周五。",
        "请你一定要记得我对花生过敏。",
    ],
)
def test_users_ask_to_remember(text: str) -> None:
    assert memories_of(user(text)) == [text]


@pytest.mark.parametrize(
    "text", ["Do you remember that day?", "I remember when we met.", "Nice.", "你还记得吗？"]
)
def test_talk_of_memory_is_no_memory(text: str) -> None:
    assert memories_of(user(text)) == []


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("save_memory", {"content": "Ada likes blue."}, ["Ada likes blue."]),
        ("mcp__memory__add_memories", {"memories": ["one", {"text": "two"}]}, ["one", "two"]),
        ("memory", {"command": "create", "file_text": "a note"}, ["a note"]),
        ("memory", {"command": "view", "path": "/a"}, []),
        ("search_memory", {"content": "Ada"}, []),
        ("remember", {"fact": "it rains"}, ["it rains"]),
        ("save_file", {"content": "x"}, []),
    ],
)
def test_tool_calls_write_memories(
    name: str, arguments: dict[str, object], told: list[str]
) -> None:
    call = ToolCall(id="c", name=name, arguments=json.dumps(arguments))

    assert memories_of(assistant("", call)) == told
