"""The window that all frameworks share: what it does with states and faults."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest

from ctxcore import StateError, fit
from ctxcore.integrations import Window
from tests.integration.frameworks.conversations import WINDOW, answer, note, prefix_breaks
from tests.limits import HANG_SECONDS


def test_it_loads_no_database() -> None:
    code = (
        "import sys; from ctxcore.integrations import Window; from ctxcore import acompact; "
        "assert not {'sqlalchemy', 'sqlmodel', 'litellm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG_SECONDS)


def talk(turns: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": note(turn)})
        messages.append({"role": "assistant", "content": answer(turn)})
    return messages


def test_dictionaries_are_kept_too_and_the_state_is_plain() -> None:
    window, state, requests = Window(max_tokens=WINDOW, strict=True), None, []
    messages = talk(40)
    for end in range(1, len(messages), 2):
        kept = window.keep(messages[:end], state)
        state = kept.state
        requests.append([str(message) for message in kept.messages])
        assert fit(kept.messages).tokens <= WINDOW

    assert 1 <= len(prefix_breaks(requests)) <= 4


@pytest.mark.parametrize("state", [{"version": 99}, {"summary": 3}], ids=["newer", "damaged"])
def test_a_state_that_cannot_be_read_is_left_out(
    state: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "ctxcore.integrations"):
        kept = Window(max_tokens=WINDOW).keep(talk(40), state)

    assert fit(kept.messages).tokens <= WINDOW
    assert "compacted anew" in caplog.text
    with pytest.raises(StateError):
        Window(max_tokens=WINDOW, strict=True).keep(talk(40), state)


def test_a_state_of_another_conversation_is_rebuilt() -> None:
    window = Window(max_tokens=WINDOW, strict=True)
    other = window.keep(talk(40)).state
    messages = [{"role": "user", "content": "Quite another talk."}, *talk(40)[1:-1]]

    kept = window.keep(messages, other)

    assert fit(kept.messages).tokens <= WINDOW
    assert kept.messages[-1]["content"].startswith(messages[-1]["content"])
