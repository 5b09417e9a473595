"""Turns labelled by hand: what came before, what the context showed of it, what should be found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from ctxcore.assembly.history import Counted, ListHistory
from ctxcore.assembly.verdicts import Run
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from ctxcore.reasons.codes import VerdictCode
from ctxcore.signals.finding import find_in_reply, find_in_request
from ctxcore.signals.seen import Seen
from ctxcore.signals.values import FoundSignal
from ctxcore.tokens.count import counter_for

FOLDER: Final = Path(__file__).parent
_AROUND: Final = 12  # cases whose hidden messages stand before a case
_CALL: Final = re.compile(r"call (\S+) (\{.*?\})(?: -> (.*))?$")


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled turn."""

    label: str
    """What should be found, `-` for nothing; `said_so:shown` where the context showed it."""
    hidden: tuple[str, ...]
    shown: tuple[str, ...]
    turn: str


def load_cases(name: str) -> list[Case]:
    """The cases of a file of this folder."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    starts = [at for at, line in enumerate(lines) if re.fullmatch(r"\[[\w:-]+\]", line)]
    return [_case(lines[at:end]) for at, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _case(lines: Sequence[str]) -> Case:
    said = {mark: tuple(line[2:] for line in lines if line.startswith(mark)) for mark in "hs>"}
    return Case(lines[0][1:-1], said["h"], said["s"], said[">"][0])


def found_in(cases: Sequence[Case], at: int) -> list[FoundSignal]:
    """What is found in the turn of a case, behind what is hidden in those around it."""
    case, ids = cases[at], count(1)
    others = [cases[(at + off) % len(cases)] for off in range(-_AROUND, 0)]
    hidden = [*_messages([line for one in others for line in one.hidden], ids)]
    hidden += _messages(case.hidden, ids)
    shown = [*_messages(case.shown, ids)]
    turn = next(_messages([case.turn], ids))
    view = ListHistory([*hidden, *shown, turn], counter_for(None))
    [row] = view.get([view.count()])
    return _found(view, row, Seen(_runs(len(hidden), len(shown))))


def _found(view: ListHistory, row: Counted, seen: Seen) -> list[FoundSignal]:
    if row.message.role == "user":
        return find_in_request(view, row.seq, row.message, seen)
    return find_in_reply(view, row.seq, row.message, seen)


def _runs(hidden: int, shown: int) -> list[Run]:
    sizes = {"before_tokens": 1, "after_tokens": 0}
    runs = [
        Run(first=0, last=hidden - 1, verdict="summarized", reason=VerdictCode.FOLDED(), **sizes)
    ]
    if shown:
        last = hidden + shown - 1
        runs.append(
            Run(first=hidden, last=last, verdict="kept", reason=VerdictCode.RECENT(), **sizes)
        )
    return runs if hidden else runs[1:]


def _messages(lines: Sequence[str], ids: Iterator[int]) -> Iterator[Message]:
    for line in lines:
        if line.startswith("call "):
            yield from _call(line, f"call-{next(ids)}")
        else:
            role, _, text = line.partition(" ")
            yield text_message("user" if role == "u" else "assistant", text)


def _call(line: str, call_id: str) -> Iterator[Message]:
    found = _CALL.match(line)
    assert found is not None, line
    name, arguments, output = found.groups()
    call = ToolCall(id=call_id, name=name, arguments=json.dumps(json.loads(arguments)))
    yield Message(role="assistant", calls=(call,))
    if output is not None:
        yield tool_result(call_id, output, name=name)
