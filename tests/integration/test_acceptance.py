"""Thirty turns with a scripted model in every run, and with the built-in one on `make accept`."""

from __future__ import annotations

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.local.status import local_model_status
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.store.sql import open_store
from ctxcore.tokens.count import counter_for
from tests.acceptance import assert_accepted, run_acceptance
from tests.engines import quiet_litellm

LOCAL = "local/smollm2-135m"


def test_thirty_turns_with_a_scripted_model() -> None:
    reply = ScriptedReply(text="I have noted all of that for the move. " * 8)
    quiet_litellm()
    store = open_store("sqlite://")
    with ScriptedModel("acceptance", otherwise=reply, count=counter_for().count) as model:
        seen = run_acceptance(ContextEngine(store, gateway=LiteLLMGateway()), model.model)
    store.close()

    assert_accepted(seen)


@pytest.mark.accept
def test_thirty_turns_with_the_built_in_model() -> None:
    status = local_model_status()
    if not status.available:
        pytest.skip(str(status.reason))
    quiet_litellm()
    store = open_store("sqlite://")

    seen = run_acceptance(ContextEngine(store, gateway=LiteLLMGateway()), LOCAL)
    store.close()

    assert_accepted(seen)
    assert set(seen.differences) == {0}  # its own tokenizer and chat template
