"""A summary of quotes reads as an account: by topic, with what gives each quote its meaning."""

from __future__ import annotations

import json

import pytest

from ctxcore.messages.values import Message, ToolCall, tool_result
from ctxcore.summarizers.extractive import ExtractiveSummarizer, Quoted
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from tests.histories import assistant, user
from tests.words import Quarters


def call(call_id: str, tool: str, **arguments: object) -> Message:
    made = ToolCall(id=call_id, name=tool, arguments=json.dumps(arguments))
    return Message(role="assistant", calls=(made,))


def quote(*messages: Message, max_tokens: int = 400, language: Language = "en") -> Quoted:
    request = SummaryRequest(messages=messages, max_tokens=max_tokens, language=language)
    return ExtractiveSummarizer(Quarters()).quote(request)


def summarize(*messages: Message, max_tokens: int = 400, language: Language = "en") -> str:
    return quote(*messages, max_tokens=max_tokens, language=language).text


def test_what_was_done_stands_under_the_request_it_was_done_for() -> None:
    summary = summarize(
        user("Scale scan-ingest to 12 consumers."),
        call("c1", "scale", service="scan-ingest", replicas=12),
        tool_result("c1", '{"state": "rolling", "pods": 12}'),
        assistant("It runs 12 pods since 02:45."),
        user("Who owns the settlement job?"),
        call("c2", "read_file", path="settlement/README.md"),
        tool_result("c2", "Owner: Tomasz Wrona"),
    )

    assert summary == (
        "user: Scale scan-ingest to 12 consumers.\n"
        "- ran scale (service=scan-ingest, replicas=12): state: rolling, pods: 12\n"
        "- It runs 12 pods since 02:45.\n"
        "\n"
        "user: Who owns the settlement job?\n"
        "- ran read_file (settlement/README.md): Owner: Tomasz Wrona"
    )


def test_a_chinese_account_is_told_in_chinese() -> None:
    summary = summarize(
        user("把扫描服务扩容到 12 个副本。"),
        call("c1", "scale", replicas=12, service="scan-ingest"),
        tool_result("c1", "状态：完成"),
        language="zh",
    )

    assert summary == (
        "用户：把扫描服务扩容到 12 个副本。\n"
        "- 调用 scale（replicas=12, service=scan-ingest）：状态：完成"
    )


def test_calls_of_one_tool_for_one_request_are_told_as_one() -> None:
    summary = summarize(
        user("Look at the three parsers."),
        *(call(f"c{n}", "read_file", path=f"src/parser_{n}.py") for n in range(3)),
    )

    assert summary.splitlines()[1:] == [
        "- ran read_file (src/parser_0.py; src/parser_1.py; src/parser_2.py)"
    ]


def test_a_line_of_an_output_is_never_quoted_without_its_call() -> None:
    rows = [{"host": f"db-{n}.internal", "lag_ms": n * 17} for n in range(40)]
    summary = summarize(
        user("Thanks."),
        call("c1", "replication_lag", cluster="parcels-db"),
        tool_result("c1", json.dumps(rows)),
        max_tokens=40,
    )

    assert summary.startswith("- ran replication_lag (parcels-db): host: db-")


@pytest.mark.parametrize("weak", ["Go.", "OK, thanks!", "好的。", "<done></done>", "#"])
def test_a_message_that_says_nothing_is_not_quoted(weak: str) -> None:
    assert weak not in summarize(user("Deploy build 4711 to eu-west-1."), assistant(weak))


def test_where_nothing_else_was_said_even_that_is_a_summary() -> None:
    assert summarize(user("好的。"), language="zh") == "用户：好的。"


def test_code_torn_from_its_function_is_not_quoted() -> None:
    code = 'LIMIT = 40\ndef settle(day,\n    "eu-1.internal",\n)\nRETRIES = 7  # per pod'
    summary = summarize(call("c1", "read_file", path="pay.py"), tool_result("c1", code))

    assert summary == "- ran read_file (pay.py): LIMIT = 40 … RETRIES = 7 # per pod"


def test_a_short_answer_is_quoted_with_its_question() -> None:
    talk = [
        message
        for n in range(20)
        for message in (
            user(f"I walked past the old wall and the {n}th lighthouse."),
            assistant("That sounds lovely, and how was it?"),
        )
    ]
    asked, answer = assistant("What does the museum of Naxos cost?"), user("12 euros.")

    summary = summarize(*talk, asked, answer, max_tokens=60)

    if "12 euros." in summary:
        assert "- What does the museum of Naxos cost?\n\nuser: 12 euros." in summary


def test_an_account_of_an_account_is_the_same() -> None:
    first = summarize(
        user("Look at both parsers, then run the tests."),
        call("c1", "read_file", path="src/a.py"),
        call("c2", "read_file", path="src/b.py"),
        call("c3", "run_tests", path="tests/"),
        tool_result("c3", "41 passed, 1 failed\ntests/test_a.py:12: KeyError: 'iban'"),
        assistant("One test of 42 fails: `iban` is missing in src/a.py."),
    )
    again = first
    for _ in range(3):
        request = SummaryRequest(messages=(), previous=again, max_tokens=400)
        again = ExtractiveSummarizer(Quarters()).summarize(request)

    assert again == first


def test_a_quoted_call_is_from_its_message_and_that_of_its_output() -> None:
    quoted = quote(
        user("Read the parser."),
        call("c1", "read_file", path="src/a.py"),
        tool_result("c1", "LIMIT = 40"),
    )

    assert [(quoted.text[start:end], places) for start, end, places in quoted.places] == [
        ("Read the parser.", (0,)),
        ("read_file (src/a.py): LIMIT = 40", (1, 2)),
    ]
