"""An autopsy of many sessions of a coding agent, and imports of long ones: time and memory.

Run it as `python -m benchmarks.autopsy --files 200 --megabytes 500 --long 200`. The sessions are
made up, in the form of Claude Code: every fourth one was compacted, the others were not; of those
that are imported one is in the form of Codex. Memory is the most that each process took, added up
as if all took as much as the largest; an import of one megabyte shows what the program takes.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, product
from multiprocessing import get_context
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final, TypeAlias, cast

from benchmarks.timing import print_command
from ctxcore.messages.values import JsonObject, JsonValue

_MEGABYTE: Final = 1_000_000
_FOLDED_EVERY: Final = 4
_LINES_OF_OUTPUT: Final = 60
_SYLLABLES: Final = ("ra", "ke", "lo", "min", "sta", "ver", "du", "pol", "ti", "gan", "ex", "or")
_WORDS: Final = tuple("".join(parts) for parts in product(_SYLLABLES, repeat=3))
_FREQUENCIES: Final = tuple(1 / (10 + at) for at in range(len(_WORDS)))  # about as words have
_CUMULATED: Final = tuple(accumulate(_FREQUENCIES))


def main() -> None:
    """Print a row for each work."""
    options = _options()
    print_command()
    print(f"{'':<28} {'files':>6} {'MB':>7} {'seconds':>9} {'CPU':>8} {'MB/s':>7} {'memory':>9}")
    with TemporaryDirectory() as folder:
        path = Path(folder)
        size = round(options.megabytes * _MEGABYTE)
        written = _write_all(path / "sessions", options.files, size // options.files)
        _row("autopsy", options.files, written, partial(_autopsy, path / "sessions"))
        forms: dict[str, _Form] = {"Claude Code": iter, "Codex": _codex_records}
        for (program, form), megabytes in product(forms.items(), (1, options.long)):
            long = path / f"{program}-{megabytes}.jsonl"
            length = write_session(long, round(megabytes * _MEGABYTE), seed=-1, form=form)
            _row(f"import, {program}", 1, length, partial(_import, long, path / f"{long.name}.db"))


def _autopsy(folder: Path) -> None:
    from ctxcore.autopsy.running import autopsy

    autopsy([folder])


def _import(file: Path, database: Path) -> None:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.store.sql import open_store

    store = open_store(str(database))
    ContextEngine(store).import_file(file)
    store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What a work took, in all its processes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def _row(name: str, files: int, size: int, work: Callable[[], object]) -> None:
    """Measures a work in a process of its own, and prints it."""
    context = get_context("spawn")  # a forked one would count the memory of this one as its own
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        taken = pool.submit(_measured, work).result()
    print(
        f"{name:<28} {files:>6,} {size / _MEGABYTE:>7,.0f} {taken.seconds:>7.1f} s"
        f" {taken.cpu_seconds:>6.1f} s {size / _MEGABYTE / taken.seconds:>7.1f}"
        f" {taken.peak_bytes / _MEGABYTE:>6,.0f} MB"
    )


def _measured(work: Callable[[], object]) -> _Taken:
    start = perf_counter()
    work()
    own, others = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    # Of children only the largest is known; there are as many as cores.
    children = others.ru_maxrss * (os.cpu_count() or 1)
    return _Taken(
        seconds=perf_counter() - start,
        cpu_seconds=cpu,
        peak_bytes=(own.ru_maxrss + children) * 1024,
    )


def _write_all(folder: Path, files: int, size: int) -> int:
    folder.mkdir()
    return sum(
        write_session(
            folder / f"session-{number:04}.jsonl",
            size,
            seed=number,
            folds=number % _FOLDED_EVERY == 0,
        )
        for number in range(files)
    )


_Form: TypeAlias = Callable[[Iterable[JsonObject]], Iterator[JsonObject]]


def write_session(
    path: Path, size: int, *, seed: int, folds: bool = True, form: _Form = iter
) -> int:
    """Writes a session of about `size` bytes; returns how many it has."""
    written = 0
    records = _records(f"session-{seed}", Random(seed), size, folds=folds)
    with path.open("w", encoding="utf-8") as file:
        for record in form(records):
            written += file.write(json.dumps(record) + "\n")
            if written >= size:
                break
    return written


def _records(session: str, random: Random, size: int, *, folds: bool) -> Iterator[JsonObject]:
    """Turns without end: a request, calls of tools with their outputs, an answer."""
    last: str | None = None
    shown = number = 0
    limit = min(600_000, size // 3)  # characters, about as many as a window holds

    def line(kind: str, **values: object) -> JsonObject:
        nonlocal last, number
        number += 1
        minute, second = divmod(number % 3_600, 60)
        record = {
            "type": kind,
            "uuid": f"{session}-{number}",
            "parentUuid": last,
            "sessionId": session,
            "isSidechain": False,
            "timestamp": f"2026-01-{1 + number // 3_600 % 28:02}T10:{minute:02}:{second:02}.000Z",
            **values,
        }
        last = str(record["uuid"])
        return record  # type: ignore[return-value]  # made of JSON values only

    def user(content: object, **values: object) -> JsonObject:
        return line("user", message={"role": "user", "content": content}, **values)

    def answer(*blocks: JsonObject) -> JsonObject:
        usage = {
            "input_tokens": 12,
            "cache_read_input_tokens": shown // 4,
            "cache_creation_input_tokens": 400,
            "output_tokens": 120,
        }
        message = {
            "role": "assistant",
            "id": f"m-{session}-{number}",
            "model": "claude-sonnet-4-5",
            "content": list(blocks),
            "usage": usage,
        }
        return line("assistant", message=message)

    while True:
        file = f"src/{random.choice(_WORDS)}/{random.choice(_WORDS)}_{random.randrange(90)}.py"
        yield user(f"Always keep {file} under 400 lines. {_said(random, 40)}")
        for _ in range(6):
            call = f"call-{session}-{number}"
            arguments: JsonObject = {"file_path": f"/srv/app/{file}"}
            yield answer(
                {"type": "text", "text": _said(random, 25)},
                {"type": "tool_use", "id": call, "name": "Read", "input": arguments},
            )
            output = "\n".join(
                f"{at:>6}  {_said(random, 9)}" for at in range(random.randrange(_LINES_OF_OUTPUT))
            )
            result = {"type": "tool_result", "tool_use_id": call, "content": output}
            # The program writes each result twice, as the model and as itself read it.
            file_read: JsonObject = {"filePath": f"/srv/app/{file}", "content": output}
            yield user([result], toolUseResult={"type": "text", "file": file_read})
            shown += len(output) + 200
        yield answer({"type": "text", "text": _said(random, 80)})
        if folds and shown > limit:
            yield line(
                "system",
                subtype="compact_boundary",
                logicalParentUuid=last,
                compactMetadata={"trigger": "auto", "preTokens": shown // 4},
            )
            yield user(f"So far: {_said(random, 300)}", isCompactSummary=True)
            shown = 2_000


def _codex_records(records: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Records of Claude Code as Codex writes them; what it has no like of is left out."""
    time: JsonValue = "2026-01-01T10:00:00.000Z"
    head: JsonObject = {"id": "session", "timestamp": time, "cwd": "/srv/app"}
    yield {"timestamp": time, "type": "session_meta", "payload": head}
    for record in records:
        if record["type"] == "system" or record.get("isCompactSummary"):
            continue
        message = cast("JsonObject", record["message"])
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in cast("list[JsonObject]", blocks):
            item = _codex_item(block, message["role"])
            yield {"timestamp": record["timestamp"], "type": "response_item", "payload": item}
        if isinstance(usage := message.get("usage"), dict):
            cached = cast("int", usage["cache_read_input_tokens"])
            counts: JsonObject = {
                "input_tokens": cached + 400,
                "cached_input_tokens": cached,
                "output_tokens": usage["output_tokens"],
            }
            counted: JsonObject = {"type": "token_count", "info": {"last_token_usage": counts}}
            yield {"timestamp": record["timestamp"], "type": "event_msg", "payload": counted}


def _codex_item(block: JsonObject, role: JsonValue) -> JsonObject:
    match block["type"]:
        case "tool_use":
            arguments = json.dumps(block["input"])
            called: JsonObject = {"call_id": block["id"], "name": "shell", "arguments": arguments}
            return {"type": "function_call", **called}
        case "tool_result":
            answered: JsonObject = {"call_id": block["tool_use_id"], "output": block["content"]}
            return {"type": "function_call_output", **answered}
        case _:
            kind = "output_text" if role == "assistant" else "input_text"
            said: JsonObject = {"type": kind, "text": block["text"]}
            return {"type": "message", "role": role, "content": [said]}


def _said(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, cum_weights=_CUMULATED, k=words)) + "."


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.autopsy")
    parser.add_argument("--files", type=int, default=20, metavar="N")
    parser.add_argument("--megabytes", type=float, default=20, metavar="N", help="of all files")
    parser.add_argument(
        "--long", type=float, default=10, metavar="N", help="megabytes of the session to import"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
