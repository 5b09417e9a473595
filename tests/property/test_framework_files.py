"""Files of agent frameworks that are damaged anywhere are read, or refused with a reason."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import FormatError
from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.blocks import block_starts
from ctxcore.messages.values import JsonValue
from tests.property.test_agent_sessions import anything
from tests.unit.formats import test_reading_ai_sdk as ai_sdk
from tests.unit.formats import test_reading_chatgpt as chatgpt
from tests.unit.formats import test_reading_claude_ai as claude_ai
from tests.unit.formats import test_reading_google_adk as adk
from tests.unit.formats import test_reading_langchain as langchain
from tests.unit.formats import test_reading_openai_agents as agents
from tests.unit.formats import test_reading_openhands as openhands
from tests.unit.formats import test_reading_swe_agent as swe_agent

FILES: dict[str, JsonValue] = {
    "chatgpt": chatgpt.tree(
        chatgpt.message("user", "add"),
        chatgpt.message("assistant", "1+1", to="python"),
        chatgpt.message("tool", "2", name="python"),
        chatgpt.message("assistant", "It is 2."),
    ),
    "claude-ai": json.loads(
        claude_ai.conversation(
            claude_ai.said("human", claude_ai.text("a"), attachments=[{"file_name": "b"}]),
            claude_ai.said("assistant", {"type": "tool_use", "id": "t", "name": "n", "input": {}}),
        )
    ),
    "langchain": {"values": {"messages": [*langchain.FLAT, *langchain.DUMPED]}},
    "openai-agents": json.loads(agents.state(session_items=agents.ITEMS)),
    "google-adk": json.loads(adk.session(*adk.EVENTS)),
    "openhands": openhands.EVENTS,
    "openhands-sdk": openhands.SDK_EVENTS,
    "openhands-log": json.loads(openhands.log()),
    "swe-agent": json.loads(swe_agent.trajectory(swe_agent.CALLS, replay_config=swe_agent.REPLAY)),
    "mini-swe-agent": json.loads(swe_agent.mini({"role": "user", "content": "a"})),
    "ai-sdk": ai_sdk.NEWER,
}


def put(value: JsonValue, other: JsonValue, data: st.DataObject) -> JsonValue:
    """`value` with `other` in place of anything inside of it."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        value[key] = put(value[key], other, data)
        return value
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        at = data.draw(st.integers(0, len(value) - 1))
        value[at] = put(value[at], other, data)
        return value
    return other


@pytest.mark.parametrize("name", FILES)
@given(data=st.data(), other=anything)
def test_a_damaged_file_is_read_or_refused(
    name: str, data: st.DataObject, other: JsonValue
) -> None:
    text = json.dumps(put(copy.deepcopy(FILES[name]), other, data))

    try:
        found = parse_transcripts(text, name="a.json")
    except FormatError:
        return
    for one in found:
        assert one.messages
        assert len(one.times) == len(one.messages)
        assert all(usage.after < len(one.messages) for usage in one.usage)
        assert list(block_starts(one.messages))


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_of_its_own_format_alone(name: str) -> None:
    found = parse_transcripts(json.dumps(FILES[name]), name="a.json")

    assert {one.format for one in found} == {name}
