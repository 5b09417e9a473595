"""What users, operators and auditors may see of each other, and what is recorded of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, text

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError, NotAuditorError, RoleError
from ctxcore.engine.events import PLANNED
from ctxcore.engine.live_trials import start_offer
from ctxcore.engine.people import People
from ctxcore.engine.trials import start_trial, trial_session
from ctxcore.reasons.report_codes import AlertCode
from ctxcore.store.database import make_engines, upgrade
from ctxcore.store.errors import LastOperatorError, RecordNotFoundError, SessionNotFoundError
from ctxcore.store.values import Scope
from tests.engines import Clock, engine_with

SECRET = "the orchid code is 7141"
FIGURES_ALONE = {"policy"}
"""The verbs on one session that show nothing of what was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One store with its people: the auditor came first, the owner wrote a session."""

    auditor: ContextEngine
    operator: ContextEngine
    owner: ContextEngine
    stranger: ContextEngine
    session_id: str

    def recorded(self) -> list[tuple[str, str, str | None]]:
        """Who read what of the owner and how, oldest first."""
        records = self.owner.people.audit()
        return [(one.user_id, one.action, one.session_id) for one in reversed(records)]


@pytest.fixture
def people() -> Iterator[Installation]:
    with engine_with(user_id="auditor") as (auditor, _):
        auditor.user()
        others = {
            name: ContextEngine(
                auditor.store,
                user_id=name,
                gateway=auditor.gateway,
                model=auditor.default_model,
                clock=Clock(),
            )
            for name in ("operator", "owner", "stranger")
        }
        for one in others.values():
            one.user()
        auditor.people.set_roles("operator", is_operator=True)
        owner = others["owner"]
        session = owner.create_session(SECRET)
        list(owner.chat(session.id, SECRET))
        yield Installation(auditor=auditor, session_id=session.id, **others)


def of_sessions() -> list[str]:
    """The verbs of the engine whose first argument is a session."""
    found = inspect.getmembers(ContextEngine, inspect.isfunction)
    return [
        name
        for name, verb in found
        if not name.startswith("_")
        and [*inspect.signature(verb).parameters][1:2] == ["session_id"]
        and not (name[0] == "a" and hasattr(ContextEngine, name[1:]))
        and name not in FIGURES_ALONE | {"wait", "subject"}
    ]


def called(engine: ContextEngine, name: str, session_id: str) -> object:
    """A verb called with plausible arguments; what it gives is read to its end."""
    verb: Callable[..., object] = getattr(engine, name)
    needed = [
        parameter
        for parameter in [*inspect.signature(verb).parameters.values()][1:]
        if parameter.default is inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    known: dict[str, Any] = {
        "seq": 1,
        "at": 0,
        "messages": [{"role": "user", "content": "x"}],
        "content": "x",
        "overrides": {},
        "policy": engine.policy(session_id).policy,
        "tools": [],
        "presets": ["pi"],
        "answer": "compact",
        "edit_id": 1,
        "signal_id": 1,
        "working": None,
        "is_right": True,
        "user_id": "owner",
    }
    given = {one.name: known.get(one.name, "x") for one in needed}
    found = verb(session_id, **given)
    return list(found) if inspect.isgenerator(found) else found


def recorded_by(people: Installation, act: Callable[[ContextEngine], object]) -> set[str]:
    """How what the auditor does in a new visit is recorded."""
    seen = {one.id for one in people.owner.people.audit()}
    known = people.auditor
    act(
        ContextEngine(
            known.store, user_id="auditor", gateway=known.gateway, model=known.default_model
        )
    )
    return {one.action for one in people.owner.people.audit() if one.id not in seen}


class TestReading:
    def test_no_verb_reads_or_changes_another_session_without_the_right(
        self, people: Installation
    ) -> None:
        before = people.owner.digest(people.session_id)

        for name in of_sessions():
            with pytest.raises(NotAuditorError):
                called(people.operator, name, people.session_id)

        assert people.owner.digest(people.session_id) == before
        assert people.owner.session(people.session_id).title == SECRET
        assert people.recorded() == []

    def test_others_than_operators_are_refused_in_general(self, people: Installation) -> None:
        for name in ("session", "export", "recall", "context"):
            with pytest.raises(NotAllowedError) as refused:
                called_plainly(people.stranger, name, people.session_id)
            assert not isinstance(refused.value, NotAuditorError)

    def test_a_job_or_an_export_of_many_is_refused_as_well(self, people: Installation) -> None:
        work, session_id = people.operator, people.session_id
        refused: list[Callable[[], object]] = [
            lambda: list(work.export_many([session_id], "native")),
            lambda: work.costs([work.session(session_id)]),
            lambda: trial_session(work, session_id),
            lambda: start_trial(work, [session_id], []),
            lambda: start_offer(work, session_id, "why?", ()),  # type: ignore[arg-type]  # refused before
            lambda: work.reports.hints(session_id),
            lambda: work.jobs.start("x", {}, lambda: iter(()), session_ids=[session_id]),  # type: ignore[arg-type, return-value]  # refused before
        ]
        for attempt in refused:
            with pytest.raises(NotAuditorError):
                attempt()

    def test_an_auditor_reads_and_each_way_is_recorded_once_a_visit(
        self, people: Installation
    ) -> None:
        auditor, session_id = people.auditor, people.session_id
        for _ in range(3):
            assert auditor.session(session_id).title == SECRET
            assert SECRET in auditor.export(session_id)
            assert auditor.recall(session_id, "orchid")
        trial_session(auditor, session_id)

        assert people.recorded() == [
            ("auditor", way, session_id) for way in ("open", "export", "recall", "replay")
        ]
        assert people.stranger.people.audit() == []
        assert len(people.operator.people.audit()) == 5  # with the role that was set

    def test_changes_and_deletions_by_an_auditor_are_recorded_as_such(
        self, people: Installation
    ) -> None:
        session_id = people.session_id
        changes: list[Callable[[ContextEngine], object]] = [
            lambda one: one.rename(session_id, "x"),
            lambda one: one.set_model(session_id, None),
            lambda one: one.set_system(session_id, "Be brief."),
            lambda one: one.set_tools(session_id, [{"name": "x"}]),
            lambda one: one.set_goal(session_id, 0),
            lambda one: one.set_working_state(session_id, None),
            lambda one: one.append(session_id, [{"role": "user", "content": "x"}]),
            lambda one: one.pin(session_id, 0),
            lambda one: one.unpin(session_id, 0),
            lambda one: one.add_rule(session_id, 0, SECRET),
            lambda one: one.compact(session_id),
            lambda one: one.undo(session_id),
            lambda one: one.redo(session_id),
            lambda one: one.take_over(session_id),
            lambda one: list(one.chat(session_id, "x", model="gpt-4o")),
            lambda one: one.begin_call(session_id, [{"role": "user", "content": "x"}]),
            lambda one: one.restore(session_id),
        ]
        for change in changes:
            told = recorded_by(people, change)
            assert told - {"open"} == {"change"}, change

        assert recorded_by(people, lambda one: one.delete(session_id)) == {"delete"}
        assert recorded_by(people, lambda one: one.purge(session_id)) == {"delete"}

    def test_titles_of_forks_that_others_made_are_recorded(self, people: Installation) -> None:
        fork = people.auditor.fork(people.session_id, 1, title="My copy")
        people.auditor.people.set_roles("owner", is_operator=True, is_auditor=True)

        found = people.owner.people.relatives(people.session_id)

        assert [one.title for one in found] == [SECRET, "My copy"]
        assert people.auditor.people.audit()[0].action == "list"
        assert [one.id for one in people.operator.people.sessions("auditor")] == [fork.id]

    def test_others_forks_are_not_told_to_users(self, people: Installation) -> None:
        people.auditor.fork(people.session_id, 1, title="My copy")

        found = people.owner.people.relatives(people.session_id)

        assert [one.id for one in found] == [people.session_id]

    def test_a_later_visit_is_recorded_again(self, people: Installation) -> None:
        now = Clock()()
        later = ContextEngine(people.auditor.store, user_id="auditor", clock=lambda: times.pop(0))
        times = [now, now + timedelta(minutes=59), now + timedelta(minutes=61)]

        for _ in range(3):
            later.session(people.session_id)

        assert len(people.recorded()) == 2

    def test_ones_own_sessions_are_not_recorded(self, people: Installation) -> None:
        people.owner.export(people.session_id)
        people.owner.context(people.session_id)
        people.owner.people.sessions("owner")

        assert people.recorded() == []

    def test_what_cannot_be_recorded_is_not_shown(
        self, people: Installation, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(entries: object) -> None:
            raise RecordNotFoundError(kind="user", record_id="x")

        monkeypatch.setattr(people.auditor.store, "record_audit", fail)

        for _ in range(2):
            with pytest.raises(RecordNotFoundError):
                people.auditor.session(people.session_id)

    def test_recall_across_sessions_of_another_is_recorded_for_each(
        self, people: Installation
    ) -> None:
        owner = people.owner
        trip = owner.create_session("Trip")
        said = [
            "Our ferry to Orust leaves from pier Nine.",
            *(f"A pebble, {n}." for n in range(20)),
        ]
        owner.append(trip.id, [{"role": "user", "content": text} for text in said])
        scope = Scope(kind="session", owner=people.session_id)
        owner.save_policy(scope, {"recalls_other_sessions": True})

        list(
            people.auditor.chat(people.session_id, "From which pier does our ferry to Orust leave?")
        )

        assert ("auditor", "recall", trip.id) in people.recorded()

    def test_a_copy_of_everything_takes_the_right_and_concerns_everybody(
        self, tmp_path: Path
    ) -> None:
        with engine_with(url=f"sqlite:///{tmp_path / 'a.db'}") as (local, _):
            local.user()
            work = ContextEngine(local.store, user_id="operator")
            work.user()
            local.people.set_roles("operator", is_operator=True)

            with pytest.raises(NotAuditorError):
                work.back_up(tmp_path / "b.db")
            assert not (tmp_path / "b.db").exists()
            local.back_up(tmp_path / "b.db")

            told = ContextEngine(local.store, user_id="owner").people.audit()
            assert [(one.user_id, one.action) for one in told] == [("local", "backup")]


def called_plainly(engine: ContextEngine, name: str, session_id: str) -> object:
    """A verb with the session, and a word where it takes one."""
    verb: Callable[..., object] = getattr(engine, name)
    return verb(session_id, "orchid") if name == "recall" else verb(session_id)


class TestFigures:
    def test_an_operator_lists_all_sessions_without_their_titles(
        self, people: Installation
    ) -> None:
        own = people.operator.create_session("My own")

        found = {one.id: one for one in people.operator.people.sessions()}

        assert found[own.id].title == "My own"
        assert (found[people.session_id].title, found[people.session_id].length) == ("", 2)
        assert SECRET not in repr(found)
        assert people.operator.people.count_sessions() == 2
        assert people.operator.people.figures(people.session_id).title == ""
        assert people.operator.costs([*found.values()]).keys() <= {people.session_id}
        assert people.recorded() == []

    def test_titles_of_others_cannot_be_guessed_by_searching_them(
        self, people: Installation
    ) -> None:
        listed = people.operator.people

        assert listed.sessions(title="orchid") == []
        assert listed.sessions("owner", title="orchid") == []
        assert listed.count_sessions(title="orchid") == 0
        assert listed.count_sessions("owner", title="orchid") == 0
        assert listed.count_sessions("owner") == 1

    def test_titles_that_an_auditor_sees_are_recorded(self, people: Installation) -> None:
        [found] = people.auditor.people.sessions("owner")

        assert found.title == SECRET
        assert people.recorded() == [("auditor", "list", people.session_id)]

    def test_users_see_neither_lists_nor_figures_of_others(self, people: Installation) -> None:
        listed = people.stranger.people
        refused: list[Callable[[], object]] = [
            listed.sessions,
            listed.count_sessions,
            lambda: listed.sessions("owner"),
            lambda: listed.figures(people.session_id),
            lambda: people.stranger.policy(people.session_id),
            lambda: people.stranger.due_sessions(everybody=True),
        ]
        for attempt in refused:
            with pytest.raises(NotAllowedError):
                attempt()
        assert listed.sessions("stranger") == []

    def test_an_operator_sets_thresholds_of_a_session_that_may_not_be_read(
        self, people: Installation
    ) -> None:
        scope = Scope(kind="session", owner=people.session_id)

        people.operator.save_policy(scope, {"trigger_ratio": 0.61})

        assert people.operator.policy(people.session_id).policy.trigger_ratio == 0.61
        assert "0.61" in people.operator.reports.policy_text(scope)
        assert people.recorded() == []

    def test_what_is_due_for_deletion_has_no_titles(self, people: Installation) -> None:
        due = people.operator.due_sessions(everybody=True, instead=(Scope(), 0))

        assert SECRET not in repr(due)

    def test_alerts_count_lost_rules_without_saying_them(self, people: Installation) -> None:
        why = AlertCode.RULES_LOST(count=1, rules=(SECRET,))
        store, at = people.auditor.store, Clock()()
        store.raise_alert(people.session_id, "rules:c", why, user_id="owner", at=at)

        [seen], [read] = people.operator.reports.alerts(), people.auditor.reports.alerts()

        assert SECRET not in repr(seen)
        assert str(seen.reason) == "a compaction lost 1 standing instructions"
        assert SECRET in str(read.reason)
        assert people.recorded() == [("auditor", "open", people.session_id)]

    def test_the_state_of_the_installation_has_no_running_answer(
        self, people: Installation
    ) -> None:
        events = people.owner.chat(people.session_id, SECRET, system=SECRET)
        next(events)

        health = people.operator.health()
        events.close()  # type: ignore[attr-defined]  # a generator

        assert len(health.running) == 1
        assert SECRET not in repr(health)

    def test_reports_hold_figures_alone(self, people: Installation) -> None:
        reports = people.operator.reports
        people.owner.save_policy(Scope(kind="user", owner="owner"), {"is_shadow": True})
        list(people.owner.chat(people.session_id, SECRET * 300))

        told = repr(
            [reports.savings(), reports.effects(Scope()), reports.shadow(), reports.changes()]
        )

        assert people.auditor.store.events_of(PLANNED, Scope(), limit=1) is not None
        assert SECRET not in told


class TestRoles:
    def test_the_first_user_has_all_roles_and_the_second_none(self) -> None:
        with engine_with() as (local, _):
            second = ContextEngine(local.store, user_id="second")

            assert local.user().reads_others
            assert (second.user().is_operator, second.user().is_auditor) == (False, False)

    def test_only_operators_set_roles(self, people: Installation) -> None:
        refused: list[Callable[[], object]] = [
            lambda: people.owner.people.set_roles("owner", is_operator=True),
            lambda: people.owner.people.rename("owner", "x"),
            lambda: people.owner.people.group("owner", "x"),
        ]
        for attempt in refused:
            with pytest.raises(NotAllowedError):
                attempt()

    def test_nobody_takes_the_right_to_read_for_themselves(self, people: Installation) -> None:
        with pytest.raises(RoleError):
            people.operator.people.set_roles("operator", is_operator=True, is_auditor=True)

        with pytest.raises(RoleError):
            people.operator.people.appoint("operator", is_auditor=True)

        people.auditor.people.set_roles("operator", is_operator=True, is_auditor=True)
        assert people.operator.session(people.session_id).title == SECRET

    def test_an_operator_cannot_read_by_taking_a_session_over(self, people: Installation) -> None:
        with pytest.raises(NotAuditorError):
            people.operator.assign(people.session_id, "operator")

        people.auditor.assign(people.session_id, "stranger")
        assert people.recorded() == [("auditor", "assign", people.session_id)]

    def test_the_last_operator_stays_and_only_operators_are_auditors(
        self, people: Installation
    ) -> None:
        roles = people.auditor.people
        assert not roles.set_roles("owner", is_operator=False, is_auditor=True).is_auditor
        roles.set_roles("operator", is_operator=False)

        with pytest.raises(LastOperatorError):
            roles.set_roles("auditor", is_operator=False)
        with pytest.raises(RecordNotFoundError):
            roles.set_roles("nobody", is_operator=True)

    def test_who_loses_the_right_loses_results_that_hold_texts(self, people: Installation) -> None:
        auditor = people.auditor
        job = start_trial(auditor, [people.session_id], [])
        assert auditor.jobs.wait(job.id, 60)
        auditor.people.set_roles("operator", is_operator=True, is_auditor=True)

        people.operator.people.set_roles("auditor", is_operator=True)

        with pytest.raises(RecordNotFoundError):
            auditor.jobs.job(job.id)

    def test_roles_of_a_login_replace_those_of_the_store(self, people: Installation) -> None:
        new = ContextEngine(people.auditor.store, user_id="new")

        assert not new.people.take_roles(is_operator=False).is_operator
        assert new.people.take_roles(is_operator=True, is_auditor=True).reads_others
        new.people.take_roles(is_operator=True, is_auditor=True)  # the same again
        assert not new.people.take_roles(is_operator=False, is_auditor=True).is_auditor

        told = [(one.action, one.is_operator, one.is_auditor) for one in new.people.audit()]
        assert told == [("login_roles", False, False), ("login_roles", True, True)]

    def test_with_roles_of_a_login_the_first_user_has_no_others(self) -> None:
        with engine_with(user_id="first") as (first, _):
            assert not first.people.take_roles(is_operator=False).is_operator
            assert not first.user().is_operator


class TestKeeping:
    def test_records_outlive_a_session_and_are_erased_after_a_year(
        self, people: Installation
    ) -> None:
        people.auditor.session(people.session_id)
        people.owner.delete(people.session_id)
        people.owner.purge(people.session_id)
        assert people.recorded() == [("auditor", "open", people.session_id)]
        with pytest.raises(SessionNotFoundError):
            people.auditor.session(people.session_id)

        now = Clock()()
        for days, left in ((364, 1), (367, 0)):
            times = repeat(now + timedelta(days=days))
            ContextEngine(people.auditor.store, clock=times.__next__).purge_expired()
            assert len(people.recorded()) == left

    def test_no_verb_changes_or_removes_a_record(self) -> None:
        verbs = {name for name, _ in inspect.getmembers(People, inspect.isfunction)}

        assert {name for name in verbs if "audit" in name} == {"audit", "aaudit"}


def test_operators_of_a_database_of_before_keep_what_they_could_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    writer, _ = make_engines(make_url(url))
    with writer.begin() as connection:
        upgrade(connection, to="0018")
        connection.execute(
            text(
                'INSERT INTO "user" (id, name, "group", is_operator, created_at) VALUES'
                " ('ada', 'Ada', '', 1, '2026-01-01'), ('ben', 'Ben', '', 0, '2026-01-01')"
            )
        )
    writer.dispose()

    with engine_with(url=url) as (engine, _):
        kept = {one.id: one.reads_others for one in engine.store.list_users()}

    assert kept == {"ada": True, "ben": False}
