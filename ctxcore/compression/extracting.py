"""Owns paths into JSON: `items[3].name`, `["a b"].c`, `[0]`; the empty path is the whole value.

They are the paths that `Compressed.elided` tells. JSON inside a string is walked into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, Elision, amount, member_path
from ctxcore.compression.outputs import compress_with
from ctxcore.compression.structures import parse_inner, read_structure
from ctxcore.errors import PartNotFoundError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.problems import PartProblem
from ctxcore.reasons.values import Fact, QuoteCode
from ctxcore.tokens.families import TokenCounter

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


MANY = 50  # parts of a long range are not all written out for the few characters that are shown


def elided_text(output: str, elision: Elision, *, max_chars: int = 200) -> str:
    """The beginning of what `elision` left out of `output`; empty where it has no place.

    JSON for parts of JSON, lines for lines; `…` at the end where it goes on.
    """
    try:
        is_text = elision.unit in ("lines", "rows") and not _has_structure(output)
        text = _lines(output, elision) if is_text else _part(output, elision)
    except (PartNotFoundError, ValueError):
        return ""
    return text if len(text) <= max_chars else text[:max_chars] + ELISION


def _has_structure(output: str) -> bool:
    try:
        read_structure(output)
    except ValueError:
        return False
    return True


def _lines(output: str, elision: Elision) -> str:
    if elision.start is None or elision.stop is None:
        return ""
    return "\n".join(
        islice(output.split("\n"), elision.start, min(elision.stop, elision.start + MANY))
    )


def _part(output: str, elision: Elision) -> str:
    if elision.unit == "tags" or (elision.unit in ("keys", "lines") and not elision.path):
        return ""  # it has no place of its own
    if elision.unit == "characters" and not elision.path:
        return _cut_line(output, elision)
    value = read_structure(output).value
    if elision.unit == "columns":
        return _column(value, elision.path)
    value = value_at(value, elision.path)
    if elision.start is None or elision.stop is None:
        return _written(value)
    if isinstance(value, str):
        if elision.unit == "characters":
            return value[elision.start : elision.stop]
        return _lines(value, replace(elision, unit="lines"))
    stop = min(elision.stop, elision.start + MANY)
    return ",".join(map(render_json, islice(_members(value), elision.start, stop)))


def _cut_line(output: str, elision: Elision) -> str:
    """The line that was cut, or all of an output of which nothing is left."""
    if elision.start is None:
        return output
    lines = output.split("\n")
    return lines[elision.start] if elision.start < len(lines) else ""


def _column(value: JsonValue, path: str) -> str:
    """The values of one member of all records of a collection."""
    around, _, member = path.partition("[]")
    records = islice(_left_out_records(value_at(value, around)), MANY)
    return ",".join(_written(found) for record in records for found in _found(record, member))


def _found(record: JsonValue, member: str) -> Iterable[JsonValue]:
    try:
        return (value_at(record, member),)
    except PartNotFoundError:
        return ()


def _left_out_records(value: JsonValue) -> Iterable[JsonValue]:
    """The records of a list, of an object, or of a list of lists."""
    for member in _members(value):
        if isinstance(member, list):
            yield from member
        else:
            yield member


def _members(value: JsonValue) -> Iterable[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return value.values()
        case _:
            return ()


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else render_json(value)


CONTEXT_LINES: Final = 2
CHARS_PER_TOKEN: Final = 16  # a text above this ratio is taken not to fit without being counted

Render = Callable[[int], str]
"""The text of so many of the parts from the first on, with what says how many are left."""


def extract(
    output: str,
    *,
    path: str | None = None,
    rows: str | None = None,
    grep: str | None = None,
    context: int = CONTEXT_LINES,
    max_tokens: int = 1_000,
    model: str | None = None,
) -> str:
    """Exact parts of `output` in at most `max_tokens` tokens of `model` (from 40 on).

    The three ways of asking are applied one after the other; without any, `output` from its
    start. JSON comes back as JSON, and so do parts of what is almost JSON.

    Args:
        output: What a tool returned, as it was.
        path: A value inside JSON, e.g. `items[3].name`, as `Compressed.elided` tells it.
        rows: Lines of text or items of a list from `a` up to, not including, `b`: `a:b`,
            counted from 0; either may be left out, negative ones count from the end.
        grep: A regular expression, or plain words if it is none. Of text: the lines that match,
            with `context` lines around each. Of JSON: the records with a value that matches.
        context: Lines around a match.
        max_tokens: The budget, as the model's counter counts.
        model: Whose tokens to count; the default counter if None.

    Raises:
        PartNotFoundError: there is no such path, `rows` is no range, or nothing matches.
    """
    from ctxcore.tokens.count import counter_for  # its vocabulary is loaded on the first count

    counter = counter_for(model)
    return extract_with(
        output,
        path=path,
        rows=rows,
        grep=grep,
        context=context,
        max_tokens=max_tokens,
        counter=counter,
    )


def extract_with(
    output: str,
    *,
    path: str | None = None,
    rows: str | None = None,
    grep: str | None = None,
    context: int = CONTEXT_LINES,
    max_tokens: int,
    counter: TokenCounter,
) -> str:
    """`extract` with the counter passed in."""
    fitter = _Fitter(max_tokens, counter)
    value = _value_of(output, is_needed=bool(path), asks_for_part=bool(rows or grep))
    if value is None:
        return _from_lines(output, rows, grep, context, fitter)
    value = value_at(value, path or "")
    inner = parse_inner(value) if isinstance(value, str) else None
    if inner is not None and (rows or grep):
        value = inner
    if isinstance(value, str) and (rows or grep or path):
        return _from_lines(value, rows, grep, context, fitter)
    return _from_json(value, rows, grep, fitter)


def _value_of(output: str, *, is_needed: bool, asks_for_part: bool) -> JsonValue:
    """The list, object or, for a path, any value that `output` stands for; None for text.

    What is no JSON as it is has parts too, but is itself given as it is.
    """
    try:
        structure = read_structure(output)
    except ValueError as error:
        if is_needed:
            raise PartNotFoundError(part="path", problem=PartProblem.NOT_JSON()) from error
        return None
    if not (structure.is_json or is_needed or asks_for_part):
        return None
    return structure.value if isinstance(structure.value, list | dict) else None


class _Fitter:
    """Finds how many parts fit a budget."""

    def __init__(self, max_tokens: int, counter: TokenCounter) -> None:
        self._max_tokens = max_tokens
        self._counter = counter

    def fits(self, text: str) -> bool:
        """Whether `text` is within the budget."""
        if len(text) > self._max_tokens * CHARS_PER_TOKEN:
            return False
        return self._counter.count(text) <= self._max_tokens

    def most(self, render: Render, count: int) -> str | None:
        """The text of as many parts as fit, at least one; None if not even one does."""
        low, high = 0, count
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.fits(render(middle)) else (low, middle - 1)
        return render(low) if low else None

    def shortened(self, text: str) -> str:
        """`text` compressed, where one part alone is too long."""
        return compress_with(text, max_tokens=self._max_tokens, counter=self._counter).text


def _range(rows: str | None, count: int) -> range:
    """The places that `a:b` or `a` means."""
    if rows is None:
        return range(count)
    found = re.fullmatch(r"\s*(-?\d*)\s*(:?)\s*(-?\d*)\s*", rows)
    if found is None or not any(found.groups()):
        raise PartNotFoundError(part=rows, problem=PartProblem.ROWS())
    start, colon, stop = found.groups()
    if not colon:
        at = int(start)
        chosen = range(count)[at : at + 1 or None]
    else:
        chosen = range(count)[slice(int(start) if start else None, int(stop) if stop else None)]
    if not chosen:
        raise PartNotFoundError(part=rows, problem=PartProblem.COUNT(count=count))
    return chosen


def _pattern(grep: str) -> re.Pattern[str]:
    try:
        return re.compile(grep, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(grep), re.IGNORECASE)


def _from_lines(
    text: str, rows: str | None, grep: str | None, context: int, fitter: _Fitter
) -> str:
    if rows is None and grep is None and fitter.fits(text):
        return text
    lines = text.split("\n")
    chosen: Sequence[int] = _range(rows, len(lines))
    if grep is not None:
        chosen = _around(_matches(lines, chosen, grep), context, chosen)

    def render(count: int) -> str:
        return _render_lines(lines, chosen, count, is_numbered=grep is not None)

    return fitter.most(render, len(chosen)) or fitter.shortened(
        "\n".join(lines[at] for at in chosen)
    )


def _matches(lines: Sequence[str], chosen: Sequence[int], grep: str) -> list[int]:
    pattern = _pattern(grep)
    found = [at for at in chosen if pattern.search(lines[at])]
    if not found:
        code = PartProblem.NO_LINE_OF_ONE if len(chosen) == 1 else PartProblem.NO_LINE
        raise PartNotFoundError(part=grep, problem=code(count=len(chosen)))
    return found


def _around(found: Sequence[int], context: int, chosen: Sequence[int]) -> list[int]:
    near = {at + off for at in found for off in range(-context, context + 1)}
    return sorted(near & set(chosen))


def _render_lines(
    lines: Sequence[str], chosen: Sequence[int], count: int, *, is_numbered: bool
) -> str:
    """The first `count` of the chosen lines, gaps marked, and which ones are left."""
    parts: list[str] = []
    previous = chosen[0] - 1
    for at in chosen[:count]:
        if at != previous + 1:
            parts.append(f"[{ELISION} {at - previous - 1:,}]")
        parts.append(f"{at}: {lines[at]}" if is_numbered else lines[at])
        previous = at
    if count < len(chosen):
        left = amount(len(chosen) - count, "lines")
        parts.append(f"[{ELISION} {left} left: rows={chosen[count]}:{chosen[-1] + 1}]")
    return "\n".join(parts)


def _from_json(value: JsonValue, rows: str | None, grep: str | None, fitter: _Fitter) -> str:
    if rows is not None:
        value = _rows_of(value, rows)
    if grep is not None:
        return _records(value, grep, fitter)
    text = render_json(value)
    if fitter.fits(text):
        return text
    parts: list[str] = []
    match value:
        case list():
            start = _range(rows, 10**9).start if rows is not None else 0
            parts = [render_json(item) for item in value]
            return fitter.most(lambda n: _render_list(parts, n, start), len(parts)) or (
                fitter.shortened(text)
            )
        case dict():
            parts = [f"{render_json(key)}:{render_json(item)}" for key, item in value.items()]
            return fitter.most(lambda n: _render_object(parts, n), len(parts)) or (
                fitter.shortened(text)
            )
        case _:
            return fitter.shortened(text)


def _rows_of(value: JsonValue, rows: str) -> JsonValue:
    match value:
        case list():
            return [value[at] for at in _range(rows, len(value))]
        case dict():
            members = list(value.items())
            return dict(members[at] for at in _range(rows, len(members)))
        case _:
            raise PartNotFoundError(part=rows, problem=PartProblem.NO_ROWS())


def _render_list(parts: Sequence[str], count: int, start: int) -> str:
    shown = list(parts[:count])
    left = len(parts) - count
    if left:
        first = start + count
        rest = f"{ELISION} {amount(left, 'items')} left: rows={first}:{first + left}"
        shown.append(render_json(rest))
    return f"[{','.join(shown)}]"


def _render_object(parts: Sequence[str], count: int) -> str:
    shown = list(parts[:count])
    if count < len(parts):
        shown.append(f'"{ELISION}":"{amount(len(parts) - count, "keys")} left"')
    return f"{{{','.join(shown)}}}"


def _records(value: JsonValue, grep: str, fitter: _Fitter) -> str:
    """The objects or lists with a scalar, or a key, that matches, each under its path."""
    pattern = _pattern(grep)
    found: JsonObject = {}
    for own, around, leaf in leaves_at(value):
        key = own[len(around) :]
        text = leaf if isinstance(leaf, str) else render_json(leaf)
        if around not in found and (pattern.search(text) or pattern.search(key)):
            found[around] = value_at(value, around)
    if not found:
        raise PartNotFoundError(part=grep, problem=PartProblem.NO_MATCH())
    parts = [f"{render_json(path)}:{render_json(item)}" for path, item in found.items()]
    return fitter.most(lambda n: _render_object(parts, n), len(parts)) or fitter.shortened(
        render_json(found)
    )
