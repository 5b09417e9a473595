"""Keeps sessions of conversations whose requests another program sends: finds the session of each
request, adds what is new in it, says what to send, and records what became of it.

Such a program sends the whole conversation each time. The digests of all its beginnings are in an
index, so that finding the session takes statements for the new messages only, however many
sessions there are.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import Final

from ctxcore.assembly.context import Context
from ctxcore.engine.calls import record_report
from ctxcore.engine.outside import OutsideCall, OutsideCalls
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.errors import ContextError, without_message
from ctxcore.formats.fields import is_prompt, title_of
from ctxcore.gateway.values import ModelReply
from ctxcore.messages.canonical import (
    digest_of_texts,
    digest_of_words,
    parse_canonical,
    to_canonical,
)
from ctxcore.messages.values import Media, Message, Opaque, Text
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import SessionNotFoundError, StaleHistoryError, StoreError
from ctxcore.store.values import CallInfo, SessionInfo

logger = logging.getLogger(__name__)

_FIRST_LOOK: Final = 8  # beginnings looked up at once; chosen: more than a turn adds
_MOST_LOOKED: Final = 500  # chosen: few statements for a long new conversation
_TRIES: Final = 3  # chosen: requests of one conversation rarely overtake each other twice


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
    call: OutsideCall | None = None
    """What to send; None: the messages as they came."""
    problem: Reason | None = None
    """Why the request could not be fitted."""
    digest: str = ""
    """Of the whole conversation."""

    @property
    def session_id(self) -> str:
        """The session that the request joined."""
        return self.target.session.id

    @property
    def context(self) -> Context | None:
        """What to send; None: the messages as they came."""
        return self.call.context if self.call else None

    @property
    def length(self) -> int:
        """The messages of the session, the request's included."""
        return self.offset + len(self.request.messages)


@dataclass(frozen=True, slots=True)
class _Place:
    """A session that has the first messages of a request, and nothing else."""

    session: SessionInfo
    offset: int
    known: int


class Relay:
    """Joins requests to sessions, as described in `ContextEngine.begin_relayed`."""

    def __init__(self, services: EngineServices, outside: OutsideCalls) -> None:
        self._services = services
        self._outside = outside
        self._rewritten: set[str] = set()
        """Sessions of programs that change answers, so that ours would never be found."""

    def begin(self, request: RelayedRequest) -> Relayed:
        """Adds the request to its session; what fails behind that is a problem of the result."""
        relayed = self._join(request)
        if request.observes:
            return relayed
        try:
            call = self._outside.choose(relayed.target)
        except Exception as error:  # the request is sent as it came
            why = error.reason if isinstance(error, ContextError) else reason_of(error)
            told = without_message(error)
            logger.exception("request not fitted session=%s", relayed.session_id, exc_info=told)
            return replace(relayed, problem=CallCode.UNTOUCHED(why=why))
        return replace(relayed, target=call.target, call=call)

    def end(self, relayed: Relayed, reply: ModelReply | None, error: Reason | None) -> None:
        """Stores the answer and the call, and checks later whether to compact."""
        call = relayed.call
        if reply is not None and call is not None:
            reply = replace(reply, calls=call.context.own_calls(reply.calls))
        seq = None if reply is None else self._answered(relayed, reply.message)
        error = error or relayed.problem
        if call is not None:
            self._outside.record(call, reply, seq, error)
        else:
            self._record_alone(relayed, reply, seq, error)

    def _join(self, request: RelayedRequest) -> Relayed:
        seed = digest_of_texts(["relayed", request.session])
        digests = [*_digests(seed, request.messages)]
        for attempt in range(_TRIES):
            place = self._find(digests, request) if attempt + 1 < _TRIES else None
            place = place or self._begun(request)
            try:
                target = self._outside.add(
                    place.session.id,
                    request.messages[place.known :],
                    model=request.model,
                    tools=request.tools,
                    system=request.system,
                    expected_length=place.offset + place.known,
                )
            except StaleHistoryError:
                continue
            digest = digests[-1] if digests else seed
            self._note(digest, place.session.id)
            return Relayed(request=request, target=target, offset=place.offset, digest=digest)
        raise AssertionError("nobody else adds to a new session")

    def _find(self, digests: Sequence[str], request: RelayedRequest) -> _Place | None:
        """The session with the longest beginning of the request that any has."""
        end, size = len(digests), _FIRST_LOOK
        while end:
            start = max(0, end - size)
            found = self._services.store.request_prefixes(
                self._services.user_id, digests[start:end]
            )
            for known in range(end, start, -1):
                session_id = found.get(digests[known - 1])
                place = session_id and self._place(session_id, known, request)
                if place:
                    return place
            end, size = start, min(size * 8, _MOST_LOOKED)
        return None

    def _place(self, session_id: str, known: int, request: RelayedRequest) -> _Place | None:
        """The session, or a fork of it where it went on otherwise than the request."""
        services = self._services
        try:
            session = services.store.session(session_id)
        except SessionNotFoundError:
            return None
        if session.deleted_at is not None or session.user_id != services.user_id:
            return None
        [first] = services.store.messages(session.id, 1, 1)
        offset = int(first.message.is_system)
        if session.length == offset + known:
            return _Place(session, offset, known)
        if self._has_only_the_answer(session, offset + known, request.messages[known:]):
            return _Place(session, offset, known + 1)
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
        is_answer = any(one.role == "assistant" for one in request.messages[known : known + 1])
        if session.id in self._rewritten or (session.length == offset + known + 1 and is_answer):
            self._rewritten.add(fork.id)
        return _Place(fork, offset, known)

    def _has_only_the_answer(
        self, session: SessionInfo, length: int, rest: Sequence[Message]
    ) -> bool:
        """Whether a session goes on with the answer that `rest` begins with, and nothing else.

        The digest of an answer is noted right behind it; a fast program asks in between.
        """
        if session.length != length + 1 or not rest or rest[0].role != "assistant":
            return False
        [last] = self._services.store.messages(session.id, length + 1, length + 1)
        return _words(last.message) == _words(rest[0])

    def _begun(self, request: RelayedRequest) -> _Place:
        """A new session, with the system prompt for people to see."""
        users = (message for message in request.messages if message.role == "user")
        said = [part.text for one in users for part in one.content if isinstance(part, Text)]
        # Agents send reminders and lists of their own in parts before what a person asked.
        title = title_of([*filter(is_prompt, said), *said], otherwise="")
        session = self._outside.create_session(
            title=title,
            model=request.model,
            system=request.system,
            tools=request.tools,
        )
        return _Place(session, 1 if request.system else 0, 0)

    def _note(self, digest: str, session_id: str) -> None:
        services = self._services
        services.store.save_request_prefix(session_id, digest, user_id=services.user_id)

    def _answered(self, relayed: Relayed, message: Message) -> int | None:
        """Stores the answer; its number, or None where others were added since."""
        if not (message.content or message.calls) or relayed.session_id in self._rewritten:
            return None
        try:
            seq = self._outside.answer(relayed.target, message, expected_length=relayed.length)
            [digest] = _digests(relayed.digest, [message])
            self._note(digest, relayed.session_id)
        except StoreError as error:
            logger.debug(
                "answer not added session=%s error=%s", relayed.session_id, type(error).__name__
            )
            return None
        return seq

    def _record_alone(
        self, relayed: Relayed, reply: ModelReply | None, seq: int | None, error: Reason | None
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
            error=error,
        )
        first = None
        if reply is not None:
            first = reply.first_token_seconds
            info = replace(info, cost=reply.cost, **asdict(reply.usage))
            info = replace(info, latency_seconds=reply.latency_seconds)
        record_report(services, target.session, info, first_token_seconds=first)


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
