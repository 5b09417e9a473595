"""The gateway against a scripted model: the whole path through litellm, without a network."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxcore.errors import FormatError
from ctxcore.gateway.errors import (
    ContextOverflowError,
    LocalModelUnavailable,
    MissingKeyError,
    ProviderError,
)
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.local import status
from ctxcore.gateway.scripted import (
    Script,
    ScriptedModel,
    ScriptedReply,
    echo,
    load_scripted_models,
)
from ctxcore.gateway.streams import Retries
from ctxcore.gateway.values import (
    CallDelta,
    Connection,
    ModelReply,
    ModelRequest,
    ModelUsage,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Waiting,
)
from ctxcore.messages.openai import to_openai
from ctxcore.messages.values import JsonObject, Text, ToolCall
from ctxcore.tokens.prices import Price
from tests.limits import HANG_SECONDS

QUICK = Retries(attempts=3, first_wait_seconds=0.001, max_wait_seconds=0.01)
WEATHER: JsonObject = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture
def gateway() -> LiteLLMGateway:
    return LiteLLMGateway(retries=QUICK, heartbeat_seconds=None, key_source=lambda name: None)


def request(model: str, text: str = "Hello there", **more: object) -> ModelRequest:
    messages: list[JsonObject] = [{"role": "user", "content": text}]
    return ModelRequest(model=model, messages=messages, **more)  # type: ignore[arg-type]  # fields by name


def test_a_reply_comes_in_pieces_and_then_whole(gateway: LiteLLMGateway) -> None:
    with ScriptedModel("pieces", [ScriptedReply(text="one two three four")]) as script:
        *pieces, reply = gateway.stream(request(script.model))

    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == (
        "one two three four"
    )
    assert len(pieces) > 1
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.finish_reason) == ("one two three four", "stop")
    assert reply.usage == ModelUsage(input_tokens=2, output_tokens=4)


def test_thinking_and_calls_are_kept_apart_from_the_text(gateway: LiteLLMGateway) -> None:
    calls = (
        ToolCall(id="a", name="weather", arguments='{"city": "Oslo"}'),
        ToolCall(id="b", name="weather", arguments=""),
    )
    written = ScriptedReply(text="Let me look.", reasoning="They want weather.", calls=calls)

    with ScriptedModel("calls", [written]) as script:
        *pieces, reply = gateway.stream(request(script.model, tools=[WEATHER]))

    assert isinstance(reply, ModelReply)
    assert (reply.reasoning, reply.text) == ("They want weather.", "Let me look.")
    assert (reply.calls, reply.finish_reason) == (calls, "tool_calls")
    assert {type(piece) for piece in pieces} == {ReasoningDelta, TextDelta, CallDelta}


def test_a_reply_is_a_message_to_append(gateway: LiteLLMGateway) -> None:
    call = ToolCall(id="a", name="weather", arguments="{}")

    with ScriptedModel("append", [ScriptedReply(text="Sure", calls=(call,))]) as script:
        message = gateway.complete(request(script.model)).message

    assert (message.role, message.content, message.calls) == (
        "assistant",
        (Text(text="Sure"),),
        (call,),
    )


def test_the_provider_gets_what_was_asked(gateway: LiteLLMGateway) -> None:
    with ScriptedModel("asked") as script:
        gateway.complete(
            request(script.model, tools=[WEATHER], max_output_tokens=9, temperature=0.5)
        )
        (arrived,) = script.requests

    assert arrived.messages == ({"role": "user", "content": "Hello there"},)
    assert arrived.tools == (WEATHER,)
    assert (arrived.max_output_tokens, arrived.temperature) == (9, 0.5)


def test_the_reply_of_a_model_can_be_sent_back_to_it(gateway: LiteLLMGateway) -> None:
    call = ToolCall(id="a", name="weather", arguments="{}")

    with ScriptedModel("back", [ScriptedReply(calls=(call,)), echo()]) as script:
        asked = gateway.complete(request(script.model, tools=[WEATHER]))
        result: JsonObject = {"role": "tool", "tool_call_id": "a", "content": "Sunny"}
        again = ModelRequest(
            model=script.model,
            messages=[
                {"role": "user", "content": "Weather?"},
                to_openai(asked.message),
                result,
            ],
        )

        assert gateway.complete(again).text == "You said: Weather?"
        assert script.requests[1].messages[2] == result


def test_unreported_usage_is_unknown_and_so_is_its_cost() -> None:
    gateway = LiteLLMGateway(prices={"scripted/silent": Price(input=1, output=2)})

    with ScriptedModel("silent", [ScriptedReply(text="Hi", usage=ModelUsage())]) as script:
        reply = gateway.complete(request(script.model))

    assert reply.usage == ModelUsage()
    assert not reply.usage.is_known
    assert reply.cost is None


def test_cached_and_thinking_tokens_are_reported_and_priced() -> None:
    usage = ModelUsage(
        input_tokens=1_000,
        cached_tokens=600,
        cache_write_tokens=100,
        cache_hour_tokens=40,
        output_tokens=50,
        reasoning_tokens=20,
    )
    price = Price(input=10, output=20, cached=1, cache_write=12, cache_hour=15)
    gateway = LiteLLMGateway(prices={"scripted/cached": price})

    with ScriptedModel("cached", [ScriptedReply(text="Hi", usage=usage)]) as script:
        reply = gateway.complete(request(script.model))

    assert reply.usage == usage
    # 300 plain at 10, 600 cached at 1, 60 written at 12, 40 for an hour at 15, 50 out at 20
    assert reply.cost == pytest.approx((3_000 + 600 + 720 + 600 + 1_000) / 1_000_000)


def test_an_unknown_price_is_no_price(gateway: LiteLLMGateway) -> None:
    own_server = Connection(name="own", model="openai/gpt-4o", api_base="http://localhost:1")

    assert gateway.price(request("scripted/x")) is None
    assert gateway.price(request("openai/gpt-4o")) is not None
    assert gateway.price(request("openai/gpt-4o", connection=own_server)) is None


def test_a_call_is_sent_again_until_it_succeeds(gateway: LiteLLMGateway) -> None:
    replies: list[Script] = [
        ScriptedReply(error="rate_limit"),
        ScriptedReply(error="unavailable"),
        echo("Done"),
    ]

    with ScriptedModel("again", replies) as script:
        assert gateway.complete(request(script.model)).text == "Done"
        assert len(script.requests) == 3


def test_retries_are_bounded(gateway: LiteLLMGateway) -> None:
    with ScriptedModel("bounded", otherwise=ScriptedReply(error="rate_limit")) as script:
        with pytest.raises(ProviderError) as caught:
            gateway.complete(request(script.model))
        assert len(script.requests) == 3

    assert caught.value.kind == "rate_limit"


@pytest.mark.parametrize("kind", ["auth", "overflow", "bad_request", "malformed_history", "quota"])
def test_what_cannot_pass_later_is_sent_once(kind: str, gateway: LiteLLMGateway) -> None:
    failing = ScriptedReply(error=kind)  # type: ignore[arg-type]  # parametrized literals

    with ScriptedModel("once", otherwise=failing) as script:
        with pytest.raises(ProviderError) as caught:
            gateway.complete(request(script.model))
        assert len(script.requests) == 1

    assert caught.value.kind == kind


def test_an_answer_that_broke_off_is_not_sent_again(gateway: LiteLLMGateway) -> None:
    broken = ScriptedReply(text="a" * 60, error="unavailable", error_after_chunks=2)
    seen: list[StreamEvent] = []

    with ScriptedModel("broken", [broken]) as script:
        with pytest.raises(ProviderError) as caught:
            seen.extend(gateway.stream(request(script.model)))
        assert len(script.requests) == 1

    assert caught.value.kind == "interrupted"


def test_a_window_refuses_what_is_longer(gateway: LiteLLMGateway) -> None:
    with (
        ScriptedModel("window", window_tokens=5) as script,
        pytest.raises(ContextOverflowError) as caught,
    ):
        gateway.complete(request(script.model, text="one two three four five six"))

    assert (caught.value.needed_tokens, caught.value.limit_tokens) == (6, 5)


def test_an_unknown_model_is_named(gateway: LiteLLMGateway) -> None:
    with pytest.raises(ProviderError, match="scripted/nobody") as caught:
        gateway.complete(request("scripted/nobody"))

    assert caught.value.kind == "unknown_model"


def test_no_raw_exception_hangs_on_an_error(gateway: LiteLLMGateway) -> None:
    with (
        ScriptedModel("raw", [ScriptedReply(error="auth", error_text="bad sk-abcdefgh12345")]) as s,
        pytest.raises(ProviderError) as caught,
    ):
        gateway.complete(request(s.model))

    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "sk-abcdefgh" not in str(caught.value)


def test_closing_within_a_silence_returns_at_once_and_cancels() -> None:
    gateway = LiteLLMGateway(heartbeat_seconds=0.02)
    slow = ScriptedReply(text="Hi", first_delay_seconds=2 * HANG_SECONDS)

    with ScriptedModel("silence", [slow]) as script:
        stream = gateway.stream(request(script.model))
        assert any(isinstance(event, Waiting) and script.requests for event in stream)
        close(stream)

        assert wait_until(lambda: script.cancelled == 1)  # after the silence it would have ended


def test_closing_within_an_answer_cancels(gateway: LiteLLMGateway) -> None:
    endless = ScriptedReply(text="word " * 10_000, chunk_delay_seconds=0.01)

    with ScriptedModel("endless", [endless]) as script:
        stream = gateway.stream(request(script.model))
        next(stream)
        close(stream)

        assert wait_until(lambda: script.cancelled == 1)
        assert wait_until(lambda: not running_calls())


def test_a_finished_stream_is_not_cancelled(gateway: LiteLLMGateway) -> None:
    with ScriptedModel("finished", [ScriptedReply(text="Hi")]) as script:
        gateway.complete(request(script.model))

        assert script.cancelled == 0


def test_closing_during_a_retry_stops_waiting() -> None:
    long = 2 * HANG_SECONDS
    patient = Retries(attempts=5, first_wait_seconds=long, max_wait_seconds=long)
    gateway = LiteLLMGateway(retries=patient, heartbeat_seconds=0.02)

    with ScriptedModel("patient", otherwise=ScriptedReply(error="rate_limit")) as script:
        stream = gateway.stream(request(script.model))
        assert any(isinstance(event, Waiting) and script.requests for event in stream)
        close(stream)

        assert wait_until(lambda: not running_calls())
        assert len(script.requests) == 1


def test_a_hundred_calls_at_once_get_their_own_answers(gateway: LiteLLMGateway) -> None:
    with (
        ScriptedModel("many", otherwise=echo(reply=ScriptedReply(chunk_chars=3))) as script,
        ThreadPoolExecutor(100) as pool,
    ):
        texts = [f"number {n}" for n in range(100)]
        replies = list(pool.map(lambda text: gateway.complete(request(script.model, text)), texts))

    assert [reply.text for reply in replies] == [f"You said: {text}" for text in texts]
    assert len(script.requests) == 100


def test_a_missing_key_is_found_before_anything_is_sent(gateway: LiteLLMGateway) -> None:
    connection = Connection(
        name="mine", model="openai/x", api_base="http://127.0.0.1:9", key_env="MY_SERVER_KEY"
    )

    with pytest.raises(MissingKeyError, match="MY_SERVER_KEY") as caught:
        gateway.complete(request("openai/x", connection=connection))

    assert caught.value.variables == ("MY_SERVER_KEY",)


def test_a_public_service_names_the_variable_it_needs(
    gateway: LiteLLMGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DASHSCOPE_API_KEY", raising=False)

    with pytest.raises(MissingKeyError, match="DASHSCOPE_API_KEY"):
        gateway.complete(request("dashscope/qwen-plus"))


def test_a_built_in_model_that_cannot_run_says_why(
    gateway: LiteLLMGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "weights_path", lambda: None)

    with pytest.raises(LocalModelUnavailable, match="weights are not installed"):
        gateway.complete(request(status.LOCAL_MODEL))


def test_a_processor_without_avx2_is_found_before_the_import(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "cpuinfo"
    old.write_text("processor: 0\nflags\t\t: fpu sse2 avx fma f16c\n", encoding="utf-8")
    monkeypatch.setattr(status, "_CPU_INFO", old)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(status, "_RUNTIME", "json")
    monkeypatch.setattr(status, "weights_path", lambda: tmp_path)

    assert str(status.local_model_status().reason) == "this processor lacks avx2"


def test_scripts_are_read_from_a_file(tmp_path: Path, gateway: LiteLLMGateway) -> None:
    script = {
        "filed": {
            "replies": [
                {"text": "First", "usage": {"input_tokens": 7, "output_tokens": 1}},
                {"calls": [{"name": "weather", "arguments": "{}"}]},
                {"error": "auth"},
            ],
            "otherwise": {"echo": "Again: {text}"},
        }
    }
    path = tmp_path / "scripts.json"
    path.write_text(json.dumps(script), encoding="utf-8")

    (model,) = load_scripted_models(path)
    with model:
        assert gateway.complete(request(model.model)).usage.input_tokens == 7
        assert gateway.complete(request(model.model)).calls[0].name == "weather"
        with pytest.raises(ProviderError):
            gateway.complete(request(model.model))
        assert gateway.complete(request(model.model, text="Hey")).text == "Again: Hey"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("[]", "expected an object"),
        ("{", "Expecting"),
        ('{"a": {"reply": []}}', "unknown key reply"),
        ('{"a": {"replies": [{"error": "odd"}]}}', "unknown error kind 'odd'"),
        ('{"a": {"replies": [{"text": 1}]}}', "text is 1"),
    ],
)
def test_a_mistake_in_a_script_file_is_named(tmp_path: Path, script: str, problem: str) -> None:
    path = tmp_path / "scripts.json"
    path.write_text(script, encoding="utf-8")

    with pytest.raises(FormatError, match=problem):
        load_scripted_models(path)


def test_a_connection_shows_no_options() -> None:
    connection = Connection(name="a", model="m", key_env="KEY", options={"secret": "hunter2"})

    assert "hunter2" not in repr(connection)


def close(stream: Iterator[StreamEvent]) -> None:
    """What a generator's owner does when it turns away."""
    stream.close()  # type: ignore[attr-defined]  # the protocol promises an iterator; ours is a generator


def running_calls() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ctxcore-model-call"]


def wait_until(is_so: Callable[[], bool]) -> bool:
    """Whether it became so; other threads have to get there on their own."""
    until = time.monotonic() + HANG_SECONDS
    while time.monotonic() < until:
        if is_so():
            return True
        time.sleep(0.005)
    return False
