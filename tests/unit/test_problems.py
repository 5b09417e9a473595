"""What is wrong, by code and facts: every error, its sentence, and no prose in their place."""

from __future__ import annotations

import ast
import copy
import errno
import json
import pickle
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

import ctxcore
from ctxcore.assembly.states import CompactionState
from ctxcore.engine import errors as engine_errors
from ctxcore.engine.alerts import AlertError
from ctxcore.engine.native import parse_native
from ctxcore.errors import (
    BudgetError,
    CompactionRefusedError,
    ConfigurationError,
    ContextError,
    FormatError,
    MessageError,
    PartNotFoundError,
    PolicyError,
    StateError,
    StrategyError,
    SummarizerError,
    SummarizerTypeError,
    TrialError,
    UnknownWindowError,
    UnreadableError,
    WorkersError,
    WorkingStateError,
)
from ctxcore.exports.native import VERSION
from ctxcore.exports.values import ExportError
from ctxcore.formats.native import KIND
from ctxcore.formats.reading import FORMATS, expected, parse_transcripts
from ctxcore.gateway.errors import (
    ContextOverflowError,
    ErrorKind,
    LocalModelUnavailable,
    MissingKeyError,
    ProviderError,
)
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.foreign import foreign, reason_of, system_reason
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place, PlaceCode, in_file
from ctxcore.reasons.problems import (
    LocalModelProblem,
    PackageProblem,
    PartProblem,
    StateProblem,
    SummaryProblem,
    TrialProblem,
    WorkersProblem,
)
from ctxcore.reasons.storage_problems import (
    AccessCode,
    ChangeCode,
    ExportProblem,
    FileProblem,
    RecordCode,
    RuleProblem,
    SettingProblem,
    TurnProblem,
)
from ctxcore.reasons.values import (
    Fact,
    Reason,
    any_of,
    as_reason,
    counts,
    from_json,
    quoted,
    quoted_keys,
    repr_fact,
    to_json,
)
from ctxcore.redaction.shapes import INSTALL, RedactionUnavailableError
from ctxcore.store import errors as store_errors
from ctxcore.store.holders import Holder, holder_text

MESSAGE = Place(PlaceCode.MESSAGE, 3)
NOW = datetime(2026, 3, 2, tzinfo=UTC)

ERRORS: tuple[tuple[ContextError, str, Mapping[str, Fact], str], ...] = (
    (
        MessageError(place=MESSAGE.within("content", 2), problem=MessageProblem.OBJECT(kind="int")),
        "message.object",
        {"kind": "int"},
        "message 3, content[2]: expected an object, got int",
    ),
    (
        StateError(problem=StateProblem.KNOWS_MORE(known=2_000, count=3)),
        "state.knows_more",
        {"known": 2_000, "count": 3},
        "state: it refers to 2,000 messages but 3 were passed; pass the whole conversation, "
        "including the covered messages",
    ),
    (
        StateError(at=4, problem=StateProblem.LIST_ENDS(covered=7)),
        "state.list_ends",
        {"covered": 7},
        "message 4: the state covers 7 messages, but the list is shorter; pass the "
        'conversation it was made from, or on_mismatch="rebuild"',
    ),
    (
        BudgetError(needed=9_000, available=800, parts={"system": 8_000, "tools": 0, "goal": 1}),
        "budget.no_room",
        {"needed": 9_000, "available": 800, "parts": counts({"system": 8_000, "goal": 1})},
        "what must be kept takes 9,000 tokens but 800 are usable (system 8,000, goal 1); shorten "
        "the system prompt or tool definitions, or use a larger window",
    ),
    (
        PolicyError(field="max_turns", value=0, allowed=AllowedCode.WHOLE(low=1)),
        "config.field",
        {"field": "max_turns", "value": 0, "allowed": AllowedCode.WHOLE(low=1)},
        "policy field 'max_turns' is 0; allowed: a whole number of at least 1",
    ),
    (
        PolicyError(
            field="counting",
            value=["x"],
            allowed=AllowedCode.OR_NONE(allowed=AllowedCode.ONE_OF(names=("a", "b"))),
            source=PlaceCode.ENV_FILE(variable="COUNTING", path=".env"),
        ),
        "config.field",
        {
            "field": "counting",
            "value": as_reason("['x']"),
            "allowed": AllowedCode.OR_NONE(allowed=AllowedCode.ONE_OF(names=("a", "b"))),
        },
        "COUNTING in .env: policy field 'counting' is ['x']; allowed: one of a, b, or none",
    ),
    (
        ConfigurationError(path="x.yaml", line=3, problem=SettingProblem.TWICE(name="a")),
        "config.twice",
        {"name": "a"},
        "x.yaml, line 3: 'a' appears twice",
    ),
    (
        ConfigurationError(problem=PackageProblem.MISSING(package="a", command="pip install b")),
        "package.missing",
        {"package": "a", "command": "pip install b"},
        "this needs the package a, which is not installed; install it with: pip install b",
    ),
    (
        UnknownWindowError(model="gpt"),
        "budget.window_of",
        {"model": "gpt"},
        "the context window of model 'gpt' is unknown; pass window_tokens or max_tokens",
    ),
    (
        UnknownWindowError(model=None),
        "budget.window",
        {},
        "the context window is unknown; pass window_tokens or max_tokens",
    ),
    (
        TrialError(TrialProblem.MANY(count=60, most=40)),
        "trial.many",
        {"count": 60, "most": 40},
        "that makes 60 policies; try at most 40 at a time",
    ),
    (
        WorkersError(WorkersProblem.NO_WORKERS(address="tcp://10.0.0.5:8786")),
        "workers.none",
        {"address": "tcp://10.0.0.5:8786"},
        "the cluster at 'tcp://10.0.0.5:8786' has no workers; start some",
    ),
    (
        StrategyError(name="mine", error=ZeroDivisionError("division by zero")),
        "plugin.strategy",
        {"name": "mine", "kind": "ZeroDivisionError", "problem": as_reason("division by zero")},
        "the strategy 'mine' failed: ZeroDivisionError: division by zero",
    ),
    (
        PartNotFoundError(part="m9", problem=PartProblem.MESSAGES(last=8)),
        "part.no_part",
        {"part": "m9", "problem": PartProblem.MESSAGES(last=8)},
        "no part 'm9': the session has the messages m1 to m8",
    ),
    (
        WorkingStateError(
            field="tasks",
            problem=SettingProblem.TYPE(kind="int"),
            allowed=AllowedCode.TEXT_OR_NONE(),
        ),
        "config.state_field",
        {
            "field": "tasks",
            "problem": SettingProblem.TYPE(kind="int"),
            "allowed": AllowedCode.TEXT_OR_NONE(),
        },
        "working state field 'tasks' is of type 'int'; allowed: a string, or None",
    ),
    (
        SummarizerError(problem=SummaryProblem.LARGER(tokens=1_000, needed=900)),
        "summary.none",
        {"problem": SummaryProblem.LARGER(tokens=1_000, needed=900)},
        "the summarizer gave no usable summary: the summary (1,000 tokens) is not shorter "
        "than the text it replaces (900)",
    ),
    (
        SummarizerTypeError(problem=SummaryProblem.NO_SUMMARIZER(kind="int")),
        "summary.no_summarizer",
        {"kind": "int"},
        "expected a summarizer or a function (messages, previous) -> str, got int",
    ),
    (
        SummarizerError(problem="the network is down"),
        "summary.none",
        {"problem": as_reason("the network is down")},
        "the summarizer gave no usable summary: the network is down",
    ),
    (
        FormatError(path="a.json", problem=expected(FileProblem.EMPTY())),
        "file.empty",
        {},
        "a.json: the file is empty; expected OpenAI chat messages (a list, an object with "
        "`messages`, or one message or conversation a line), a Claude Code session (.jsonl) or "
        f"one of {len(FORMATS) - 2} other formats (`ctxcore formats` lists them)",
    ),
    (
        CompactionRefusedError(current_tokens=9_000, max_tokens=8_000),
        "budget.refused",
        {"tokens": 9_000, "available": 8_000},
        "the compaction was refused at 9,000 of 8,000 tokens; compact, drop the oldest messages, "
        "or start a new session",
    ),
    (
        AlertError(value=-1),
        "alert.limit",
        {"value": "-1"},
        "a budget is a number of US dollars above 0, not -1",
    ),
    (
        engine_errors.NotAllowedError(user_id="ben", what=AccessCode.SESSION(id="s1")),
        "turn.not_allowed",
        {"what": AccessCode.SESSION(id="s1"), "user": "ben"},
        "'ben' has no access to session 's1'; ask its owner or an operator for access",
    ),
    (
        engine_errors.RuleError(problem=RuleProblem.NOT_SAID(number=3, text="Be brief.")),
        "rule.not_said",
        {"number": 3, "text": "Be brief."},
        "message 3 does not say 'Be brief.'",
    ),
    (
        engine_errors.StaleProposalError(changed=ChangeCode.MARK()),
        "turn.stale",
        {"changed": ChangeCode.MARK()},
        "a pin or exclusion changed since the proposal; request a new one and confirm it",
    ),
    (
        engine_errors.TurnStateError(
            problem=TurnProblem.CALLS(names=(TurnProblem.CALL(tool="grep", id="c1"),))
        ),
        "turn.calls",
        {"names": (TurnProblem.CALL(tool="grep", id="c1"),)},
        "calls without results: grep (c1); append them, or pass run_tool",
    ),
    (
        engine_errors.TurnLostError(turn_id="t1"),
        "turn.lost",
        {},
        "the turn was abandoned, taken over elsewhere or deleted with its session; reload the "
        "session and continue from there",
    ),
    (
        engine_errors.PlaceError(place=9, length=3),
        "store.place_of",
        {"number": 9, "length": 3, "last": 2},
        "there is no message 9; the session has 3, 0 to 2",
    ),
    (
        engine_errors.PlaceError(place=0, length=0),
        "store.place",
        {"number": 0, "length": 0},
        "there is no message 0; the session has 0",
    ),
    (
        engine_errors.SplitBlockError(place=5, first=3),
        "store.in_block",
        {"number": 5, "first": 3},
        "message 5 belongs to the calls of message 3; branch before message 3",
    ),
    (
        engine_errors.NoModelError(),
        "turn.no_model",
        {},
        "no model is set for this session; choose one, or pass model=",
    ),
    (
        engine_errors.ImportRefusedError(
            place=in_file("a.jsonl", 2), problem=FileProblem.NOT_UTF8()
        ),
        "file.not_utf8",
        {},
        "a.jsonl, line 2: it is not UTF-8",
    ),
    (
        store_errors.DatabaseError(problem=foreign("database is locked")),
        "store.refused",
        {"problem": foreign("database is locked")},
        "database error: database is locked",
    ),
    (
        store_errors.SchemaError(revision="0009", known="0008"),
        "store.newer",
        {"revision": "0009", "wanted": "0008"},
        "the database has revision '0009', this version of ctxcore knows '0008'; upgrade ctxcore "
        "or choose another database",
    ),
    (
        store_errors.SessionNotFoundError(session_id="s1"),
        "store.no_session",
        {"id": "s1"},
        "there is no session 's1'; list_sessions() lists the existing ones",
    ),
    (
        store_errors.SessionAmbiguousError(beginning="s", candidates=["s1", "s2"], count=2_000),
        "store.ambiguous",
        {"beginning": "s", "count": 2_000, "names": ("s1", "s2", Reason("quote.more"))},
        "2,000 sessions have an id that begins with 's': s1, s2, …; give a longer id",
    ),
    (
        store_errors.RecordNotFoundError(kind="policy version", record_id=3),
        "store.no_record",
        {"what": RecordCode.POLICY_VERSION(), "id": 3},
        "there is no policy version 3",
    ),
    (
        store_errors.CorruptMessageError(session_id="s1", seq=3, problem=MessageProblem.MISSING()),
        "store.damaged",
        {
            "what": PlaceCode.MESSAGE(number=3),
            "id": "s1",
            "problem": MessageProblem.MISSING(),
        },
        "message 3 of session 's1' is damaged (is missing); restore the database from a copy, or "
        "fork the session before it",
    ),
    (
        store_errors.StaleCompactionError(session_id="s1", expected=None, active="c2"),
        "store.stale",
        {"id": "s1", "expected": None, "active": "c2"},
        "another compaction became active in session 's1' meanwhile ('c2', not None); reload the "
        "session and try again",
    ),
    (
        store_errors.StaleHistoryError(session_id="s1", expected=3, length=1_004),
        "store.grown",
        {"id": "s1", "expected": 3, "length": 1_004},
        "session 's1' has 1,004 messages, not 3: others were added meanwhile; reload the session "
        "and try again",
    ),
    (
        store_errors.LeaseTakenError(name="turn:s1", owner="ana", expires_at=NOW),
        "store.running",
        {"id": "s1", "owner": "ana", "time": NOW.isoformat()},
        "a turn is already running in session 's1', by 'ana' until 2026-03-02T00:00:00+00:00; wait "
        "until it ends, or stop it",
    ),
    (
        store_errors.LeaseTakenError(
            name="turn:s1",
            owner="ana",
            expires_at=NOW,
            holder=holder_text(Holder(host="box", space="", pid=7, started="")),
        ),
        "store.running_in",
        {"id": "s1", "owner": "ana", "time": NOW.isoformat(), "host": "box", "pid": 7},
        "a turn is already running in session 's1', in process 7 on 'box' ('ana' until "
        "2026-03-02T00:00:00+00:00); wait until it ends, or stop it",
    ),
    (
        store_errors.LeaseTakenError(name="migrate", owner="ana", expires_at=NOW),
        "store.held",
        {"name": "migrate", "owner": "ana", "time": NOW.isoformat()},
        "'migrate' is in use by 'ana' until 2026-03-02T00:00:00+00:00; wait until it is free, or "
        "stop it",
    ),
    (
        store_errors.StaleTurnError(turn_id="t1"),
        "turn.lost",
        {},
        "the turn was abandoned, taken over elsewhere or deleted with its session; reload the "
        "session and continue from there",
    ),
    (
        store_errors.CountsMissingError(session_id="s1", counter_id="o200k_base"),
        "store.uncounted",
        {"id": "s1", "counter": "o200k_base"},
        "the tokens of session 's1' are not fully counted with 'o200k_base'; call recount(), or "
        "read it with its own counter",
    ),
    (
        store_errors.UnknownCounterError(session_id="s1", counter_id="mine"),
        "store.counter",
        {"id": "s1", "counter": "mine"},
        "session 's1' is counted with 'mine', which this library does not have; append with that "
        "counter, or call recount() with the new one first",
    ),
    (
        ProviderError(kind="rate_limit", model="gpt", detail="slow down"),
        "model.rate_limit",
        {"model": "gpt"},
        "the provider of 'gpt' asks to slow down; wait a moment and send again (provider "
        "message: slow down)",
    ),
    (
        ContextOverflowError(model="gpt", needed_tokens=9),
        "model.overflow",
        {"model": "gpt"},
        "the context is too long for 'gpt'; compact the session or use a model with a larger "
        "window",
    ),
    (
        RedactionUnavailableError(),
        "package.missing",
        {"package": "bc-detect-secrets", "command": INSTALL},
        "this needs the package bc-detect-secrets, which is not installed; install it with: "
        'pip install "ctxcore-window[redact]"',
    ),
    (
        MissingKeyError(model="gpt", variables=("A_KEY", "B_KEY", "C_KEY")),
        "model.missing_key_named",
        {"model": "gpt", "variables": any_of(("A_KEY", "B_KEY", "C_KEY"))},
        "no key for 'gpt': set the environment variable or secret A_KEY or B_KEY or C_KEY, or "
        "choose another connection",
    ),
    (
        ExportError(problem=ExportProblem.NOT_TEXT(form="usage-csv")),
        "export.not_text",
        {"form": "usage-csv"},
        "files of the form 'usage-csv' are no text; use export_many()",
    ),
    (
        LocalModelUnavailable(model="x", problem=LocalModelProblem.PROCESSOR(flags=("avx2",))),
        "model.no_local_because",
        {"reason": LocalModelProblem.PROCESSOR(flags=("avx2",))},
        "the built-in model is not available: this processor lacks avx2; connect a provider with "
        "an API key, or an OpenAI-compatible server by its URL",
    ),
)


@pytest.mark.parametrize(
    ("error", "code", "facts", "told"), ERRORS, ids=lambda one: type(one).__name__
)
def test_an_error_has_its_code_its_facts_and_its_sentence(
    error: ContextError, code: str, facts: Mapping[str, Fact], told: str
) -> None:
    assert (error.code, dict(error.facts), str(error)) == (code, facts, told)


@pytest.mark.parametrize("error", [error for error, *_ in ERRORS], ids=str)
def test_what_an_error_says_survives_json(error: ContextError) -> None:
    back = from_json(json.loads(json.dumps(to_json(error.reason))))

    assert back == error.reason
    assert str(back) == str(error)


def test_every_error_of_the_library_is_among_these() -> None:
    named = {type(error) for error, *_ in ERRORS}
    bases = {store_errors.StoreError, store_errors.CorruptRecordError}

    assert {kind for kind in _below(ContextError) if kind.__module__.startswith("ctxcore")} == (
        named | bases
    )


def _below(kind: type[ContextError]) -> Iterator[type[ContextError]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from _below(inner)


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_every_kind_of_failed_call_has_a_code_of_its_own(kind: ErrorKind) -> None:
    error = ProviderError(kind=kind, model="gpt")

    assert error.code.startswith("model.")
    assert error.code != "model.said"


def test_a_place_is_told_as_keys_and_places_in_lists() -> None:
    inner = MESSAGE.within("content", 2).within("source").within(0, "text")

    assert str(inner) == "message 3, content[2], source[0], text"
    assert inner.reason == PlaceCode.WITHIN(
        place=PlaceCode.MESSAGE(number=3), within="content[2], source[0], text"
    )
    assert str(Place(PlaceCode.TOOL, 1)) == "tools[1]"
    assert str(Place(PlaceCode.KNOWLEDGE_TEXT, quoted("faq"))) == "knowledge['faq']"
    assert str(Place(PlaceCode.STATE)) == "state"


def test_the_place_of_an_error_is_beside_its_problem() -> None:
    with pytest.raises(MessageError) as caught:
        parse_messages([{"role": "user", "content": [{"type": "text", "text": 3}]}])

    error = caught.value
    assert error.place == Place(PlaceCode.MESSAGE, 0, ("content", 0, "text"))
    assert error.problem == MessageProblem.TEXT(kind="int")
    assert error.reason == PlaceCode.AT(place=error.place.reason, problem=error.problem)
    assert (error.code, error.facts) == ("message.text", {"kind": "int"})


def test_what_is_allowed_keeps_its_numbers() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy().override(trigger_ratio=11)

    assert caught.value.allowed == AllowedCode.OR_NONE(allowed=AllowedCode.NUMBER(low=0.01, high=1))


def test_a_broken_line_keeps_what_is_wrong_with_its_json() -> None:
    good = '{"role": "user", "content": "hi"}\n'
    (found,) = parse_transcripts(f'{good}{{"role" 3}}\n{good}', name="a.jsonl")
    (problem,) = found.problems

    assert to_json(problem.placed) == {
        "code": "place.at",
        "facts": {
            "place": {"code": "place.line", "facts": {"line": 2}},
            "problem": {
                "code": "file.not_json",
                "facts": {
                    "reason": {
                        "code": "json.column",
                        "facts": {"reason": {"code": "json.no_colon"}, "column": 9},
                    }
                },
            },
        },
    }


def test_a_record_that_cannot_be_read_keeps_why() -> None:
    head = json.dumps({"type": KIND, "version": VERSION})
    mark = json.dumps({"type": "mark", "kind": "pin", "seq": 2})
    with pytest.raises(engine_errors.ImportRefusedError) as caught:
        parse_native(f'{head}\n{mark}\n{{"type": "end"}}\n', name="a.jsonl")
    with pytest.raises(StateError) as refused:
        CompactionState.from_json({**CompactionState().to_json(), "summaries": -1})

    error = caught.value
    assert error.place == in_file("a.jsonl", 2)
    assert error.facts == {"reason": ExportProblem.NO_SUCH_MESSAGE(number=2)}
    assert refused.value.facts == {"field": "summaries", "problem": StateProblem.VALUE(value=-1)}


def test_messages_of_others_have_codes_where_they_are_known() -> None:
    assert foreign("database disk image is malformed").code == "database.malformed"
    assert foreign("no such table: message") == as_reason("no such table: message")
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", "a.db")
    assert system_reason(missing).code == "system.missing"
    assert (reason_of(missing).code, str(reason_of(missing))) == (
        "system.numbered_file",
        str(missing),
    )
    for text in ("", '{"a" 1}', '{"a": 1,}', "[1 2]", '"a', '"\\x"', "1 2", '{"a": "\n"}'):
        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads(text)
        assert str(reason_of(caught.value)) == str(caught.value)
        assert not reason_of(caught.value).mentions("text")


def test_values_of_others_are_quoted_in_short() -> None:
    problem = MessageProblem.ROLE(value=quoted("x" * 80), names=("user",))

    assert str(problem) == f"'{'x' * 59}… is not one of user"
    assert str(MessageProblem.ROLE(value=quoted([1]), names=("user",))) == (
        "a value of type list is not one of user"
    )
    assert str(MessageProblem.NO_PARTS(keys=quoted_keys({}))) == "has no parts (keys: none)"
    many = quoted_keys(dict.fromkeys("abcdefgh", 1))
    assert str(MessageProblem.NO_PARTS(keys=many)).endswith("'a', 'b', 'c', 'd', 'e', 'f', …)")
    assert repr_fact((1, ("a", None))) == (1, ("a", None))


def test_an_error_may_be_copied_as_far_as_its_facts() -> None:
    plain = ContextError(FileProblem.UNREADABLE(reason=as_reason("it is away")))

    for other in (pickle.loads(pickle.dumps(plain)), copy.copy(plain)):
        assert (other.code, str(other)) == ("file.unreadable", "cannot be read: it is away")
    for error, *_ in ERRORS:
        assert pickle.loads(pickle.dumps(error.reason)) == error.reason


def test_every_error_arrives_in_another_process_as_it_was() -> None:
    unreadable = UnreadableError(FileProblem.EMPTY())
    errors: list[UnreadableError | ContextError] = [unreadable, *(error for error, *_ in ERRORS)]
    for error in errors:
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(other) is type(error)
            assert (other.reason, str(other)) == (error.reason, str(error))
            assert vars(other).keys() == vars(error).keys()


_FACTS = ("problem", "allowed", "changed", "what", "place", "source", "record")


def test_no_error_is_raised_with_prose() -> None:
    prose = [
        f"{path}:{node.lineno}: {node.arg}"
        for path in sorted(Path(ctxcore.__file__).parent.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and _is_error(call)
        for node in call.keywords
        if node.arg in (*_FACTS, "reason") and _is_prose(node.value)
    ]

    assert prose == []


def _is_error(call: ast.Call) -> bool:
    """Whether an error, a problem of a file or a reason is made."""
    name = str(getattr(call.func, "id", "") or getattr(call.func, "attr", ""))
    return name.endswith("Error") or name in ("Problem", "Failure", "Given") or name.isupper()


def _is_prose(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "str"
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str)
    )
