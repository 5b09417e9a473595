"""The other libraries that are measured beside this one, each where it is installed.

They are found by name, so that nothing here needs them; a missing one is said in one line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

Contenders = dict[str, Callable[[], object]]

MODEL = "gpt-4o"
# Else litellm's import asks for a newer price list over the network, three times.
OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
_FRAME_TOKENS = 3  # around each message, as OpenAI counts them


def peers(messages: Sequence[JsonObject], max_tokens: int) -> Contenders:
    """What the installed peers do with `messages`; their own message types are made beforehand."""
    found: Contenders = {}
    if is_there("langchain_core"):
        found |= _langchain(messages, max_tokens)
    if is_there("litellm"):
        os.environ.update(OFFLINE)
        count = import_module("litellm").token_counter
        found["litellm token_counter (counts only)"] = partial(
            count, model=MODEL, messages=list(messages)
        )
    return found


def is_there(name: str) -> bool:
    """Whether a peer is installed; says so if it is not."""
    if find_spec(name) is not None:
        return True
    print(f"{name} is not installed and left out; install the extra 'bench' to have it")
    return False


def _langchain(messages: Sequence[JsonObject], max_tokens: int) -> Contenders:
    """`trim_messages` as its documentation uses it for a chat: the newest, from a user's on."""
    module: Any = import_module("langchain_core.messages")
    own = module.convert_to_messages(list(messages))
    counters = {"tiktoken": _message_tokens, "approximate": module.utils.count_tokens_approximately}
    return {
        f"langchain-core trim_messages ({name})": partial(
            module.trim_messages,
            own,
            max_tokens=max_tokens,
            token_counter=counter,
            strategy="last",
            start_on="human",
            include_system=True,
        )
        for name, counter in counters.items()
    }


def _message_tokens(messages: Sequence[Any]) -> int:
    """A list counter, as `trim_messages` takes one, in the same vocabulary as ours."""
    count = counter_for(MODEL).count
    return sum(_FRAME_TOKENS + count(_words(message)) for message in messages)


def _words(message: Any) -> str:
    calls = "".join(str(call["args"]) for call in getattr(message, "tool_calls", ()))
    return f"{message.content}{calls}"
