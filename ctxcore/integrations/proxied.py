"""Requests that pass through a proxy: whose session each continues, and what is sent in its place.

Clients send the whole conversation each time. The digest of how a request begins tells which stored
session it goes on; one that begins otherwise becomes a session of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, cast

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.outside import OutsideCall
from ctxcore.errors import StateError
from ctxcore.formats.provider_usage import anthropic_usage, openai_usage
from ctxcore.gateway.values import ModelReply, ModelUsage
from ctxcore.integrations.telemetry import instrument_if_asked
from ctxcore.messages.canonical import digest_of_texts, digest_of_words
from ctxcore.messages.shapes.reading import parse_messages, read_list
from ctxcore.messages.shapes.values import PassedMessages, ProviderShape
from ctxcore.messages.values import Message, Reasoning
from ctxcore.policy.layers import Layer
from ctxcore.reasons.foreign import foreign
from ctxcore.reasons.problems import StateProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionInfo

_LISTS: Final[Mapping[ProviderShape, str]] = {
    "openai": "messages",
    "anthropic": "messages",
    "responses": "input",
}
_TITLE_CHARS: Final = 80
_ANSWERS_TRIED: Final = 4  # chosen: a client may add some answers of its own to a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who makes a request: the user and group whose policies apply, and the session if named."""

    user_id: str
    group: str = ""
    session: str = ""
    """What a header or the metadata of the request calls its session; empty for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxiedRequest:
    """The body of a request, with its messages read."""

    shape: ProviderShape
    front: tuple[object, ...]
    """The system messages at the front of the list, which are sent as they are."""
    passed: PassedMessages
    """The messages behind them."""
    system: str
    """What system messages and fields say; its tokens count."""
    tools: tuple[Mapping[str, object], ...]

    @property
    def messages(self) -> Sequence[Message]:
        """The messages that a session holds."""
        return self.passed.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxiedCall:
    """A request on its way to the provider."""

    request: ProxiedRequest
    caller: Caller
    call: OutsideCall
    digest: str
    """Of all its messages."""


def read_request(body: Mapping[str, object], shape: ProviderShape) -> ProxiedRequest | None:
    """The request in `body`; None where it carries no conversation, or only its newest part.

    Raises:
        MessageError: one of its messages cannot be read.
    """
    listed = body.get(_LISTS[shape])
    if not isinstance(listed, list) or not listed or body.get("previous_response_id"):
        return None
    front = tuple(takewhile(_is_system, listed))
    passed = read_list(listed[len(front) :])
    if not passed.messages:
        return None
    beside = body.get("system") if shape == "anthropic" else body.get("instructions")
    said = [*_texts(beside), *(text for one in front for text in _texts(one.get("content")))]
    tools = body.get("tools")
    return ProxiedRequest(
        shape=shape,
        front=front,
        passed=passed,
        system="\n\n".join(said),
        tools=tuple(one for one in tools if isinstance(one, dict))
        if isinstance(tools, list)
        else (),
    )


def _is_system(raw: object) -> bool:
    return isinstance(raw, dict) and raw.get("role") in ("system", "developer")


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def write_request(body: dict[str, Any], proxied: ProxiedCall) -> None:
    """Puts what is sent into `body`; nothing else in it changes."""
    request, context = proxied.request, proxied.call.context
    own = [group for group in context.made_of if group.message.is_system]
    own = [group for group in own if all(item.row is None for item in group.items)]
    sent = replace(context, made_of=tuple(g for g in context.made_of if g not in own)).in_shape(
        request.passed.shape
    )
    added = "\n\n".join(group.message.text for group in own).removeprefix(request.system).strip()
    front = [*request.front]
    if added and request.shape == "anthropic":
        blocks = body.get("system") or []
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        body["system"] = [*blocks, {"type": "text", "text": added}]
    elif added:
        front.append({"role": "system", "content": added})
    body[_LISTS[request.shape]] = [*front, *sent]


class ProxiedSessions:
    """Stores the requests of a proxy as sessions, and chooses what each is sent."""

    def __init__(self, store: SessionStore, *, layers: Sequence[Layer] = ()) -> None:
        self._store = store
        self._layers = tuple(layers)
        self._locks: dict[str, threading.Lock] = {}

    def begin(self, request: ProxiedRequest, caller: Caller, *, model: str | None) -> ProxiedCall:
        """Finds or makes the session of a request, adds what is new, and compacts where it is due.

        Raises:
            BudgetError: what must be kept does not fit.
            StateError: another request changed the session meanwhile.
        """
        engine = self._engine(caller)
        chain = _Chain(caller.session, request.messages)
        with self._locks.setdefault(caller.user_id, threading.Lock()):
            session, known = self._continued(engine, request, chain)
            if session is None:
                session = self._created(engine, request, model)
            call = engine.outside_calls.begin(
                session.id,
                request.messages[known:],
                model=model,
                tools=request.tools,
                system=request.system or None,
                passed=request.passed,
            )
            if engine.session(session.id).length != len(request.messages):
                raise StateError(problem=StateProblem.TYPE(kind="session"))
            digest = chain.up_to(len(request.messages))
            self._store.save_request_prefix(caller.user_id, digest, session.id)
        return ProxiedCall(request=request, caller=caller, call=call, digest=digest)

    def end(self, proxied: ProxiedCall, reply: ModelReply) -> None:
        """Stores the answer to a request with its usage."""
        engine = self._engine(proxied.caller)
        engine.outside_calls.end(proxied.call, reply)
        digest = _next(proxied.digest, reply.message)
        session_id = proxied.call.session_id
        self._store.save_request_prefix(proxied.caller.user_id, digest, session_id)

    def fail(self, proxied: ProxiedCall, error: Reason) -> None:
        """Stores that a request failed at the provider."""
        self._engine(proxied.caller).outside_calls.end(proxied.call, None, error=error)

    def _engine(self, caller: Caller) -> ContextEngine:
        engine = ContextEngine(self._store, user_id=caller.user_id, layers=self._layers)
        instrument_if_asked(engine)
        return engine

    def _continued(
        self, engine: ContextEngine, request: ProxiedRequest, chain: _Chain
    ) -> tuple[SessionInfo | None, int]:
        """The session that a request goes on, and how many of its messages are stored there."""
        messages = request.messages
        answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
        tried = {length for at in answers[-_ANSWERS_TRIED:] for length in (at, at + 1)} - {0}
        digests = {length: chain.up_to(length) for length in sorted(tried, reverse=True)}
        found = self._store.request_prefixes(engine.user_id, list(digests.values()))
        for length, digest in digests.items():
            if digest in found:
                return self._usable(engine, found[digest], length, messages)
        return None, 0

    def _usable(
        self, engine: ContextEngine, session_id: str, length: int, messages: Sequence[Message]
    ) -> tuple[SessionInfo | None, int]:
        """The session, or a fork of it where it has gone on otherwise."""
        try:
            session = engine.session(session_id)
        except RecordNotFoundError:
            return None, 0
        if session.deleted_at is not None or session.length < length:
            return None, 0
        if session.length == length:
            return session, length
        is_answer = length < len(messages) and messages[length].role == "assistant"
        if session.length == length + 1 and is_answer:
            return session, length + 1  # the answer, in the words that the client keeps of it
        fork = engine.fork(session_id, length - 1)
        if fork.length == length:
            return fork, length
        self._store.purge(fork.id)  # it ends with a block, behind the message where they part
        return None, 0

    def _created(
        self, engine: ContextEngine, request: ProxiedRequest, model: str | None
    ) -> SessionInfo:
        said = next((one.text for one in request.messages if one.role == "user" and one.text), "")
        title = " ".join(said.split())[:_TITLE_CHARS]
        return engine.outside_calls.create_session(title=title, model=model)

    def add_user(self, engine_user: Caller, *, at: Any) -> None:
        """Makes the user of a key where there is none; never an operator."""
        try:
            self._store.user(engine_user.user_id)
        except RecordNotFoundError:
            self._store.create_user(
                engine_user.user_id, at=at, name=engine_user.user_id, group=engine_user.group
            )


class _Chain:
    """Digests of how a conversation begins, up to any message."""

    def __init__(self, name: str, messages: Sequence[Message]) -> None:
        digests = [digest_of_texts(["session", name])]
        for message in messages:
            digests.append(_next(digests[-1], message))
        self._digests = digests

    def up_to(self, length: int) -> str:
        """The digest of the first `length` messages."""
        return self._digests[length]


def _next(digest: str, message: Message) -> str:
    """The digest of a conversation that goes on with `message`."""
    return digest_of_texts([digest, digest_of_words([message])])


def read_reply(response: Mapping[str, Any], *, seconds: float, cost: float | None) -> ModelReply:
    """The answer in a provider's response: OpenAI's, Anthropic's or of the Responses API.

    Raises:
        MessageError: it holds no message that can be read.
    """
    message = _answer_in(response)
    reported = response.get("usage")
    reported = reported if isinstance(reported, dict) else {}
    is_anthropic = "content" in response
    usage = (anthropic_usage if is_anthropic else openai_usage)(reported, call_id="").billed
    choices = response.get("choices")
    finish = choices[0].get("finish_reason") if choices else response.get("stop_reason")
    return ModelReply(
        text=message.text,
        thoughts=tuple(part for part in message.content if isinstance(part, Reasoning)),
        calls=message.calls,
        finish_reason=str(finish or "stop"),
        usage=ModelUsage(
            input_tokens=usage.input_tokens or None,
            cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cache_hour_tokens=usage.cache_hour_tokens,
            output_tokens=usage.output_tokens or None,
        ),
        model=str(response.get("model") or ""),
        cost=cost,
        latency_seconds=seconds,
        first_token_seconds=None,
    )


def _answer_in(response: Mapping[str, Any]) -> Message:
    """The assistant's message in a response."""
    if choices := response.get("choices"):
        listed = [_without_nulls(choices[0].get("message") or {})]
    elif isinstance(response.get("output"), list):
        listed = [_without_nulls(item) for item in response["output"]]
    else:
        listed = [{"role": "assistant", "content": response.get("content") or []}]
    messages = [one for one in parse_messages(listed) if one.role == "assistant"]
    content = tuple(part for one in messages for part in one.content)
    calls = tuple(call for one in messages for call in one.calls)
    return Message(role="assistant", content=content, calls=calls)


def _without_nulls(value: Mapping[str, object]) -> dict[str, object]:
    return {key: inner for key, inner in value.items() if inner is not None}


def provider_failure(error: BaseException) -> Reason:
    """Why a call failed, as calls store it."""
    return foreign(type(error).__name__)


def as_dict(response: object) -> Mapping[str, Any]:
    """A response as a dictionary, from whatever object the proxy holds it in."""
    dump = getattr(response, "model_dump", None)
    found = dump() if callable(dump) else response
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
