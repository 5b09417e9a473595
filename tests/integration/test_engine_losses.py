"""What a stored compaction lost: facts with place and need, of ours and of another product's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.building import build_context
from ctxcore.compaction.loss_report import visibility
from ctxcore.engine.compactions import LossReport
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.policy.values import Policy
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import Scope
from tests.engines import START, engine_with
from tests.losing_sessions import PART, TICKETS, losing_session, recorded_session, ticket_session


def test_each_lost_fact_has_its_kind_place_and_worth() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)

        report = engine.losses(session_id, made.id)

        assert report.lost is not None
        assert {one.text for one in report.lost} == {*(made.compaction.facts_lost or ())}
        assert report.unplaced == ()
        messages = engine.store.messages(session_id)
        assert all(one.text in messages[one.at].message.text for one in report.lost)
        assert {one.kind for one in report.lost} == {"identifier"}
        saliences = [one.salience for one in report.lost]
        assert saliences == sorted(saliences, reverse=True)


def test_what_is_used_again_comes_first_and_tells_where() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        lost = (made.compaction.facts_lost or ())[-1]
        length = engine.session(session_id).length
        engine.append(
            session_id,
            [
                {"role": "assistant", "content": "Fine."},
                {"role": "user", "content": f"And {lost}?"},
            ],
        )

        report = engine.losses(session_id, made.id)

        (needed,) = report.needed_later
        assert (needed.text, needed.needed_at, needed.needed_by) == (lost, length + 1, "user")
        assert report.lost is not None
        assert report.lost[0] == needed


def test_later_facts_do_not_change_what_was_lost() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        before = engine.losses(session_id, made.id)

        engine.append(session_id, [{"role": "user", "content": "Forget all that. See XYZ-77."}])

        after = engine.losses(session_id, made.id)
        assert (after.lost, after.unplaced) == (before.lost, before.unplaced)


def test_what_was_needed_is_counted_lost_or_not_and_under_each_preset() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        lost = engine.losses(session_id, made.id).lost or ()
        kept = next(
            ticket for ticket in TICKETS if ticket not in (made.compaction.facts_lost or ())
        )
        folded = f"Again {lost[0].text}, {lost[1].text} and {kept}."
        assert str(engine.losses(session_id, made.id).verdict.reason).startswith("nothing was said")  # type: ignore[union-attr]  # looked for
        engine.append(session_id, [{"role": "user", "content": folded}])

        report = engine.losses(session_id, made.id)
        others = engine.losses_under(session_id, made.id, Policy.presets())

        assert report.verdict is not None
        assert report.verdict.gone == 2
        assert set(report.needed) >= {lost[0].text, lost[1].text}
        assert report.verdict.needed == len(report.needed)
        assert [one.preset for one in others] == list(Policy.presets())
        assert all(one.gone is None or 0 <= one.gone <= report.verdict.needed for one in others)
        assert any(one.gone is not None for one in others)


def test_a_proposal_is_judged_by_what_the_messages_that_stay_use() -> None:
    with engine_with() as (engine, _):
        session_id = ticket_session(engine)
        first = TICKETS[2]
        engine.append(session_id, [{"role": "user", "content": f"And once more {first}?"}])

        proposal = engine.propose(session_id)
        judged = engine.proposed_losses(proposal)

        assert {one.text for one in judged.lost} == {one.text for one in proposal.outcome.lost}
        assert judged.verdict.needed >= judged.verdict.gone
        written = engine.edit(proposal, "Everything is fine.")
        worse = engine.proposed_losses(written).verdict
        assert worse.gone >= judged.verdict.gone


def test_an_undone_compaction_is_told_too() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        before = engine.losses(session_id, made.id)

        engine.undo(session_id)

        assert engine.losses(session_id, made.id) == before


def test_a_record_that_did_not_look_for_losses_says_so() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        old = replace(made.compaction, facts_lost=None)
        engine.store.record_compaction(session_id, "old", old, parent_id=made.id, at=START)

        assert engine.losses(session_id, "old").lost is None


def test_a_lost_fact_that_no_message_says_is_told_by_its_text() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        odd = replace(made.compaction, facts_lost=("never said",))
        engine.store.record_compaction(session_id, "odd", odd, parent_id=made.id, at=START)

        report = engine.losses(session_id, "odd")

        assert (report.lost, report.unplaced) == ((), ("never said",))


def test_an_edited_summary_loses_what_it_does_not_say() -> None:
    with engine_with() as (engine, _):
        proposal = engine.propose(ticket_session(engine))
        assert proposal.record is not None
        lost = proposal.record.facts_lost or ()

        made = engine.confirm(proposal, summary=f"{proposal.record.summary}\nAlso {lost[0]}.")

        assert made is not None
        assert made.compaction.facts_lost == lost[1:]


def test_an_edit_is_measured_before_it_is_recorded() -> None:
    with engine_with() as (engine, _):
        session_id = ticket_session(engine)
        proposal = engine.propose(session_id)

        edited = engine.edit(proposal, "Everything is fine.")

        assert engine.compactions(session_id) == []
        assert edited.record is not None
        assert proposal.record is not None
        assert edited.record.summary == "Everything is fine."
        gone = {one.text for one in edited.outcome.lost} - {
            one.text for one in proposal.outcome.lost
        }
        assert gone
        assert all(text in proposal.record.summary for text in gone)
        assert edited.effect is not None
        assert edited.after is not None
        assert edited.effect.with_tokens == edited.after.tokens
        assert edited.effect != proposal.effect
        assert engine.edit(proposal, proposal.record.summary) is proposal
        made = engine.confirm(proposal, summary="Everything is fine.")
        assert made is not None
        assert made.compaction == edited.record
        assert made.effect == edited.effect


def test_a_folded_message_is_represented_where_summary_or_facts_say_something_of_it() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        target = engine.call_target(session_id)
        context = build_context(target.view, target.call, made.compaction)

        seen = visibility(target.view, context, made.compaction)
        silent = replace(made.compaction, summary="All is well.", facts="", lineage=())
        told = f"{made.compaction.facts}\n{made.compaction.summary}"
        named = [ticket for ticket in TICKETS if ticket in told]

        assert named
        assert seen.represented >= len(named) > 0
        assert seen.shown + seen.represented + seen.gone == target.view.count()
        assert visibility(target.view, context, silent).represented == 0


def imported(engine: ContextEngine) -> tuple[str, LossReport]:
    (session,) = engine.import_(recorded_session(), name="recorded.jsonl")
    (made,) = engine.compactions(session.id)
    return session.id, engine.losses(session.id, made.id)


def test_what_another_product_lost_is_measured_beside_ours() -> None:
    with engine_with() as (engine, _):
        _, report = imported(engine)

        needed = {one.text: (one.needed_at, one.needed_by) for one in report.needed_later}
        assert needed[PART] == (13, "call")
        assert needed["REQ-3004"] == (15, "user")
        account = report.account
        assert account is not None
        assert (account.fold.at, account.fold.trigger, account.fold.before_tokens) == (
            13,
            "auto",
            5_000,
        )
        assert account.ours is not None
        assert account.ours.tokens <= account.shown_tokens
        assert report.policy == "default"
        assert [repeat.what for repeat in account.repeats] == [PART]
        assert account.repeated_tokens > 0


def test_the_account_is_that_of_the_policy_of_the_session() -> None:
    with engine_with() as (engine, _):
        session_id, _ = imported(engine)
        (made,) = engine.compactions(session_id)
        engine.save_policy(Scope(kind="session", owner=session_id), {"name": "pi"})

        assert engine.losses(session_id, made.id).policy == "pi"


def test_the_account_survives_export_and_import() -> None:
    with engine_with() as (engine, _):
        session_id, report = imported(engine)
        (copy,) = engine.import_(engine.export(session_id), name="copy")
        (made,) = engine.compactions(copy.id)

        again = engine.losses(copy.id, made.id)

        assert again == replace(report, compaction_id=made.id)


def test_somebody_else_is_told_nothing() -> None:
    with engine_with() as (engine, _):
        session_id, made = losing_session(engine)
        eve = ContextEngine(engine.store, user_id="eve")

        with pytest.raises(NotAllowedError):
            eve.losses(session_id, made.id)


def test_a_compaction_of_another_session_is_not_found() -> None:
    with engine_with() as (engine, _):
        _, made = losing_session(engine)
        other = engine.create_session("other")

        with pytest.raises(RecordNotFoundError):
            engine.losses(other.id, made.id)
