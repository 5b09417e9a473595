"""Owns paths into JSON: `items[3].name`, `["a b"].c`, `[0]`; the empty path is the whole value.

They are the paths that `Compressed.elided` tells. JSON inside a string is walked into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from ctxcore.compression.markers import member_path
from ctxcore.compression.structures import parse_inner
from ctxcore.errors import PartNotFoundError
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.problems import PartProblem
from ctxcore.reasons.quoting import QuoteCode
from ctxcore.reasons.values import Fact

MOST_KEYS_NAMED: Final = 12

_STEP: Final = re.compile(
    r'\.?(?P<key>[^.\[\]]+)|\[(?P<at>-?\d+)\]|\[(?P<text>"(?:[^"\\]|\\.)*")\]'
)


def value_at(value: JsonValue, path: str) -> JsonValue:
    """The value at `path` below `value`.

    Raises:
        PartNotFoundError: there is none; says how far the path goes and what is there.
    """
    for step, walked in _steps(path):
        value = _below(value, step, walked, path)
    return value


def _steps(path: str) -> Iterator[tuple[str | int, str]]:
    """Each key or place of a path, and the path before it."""
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise PartNotFoundError(part=path, problem=PartProblem.STEP(rest=path[at:]))
        key, place, text = found.group("key", "at", "text")
        step = int(place) if place is not None else key if text is None else str(json.loads(text))
        yield step, path[:at]
        at = found.end()


def _below(value: JsonValue, step: str | int, walked: str, path: str) -> JsonValue:
    if isinstance(value, str) and (inner := parse_inner(value)) is not None:
        value = inner
    where = walked or PartProblem.OUTPUT()
    match value:
        case list() if isinstance(step, int):
            if -len(value) <= step < len(value):
                return value[step]
            code = PartProblem.ITEM if len(value) == 1 else PartProblem.ITEMS
            problem = code(where=where, count=len(value))
        case dict() if str(step) in value:
            return value[str(step)]
        case dict():
            problem = PartProblem.KEYS(where=where, keys=_keys(list(value)))
        case list():
            code = PartProblem.LIST_OF_ONE if len(value) == 1 else PartProblem.LIST
            problem = code(where=where, count=len(value))
        case _:
            problem = PartProblem.NO_PARTS(where=where)
    raise PartNotFoundError(part=path, problem=problem)


def _keys(keys: list[str]) -> Fact:
    named = tuple(keys[:MOST_KEYS_NAMED])
    more = len(keys) - MOST_KEYS_NAMED
    return QuoteCode.AND_MORE(names=named, count=more) if more > 0 else named


def leaves_at(value: JsonValue, path: str = "") -> Iterator[tuple[str, str, JsonValue]]:
    """Every scalar below `value`: its path, the path of the container it is in, and itself."""
    stack: list[tuple[str, str, JsonValue]] = [(path, path, value)]
    while stack:
        own, around, part = stack.pop()
        match part:
            case dict():
                members = [(member_path(own, key), own, item) for key, item in part.items()]
                stack += reversed(members)
            case list():
                holder = around if all(not isinstance(i, list | dict) for i in part) else own
                stack += reversed([(f"{own}[{n}]", holder, item) for n, item in enumerate(part)])
            case _:
                yield own, around, part
