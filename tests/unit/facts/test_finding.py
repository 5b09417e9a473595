"""What is found in a message, kind by kind."""

from __future__ import annotations

import json
import time

import pytest

from ctxcore.facts.finding import MOST_FACTS, find_facts
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from tests.unit.facts.speech import facts, found, of_call, of_output


def test_a_code_in_capitals_is_an_identifier_where_it_is_a_value_of_an_output() -> None:
    output = '{"origin": "JFK", "currency":"EUR", "state": "CANCELLED", "note": "ASK AT GATE"}'

    codes = {fact.text for fact in of_output(output) if fact.kind == "identifier"}

    assert codes == {"JFK", "EUR"}
    assert not found('He said "JFK" twice.', "identifier")


@pytest.mark.parametrize(
    ("text", "kind", "literal"),
    [
        ("My order is ORD-2026-417.", "identifier", "ORD-2026-417"),
        ("Ask for class c-4711 please", "identifier", "c-4711"),
        ("user id mia_li_3668", "identifier", "mia_li_3668"),
        ("see commit 3f9a2bc", "identifier", "3f9a2bc"),
        ("run 6f1c2a34-9d0e-4b6a-8f11-0a2b3c4d5e6f", "identifier",
         "6f1c2a34-9d0e-4b6a-8f11-0a2b3c4d5e6f"),
        ("set DATABASE_URL first", "identifier", "DATABASE_URL"),
        ("it is on branch feature/login-form", "identifier", "feature/login-form"),
        ("write to ana.b@example.org", "identifier", "ana.b@example.org"),
        ("upgrade to v2.14.1 now", "identifier", "v2.14.1"),
        ("issue #8841 is open", "identifier", "#8841"),
        ("订单号 8731 还没到", "identifier", "8731"),
        ("the port is 8080", "number", "8080"),
        ("timeout 30 s is too short", "number", "30 s"),
        ("retries=5", "number", "5"),
        ("预算 5000 元", "number", "5000 元"),
        ("look at /srv/app/main.py line 3", "path", "/srv/app/main.py"),
        ("edit src/ui/list.tsx", "path", "src/ui/list.tsx"),
        ("open package.json", "path", "package.json"),
        ("docs at https://example.org/a?b=1.", "url", "https://example.org/a?b=1"),
        ("call me next Friday at 3pm", "date", "next Friday at 3pm"),
        ("due 2026-03-02", "date", "2026-03-02"),
        ("on May 20th", "date", "May 20th"),
        ("我们5月3日出发", "date", "5月3日"),
        ("下周五下午3点开会", "date", "下周五下午3点"),
        ("it costs $1,250.50 in all", "amount", "$1,250.50"),
        ("about 12 kg of flour", "amount", "12 kg"),
        ("一共三百块钱", "amount", "三百块钱"),
        ("I met Maria Lopez there", "name", "Maria Lopez"),
        ("我叫林晓。", "name", "林晓"),
        ("最近在看《红楼梦》", "name", "红楼梦"),
        ("Let's go with PostgreSQL for this.", "decision", "Let's go with PostgreSQL for this."),
        ("我们决定用方案B。", "decision", "我们决定用方案B。"),
        ("Which port does the staging server use?", "question",
         "Which port does the staging server use?"),
    ],
)  # fmt: skip
def test_a_literal_is_found_as_it_was_said(text: str, kind: Kind, literal: str) -> None:
    assert literal in found(text, kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a well-known state-of-the-art 20-year-old idea", "identifier"),
        ("either/or and and/or", "path"),
        ("Really? Right?", "question"),
        ("we have not decided to use it yet", "decision"),
        ("The weather is nice today.", "name"),
        ("<div>text</div>", "path"),
    ],
)
def test_plain_words_are_no_literals(text: str, kind: Kind) -> None:
    assert found(text, kind) == []


@pytest.mark.parametrize("name", ["Read", "read_file", "view", "open", "mcp__files__read_file"])
def test_a_call_that_reads_names_its_file(name: str) -> None:
    assert _files(of_call(name, file_path="/a/b.py"), "file_read") == ["/a/b.py"]


@pytest.mark.parametrize("name", ["Edit", "str_replace", "replace", "edit_file"])
def test_a_call_that_edits_tells_the_lines(name: str) -> None:
    edit = of_call(name, path="a.py", old_string="x\ny", new_string="x\nz\nw")

    assert [(fact.text, fact.value) for fact in edit if fact.kind == "file_changed"] == [
        ("a.py", "+2 −1")
    ]


def test_an_editor_that_only_views_changes_nothing() -> None:
    assert _files(of_call("str_replace_editor", command="view", path="/a.py"), "file_changed") == []


def test_a_patch_tells_every_file() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n+more\n"
        "*** Add File: b.md\n+hello\n*** End Patch"
    )

    changed = [
        (fact.text, fact.value)
        for fact in of_call("apply_patch", input=patch)
        if fact.kind == "file_changed"
    ]

    assert changed == [("a.py", "+2 −1"), ("b.md", "+1 −0")]


def test_a_shell_command_reads_and_writes_files() -> None:
    command = of_call("bash", command="cat src/a.py | head -5 && echo hi > out/b.txt")

    assert _files(command, "file_read") == ["src/a.py"]
    assert _files(command, "file_changed") == ["out/b.txt"]


def test_a_diff_in_an_output_is_counted_by_file() -> None:
    diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"

    assert [f.value for f in of_output(diff, "bash", command="git diff") if f.kind == "change"] == [
        "+2 −1"
    ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}),
        ("update_plan", {"plan": [{"step": "a", "status": "completed"}, {"step": "b"}]}),
        ("write_todos", {"todos": [{"description": "a", "status": "done"}, {"description": "b"}]}),
    ],
)
def test_a_to_do_call_is_its_list_with_progress(name: str, arguments: dict[str, object]) -> None:
    (todo,) = of_call(name, **arguments)

    assert (todo.text, todo.value) == ("[x] a; [ ] b", "1/2")


def test_an_error_line_of_an_output_is_found_with_its_command() -> None:
    output = "collecting\nTraceback (most recent call last):\nValueError: no such port\n"

    errors = [
        fact for fact in of_output(output, "bash", command="pytest -q") if fact.kind == "error"
    ]

    assert [(fact.text, fact.subject) for fact in errors] == [
        ("ValueError: no such port", "pytest -q")
    ]


def test_no_errors_is_no_error() -> None:
    output = of_output("12 passed, 0 errors", "bash", command="pytest -q")

    assert [fact.effect for fact in output if fact.kind == "error"] == ["fixes"]


def test_the_words_of_a_file_that_was_read_are_no_error() -> None:
    output = of_output("raise ValueError\nError: in a comment", "Read", file_path="a.py")

    assert [fact for fact in output if fact.kind == "error"] == []


def test_finding_is_the_same_every_time() -> None:
    text = "Never commit to main. Port 8080, see /a/b.py, order ORD-1234, next Friday."

    assert facts(text) == facts(text)


@pytest.mark.measures
@pytest.mark.parametrize(
    "piece",
    ["a", "1", " ", "?", "don't ", "never ", "a-1 ", "/a", "<a>", "\n- x", "必须", "\"", "`", "= 1",
     "a_1.b/", "Aa ", "error: x\n", "0x1f ", "#1", "$1", "\ud800", "|", "(", ". "],
)  # fmt: skip
def test_a_million_characters_take_bounded_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))

    started = time.thread_time()
    for role in ("user", "tool"):
        assert len(find_facts(text_message(role, text))) <= MOST_FACTS
    call = ToolCall(id="1", name="bash", arguments=json.dumps({"command": text}))
    find_facts(Message(role="assistant", calls=(call,)))
    find_facts(tool_result("1", text), function_name="bash", arguments=call.arguments)

    assert time.thread_time() - started < 2.0


def _files(told: tuple[Fact, ...], kind: Kind) -> list[str]:
    return [fact.text for fact in told if fact.kind == kind]
