"""Finds the forgetting signals of a call and stores them; what fails here never fails the turn."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from ctxcore.assembly.context import Context
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.messages.values import Message
from ctxcore.signals.finding import find_in_reply, find_in_request
from ctxcore.signals.seen import Seen
from ctxcore.signals.values import FoundSignal
from ctxcore.store.values import CallInfo, SignalInfo

logger = logging.getLogger(__name__)


def record_signals(
    services: EngineServices,
    target: CallTarget,
    context: Context,
    reply: tuple[int, Message],
    before: CallInfo | None,
) -> None:
    """Stores the signals in the request of a turn's first call, and in the answer to a call.

    `context` was sent for `reply`, the stored answer with its number; `before` is the call before.
    The statements are as many in a long history as in a short one, and none where the context
    shows all messages and nobody complains.
    """
    try:
        found = [
            *_in_request(services, target, context, before),
            *_in_reply(target, context, reply),
        ]
        services.store.record_signals([_stored(services, target, *one) for one in found])
    except Exception as error:  # noqa: BLE001  the answer is stored, and matters more
        logger.warning(
            "signals not recorded session=%s error=%s", target.session.id, type(error).__name__
        )


def _in_request(
    services: EngineServices, target: CallTarget, context: Context, before: CallInfo | None
) -> Iterator[tuple[FoundSignal, str | None]]:
    """The signals in the request, each with the compaction of the context that they tell of.

    A user reacts to the answer before, so that what counts is what that call was sent. It is read
    where there is something to judge alone, so that most turns take no statement more.
    """
    seq = target.view.anchors().last_user
    if seq is None or seq != target.view.count():
        return
    seen, active = Seen(context.runs, before_recall=True), _active_id(target)
    message = target.view.get([seq])[0].message
    found = find_in_request(target.view, seq, message, seen)
    if found and before is not None:
        runs = services.store.runs(target.session.id, [before.id])[before.id]
        if runs and runs[-1].last + 1 < seq:
            found = find_in_request(target.view, seq, message, Seen(runs, before_recall=True))
            active = before.compaction_id
    yield from _with_compaction(found, active)


def _in_reply(
    target: CallTarget, context: Context, reply: tuple[int, Message]
) -> Iterator[tuple[FoundSignal, str | None]]:
    found = find_in_reply(target.view, *reply, Seen(context.runs))
    yield from _with_compaction(found, _active_id(target))


def _active_id(target: CallTarget) -> str | None:
    return target.active.id if target.active else None


def _with_compaction(
    found: Iterable[FoundSignal], active: str | None
) -> Iterator[tuple[FoundSignal, str | None]]:
    return ((one, active if one.is_covered else None) for one in found)


def _stored(
    services: EngineServices, target: CallTarget, found: FoundSignal, compaction_id: str | None
) -> SignalInfo:
    return SignalInfo(
        session_id=target.session.id,
        seq=found.seq,
        kind=found.kind,
        earlier=found.earlier,
        verdict=found.verdict,
        compaction_id=compaction_id,
        policy_version_id=target.effective.version_id,
        created_at=services.clock(),
    )
