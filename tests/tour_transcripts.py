"""Three coding sessions as Claude Code writes them down, made up for the tours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

LONG_LOG = "\n".join(
    f"{n:05} build step {n % 37} of target harbour-{n % 11} ok" for n in range(700)
)
MODULE = "".join(f"def berth_{n}(ship):\n    return ship.length + {n}\n\n" for n in range(180))


def write_transcripts(folder: Path) -> list[Path]:
    """Writes the three files; a long output that stays, a file read again, and a plain session."""
    folder.mkdir(parents=True, exist_ok=True)
    talks: Mapping[str, Sequence[tuple[str, dict[str, str], str]]] = {
        "build": [
            ("Bash", {"command": "make all"}, LONG_LOG),
            *[("Bash", {"command": f"make part-{n}"}, f"part {n} is built") for n in range(40)],
        ],
        "berths": [
            ("Read", {"file_path": "/project/berths.py"}, MODULE),
            *[
                call
                for n in range(12)
                for call in (
                    ("Bash", {"command": f"pytest -k berth_{n}"}, f"1 passed in 0.{n} s"),
                    ("Read", {"file_path": "/project/berths.py"}, MODULE),
                )
            ],
        ],
        "small": [("Bash", {"command": "git status"}, "clean")],
    }
    paths = []
    for name, calls in talks.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(_lines(name, calls)), encoding="utf-8")
        paths.append(path)
    return paths


def _lines(name: str, calls: Sequence[tuple[str, dict[str, str], str]]) -> Iterator[str]:
    number, held = 1, 4_000
    yield _line(name, number, "user", {"role": "user", "content": f"Work on {name}, please."})
    for at, (tool, arguments, output) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{at}", "name": tool, "input": arguments}
        number += 1
        yield _line(name, number, "assistant", _answer(number, [use], held))
        held += len(output) // 2  # not less than any counter finds
        part = {"type": "tool_result", "tool_use_id": f"t{at}", "content": output}
        number += 1
        yield _line(name, number, "user", {"role": "user", "content": [part]})
    said: list[object] = [{"type": "text", "text": "Done."}]
    yield _line(name, number + 1, "assistant", _answer(number + 1, said, held))


def _answer(number: int, content: list[object], held: int) -> dict[str, object]:
    return {
        "id": f"m{number}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "usage": {
            "input_tokens": 20,
            "cache_read_input_tokens": held,
            "cache_creation_input_tokens": 200,
            "output_tokens": 40,
        },
    }


def _line(name: str, number: int, kind: str, message: Mapping[str, object]) -> str:
    line = {
        "type": kind,
        "uuid": f"{name}{number}",
        "parentUuid": f"{name}{number - 1}" if number > 1 else None,
        "sessionId": name,
        "timestamp": f"2026-03-02T{9 + number // 60:02}:{number % 60:02}:00.000Z",
        "message": message,
    }
    return f"{json.dumps(line)}\n"
