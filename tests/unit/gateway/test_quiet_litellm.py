"""litellm writes nothing to the terminal, whatever goes wrong in a call and whoever logs."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.processes import fresh

FAILING_CALLS = """
from ctxcore import Connection, ContextError, LiteLLMGateway, ScriptedModel, ScriptedReply
from ctxcore.gateway.streams import Retries
from ctxcore.gateway.values import ModelRequest, TextDelta

gateway = LiteLLMGateway(retries=Retries(attempts=1), timeout_seconds=10)
kinds = []

def ask(model, **options):
    return ModelRequest(model=model, messages=[{"role": "user", "content": "hi"}], **options)

def fail(model, **options):
    try:
        gateway.complete(ask(model, **options))
    except ContextError as error:
        kinds.append(error.kind)

long = ScriptedReply(text="word " * 100, chunk_delay_seconds=0.05)
errors = [ScriptedReply(error=kind) for kind in ("auth", "overflow", "unavailable")]
cut = ScriptedReply(text="word " * 20, error="interrupted", error_after_chunks=2)
model = ScriptedModel("demo", [long, *errors, cut])
stream = gateway.stream(ask(model.model))
next(event for event in stream if isinstance(event, TextDelta))
stream.close()
for _ in range(4):
    fail(model.model)
fail("no-such-model")
fail("nobody/no-such-model")
for name in ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "ollama/llama3"):
    fail(name, connection=Connection(name="x", model=name, api_base="http://127.0.0.1:9"))
fail("openai/gpt-4o", tools=({"type": "nonsense"},), connection=Connection(
    name="x", model="openai/gpt-4o", api_base="http://127.0.0.1:9"))
assert len(kinds) == 10, kinds
"""

LISTENING = """
import logging, sys
logging.getLogger("LiteLLM").addHandler(logging.StreamHandler(sys.stdout))
from ctxcore.litellm_loading import load_litellm
load_litellm()
for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
    logging.getLogger(name).error("from %s", name)
"""

COMMAND = "import sys; from ctxcore.cli import app; app(sys.argv[1:])"


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        (
            "import logging\n"
            "for name in (None, 'LiteLLM'): logging.getLogger(name).setLevel(logging.DEBUG)\n",
            {"LITELLM_LOG": "DEBUG"},
        ),
        pytest.param(
            "import litellm, logging; logging.getLogger().setLevel(logging.DEBUG)\n",
            {"LITELLM_LOCAL_MODEL_COST_MAP": "True"},  # else its import logs that it is offline
            marks=pytest.mark.slow,
        ),
    ],
    ids=["everything logs", "imported before"],
)
def test_failing_calls_print_nothing(before: str, environment: Mapping[str, str]) -> None:
    done = fresh(before + FAILING_CALLS, options=(), environment=environment)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_only_a_handler_of_the_application_gets_its_records() -> None:
    done = fresh(LISTENING)

    assert (done.returncode, done.stdout, done.stderr) == (0, "from LiteLLM\n", "")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai/gpt-4o", "cannot be reached"),
        pytest.param("nobody/x", "does not know the model", marks=pytest.mark.slow),
    ],
)
def test_a_command_prints_its_own_document_only(model: str, told: str) -> None:
    asked = ("data/demo_incident.json", "--max-tokens", "4000", "--summarizer", model, "--json")
    environment = {
        "LITELLM_LOG": "DEBUG",
        "OPENAI_API_KEY": "sk-wrong",
        "OPENAI_API_BASE": "http://127.0.0.1:9",
    }
    done = fresh(COMMAND, "compact", *asked, options=(), environment=environment)

    assert done.stderr == ""
    assert told in json.dumps(json.loads(done.stdout)["results"])
