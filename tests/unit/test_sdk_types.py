"""What a context sends passes the type checks of the SDKs that send it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openai")

SNIPPET = """
from openai import OpenAI
from openai.types.chat import ChatCompletion

from ctxcore import RebuiltRequest, compact, fit


def answer(client: OpenAI, said: list[dict[str, object]]) -> ChatCompletion:
    context = fit(said, max_tokens=900)
    client.chat.completions.create(
        model="gpt-4o", messages=context.messages, tools=context.sent_tools([])
    )
    return client.chat.completions.create(
        model="gpt-4o", messages=compact(said, max_tokens=900).context.in_shape("openai")
    )


def send_again(client: OpenAI, request: RebuiltRequest) -> ChatCompletion:
    sent = [made.message for made in request.messages]
    return client.chat.completions.create(
        model=request.model, messages=sent, tools=request.tools
    )
"""


@pytest.mark.slow
def test_messages_and_tools_type_check_as_those_of_openai(tmp_path: Path) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET, encoding="utf-8")

    cache = ["--cache-dir", str(tmp_path / "cache")]

    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", *cache, str(snippet)],
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert checked.stdout == "Success: no issues found in 1 source file\n"
