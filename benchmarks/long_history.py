"""A stored session at 1,000 to 1,000,000 messages: its next context, a turn, a search.

Run it as `python -m benchmarks.long_history`. What people wait for at every turn must not grow with
the history. The first messages are appended; the rest are copies of their rows, made in a minute.
The store is an SQLite file in a temporary folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine, text

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.peers import MODEL
from benchmarks.statements import statements_run
from benchmarks.stored import stored_session
from benchmarks.timing import Work, cost_of, cpu_median, print_command, shown
from ctxcore import ContextEngine
from ctxcore.messages.values import JsonObject

APPENDED = 1_000  # messages; what is longer is made of copies of their rows
_TURN: Sequence[JsonObject] = (
    {"role": "user", "content": "Which of the two do you think is the safer one, and why?"},
    {"role": "assistant", "content": "The first. It can be taken back at any time."},
)
_COPIES = "WITH RECURSIVE copies(n) AS (SELECT 1 UNION SELECT n + 1 FROM copies WHERE n < :copies)"
_SOURCE = (
    "FROM copies CROSS JOIN {table} AS old"
    " WHERE old.session_id = :id AND old.seq BETWEEN 2 AND :last"
)
_COPYING = (
    f"{_COPIES} INSERT INTO message (session_id, seq, role, body, block, function_name, short,"
    " turn_id, created_at, facts, rules, notes) SELECT session_id, seq + n * :by, role, body,"
    " block + n * :by, function_name, short, turn_id, created_at, facts, rules, notes"
    f" {_SOURCE.format(table='message')} ORDER BY n, seq",
    f"{_COPIES} INSERT INTO message_tokens (session_id, counter_id, seq, tokens, short_tokens, cum,"
    " short_cum) SELECT session_id, counter_id, seq + n * :by, tokens, short_tokens,"
    f" cum + n * :cum, short_cum + n * :short_cum {_SOURCE.format(table='message_tokens')}"
    " ORDER BY n, seq",
    "INSERT INTO message_index (rowid, words) SELECT copy.id, message_index.words"
    " FROM message AS copy JOIN message AS old ON old.session_id = copy.session_id"
    " AND old.seq = 2 + (copy.seq - 2) % :by JOIN message_index ON message_index.rowid = old.id"
    " WHERE copy.session_id = :id AND copy.seq > :last ORDER BY copy.id",
    "UPDATE session SET length = length + :copies * :by, indexed_until = length + :copies * :by,"
    " head_seq = head_seq + :copies * :by, last_user_seq = last_user_seq + :copies * :by"
    " WHERE id = :id",
)
_SUMS = (
    "SELECT max(cum) - min(cum), max(short_cum) - min(short_cum) FROM message_tokens"
    " WHERE session_id = :id"
)


def main() -> None:
    """Print a row for each size and work."""
    options = _options()
    print_command()
    print(
        f"{'messages':>10}  {'':<34} {'median':>10} {'CPU':>10} {'CPU, p99':>10} {'statements':>11}"
    )
    source = load_messages(options.data)
    for size in options.sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder)
            messages = repeated(source, min(size, APPENDED))
            engine, session_id = stored_session(
                messages, path, model=MODEL, usable_tokens=options.max_tokens
            )
            length = grow(path / "benchmark.db", session_id, len(messages), size)
            queries = _queries(messages, options.searches)
            works = _works(engine, session_id, is_compacted=options.compact, queries=queries)
            for name, work, rounds in works:
                print(f"{length:>10,}  {name:<28}{_line(work, rounds or options.rounds)}")


def _works(
    engine: ContextEngine, session_id: str, *, is_compacted: bool, queries: Sequence[str]
) -> Iterator[tuple[str, Work, int | None]]:
    """What is measured, each with how often; None: as often as asked."""
    context = partial(engine.context, session_id)
    yield "first context of a process", context, 1
    yield "context", context, None
    yield "append a turn of two", partial(engine.append, session_id, _TURN), None
    yield "search, words of a message", partial(_search, engine, iter(queries)), len(queries)
    if is_compacted:
        yield "first compaction", partial(engine.compact, session_id), 1
        yield "context after it", context, None


def _queries(messages: Sequence[JsonObject], count: int) -> list[str]:
    """Queries of one to four words, each of a message; behind them words that most have."""
    random = Random(0)
    said = [words for message in messages if len(words := str(message["content"]).split()) > 4]
    drawn = [random.sample(random.choice(said), random.randint(1, 4)) for _ in range(count)]
    return [*map(" ".join, drawn), "the and to of", "i you it is"]


def _search(engine: ContextEngine, queries: Iterator[str]) -> None:
    engine.search(next(queries))


def _line(work: Work, rounds: int) -> str:
    """What `rounds` calls of `work` cost: medians, and what 99 of 100 stay within."""
    with statements_run() as sent:
        costs = [cost_of(work) for _ in range(rounds)]
    taken = sorted(cost.cpu_seconds for cost in costs)
    wall, most = median(cost.seconds for cost in costs), taken[ceil(0.99 * rounds) - 1]
    times = "".join(f" {shown(seconds):>11}" for seconds in (wall, cpu_median(costs), most))
    return f"{times} {len(sent) / rounds:>11.0f}"


def grow(database: Path, session_id: str, length: int, size: int) -> int:
    """Puts copies of all messages but the first behind them, up to `size`; the new length."""
    by = length - 1
    values: dict[str, object] = {"id": session_id, "by": by, "last": length}
    values["copies"] = copies = (size - length) // by
    if not copies:
        return length
    copier = create_engine(f"sqlite:///{database}")
    with copier.begin() as connection:
        cum, short_cum = connection.execute(text(_SUMS), values).one()
        values |= {"cum": cum, "short_cum": short_cum}
        for statement in _COPYING:
            connection.execute(text(statement), values)
    copier.dispose()
    return length + copies * by


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--max-tokens", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compact", action="store_true", help="measure a first compaction too")
    parser.add_argument("--searches", type=int, default=100, help="how many queries")
    parser.add_argument("--data", type=Path, default=DEMO, help="a folder of conversations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
