"""What every store keeps; runs on SQLite, in a file and in memory, and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import make_url

from benchmarks.statements import statements_run
from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.history import Anchors, ListHistory, Totals
from ctxcore.assembly.records import EMPTY_WORKING_STATE, Compaction, WorkingState
from ctxcore.assembly.verdicts import Run
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdit
from ctxcore.messages.values import JsonObject, Message, ToolCall, text_message, tool_result
from ctxcore.migrations import HEAD
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode, VerdictCode
from ctxcore.reasons.problems import ProviderProblem
from ctxcore.reasons.report_codes import AlertCode
from ctxcore.reasons.storage_problems import JobProblem
from ctxcore.reasons.values import TextCode
from ctxcore.store import SessionStore, open_store
from ctxcore.store.errors import (
    CountsMissingError,
    DatabaseError,
    LastOperatorError,
    LeaseTakenError,
    RecordNotFoundError,
    SessionNotFoundError,
    StaleCompactionError,
    StaleTurnError,
    UnknownCounterError,
)
from ctxcore.store.values import (
    BRANCH,
    AuditEntry,
    CallInfo,
    Claim,
    ImportedCompaction,
    JobInfo,
    LeaseInfo,
    Scope,
    SessionConditions,
    SignalInfo,
    Staging,
)
from ctxcore.tokens.count import counter_by_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=1)
LATER = NOON + timedelta(hours=1)


@dataclass(frozen=True)
class Words:
    """Counts words: sizes that a reader can check."""

    id: str = "words"
    is_exact: bool = True

    def count(self, text: str) -> int:
        return len(text.split())


WORDS = Words()
DEAD = Claim(holder="dead")
CHARS = counter_by_id("estimate:o200k")


@pytest.fixture(params=["in_file", "in_memory", "on_postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "on_postgres":
        return str(request.getfixturevalue("postgres_url"))
    return "sqlite://" if request.param == "in_memory" else f"sqlite:///{tmp_path / 'chat.db'}"


@pytest.fixture
def store(store_url: str) -> Iterator[SessionStore]:
    store = open_store(store_url)
    store.create_user("ada", at=NOON)
    store.create_session("s", user_id="ada", at=NOON)
    yield store
    store.close()


def user(text: str) -> Message:
    return text_message("user", text)


def assistant(text: str) -> Message:
    return text_message("assistant", text)


def calling(*names: str) -> Message:
    calls = tuple(ToolCall(id=f"c{at}", name=name, arguments="{}") for at, name in enumerate(names))
    return Message(role="assistant", calls=calls)


def append(store: SessionStore, *messages: Message, session_id: str = "s") -> list[int]:
    return store.append(session_id, messages, counter=WORDS, at=NOON)


def texts(store: SessionStore, session_id: str = "s") -> list[str]:
    return [info.message.text for info in store.messages(session_id)]


def ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"new{next(numbers)}"


@pytest.mark.postgres
class TestTheWhole:
    def test_a_database_says_what_it_is_and_that_it_is_sound(self, store: SessionStore) -> None:
        info = store.database_info()

        assert info.sessions == 1
        assert info.size_bytes > 0
        assert info.revision == HEAD
        assert make_url(info.url).password in (None, "***")
        assert store.check_database() == ([] if info.kind == "sqlite" else None)

    def test_what_runs_fails_and_is_counted_is_found_in_all_sessions(
        self, store: SessionStore
    ) -> None:
        store.set_model("s", "m", at=NOON)
        store.begin_turn("s", "t", [user("go")], counter=WORDS, at=NOON, lease_until=LATER)
        calls = [
            CallInfo(
                id=f"c{at}",
                session_id="s",
                created_at=NOON,
                purpose="answer",
                model="m",
                counter_id="words",
                input_tokens=7,
                is_comparable=True,
                error=TextCode.TEXT(text="no") if at else None,
            )
            for at in range(2)
        ]
        store.record_calls(calls)

        assert [turn.session_id for turn in store.running_turns()] == ["s"]
        assert [call.id for call in store.failed_calls()] == ["c1"]
        assert [(one.model, one.counter_id, one.calls) for one in store.counted_models()] == [
            ("m", "words", 2)
        ]
        assert store.models_in_use() == ["m"]

    def test_a_file_is_copied_while_in_use_and_nothing_is_overwritten(
        self, store: SessionStore, tmp_path: Path
    ) -> None:
        append(store, user("hello"))
        path = tmp_path / "deeper" / "copy.db"
        url = store.database_info().url
        if not url.startswith("sqlite:////"):
            with pytest.raises(DatabaseError):
                store.back_up(path)
            return

        store.back_up(path)
        append(store, user("more"))

        copy = open_store(f"sqlite:///{path}")
        assert texts(copy) == ["hello"]
        copy.close()
        with pytest.raises(DatabaseError):
            store.back_up(path)


class TestUsersAndSessions:
    def test_a_new_session_is_empty_and_belongs_to_its_user(self, store: SessionStore) -> None:
        session = store.session("s")

        assert (session.user_id, session.length, session.counter_id) == ("ada", 0, None)
        assert session.created_at == NOON

    def test_making_a_user_twice_keeps_the_first(self, store: SessionStore) -> None:
        store.update_user("ada", name="Ada", is_operator=True)

        again = store.create_user("ada", at=LATER, name="Someone else")

        assert (again.name, again.is_operator, again.created_at) == ("Ada", True, NOON)
        assert [found.id for found in store.list_users()] == ["ada"]

    def test_of_users_that_come_at_once_one_has_all_roles(self, store_url: str) -> None:
        with closing(open_store(store_url)) as store, ThreadPoolExecutor(8) as pool:
            begun = [
                pool.submit(store.create_user, f"u{at}", at=NOON, first_has_roles=True)
                for at in range(8)
            ]
            made = [one.result() for one in begun]

        assert [(one.is_operator, one.is_auditor) for one in made].count((True, True)) == 1
        assert [(one.is_operator, one.is_auditor) for one in made].count((False, False)) == 7

    def test_roles_are_set_with_a_record_and_the_last_operator_stays(
        self, store: SessionStore
    ) -> None:
        store.update_user("ada", is_operator=True)
        store.create_user("ben", at=NOON)
        made = AuditEntry(
            created_at=NOON, user_id="ada", action="roles", owner_id="ben", is_operator=True
        )

        assert store.set_roles(made).is_operator
        store.set_roles(made)  # the same again
        store.set_roles(replace(made, owner_id="ada", is_operator=False))
        with pytest.raises(LastOperatorError):
            store.set_roles(replace(made, is_operator=False))

        assert [one.owner_id for one in store.audit_records()] == ["ada", "ben"]
        assert store.user("ben").is_operator
        assert not store.set_roles(
            replace(made, is_operator=False), keeps_operator=False
        ).is_operator

    def test_records_of_reading_outlive_the_session_until_their_time(
        self, store: SessionStore
    ) -> None:
        read = AuditEntry(
            created_at=NOON, user_id="eve", action="open", owner_id="ada", session_id="s"
        )
        store.record_audit([read, replace(read, action="export", created_at=LATER)])
        store.record_audit([replace(read, owner_id="ben", session_id="t")])
        store.record_audit([replace(read, owner_id=None, session_id=None, action="backup")])
        store.record_audit([])

        store.purge("s")

        found = store.audit_records(concerning="ada")
        assert [one.action for one in found] == ["backup", "export", "open"]
        assert store.audit_records(concerning="ada", before_id=found[1].id) == [found[2]]
        assert store.audit_records(limit=1) == [found[0]]
        assert store.purge_audit(before=LATER) == 3
        assert [one.action for one in store.audit_records()] == ["export"]

    def test_a_session_needs_a_user_that_exists(self, store: SessionStore) -> None:
        with pytest.raises(DatabaseError):
            store.create_session("t", user_id="nobody", at=NOON)

    def test_a_session_that_is_not_there_is_named(self, store: SessionStore) -> None:
        with pytest.raises(SessionNotFoundError) as caught:
            append(store, user("hi"), session_id="gone")

        assert caught.value.session_id == "gone"

    @pytest.mark.parametrize(
        "said",
        [
            WorkingState(memories=("lone \ud800", "NUL \x00"), tasks="[x] 备份", changes="+9 −1"),
            WorkingState(memories=(), tasks=""),
            WorkingState(tasks="2 of 3 done"),
        ],
    )
    def test_what_an_application_says_of_its_work_comes_back(
        self, store: SessionStore, said: WorkingState
    ) -> None:
        assert store.session("s").working == EMPTY_WORKING_STATE

        store.set_working_state("s", WorkingState(changes="before"))
        store.set_working_state("s", said)

        assert store.session("s").working == said
        assert [one.working for one in store.list_sessions("ada")] == [said]
        store.set_working_state("s", EMPTY_WORKING_STATE)
        assert store.session("s").working == EMPTY_WORKING_STATE

    def test_the_work_of_a_session_that_is_not_there_is_refused(self, store: SessionStore) -> None:
        with pytest.raises(SessionNotFoundError):
            store.set_working_state("gone", WorkingState(tasks="none"))

    def test_sessions_are_listed_by_user_the_last_changed_first(self, store: SessionStore) -> None:
        store.create_user("bob", at=NOON)
        store.create_session("t", user_id="ada", at=SOON, title="About 50% of it")
        store.create_session("b", user_id="bob", at=LATER)

        assert [found.id for found in store.list_sessions("ada")] == ["t", "s"]
        assert [found.id for found in store.list_sessions()] == ["b", "t", "s"]
        assert [found.id for found in store.list_sessions("ada", limit=1, offset=1)] == ["s"]
        assert [found.id for found in store.list_sessions(title="50%")] == ["t"]
        assert store.count_sessions("ada") == 2

    def test_listed_sessions_can_be_asked_what_they_have_in_common(
        self, store: SessionStore
    ) -> None:
        store.create_session("t", user_id="ada", at=LATER, model="openai/GPT-4o", origin="openai")
        append(store, user("one"), assistant("two"))
        store.record_imported_compactions("t", [ImportedCompaction(before_seq=1, summary="x")])

        def found(**wanted: Any) -> list[str]:
            where = SessionConditions(**wanted)
            ids = [one.id for one in store.list_sessions("ada", where=where)]
            assert store.count_sessions("ada", where=where) == len(ids)
            return ids

        assert found() == ["t", "s"]
        assert found(model="gpt-4") == ["t"]
        assert found(is_imported=True) == ["t"]
        assert found(is_imported=False) == ["s"]
        assert found(is_compacted=True) == ["t"]
        assert found(is_compacted=False) == ["s"]
        assert found(least_messages=2) == ["s"]
        assert found(changed_from=LATER) == ["t"]
        assert found(changed_before=LATER) == ["s"]
        assert found(changed_before=NOON) == []

    def test_a_branch_moves_the_session_it_is_of(self, store: SessionStore) -> None:
        store.create_session("t", user_id="ada", at=SOON)
        store.create_session("b", user_id="ada", at=NOON, origin=BRANCH, parent_id="s")
        store.create_session("c", user_id="ada", at=LATER, origin=BRANCH, parent_id="b")

        found = store.list_sessions("ada", listed="unbranched")
        store.delete("b", at=LATER)

        assert [(one.id, one.updated_at) for one in found] == [("s", LATER), ("t", SOON)]
        after = store.list_sessions("ada", listed="unbranched")
        assert [one.id for one in after] == ["c", "t", "s"]

    def test_a_session_can_be_renamed_moved_to_another_model_and_given_away(
        self, store: SessionStore
    ) -> None:
        store.create_user("bob", at=NOON)

        store.rename("s", "Engine\x00room \ud800", at=SOON)
        store.set_model("s", "gpt-4o", at=SOON)
        store.assign("s", "bob")

        session = store.session("s")
        assert session.title == "Engine\ufffdroom \ufffd"
        assert (session.model, session.user_id, session.updated_at) == ("gpt-4o", "bob", SOON)

    def test_ids_are_found_by_how_they_begin(self, store: SessionStore) -> None:
        store.create_user("other", at=NOON)
        for session_id in ("ab1", "ab2", "AB3", "a_4"):
            store.create_session(session_id, user_id="ada", at=NOON)
        store.create_session("ab5", user_id="other", at=NOON)
        store.delete("ab2", at=NOON)

        assert store.session_ids("ada", beginning="ab") == ["ab1", "ab2"]
        assert store.session_ids(beginning="ab") == ["ab1", "ab2", "ab5"]
        assert store.session_ids("ada", beginning="a_") == ["a_4"]
        assert set(store.session_ids("other")) == {"ab5"}

    def test_deleting_hides_and_restoring_brings_back_everything(self, store: SessionStore) -> None:
        append(store, user("hello there my friend"))

        store.delete("s", at=SOON)
        assert store.list_sessions("ada") == []
        assert [found.id for found in store.list_sessions("ada", listed="deleted")] == ["s"]
        assert store.search("ada", "friend") == []
        store.restore("s")

        assert [found.id for found in store.list_sessions("ada")] == ["s"]
        assert texts(store) == ["hello there my friend"]

    def test_purging_erases_a_session_with_all_that_was_recorded(self, store: SessionStore) -> None:
        append(store, user("a secret word"))
        store.record_compaction("s", "k", Compaction(covered_until=1), parent_id=None, at=NOON)
        store.save_policy(
            Scope(kind="session", owner="s"), {"trigger_ratio": 0.5}, by="ada", at=NOON
        )

        store.purge("s")

        with pytest.raises(SessionNotFoundError):
            store.session("s")
        assert store.search("ada", "secret") == []
        assert store.compactions("s") == []
        assert store.policy(Scope(kind="session", owner="s")) is None

    def test_only_what_was_deleted_long_ago_is_purged(self, store: SessionStore) -> None:
        store.create_session("t", user_id="ada", at=NOON)
        store.create_session("u", user_id="ada", at=NOON)
        store.delete("s", at=NOON)
        store.delete("t", at=LATER)

        assert store.purge_deleted(before=SOON) == ["s"]

        assert {found.id for found in store.list_sessions(listed="all")} == {"t", "u"}

    def test_a_staged_session_is_in_no_list_until_it_is_published(
        self, store: SessionStore
    ) -> None:
        staging = Staging(id="one import", lease_until=LATER)
        for session_id in ("t", "u"):
            store.create_session(session_id, user_id="ada", at=NOON, staging=staging)
            append(store, user("half"), session_id=session_id)
        listed = [store.list_sessions(listed=every) for every in ("present", "all", "unbranched")]
        found = store.search("ada", "half")
        hidden = (listed, store.count_sessions("ada"), store.session_ids(), found)

        store.publish("one import", ["t", "u"], settings={"noted": True})

        assert [[one.id for one in found] for found in hidden[0]] == [["s"]] * 3
        assert hidden[1:] == (1, ["s"], [])
        assert store.session_ids() == ["s", "t", "u"]
        assert {hit.session_id for hit in store.search("ada", "half")} == {"t", "u"}
        assert store.setting("noted") is True
        assert store.purge_staged(at=LATER + timedelta(days=1)) == []

    def test_a_staged_session_is_erased_once_its_lease_has_ended(self, store: SessionStore) -> None:
        for session_id, staging_id in (("t", "killed"), ("u", "at work")):
            staging = Staging(id=staging_id, lease_until=SOON, holder="here")
            store.create_session(session_id, user_id="ada", at=NOON, staging=staging)
        later = LATER + timedelta(hours=1)
        assert store.renew_leases({"at work"}, holder="here", expires_at=later) == {"at work"}

        assert store.purge_staged(at=NOON) == []
        assert store.purge_staged(at=LATER) == ["t"]

        with pytest.raises(SessionNotFoundError):
            store.session("t")
        assert store.session("u").id == "u"

    def test_sessions_are_published_together_or_not_at_all(self, store: SessionStore) -> None:
        staging = Staging(id="one import", lease_until=LATER)
        for session_id in ("t", "u"):
            store.create_session(session_id, user_id="ada", at=NOON, staging=staging)
        store.purge("t")

        with pytest.raises(SessionNotFoundError):
            store.publish("one import", ["t", "u"], settings={"noted": True})

        assert store.session_ids() == ["s"]
        assert store.setting("noted") is None
        assert store.purge_staged(at=NOON, staging_id="one import") == ["u"]

    def test_a_session_is_made_with_its_first_messages(self, store: SessionStore) -> None:
        first = [text_message("system", "Answer briefly."), user("hello")]

        made = store.create_session("t", user_id="ada", at=NOON, messages=first, counter=WORDS)

        assert made.length == made.indexed_until == 2
        assert [info.message for info in store.messages("t")] == first
        assert append(store, user("and then"), session_id="t") == [3]


@pytest.mark.postgres
class TestHistories:
    def test_messages_are_numbered_from_one_in_the_order_they_came(
        self, store: SessionStore
    ) -> None:
        assert append(store, user("one"), assistant("two")) == [1, 2]
        assert append(store, user("three")) == [3]

        assert texts(store) == ["one", "two", "three"]
        assert [info.seq for info in store.messages("s", 2, 3)] == [2, 3]
        assert [info.seq for info in store.messages("s", 2, role="user")] == [3]

    def test_appending_nothing_changes_nothing(self, store: SessionStore) -> None:
        assert append(store) == []
        assert store.session("s").length == 0

    def test_every_part_of_a_message_survives(self, store: SessionStore) -> None:
        odd = Message(
            role="assistant",
            content=user("lone \ud800, NUL \x00, 猫, 🙂").content,
            calls=(ToolCall(id="c\udfff", name="find", arguments='{"q":"\x00"}'),),
            action="look\ud83d",
            extra='{"cache":"\\ud800"}',
        )

        append(store, odd)

        assert store.messages("s")[0].message == odd

    def test_a_tool_result_joins_the_block_of_its_call_across_appends(
        self, store: SessionStore
    ) -> None:
        append(store, user("go"), calling("find", "read"))
        append(store, tool_result("c0", "found"))
        append(store, tool_result("c1", "text"), assistant("done"))

        infos = store.messages("s")

        assert [info.block for info in infos] == [1, 2, 2, 2, 5]
        assert [info.function_name for info in infos] == ["", "", "find", "read", ""]

    def test_the_session_knows_its_anchors(self, store: SessionStore) -> None:
        append(store, text_message("system", "be kind"), user("hi"), user("build a boat"))
        append(store, assistant("how long?"), text_message("developer", "be brief"), user("long"))

        expected = Anchors(system=(1, 5), goal=3, last_user=6)
        assert store.view("s").anchors() == expected
        store.set_goal("s", 6)
        assert store.view("s").anchors() == replace(expected, goal=6)

    def test_a_tool_output_over_the_limit_is_stored_whole_and_shortened(
        self, store: SessionStore
    ) -> None:
        output = "\n".join(f"line {at} of the log" for at in range(200))
        messages = [user("go"), calling("read"), tool_result("c0", output)]

        store.append("s", messages, counter=WORDS, at=NOON, oversize_tokens=100)

        row = store.view("s").get([3])[0]
        assert row.message.text == output
        assert row.tokens > 1000 > 100 >= row.sent_tokens
        assert store.messages("s")[2].short == row.short

    def test_an_output_appended_alone_is_shortened_for_the_request_before_it(
        self, store: SessionStore
    ) -> None:
        output = "\n".join(f"berth K-{at:03d} is {at * 7} cm deep" for at in range(200))
        messages = [user("how deep is K-123?"), calling("read"), tool_result("c0", output)]

        for message in messages:
            store.append("s", [message], counter=WORDS, at=NOON, oversize_tokens=100)

        [row] = store.view("s").get([3])
        assert "K-123 is 861" in str(row.short)
        assert row == ListHistory(messages, WORDS, oversize_tokens=100).get([3])[0]

    def test_a_short_text_that_is_known_already_is_taken_as_it_is(
        self, store: SessionStore
    ) -> None:
        messages = [calling("read"), tool_result("c0", "a long output " * 50)]

        store.append("s", messages, counter=WORDS, at=NOON, shorts=[None, "an output"])

        row = store.view("s").get([2])[0]
        assert (row.short, row.short_tokens) == ("an output", 2 + 1 + 10)
        assert store.view("s").totals().tokens == store.view("s").get([1])[0].tokens + 13

    def test_a_view_stays_as_it_was_when_it_was_made(self, store: SessionStore) -> None:
        append(store, user("one"))
        view = store.view("s")

        append(store, user("two"))

        assert view.count() == 1
        assert view.totals() == Totals(messages=1, tokens=5)
        assert [row.seq for row in view.tail(1000)] == [1]

    def test_a_context_is_the_same_from_the_store_as_from_a_list(self, store: SessionStore) -> None:
        log = "\n".join(f"step {at} went well" for at in range(80))
        turns = [
            message
            for at in range(12)
            for message in (user(f"please do {at}"), calling("run"), tool_result("c0", log))
        ]
        messages = [text_message("system", "be kind"), *turns, user("and now?")]
        policy = Policy.preset("default")
        budget = policy.budget(window_tokens=1_600)
        limit = int(budget.usable_tokens * (policy.oversize_ratio or 1))
        listed = ListHistory(messages, WORDS, pinned=[3], excluded=[6], oversize_tokens=limit)

        store.append("s", messages, counter=WORDS, at=NOON, oversize_tokens=limit)
        store.add_mark("s", 3, "pin", at=NOON)
        store.add_mark("s", 6, "exclude", at=NOON)

        active = Compaction(covered_until=10, summary="It went well.", kept=(4,), pins=(3, 4))
        call = Call(policy=policy, counter=WORDS, budget=budget)
        for record in (None, active):
            stored = build_context(store.view("s"), call, record)
            assert stored.messages == build_context(listed, call, record).messages
            assert stored.runs == build_context(listed, call, record).runs

    def test_times_of_an_import_are_kept(self, store: SessionStore) -> None:
        store.append("s", [user("a"), user("b")], counter=WORDS, at=LATER, times=[NOON, None])

        assert [info.created_at for info in store.messages("s")] == [NOON, LATER]

    def test_appends_of_many_threads_all_arrive_in_one_order(self, store: SessionStore) -> None:
        def work(worker: int) -> None:
            for at in range(10):
                append(store, user(f"message {worker} {at}"), tool_result("c", "message"))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

        infos, view = store.messages("s"), store.view("s")
        assert [info.seq for info in infos] == list(range(1, 161))
        assert [info.block for info in infos] == list(range(1, 161))
        assert sum(view.sizes(1, 160)) == view.spans_tokens([(1, 160)])[0]
        assert len(store.search("ada", "message", limit=1_000)) == 160


class TestCounters:
    def test_another_counter_is_refused_until_the_recount_is_through(
        self, store: SessionStore
    ) -> None:
        append(store, *(user(f"message {at}") for at in range(5)))
        seen: list[tuple[int, int]] = []

        with pytest.raises(CountsMissingError):
            store.view("s", CHARS.id)
        store.recount("s", CHARS, batch_messages=2, on_progress=lambda *now: seen.append(now))

        assert seen == [(2, 5), (4, 5), (5, 5)]
        assert store.has_counts("s", CHARS.id)
        assert store.session("s").counter_id == CHARS.id
        listed = ListHistory([info.message for info in store.messages("s")], CHARS)
        assert store.view("s").totals() == listed.totals()

    def test_the_own_counter_is_carried_on_while_another_one_appends(
        self, store: SessionStore
    ) -> None:
        store.append("s", [user("one two")], counter=CHARS, at=NOON)

        append(store, user("three four five"))

        assert store.session("s").counter_id == CHARS.id
        assert not store.has_counts("s", WORDS.id)
        store.recount("s", WORDS)
        assert store.view("s").totals() == Totals(messages=2, tokens=4 + 2 + 4 + 3)

    def test_a_counter_of_the_callers_own_must_go_on_or_be_replaced(
        self, store: SessionStore
    ) -> None:
        append(store, user("one"))

        with pytest.raises(UnknownCounterError, match="recount"):
            store.append("s", [user("two")], counter=CHARS, at=NOON)
        store.recount("s", CHARS)

        assert store.append("s", [user("two")], counter=CHARS, at=NOON) == [2]

    def test_until_then_sizes_are_estimated_from_the_own_counter(self, store: SessionStore) -> None:
        append(
            store, *(user("a few words of a message that is like the others") for _ in range(50))
        )

        estimated = store.estimated_view("s", CHARS)
        store.recount("s", CHARS)
        counted = store.view("s", CHARS.id)

        assert estimated.totals() == counted.totals()
        assert estimated.tail(100) == counted.tail(100)
        assert estimated.anchors() == counted.anchors()
        assert estimated.spans_tokens([(2, 9)])[0] == counted.spans_tokens([(2, 9)])[0]

    def test_an_empty_history_can_be_estimated(self, store: SessionStore) -> None:
        append(store, text_message("system", "be kind"))

        assert store.estimated_view("s", CHARS).totals() == Totals()

    def test_shortened_outputs_stay_shortened_under_another_counter(
        self, store: SessionStore
    ) -> None:
        output = "\n".join(f"line {at} of the log" for at in range(200))
        messages = [calling("read"), tool_result("c0", output)]
        store.append("s", messages, counter=WORDS, at=NOON, oversize_tokens=100)

        store.recount("s", CHARS)

        row = store.view("s").get([2])[0]
        assert row.short is not None
        assert row.sent_tokens < row.tokens

    def test_an_empty_session_has_a_view(self, store: SessionStore) -> None:
        view = store.view("s", WORDS.id)

        assert (view.count(), view.totals(), list(view.tail(10))) == (0, Totals(), [])


class TestForks:
    def test_a_fork_copies_whole_blocks_with_their_sizes_and_words(
        self, store: SessionStore
    ) -> None:
        append(store, user("find the pelican"), calling("find"), tool_result("c0", "here"))
        append(store, assistant("done"), user("now the heron"))

        fork = store.fork("s", 2, fork_id="f", new_id=ids(), at=LATER)

        assert (fork.length, fork.parent_id, fork.parent_seq) == (3, "s", 3)
        assert (fork.created_at, fork.last_user_seq, fork.goal_seq) == (LATER, 1, 1)
        assert store.view("f").totals().tokens == store.view("s").spans_tokens([(1, 3)])[0]
        assert {hit.session_id for hit in store.search("ada", "pelican")} == {"s", "f"}
        assert [hit.session_id for hit in store.search("ada", "heron")] == ["s"]

    def test_a_fork_goes_its_own_way(self, store: SessionStore) -> None:
        append(store, user("one"), calling("find"))
        store.fork("s", 2, fork_id="f", new_id=ids(), at=LATER)

        append(store, tool_result("c0", "here"), session_id="f")

        assert [info.block for info in store.messages("f")] == [1, 2, 2]
        assert store.session("s").length == 2

    def test_a_fork_takes_the_marks_settings_and_compactions_that_fit(
        self, store: SessionStore
    ) -> None:
        append(store, *(user(f"message {at}") for at in range(6)))
        store.add_mark("s", 1, "pin", at=NOON)
        store.add_mark("s", 5, "pin", at=NOON)
        store.save_policy(Scope(kind="session", owner="s"), {"fresh_turns": 3}, by="ada", at=NOON)
        early = Compaction(covered_until=2, summary="early", shortened=((3, "a"), (6, "b")))
        store.record_compaction("s", "k1", early, parent_id=None, at=NOON)
        store.record_compaction("s", "k2", Compaction(covered_until=5), parent_id="k1", at=NOON)

        store.fork("s", 4, fork_id="f", new_id=ids(), at=LATER)

        active = store.active_compaction("f")
        assert active is not None
        assert active.compaction == replace(early, shortened=((3, "a"),))
        assert [mark.seq for mark in store.marks("f")] == [1]
        own = store.policy(Scope(kind="session", owner="f"))
        assert own is not None
        assert own.overrides == {"fresh_turns": 3}

    def test_a_fork_takes_the_working_state_along_and_goes_its_own_way(
        self, store: SessionStore
    ) -> None:
        append(store, user("one"), user("two"))
        store.set_working_state("s", WorkingState(tasks="one is done"))

        fork = store.fork("s", 1, fork_id="f", new_id=ids(), at=LATER)
        store.set_working_state("s", WorkingState(tasks="both are done"))

        assert fork.working == store.session("f").working == WorkingState(tasks="one is done")

    def test_a_message_that_is_not_there_cannot_be_forked_at(self, store: SessionStore) -> None:
        with pytest.raises(RecordNotFoundError):
            store.fork("s", 1, fork_id="f", new_id=ids(), at=LATER)


class TestCompactions:
    FIRST = Compaction(
        covered_until=3,
        summary="lone \ud800 and NUL \x00",
        kept=(2,),
        shortened=((4, "short"),),
        strategies=("fold_oldest",),
        language="zh",
    )

    def test_a_compaction_comes_back_whole_and_becomes_active(self, store: SessionStore) -> None:
        made = store.record_compaction(
            "s", "k", self.FIRST, parent_id=None, at=NOON, details={"steps": [1]}
        )

        assert made.compaction == self.FIRST
        assert (made.number, made.details, made.created_at) == (1, {"steps": [1]}, NOON)
        assert store.active_compaction("s") == made == store.compaction("s", "k")

    def test_undo_and_redo_only_move_the_pointer(self, store: SessionStore) -> None:
        store.record_compaction("s", "k", self.FIRST, parent_id=None, at=NOON)

        store.activate("s", None, expected="k", at=SOON)
        assert store.active_compaction("s") is None
        store.activate("s", "k", expected=None, at=SOON)

        assert store.session("s").active_compaction_id == "k"
        assert [made.id for made in store.compactions("s")] == ["k"]

    def test_of_two_made_on_the_same_state_the_second_is_refused(self, store: SessionStore) -> None:
        store.record_compaction("s", "k", self.FIRST, parent_id=None, at=NOON)

        with pytest.raises(StaleCompactionError) as caught:
            store.record_compaction("s", "l", self.FIRST, parent_id=None, at=NOON)

        assert caught.value.active == "k"
        assert [made.id for made in store.compactions("s")] == ["k"]

    def test_the_undone_one_is_the_newest_made_from_the_active_one(
        self, store: SessionStore
    ) -> None:
        assert store.undone_compaction("s") is None
        store.record_compaction("s", "k", self.FIRST, parent_id=None, at=NOON)
        store.activate("s", None, expected="k", at=NOON)
        store.record_compaction("s", "l", self.FIRST, parent_id=None, at=NOON)
        assert store.undone_compaction("s") is None
        store.activate("s", None, expected="l", at=NOON)

        undone = store.undone_compaction("s")

        assert undone is not None
        assert undone.id == "l"

    def test_an_undone_one_can_be_recorded_without_becoming_active(
        self, store: SessionStore
    ) -> None:
        store.record_compaction("s", "k", self.FIRST, parent_id=None, at=NOON)

        undone = store.record_compaction(
            "s", "l", self.FIRST, parent_id="k", at=NOON, activates=False
        )

        assert (undone.number, undone.parent_id) == (2, "k")
        assert store.session("s").active_compaction_id == "k"

    def test_a_compaction_of_another_session_cannot_become_active(
        self, store: SessionStore
    ) -> None:
        store.create_session("t", user_id="ada", at=NOON)
        store.record_compaction("t", "k", self.FIRST, parent_id=None, at=NOON)

        with pytest.raises(RecordNotFoundError):
            store.activate("s", "k", expected=None, at=NOON)

    def test_compactions_of_an_imported_conversation_are_kept(self, store: SessionStore) -> None:
        recorded = [
            ImportedCompaction(before_seq=4, summary="b \ud800", before_tokens=9, trigger="auto"),
            ImportedCompaction(before_seq=2, summary="a", recorded_at=NOON),
        ]

        store.record_imported_compactions("s", recorded)

        assert store.imported_compactions("s") == recorded[::-1]

    @pytest.mark.parametrize("lost", [None, (), ("ORD-417", "不要\ud83d")])
    def test_what_a_compaction_lost_comes_back(
        self, store: SessionStore, lost: tuple[str, ...] | None
    ) -> None:
        append(store, user("a"))
        record = Compaction(covered_until=1, facts_lost=lost)

        store.record_compaction("s", "k", record, parent_id=None, at=NOON)

        assert store.compaction("s", "k").compaction.facts_lost == lost

    def test_where_a_summary_comes_from_comes_back(self, store: SessionStore) -> None:
        append(store, user("a"))
        lineage = ((0, 3, ((1, 4), (7, 7))), (4, 9, ()))
        record = Compaction(
            covered_until=1, summary="Yes. Maybe.", lineage=lineage, facts_restored=("ORD-417",)
        )

        store.record_compaction("s", "k", record, parent_id=None, at=NOON)

        read = store.compaction("s", "k").compaction
        assert read == record
        assert [(one.text, one.seqs) for one in read.sentences] == [
            ("Yes", (1, 2, 3, 4, 7)),
            (" Mayb", ()),
        ]


class TestMarks:
    def test_a_mark_counts_until_it_is_cleared(self, store: SessionStore) -> None:
        append(store, user("one"), user("two"))

        mark = store.add_mark("s", 2, "pin", at=NOON)
        assert store.add_mark("s", 2, "pin", at=SOON) == mark
        assert store.view("s").anchors().pinned == (2,)
        assert store.clear_mark("s", 2, "pin", at=LATER)

        assert not store.clear_mark("s", 2, "pin", at=LATER)
        assert store.marks("s") == []
        assert store.view("s").anchors().pinned == ()
        assert store.marks("s", with_cleared=True) == [replace(mark, cleared_at=LATER)]

    def test_a_mark_on_one_message_marks_its_whole_block(self, store: SessionStore) -> None:
        append(store, user("go"), calling("a", "b"), tool_result("c0", "x"), tool_result("c1", "y"))
        append(store, user("more"))

        store.add_mark("s", 3, "exclude", at=NOON)

        assert store.view("s").anchors().excluded == (2, 3, 4)

    def test_only_messages_that_exist_can_be_marked(self, store: SessionStore) -> None:
        with pytest.raises(RecordNotFoundError):
            store.add_mark("s", 1, "pin", at=NOON)


class TestRuleEdits:
    def test_an_edit_counts_until_it_is_taken_back(self, store: SessionStore) -> None:
        append(store, user("Never call before nine."), user("Ship on Fridays."))
        edit = RuleEdit(kind="add", seq=2, text="Ship on Fridays.")

        known = store.add_rule_edit("s", edit, by="ada", at=NOON)
        assert store.add_rule_edit("s", edit, by="bob", at=SOON) == known
        assert [entry.text for entry in store.view("s").standing()] == [
            "Never call before nine.",
            "Ship on Fridays.",
        ]
        assert store.clear_rule_edit("s", known.id, by="bob", at=LATER)

        assert not store.clear_rule_edit("s", known.id, by="bob", at=LATER)
        assert store.rule_edits("s") == []
        assert store.view("s").rule_edits() == NO_EDITS
        cleared = replace(known, cleared_by="bob", cleared_at=LATER)
        assert store.rule_edits("s", with_cleared=True) == [cleared]
        assert len(store.view("s").standing()) == 1

    def test_a_fork_takes_those_of_what_it_copies(self, store: SessionStore) -> None:
        rules = [
            f"Never {words}." for words in ("call Ada", "sell tea", "answer in verse", "go out")
        ]
        append(store, *map(user, rules))
        for seq in (1, 4):
            edit = RuleEdit(kind="dismiss", seq=seq, text=rules[seq - 1])
            store.add_rule_edit("s", edit, by="ada", at=NOON)

        store.fork("s", 3, fork_id="f", new_id=ids(), at=LATER)

        assert [known.edit.seq for known in store.rule_edits("f")] == [1]
        assert [known.set_by for known in store.rule_edits("f")] == ["ada"]
        assert [entry.seqs for entry in store.view("f").standing()] == [(2,), (3,)]
        assert [entry.seqs for entry in store.view("s").standing()] == [(2,), (3,)]

    def test_only_messages_and_edits_that_exist_can_be_edited(self, store: SessionStore) -> None:
        with pytest.raises(RecordNotFoundError):
            store.add_rule_edit("s", RuleEdit(kind="add", seq=1, text="x"), by="ada", at=NOON)
        with pytest.raises(RecordNotFoundError):
            store.clear_rule_edit("s", 7, by="ada", at=NOON)


class TestPolicies:
    def test_every_save_is_a_version_and_the_newest_counts(self, store: SessionStore) -> None:
        scope = Scope(kind="user_model", owner="ada", model="gpt-4o")

        first = store.save_policy(scope, {"trigger_ratio": 0.7}, by="ada", at=NOON)
        second = store.save_policy(scope, {}, by="ada", at=SOON)

        assert (first.version, second.version) == (1, 2)
        assert store.policy(scope) == second
        assert store.policy_versions(scope) == [second, first]
        assert store.policy_version(first.id) == first

    def test_scopes_do_not_share_versions(self, store: SessionStore) -> None:
        mine = store.save_policy(Scope(kind="user", owner="ada"), {"a": 1}, by="ada", at=NOON)

        found = store.policies([Scope(), Scope(kind="group", owner="ada"), mine.scope])

        assert found == [None, None, mine]

    def test_many_scopes_are_saved_in_one_write(self, store: SessionStore) -> None:
        ada, bob = (Scope(kind="user", owner=owner) for owner in ("ada", "bob"))
        store.save_policy(bob, {"fresh_turns": 1}, by="bob", at=NOON)

        given: dict[Scope, JsonObject] = {bob: {"fresh_turns": 3}, ada: {"fresh_turns": 4}}
        saved = store.save_policies(given, by="ada", at=SOON)

        assert [(one.scope, one.version, one.created_at) for one in saved] == [
            (bob, 2, SOON),
            (ada, 1, SOON),
        ]
        assert {one.scope: one.overrides for one in saved} == given
        assert store.policies([ada, bob]) == [saved[1], saved[0]]
        assert store.save_policies({}, by="ada", at=SOON) == []

    def test_what_all_scopes_change_is_read_at_once(self, store: SessionStore) -> None:
        store.save_policy(Scope(kind="user", owner="bob"), {"fresh_turns": 1}, by="bob", at=NOON)
        bob = store.save_policy(Scope(kind="user", owner="bob"), {}, by="bob", at=SOON)
        all_users = store.save_policy(Scope(), {"fresh_turns": 2}, by="ada", at=SOON)

        assert store.all_policies() == [all_users, bob]


class TestTurns:
    def begin(self, store: SessionStore, turn_id: str = "t", at: datetime = NOON) -> None:
        store.begin_turn(
            "s",
            turn_id,
            [user("go on")],
            counter=WORDS,
            at=at,
            lease_until=at + timedelta(seconds=30),
        )

    def test_a_stamp_changes_with_all_that_a_reader_sees(self, store: SessionStore) -> None:
        stamps = [store.session_stamp("s")]

        def note() -> None:
            stamps.append(store.session_stamp("s"))

        append(store, user("Hello"))
        note()
        self.begin(store)
        note()
        store.end_turn("s", "t", "failed", at=SOON)
        note()
        store.add_mark("s", 1, "pin", at=SOON)
        note()
        store.clear_mark("s", 1, "pin", at=SOON)
        note()
        store.rename("s", "Other", at=LATER)
        note()

        assert len({repr(stamp) for stamp in stamps}) == len(stamps)
        with statements_run() as run:
            assert store.session_stamp("s") == stamps[-1]
        assert len([one for one in run if one.startswith("SELECT")]) == 1
        with pytest.raises(SessionNotFoundError):
            store.session_stamp("none")

    def test_beginning_a_turn_stores_what_the_user_said(self, store: SessionStore) -> None:
        append(store, user("before"), assistant("yes"))

        self.begin(store)

        turn = store.turn("s", "t")
        assert (turn.state, turn.number, turn.first_seq, turn.last_seq) == ("running", 1, 3, 3)
        assert (turn.history_messages, turn.history_tokens) == (3, 5 + 5 + 6)
        assert store.messages("s")[2].turn_id == "t"

    def test_a_second_turn_is_refused_and_leaves_no_message(self, store: SessionStore) -> None:
        self.begin(store)

        with pytest.raises(LeaseTakenError) as caught:
            self.begin(store, "u", NOON + timedelta(seconds=1))

        assert caught.value.owner == "t"
        assert texts(store) == ["go on"]

    def test_the_answer_becomes_a_message_at_its_end(self, store: SessionStore) -> None:
        self.begin(store)
        assert store.save_partial("s", "t", "half \ud800", lease_until=LATER)
        assert store.turn("s", "t").partial == "half \ud800"

        store.append("s", [assistant("half and whole")], counter=WORDS, at=SOON, turn_id="t")
        ended = store.end_turn("s", "t", "done", at=SOON)

        assert (ended.state, ended.partial, ended.last_seq) == ("done", "", 2)
        assert (ended.ended_at, ended.history_messages) == (SOON, 2)
        self.begin(store, "u", SOON)
        assert [turn.state for turn in store.turns("s")] == ["done", "running"]

    def test_a_waiting_turn_lets_go_and_can_be_resumed(self, store: SessionStore) -> None:
        self.begin(store)

        waiting = store.end_turn("s", "t", "awaiting_tools", at=SOON)
        resumed = store.resume_turn("s", "t", at=SOON, lease_until=LATER)

        assert (waiting.state, waiting.ended_at) == ("awaiting_tools", None)
        assert resumed.state == "running"

    def test_a_turn_that_runs_cannot_be_resumed(self, store: SessionStore) -> None:
        self.begin(store)

        with pytest.raises(LeaseTakenError, match="a turn is already running in session 's'"):
            store.resume_turn("s", "t", at=NOON, lease_until=LATER)

        assert store.resume_turn("s", "t", at=LATER, lease_until=LATER).state == "running"

    def test_the_last_turn_is_the_newest(self, store: SessionStore) -> None:
        assert store.last_turn("s") is None
        self.begin(store)
        self.begin(store, "u", LATER)

        last = store.last_turn("s")

        assert last is not None
        assert (last.id, last.number) == ("u", 2)

    def test_a_turn_whose_process_is_gone_is_found_as_interrupted(
        self, store: SessionStore
    ) -> None:
        self.begin(store)
        store.save_partial("s", "t", "so far", lease_until=SOON)

        assert store.interrupt_stale_turns(at=NOON) == []
        found = store.interrupt_stale_turns(at=LATER)

        assert [(turn.id, turn.state, turn.partial) for turn in found] == [
            ("t", "interrupted", "so far")
        ]
        assert not store.save_partial("s", "t", "more", lease_until=LATER)

    def test_a_turn_gives_way_at_once_where_its_process_has_ended(
        self, store: SessionStore
    ) -> None:
        store.begin_turn(
            "s", "t", [user("go")], counter=WORDS, at=NOON, lease_until=LATER, claim=DEAD
        )
        held = store.lease("turn:s")
        assert held == LeaseInfo(name="turn:s", owner="t", expires_at=LATER, holder="dead")
        over = Claim(holder="alive", over=held)

        resumed = store.resume_turn("s", "t", at=NOON, lease_until=LATER, claim=over)

        assert resumed.state == "running"
        assert [lease.holder for lease in store.leases()] == ["alive"]
        with pytest.raises(LeaseTakenError):  # it is in other hands now
            store.resume_turn("s", "t", at=NOON, lease_until=LATER, claim=over)
        with pytest.raises(LeaseTakenError) as caught:
            store.begin_turn(
                "s", "u", [user("on")], counter=WORDS, at=NOON, lease_until=LATER, claim=over
            )
        assert (caught.value.owner, caught.value.holder) == ("t", "alive")

    def test_turns_of_ended_processes_are_found_before_their_leases_expire(
        self, store: SessionStore
    ) -> None:
        store.begin_turn(
            "s", "t", [user("go")], counter=WORDS, at=NOON, lease_until=LATER, claim=DEAD
        )
        held = store.lease("turn:s")
        assert held is not None

        assert store.interrupt_stale_turns(at=NOON, ended=[replace(held, holder="other")]) == []
        found = store.interrupt_stale_turns(at=NOON, ended=[held])

        assert [(turn.id, turn.state) for turn in found] == [("t", "interrupted")]
        assert store.lease("turn:s") is None

    def test_a_running_turn_can_be_interrupted_by_anybody(self, store: SessionStore) -> None:
        self.begin(store)

        interrupted = store.interrupt_turn("s", at=SOON)

        assert interrupted is not None
        assert (interrupted.id, interrupted.state) == ("t", "interrupted")
        assert store.interrupt_turn("s", at=SOON) is None
        assert not store.save_partial("s", "t", "more", lease_until=LATER)
        with pytest.raises(StaleTurnError):
            store.append("s", [assistant("late")], counter=WORDS, at=SOON, turn_id="t")
        with pytest.raises(StaleTurnError):
            store.end_turn("s", "t", "done", at=SOON)
        assert texts(store) == ["go on"]
        self.begin(store, "u", NOON)

    def test_an_undisturbed_turn_takes_its_lease_by_one_statement(
        self, store: SessionStore
    ) -> None:
        with statements_run() as run:
            self.begin(store)
        assert len([one for one in run if "lease" in one]) == 1

        with statements_run() as run:
            store.save_partial("s", "t", "half", lease_until=LATER)
            store.end_turn("s", "t", "done", at=SOON)
        assert len([one for one in run if "lease" in one]) == 2

    def test_an_expired_turn_gives_way_to_the_next(self, store: SessionStore) -> None:
        self.begin(store)

        self.begin(store, "u", LATER)

        assert [turn.state for turn in store.turns("s")] == ["interrupted", "running"]

    def test_calls_come_back_as_they_were_recorded(self, store: SessionStore) -> None:
        self.begin(store)
        reason = VerdictCode.REMINDED(why=VerdictCode.OUTSIDE())
        run = Run(first=0, last=3, verdict="kept", reason=reason, before_tokens=9, after_tokens=9)
        call = CallInfo(
            id="c",
            session_id="s",
            created_at=NOON,
            purpose="answer",
            turn_id="t",
            model="gpt-4o",
            estimate={"system": 3, "recent": 20},
            runs=(run,),
            input_tokens=25,
            output_tokens=None,
            cost=0.25,
            latency_seconds=1.5,
        )
        call = replace(call, digest="ab", counter_id="exact", count_factor=1.0, recipe={"a": [1]})
        imported = CallInfo(
            id="d", session_id="s", created_at=SOON, purpose="answer", is_imported=True, seq=1
        )

        store.record_calls([imported, call])

        assert store.calls("s") == [call, imported]
        assert store.calls("s", turn_id="t") == [call]
        assert store.calls("s", with_runs=False) == [replace(call, runs=(), recipe=None), imported]
        assert store.runs("s", ["c", "d", "nobody's"]) == {"c": (run,), "d": ()}
        assert store.runs("s", []) == {}
        assert store.count_calls("s") == 2
        assert store.call("s", "c") == call
        with pytest.raises(RecordNotFoundError, match="nobody's"):
            store.call("s", "nobody's")

    def test_a_text_is_stored_once_a_session_and_erased_with_it(self, store: SessionStore) -> None:
        store.create_session("other", user_id="ada", at=NOON)
        for session_id in ("s", "other"):
            for call_id in ("1", "2"):
                call = CallInfo(
                    id=session_id + call_id,
                    session_id=session_id,
                    created_at=NOON,
                    purpose="answer",
                )
                store.record_calls([call], texts={"a": "summary", f"b{call_id}": call_id})

        assert store.sent_texts("s") == {"a": "summary", "b1": "1", "b2": "2"}
        assert store.sent_texts("s", ["a", "nobody's"]) == {"a": "summary"}
        assert store.sent_texts("s", []) == {}
        store.purge("s")
        assert store.sent_texts("s") == {}
        assert len(store.sent_texts("other")) == 3


class TestSignals:
    def test_a_signal_is_stored_once_judged_and_erased_with_its_session(
        self, store: SessionStore
    ) -> None:
        append(store, user("one"), user("two"))
        signal = SignalInfo(
            session_id="s",
            seq=2,
            kind="repeated",
            earlier=(1,),
            verdict="summarized",
            compaction_id="k",
            policy_version_id=None,
            created_at=NOON,
        )

        store.record_signals([])
        store.record_signals([signal])
        store.record_signals([signal, replace(signal, kind="said_so", verdict="kept")])

        first, second = store.signals("s")
        assert replace(first, id=0) == signal
        assert (second.kind, first.is_forgetting, second.is_forgetting) == ("said_so", True, False)
        judged = store.judge_signal("s", first.id, is_right=False, at=SOON)
        assert judged == store.signals("s")[0]
        assert (judged.is_right, judged.judged_at) == (False, SOON)
        [counts] = store.signal_counts(Scope(kind="user", owner="ada"))
        assert (counts.forgotten, counts.overlooked, counts.wrong, counts.right) == (1, 1, 1, 0)
        assert (counts.precision, counts.forgetful_turns) == (0, 0)
        taken_back = store.judge_signal("s", first.id, is_right=None, at=LATER)
        assert (taken_back.is_right, taken_back.judged_at) == (None, None)
        with pytest.raises(RecordNotFoundError, match="signal"):
            store.judge_signal("s", 99, is_right=True, at=SOON)
        store.purge("s")
        assert store.signals("s") == []

    def test_signals_are_counted_by_user_and_version_of_the_policy(
        self, store: SessionStore
    ) -> None:
        store.create_user("eve", at=NOON)
        store.create_session("other", user_id="eve", at=NOON)
        for number, (session_id, version) in enumerate([("s", None), ("s", 7), ("other", 7)]):
            at = {"session_id": session_id, "created_at": NOON, "policy_version_id": version}
            call_id, turn_id = f"c{number}", f"t{number}"
            call = CallInfo(id=call_id, turn_id=turn_id, purpose="answer", **at)  # type: ignore[arg-type]
            store.record_calls([call])
            store.record_signals(
                [SignalInfo(seq=number + 1, kind="asked_again", verdict="dropped", **at)]  # type: ignore[arg-type]
            )

        said_so = SignalInfo(seq=2, kind="said_so", verdict="dropped", **at)  # type: ignore[arg-type]
        store.record_signals([replace(said_so, session_id="s")])

        counts = [
            (one.policy_version_id, one.turns, one.forgotten, one.forgetful_turns)
            for one in store.signal_counts(Scope(kind="user", owner="ada"))
        ]

        assert counts == [(None, 1, 1, 1), (7, 1, 2, 1)]
        store.delete("s", at=SOON)
        assert store.signal_counts(Scope(kind="user", owner="ada")) == []


class TestReports:
    USAGE: ClassVar[dict[str, Any]] = {"input_tokens": 1_000, "output_tokens": 10}

    def made(self, store: SessionStore, *calls: CallInfo) -> None:
        for call in calls:
            store.record_calls([call])

    def answer(self, call_id: str, **given: Any) -> CallInfo:
        fields: dict[str, Any] = {
            "session_id": "s",
            "purpose": "answer",
            "created_at": SOON,
            "model": "m",
            "estimate": {"system": 10, "recent": 290, "reserve": 500},
            "without_tokens": 900,
            **self.USAGE,
            **given,
        }
        return CallInfo(id=call_id, **fields)

    def test_calls_are_summed_by_user_version_month_model_and_purpose(
        self, store: SessionStore
    ) -> None:
        refused = ProviderProblem.OVERFLOW(model="m")
        self.made(
            store,
            self.answer("a", cached_tokens=600, cost=0.5),
            self.answer("b", cached_tokens=None, cost=0.25),
            self.answer("c", created_at=SOON + timedelta(days=31), cost=None),
            self.answer("d", input_tokens=None, output_tokens=None, error=refused, estimate={}),
            self.answer("e", purpose="summary", estimate={}, without_tokens=None, cost=0.1),
            self.answer("f", is_imported=True),
            self.answer("g", created_at=NOON - timedelta(days=1)),
        )

        tallies = store.call_tallies(Scope())

        assert [(one.month, one.purpose, one.calls, one.cost) for one in tallies] == [
            ("2026-03", "answer", 2, 0.75),
            ("2026-03", "answer", 1, None),
            ("2026-03", "summary", 1, 0.1),
            ("2026-04", "answer", 1, None),
        ]
        both, broken = tallies[:2]
        assert (both.user_id, both.model, both.policy_version_id) == ("ada", "m", None)
        assert (both.input_tokens, both.input_calls, both.cache_told_tokens) == (2_000, 2, 1_000)
        assert (both.compared_calls, both.sent_tokens, both.without_tokens) == (2, 600, 1_800)
        assert (broken.input_tokens, broken.refused, broken.compared_calls) == (None, 1, 0)

    def test_what_a_compaction_made_a_provider_read_anew_is_summed(
        self, store: SessionStore
    ) -> None:
        self.made(
            store,
            self.answer("a", cached_tokens=100, cache_break=BreakCode.COMPACTION()),
            self.answer("b", cached_tokens=100, cache_break=BreakCode.MODEL()),
            self.answer("c", cached_tokens=None, cache_break=BreakCode.COMPACTION()),
        )

        [tally] = store.call_tallies(Scope())

        assert tally.rewritten_tokens == 900
        assert store.call("s", "a").rewritten_tokens == 900
        assert store.call("s", "a").sent_tokens == 300

    @pytest.mark.parametrize(
        ("scope", "calls"),
        [
            (Scope(), 3),
            (Scope(kind="user", owner="ada"), 2),
            (Scope(kind="group", owner="crew"), 1),
            (Scope(kind="group", owner="none"), 0),
            (Scope(kind="user_model", owner="ada", model="other"), 1),
            (Scope(kind="session", owner="theirs"), 1),
        ],
    )
    def test_a_scope_covers_its_sessions(
        self, store: SessionStore, scope: Scope, calls: int
    ) -> None:
        store.create_user("eve", at=NOON, group="crew")
        store.create_session("theirs", user_id="eve", at=NOON)
        self.made(
            store,
            self.answer("a"),
            self.answer("b", model="other"),
            self.answer("c", session_id="theirs"),
        )

        assert sum(one.calls for one in store.call_tallies(scope)) == calls

    def test_compactions_are_counted_without_those_that_a_fork_copied(
        self, store: SessionStore
    ) -> None:
        append(store, user("one two"), assistant("three"), user("four"))
        record = Compaction(covered_until=2, summary="said", before_tokens=3, after_tokens=1)
        store.record_compaction("s", "c", record, parent_id=None, at=SOON, has_failed=True)
        store.fork("s", 3, fork_id="f", new_id=ids(), at=LATER)

        [tally] = store.compaction_tallies(Scope())

        assert (tally.user_id, tally.month, tally.compactions, tally.failed) == (
            "ada",
            "2026-03",
            1,
            1,
        )

    def test_events_come_with_their_users_the_newest_first(self, store: SessionStore) -> None:
        for number in range(3):
            store.record_event("s", "planned", {"number": number}, at=NOON)
        store.record_event("s", "other", {}, at=NOON)

        found = store.events_of("planned", Scope(kind="user", owner="ada"), limit=2)

        assert [(user_id, event.body["number"]) for user_id, event in found] == [
            ("ada", 2),
            ("ada", 1),
        ]

    def test_a_change_stands_beside_the_version_before(self, store: SessionStore) -> None:
        mine = Scope(kind="user", owner="ada")
        store.save_policy(mine, {"name": "pi"}, by="ada", at=NOON)
        store.save_policy(Scope(), {"trigger_ratio": 0.5}, by="root", at=NOON)
        store.save_policy(mine, {"trigger_ratio": 0.7}, by="root", at=SOON)

        newest, common, first = store.policy_changes()

        assert (newest.version.version, newest.before) == (2, {"name": "pi"})
        assert [(one.field, one.was_set, one.is_set) for one in newest.fields] == [
            ("trigger_ratio", False, True),
            ("name", True, False),
        ]
        assert (first.before, common.before) == ({}, {})
        assert store.policy_changes([mine]) == [newest, first]
        assert store.policy_changes([Scope(kind="user")], by="ada") == [first]
        assert store.policy_changes(limit=1) == [newest]
        assert store.policy_authors() == ["ada", "root"]

    def test_spending_is_summed_once_and_then_added_to(self, store: SessionStore) -> None:
        day, month = "2026-03-01", "2026-03"
        self.made(store, self.answer("a", cost=0.5), self.answer("b", cost=0.25))

        assert store.spend("ada", 0.25, [day, month], at=SOON) == {day: 0.75, month: 0.75}
        self.made(store, self.answer("c", cost=1.0))
        with statements_run() as few:
            assert store.spend("ada", 1.0, [day], at=SOON) == {day: 1.75}
        assert store.spend("eve", 0.5, [day], at=SOON) == {day: 0.0}
        store.forget_spending()
        with statements_run() as many:
            assert store.spend("ada", 1.0, [day], at=SOON) == {day: 1.75}
        assert len(few) < len(many)

    def test_an_alert_is_raised_once_and_seen_once(self, store: SessionStore) -> None:
        why = AlertCode.RULES_LOST(count=1, rules=("never push",))

        raised = store.raise_alert("s", "rules:c", why, user_id="ada", at=NOON)
        again = store.raise_alert("s", "rules:c", why, user_id="ada", at=SOON)

        assert raised is not None
        assert (raised.reason, raised.user_id, raised.session_id) == (why, "ada", "s")
        assert again is None
        assert store.alerts(unseen=True) == [raised]
        assert store.count_unseen_alerts() == 1
        assert store.see_alerts([raised.id, 99], by="root", at=SOON) == 1
        assert store.see_alerts([raised.id], by="eve", at=LATER) == 0
        [seen] = store.alerts()
        assert (seen.seen_by, seen.seen_at) == ("root", SOON)
        assert (store.alerts(unseen=True), store.count_unseen_alerts()) == ([], 0)
        store.purge("s")
        assert store.alerts() == []


class TestJobs:
    def begin(self, store: SessionStore, job_id: str, digest: str = "d", **given: Any) -> JobInfo:
        arguments: dict[str, Any] = {
            "user_id": "ada",
            "kind": "trial",
            "spec": {"policies": ["pi"]},
            "digest": digest,
            "session_ids": ["s"],
            "at": NOON,
            "lease_until": SOON,
            **given,
        }
        return store.begin_job(job_id, **arguments)

    def test_a_job_runs_makes_progress_and_ends_once(self, store: SessionStore) -> None:
        begun = self.begin(store, "j")

        assert store.save_job_progress("j", 2, 5)
        running = store.job("j")
        assert store.end_job("j", "done", at=SOON, result={"tokens": 7})

        assert (begun.state, begun.done, begun.total, begun.result) == ("running", 0, 0, None)
        assert (running.done, running.total, running.spec) == (2, 5, {"policies": ["pi"]})
        done = store.job("j")
        assert (done.state, done.result, done.finished_at) == ("done", {"tokens": 7}, SOON)
        assert not store.end_job("j", "cancelled", at=LATER)
        assert not store.save_job_progress("j", 3, 5)
        assert store.job("j") == done

    def test_a_failed_job_keeps_its_reason(self, store: SessionStore) -> None:
        self.begin(store, "j")

        store.end_job("j", "failed", at=SOON, error=JobProblem.BROKE_OFF(kind="KeyError"))

        assert store.job("j").error == JobProblem.BROKE_OFF(kind="KeyError")

    def test_the_same_work_is_found_again_while_it_runs_and_once_it_is_done(
        self, store: SessionStore
    ) -> None:
        self.begin(store, "j")
        twin = self.begin(store, "twin", reuses=False)
        store.end_job("j", "done", at=SOON, result={})

        assert twin.id == "j"
        assert self.begin(store, "later").id == "j"
        assert self.begin(store, "anew", reuses=False).id == "anew"
        assert self.begin(store, "other", digest="other").id == "other"

    def test_work_that_was_cancelled_or_left_alone_is_done_again(self, store: SessionStore) -> None:
        self.begin(store, "j")
        store.end_job("j", "cancelled", at=SOON)
        self.begin(store, "left", at=SOON, lease_until=SOON)

        again = self.begin(store, "again", at=LATER, lease_until=LATER)

        assert again.id == "again"

    def test_the_same_work_of_another_user_is_a_job_of_its_own(self, store: SessionStore) -> None:
        store.create_user("eve", at=NOON)
        self.begin(store, "j")

        assert self.begin(store, "hers", user_id="eve").id == "hers"
        assert [job.id for job in store.jobs("eve")] == ["hers"]

    def test_jobs_are_listed_without_results_the_newest_first(self, store: SessionStore) -> None:
        for number, kind in enumerate(["trial", "story", "trial"]):
            at = NOON + timedelta(seconds=number)
            self.begin(store, f"j{number}", f"d{number}", kind=kind, at=at)
        store.end_job("j2", "done", at=LATER, result={"long": "x"})

        assert [job.id for job in store.jobs("ada")] == ["j2", "j1", "j0"]
        assert [job.id for job in store.jobs("ada", kind="trial", limit=1)] == ["j2"]
        assert store.jobs("ada")[0].result is None

    def test_a_job_whose_lease_is_over_becomes_interrupted(self, store: SessionStore) -> None:
        self.begin(store, "j", "j")
        self.begin(store, "renewed", "renewed")
        self.begin(store, "ended", "ended")
        store.end_job("ended", "done", at=NOON, result={})

        alive = store.renew_jobs(["renewed", "ended", "none"], lease_until=LATER)

        assert alive == {"renewed"}
        assert store.interrupt_stale_jobs(at=NOON) == []
        assert store.interrupt_stale_jobs(at=SOON) == ["j"]
        assert (store.job("j").state, store.job("j").finished_at) == ("interrupted", SOON)
        assert store.job("renewed").state == "running"

    def test_old_jobs_are_erased_and_running_ones_stay(self, store: SessionStore) -> None:
        self.begin(store, "old", "old")
        store.end_job("old", "failed", at=NOON)
        self.begin(store, "new", "new")
        store.end_job("new", "done", at=LATER, result={})
        self.begin(store, "running", "running")

        assert store.delete_jobs(before=LATER) == ["old"]
        assert {job.id for job in store.jobs("ada")} == {"new", "running"}
        store.delete_job("new")
        with pytest.raises(RecordNotFoundError, match="no job 'new'"):
            store.job("new")

    def test_purging_a_session_erases_what_jobs_read_in_it(self, store: SessionStore) -> None:
        store.create_session("t", user_id="ada", at=NOON)
        self.begin(store, "both", "both", session_ids=["s", "t"])
        self.begin(store, "other", "other", session_ids=["t"])

        store.purge("s")

        assert [job.id for job in store.jobs("ada")] == ["other"]
        assert not store.save_job_progress("both", 1, 2)


class TestEventsAndLeases:
    def test_a_setting_is_kept_by_name_until_it_is_replaced_or_taken_away(
        self, store: SessionStore
    ) -> None:
        store.save_setting("connections", [{"name": "a"}])
        store.save_setting("connections", [{"name": "b \ud800"}])
        assert store.setting("connections") == [{"name": "b \ud800"}]
        store.save_setting("connections", None)

        assert store.setting("connections") is None

    def test_the_beginning_of_a_request_leads_to_the_latest_session_until_that_is_purged(
        self, store: SessionStore
    ) -> None:
        append(store, user("hello"))
        store.fork("s", 1, fork_id="f", new_id=ids(), at=LATER)
        owner = store.session("s").user_id
        store.save_request_prefix("s", "abc", user_id=owner)
        store.save_request_prefix("f", "abc", user_id=owner)
        store.save_request_prefix("s", "def", user_id=owner)

        assert store.request_prefixes(owner, ["abc", "def", "ghi"]) == {"abc": "f", "def": "s"}
        assert store.request_prefixes("someone else", ["abc"]) == {}
        store.purge("f")
        assert store.request_prefixes(owner, ["abc", "def"]) == {"def": "s"}

    def test_events_are_kept_in_order(self, store: SessionStore) -> None:
        first = store.record_event("s", "rejected", {"why": "\ud800"}, at=NOON)
        other = store.record_event(None, "started", {}, at=NOON)
        last = store.record_event("s", "break", {}, at=NOON)

        assert store.events("s") == [first, last]
        assert store.events(kind="started") == [other]
        assert store.events(after_id=first.id, limit=1) == [other]

    def test_the_last_events_of_some_kinds_come_newest_first(self, store: SessionStore) -> None:
        kinds = ["rejected", "break", "recorded", "rejected"]
        made = [store.record_event("s", kind, {}, at=NOON) for kind in kinds]

        assert store.last_events("s", ["rejected", "recorded"], limit=2) == [made[3], made[2]]
        assert store.last_events("s", ["started"]) == []

    def test_a_lease_has_one_owner_until_it_expires_or_is_released(
        self, store: SessionStore
    ) -> None:
        assert store.acquire_lease("job", "a", expires_at=SOON, at=NOON)
        assert store.acquire_lease("job", "a", expires_at=SOON, at=NOON)
        assert not store.acquire_lease("job", "b", expires_at=LATER, at=NOON)
        assert store.acquire_lease("job", "b", expires_at=LATER, at=SOON)
        assert not store.release_lease("job", "a")
        assert store.release_lease("job", "b")
        assert store.acquire_lease("job", "a", expires_at=LATER, at=SOON)

    def test_a_free_lease_goes_to_who_waited_longest(self, store: SessionStore) -> None:
        first, second = [
            store.join_queue("job", holder=name, expires_at=LATER, at=NOON) for name in ("a", "b")
        ]

        def takes(owner: str, ticket: int | None) -> bool:
            claim = Claim(ticket=ticket)
            return store.acquire_lease("job", owner, expires_at=LATER, at=NOON, claim=claim)

        assert [waiter.holder for waiter in store.waiters("job", at=NOON)] == ["a", "b"]
        assert not takes("new", None)
        assert not takes("b", second)
        assert takes("a", first)
        assert takes("a", None)  # who holds it renews it, whoever waits
        store.leave_queue([first])
        assert not takes("b", second)
        store.release_lease("job", "a")
        assert not takes("new", None)
        assert takes("b", second)

    def test_who_does_not_stay_in_the_queue_holds_nobody_up(self, store: SessionStore) -> None:
        gone = store.join_queue("job", holder="a", expires_at=SOON, at=NOON)
        stays = store.join_queue("job", holder="b", expires_at=SOON, at=NOON)
        assert store.stay_in_queue(stays, expires_at=LATER)

        assert [waiter.ticket for waiter in store.waiters("job", at=SOON)] == [stays]
        claim = Claim(ticket=stays)
        assert store.acquire_lease("job", "b", expires_at=LATER, at=SOON, claim=claim)
        last = store.join_queue("job", holder="c", expires_at=LATER, at=SOON)
        assert not store.stay_in_queue(gone, expires_at=LATER)
        assert last > stays > gone

    def test_a_process_renews_what_it_holds_and_nothing_else(self, store: SessionStore) -> None:
        for name, holder in (("one", "mine"), ("two", "mine"), ("three", "theirs")):
            claim = Claim(holder=holder)
            store.acquire_lease(name, name, expires_at=SOON, at=NOON, claim=claim)

        renewed = store.renew_leases(["one", "three"], holder="mine", expires_at=LATER)

        assert renewed == {"one"}
        times = {lease.name: lease.expires_at for lease in store.leases()}
        assert times == {"one": LATER, "two": SOON, "three": SOON}

    def test_purging_a_session_ends_the_queue_for_its_turns(self, store: SessionStore) -> None:
        ticket = store.join_queue("turn:s", holder="a", expires_at=LATER, at=NOON)

        store.purge("s")

        assert not store.stay_in_queue(ticket, expires_at=LATER)


MIXED = [
    text_message("system", "Answer in English, please."),
    user("We plan a camping trip to Évora with the children on 2026-05-17."),
    assistant("Planned! Évora's campsite costs €45.50 per night; 3 nights, v2 of the plan."),
    user("去上海出差的预算表在哪里？财务说预算是5000元。"),
    assistant("预算表在 budget_2026.xlsx 里，user_id 是 A17。"),
    Message(
        role="assistant",
        calls=(ToolCall(id="a", name="findUser", arguments='{"user_id": 42, "town": "Évora"}'),),
    ),
    tool_result("a", '{"name": "Ada Lovelace", "id": 42, "camping": true}'),
    user("Camped there — “great”, the kids’ favourite. ＣＡＭＰ ①"),
    user("コンテキストを圧縮する; straße, naïve, Ελλάδα, हिन्दी, 한국어"),
    user(""),
    user("user, id 42 again: the id of a user"),
]
SOUGHT = [
    ["camp", "camps", "camped", "camping"],
    ["plan", "planned", "planning"],
    ["evora"],
    ["预算"],
    ["预算", "budget"],
    ["预算 算表"],
    ["user id"],
    ["find user", "nothing"],
    ["42", "5000"],
    ["a17", "v2"],
    ["圧縮", "한국어"],
    ["straße", "naive"],
    ["kids", "great"],
    ["2026 05 17"],
    ["nothing"],
    ["the", "of"],
    [],
    ['"', "a & b", "-"],
]


class TestPlaces:
    @pytest.mark.parametrize(("before", "most"), [(12, 20), (100, 2), (9, 1), (1, 5), (5, 0)])
    def test_a_stored_history_finds_what_a_list_finds(
        self, store: SessionStore, before: int, most: int
    ) -> None:
        store.create_session("other", user_id="ada", at=NOON)
        for message in MIXED:  # the messages of two sessions lie among each other
            append(store, message)
            append(store, message, user("another camping plan"), session_id="other")

        found = store.view("s").having(SOUGHT, before=before, most=most)

        assert found == ListHistory(MIXED, WORDS).having(SOUGHT, before=before, most=most)

    def test_a_list_finds_what_people_would_find(self) -> None:
        found = ListHistory(MIXED, WORDS).having(SOUGHT, before=12, most=20)

        assert found[:3] == [[8, 7, 2], [3, 2], [6, 3, 2]]
        assert found[3:8] == [[5, 4], [5, 4], [5, 4], [11, 6, 5], [6]]

    def test_all_terms_take_one_statement(self, store: SessionStore) -> None:
        append(store, *MIXED)
        view = store.view("s")

        with statements_run() as run:
            view.having(SOUGHT, before=12, most=5)

        assert len([statement for statement in run if statement.startswith("SELECT")]) == 1

    def test_messages_are_found_once_they_are_indexed(self, store: SessionStore) -> None:
        messages = [user(f"pelican {at}") for at in range(5)]
        store.append("s", messages, counter=WORDS, at=NOON, indexes=False)
        assert store.view("s").having([["pelican"]], before=6, most=9) == [[]]

        store.index_pending("s", limit=3)
        assert store.view("s").having([["pelican"]], before=6, most=9) == [[3, 2, 1]]

    def test_a_view_finds_nothing_behind_its_end(self, store: SessionStore) -> None:
        append(store, user("pelican"))
        view = store.view("s")
        append(store, user("pelican"))

        assert view.having([["pelican"]], before=9, most=9) == [[1]]

    def test_a_branch_finds_what_was_said_before_it(self, store: SessionStore) -> None:
        append(store, user("a pelican"), assistant("a gull"), user("a pelican again"))
        store.fork("s", 2, fork_id="b", new_id=ids(), at=NOON)

        assert store.view("b").having([["pelican"], ["gull"]], before=9, most=9) == [[1], [2]]


@pytest.mark.postgres
class TestSearch:
    @pytest.mark.parametrize(
        ("said", "query"),
        [
            ("The pelican eats fish.", "PELICAN fish"),
            ("The pelican eats fish.", "pelic"),
            ("看一下上下文窗口的大小", "窗口"),
            ("看一下上下文窗口的大小", "上下文窗口"),
            ("看一下上下文窗口的大小", "小"),
            ("コンテキストを圧縮する", "圧縮"),
            ("see getUserName in user_store.py", "getUserName"),
            ("see getUserName in user_store.py", "userName"),
            ("see getUserName in user_store.py", "user_store"),
            ("see getUserName in user_store.py", "store.py"),
            ("a café in Zürich", "cafe zurich"),
            ("a pelican", "pel"),
            ('say "quoted" AND NOT (nested)', '"quoted" NOT nested*'),
            ("broken \ud800half", "half"),
        ],
    )
    def test_a_message_is_found_by(self, store: SessionStore, said: str, query: str) -> None:
        append(store, user("something else"), user(said))

        assert [hit.seq for hit in store.search("ada", query)] == [2]

    @pytest.mark.parametrize("query", ["", "!?", "the of it", "heron ibis", "口窗", "elican", "pe"])
    def test_nothing_is_found_by(self, store: SessionStore, query: str) -> None:
        append(store, user("a pelican"), user("窗口"))

        assert store.search("ada", query) == []

    @pytest.mark.parametrize(
        ("said", "query"),
        [
            ("We camped by the lake.", "camping trips"),
            ("The plan was carried out.", "what plans were there, planned in March?"),
            ("預算表在哪裡", "预算表"),
            ("it costs 12,500 EUR", "12500"),
            ("on 8 May we sail", "what happens on May 8th?"),
        ],
    )
    def test_any_word_finds_in_any_form(self, store: SessionStore, said: str, query: str) -> None:
        append(store, user("something else"), user(said), user("and so on"))

        assert [hit.seq for hit in store.search("ada", query)] == [2]

    def test_what_has_the_rarer_words_comes_first(self, store: SessionStore) -> None:
        append(store, *(user(f"the harbour, part {at}") for at in range(4)))
        append(store, *(user(f"a pebble {at}") for at in range(9)), user("a pelican"))
        store.create_session("t", user_id="ada", at=NOON)
        append(store, user("a pelican in the harbour"), session_id="t")

        hits = store.search("ada", "pelican harbour", limit=3)

        assert [(hit.session_id, hit.seq) for hit in hits[:2]] == [("t", 1), ("s", 14)]
        assert len(hits) == 3
        assert store.search("ada", "pelican", limit=0) == []

    def test_calls_and_their_arguments_are_found(self, store: SessionStore) -> None:
        call = ToolCall(id="c", name="read_file", arguments='{"path":"engine/room.py"}')
        append(store, Message(role="assistant", calls=(call,)))

        hit = store.search("ada", "room.py")[0]

        assert "engine/room.py" in hit.excerpt

    def test_only_the_users_own_sessions_are_searched(self, store: SessionStore) -> None:
        store.create_user("bob", at=NOON)
        append(store, user("a pelican"))

        assert store.search("bob", "pelican") == []
        hit = store.search("ada", "pelican")[0]
        assert (hit.role, hit.excerpt, hit.created_at) == ("user", "a pelican", NOON)

    def test_an_import_is_indexed_afterwards_piece_by_piece(self, store: SessionStore) -> None:
        messages = [user(f"pelican {at}") for at in range(5)]
        store.append("s", messages, counter=WORDS, at=NOON, indexes=False)
        assert store.search("ada", "pelican") == []

        append(store, user("the last pelican"))
        assert store.session("s").indexed_until == 0
        assert store.index_pending("s", limit=4) == 2
        assert len(store.search("ada", "pelican")) == 4
        assert store.index_pending("s") == 0

        append(store, user("one more pelican"))
        assert len(store.search("ada", "pelican")) == 7
