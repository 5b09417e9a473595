"""Where the tokens of a transcript went, counted with one token a word."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject, Message, Reasoning, Text
from ctxcore.tokens.count import count_each


@dataclass(frozen=True)
class Words:
    """Counts words, so that sums can be checked by eye."""

    id: str = "words"
    is_exact: bool = True

    def count(self, text: str) -> int:
        return len(text.split())


def test_every_token_is_in_one_place() -> None:
    report = _report(
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "what is in a"},
        _reading("c1", "a.txt", says="I read"),
        _output("c1", "one two three"),
        {"role": "assistant", "content": "three words"},
    )

    parts = (report.system_tokens, report.user_tokens, report.assistant_tokens)
    assert parts == (4 + 2, 4 + 4, 4 + 2 + 4 + 2)  # each message takes four more
    (tool,) = report.tools
    assert (tool.name, tool.calls) == ("read_file", 1)
    assert tool.call_tokens == 1 + 2 + 13  # name, {"path": "a.txt"}, frame
    assert tool.result_tokens == 3 + 1 + 10  # output, name, frame
    assert report.total_tokens == sum(parts) + tool.total_tokens


def test_thinking_stands_apart_from_what_was_said() -> None:
    thought = Message(role="assistant", content=(Reasoning(text="let me see"), Text(text="yes")))

    report = usage_report(_transcript(thought), Words())

    assert (report.thinking_tokens, report.assistant_tokens) == (3, 4 + 1)


def test_a_file_read_again_says_what_that_cost() -> None:
    report = _report(
        _reading("c1", "a.txt"),
        _output("c1", "one two three"),
        _calling("c2", "edit_file", {"file_path": "a.txt", "text": "x"}),
        _output("c2", "done"),
        _reading("c3", "a.txt"),
        _output("c3", "one two three four"),
        _calling("c4", "view_notebook", {"notebook_path": "b.ipynb"}),
        _output("c4", "cell"),
    )

    first, second = report.files
    assert (first.path, first.reads, first.rereads, first.other_calls) == ("a.txt", 2, 1, 1)
    assert (first.read_tokens, first.reread_tokens) == (14 + 15, 15)
    assert first.other_tokens == (1 + 4 + 13) + (1 + 1 + 10)
    assert (second.path, second.reads) == ("b.ipynb", 1)


def test_only_the_word_read_in_a_name_makes_a_read() -> None:
    report = _report(
        _calling("c1", "NotebookRead", {"path": "a"}),
        _calling("c2", "spread_out", {"path": "b"}),
        _calling("c3", "editor", {"path": "c", "command": "view"}),
        _calling("c4", "broken", {}, arguments='{"path": "d'),
    )

    assert {file.path: file.reads for file in report.files} == {"a": 1, "b": 0, "c": 1}


def test_a_result_without_its_call_is_counted_apart() -> None:
    report = _report({"role": "user", "content": "go"}, _output("gone", "one two"))

    assert (report.orphan_tokens, report.tools) == (2 + 10, ())


def test_what_a_provider_reported_is_summed_beside_our_counts() -> None:
    hello, hi = _said("user", "hello"), _said("assistant", "hi")
    calls = (
        RecordedUsage(call_id="m1", after=1, input_tokens=5, cache_write_tokens=95),
        RecordedUsage(call_id="m2", after=3, cache_read_tokens=120, output_tokens=9),
    )

    report = usage_report(_transcript(hello, hi, hello, hi, usage=calls), Words())

    assert report.provider is not None
    assert (report.provider.calls, report.provider.output_tokens) == (2, 9)
    assert report.provider.largest_context_tokens == 120
    assert report.unattributed_tokens == 100 - 5


def test_without_usage_nothing_is_said_about_the_provider() -> None:
    report = _report({"role": "user", "content": "go"})

    assert (report.provider, report.unattributed_tokens) == (None, None)


def test_unattributed_is_never_negative() -> None:
    usage = (RecordedUsage(call_id="m1", after=1, input_tokens=1),)

    transcript = _transcript(_said("user", "a long question"), _said("assistant", "x"), usage=usage)

    assert usage_report(transcript, Words()).unattributed_tokens == 0


def test_a_session_that_starts_compacted_is_held_against_its_summary() -> None:
    old, new = _said("user", "old words"), _said("user", "new")
    compaction = RecordedCompaction(at=1, summary="in a few words")
    usage = (RecordedUsage(call_id="m1", after=2, input_tokens=50),)

    transcript = _transcript(old, new, old, usage=usage, compactions=(compaction,))
    report = usage_report(transcript, Words())

    assert report.summary_tokens == 4 + 4
    assert report.unattributed_tokens == 50 - (4 + 4) - (4 + 1)


_MESSAGES = st.one_of(
    st.sampled_from(["user", "system", "assistant"]).map(lambda role: _said(role, "a few words")),
    st.sampled_from(["c1", "c2", ""]).map(
        lambda call_id: parse_message(_reading(call_id, "a.txt"))
    ),
    st.sampled_from(["c1", "c2", ""]).map(
        lambda call_id: parse_message(_output(call_id, "one two"))
    ),
)


@given(st.lists(_MESSAGES, max_size=12))
def test_the_parts_always_add_up_to_the_messages(messages: list[Message]) -> None:
    report = usage_report(_transcript(*messages), Words())

    assert report.total_tokens == sum(count_each(messages, Words()))
    assert min(report.assistant_tokens, report.orphan_tokens, report.user_tokens) >= 0


def _report(*messages: JsonObject) -> TokenReport:
    (transcript,) = parse_transcripts(json.dumps(messages), name="talk.json")
    return usage_report(transcript, Words())


def _transcript(
    *messages: Message,
    usage: tuple[RecordedUsage, ...] = (),
    compactions: tuple[RecordedCompaction, ...] = (),
) -> Transcript:
    return Transcript(
        id="t",
        title="t",
        format="openai",
        path="t",
        messages=messages,
        times=(None,) * len(messages),
        usage=usage,
        compactions=compactions,
    )


def _said(role: str, words: str) -> Message:
    return parse_message({"role": role, "content": words})


def _calling(
    call_id: str, name: str, values: JsonObject, *, arguments: str | None = None, says: str = ""
) -> JsonObject:
    text = json.dumps(values) if arguments is None else arguments
    call: JsonObject = {"id": call_id, "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": says, "tool_calls": [call]}


def _reading(call_id: str, path: str, *, says: str = "") -> JsonObject:
    return _calling(call_id, "read_file", {"path": path}, says=says)


def _output(call_id: str, output: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": output}
