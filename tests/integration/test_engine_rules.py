"""Rules that people add and dismiss: what then reads them, who may, what keeps them."""

from __future__ import annotations

import pytest

from ctxcore import CompactionState, compact, fit
from ctxcore.compaction.rules_in_force import rule_candidates, rules_in_force
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError, PlaceError, RuleError, StaleProposalError
from ctxcore.facts.rule_edits import RuleEdit
from ctxcore.messages.values import text_message
from ctxcore.reasons.storage_problems import ChangeCode
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import Scope
from tests.engines import START, engine_with
from tests.histories import assistant, user

FOUND = "Never call the harbour before nine."
MISSED = "Departures are told in local time, as a matter of course."
FILLER = "And what about the weather there, would it matter? " * 12

TALK = [
    *(user(f"Hello. {FOUND}"), assistant("Fine."), user(f"Good. {MISSED}"), assistant("Yes.")),
    *(message for _ in range(14) for message in (user(FILLER), assistant(FILLER))),
]


def session_with(engine: ContextEngine) -> str:
    """The rule that is found is in message 3, the one that is missed in message 5."""
    session = engine.create_session("Ferry")
    scope = Scope(kind="session", owner=session.id)
    engine.save_policy(scope, {"strategies": ["fold_oldest"]})
    engine.append(session.id, [user("Where does it go?"), assistant("North."), *TALK])
    return session.id


def in_force(engine: ContextEngine, session_id: str) -> list[str]:
    target = engine.call_target(session_id)
    return [rule.text for rule in rules_in_force(target.view, engine.context(session_id))]


def terse(engine: ContextEngine) -> ContextEngine:
    """The same with summaries that say nothing, so that facts have to be carried."""
    return ContextEngine(engine.store, model="test", summarizer=lambda *_: "They talked.")


def sent(engine: ContextEngine, session_id: str) -> str:
    return str(engine.context(session_id).messages)


def test_contexts_and_compactions_follow_what_people_say_of_rules() -> None:
    with engine_with(window=1_600) as (engine, _):
        session_id = session_with(engine)
        assert in_force(engine, session_id) == [FOUND]

        terse(engine).compact(session_id)
        assert (FOUND in sent(engine, session_id), MISSED in sent(engine, session_id)) == (
            True,
            False,
        )
        engine.undo(session_id)

        added = engine.add_rule(session_id, 4, MISSED)
        dismissed = engine.dismiss_rule(session_id, 2, FOUND)
        terse(engine).compact(session_id)

        assert added is not None
        assert dismissed is not None
        assert (added.set_by, added.kind, added.seq) == ("local", "add", 5)
        assert added.set_at >= START
        assert in_force(engine, session_id) == [MISSED]
        assert (FOUND in sent(engine, session_id), MISSED in sent(engine, session_id)) == (
            False,
            True,
        )


def test_a_rule_that_a_person_adds_is_followed_even_where_no_model_takes_part() -> None:
    names = {"user": "Anna", "assistant": "Ben"}
    letters = [text_message(one.role, f"{names[one.role]}: {one.text}") for one in TALK]
    with engine_with(window=1_600) as (engine, _):
        session = engine.create_session("Letters")
        engine.save_policy(Scope(kind="session", owner=session.id), {"strategies": ["fold_oldest"]})
        engine.append(session.id, letters)

        engine.add_rule(session.id, 2, f"Anna: Good. {MISSED}")
        terse(engine).compact(session.id)

        assert MISSED in sent(engine, session.id)


def test_losses_follow_them_too() -> None:
    with engine_with(window=1_600) as (engine, _):
        session_id = session_with(engine)
        scope = Scope(kind="session", owner=session_id)
        engine.save_policy(scope, {"strategies": ["fold_oldest"], "facts_ratio": None})
        info = terse(engine).compact(session_id)
        assert info is not None
        lost = info.compaction.facts_lost or ()

        engine.undo(session_id)
        engine.add_rule(session_id, 4, MISSED)
        engine.dismiss_rule(session_id, 2, FOUND)
        again = terse(engine).compact(session_id)

        assert again is not None
        assert (FOUND in lost, MISSED in lost) == (True, False)
        assert FOUND not in (again.compaction.facts_lost or ())
        assert MISSED in (again.compaction.facts_lost or ())
        report = engine.losses(session_id, again.id)
        assert [one.text for one in report.lost or () if one.kind == "instruction"] == [MISSED]


def test_the_opposite_takes_an_edit_back_and_leaves_its_story() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)

        assert engine.dismiss_rule(session_id, 2, FOUND) is not None
        assert engine.add_rule(session_id, 2, FOUND) is None
        assert engine.add_rule(session_id, 4, MISSED) is not None
        assert engine.dismiss_rule(session_id, 4, MISSED) is None

        assert engine.rule_edits(session_id) == []
        assert in_force(engine, session_id) == [FOUND]
        made = engine.rule_edits(session_id, with_undone=True)
        assert [(edit.kind, edit.cleared_by) for edit in made] == [
            ("dismiss", "local"),
            ("add", "local"),
        ]


def test_an_edit_is_undone_by_its_number() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)
        edit = engine.dismiss_rule(session_id, 2, FOUND)
        assert edit is not None
        assert in_force(engine, session_id) == []

        assert engine.undo_rule_edit(session_id, edit.id)

        assert not engine.undo_rule_edit(session_id, edit.id)
        assert in_force(engine, session_id) == [FOUND]
        with pytest.raises(RecordNotFoundError):
            engine.undo_rule_edit(session_id, 99)


def test_only_what_a_message_says_can_be_added_or_dismissed() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)

        with pytest.raises(RuleError, match="does not say"):
            engine.add_rule(session_id, 0, "Always wear a hat.")
        with pytest.raises(RuleError, match="does not say"):
            engine.add_rule(session_id, 0, " ")
        with pytest.raises(RuleError, match="lays down no rule"):
            engine.dismiss_rule(session_id, 3, "Fine.")
        with pytest.raises(PlaceError):
            engine.add_rule(session_id, 900, MISSED)
        assert engine.add_rule(session_id, 2, FOUND) is None
        assert engine.rule_edits(session_id, with_undone=True) == []


def test_nobody_edits_the_rules_of_another() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)
        engine.create_user("eve")
        other = ContextEngine(engine.store, user_id="eve")

        for attempt in (
            lambda: other.add_rule(session_id, 4, MISSED),
            lambda: other.dismiss_rule(session_id, 2, FOUND),
            lambda: other.undo_rule_edit(session_id, 1),
            lambda: other.rule_edits(session_id),
        ):
            with pytest.raises(NotAllowedError):
                attempt()


def test_exports_forks_and_branches_keep_them() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)
        engine.add_rule(session_id, 4, MISSED)
        engine.dismiss_rule(session_id, 2, FOUND)

        [copy] = engine.import_(engine.export(session_id))
        fork, branch = engine.fork(session_id, 7), engine.branch(session_id, 8)

        assert engine.digest(copy.id) == engine.digest(session_id)
        for made in (copy, fork, branch):
            assert in_force(engine, made.id) == [MISSED]
            assert [edit.set_by for edit in engine.rule_edits(made.id)] == ["local", "local"]
        assert in_force(engine, engine.fork(session_id, 3).id) == []


def test_a_proposal_is_stale_once_a_rule_is_edited() -> None:
    with engine_with(window=1_600) as (engine, _):
        session_id = session_with(engine)
        proposal = engine.propose(session_id)

        engine.add_rule(session_id, 4, MISSED)

        with pytest.raises(StaleProposalError) as caught:
            engine.confirm(proposal)
        assert caught.value.changed == ChangeCode.RULES()


def test_sentences_that_are_no_rules_yet_are_offered() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)

        assert rule_candidates(engine.call_target(session_id).view, 3) == ["Hello."]
        assert rule_candidates(engine.call_target(session_id).view, 5) == ["Good.", MISSED]
        engine.add_rule(session_id, 4, MISSED)
        engine.dismiss_rule(session_id, 2, FOUND)
        assert rule_candidates(engine.call_target(session_id).view, 3) == ["Hello.", FOUND]
        assert rule_candidates(engine.call_target(session_id).view, 5) == ["Good."]


def test_a_later_process_reads_them_with_its_checkpoints() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)
        engine.dismiss_rule(session_id, 2, FOUND)
        assert in_force(engine, session_id) == []

        engine.append(session_id, [user(FOUND), assistant("As you said.")])

        assert in_force(engine, session_id) == []


def test_the_state_of_plain_lists_has_them_too() -> None:
    edits = (
        RuleEdit(kind="dismiss", seq=1, text=FOUND),
        RuleEdit(kind="add", seq=3, text=MISSED),
    )

    result = compact(
        TALK,
        max_tokens=1_200,
        force=True,
        state=CompactionState(rule_edits=edits),
        summarizer=lambda *_: "They talked.",
    )
    again = fit(TALK, max_tokens=1_200, state=CompactionState.from_json(result.state.to_json()))

    assert result.state.rule_edits == edits
    assert result.state.active is not None
    assert MISSED in result.state.active.facts
    assert f"- {FOUND}" not in result.state.active.facts
    assert MISSED in str(again.messages)


def test_they_move_with_their_messages_and_a_dismissal_outlives_its_own() -> None:
    edits = (
        RuleEdit(kind="dismiss", seq=1, text=FOUND),
        RuleEdit(kind="add", seq=3, text=MISSED),
    )
    state = compact(
        TALK, max_tokens=1_200, force=True, state=CompactionState(rule_edits=edits)
    ).state

    moved = compact(TALK[2:], max_tokens=1_200, state=state).state

    assert moved.rule_edits == (
        RuleEdit(kind="dismiss", seq=0, text=FOUND),
        RuleEdit(kind="add", seq=1, text=MISSED),
    )


def test_presets_are_compared_with_the_rules_as_people_see_them() -> None:
    with engine_with(window=1_600) as (engine, _):
        session_id = session_with(engine)
        engine.add_rule(session_id, 4, MISSED)
        info = terse(engine).compact(session_id)
        assert info is not None
        engine.append(session_id, [user(f"Again: {MISSED}")])

        (under,) = engine.losses_under(session_id, info.id, ["default"])

        assert MISSED in engine.losses(session_id, info.id).needed
        assert under.gone == 0
