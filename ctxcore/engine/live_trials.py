"""Sends one question of a session to its model under two policies, and keeps both answers.

What would be sent, and what that costs at most, is worked out first, as one job; sending it is
another. Nothing is appended to the session, and no job holds a connection or a key.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from ctxcore.engine.calls import CUT_REASONS
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NoModelError, TurnStateError
from ctxcore.engine.factors import factor_of
from ctxcore.engine.jobs import Progress
from ctxcore.engine.sending import reply_limit, stream_reply, with_own_price
from ctxcore.engine.services import CallTarget
from ctxcore.engine.trials import trial_session
from ctxcore.errors import ContextError, TrialError
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.gateway.values import Gateway, ModelReply, ModelRequest, ModelUsage, TextDelta
from ctxcore.json_types import JsonObject
from ctxcore.messages.values import Message, Reasoning, Text, ToolCall
from ctxcore.plain import Plain
from ctxcore.policy.layers import set_values
from ctxcore.policy.values import Policy
from ctxcore.reasons.problems import TrialProblem
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.reasons.values import from_json as reason_from_json
from ctxcore.reasons.values import to_json as reason_to_json
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import JobInfo
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.prices import Price
from ctxcore.trials.candidates import Candidate
from ctxcore.trials.live import Asking, LiveOffer, LiveSide, side_of
from ctxcore.trials.running import UNIT_MESSAGES
from ctxcore.trials.values import TrialSession

LIVE_OFFER = "live_offer"
LIVE_ANSWERS = "live_answers"
"""The kinds of jobs."""
MOST_KEPT = 200  # chosen: answers that are looked through for those of one question


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAnswer(Plain):
    """What a model answered to one side; with an error, what had arrived before it."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Tools that it asked for; they are not run."""
    finish_reason: str = ""
    usage: ModelUsage = field(default_factory=ModelUsage)
    cost: float | None = None
    """US dollars; None where price or usage is not known."""
    seconds: float | None = None
    first_token_seconds: float | None = None
    error: Reason | None = None

    @property
    def message(self) -> Message:
        """The answer as a message of a model."""
        thoughts = (Reasoning(text=self.reasoning),) if self.reasoning else ()
        text = (Text(text=self.text),) if self.text else ()
        return Message(role="assistant", content=(*thoughts, *text), calls=self.calls)

    @property
    def is_cut(self) -> bool:
        """Whether the model did not end it by itself."""
        return self.finish_reason in CUT_REASONS

    @classmethod
    def of(cls, reply: ModelReply, own_tools: dict[str, str]) -> LiveAnswer:
        """A whole reply, with the session's own names of tools."""
        return cls(
            text=reply.text,
            reasoning=reply.reasoning,
            calls=tuple(
                replace(call, name=own_tools.get(call.name, call.name)) for call in reply.calls
            ),
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            cost=reply.cost,
            seconds=reply.latency_seconds,
            first_token_seconds=reply.first_token_seconds,
        )

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in self.calls
            ],
            "finish_reason": self.finish_reason,
            "usage": self.usage.to_dict(),
            "cost": self.cost,
            "seconds": self.seconds,
            "first_token_seconds": self.first_token_seconds,
            "error": reason_to_json(self.error) if self.error else None,
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> LiveAnswer:
        """What `to_dict` gave."""
        raw: dict[str, Any] = plain
        return cls(
            text=raw["text"],
            reasoning=raw["reasoning"],
            calls=tuple(ToolCall(**call) for call in raw["calls"]),
            finish_reason=raw["finish_reason"],
            usage=ModelUsage(**raw["usage"]),
            cost=raw["cost"],
            seconds=raw["seconds"],
            first_token_seconds=raw["first_token_seconds"],
            error=reason_from_json(raw["error"]) if raw["error"] else None,
        )


def start_offer(
    engine: ContextEngine, session_id: str, question: str, candidates: tuple[Candidate, Candidate]
) -> JobInfo:
    """Starts working out what both candidates would send; the result is a `LiveOffer` as JSON.

    Raises:
        SessionNotFoundError, NotAllowedError: there is none, or it is another user's.
        NoModelError: neither the session nor the engine has a model.
        TrialError: there is no question.
        PolicyError: a candidate has no policy in the session.
    """
    if not (question := question.strip()):
        raise TrialError(TrialProblem.NO_QUESTION())
    session = engine.session(session_id, action="replay")
    model = session.model or engine.default_model
    if model is None:
        raise NoModelError
    policy, catalog = engine.policy(session_id), engine.models()
    for candidate in candidates:
        candidate.policy_for(set_values(policy.policy, policy.sources))
    spec: JsonObject = {
        "session": session_id,
        "question": question,
        "candidates": [candidate.to_dict() for candidate in candidates],
    }
    price = catalog.price(model, is_imported=False)

    def work() -> Generator[Progress, None, JsonObject]:
        offer = yield from _offer(engine, session_id, question, candidates, model, price)
        return offer.to_dict()

    reads: JsonObject = {
        "model": catalog.info(model).to_dict(),
        "price": price.to_dict() if price else None,
        "policy": policy.policy.to_dict(),
        "factor": factor_of(engine.store, session, model, counter_for(model), Policy()).to_dict(),
    }
    return engine.jobs.start(LIVE_OFFER, spec, work, session_ids=[session_id], reads=reads)


def start_answers(engine: ContextEngine, offer_id: str, *, attempt: int = 1) -> JobInfo:
    """Sends what an offer has, one side after the other; the result has a `LiveAnswer` for each.

    The same attempt is sent once, however often it is asked for. A side that fails has the reason
    in its answer, and the other is sent all the same; a refused side has none.

    Args:
        engine: Of the user who asked for the offer.
        offer_id: The job of `start_offer`, which is done.
        attempt: The number of the attempt, from 1; another number sends again.

    Raises:
        RecordNotFoundError: there is no such offer, it is another user's, or not worked out yet.
        NoModelError: the engine has no gateway.
        TrialError: no side fits.
    """
    job = engine.jobs.job(offer_id)
    if job.kind != LIVE_OFFER or job.result is None:
        raise RecordNotFoundError(kind="job", record_id=offer_id)
    offer = LiveOffer.from_dict(job.result)
    gateway, catalog = engine.gateway, engine.models()
    if gateway is None:
        raise NoModelError
    if not offer.sendable:
        raise TrialError(TrialProblem.NOTHING_TO_SEND())
    connection, price = catalog.connection(offer.model), catalog.own_price(offer.model)

    def work() -> Generator[Progress, None, JsonObject]:
        done, total = 0, len(offer.sendable)
        answers: list[LiveAnswer | None] = []
        for side in offer.sides:
            if side.refused is not None:
                answers.append(None)
                continue
            request = ModelRequest(
                model=offer.model,
                messages=[one.message for one in side.messages],
                tools=side.tools,
                max_output_tokens=side.max_output_tokens,
                connection=connection,
            )
            asked = _answer(gateway, request, side, price)
            answers.append((yield from _at(asked, (done, total))))
            done += 1
            yield done, total
        return {"answers": [answer.to_dict() if answer else None for answer in answers]}

    spec: JsonObject = {"offer": offer_id, "attempt": attempt}
    return engine.jobs.start(LIVE_ANSWERS, spec, work, session_ids=[offer.session_id])


def load_answers(result: JsonObject) -> list[LiveAnswer | None]:
    """The answers of a job, a side each; None for a side that was refused."""
    raw: dict[str, Any] = result
    return [one and LiveAnswer.from_dict(one) for one in raw["answers"]]


def answer_jobs(engine: ContextEngine, offer_id: str) -> list[JobInfo]:
    """The jobs that sent an offer, the newest first, without their results."""
    jobs = engine.jobs.recent(LIVE_ANSWERS, limit=MOST_KEPT)
    return [job for job in jobs if job.spec.get("offer") == offer_id]


def delete_offer(engine: ContextEngine, offer_id: str) -> None:
    """Erases an offer with its answers; what runs stops.

    Raises:
        RecordNotFoundError: there is none, or it is another user's.
    """
    for job in answer_jobs(engine, offer_id):
        engine.jobs.delete(job.id)
    engine.jobs.delete(offer_id)


def _offer(
    engine: ContextEngine,
    session_id: str,
    question: str,
    candidates: tuple[Candidate, Candidate],
    model: str,
    price: Price | None,
) -> Generator[Progress, None, LiveOffer]:
    session = trial_session(engine, session_id)
    target = engine.call_target(session_id)
    asking = _asking(session, target, question)
    sides = list[LiveSide]()
    for place, candidate in enumerate(candidates):
        before, total = place * asking.size, len(candidates) * asking.size
        sides.append((yield from _side(asking, candidate, target, price, before, total)))
    assert session.window_tokens is not None  # of a stored session it is known, or assumed
    return LiveOffer(
        session_id=session_id,
        title=session.title,
        question=question,
        model=model,
        window_tokens=session.window_tokens,
        is_window_assumed=session.is_window_assumed,
        is_exact=counter_for(model).is_exact,
        price=price,
        sides=tuple(sides),
    )


def _asking(session: TrialSession, target: CallTarget, question: str) -> Asking:
    """The session with its question, without what no context shows, with its pins and rules."""
    anchors, seqs = target.view.anchors(), session.seqs or ()
    shown = [at for at, seq in enumerate(seqs) if seq not in {*anchors.excluded}]
    places = {seqs[at]: place for place, at in enumerate(shown, start=1)}
    session = replace(
        session,
        messages=[session.messages[at] for at in shown],
        seqs=list(places),
        pinned=[places[seq] for seq in anchors.pinned if seq in places],
        excluded=(),
    )
    return Asking(
        session,
        question,
        rule_edits=RuleEdits.of(
            replace(edit, seq=places[edit.seq])
            for edit in target.view.rule_edits().edits
            if edit.seq in places
        ),
    )


def _side(
    asking: Asking,
    candidate: Candidate,
    target: CallTarget,
    price: Price | None,
    before: int,
    total: int,
) -> Generator[Progress, None, LiveSide]:
    """What a candidate would send; yields progress at least every 50 messages."""
    steps, done, told = asking.under(candidate), 0, 0
    while True:
        try:
            done += next(steps)
        except StopIteration as ended:
            found = ended.value
            break
        except ContextError as error:
            return LiveSide(candidate=candidate, refused=error.reason)
        if done - told >= UNIT_MESSAGES:
            told = done
            yield before + done, total
    yield before + asking.size, total
    budget = None if isinstance(found, Reason) else found.budget
    limits = (reply_limit(budget, target.info), target.info.max_output_tokens)
    return side_of(
        asking,
        candidate,
        found,
        max_output_tokens=min((limit for limit in limits if limit), default=None),
        price=price,
        count_factor=target.factor.value,
    )


def _answer(
    gateway: Gateway, request: ModelRequest, side: LiveSide, price: Price | None
) -> Generator[None, None, LiveAnswer]:
    """The answer to one side; yields while it arrives, so that it can be cancelled."""
    text = ""
    try:
        with closing(stream_reply(gateway, request)) as stream:
            for event in stream:
                if isinstance(event, ModelReply):
                    return LiveAnswer.of(with_own_price(event, price), side.own_tools or {})
                if isinstance(event, TextDelta):
                    text += event.text
                yield
        raise TurnStateError(problem=TurnProblem.NO_REPLY())
    except ContextError as error:
        return LiveAnswer(text=text, error=error.reason)


def _at(
    steps: Generator[None, None, LiveAnswer], progress: Progress
) -> Generator[Progress, None, LiveAnswer]:
    """`steps` as units of a job that is so far."""
    with closing(steps):
        while True:
            try:
                next(steps)
            except StopIteration as ended:
                answer: LiveAnswer = ended.value
                return answer
            yield progress
