"""Lets a provider fail in every way that is known, through the real gateway over HTTP.

Each call ends in an answer or an error of the library, in bounded time and memory, and the session
works afterwards.
"""

from __future__ import annotations

import json
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import sleep
from typing import Any, TypeAlias

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import TurnEnded
from ctxcore.engine.policies import save_connections, save_figures
from ctxcore.errors import ContextError
from ctxcore.gateway.classify import _PATTERNS
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.streams import Retries
from ctxcore.gateway.values import Connection
from ctxcore.store.sql import open_store
from tools.torture.outcomes import Outcome

MODEL = "openai/torture"
TIMEOUT_SECONDS = 2.0
_WORDS = [f"word {number} " for number in range(8)]

Answer: TypeAlias = Callable[[BaseHTTPRequestHandler], None]
Attack: TypeAlias = Callable[[], Outcome]


class Provider:
    """A server whose next answers are `answer`."""

    def __init__(self) -> None:
        self.answer: Answer = stream(_events())
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    provider.answer(self)
                except OSError:
                    self.close_connection = True  # the gateway hung up

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _events(usage: Any = None, words: list[str] | None = None) -> list[bytes]:
    """The events of a streamed chat completion."""
    head = {"id": "c", "created": 1, "model": "torture", "object": "chat.completion.chunk"}
    deltas = [{"choices": [{"index": 0, "delta": {"content": word}}]} for word in words or _WORDS]
    stop = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    last = [] if usage is None else [{"choices": [], "usage": usage}]
    found = [f"data: {json.dumps({**head, **body})}\n\n" for body in (*deltas, stop, *last)]
    return [event.encode() for event in (*found, "data: [DONE]\n\n")]


def stream(
    events: list[bytes], *, until: int | None = None, end: bytes = b"", seconds: float = 0.0
) -> Answer:
    """Sends the events up to `until`, then `end`, and hangs up; `seconds` pass before each."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("Content-Type", "text/event-stream")
        if until is not None:
            to.send_header("Content-Length", "100000000")  # so that the end is seen as too early
        to.end_headers()
        for event in events[:until]:
            sleep(seconds)
            to.wfile.write(event)
        to.wfile.write(end)
        to.close_connection = True

    return answer


def refuse(status: int, message: str) -> Answer:
    """An error with a message, as OpenAI sends it."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        data = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
        to.send_response(status)
        to.send_header("Content-Type", "application/json")
        to.send_header("Content-Length", str(len(data)))
        to.end_headers()
        to.wfile.write(data)

    return answer


def sample(pattern: str) -> str:
    """A short text that a regular expression matches."""
    return "".join(_samples(parser.parse(pattern)))


def _samples(parts: Any) -> Iterator[str]:
    for code, given in parts:
        if code is codes.LITERAL:
            yield chr(given)
        elif code is codes.ANY:
            yield " "
        elif code is codes.IN:
            yield "7" if (codes.CATEGORY, codes.CATEGORY_DIGIT) in given else chr(given[0][1])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            least, _, inner = given
            yield from (sample for _ in range(least) for sample in _samples(inner))
        elif code is codes.SUBPATTERN:
            yield from _samples(given[-1])
        elif code is codes.BRANCH:
            yield from _samples(given[1][0])


@contextmanager
def _engine(provider: Provider) -> Iterator[ContextEngine]:
    store = open_store("sqlite://")
    connection = Connection(name="torture", model=MODEL, api_base=f"{provider.url}/v1")
    gateway = LiteLLMGateway(
        retries=Retries(attempts=1), timeout_seconds=TIMEOUT_SECONDS, heartbeat_seconds=None
    )
    try:
        save_figures(store, MODEL, {"window_tokens": 1_000_000_000})
        save_connections(store, [connection])
        engine = ContextEngine(store, gateway=gateway, model=MODEL)
        yield engine
        engine.wait()
    finally:
        store.close()


def _answers() -> Iterator[tuple[str, Answer, str]]:
    """What is answered, by the kind of fault, with the state in which a turn must end.

    An empty state allows both an answer and an error.
    """
    for pattern in _PATTERNS:
        text = sample(pattern.pattern)
        for status in (400, 413):
            yield "overflow texts", refuse(status, text), "overflow"
    whole = _events()
    for until in range(len(whole)):
        yield "streams cut between chunks", stream(whole, until=until), ""
        yield "streams cut in a chunk", stream(whole, until=until, end=whole[until][:25]), ""
        yield "chunks that are no JSON", stream(whole[:until], end=b'data: {"a\n\n'), ""
    for usage in _usages():
        yield "odd usage", stream(_events(usage)), ""
    for status in (401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529):
        yield "statuses", refuse(status, "no"), "failed"
    yield "slow answers", stream(whole, seconds=TIMEOUT_SECONDS * 2), "failed"
    yield "slow answers", stream(whole, seconds=0.1), "done"


def _usages() -> Iterator[Any]:
    odds: tuple[Any, ...] = (None, 0, -5, 2**70, 1.5, "many", [], {})
    for odd in odds:
        yield {"prompt_tokens": odd, "completion_tokens": odd, "total_tokens": odd}
        yield {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": odd}
        yield odd


def check_faults() -> Outcome:
    """Each fault in a turn, then a turn without one in the same session."""
    outcome, provider = Outcome(attack="provider faults", unit="answers"), Provider()
    try:
        with _engine(provider) as engine:
            session_id = engine.create_session("faults").id
            for kind, answer, state in _answers():
                outcome.count += 1
                outcome.add(kind)
                provider.answer = answer
                outcome.problems += [f"{kind}: {one}" for one in _turn(engine, session_id, state)]
                provider.answer = stream(_events())
                outcome.problems += [
                    f"after {kind}: {one}" for one in _turn(engine, session_id, "done")
                ]
    finally:
        provider.close()
    return outcome


def _turn(engine: ContextEngine, session_id: str, state: str) -> Iterator[str]:
    try:
        *_, ended = engine.chat(session_id, "hello")
    except ContextError as error:
        yield f"a turn raised {error}"
        return
    if not isinstance(ended, TurnEnded) or ended.state not in ("done", "failed"):
        yield f"a turn ended as {ended}"
    elif state == "overflow":
        if ended.error is None or "context is too long" not in str(ended.error):
            yield f"was not told as an overflow: {ended.error}"
    elif state and ended.state != state:
        yield f"a turn ended as {ended.state}: {ended.error}"
    elif ended.state == "failed" and ended.error is None:
        yield "a turn failed without a reason"


def check_long_answer(*, megabytes: int) -> Outcome:
    """A streamed answer that is far longer than any model gives."""
    outcome, provider = Outcome(attack="long answers", unit="MB"), Provider()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _engine(provider) as engine:
            session_id = engine.create_session("long").id
            provider.answer = stream(_events(words=["word " * 20_000] * (10 * megabytes)))
            outcome.problems += _turn(engine, session_id, "")
            provider.answer = stream(_events())
            outcome.problems += _turn(engine, session_id, "done")
    finally:
        provider.close()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1_024
    outcome.count = megabytes
    outcome.add("MB of memory more", grown)
    return outcome


def check_providers(*, megabytes: int) -> Iterator[Attack]:
    """All attacks of this kind."""
    yield check_faults
    yield partial(check_long_answer, megabytes=megabytes)
