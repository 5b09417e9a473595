"""Feeds nonsense to every reader of files, to policy files and to `compress`.

Where atheris is installed, inputs are mutated by what code they reach; without it known inputs are
mutated blindly. A crash is any error that is not of the library; a hang takes some seconds.
"""

from __future__ import annotations

import importlib.util
import json
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any, NoReturn, TypeAlias

from tools.torture.outcomes import Outcome

HANG_SECONDS = 10  # for one input; chosen: far longer than a short text takes
MOST_BYTES = 8_192
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1e400, float("nan"), "", "\ud800", "\x00", [], {}, [[]], [None],
    {"": None}, "2026-13-45", "猫" * 50, json.loads("[" * 200 + "]" * 200),
)  # fmt: skip
"""Values that take the place of others."""

Target: TypeAlias = Callable[[bytes], object]


def _readers() -> Target:
    from ctxcore.engine.native import parse_native
    from ctxcore.formats.reading import FORMATS, stream_transcripts
    from ctxcore.formats.records import Records
    from ctxcore.formats.values import Transcript

    assert FORMATS.values()  # all readers are loaded

    def read(data: bytes) -> None:
        records = Records.of_bytes(data, name="file")
        for found in stream_transcripts(records):
            if isinstance(found, Transcript):
                list(found.messages)
        parse_native(data.decode("utf-8", "surrogateescape"), name="file")

    return read


def _messages() -> Target:
    from ctxcore.messages.shapes.reading import parse_messages

    def parse(data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):  # no JSON, or too deep for its parser
            return
        parse_messages(value)

    return parse


def _policy() -> Target:
    from ctxcore.settings.loading import read_text

    return lambda data: read_text(data.decode("utf-8", "surrogateescape"), name="policy.yaml")


def _compress() -> Target:
    from ctxcore.compression.outputs import compress

    def shorten(data: bytes) -> None:
        text = data.decode("utf-8", "surrogatepass" if data[:1] < b"\x80" else "replace")
        compress(text, max_tokens=60)
        compress(text, lossless=True)

    return lambda data: shorten(data) if _is_text(data) else None


def _is_text(data: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        return bool(data.decode("utf-8", "surrogatepass"))
    return False


TARGETS: dict[str, Callable[[], Target]] = {
    "readers": _readers,
    "messages": _messages,
    "policy file": _policy,
    "compress": _compress,
}


def seeds(name: str) -> list[bytes]:
    """Inputs to begin with."""
    from tools.torture.units import TALK, TALKS, TOOLS

    if name == "policy file":
        texts = [
            "compaction:\n  recent_tokens: 10\npolicy:\n  target_ratio: 0.5\n",
            "a: [1, {b: c}]",
        ]
        return [text.encode() for text in texts]
    rows = [
        {"id": at, "name": f"row {at}", "ok": at % 3 == 0, "tags": ["a", None]} for at in range(9)
    ]
    called = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
         "function": {"name": "look", "arguments": "{\"a\": 1}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(rows)},
    ]  # fmt: skip
    blocks = [{"role": "user", "content": [{"type": "text", "text": "hi"},
               {"type": "tool_result", "tool_use_id": "c", "content": "x"}]}]  # fmt: skip
    found: list[Any] = [TALK, called, blocks, {"messages": called, "tools": TOOLS}, rows]
    return [TALKS.encode(), *(json.dumps(value).encode() for value in found), b"line\n" * 50]


def check_target(name: str, folder: Path, *, seconds: int, corpus: Sequence[bytes] = ()) -> Outcome:
    """Fuzzes one target for so long, with atheris where it is installed."""
    own = folder / name.replace(" ", "-")
    own.mkdir(parents=True, exist_ok=True)
    for at, data in enumerate([*seeds(name), *corpus]):
        (own / f"seed-{at}").write_bytes(data)
    if importlib.util.find_spec("atheris") is None:
        given = [path.read_bytes() for path in sorted(own.iterdir())]
        return mutate_blindly(name, given, seconds=seconds)
    return _with_atheris(name, own, seconds)


def _with_atheris(name: str, corpus: Path, seconds: int) -> Outcome:
    outcome = Outcome(attack=f"fuzzing by coverage: {name}", unit="inputs")
    began = len(list(corpus.iterdir()))
    command = [sys.executable, "-m", "tools.torture.fuzzing", name, str(corpus)]
    limits = [f"-max_total_time={seconds}", f"-timeout={HANG_SECONDS}", f"-max_len={MOST_BYTES}"]
    done = subprocess.run(
        [*command, *limits, "-rss_limit_mb=4096", f"-artifact_prefix={corpus.parent}/"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    runs = re.findall(r"Done (\d+) runs|#(\d+)\s", done.stderr)
    outcome.count = int(next(filter(None, runs[-1]))) if runs else 0
    outcome.figures["that reached new code"] = len(list(corpus.iterdir())) - began
    if done.returncode:
        outcome.problems.append(f"{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return outcome


def mutate_blindly(
    name: str, corpus: Sequence[bytes], *, seconds: float, most: int | None = None, seed: int = 1
) -> Outcome:
    """Mutates the inputs of `corpus` at random, so long or so often; the same for one `seed`."""
    outcome, chosen = Outcome(attack=f"fuzzing: {name}", unit="inputs"), random.Random(seed)
    target, end = TARGETS[name](), monotonic() + seconds
    signal.signal(signal.SIGALRM, _hangs)
    while monotonic() < end and outcome.count != most:
        data = _mutated(chosen.choice(corpus), chosen)
        outcome.count += 1
        outcome.problems += _problem(target, data)
        if len(outcome.problems) >= 5:
            break
    return outcome


def _problem(target: Target, data: bytes) -> Iterator[str]:
    from ctxcore.errors import ContextError

    signal.alarm(HANG_SECONDS)
    try:
        target(data)
    except ContextError:
        return
    except Exception as error:  # noqa: BLE001 - what is looked for
        yield f"{type(error).__name__}: {str(error)[:200]} by {data[:2_000]!r}"
    finally:
        signal.alarm(0)


def _hangs(signum: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError("hangs")


def _mutated(data: bytes, chosen: random.Random) -> bytes:
    """`data` with values of its JSON replaced, or with other bytes."""
    with suppress(ValueError):
        if chosen.random() < 0.8:
            lines = data.split(b"\n")
            at = chosen.randrange(len(lines))
            value = json.loads(lines[at])
            for _ in range(chosen.choice((1, 1, 2, 5))):
                value = _other(value, chosen)
            lines[at] = json.dumps(value).encode()
            return b"\n".join(lines)
    changed = bytearray(data)
    for _ in range(chosen.choice((1, 3, 20))):
        at = chosen.randrange(len(changed) + 1)
        changed[at : at + chosen.choice((0, 1, 8))] = chosen.choice(
            (b"", b"\x00", b"\xff", b"{", b"]", b'"', b"\n", b"- " * 9, b"a: &a [*a]", b"[" * 999)
        )
    return bytes(changed)


def _other(value: Any, chosen: random.Random) -> Any:
    """`value` with one of its parts replaced, left out or said twice."""
    if not isinstance(value, (dict, list)) or not value or chosen.random() < 0.05:
        return deepcopy(chosen.choice(ODD))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = chosen.choice(keys)
    if chosen.random() < 0.15:
        del value[key]
    elif isinstance(value, list) and chosen.random() < 0.1:
        value.insert(key, value[key])
    else:
        value[key] = _other(value[key], chosen)
    return value


def main(arguments: Sequence[str]) -> None:
    """Fuzzes one target in this process until it crashes or the time is over."""
    import atheris

    name, corpus, *limits = arguments
    with atheris.instrument_imports(include=["ctxcore"]):
        target = TARGETS[name]()
        from ctxcore.errors import ContextError

    def once(data: bytes) -> None:
        with suppress(ContextError):
            target(data)

    atheris.Setup([sys.argv[0], corpus, *limits], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
