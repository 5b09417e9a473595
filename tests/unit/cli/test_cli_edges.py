"""What holds for every command: odd files, hostile texts, exit codes, quick help."""

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore import __version__
from ctxcore.cli.output import amount, block, json_escape, one_line, percent
from ctxcore.cli.running import problem_document
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.places import PlaceCode, in_file
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason
from tests.processes import fresh, printed_by
from tests.unit.cli.files import call, errors, results, run, run_json, talk, write

COMMANDS = ("inspect", "fit", "compact")
HOSTILE = "[bold red]not markup[/nope] \x1b[31m\x9b2J \u202etxet 你好"


@pytest.mark.parametrize("command", COMMANDS)
def test_texts_of_files_are_never_obeyed(command: str, tmp_path: Path) -> None:
    told: JsonValue = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("c9", HOSTILE, path=HOSTILE)],
    }
    value: JsonValue = {
        "title": HOSTILE,
        "messages": [*talk(3), told, {"role": "user", "content": HOSTILE}],
    }
    path = write(tmp_path / "hostile.json", value)

    for output in (run(command, path).stdout, run(command, path, "--json").stdout):
        assert "[bold red]not markup[/nope]" in output
        assert "你好" in output
        assert not {"\x1b", "\x9b", "\u202e"} & set(output)


@pytest.mark.parametrize("command", COMMANDS)
def test_stdout_holds_one_document_and_nothing_else(command: str, tmp_path: Path) -> None:
    write(tmp_path / "good.json", talk(2))
    write(tmp_path / "other.json", {"colour": "blue"})

    result = run(command, tmp_path, "--json")

    document = json.loads(result.stdout)
    assert document["command"] == command
    assert [one["id"] for one in document["results"]] == ["good"]
    assert [Path(one["path"]).name for one in document["errors"]] == ["other.json"]
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_exit_code_is_1_if_nothing_was_read_and_2_if_nothing_was_named(
    command: str, tmp_path: Path
) -> None:
    assert run(command, tmp_path / "missing.json").exit_code == 1
    assert run(command, tmp_path).exit_code == 1  # an empty folder
    assert run(command).exit_code == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_with_a_byte_order_mark_are_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "marked.json"
    path.write_bytes(json.dumps(talk(1)).encode(encoding))

    (one,) = results(run_json("inspect", path))

    assert one["problems"] == []
    assert one["messages"] == 6


def test_text_that_is_not_utf8_is_a_problem_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    lines = ['{"role": "user", "content": "Hallo"}', '{"role": "assistant", "content": "Grüße"}']
    path.write_bytes("\n".join(lines).encode("latin-1"))

    (one,) = results(run_json("inspect", path))

    (problem,) = one["problems"]
    assert problem["line"] == 2
    assert "not UTF-8" in problem["reason"]


def test_text_in_an_unmarked_wide_encoding_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    path.write_bytes(json.dumps(talk(1)).encode("utf-16-le"))

    (error,) = errors(run_json("inspect", path))

    assert "save it as UTF-8" in str(error["reason"])


def test_a_lone_surrogate_is_replaced_where_it_would_be_sent(tmp_path: Path) -> None:
    path, out = tmp_path / "broken.json", tmp_path / "out.json"
    path.write_text('[{"role": "user", "content": "half \\ud83d"}]', encoding="utf-8")

    assert "half \ufffd" in run("fit", path, "--show", "--out", out).stdout
    assert json.loads(out.read_text(encoding="utf-8"))[0]["content"] == "half \ufffd"


def test_stdin_is_a_file_named_by_a_dash() -> None:
    result = run("inspect", "-", stdin=json.dumps(talk(1)).encode())

    assert result.exit_code == 0
    assert result.stdout.startswith("stdin")


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "one.json", talk(1))

    assert len(results(run_json("inspect", path, tmp_path))) == 1


def test_version_and_help_are_quick_to_ask_for() -> None:
    assert run("--version").stdout == f"ctxcore {__version__}\n"
    assert "inspect" in run("--help").stdout


def test_help_loads_none_of_the_heavy_parts() -> None:
    code = (
        "import sys, ctxcore.cli; heavy = ('tiktoken', 'litellm', 'sqlmodel', 'ctxcore.formats', "
        "'ctxcore.assembly', 'ctxcore.compaction'); "
        "print(*(name for name in heavy if name in sys.modules))"
    )

    assert printed_by(code).split() == []


@pytest.mark.parametrize("command", ["inspect", "fit", "compact", "compare", "replay"])
@pytest.mark.parametrize("content", ['{"a": 1}', "no JSON", "[1, 2]", ""])
def test_a_wrong_file_is_refused_before_the_heavy_parts_are_loaded(
    tmp_path: Path, command: str, content: str
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content, encoding="utf-8")
    code = (
        "import sys\nfrom ctxcore.cli import app\n"
        "try: app()\nexcept SystemExit as end: print('ended with', end.code)\n"
        "print([name for name in sys.modules if name.startswith(('ctxcore.facts', 'ctxcore.text', "
        "'ctxcore.assembly', 'ctxcore.compaction', 'ctxcore.tokens.count', 'tiktoken'))])"
    )

    done = fresh(code, command, str(path), options=())

    assert done.stdout == "ended with 1\n[]\n", done.stdout
    assert done.stderr.startswith("error: ")


@given(st.text())
def test_one_line_is_one_line_without_anything_a_terminal_obeys(text: str) -> None:
    line = one_line(text)

    assert not [character for character in line if category(character) in ("Cc", "Cs", "Zl", "Zp")]
    assert block(text).count("\n") == text.count("\n")


@given(st.text())
def test_escaped_json_means_the_same(text: str) -> None:
    escaped = json_escape(json.dumps([text], ensure_ascii=False, indent=1))

    assert json.loads(escaped) == [text]
    escaped.encode("utf-8")


def test_numbers_say_estimated_and_shares_never_round_to_nothing_or_all() -> None:
    assert (amount(1200), amount(1200, is_exact=False), amount(0, is_exact=False)) == (
        "1,200",
        "~1,200",
        "0",
    )
    shares = [percent(ratio) for ratio in (0, 0.001, 0.5, 0.999, 1, 1.5)]
    assert shares == ["0 %", "<1 %", "50 %", "99 %", "100 %", "150 %"]


def test_the_formats_that_are_read_are_said_once(tmp_path: Path) -> None:
    for at in range(3):
        write(tmp_path / f"{at}.json", {"colour": "blue"})

    told = run("inspect", tmp_path).stderr

    assert told.count("error: ") == 3
    assert told.count("expected OpenAI chat messages") == 1


def test_a_failure_in_json_has_its_facts() -> None:
    said = problem_document(in_place(FileProblem.NO_SUCH_ID(beginning="ab")))
    assert said["code"] == "file.no_such_id"
    assert said["facts"] == {"beginning": "ab"}
    assert str(said["reason"]).startswith("a.json: no conversation")
    assert problem_document(FileProblem.EMPTY())["facts"] == {}


def in_place(problem: Reason) -> Reason:
    return PlaceCode.AT(place=in_file("a.json"), problem=problem)
