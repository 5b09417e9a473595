"""The tool outputs that are measured: recorded ones, and long lists made of their records.

A folder, or its folder `tool_outputs`, holds files of one JSON object a line with `content`, and
where they are known `kind`, `query` (the request and the call) and `used` (values of the output
that the conversation says later and that nobody had said before, in lower case).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.tokens.families import TokenCounter

OWN: Final = Path(__file__).parent / "data" / "tool_outputs"
LIST_TOKENS: Final = 6_700  # about what a page of a listing takes
LEAST_POOL: Final = 20
LEAST_FIELDS: Final = 3
LISTS: Final = 60
ERROR: Final = "upstream request failed: timed out after 30s"

Test = Literal["named", "error", "blind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One recorded tool output."""

    content: str
    kind: str = "text"
    query: str = ""
    used: tuple[str, ...] = ()
    tokens: int = 0
    is_json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """A long list, and what of it must still be there: in any of the spellings."""

    content: str
    query: str
    test: Test
    wanted: tuple[str, ...]


def load_outputs(folder: Path, counter: TokenCounter) -> list[Output]:
    """Every output of the files in `folder`, counted; a line of another form ends the program."""
    inner = folder / "tool_outputs"
    paths = sorted((inner if inner.is_dir() else folder).glob("*.jsonl"))
    return [_output(record, counter) for path in paths for record in _records_of(path)]


def _records_of(path: Path) -> Iterator[JsonObject]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record = json.loads(line) if is_json(line) else None
            if not isinstance(record, dict) or "content" not in record:
                raise SystemExit(f"{path}, line {number}: an object with `content` is expected")
            yield record


def _output(record: JsonObject, counter: TokenCounter) -> Output:
    content = str(record["content"])
    return Output(
        content=content,
        kind=str(record.get("kind") or "text"),
        query=str(record.get("query") or ""),
        used=tuple(map(str, cast("list[JsonValue]", record.get("used") or []))),
        tokens=counter.count(content),
        is_json=is_json(content),
    )


def is_json(text: str) -> bool:
    """Whether `json.loads` takes it."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def make_needles(outputs: Iterable[Output], counter: TokenCounter, seed: int) -> list[Needle]:
    """Long lists of recorded records, three tests on each; none where there are too few records."""
    pools = _pools(outputs)
    chance = random.Random(seed)
    needles: list[Needle] = []
    for nth in range(LISTS if pools else 0):
        records = _long_list(pools[nth % len(pools)], counter, chance)
        needles += [_named(records, chance), _error(records, chance), _blind(records, chance)]
    return needles


def _pools(outputs: Iterable[Output]) -> list[list[JsonObject]]:
    """Distinct records with the same keys, of which there are enough for a list."""
    pools: dict[tuple[str, ...], dict[str, JsonObject]] = {}
    for output in outputs:
        if output.is_json:
            for record in _records(json.loads(output.content)):
                shape = tuple(sorted(record))
                pools.setdefault(shape, {}).setdefault(json.dumps(record), record)
    return [list(pool.values()) for pool in pools.values() if len(pool) >= LEAST_POOL]


def _records(value: JsonValue) -> Iterator[JsonObject]:
    """Objects with an identifier and a few scalar members, wherever they are."""
    if isinstance(value, dict):
        if _own_id(value) is not None and len(list(_scalars(value))) >= LEAST_FIELDS:
            yield value
        for member in value.values():
            yield from _records(member)
    elif isinstance(value, list):
        for item in value:
            yield from _records(item)


def _own_id(record: JsonObject) -> str | None:
    names = (name for name in record if name == "id" or name.endswith(("_id", "number", "Id")))
    values = (record[name] for name in names)
    return next((str(value) for value in values if isinstance(value, str | int)), None)


def _scalars(record: JsonObject) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield name, str(value)


def _long_list(
    pool: Sequence[JsonObject], counter: TokenCounter, chance: random.Random
) -> list[JsonObject]:
    """Records of `pool` in another order, with ids of their own, up to the length of a list."""
    records: list[JsonObject] = []
    tokens = 0
    while tokens < LIST_TOKENS:
        record: JsonObject = json.loads(json.dumps(chance.choice(pool)))
        name = next(n for n, v in record.items() if str(v) == _own_id(record))
        record[name] = f"{str(record[name])[:3]}{chance.randrange(10**6, 10**7)}"
        records.append(record)
        tokens += counter.count(json.dumps(record)) + 1
    return records


def _named(records: list[JsonObject], chance: random.Random) -> Needle:
    """A question that names one record by two of its values; the answer is its identifier."""
    record = chance.choice(records)
    own_id = _own_id(record) or ""
    values = [(name, value) for name, value in _scalars(record) if value != own_id]
    values.sort(key=lambda one: sum(one[1] in json.dumps(other) for other in records))
    named = " and ".join(f"{name} {value}" for name, value in values[:2])
    return Needle(
        content=json.dumps(records),
        query=f"Which one has {named}?",
        test="named",
        wanted=tuple(
            wanted
            for wanted in (_own_id(other) or "" for other in records if _agrees(other, values[:2]))
        ),
    )


def _agrees(record: JsonObject, values: list[tuple[str, str]]) -> bool:
    return all(str(record.get(name)) == value for name, value in values)


def _error(records: list[JsonObject], chance: random.Random) -> Needle:
    at = chance.randrange(len(records))
    changed = [{**r, "error": ERROR} if n == at else r for n, r in enumerate(records)]
    return Needle(content=json.dumps(changed), query="", test="error", wanted=(ERROR,))


def _blind(records: list[JsonObject], chance: random.Random) -> Needle:
    wanted = _own_id(chance.choice(records)) or ""
    return Needle(content=json.dumps(records), query="", test="blind", wanted=(wanted,))
