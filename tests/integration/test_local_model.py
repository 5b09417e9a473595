"""The built-in model for real: streaming, usage, cancelling, overflow. Its words are not tested:
the same prompt does not always give the same ones."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ctxcore.gateway.errors import ContextOverflowError, ProviderError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.local.model import LocalModel, OnChunk, count_local_tokens, load_local_model
from ctxcore.gateway.local.status import LOCAL_MODEL, local_model_status
from ctxcore.gateway.values import ModelReply, ModelRequest, TextDelta, Waiting
from ctxcore.litellm_loading import LITELLM_WARNINGS
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import count_messages, counter_for
from tests.limits import HANG_SECONDS

STATUS = local_model_status()
pytestmark = pytest.mark.skipif(not STATUS.available, reason=f"built-in model: {STATUS.reason}")

DEMO = Path(__file__).parents[2] / "data"
MANY_TOKENS = 4_000
ENDLESS = "Count from 1 to 5000, one number a line."

Chunks: TypeAlias = "list[Mapping[str, Any]]"


@pytest.fixture(autouse=True)
def quiet_litellm() -> None:
    """pytest restores the filters before each test, so the gateway's own are set again."""
    for message, category in LITELLM_WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)


@pytest.fixture(scope="module")
def gateway() -> LiteLLMGateway:
    load_local_model()
    return LiteLLMGateway(heartbeat_seconds=0.1)


def request(text: str, max_output_tokens: int = 8) -> ModelRequest:
    return ModelRequest(
        model=LOCAL_MODEL,
        messages=[{"role": "user", "content": text}],
        max_output_tokens=max_output_tokens,
    )


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> Chunks:
    """What llama.cpp says while the test runs."""
    said: Chunks = []
    generate = LocalModel.generate

    def noting(
        model: LocalModel, body: Mapping[str, object], on_chunk: OnChunk, stop: threading.Event
    ) -> None:
        def note(chunk: Mapping[str, Any]) -> bool:
            said.append(chunk)
            return on_chunk(chunk)

        generate(model, body, note, stop)

    monkeypatch.setattr(LocalModel, "generate", noting)
    return said


def progress(chunks: Chunks) -> list[dict[str, int]]:
    """How much of a prompt was read, batch by batch."""
    return [chunk["prompt_progress"] for chunk in chunks if "prompt_progress" in chunk]


def until_idle() -> list[dict[str, Any]]:
    """What llama.cpp computes on, look by look, until it rests."""
    for thread in threading.enumerate():
        if thread.name == "ctxcore-local-model":
            thread.join(HANG_SECONDS)
            assert not thread.is_alive()
    return list(takewhile(lambda slot: slot["is_processing"], map(slot_now, count())))


def slot_now(_look: int) -> dict[str, Any]:
    model = load_local_model()
    address = model._server.listening_address.removeprefix("http://")
    with closing(HTTPConnection(address, timeout=HANG_SECONDS)) as connection:
        connection.request("GET", "/slots", headers={"Authorization": f"Bearer {model._key}"})
        [slot] = json.loads(connection.getresponse().read())
    return dict(slot)


def test_it_streams_and_reports_exact_usage_for_free(gateway: LiteLLMGateway) -> None:
    *pieces, reply = gateway.stream(request("Tell me about the sea."))

    assert isinstance(reply, ModelReply)
    assert sum(isinstance(piece, TextDelta) for piece in pieces) > 1
    assert reply.text
    assert (reply.finish_reason, reply.usage.output_tokens, reply.cost) == ("length", 8, 0.0)
    assert reply.usage.input_tokens is not None
    assert reply.usage.input_tokens > 8


def test_it_reads_every_kind_of_message(gateway: LiteLLMGateway) -> None:
    asked = ModelRequest(
        model=LOCAL_MODEL,
        max_output_tokens=4,
        messages=[
            {"role": "developer", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "weather", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "Sunny"},
        ],
    )

    assert gateway.complete(asked).usage.output_tokens is not None


def test_closing_stops_the_model(gateway: LiteLLMGateway, chunks: Chunks) -> None:
    stream = gateway.stream(request(ENDLESS, max_output_tokens=MANY_TOKENS))
    assert any(isinstance(event, TextDelta) for event in stream)

    stream.close()

    written = [slot["next_token"][0]["n_decoded"] for slot in until_idle()]
    assert max(written, default=0) < MANY_TOKENS / 2
    assert len(chunks) < MANY_TOKENS / 2  # one a token


def test_a_long_prompt_can_be_cancelled_before_the_first_word(
    gateway: LiteLLMGateway, chunks: Chunks
) -> None:
    stream = gateway.stream(request("alpha beta gamma delta " * 1_500))
    assert any(isinstance(event, Waiting) and progress(chunks) for event in stream)

    stream.close()

    read = [slot["n_prompt_tokens_processed"] for slot in until_idle()]
    last = progress(chunks)[-1]
    assert max([last["processed"], *read]) < last["total"]
    assert gateway.complete(request("Hello", max_output_tokens=1)).usage.output_tokens == 1


def test_a_prompt_above_the_window_is_an_overflow_with_its_numbers(
    gateway: LiteLLMGateway,
) -> None:
    with pytest.raises(ContextOverflowError) as caught:
        gateway.complete(request("word " * 9_000))

    assert caught.value.limit_tokens == 8192
    assert caught.value.needed_tokens is not None
    assert caught.value.needed_tokens > 9_000


def test_calls_at_once_take_turns(gateway: LiteLLMGateway) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: gateway.complete(request(f"Say {n}", 3)), range(8)))

    assert all(reply.usage.output_tokens for reply in replies)


MESSAGES: list[list[JsonObject]] = [
    [{"role": "user", "content": "Hello"}],
    [{"role": "user", "content": "\n\n 你好, room 101?\n"}],
    [
        {"role": "system", "content": "Be short."},
        {"role": "system", "content": "And kind."},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b\n"},
        {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
    ],
    [
        {"role": "user", "content": "Weather?"},
        {"role": "system", "content": "It is late."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "Sunny, 21 °C"},
        {"role": "user", "content": "Thanks"},
    ],
]


@pytest.mark.parametrize("messages", MESSAGES)
def test_a_request_is_counted_as_the_model_gets_it(
    gateway: LiteLLMGateway, messages: list[JsonObject]
) -> None:
    tools: list[JsonObject] = [
        {"type": "function", "function": {"name": "weather", "parameters": {}}}
    ]
    sent = ModelRequest(model=LOCAL_MODEL, messages=messages, tools=tools, max_output_tokens=1)

    counted = count_messages(messages, model=LOCAL_MODEL, tools=tools)

    assert gateway.complete(sent).usage.input_tokens == counted


def test_texts_are_counted_as_llama_cpp_counts_them(gateway: LiteLLMGateway) -> None:
    counter = counter_for(LOCAL_MODEL)
    texts = [path.read_text(encoding="utf-8")[:20_000] for path in sorted(DEMO.glob("*.json"))]
    texts += ["it's 12,345.67 €  — naïve\r\n\t\tdone", "👩\u200d👧 ٣٤ ½", "   x", "a\n\n\n b"]

    assert counter.is_exact
    assert list(map(counter.count, texts)) == list(map(count_local_tokens, texts))


def test_another_name_is_an_unknown_model(gateway: LiteLLMGateway) -> None:
    with pytest.raises(ProviderError) as caught:
        gateway.complete(ModelRequest(model="local/other", messages=[]))

    assert caught.value.kind == "unknown_model"


def test_python_ends_cleanly_within_an_answer() -> None:
    program = (
        "from ctxcore.gateway.litellm_gateway import LiteLLMGateway\n"
        "from ctxcore.gateway.values import ModelRequest, TextDelta\n"
        f"asked = ModelRequest(model={LOCAL_MODEL!r}, max_output_tokens={MANY_TOKENS},\n"
        f"    messages=[{{'role': 'user', 'content': {ENDLESS!r}}}])\n"
        "stream = LiteLLMGateway().stream(asked)\n"
        "next(event for event in stream if isinstance(event, TextDelta))\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=HANG_SECONDS
    )

    assert ended.returncode == 0, ended.stderr.decode()
