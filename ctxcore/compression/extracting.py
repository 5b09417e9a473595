"""Reads exact parts of an output: by path, rows or pattern, and what a compression left out.

Paths are those of `Compressed.elided`: `items[3].name`, `["a b"].c`, `[0]`; the empty path is the
whole value. They continue into JSON inside strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, Elision, amount, member_path
from ctxcore.compression.outputs import compress_with
from ctxcore.compression.structures import parse_inner, read_structure
from ctxcore.compression.target import Target, most_fitting
from ctxcore.errors import PartNotFoundError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.problems import PartProblem
from ctxcore.reasons.values import QuoteCode
from ctxcore.tokens.families import TokenCounter

CONTEXT_LINES: Final = 2  # chosen: enough to recognize the place, at little cost
MOST_KEYS_NAMED: Final = 12  # chosen: an error that names more keys is hard to read
MOST_PARTS: Final = 50  # of a long range, for the few characters that are shown of it

_STEP: Final = re.compile(
    r'\.?(?P<key>[^.\[\]]+)|\[(?P<at>-?\d+)\]|\[(?P<text>"(?:[^"\\]|\\.)*")\]'
)


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

    `path`, `rows` and `grep` are applied in this order; without any, `output` from its start.
    JSON comes back as JSON, and so do parts of almost-JSON.

    Args:
        output: What a tool returned, as it was.
        path: A value inside JSON, e.g. `items[3].name`, in the form of `Compressed.elided`.
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

    return extract_with(
        output,
        path=path,
        rows=rows,
        grep=grep,
        context=context,
        max_tokens=max_tokens,
        counter=counter_for(model),
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
    target = Target(max_tokens=max_tokens, counter=counter)
    value = _value_of(output, is_needed=bool(path), asks_for_part=bool(rows or grep))
    if value is None:
        return _from_lines(output, rows, grep, context, target)
    value = value_at(value, path or "")
    inner = parse_inner(value) if isinstance(value, str) else None
    if inner is not None and (rows or grep):
        value = inner
    if isinstance(value, str) and (rows or grep or path):
        return _from_lines(value, rows, grep, context, target)
    return _from_json(value, rows, grep, target)


def _value_of(output: str, *, is_needed: bool, asks_for_part: bool) -> JsonValue:
    """The list or object in `output`; None for text.

    Almost-JSON counts as text unless a part of it is requested.
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


def _from_lines(text: str, rows: str | None, grep: str | None, context: int, target: Target) -> str:
    if rows is None and grep is None and _fits(text, target):
        return text
    lines = text.split("\n")
    chosen: Sequence[int] = _range(rows, len(lines))
    if grep is not None:
        pattern = _pattern(grep)
        found = [at for at in chosen if pattern.search(lines[at])]
        if not found:
            code = PartProblem.NO_LINE_OF_ONE if len(chosen) == 1 else PartProblem.NO_LINE
            raise PartNotFoundError(part=grep, problem=code(count=len(chosen)))
        near = {at + off for at in found for off in range(-context, context + 1)}
        chosen = sorted(near.intersection(chosen))

    def render(count: int) -> str:
        return _render_lines(lines, chosen, count, is_numbered=grep is not None)

    return _most(render, len(chosen), "\n".join(lines[at] for at in chosen), target)


def _range(rows: str | None, count: int) -> range:
    """The places that `a:b` or `a` selects of `count`; all without `rows`."""
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


def _fits(text: str, target: Target) -> bool:
    return target.may_fit(text) and target.fits(text)


def _most(render: Callable[[int], str], count: int, whole: str, target: Target) -> str:
    """`render` of as many of the first parts as fit; the compressed `whole` if none fits."""
    found = most_fitting(render, count, lambda text: _fits(text, target))
    if found is not None:
        return found[1]
    return compress_with(whole, max_tokens=target.max_tokens, counter=target.counter).text


def _render_lines(
    lines: Sequence[str], chosen: Sequence[int], count: int, *, is_numbered: bool
) -> str:
    """The first `count` of the chosen lines, with gaps marked, and the range of the rest."""
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


def _from_json(value: JsonValue, rows: str | None, grep: str | None, target: Target) -> str:
    start = 0
    if isinstance(value, list):
        chosen = _range(rows, len(value))
        value, start = [value[at] for at in chosen], chosen.start
    elif isinstance(value, dict) and rows is not None:
        members = list(value.items())
        value = dict(members[at] for at in _range(rows, len(members)))
    elif rows is not None:
        raise PartNotFoundError(part=rows, problem=PartProblem.NO_ROWS())
    if grep is not None:
        value = _matching(value, grep)
    text = render_json(value)
    if grep is None and _fits(text, target):
        return text
    if isinstance(value, list):
        items = list(map(render_json, value))
        return _most(lambda n: _render_list(items, n, start), len(items), text, target)
    rest = value.items() if isinstance(value, dict) else ()
    parts = [f"{render_json(key)}:{render_json(item)}" for key, item in rest]
    return _most(lambda n: _render_object(parts, n), len(parts), text, target)


def _matching(value: JsonValue, grep: str) -> JsonObject:
    """The objects or lists with a scalar, or a key, that matches, each under its path."""
    pattern = _pattern(grep)
    found: JsonObject = {}
    for own, around, leaf in _leaves(value):
        text = _as_text(leaf)
        if around not in found and (pattern.search(text) or pattern.search(own[len(around) :])):
            found[around] = value_at(value, around)
    if not found:
        raise PartNotFoundError(part=grep, problem=PartProblem.NO_MATCH())
    return found


def _leaves(value: JsonValue) -> Iterator[tuple[str, str, JsonValue]]:
    """Every scalar below `value`: its path, the path of the container it is in, and itself."""
    stack: list[tuple[str, str, JsonValue]] = [("", "", value)]
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


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else render_json(value)


def value_at(value: JsonValue, path: str) -> JsonValue:
    """The value at `path` below `value`.

    Raises:
        PartNotFoundError: there is none; names the longest path that exists and its keys.
    """
    for step, walked in _steps(path):
        value = _below(value, step, walked, path)
    return value


def _steps(path: str) -> Iterator[tuple[str | int, str]]:
    """Each key or index in a path, and the path before it."""
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
            named, more = tuple(value)[:MOST_KEYS_NAMED], len(value) - MOST_KEYS_NAMED
            keys = QuoteCode.AND_MORE(names=named, count=more) if more > 0 else named
            problem = PartProblem.KEYS(where=where, keys=keys)
        case list():
            code = PartProblem.LIST_OF_ONE if len(value) == 1 else PartProblem.LIST
            problem = code(where=where, count=len(value))
        case _:
            problem = PartProblem.NO_PARTS(where=where)
    raise PartNotFoundError(part=path, problem=problem)


def elided_text(output: str, elision: Elision, *, max_chars: int = 200) -> str:
    """The beginning of what `elision` left out of `output`; empty where it has no place.

    JSON for parts of JSON, lines for lines; `…` at the end where it goes on.
    """
    try:
        text = _elided(output, elision)
    except (PartNotFoundError, ValueError):
        return ""
    return text if len(text) <= max_chars else text[:max_chars] + ELISION


def _elided(output: str, elision: Elision) -> str:
    unit, path, start, stop = elision.unit, elision.path, elision.start, elision.stop
    if unit == "tags" or (unit == "keys" and not path):
        return ""  # it has no place of its own
    if unit == "characters" and not path:
        lines = output.split("\n") if start is not None else [output]
        return next(islice(lines, start or 0, None), "")
    try:
        value = read_structure(output).value
    except ValueError:
        return _lines(output, start, stop) if unit in ("lines", "rows") else ""
    if unit == "lines" and not path:
        return ""
    if unit == "columns":
        return _column(value, path)
    value = value_at(value, path)
    if start is None or stop is None:
        return _as_text(value)
    if isinstance(value, str):
        return value[start:stop] if unit == "characters" else _lines(value, start, stop)
    members = islice(_members(value), start, min(stop, start + MOST_PARTS))
    return ",".join(map(render_json, members))


def _lines(text: str, start: int | None, stop: int | None) -> str:
    if start is None or stop is None:
        return ""
    return "\n".join(text.split("\n")[start : min(stop, start + MOST_PARTS)])


def _column(value: JsonValue, path: str) -> str:
    """The values of one member of all records of a list, an object or a list of lists."""
    around, _, member = path.partition("[]")
    groups = _members(value_at(value, around))
    records = (r for group in groups for r in (group if isinstance(group, list) else [group]))
    found: list[str] = []
    for record in islice(records, MOST_PARTS):
        with suppress(PartNotFoundError):
            found.append(_as_text(value_at(record, member)))
    return ",".join(found)


def _members(value: JsonValue) -> Iterable[JsonValue]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
