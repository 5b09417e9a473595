"""Compactions, marks, forks, exports and policies of stored sessions."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import ImportRefusedError, NotAllowedError, StaleProposalError
from ctxcore.errors import FormatError, PolicyError, SummarizerError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.reasons.codes import VerdictCode
from ctxcore.store.values import Scope
from ctxcore.summarizers.protocol import SummaryRequest
from tests.engines import START, ended, engine_with


def _long_session(engine: ContextEngine, turns: int = 14) -> str:
    session = engine.create_session("long", system="You help.")
    for number in range(turns):
        question = f"Question {number} about ORD-{number}. " + "why " * 20
        answer = f"Answer {number}: it is ready. " + "so " * 20
        engine.append(
            session.id,
            [{"role": "user", "content": question}, {"role": "assistant", "content": answer}],
        )
    return session.id


def test_undo_gives_the_context_before_and_redo_the_one_after() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        before = engine.context(session_id).messages
        info = engine.compact(session_id)
        after = engine.context(session_id).messages
        assert info is not None

        undone = engine.undo(session_id)
        assert undone is not None
        assert engine.context(session_id).messages == before
        redone = engine.redo(session_id)

        assert redone is not None
        assert undone.id == redone.id == info.id
        assert engine.context(session_id).messages == after
        assert engine.redo(session_id) is None


def test_a_compaction_can_be_undone_after_later_turns() -> None:
    with engine_with(window=4_000) as (engine, _):
        session_id = _long_session(engine)
        assert engine.compact(session_id) is not None
        ended(engine.chat(session_id, "and now?"))

        engine.undo(session_id)

        said = str(engine.context(session_id).messages)
        assert "Question 0" in said
        assert "and now?" in said


def test_after_an_undo_nothing_starts_by_itself_until_the_input_is_above_usable() -> None:
    with engine_with(window=2_400) as (engine, _):
        session_id = _long_session(engine)
        assert engine.compact(session_id) is not None
        engine.undo(session_id)

        ended(engine.chat(session_id, "go on"))
        engine.wait(session_id)
        assert len(engine.compactions(session_id)) == 1

        engine.append(session_id, [{"role": "user", "content": "more " * 1_200}])
        ended(engine.chat(session_id, "go on"))
        engine.wait(session_id)
        assert len(engine.compactions(session_id)) == 2


def test_a_proposal_changes_nothing_until_it_is_confirmed_with_an_edited_summary() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        proposal = engine.propose(session_id)
        assert engine.compactions(session_id) == []
        assert proposal.after is not None
        assert proposal.after.tokens < proposal.before.tokens

        info = engine.confirm(proposal, summary="Ada asked about her orders.")

        assert info is not None
        assert "Ada asked about her orders." in str(engine.context(session_id).messages)


def test_later_messages_do_not_make_a_proposal_stale_but_another_compaction_does() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        proposal, late = engine.propose(session_id), engine.propose(session_id)
        engine.append(session_id, [{"role": "user", "content": "one more thing"}])

        assert engine.confirm(proposal) is not None
        with pytest.raises(StaleProposalError, match="active compaction"):
            engine.confirm(late)


def test_a_mark_inside_the_range_or_a_changed_policy_makes_a_proposal_stale() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        proposal = engine.propose(session_id)
        engine.pin(session_id, 2)
        with pytest.raises(StaleProposalError, match="pin"):
            engine.confirm(proposal)

        proposal = engine.propose(session_id)
        engine.save_policy(Scope(kind="user", owner="local"), {"target_ratio": 0.3})
        with pytest.raises(StaleProposalError, match="policy"):
            engine.confirm(proposal)


def test_pins_survive_compactions_and_exclusions_leave() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        engine.pin(session_id, 3)
        engine.exclude(session_id, 5)

        assert engine.compact(session_id) is not None

        context = engine.context(session_id)
        assert context.verdict(3).verdict == "kept"
        assert context.verdict(5).reason.code == VerdictCode.EXCLUDED
        assert engine.unpin(session_id, 3)
        assert engine.include(session_id, 5)


def test_an_export_that_is_imported_again_has_the_same_digest() -> None:
    with engine_with(window=1_500) as (engine, _):
        session_id = _long_session(engine)
        engine.pin(session_id, 1)
        engine.save_policy(Scope(kind="session", owner=session_id), {"trigger_ratio": 0.7})
        ended(engine.chat(session_id, "what is next? \x00"))
        engine.append(session_id, [{"role": "user", "content": "half a pair \ud800"}])
        engine.compact(session_id)
        engine.undo(session_id)

        [copy] = engine.import_(engine.export(session_id), name="copy.jsonl")

        assert copy.id != session_id
        assert engine.digest(copy.id) == engine.digest(session_id)
        assert engine.export(copy.id).splitlines()[-1] == engine.export(session_id).splitlines()[-1]
        assert engine.context(copy.id).messages == engine.context(session_id).messages


def test_a_fork_copies_up_to_a_block_and_knows_its_parent() -> None:
    with engine_with() as (engine, _):
        session_id = _long_session(engine)

        fork = engine.fork(session_id, 4, title="another way")

        assert (fork.parent_id, fork.length, fork.title) == (session_id, 5, "another way")


def test_openai_and_markdown_exports_hold_what_was_said() -> None:
    with engine_with() as (engine, _):
        session_id = _long_session(engine, turns=2)

        body = json.loads(engine.export(session_id, "openai"))

        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant"]
        assert "> Question 1 about ORD-1." in engine.export(session_id, "markdown")


def test_a_cut_or_damaged_export_is_refused_whole() -> None:
    with engine_with() as (engine, _):
        session_id = _long_session(engine, turns=2)
        text = engine.export(session_id)
        cut = "\n".join(text.splitlines()[:-2])

        with pytest.raises(ImportRefusedError, match="cut short"):
            engine.import_(cut, name="cut.jsonl")
        with pytest.raises(ImportRefusedError, match=r"x\.jsonl, line 4"):
            engine.import_(text.replace('"role":"user"', '"role":"nobody"', 1), name="x.jsonl")

        assert len(engine.sessions()) == 1


def _claude_code_lines() -> str:
    said = {"role": "user", "content": "Fix the build"}
    answer = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Fixed it."}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5},
    }
    summary = {"role": "user", "content": "The build was fixed."}
    after = {"role": "user", "content": "Now the tests"}
    boundary = {"trigger": "auto", "preTokens": 1000}
    lines: list[dict[str, object]] = [
        {"type": "user", "uuid": "u1", "message": said},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": answer},
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "b1",
            "logicalParentUuid": "a1",
            "compactMetadata": boundary,
        },
        {
            "type": "user",
            "uuid": "u2",
            "parentUuid": "b1",
            "isCompactSummary": True,
            "message": summary,
        },
        {"type": "user", "uuid": "u3", "parentUuid": "u2", "message": after},
    ]
    return "\n".join(json.dumps({"sessionId": "s", **line}) for line in lines)


def test_a_transcript_is_previewed_then_imported_with_its_compaction_and_usage() -> None:
    text = _claude_code_lines()
    with engine_with() as (engine, _):
        [preview] = engine.preview_import(text, name="claude.jsonl")
        [session] = engine.import_(text, name="claude.jsonl")

        assert (preview.messages, preview.compactions) == (3, 1)
        assert session.origin == "claude-code"
        [call] = engine.store.calls(session.id)
        assert (call.input_tokens, call.cached_tokens, call.is_imported) == (100, 90, True)
        context = engine.context(session.id, model="gpt-4o")
        assert "The build was fixed." in str(context.messages)
        assert context.verdict(1).verdict == "summarized"
        engine.undo(session.id)
        assert engine.context(session.id, model="gpt-4o").verdict(1).verdict == "kept"


def test_a_file_that_is_no_conversation_is_refused_with_a_sentence() -> None:
    with engine_with() as (engine, _), pytest.raises(FormatError):
        engine.import_("[1, 2, 3]", name="numbers.json")


def test_a_wrong_threshold_is_refused_with_field_value_and_range() -> None:
    scope = Scope(kind="user", owner="local")
    with engine_with() as (engine, _):
        with pytest.raises(PolicyError, match=r"trigger_ratio.*17.*0\.01 to 1"):
            engine.save_policy(scope, {"trigger_ratio": 17})
        with pytest.raises(PolicyError, match="no_such_field"):
            engine.save_policy(scope, {"no_such_field": 1})


def test_the_narrowest_layer_wins_and_operators_edit_everyones() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.create_user("eve", group="support")
        engine.save_policy(Scope(), {"trigger_ratio": 0.7, "target_ratio": 0.3})
        engine.save_policy(Scope(kind="user", owner="local"), {"trigger_ratio": 0.6})
        engine.save_policy(Scope(kind="session", owner=session.id), {"trigger_ratio": 0.5})
        eve = ContextEngine(engine.store, user_id="eve")

        effective = engine.policy(session.id)

        assert effective.policy.trigger_ratio == 0.5
        assert effective.source("trigger_ratio") == "session"
        assert effective.source("target_ratio") == "default"
        assert effective.source("fresh_turns") == "preset default"
        with pytest.raises(NotAllowedError):
            eve.save_policy(Scope(kind="user", owner="local"), {"trigger_ratio": 0.9})
        with pytest.raises(NotAllowedError):
            eve.assign(session.id, "eve")
        engine.assign(session.id, "eve")
        assert eve.session(session.id).user_id == "eve"


def test_what_was_deleted_long_ago_is_erased() -> None:
    with engine_with() as (engine, _):
        old, kept = _long_session(engine, turns=1), _long_session(engine, turns=1)
        engine.store.delete(old, at=START - timedelta(days=31))
        engine.delete(kept)

        assert engine.purge_expired() == [old]
        assert [session.id for session in engine.sessions(deleted=True)] == [kept]


def test_delete_hides_and_purge_erases() -> None:
    with engine_with() as (engine, _):
        session_id = _long_session(engine, turns=1)

        engine.delete(session_id)
        assert engine.sessions() == []
        assert [session.id for session in engine.sessions(deleted=True)] == [session_id]
        engine.restore(session_id)
        assert [session.id for session in engine.sessions()] == [session_id]
        engine.purge(session_id)

        assert engine.sessions() == engine.sessions(deleted=True) == []
        assert engine.search("ORD-0") == []


def test_a_rich_session_comes_back_whole() -> None:
    with engine_with(window=1_500) as (engine, _):
        session_id = _long_session(engine)
        calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        engine.append(
            session_id,
            [
                {"role": "user", "content": "一\u2028二\u2029三\x85四\x0b\x0c\x1c\ud800\x00 fünf"},
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c", "content": "line of output\n" * 400},
            ],
        )
        engine.set_goal(session_id, 3)
        engine.exclude(session_id, 4)
        for number in range(12):  # more than nine, so that ids do not sort as numbers do
            ended(engine.chat(session_id, f"and {number}?"))
        for _ in range(2):
            engine.compact(session_id)
        engine.undo(session_id)
        fork = engine.fork(session_id, 20)

        for one in (session_id, fork.id):
            text = engine.export(one)
            [copy] = engine.import_(text, name="copy.jsonl")
            assert engine.digest(copy.id) == engine.digest(one)
            assert engine.session(copy.id).goal_seq == engine.session(one).goal_seq
            [again] = engine.import_("\ufeff" + text.replace("\n", "\r\n"), name="windows.jsonl")
            assert engine.digest(again.id) == engine.digest(one)


def test_what_another_product_compacted_comes_back_too() -> None:
    with engine_with() as (engine, _):
        [session] = engine.import_(_claude_code_lines(), name="claude.jsonl")

        [copy] = engine.import_(engine.export(session.id), name="copy.jsonl")

        assert engine.digest(copy.id) == engine.digest(session.id)
        kept = engine.store.imported_compactions(copy.id)
        assert kept == engine.store.imported_compactions(session.id)
        assert len(kept) == 1


def test_an_export_with_many_tools_is_known_as_one() -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "words " * 2_000}}
    with engine_with() as (engine, _):
        session = engine.create_session(tools=[tool])

        [copy] = engine.import_(engine.export(session.id), name="copy.jsonl")

        assert copy.tools == session.tools


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("settings", {"overrides": {"no_such_field": 1}}),
        ("settings", {"goal": "first"}),
        ("settings", {"working": None}),
        ("settings", {"working": {"memories": "Ada likes blue."}}),
        ("settings", {"working": {"mood": "good"}}),
        ("message", {"seq": 7}),
        ("message", {"message": None}),
        ("message", {"at": "yesterday"}),
        ("message", {"type": "massage"}),
        ("mark", {"seq": 99}),
        ("mark", {"kind": "star"}),
        ("compaction", {"parent": 5}),
        ("compaction", {"record": {"covered_until": "all"}}),
        ("compaction", {"record": {"covered_until": 500}}),
        ("compaction", {"record": {"covered_until": 2, "kept": 3}}),
        ("call", {"runs": [[1]]}),
        ("call", {"purpose": None}),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_written(
    kind: str, changes: dict[str, object]
) -> None:
    with engine_with(window=1_500) as (engine, _):
        session_id = _long_session(engine)
        engine.pin(session_id, 3)
        ended(engine.chat(session_id, "go on"))
        engine.compact(session_id)
        lines = engine.export(session_id).rstrip("\n").split("\n")
        at = next(n for n, line in enumerate(lines) if json.loads(line)["type"] == kind)
        lines[at] = json.dumps({**json.loads(lines[at]), **changes})

        with pytest.raises(ImportRefusedError, match=rf"x\.jsonl, line {at + 1}:"):
            engine.import_("\n".join(lines), name="x.jsonl")

        assert len(engine.sessions()) == 1


def test_a_changed_word_is_found_by_the_digest() -> None:
    with engine_with() as (engine, _):
        session_id = _long_session(engine, turns=2)
        changed = engine.export(session_id).replace("it is ready", "it is broken", 1)

        with pytest.raises(ImportRefusedError, match="digest"):
            engine.import_(changed, name="x.jsonl")


def test_undo_and_redo_walk_along_the_newest_branch() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _long_session(engine)
        first = engine.compact(session_id)
        engine.undo(session_id)
        second = engine.compact(session_id)
        engine.append(session_id, [{"role": "user", "content": "more words " * 60}])
        third = engine.compact(session_id)
        made = [info.id for info in (first, second, third) if info]

        undone = [info.id for _ in range(3) if (info := engine.undo(session_id))]
        redone = [info.id for _ in range(3) if (info := engine.redo(session_id))]

        assert len(made) == 3
        assert undone == [made[2], made[1]]
        assert redone == [made[1], made[2]]


class _Failing:
    """A summarizer that never has anything to say."""

    name = "failing"

    def __init__(self) -> None:
        self.asked = 0

    def summarize(self, request: SummaryRequest) -> str:
        """Nothing but an error."""
        self.asked += 1
        raise SummarizerError(problem="it is out of order")


def test_after_three_failures_nothing_is_tried_until_a_person_asks() -> None:
    with engine_with(window=4_000) as (engine, model):
        failing = _Failing()
        other = ContextEngine(
            engine.store, gateway=LiteLLMGateway(), model=model.model, summarizer=failing
        )
        session_id = _long_session(other, turns=22)
        other.save_policy(Scope(kind="session", owner=session_id), {"trigger_ratio": 0.3})

        for number in range(6):
            ended(other.chat(session_id, f"go on {number}"))
            other.wait(session_id)  # rules are checked in the background
        assert failing.asked == 3

        assert other.compact(session_id) is None
        assert failing.asked == 4
        assert engine.compact(session_id) is not None


def test_an_export_made_before_records_knew_their_source_still_imports() -> None:
    """The file was written when a record had no source, summarizer or time of its own."""
    text = (Path(__file__).parent / "exports" / "version_1.jsonl").read_text(encoding="utf-8")
    with engine_with(window=2_000) as (engine, _):
        [session] = engine.import_(text, name="version_1.jsonl")

        [info] = engine.compactions(session.id)
        assert session.active_compaction_id == info.id
        assert (info.compaction.seen_until, info.compaction.source_tokens) == (0, 0)
        assert info.compaction.facts_lost is None
        assert "<conversation_summary>" in str(engine.context(session.id).messages)
        copy, *_ = engine.import_(engine.export(session.id))
        assert engine.digest(copy.id) == engine.digest(session.id)
        assert ended(engine.chat(session.id, "and back?")).state == "done"
