"""Appending many messages to a stored session, beside what no store can do without.

Run it as `python -m benchmarks.appending`. A message is 80 English words, with their commas and
stops, drawn from what people and models said in recorded conversations, so that no two are alike.
The floor counts each with tiktoken and inserts it with its words into an SQLite full-text index;
ctxcore also finds its facts and notes what scoring needs.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.conversations import DEMO, load_messages
from benchmarks.peers import MODEL
from benchmarks.timing import Cost, cost_of, cpu_median, interleaved, print_command
from ctxcore import ContextEngine, open_store
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for

WORDS = 80  # of a message
BATCH = 1_000  # messages a write
_WORD = re.compile(r"(?<!\S)[A-Za-z]+(?:'[a-z]+)?[,.;?!]?(?!\S)")
_TABLES = """
    CREATE TABLE message (seq INTEGER PRIMARY KEY, role TEXT, body TEXT, tokens INTEGER);
    CREATE VIRTUAL TABLE message_words USING fts5(words);
"""


def main() -> None:
    """Print how many messages a second each appends, of processor time."""
    options = _options()
    print_command()
    batches = drawn(load_messages(options.data), (options.rounds + 1) * 2)
    with TemporaryDirectory() as folder:
        contenders: dict[str, _Session | _Table] = {
            "ctxcore": _Session(folder),
            "counted and indexed": _Table(folder),
        }
        for contender in contenders.values():
            contender.append(next(batches))  # loads and caches
        costs = interleaved(
            {name: partial(_cost, one, batches) for name, one in contenders.items()},
            rounds=options.rounds,
            most_seconds=600,
        )
    floor = cpu_median(costs["counted and indexed"])
    for name in contenders:
        seconds = cpu_median(costs[name])
        each = seconds / BATCH * 1e6
        print(
            f"{name:<20} {BATCH / seconds:>8,.0f}/s {each:>6.0f} µs each {seconds / floor:>5.1f}×"
        )


def drawn(messages: Sequence[JsonObject], batches: int) -> Iterator[list[JsonObject]]:
    """Batches of messages of words drawn from `messages`, by a user and a model in turn."""
    random = Random(0)
    talk = (one for one in messages if one["role"] in ("user", "assistant"))
    found = [word for one in talk for word in _WORD.findall(str(one["content"] or ""))]
    for _ in range(batches):
        yield [
            {
                "role": "assistant" if at % 2 else "user",
                "content": " ".join(random.choices(found, k=WORDS)),
            }
            for at in range(BATCH)
        ]


class _Session:
    """A session of ctxcore."""

    def __init__(self, folder: str) -> None:
        self.engine = ContextEngine(open_store(f"sqlite:///{Path(folder, 'a.db')}"), model=MODEL)
        self.id = self.engine.create_session("benchmark").id

    def append(self, messages: Sequence[JsonObject]) -> None:
        self.engine.append(self.id, messages)


class _Table:
    """Rows with their tokens, and a full-text index."""

    def __init__(self, folder: str) -> None:
        self.database = sqlite3.connect(Path(folder, "b.db"))
        self.database.executescript(_TABLES)
        self.counter = counter_for(MODEL)

    def append(self, messages: Sequence[JsonObject]) -> None:
        texts = [str(message["content"]) for message in messages]
        roles = [str(message["role"]) for message in messages]
        tokens = map(self.counter.count, texts)
        with self.database:
            self.database.executemany(
                "INSERT INTO message (role, body, tokens) VALUES (?, ?, ?)",
                zip(roles, texts, tokens, strict=True),
            )
            self.database.executemany(
                "INSERT INTO message_words VALUES (?)", ((text,) for text in texts)
            )


def _cost(contender: _Session | _Table, batches: Iterator[list[JsonObject]]) -> Cost:
    messages = next(batches)
    return cost_of(lambda: contender.append(messages))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
