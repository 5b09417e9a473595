"""Errors are told in the language of the page; places and names stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args

import pytest

from ctxcore.engine import errors as engine_errors
from ctxcore.engine.alerts import AlertError
from ctxcore.engine.native import parse_native
from ctxcore.errors import (
    BudgetError,
    CompactionRefusedError,
    ConfigurationError,
    ContextError,
    PolicyError,
    StrategyError,
    SummarizerError,
    TrialError,
    UnknownWindowError,
    WorkersError,
)
from ctxcore.exports.values import ExportError
from ctxcore.formats.reading import parse_transcripts
from ctxcore.gateway.errors import (
    ContextOverflowError,
    ErrorKind,
    LocalModelUnavailable,
    MissingKeyError,
    ProviderError,
)
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy
from ctxcore.reasons.foreign import DatabaseProblem
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.problems import (
    LocalModelProblem,
    PackageProblem,
    SummaryProblem,
    TrialProblem,
    WorkersProblem,
)
from ctxcore.reasons.storage_problems import (
    AccessCode,
    ChangeCode,
    ExportProblem,
    RecordCode,
    RoleProblem,
    RuleProblem,
    SettingProblem,
    TurnProblem,
)
from ctxcore.reasons.values import from_json, to_json
from ctxcore.redaction.shapes import RedactionUnavailableError
from ctxcore.settings.loading import load_layers
from ctxcore.store import errors as store_errors
from ctxcore.store.holders import Holder, holder_text
from ctxcore.summarizers.checks import check_summary
from ctxcore.tokens.count import counter_for
from dashboard import texts
from dashboard.wording import error_text, reason_text
from tests.engines import engine_with

_WORD = re.compile(r"[A-Za-z]{2,}")
_NAMES = frozenset(
    re.findall(
        r"\S+",
        """jsonl json yaml gpt ACME KEY CTXCORE POLICY RESERVE TOKENS CONFIG tokens base JSON
        OpenCode Kimi Cursor Droid Hermes Antigravity wire context
        Codex pi OpenClaw Gemini CLI Qwen Copilot Grok events chat history
        YAML OpenAI Claude Code API ctxcore secret messages role content tool calls
        arguments function name system developer user assistant pin exclude
        dict list int str session digest avx null export many
        pip install bc detect secrets window redact
        boss reserve OSError last summarize
        ChatGPT claude ai conversations LangChain LangGraph Agents SDK Google ADK OpenHands
        SWE agent mini swe traj Vercel AI
        Codex pi OpenClaw Gemini CLI Qwen Copilot Grok events chat history
        """,
    )
)
"""Names: of files, fields, variables, formats, types. They are the same in every language."""


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "OUTSIDE", "zh")


def english_in(told: str) -> set[str]:
    return set(_WORD.findall(told)) - _NAMES


def caught(work: Callable[[], object]) -> ContextError:
    with pytest.raises(ContextError) as found:
        work()
    return found.value


def raised(kind: type[ContextError], **facts: object) -> ContextError:
    return cast("Callable[..., ContextError]", kind)(**facts)


FILES: Mapping[str, str] = {
    "empty": "",
    "no JSON": "notes",
    "cut off": '[\n{"role": "user", "content": "a"',
    "a stray comma": '[{"role": "user",}]',
    "no name": "{1: 2}",
    "two values": "{} {}",
    "an open text": '{"a": "b',
    "a bad escape": '{"a": "\\x"}',
    "nothing said": "[]",
    "no conversation": '{"a": 1}',
    "no role": '[{"role": "boss", "content": "a"}]',
    "no content": '[{"role": "user", "content": 3}]',
    "no list of calls": '[{"role": "assistant", "content": "a", "tool_calls": 3}]',
    "no function": '[{"role": "assistant", "content": "a", "tool_calls": [{}]}]',
    "no function name": '[{"role": "assistant", "content": "a", "tool_calls": [{"function": {}}]}]',
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_read_is_told_with_its_place(chinese: None, text: str) -> None:
    error = caught(lambda: parse_transcripts(text, name="x.json"))

    told = error_text(error)

    assert english_in(told) == set()
    assert told.startswith("x.json")


def test_why_json_cannot_be_read_stays_with_its_column(chinese: None) -> None:
    error = caught(lambda: parse_transcripts('[\n{"a": 1', name="x.json"))

    assert error_text(error).startswith(
        "x.json 第 2 行：JSON 已损坏或不完整（缺少分隔符 ','，第 8 列）。"
    )


LINE_OF_NO_MESSAGE = '{"role": "user", "content": "a"}\n{"role": "user", "content": [3]}\n'


def problems(text: str) -> list[str]:
    with engine_with() as (engine, _):
        (preview,) = engine.preview_import(text, name="x.jsonl")
    return [reason_text(problem) for problem in preview.problems]


def test_the_line_and_the_field_stay() -> None:
    assert problems(LINE_OF_NO_MESSAGE) == [
        "line 2: the message, content[0]: expected an object, got int"
    ]


def test_the_line_and_the_field_stay_in_chinese(chinese: None) -> None:
    assert problems(LINE_OF_NO_MESSAGE) == ["第 2 行：该消息，content[0]：应为对象，实际为 int"]


def exports() -> Iterator[tuple[str, str]]:
    """Exports of a session, each broken in another way."""
    with engine_with() as (engine, _):
        session = engine.create_session("trip")
        engine.append(session.id, [{"role": "user", "content": "hi"}])
        lines = engine.export(session.id).splitlines()
    head, last = json.loads(lines[0]), lines[-1]
    yield "another version", "\n".join([json.dumps({**head, "version": 99}), *lines[1:]])
    yield "cut short", "\n".join(lines[:-1])
    yield "a line cut short", "\n".join([lines[0], lines[1][:-3], *lines[2:]])
    yield "a line of another kind", "\n".join([lines[0], "3", *lines[1:]])
    yield "an unknown record", "\n".join([lines[0], '{"type": "x"}', *lines[1:]])
    for at, line in enumerate(lines[1:-1], 1):
        if json.loads(line).get("type") == "message":
            changed = line.replace('"hi"', '"ho"')
            yield "changed", "\n".join([*lines[:at], changed, *lines[at + 1 : -1], last])
            yield "a message missing", "\n".join([*lines[:at], *lines[at + 1 :]])


def test_an_export_that_is_refused_is_told_with_its_place(chinese: None) -> None:
    told = {}
    for name, text in exports():
        error = caught(lambda text=text: parse_native(text, name="x.jsonl"))  # type: ignore[misc]  # mypy#2608
        told[name] = error_text(error)

    assert {name: words for name, words in told.items() if english_in(words)} == {}
    assert all(words.startswith("x.jsonl") for words in told.values())
    assert "第 2 行" in told["a line cut short"]


def test_a_variable_and_a_file_that_say_something_wrong_are_named(
    chinese: None, tmp_path: Path
) -> None:
    environ = {"CTXCORE_POLICY_RESERVE_TOKENS": "many"}
    variable = caught(lambda: load_layers(environ=environ, env_file=None))
    config = tmp_path / "x.yaml"
    config.write_text("policy: [", encoding="utf-8")
    file = caught(lambda: load_layers(environ={}, env_file=None, config=config))

    assert "环境变量 CTXCORE_POLICY_RESERVE_TOKENS" in error_text(variable)
    assert english_in(error_text(variable).replace("many", "")) == set()
    assert re.search(r"x\.yaml 第 \d 行：不是 YAML", error_text(file))


def test_a_config_file_that_is_not_there_is_told_with_who_named_it(
    chinese: None, tmp_path: Path
) -> None:
    named = {"CTXCORE_CONFIG": str(tmp_path / "x.yaml")}

    told = error_text(caught(lambda: load_layers(environ=named, env_file=None)))

    assert told.endswith(
        "x.yaml：无法读取：没有这个文件或文件夹（由 CTXCORE_CONFIG 指定：环境变量 CTXCORE_CONFIG）"
    )


NOW = datetime(2026, 3, 2, tzinfo=UTC)
HOLDER = holder_text(Holder(host="x", space="", pid=7, started=""))
ERRORS: tuple[ContextError, ...] = (
    BudgetError(needed=9_000, available=8_000, parts={"system": 9_000}),
    CompactionRefusedError(current_tokens=9, max_tokens=8),
    WorkersError(WorkersProblem.ENDED(times=3)),
    ConfigurationError(path="x.yaml", line=3, problem=SettingProblem.TWICE(name="a")),
    ConfigurationError(problem=PackageProblem.MISSING(package="x", command="x")),
    PolicyError(field="name", value="x", allowed=fields_of(Policy)["max_turns"].allowed),
    UnknownWindowError(model=None),
    UnknownWindowError(model="gpt"),
    TrialError(TrialProblem.BASELINE(text="2")),
    TrialError(TrialProblem.CHANGE(text="2")),
    TrialError(TrialProblem.MANY(count=60, most=40)),
    TrialError(TrialProblem.NO_CANDIDATE(name="2")),
    TrialError(TrialProblem.NO_QUESTION()),
    TrialError(TrialProblem.NOT_WHOLE(tokens=9, usable=8)),
    TrialError(TrialProblem.NOTHING_TO_SEND()),
    StrategyError(name="x", error=OSError("")),
    SummarizerError(problem=SummaryProblem.EMPTY()),
    engine_errors.NotAllowedError(user_id="x", what=AccessCode.SESSION(id="x")),
    engine_errors.NotAuditorError(user_id="x", what=AccessCode.TEXTS(id="x")),
    engine_errors.RoleError(problem=RoleProblem.OWN_READING()),
    store_errors.LastOperatorError(user_id="x"),
    AlertError(value=-1),
    ExportError(problem=ExportProblem.NO_FORM(form="x", names=("a", "b"))),
    ExportError(problem=ExportProblem.NOT_TEXT(form="x")),
    RedactionUnavailableError(),
    engine_errors.StaleProposalError(changed=ChangeCode.MARK()),
    engine_errors.TurnStateError(problem=TurnProblem.DONE()),
    engine_errors.TurnLostError(turn_id="t1"),
    engine_errors.PlaceError(place=9, length=3),
    engine_errors.PlaceError(place=9, length=0),
    engine_errors.SplitBlockError(place=5, first=3),
    engine_errors.NoModelError(),
    engine_errors.RuleError(problem=RuleProblem.NOT_SAID(number=3, text="x")),
    store_errors.DatabaseError(problem=DatabaseProblem.LOCKED()),
    store_errors.SchemaError(revision="x", known="x"),
    store_errors.SessionNotFoundError(session_id="x"),
    store_errors.RecordNotFoundError(kind="policy version", record_id=3),
    store_errors.CorruptRecordError(
        session_id="x", record=RecordCode.OF_COMPACTION(id="x"), problem=MessageProblem.MISSING()
    ),
    store_errors.CorruptMessageError(session_id="x", seq=3, problem=MessageProblem.MISSING()),
    store_errors.StaleCompactionError(session_id="x", expected="x", active="x"),
    store_errors.StaleHistoryError(session_id="x", expected=3, length=4),
    store_errors.LeaseTakenError(name="turn:x", owner="x", expires_at=NOW),
    store_errors.LeaseTakenError(name="turn:x", owner="x", expires_at=NOW, holder=HOLDER),
    store_errors.StaleTurnError(turn_id="x"),
    store_errors.CountsMissingError(session_id="x", counter_id="o200k_base"),
    store_errors.UnknownCounterError(session_id="x", counter_id="x"),
    ContextOverflowError(model="gpt"),
    MissingKeyError(model="gpt", variables=("ACME_KEY",)),
    LocalModelUnavailable(model="gpt", problem=LocalModelProblem.PROCESSOR(flags=("avx2",))),
    *(ProviderError(kind=kind, model="gpt", detail="x") for kind in get_args(ErrorKind)),
)
ELSEWHERE = {
    "FormatError",  # of files, above
    "ImportRefusedError",
    "MessageError",
    "PartNotFoundError",  # told to models, and on the command line
    "WorkingStateError",  # of a program that says what it works on
    "SummarizerTypeError",  # of a program that passes one
    "StateError",  # of a program that keeps a state
    "SessionAmbiguousError",  # told on the command line
    "StoreError",  # the base of others
}


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_no_error_is_told_in_english_on_a_chinese_page(chinese: None, error: ContextError) -> None:
    assert english_in(error_text(error)) == set()


def test_every_error_of_the_library_is_among_these() -> None:
    told = {type(error).__name__ for error in ERRORS} | ELSEWHERE

    assert {kind.__name__ for kind in _below(ContextError)} <= told


def _below(kind: type[ContextError]) -> Iterator[type[ContextError]]:
    for one in kind.__subclasses__():
        if one.__module__.startswith("ctxcore."):
            yield one
            yield from _below(one)


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_a_stored_error_is_told_as_it_was_raised(chinese: None, error: ContextError) -> None:
    stored = json.loads(json.dumps(to_json(error.reason)))

    assert reason_text(from_json(stored)) == reason_text(error.reason)


@pytest.mark.parametrize("text", ["", "Sorry, I cannot do that.", "[]"])
def test_why_a_text_is_no_summary_is_told(chinese: None, text: str) -> None:
    error = caught(
        lambda: check_summary(text, max_tokens=50, source_tokens=1, counter=counter_for())
    )

    assert english_in(error_text(error)) == set()


def test_words_of_somebody_else_are_told_with_their_place(chinese: None) -> None:
    error = ConfigurationError(path="x.yaml", line=3, problem="the moon is full")

    assert error_text(error) == "x.yaml 第 3 行：the moon is full"


def test_a_sentence_begins_with_a_capital_unless_with_a_name() -> None:
    assert error_text(engine_errors.TurnStateError(problem=TurnProblem.DONE())).startswith("The")
    assert error_text(ConfigurationError(path="x.yaml", problem="broke")) == "x.yaml: broke"


def test_a_message_that_is_none_is_told_with_its_place(chinese: None) -> None:
    error = caught(lambda: parse_messages([{"role": "user", "content": "a"}, {"content": "b"}]))

    assert error_text(error).startswith("消息 1，role：")
