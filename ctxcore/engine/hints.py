"""The hints of a stored session: an imported one as its file has it, another by its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ctxcore.assembly.prompts import Prompts
from ctxcore.assembly.verdicts import Run
from ctxcore.engine.costs import input_rate
from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.services import EngineServices
from ctxcore.engine.transcripts import transcript_of
from ctxcore.formats.hints import (
    Fold,
    Hint,
    PromptSent,
    Sent,
    find_hints,
    transcript_hints,
)
from ctxcore.formats.stays import stays_of_runs
from ctxcore.store.values import CallInfo, CompactionInfo, MessageInfo, SessionInfo, TurnInfo
from ctxcore.tokens.count import count_each, counter_for
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.prices import Price

Runs = Mapping[str, Sequence[Run]]


def session_hints(services: EngineServices, session_id: str) -> list[Hint]:
    """The hints of a session, those with the most tokens first; reads all of it."""
    session, store = services.session(session_id), services.store
    if not session.length:
        return []
    messages, calls = store.messages(session.id), store.calls(session.id, with_runs=False)
    model = session.model or services.default_model
    counter, models = counter_for(model), ModelCatalog.load(store)
    counts = _counts(services, session, messages, counter)
    own = [call for call in calls if call.purpose == "answer" and not call.is_imported]
    if not own:
        imported = store.imported_compactions(session.id)
        transcript = transcript_of(session, messages, calls, imported)
        transcript = replace(transcript, model=_model(calls) or transcript.model)

        def price_of(name: str | None) -> Price | None:
            return models.price(name, is_imported=True) if name else None

        return transcript_hints(transcript, counter, price_of, counts=counts)
    sent = _sent(services, session, messages, own, counts)
    price = models.price(own[-1].model, is_imported=False) if own[-1].model else None
    return find_hints(replace(sent, rate=input_rate(own, models), price=price), counter)


def _sent(
    services: EngineServices,
    session: SessionInfo,
    messages: Sequence[MessageInfo],
    calls: Sequence[CallInfo],
    counts: Sequence[int],
) -> Sent:
    store = services.store
    runs = store.runs(session.id, [call.id for call in calls])
    whole = {key: [run for run in found if _is_whole(run)] for key, found in runs.items()}
    newest = calls[-1].tools_digest
    return Sent(
        messages=[info.message for info in messages],
        counts=counts,
        stays=stays_of_runs(whole.values(), len(messages), summary_tokens=0).messages,
        was_shown=_shown_by(calls, whole),
        tools=session.tools,
        tool_calls=sum(call.tools_digest == newest for call in calls),
        prompts=list(_prompts(session, messages, calls, store.turns(session.id))),
        folds=_folds(store.compactions(session.id), calls),
    )


def _counts(
    services: EngineServices,
    session: SessionInfo,
    messages: Sequence[MessageInfo],
    counter: TokenCounter,
) -> Sequence[int]:
    store = services.store
    if store.has_counts(session.id, counter.id):
        return store.view(session.id, counter.id).sizes(1, len(messages))
    return count_each([info.message for info in messages], counter)


def _model(calls: Sequence[CallInfo]) -> str | None:
    return next((call.model for call in reversed(calls) if call.model), None)


def _is_whole(run: Run) -> bool:
    return run.verdict in ("kept", "recalled") and run.after_tokens >= run.before_tokens


def _shown_by(calls: Sequence[CallInfo], whole: Runs) -> Callable[[int, int], bool]:
    answered = {call.seq - 1: whole.get(call.id, ()) for call in calls if call.seq is not None}

    def was_shown(at: int, later: int) -> bool:
        return any(run.first <= at <= run.last for run in answered.get(later, ()))

    return was_shown


def _prompts(
    session: SessionInfo,
    messages: Sequence[MessageInfo],
    calls: Sequence[CallInfo],
    turns: Sequence[TurnInfo],
) -> Iterator[PromptSent]:
    """The system prompt of each call: the turn's own, else the session's at that time."""
    system = [info.seq for info in messages if info.message.is_system]
    of_turn = {turn.id: turn.system for turn in turns}
    for call in calls:
        own = of_turn.get(call.turn_id or "")
        if own is None:
            length = (call.seq or len(messages) + 1) - 1
            in_force = Prompts.of(system, session.system_changes, length, ()).in_force
            own = "\n".join(messages[seq - 1].message.text for seq in in_force)
        known = None not in (call.input_tokens, call.cached_tokens)
        missed = (call.input_tokens or 0) - (call.cached_tokens or 0) if known else None
        yield PromptSent(text=own, missed_tokens=missed)


def _folds(compactions: Sequence[CompactionInfo], calls: Sequence[CallInfo]) -> list[Fold]:
    """The compactions whose effect is known, with the calls made under them."""
    found = []
    for info in compactions:
        effect, cost = info.effect, info.details.get("cost")
        under = [call for call in calls if call.compaction_id == info.id]
        if effect is None or not under:
            continue
        seqs = [call.seq for call in calls if call.seq and call.created_at < info.created_at]
        found.append(
            Fold(
                at=max(seqs, default=info.compaction.covered_until),
                before_tokens=effect.without_tokens,
                after_tokens=effect.with_tokens,
                calls=len(under),
                summary_tokens=effect.summary_tokens,
                summary_dollars=float(cost) if isinstance(cost, (int, float)) else 0.0,
            )
        )
    return found
