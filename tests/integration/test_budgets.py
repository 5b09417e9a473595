"""What calls cost stays within `benchmarks/budgets.toml`: counts and ratios, measured anew."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import pytest

from benchmarks.statements import statements_run
from benchmarks.timing import Work
from ctxcore import ContextEngine, compress, fit, open_store
from ctxcore.engine.policies import save_figures
from ctxcore.messages.values import JsonObject
from tests.effort import calls_made, forget

T = TypeVar("T")
MODEL: Final = "gpt-4o"
WIDE: Final = 128_000  # a window for all of 200 messages
NARROW: Final = 6_000  # and for a part of them
FEW: Final = 200
MANY: Final = 2_000
BUDGETS: Final[Mapping[str, Mapping[str, float]]] = tomllib.loads(
    (Path(__file__).parents[2] / "benchmarks" / "budgets.toml").read_text("utf-8")
)
CALL: Final[JsonObject] = {
    "id": "1",
    "type": "function",
    "function": {"name": "read", "arguments": "{}"},
}


def talk(first: int, count: int) -> list[JsonObject]:
    """A conversation with values that must be kept, and a rule now and then."""
    return [
        {"role": "user" if at % 2 else "assistant", "content": said(at)}
        for at in range(first, first + count)
    ]


def said(at: int) -> str:
    if at % 99 == 0:
        return f"Never delete the folder /srv/{at} when you clean up, please."
    if at % 3 == 0:
        return f"Which release is it, v{at}.{at}.7 or the one on host-{at}.example.org?"
    return f"We looked at part {at} of the plan and went on to the next one, as agreed before."


class Stored:
    """A stored session of so many messages."""

    def __init__(self, folder: Path, count: int, window: int) -> None:
        self.store = open_store(f"sqlite:///{folder / f'{count}-{window}.db'}")
        save_figures(self.store, MODEL, {"window_tokens": window})
        self.engine = ContextEngine(self.store, model=MODEL)
        self.id = self.engine.create_session("talk", system="You help.").id
        self.count = 0
        self.append(count)
        self.append(2)  # what a first turn alone does is not measured
        self.context()  # nor what the first context caches

    def __enter__(self) -> Stored:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def append(self, count: int) -> None:
        self.engine.append(self.id, talk(self.count + 1, count))
        self.count += count

    def context(self) -> None:
        assert self.engine.context(self.id).messages

    def compact(self) -> None:
        assert self.engine.compact(self.id) is not None

    def search(self) -> None:
        assert self.engine.search("part of the plan")

    def recall(self) -> None:
        assert self.engine.recall(self.id, "part of the plan")


def records(count: int) -> str:
    rows = [{"id": at, "name": f"berth {at}", "load": at % 7, "tags": ["a"]} for at in range(count)]
    return json.dumps(rows)


def lines(count: int) -> str:
    return "\n".join(f"line {at}: some words of part {at % 11}" for at in range(count))


def fit_output(output: str) -> None:
    answered: JsonObject = {"role": "tool", "tool_call_id": "1", "content": output}
    asking: JsonObject = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    fit([talk(1, 1)[0], asking, answered], max_tokens=1_000, model=MODEL)


def fit_list(count: int) -> None:
    fit(talk(1, count), max_tokens=1_000, model=MODEL)


def statements(work: Work) -> int:
    with statements_run() as run:
        work()
    return len(run)


def calls(work: Work) -> int:
    """The functions that `work` calls the second time; the first one loads and caches."""
    work()
    return calls_made(lambda _: work(), None)


def calls_anew(work: Callable[[T], object], given: T) -> int:
    """The functions that `work` calls where nothing of `given` is cached."""
    work(given)
    forget()
    return calls_made(work, given)


def exponent(work: Callable[[str], object], make: Callable[[int], str]) -> float:
    """How the calls of `work` grow with ten times the text."""
    small, large = make(200), make(2_000)
    grown = calls_anew(work, large) / calls_anew(work, small)
    return math.log(grown) / math.log(len(large) / len(small))


def found_statements(stored: Callable[[int, int], Stored]) -> Mapping[str, float]:
    whole, many = stored(FEW, WIDE), stored(MANY, NARROW)
    found = {
        "append a turn": statements(partial(many.append, 2)),
        "append 500 messages": statements(partial(whole.append, 500)),
        "search": statements(many.search),
        "recall from a session": statements(many.recall),
        "context after a turn": statements(many.context),
        "context of a whole session": statements(stored(FEW + 1, WIDE).context),
        "context of the newest": statements(many.context),
        "first compaction": statements(many.compact),
    }
    many.context()
    return {**found, "context after a compaction": statements(many.context)}


def found_ratios(stored: Callable[[int, int], Stored]) -> Mapping[str, float]:
    few, many = stored(FEW, NARROW), stored(MANY, NARROW)
    newest = calls(many.context) / calls(few.context)
    searched = calls(many.search) / calls(few.search)
    recalled = calls(many.recall) / calls(few.recall)
    few.compact()
    many.compact()
    return {
        "context of the newest": newest,
        "context after a compaction": calls(many.context) / calls(few.context),
        "search": searched,
        "recall from a session": recalled,
        "fit of a list": calls_anew(fit_list, MANY) / calls_anew(fit_list, FEW),
        "fit of one output": calls_anew(fit_output, lines(20_000))
        / calls_anew(fit_output, lines(2_000)),
    }


def found_exponents(_: Callable[[int, int], Stored]) -> Mapping[str, float]:
    shorten = partial(compress, model=MODEL)
    return {
        "compress records": exponent(shorten, records),
        "compress lines": exponent(shorten, lines),
        "lossless records": exponent(partial(shorten, lossless=True), records),
        "fit records": exponent(fit_output, records),
    }


FOUND: Final = {
    "statements": found_statements,
    "ratios": found_ratios,
    "exponents": found_exponents,
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_costs_are_within_their_budgets(kind: str, tmp_path: Path) -> None:
    with ExitStack() as opened:
        found = FOUND[kind](
            lambda count, window: opened.enter_context(Stored(tmp_path, count, window))
        )
    allowed = BUDGETS[kind]
    assert found.keys() == allowed.keys()
    over = {name: cost for name, cost in found.items() if cost > allowed[name]}
    assert not over, f"more than benchmarks/budgets.toml allows: {over}"
