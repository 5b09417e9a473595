"""Without litellm all but calls to models works, and those say what to install."""

from __future__ import annotations

import json

import pytest

from tests.processes import fresh

BLOCKED = "import sys; sys.modules['litellm'] = None\n"
TOLD = (
    "this needs the package litellm, which is not installed; "
    'install it with: pip install "ctxcore-window[gateway]"'
)

LISTS = """
import ctxcore
messages = [{"role": "user", "content": f"{n}: the coast or the hills? " * 20} for n in range(40)]
assert ctxcore.count_tokens("hello world", "gpt-4o") == 2
assert ctxcore.count_messages(messages, model="gpt-4") > 1_000
context = ctxcore.fit(messages, max_tokens=1_000, model="gpt-4o")
assert context.is_exact and context.tokens <= 1_000
assert ctxcore.compact(messages, max_tokens=1_000, model="gpt-4o").applied
assert ctxcore.model_info("gpt-4o").window_tokens == 128_000
"""

SESSIONS = """
import ctxcore
store = ctxcore.open_store("sqlite://")
engine = ctxcore.ContextEngine(store, gateway=ctxcore.LiteLLMGateway(), model="openai/gpt-4o")
session = engine.create_session("A trip")
engine.append(session.id, [{"role": "user", "content": "the coast? " * 500}] * 20)
before = engine.context(session.id).tokens
engine.compact(session.id)
assert engine.context(session.id).tokens < before
*_, end = engine.chat(session.id, "And now?")
assert end.state == "failed", end
print(end.error)
store.close()
"""

CALL = """
import sys
from ctxcore import ConfigurationError, LiteLLMGateway, ScriptedModel
from ctxcore.gateway.values import ModelRequest
ScriptedModel("demo")
try:
    request = ModelRequest(model=sys.argv[1], messages=[{"role": "user", "content": "hi"}])
    LiteLLMGateway().complete(request)
except ConfigurationError as error:
    assert (error.code, error.facts["package"]) == ("package.missing", "litellm")
    assert error.path is None
    print(error)
"""

SUMMARY = """
from ctxcore import ConfigurationError, LiteLLMGateway, ModelSummarizer, compact
messages = [{"role": "user", "content": f"{n}: the coast or the hills? " * 20} for n in range(40)]
try:
    compact(
        messages, max_tokens=1_000, summarizer=ModelSummarizer(LiteLLMGateway(), "openai/gpt-4o")
    )
except ConfigurationError as error:
    print(error)
"""

RULE = """
from ctxcore import ConfigurationError, Policy, compact
policy = Policy().override(counting="litellm")
try:
    compact([{"role": "user", "content": "hi"}], max_tokens=1_000, policy=policy)
except ConfigurationError as error:
    print(error)
"""

WARM_UP = """
import logging
logging.basicConfig(format="%(message)s")
from dashboard.services import _warm_up
_warm_up()
"""

COMMAND = "from ctxcore.cli import app; app(sys.argv[1:])"


@pytest.mark.parametrize("script", [LISTS, SESSIONS], ids=["lists", "sessions"])
def test_what_calls_no_model_works(script: str) -> None:
    done = fresh(BLOCKED + script)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in ("", TOLD)


@pytest.mark.parametrize("model", ["openai/gpt-4o", "scripted/demo", "local/smollm2-135m"])
def test_a_call_says_what_to_install(model: str) -> None:
    done = fresh(BLOCKED + CALL, model)

    assert (done.stdout, done.stderr) == (f"{TOLD}\n", "")


@pytest.mark.parametrize("script", [SUMMARY, RULE], ids=["summary", "counting"])
def test_a_summary_or_count_by_litellm_says_what_to_install(script: str) -> None:
    done = fresh(BLOCKED + script)

    assert (done.stdout, done.stderr) == (f"{TOLD}\n", "")


@pytest.mark.parametrize("command", ["inspect", "fit", "compact", "compare"])
def test_commands_work(command: str) -> None:
    done = fresh(BLOCKED + COMMAND, command, "data/demo_trip_zh.json", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["results"]


def test_a_command_with_a_model_fails_in_one_line() -> None:
    file = "data/demo_incident.json"
    asked = ("--max-tokens", "4000", "--summarizer", "openai/gpt-4o")
    done = fresh(BLOCKED + COMMAND, "compact", file, *asked, environment={"COLUMNS": "400"})

    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith(TOLD)


def test_the_warm_up_of_the_dashboard_goes_on() -> None:
    done = fresh(BLOCKED + WARM_UP, options=())

    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == f"litellm is not there error={TOLD}"
    assert "Traceback" not in done.stderr
