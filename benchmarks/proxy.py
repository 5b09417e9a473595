"""What the hook of LiteLLM Proxy adds to a request, and what it leaves of the prompt cache.

Run it as `python -m benchmarks.proxy`. The conversations are made up; the times are processor
seconds of this process, the median of the turns.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from benchmarks.timing import print_command
from ctxcore import ContextEngine, open_store
from ctxcore.integrations.litellm_proxy import ContextHook
from ctxcore.store.values import Scope
from ctxcore.tokens.count import counter_for

Message = dict[str, Any]
MODEL: Final = "anthropic/claude-sonnet-4-5"
LENGTHS: Final = (50, 500, 2_000)
MEASURED: Final = 9  # turns
TURNS: Final = 60
WINDOW: Final = 30_000  # tokens; chosen: a conversation of sixty turns fills it several times
KEY: Final = SimpleNamespace(key_alias=None, user_id=None)
NO_ANSWER: Final[dict[str, Any]] = {"choices": []}  # the next request brings it
NOW: Final = datetime(2026, 3, 2, tzinfo=UTC)


def conversation() -> Iterator[Message]:
    """An agent at work: a request, then calls of a tool with outputs of 1,000 to 4,000 chars."""
    for number in count():
        yield {
            "role": "user",
            "content": f"Step {number}: look at module m{number}, keep port 8{number:03}.",
        }
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "read",
            "input": {"path": f"m{number}.py"},
        }
        yield {"role": "assistant", "content": [use]}
        line = (
            f"def f{number}(value): return value + {number}  # nothing more to see in m{number}\n"
        )
        output = line * (15 + 45 * (number % 2))
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
        yield {"role": "user", "content": [result]}
        yield {"role": "assistant", "content": f"Module m{number} adds {number}. " * 12}


class Proxy:
    """Calls a hook as the proxy does."""

    def __init__(self, folder: str) -> None:
        self.store = open_store(f"sqlite:///{Path(folder) / 'proxy.db'}")
        self.engine = ContextEngine(self.store)
        self.engine.user()
        self.hook = ContextHook(self.store)
        self._numbers = count()

    def send(self, messages: list[Message]) -> list[Message]:
        """What is sent on in place of `messages`, with the answer reported."""
        number = str(next(self._numbers))
        data: dict[str, Any] = {"model": MODEL, "messages": messages, "litellm_call_id": number}
        found = asyncio.run(self.hook.async_pre_call_hook(KEY, None, data, "anthropic_messages"))
        report = {"litellm_call_id": number}
        asyncio.run(self.hook.async_log_success_event(report, NO_ANSWER, NOW, NOW))
        sent: list[Message] = (found or data)["messages"]
        return sent


def latency(length: int) -> tuple[str, ...]:
    """The processor time of the two hooks per request of `length` messages."""
    said = conversation()
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(folder)
        messages = [next(said) for _ in range(length - length % 2 - 1)]
        times: dict[str, list[float]] = {"parsing": [], "before": [], "after": []}
        first = 0.0
        for turn in range(MEASURED + 1):
            body = json.dumps(messages)
            began = time.process_time()
            messages = json.loads(body)
            parsed = time.process_time()
            number = str(turn)
            data = {"model": MODEL, "messages": messages, "litellm_call_id": number}
            asyncio.run(proxy.hook.async_pre_call_hook(KEY, None, data, "anthropic_messages"))
            before = time.process_time()
            report = {"litellm_call_id": number}
            asyncio.run(proxy.hook.async_log_success_event(report, NO_ANSWER, NOW, NOW))
            after = time.process_time()
            if not turn:
                first = before - parsed
            else:
                times["parsing"].append(parsed - began)
                times["before"].append(before - parsed)
                times["after"].append(after - before)
            messages += [next(said), next(said)]
        proxy.engine.wait()
        proxy.store.close()
    middle = {name: f"{1000 * statistics.median(found):.1f}" for name, found in times.items()}
    return (
        f"{length:,}",
        middle["parsing"],
        middle["before"],
        middle["after"],
        f"{1000 * first:,.0f}",
    )


def cached(sends: Callable[[list[Message]], list[Message]]) -> tuple[str, ...]:
    """What is sent over sixty turns, and how much of it a prompt cache holds already."""
    counter, said = counter_for(MODEL), conversation()
    messages: list[Message] = []
    before: list[str] = []
    sent_tokens = cached_tokens = breaks = 0
    for _ in range(TURNS):
        for _ in range(2):  # the request, then the result of the call: two calls a turn
            messages.append(next(said))
            now = [json.dumps(message, sort_keys=True) for message in sends([*messages])]
            sizes = [counter.count(text) for text in now]
            same = next(
                (at for at, (a, b) in enumerate(zip(before, now, strict=False)) if a != b),
                min(len(before), len(now)),
            )
            breaks += bool(before) and same < len(before)
            sent_tokens += sum(sizes)
            cached_tokens += sum(sizes[:same])
            before = now
            messages.append(next(said))
    fresh = sent_tokens - cached_tokens
    # Of a provider that takes a tenth for what its cache holds and a quarter more for what it adds.
    cost = 0.1 * cached_tokens + 1.25 * fresh
    return (
        f"{sent_tokens:,}",
        f"{cached_tokens / sent_tokens:.0%}",
        str(breaks),
        f"{cost:,.0f}",
    )


def _trimmed(messages: list[Message]) -> list[Message]:
    """The newest messages that fit, chosen anew each time, as trimming hooks do."""
    counter = counter_for(MODEL)
    room, kept = WINDOW * 0.8, list[Message]()
    for message in reversed(messages):
        room -= counter.count(json.dumps(message))
        if room < 0:
            break
        kept.insert(0, message)
    return kept


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table in Markdown."""
    for row in (head, ["---"] * len(head), *rows):
        print("|", " | ".join(row), "|", flush=True)
    print()


def main() -> None:
    """Prints both tables."""
    print_command()
    logging.disable(logging.WARNING)
    os.environ.setdefault("NO_COLOR", "1")
    print_table(
        ("messages", "parsing, ms", "before the call, ms", "after it, ms", "first time, ms"),
        [latency(length) for length in LENGTHS],
    )
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(folder)
        proxy.engine.save_policy(Scope(), {"window_tokens": WINDOW})

        def through_hook(messages: list[Message]) -> list[Message]:
            sent = proxy.send(messages)
            proxy.engine.wait()
            return sent

        print_table(
            ("", "sent, tokens", "from the cache", "breaks", "cost"),
            [
                ("as it came", *cached(lambda messages: messages)),
                ("trimmed each time", *cached(_trimmed)),
                ("ctxcore_hook", *cached(through_hook)),
            ],
        )
        proxy.store.close()


if __name__ == "__main__":
    main()
