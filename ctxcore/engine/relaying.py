"""Keeps sessions of conversations whose requests another program sends: finds the session of each
request, adds what is new in it, says what to send, and records what became of it.

Such a program sends the whole conversation each time. The digests of all its beginnings are in an
index, so that finding the session takes statements for the new messages only, however many
sessions there are.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Final

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.calls import CallOutcome, record_call
from ctxcore.engine.requests import to_recipe
from ctxcore.engine.services import CallTarget, EngineServices, to_definitions
from ctxcore.engine.signals import record_signals
from ctxcore.errors import ContextError
from ctxcore.gateway.values import ModelRequest, ModelUsage
from ctxcore.messages.canonical import (
    digest_of_texts,
    digest_of_words,
    parse_canonical,
    to_canonical,
)
from ctxcore.messages.values import JsonObject, Media, Message, Opaque, text_message
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import SessionNotFoundError, StaleHistoryError, StoreError
from ctxcore.store.values import PROXY, RELAYED, CallInfo, SessionInfo

logger = logging.getLogger(__name__)

_FIRST_LOOK: Final = 8  # beginnings looked up at once; chosen: more than a turn adds
_MOST_LOOKED: Final = 500  # chosen: few statements for a long new conversation
_TRIES: Final = 3  # chosen: requests of one conversation rarely overtake each other twice
_PATIENCE_SECONDS: Final = 20.0  # chosen: longer than a compaction takes that quotes
_TITLE_CHARS: Final = 80  # chosen: a line
# A proxy offers the model no tools of its own: nobody would run them.
_OVERRIDES: Final[JsonObject] = {"offers_expand": False, "offers_recall": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedRequest:
    """A request to a model as another program sends it."""

    messages: Sequence[Message]
    """The whole conversation without its system prompt."""
    system: str = ""
    tools: Sequence[Mapping[str, object]] = ()
    model: str | None = None
    session: str = ""
    """What the program calls the session; requests of other names never join it."""
    observes: bool = False
    """Whether it is sent as it came, whatever the policy says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relayed:
    """A request that joined a session; `ContextEngine.end_relayed` takes it back."""

    request: RelayedRequest
    target: CallTarget
    """The session with the request in it."""
    offset: int
    """How many messages of the session come before the first one of the request."""
    context: Context | None = None
    """What to send; None: the messages as they came."""
    problem: Reason | None = None
    """Why the request could not be fitted."""
    digest: str = ""
    """Of the whole conversation."""
    keeps_answers: bool = True

    @property
    def session_id(self) -> str:
        """The session that the request joined."""
        return self.target.session.id

    @property
    def length(self) -> int:
        """The messages of the session, the request's included."""
        return self.offset + len(self.request.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedReply:
    """What became of a request that another program sent."""

    message: Message | None = None
    """The answer; None where there was none, or it is not known."""
    usage: ModelUsage = field(default_factory=ModelUsage)
    cost: float | None = None
    """US dollars; None where it is not known."""
    seconds: float | None = None
    error: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A session that has the first messages of a request, and nothing else."""

    session: SessionInfo
    offset: int
    known: int
    keeps_answers: bool = True


class Relay:
    """Joins requests to sessions, as described in `ContextEngine.begin_relayed`."""

    def __init__(self, services: EngineServices, automatic: AutomaticCompactions) -> None:
        self._services = services
        self._automatic = automatic

    def begin(self, request: RelayedRequest) -> Relayed:
        """Adds the request to its session; what fails behind that is a problem of the result."""
        relayed = self._join(request)
        if request.observes:
            return relayed
        try:
            return self._fitted(relayed)
        except Exception as error:  # the request is sent as it came
            why = error.reason if isinstance(error, ContextError) else reason_of(error)
            logger.exception("request not fitted session=%s", relayed.session_id)
            return replace(relayed, problem=CallCode.UNTOUCHED(why=why))

    def end(self, relayed: Relayed, reply: RelayedReply) -> None:
        """Stores the answer and the call, and checks later whether to compact."""
        services, context = self._services, relayed.context
        seq = None if reply.message is None else self._answered(relayed, reply.message)
        error = reply.error or relayed.problem
        usage = None if reply.error else reply.usage
        if context is None:
            self._record_alone(relayed, reply, seq, error)
            return
        target = relayed.target
        sent = ModelRequest(
            model=target.model or "",
            messages=context.messages,
            tools=context.sent_tools(target.tools),
        )
        outcome = CallOutcome(
            seq=seq, usage=usage, cost=reply.cost, seconds=reply.seconds, error=error
        )
        with services.slots:
            recipe = to_recipe(context, sent, None)
            before = record_call(services, target, context, recipe, outcome)
            if seq is not None and reply.message is not None:
                record_signals(services, target, context, (seq, reply.message), before)
        if reply.error is None:
            self._automatic.check_later(target)

    def _join(self, request: RelayedRequest) -> Relayed:
        seed = digest_of_texts(["relayed", self._services.user_id, request.session])
        digests = [*_digests(seed, request.messages)]
        for attempt in range(_TRIES):
            place = self._find(digests, request) if attempt + 1 < _TRIES else None
            place = place or self._begun(request)
            target = self._services.call_target(
                place.session.id,
                model=request.model,
                tools=request.tools,
                system=request.system,
                overrides=_OVERRIDES,
            )
            self._services.hold_factor(target)
            try:
                self._append(target, request.messages[place.known :], place.offset + place.known)
            except StaleHistoryError:
                continue
            self._note(digests[-1] if digests else seed, place)
            return Relayed(
                request=request,
                target=self._services.renew(target),
                offset=place.offset,
                digest=digests[-1] if digests else seed,
                keeps_answers=place.keeps_answers,
            )
        raise AssertionError("nobody else adds to a new session")

    def _fitted(self, relayed: Relayed) -> Relayed:
        services, target = self._services, self._settled(relayed.target)
        with services.slots:
            all_rules = target.call.policy.check_at in ("before_send", "before_message")
            trigger = self._automatic.due(target, all_rules=all_rules)
        if trigger is not None:
            for event in self._automatic.run(target, trigger):
                logger.debug("before a request %s session=%s", event, relayed.session_id)
            target = self._settled(services.renew(target))
        with services.slots:
            context = build_context(target.view, target.call, target.record)
            if context.recalls != target.call.recalls:
                services.store.set_recalls(target.session.id, context.recalls)
        return replace(relayed, target=target, context=context)

    def _settled(self, target: CallTarget) -> CallTarget:
        """`target` behind the compaction that the last answer began.

        Agents send the next request at once. One that did not wait would be cut to its window now,
        and the prompt cache would be lost twice.
        """
        if not self._services.queue.is_busy(target.session.id):
            return target
        self._services.queue.wait(target.session.id, _PATIENCE_SECONDS)
        return self._services.renew(target)

    def _find(self, digests: Sequence[str], request: RelayedRequest) -> _Place | None:
        """The session with the longest beginning of the request that any has."""
        end, size = len(digests), _FIRST_LOOK
        while end:
            start = max(0, end - size)
            names = [f"{RELAYED}{digest}" for digest in digests[start:end]]
            noted = self._services.store.settings(names)
            for known in range(end, start, -1):
                entry = noted.get(f"{RELAYED}{digests[known - 1]}")
                place = self._place(entry, known, request)
                if place is not None:
                    return place
            end, size = start, min(size * 8, _MOST_LOOKED)
        return None

    def _place(self, entry: object, known: int, request: RelayedRequest) -> _Place | None:
        """The noted session, or a fork of it where it went on otherwise than the request."""
        if not isinstance(entry, dict):
            return None
        try:
            session = self._services.store.session(str(entry.get("session")))
        except SessionNotFoundError:
            return None
        if session.deleted_at is not None or session.user_id != self._services.user_id:
            return None
        offset, keeps = int(entry.get("offset", 0)), bool(entry.get("answers", True))
        if session.length == offset + known:
            return _Place(session, offset, known, keeps)
        # Another answer than ours: its program changes answers, so that ours would never be found.
        is_rewritten = session.length == offset + known + 1 and any(
            message.role == "assistant" for message in request.messages[known : known + 1]
        )
        services = self._services
        fork = services.store.fork(
            session.id,
            offset + known,
            fork_id=services.new_id(),
            new_id=services.new_id,
            at=services.clock(),
            user_id=session.user_id,
        )
        if fork.length != offset + known:  # a call was before it and its result behind
            services.store.purge(fork.id)
            return None
        return _Place(fork, offset, known, keeps and not is_rewritten)

    def _begun(self, request: RelayedRequest) -> _Place:
        """A new session, with the system prompt for people to see."""
        services = self._services
        said = (message.text for message in request.messages if message.role == "user")
        title = " ".join(next((text for text in said if text.strip()), "").split())
        session = services.create_session(
            title=title[:_TITLE_CHARS],
            model=request.model,
            origin=PROXY,
            tools=to_definitions(request.tools),
        )
        if request.system:
            services.append_to(session, [text_message("system", request.system)])
        return _Place(session, 1 if request.system else 0, 0)

    def _append(self, target: CallTarget, messages: Sequence[Message], length: int) -> None:
        services = self._services
        services.store.append(
            target.session.id,
            messages,
            counter=target.call.counter,
            at=services.clock(),
            oversize_tokens=services.oversize(target),
            expected_length=length,
        )

    def _note(self, digest: str, place: _Place) -> None:
        value: JsonObject = {"session": place.session.id, "offset": place.offset}
        if not place.keeps_answers:
            value["answers"] = False
        self._services.store.save_setting(f"{RELAYED}{digest}", value)

    def _answered(self, relayed: Relayed, message: Message) -> int | None:
        """Stores the answer; its number, or None where others were added since."""
        if not relayed.keeps_answers:
            return None
        try:
            self._append(relayed.target, [message], relayed.length)
            [digest] = _digests(relayed.digest, [message])
            self._note(digest, _Place(relayed.target.session, relayed.offset, 0))
        except StoreError as error:
            logger.debug(
                "answer not added session=%s error=%s", relayed.session_id, type(error).__name__
            )
            return None
        return relayed.length + 1

    def _record_alone(
        self, relayed: Relayed, reply: RelayedReply, seq: int | None, error: Reason | None
    ) -> None:
        """Records a call of which only the provider's report is known."""
        services, target = self._services, relayed.target
        info = CallInfo(
            id=services.new_id(),
            session_id=relayed.session_id,
            created_at=services.clock(),
            purpose="answer",
            model=target.model,
            policy_version_id=target.effective.version_id,
            seq=seq,
            cost=reply.cost,
            latency_seconds=reply.seconds,
            error=error,
            **asdict(reply.usage),
        )
        services.store.record_calls([info])
        services.alerts.after_calls(target.session, [info])


def _digests(seed: str, messages: Sequence[Message]) -> Iterator[str]:
    """For each message a digest of the conversation up to it, by words and calls.

    Thinking, cache marks, ids and the way in which arguments are written do not count, since
    programs send answers back without them or otherwise.
    """
    found = accumulate(map(_words, messages), lambda *two: digest_of_texts(two), initial=seed)
    next(found)
    return found


def _words(message: Message) -> str:
    parts = [_unmarked(part.raw) for part in message.content if isinstance(part, (Media, Opaque))]
    return digest_of_texts([digest_of_words([message]), *parts])


def _unmarked(raw: str) -> str:
    """A block without its cache mark, which moves from turn to turn."""
    if "cache_control" not in raw:
        return raw
    value = parse_canonical(raw)
    if isinstance(value, dict):
        value.pop("cache_control", None)
    return to_canonical(value)
