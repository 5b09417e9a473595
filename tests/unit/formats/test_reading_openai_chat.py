"""What becomes of OpenAI chat files, whatever their layout."""

from __future__ import annotations

import json

import pytest

from ctxcore.errors import FormatError
from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, refusal, shape

HELLO: list[JsonValue] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi"},
]
TOOL: JsonObject = {"type": "function", "function": {"name": "look", "parameters": {}}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(HELLO),
        json.dumps(HELLO, indent=1),
        json.dumps({"messages": HELLO}),
        json.dumps([{"messages": HELLO}], indent=2),
        json.dumps({"history": HELLO}),
        "\n".join(json.dumps(message) for message in HELLO),
        "\r\n\r\n".join(json.dumps(message) for message in HELLO) + "\r\n",
        json.dumps({"messages": HELLO}) + "\n",
        "\ufeff" + json.dumps(HELLO),
    ],
)
def test_every_layout_gives_the_same_conversation(text: str) -> None:
    (found,) = parse_transcripts(text, name="talk.json")

    assert [message.text for message in found.messages] == ["hello", "hi"]
    assert (found.format, found.id, found.title) == ("openai", "talk", "hello")
    assert found.times == (None, None)


def test_a_conversation_a_line_keeps_ids_titles_and_models() -> None:
    lines = [
        {"id": "first", "messages": HELLO, "model": "gpt-test"},
        {"messages": HELLO, "title": "Two"},
        HELLO,
    ]
    found = parse_transcripts("\n".join(map(json.dumps, lines)), name="folder/talks.jsonl")

    assert [(one.id, one.title, one.model) for one in found] == [
        ("first", "hello", "gpt-test"),
        ("talks", "Two", None),
        ("talks#2", "hello", None),
    ]


def test_ids_are_unique_within_a_file() -> None:
    lines = [json.dumps({"id": 7, "messages": HELLO})] * 3

    found = parse_transcripts("\n".join(lines), name="talks.jsonl")

    assert [one.id for one in found] == ["7", "7#2", "7#3"]


def test_tools_and_older_functions_come_in_one_form() -> None:
    body: JsonObject = {"messages": HELLO, "tools": [TOOL], "functions": [{"name": "old"}]}

    (found,) = parse_transcripts(json.dumps(body), name="request.json")

    assert found.tools == [TOOL, {"type": "function", "function": {"name": "old"}}]
    assert hash(found) == hash(found)


def test_a_bad_message_is_a_problem_and_the_rest_goes_on() -> None:
    messages: list[JsonValue] = [*HELLO, {"role": "narrator", "content": "meanwhile"}, "noise"]

    (found,) = parse_transcripts(json.dumps(messages), name="talk.json")

    assert len(found.messages) == 2
    assert [str(problem.reason) for problem in found.problems] == [
        "message 2, role: 'narrator' is not one of system, developer, user, assistant, tool",
        'message 3: is text; write {"role": "user", "content": …}',
    ]


def test_a_bad_line_is_named_with_its_number() -> None:
    first, second = map(json.dumps, HELLO)
    text = f'{first}\n{{"role": "user", "con\n{second}\n{{"note": 1}}\n'

    (found,) = parse_transcripts(text, name="talk.jsonl")

    assert [message.text for message in found.messages] == ["hello", "hi"]
    assert [(problem.line, str(problem.reason)) for problem in found.problems] == [
        (2, "is not JSON: Unterminated string starting at column 18"),
        (4, "is neither a chat message nor a conversation"),
    ]


def test_a_cut_document_says_where() -> None:
    text = '[\n {"role": "user", "content": "hello"},\n {"role": "assist'

    with pytest.raises(FormatError) as caught:
        parse_transcripts(text, name="talk.json")

    assert caught.value.line == 3
    assert "damaged or cut off" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", " \n\n", "{}", "[]", "42", "[1, 2]", '{"messages": []}', '{"role": "user"}', '"text"'],
)
def test_a_file_without_a_conversation_says_what_was_expected(text: str) -> None:
    with pytest.raises(FormatError, match="expected OpenAI chat messages"):
        parse_transcripts(text, name="other.json")


def test_only_bad_messages_are_no_conversation() -> None:
    with pytest.raises(FormatError, match="message 0, role: 'narrator'"):
        parse_transcripts('[{"role": "narrator", "content": "meanwhile"}]', name="talk.json")


def test_deep_nesting_is_an_error_with_a_sentence() -> None:
    with pytest.raises(FormatError, match="nested too deeply"):
        parse_transcripts("[" * 200_000, name="deep.json")


def test_line_separators_inside_json_text_do_not_end_a_line() -> None:
    text = '{"role": "user", "content": "one\u2028two\x85"}\n{"role": "user", "content": "three"}'

    (found,) = parse_transcripts(text, name="talk.jsonl")

    assert [message.text for message in found.messages] == ["one\u2028two\x85", "three"]


def test_times_beside_messages_are_read_in_utc() -> None:
    messages = [
        {"role": "user", "content": "a", "timestamp": "2026-03-01T12:00:00+02:00"},
        {"role": "user", "content": "b", "created_at": 0},
        {"role": "user", "content": "c", "timestamp": "yesterday"},
    ]

    (found,) = parse_transcripts(json.dumps(messages), name="talk.json")

    assert [time and time.isoformat() for time in found.times] == [
        "2026-03-01T10:00:00+00:00",
        "1970-01-01T00:00:00+00:00",
        None,
    ]


def test_summaries_of_an_agents_own_compactions_are_told_apart() -> None:
    said = ["one", "two", "what came before: one, two", "three"]
    made = [{"summary_index": 2, "trigger": "auto", "pre_tokens": 900}, {"summary_index": 9}]
    messages = [{"role": "user", "content": text} for text in said]

    text = json.dumps({"messages": messages, "meta": {"compactions": made}})
    (read,) = parse_transcripts(text, name="talk.json")

    assert [message.text for message in read.messages] == ["one", "two", "three"]
    (told,) = read.compactions
    assert (told.at, told.summary) == (2, "what came before: one, two")
    assert (told.before_tokens, told.trigger) == (900, "auto")
    assert len(read.times) == len(read.messages)


RESPONSE: JsonObject = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "gpt-test",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hi", "reasoning": "greet"}},
        {"index": 1, "message": {"role": "assistant", "content": "hello"}},
    ],
    "usage": {
        "prompt_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens": 7,
    },
}
REQUEST: JsonObject = {"model": "gpt", "messages": HELLO[:1], "tools": [TOOL]}


def test_a_response_is_an_answer_with_its_usage() -> None:
    found = read(RESPONSE)

    assert shape(found) == ["assistant: hi"]
    assert (found.id, found.model, found.messages[0].reasoning) == (
        "chatcmpl-1",
        "gpt-test",
        "greet",
    )
    (usage,) = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (40, 60, 7)
    assert found.ignored == (("other choice", 1),)


@pytest.mark.parametrize(
    ("reported", "counted"),
    [
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, (5, 4, 0)),
        ({"prompt_tokens": 9, "cache_read_input_tokens": 4}, (5, 4, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cache_creation_tokens": 2}}, (7, 0, 2)),
        ({"prompt_tokens": 1, "prompt_cache_hit_tokens": 4}, (0, 4, 0)),
    ],
)
def test_what_other_providers_report_as_cached_is_told_apart(
    reported: JsonObject, counted: tuple[int, int, int]
) -> None:
    (usage,) = read({**RESPONSE, "usage": reported}).usage

    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == counted


@pytest.mark.parametrize(
    "record",
    [
        {"request": REQUEST, "response": RESPONSE},
        {"request": {"method": "POST", "body": REQUEST}, "response": {"body": RESPONSE}},
        {"request": json.dumps(REQUEST), "response": json.dumps(RESPONSE)},
        {"custom_id": "a", "body": REQUEST, "response": {"status_code": 200, "body": RESPONSE}},
        {**REQUEST, "response": RESPONSE},
    ],
)
def test_a_response_is_joined_to_the_request_beside_it(record: JsonObject) -> None:
    found = read(record)

    assert shape(found) == ["user: hello", "assistant: hi"]
    assert (found.model, found.tools) == ("gpt-test", [TOOL])
    assert [usage.after for usage in found.usage] == [1]


def test_the_lines_of_batch_files_have_their_ids() -> None:
    found = read_all(
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST},
        {"id": "batch_1", "custom_id": "b", "response": {"body": RESPONSE}, "error": None},
    )

    assert [one.id for one in found] == ["a", "b"]
    assert [one.format for one in found] == ["openai", "openai"]


def test_a_log_of_several_apis_is_read_with_each() -> None:
    thought: JsonObject = {"role": "user", "parts": [{"text": "hello"}]}
    found = read_all(REQUEST, {"contents": [thought]}, {**REQUEST, "max_tokens": 3, "system": "x"})

    assert sorted(one.format for one in found) == ["anthropic", "gemini", "openai"]


@pytest.mark.parametrize(
    ("record", "left_out"),
    [
        (
            {
                "input": {"messages": HELLO[:1], "tools": [TOOL]},
                "preferred_output": HELLO[1:],
                "non_preferred_output": [{"role": "assistant", "content": "what?"}],
            },
            "non-preferred answer",
        ),
        (
            {"chosen": HELLO, "rejected": [HELLO[0], {"role": "assistant", "content": "what?"}]},
            "rejected answer",
        ),
        ({"prompt": HELLO[:1], "chosen": HELLO[1:], "rejected": "what?"}, "rejected answer"),
        ({"prompt": "hello", "chosen": "hi", "rejected": "what?"}, "rejected answer"),
        ({"question": "hello", "chosen": "hi", "rejected": "what?"}, "rejected answer"),
        (
            {
                "chosen": "\n\nHuman: hello\n\nAssistant: hi",
                "rejected": "\n\nHuman: hello\n\nAssistant: what?",
            },
            "rejected answer",
        ),
    ],
)
def test_the_preferred_answer_is_the_conversations(record: JsonObject, left_out: str) -> None:
    found = read(record)

    assert shape(found) == ["user: hello", "assistant: hi"]
    assert found.ignored == ((left_out, 1),)


def test_a_body_beside_lines_of_another_kind_is_read_and_they_are_problems() -> None:
    found = read(REQUEST, {"level": "info"}, "not JSON")

    assert shape(found) == ["user: hello"]
    assert [problem.line for problem in found.problems] == [2, 3]


def test_a_list_of_stored_responses_is_read() -> None:
    found = read_all({"object": "list", "data": [RESPONSE, {**RESPONSE, "id": "chatcmpl-2"}]})

    assert [one.id for one in found] == ["chatcmpl-1", "chatcmpl-2"]


@pytest.mark.parametrize(
    "record",
    [
        {"model": "m", "input": ["a", "b"]},
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"delta": {"content": "x"}}]},
        {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        {"role": "user", "content": {"parts": [{"text": "hi"}]}},
        {"level": "info", "message": "started"},
    ],
)
def test_what_only_looks_alike_is_refused(record: JsonObject) -> None:
    assert "contains no conversation; expected OpenAI chat messages" in refusal(record)
