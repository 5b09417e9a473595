"""The gateway against a provider over HTTP: an OpenAI-compatible server on the loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ctxcore.gateway.errors import ContextOverflowError, ProviderError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.secrets import NO_KEY
from ctxcore.gateway.streams import Retries
from ctxcore.gateway.values import Connection, ModelReply, ModelRequest, ModelUsage, TextDelta
from ctxcore.messages.values import JsonObject, ToolCall
from tests.limits import HANG_SECONDS

# litellm keeps HTTP clients for reuse; their sockets close with the process.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


class Provider:
    """A server that answers each request with the next prepared response."""

    def __init__(self) -> None:
        self.responses: list[tuple[int, list[JsonObject] | JsonObject]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[JsonObject] = []
        self.retry_after: str | None = None
        self.is_endless = False
        self.lost = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def connection(self) -> Connection:
        port = self._server.server_address[1]
        return Connection(name="own", model="openai/own", api_base=f"http://127.0.0.1:{port}/v1")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(provider) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Keep the tests' output clean."""

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                provider.bodies.append(json.loads(self.rfile.read(size)))
                provider.headers.append({k.lower(): v for k, v in self.headers.items()})
                status, content = provider.responses.pop(0)
                self.send_response(status)
                if provider.retry_after is not None:
                    self.send_header("Retry-After", provider.retry_after)
                self.send_header("Connection", "close")
                is_stream = isinstance(content, list)
                kind = "text/event-stream" if is_stream else "application/json"
                self.send_header("Content-Type", kind)
                self.end_headers()
                if isinstance(content, list):
                    self._stream(content)
                else:
                    self.wfile.write(json.dumps(content).encode())

            def _stream(self, chunks: list[JsonObject]) -> None:
                try:
                    for chunk in chunks:
                        self._event(json.dumps(chunk))
                    while provider.is_endless:
                        self._event(json.dumps(chunks[-1]))
                        time.sleep(0.01)
                    self._event("[DONE]")
                except OSError:
                    provider.lost.set()

            def _event(self, data: str) -> None:
                self.wfile.write(f"data: {data}\n\n".encode())
                self.wfile.flush()

        return Handler


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture
def gateway() -> LiteLLMGateway:
    quick = Retries(first_wait_seconds=0.001, max_wait_seconds=0.05)
    return LiteLLMGateway(retries=quick, key_source=lambda name: None)


def chunk(delta: JsonObject, finish: str | None = None) -> JsonObject:
    choice: JsonObject = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "own",
        "choices": [choice],
    }


def report(usage: JsonObject) -> JsonObject:
    return {**chunk({}), "choices": [], "usage": usage}


def request(provider: Provider) -> ModelRequest:
    return ModelRequest(
        model="openai/own",
        messages=[{"role": "user", "content": "Hello"}],
        connection=provider.connection,
    )


HELLO = [
    chunk({"role": "assistant", "content": "Hel"}),
    chunk({"content": "lo"}),
    chunk({}, "stop"),
]


def test_text_thinking_calls_and_usage_arrive(provider: Provider, gateway: LiteLLMGateway) -> None:
    call: JsonObject = {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"ci'},
    }
    rest: JsonObject = {"index": 0, "function": {"arguments": 'ty": 1}'}}
    usage: JsonObject = {
        "prompt_tokens": 40,
        "completion_tokens": 9,
        "total_tokens": 49,
        "prompt_tokens_details": {"cached_tokens": 32},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    chunks = [
        chunk({"role": "assistant", "reasoning_content": "Hm."}),
        chunk({"content": "Look"}),
        chunk({"tool_calls": [call]}),
        chunk({"tool_calls": [rest]}),
        chunk({}, "tool_calls"),
        report(usage),
    ]
    provider.responses = [(200, list(chunks))]

    reply = gateway.complete(request(provider))

    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Look", "Hm.", "tool_calls")
    assert reply.calls == (ToolCall(id="c1", name="weather", arguments='{"city": 1}'),)
    assert reply.usage == ModelUsage(
        input_tokens=40, cached_tokens=32, output_tokens=9, reasoning_tokens=4
    )
    assert provider.bodies[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("told", "cached", "known"),
    [
        (40, 32, 40),  # a part of the input, as OpenAI has it
        (40, 4_000, 4_040),  # counted apart
        (-5, 0, None),
        (0, 0, None),
        (10**30, 0, None),
    ],
)
def test_the_input_is_what_was_read_whether_cached_or_not(
    provider: Provider, gateway: LiteLLMGateway, told: int, cached: int, known: int | None
) -> None:
    usage: JsonObject = {
        "prompt_tokens": told,
        "completion_tokens": 9,
        "total_tokens": told + 9,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    provider.responses = [(200, [*HELLO, report(usage)])]

    assert gateway.complete(request(provider)).usage.input_tokens == known


def test_usage_that_the_server_does_not_report_stays_unknown(
    provider: Provider, gateway: LiteLLMGateway
) -> None:
    provider.responses = [(200, list(HELLO))]

    reply = gateway.complete(request(provider))

    assert (reply.text, reply.usage) == ("Hello", ModelUsage())


def test_an_own_server_never_gets_the_key_of_the_public_service(
    provider: Provider, gateway: LiteLLMGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-public-service")
    provider.responses = [(200, list(HELLO))]

    gateway.complete(request(provider))

    assert provider.headers[0]["authorization"] == f"Bearer {NO_KEY}"


def test_the_key_of_a_connection_is_sent_and_never_shown(provider: Provider) -> None:
    gateway = LiteLLMGateway(key_source={"OWN_KEY": "hunter2hunter2"}.get)
    connection = Connection(
        name="own", model="openai/own", api_base=provider.connection.api_base, key_env="OWN_KEY"
    )
    refusal: JsonObject = {"error": {"message": "no such key: hunter2hunter2"}}
    provider.responses = [(401, refusal)]

    with pytest.raises(ProviderError) as caught:
        gateway.complete(
            ModelRequest(
                model="openai/own",
                messages=[{"role": "user", "content": "Hello"}],
                connection=connection,
            )
        )

    assert provider.headers[0]["authorization"] == "Bearer hunter2hunter2"
    assert caught.value.kind == "auth"
    assert "hunter2" not in str(caught.value)


def test_server_failures_are_retried_here_and_nowhere_else(
    provider: Provider, gateway: LiteLLMGateway
) -> None:
    failed: JsonObject = {"error": {"message": "overloaded"}}
    provider.responses = [(503, failed), (429, failed), (200, list(HELLO))]

    assert gateway.complete(request(provider)).text == "Hello"
    assert len(provider.bodies) == 3

    provider.responses = [(500, failed)] * 9
    with pytest.raises(ProviderError) as caught:
        gateway.complete(request(provider))
    assert caught.value.kind == "unavailable"
    assert len(provider.bodies) == 6


def test_a_long_wait_asked_for_is_left_to_the_caller(
    provider: Provider, gateway: LiteLLMGateway
) -> None:
    failed: JsonObject = {"error": {"message": "slow down"}}
    provider.retry_after = "30"
    provider.responses = [(429, failed)] * 9

    with pytest.raises(ProviderError) as caught:
        gateway.complete(request(provider))

    assert caught.value.retry_after_seconds == 30
    assert len(provider.bodies) == 1


def test_an_overflow_that_litellm_does_not_know_is_recognised(
    provider: Provider, gateway: LiteLLMGateway
) -> None:
    words = "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"
    provider.responses = [(400, {"error": {"message": words, "type": "invalid_request_error"}})]

    with pytest.raises(ContextOverflowError) as caught:
        gateway.complete(request(provider))

    assert caught.value.limit_tokens == 30720
    assert len(provider.bodies) == 1


def test_closing_hangs_up_on_the_provider(provider: Provider, gateway: LiteLLMGateway) -> None:
    provider.is_endless = True
    provider.responses = [(200, [chunk({"role": "assistant", "content": "more "})])]
    stream = gateway.stream(request(provider))
    assert any(isinstance(event, TextDelta) for event in stream)

    stream.close()

    assert provider.lost.wait(HANG_SECONDS)


def test_a_server_that_is_not_there_is_unavailable(gateway: LiteLLMGateway) -> None:
    nowhere = Connection(name="own", model="openai/own", api_base="http://127.0.0.1:9/v1")

    with pytest.raises(ProviderError) as caught:
        gateway.complete(
            ModelRequest(
                model="openai/own",
                messages=[{"role": "user", "content": "Hello"}],
                connection=nowhere,
            )
        )

    assert caught.value.kind == "unavailable"


def test_the_last_event_is_the_reply(provider: Provider, gateway: LiteLLMGateway) -> None:
    provider.responses = [(200, list(HELLO))]

    *_, last = gateway.stream(request(provider))

    assert isinstance(last, ModelReply)
    assert last.first_token_seconds is not None
    assert last.first_token_seconds <= last.latency_seconds
