"""Session files of coding agents that are damaged anywhere are read, or refused with a reason."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import FormatError
from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.blocks import block_starts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats import (
    test_reading_antigravity as antigravity,
)
from tests.unit.formats import (
    test_reading_codex as codex,
)
from tests.unit.formats import (
    test_reading_copilot as copilot,
)
from tests.unit.formats import (
    test_reading_cursor as cursor,
)
from tests.unit.formats import (
    test_reading_droid as droid,
)
from tests.unit.formats import (
    test_reading_gemini_cli as gemini,
)
from tests.unit.formats import (
    test_reading_grok as grok,
)
from tests.unit.formats import (
    test_reading_hermes as hermes,
)
from tests.unit.formats import (
    test_reading_kimi as kimi,
)
from tests.unit.formats import (
    test_reading_opencode as opencode,
)
from tests.unit.formats import (
    test_reading_pi as pi,
)
from tests.unit.formats import (
    test_reading_qwen as qwen,
)

FILES: dict[str, list[JsonObject]] = {
    "codex": [
        codex.HEAD,
        codex.record("turn_context", {"model": "m"}),
        codex.said("user", "go"),
        codex.item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        codex.call("c"),
        codex.tokens(10, cached=3),
        codex.output("c", [{"type": "input_text", "text": "x"}]),
        codex.record("compacted", {"message": "so far", "replacement_history": []}),
        codex.event("thread_rolled_back", num_turns=1),
        codex.said("assistant", "done"),
    ],
    "pi": [
        pi.HEAD,
        pi.message("1", None, "user", [pi.text("look")]),
        pi.message("2", "1", "assistant", [pi.text("I look"), pi.call("c")], usage={"input": 1}),
        pi.message("3", "2", "toolResult", [pi.text("A")], toolCallId="c", toolName="read"),
        pi.entry("compaction", "4", "3", summary="so far", tokensBefore=9),
        pi.entry("branch_summary", "5", "4", summary="tried"),
    ],
    "gemini-cli": [
        gemini.HEAD,
        gemini.record("1", "user", [{"text": "go"}]),
        gemini.record("2", "gemini", "x", toolCalls=[gemini.call("a", "A")], tokens={"input": 1}),
        {"$set": {"messages": [gemini.record("9", "user", "so far")]}},
        {"$rewindTo": "2"},
    ],
    "qwen": [
        qwen.record("user", "1", None, {"text": "look"}),
        qwen.record("assistant", "2", "1", qwen.CALL, usageMetadata={"promptTokenCount": 1}),
        qwen.record("tool_result", "3", "2", qwen.RESPONSE),
        qwen.system("chat_compression", "4", "3", compressedHistory=[]),
        qwen.system("rewind", "5", "1"),
    ],
    "copilot": [
        copilot.START,
        copilot.event("user.message", content="go"),
        copilot.event("assistant.message", content="I look", toolRequests=[copilot.call("a")]),
        copilot.result("a", "A"),
        copilot.event("session.compaction_complete", summaryContent="so far"),
    ],
    "grok": [grok.USER, grok.CALLING, grok.RESULT],
    "opencode": [opencode.export(*opencode.TALK, opencode.message("3", "user", opencode.ASKED))],
    "kimi": [kimi.HEAD, *kimi.TURN, kimi.op("context.undo", count=1), kimi.said("more")],
    "cursor": [cursor.ASKED, cursor.CALLING, cursor.said("user", cursor.result())],
    "droid": [droid.HEAD, *droid.TALK],
    "hermes": [hermes.SESSION],
    "antigravity": [antigravity.ASKED, antigravity.CALLING, antigravity.LISTED],
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def _places(value: JsonValue) -> list[tuple[JsonObject | list[JsonValue], str | int]]:
    """Every place in a value, as what holds it and its key."""
    if isinstance(value, dict):
        return [(value, key) for key in value] + [p for v in value.values() for p in _places(v)]
    if isinstance(value, list):
        return [(value, n) for n in range(len(value))] + [p for v in value for p in _places(v)]
    return []


CASES: list[tuple[str, list[JsonObject]]] = [
    *FILES.items(),
    ("cursor", [*cursor.RUN]),
    ("kimi", [*kimi.CLI]),
    ("droid", [*droid.RUN, droid.event("completion", finalText="done")]),
]
"""A file of each format, and those of its other versions."""


@pytest.mark.parametrize("whole", [one for _, one in CASES], ids=[name for name, _ in CASES])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(whole: list[JsonObject], data: st.DataObject) -> None:
    records: list[JsonValue] = [*copy.deepcopy(whole)]
    for _ in range(data.draw(st.integers(1, 4))):
        holder, key = data.draw(st.sampled_from(_places(records)))
        holder[key] = copy.deepcopy(data.draw(anything | st.sampled_from(whole)))  # type: ignore[index]
    text = "\n".join(map(json.dumps, records))

    try:
        found = parse_transcripts(text, name="a.jsonl")
    except FormatError:
        return

    for transcript in found:
        starts = block_starts(transcript.messages)
        assert len(starts) == len(transcript.messages) == len(transcript.times)
        assert all(one.after < len(starts) for one in transcript.usage)
        assert all(one.at <= len(starts) for one in transcript.compactions)


@pytest.mark.parametrize(("name", "records"), CASES)
def test_a_file_is_of_its_own_format_alone(name: str, records: list[JsonObject]) -> None:
    text = "\n".join(map(json.dumps, records))

    assert {found.format for found in parse_transcripts(text, name="a.jsonl")} == {name}
