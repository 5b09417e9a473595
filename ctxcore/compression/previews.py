"""Previews of tool outputs, the form of the `dual-threshold` design: JSON that names what it holds.

Every key of the output is named, every list with its count; previews of what they hold share the
room that is left. Source: docs/designs.md, the table of `dual-threshold`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxcore.compression.json_outputs import CUT_OFF, beside_note, with_note
from ctxcore.compression.json_text import parse_json, render_json
from ctxcore.compression.markers import Elided
from ctxcore.compression.outputs import between_words, compress_with
from ctxcore.compression.structures import Structure, read_structure
from ctxcore.compression.target import Target, most_fitting
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.text.languages import has_han
from ctxcore.tokens.families import TokenCounter

_STATUS: Final = ("success", "ok", "status", "code", "error", "message")
_TOTALS: Final = ("total", "total_count", "count")
_ITEMS: Final = "items"  # the document's list: its preview stands beside its total, `items_preview`
_DEEPEST: Final = 3  # chosen: objects below are counted only
_MOST_SHARING: Final = 16  # chosen: of more parts none is raised above the others


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How much is shown of each part."""

    ends: int
    """Items at each end of a list. Source: the document, 2."""
    fields: int
    """Of an object that is no part of its own."""
    chars: int
    """Of a text."""


_SIZES: Final = tuple(
    _Size(ends=ends, fields=fields, chars=chars)
    for ends, fields, chars in (
        *((2, 8, 80), (2, 4, 60), (2, 2, 40), (2, 1, 20)),
        *((1, 2, 40), (1, 1, 20), (0, 0, 20), (0, 0, 8)),
    )
)
"""Chosen: fewer fields before fewer items; with the last a part is its name and its count."""


def preview(output: str, *, max_tokens: int, counter: TokenCounter) -> str:
    """`output` in at most `max_tokens` tokens: JSON stays JSON, and names what it holds."""
    if counter.count(output) <= max_tokens:
        return output
    try:
        structure = read_structure(output)
    except ValueError:
        structure = None
    value = structure.value if structure is not None else None
    if isinstance(value, list) and structure is not None and structure.is_json:
        value = {_ITEMS: value}
    if structure is None or not isinstance(value, dict) or not value:
        return compress_with(output, max_tokens=max_tokens, counter=counter).text
    return _of_structure(structure, value, output, Target(max_tokens=max_tokens, counter=counter))


def _of_structure(structure: Structure, value: JsonObject, output: str, target: Target) -> str:
    """The preview of `value`, within the words around it, and with a note where it was cut off."""

    def render(room: Target) -> tuple[str, Elided]:
        if structure.tail is None:
            return _of_object(value, output, room), ()
        text = _of_object(value, output, beside_note(CUT_OFF, room))
        return with_note(text, CUT_OFF, structure.tail, room), ()

    found = between_words(structure, target, render)
    if found is None:
        return compress_with(output, max_tokens=target.max_tokens, counter=target.counter).text
    return found[0]


def _of_object(value: JsonObject, output: str, target: Target) -> str:
    compressed, is_chinese = "", has_han(output)
    if not _is_listing(value):  # the worth of its parts tells better what to show
        compressed = _compressed(value, target)
        if _names_all(compressed, value):
            return compressed
    shared = _Sharing(_Preview(value, is_chinese=is_chinese), target).text()
    return shared or compressed or _compressed(value, target)


def _compressed(value: JsonObject, target: Target) -> str:
    output = render_json(value)
    return compress_with(output, max_tokens=target.max_tokens, counter=target.counter).text


def _is_listing(value: JsonObject) -> bool:
    """Whether it holds a list, or in each object the only one that does, or plain values alone."""
    while not any(isinstance(item, list) for item in value.values()):
        inner = [item for item in value.values() if isinstance(item, dict)]
        if len(inner) != 1:
            return not inner
        value = inner[0]
    return True


def _names_all(text: str, value: JsonObject) -> bool:
    try:
        shown = parse_json(text)
    except ValueError:
        return False
    return isinstance(shown, dict) and value.keys() <= shown.keys()


@dataclass(frozen=True, slots=True)
class _Sharing:
    """Finds how much of each part fits together."""

    shape: _Preview
    target: Target

    def text(self) -> str:
        """The preview that fits; empty if not even names and counts do."""
        for level in range(len(_SIZES)):
            levels = dict.fromkeys(self.shape.parts, level)
            if (text := self._fitting(levels, level)) is not None:
                return self._raised(levels, level, text)
        plain = len(self.shape.value) - len(self.shape.parts)
        found = most_fitting(self._named, plain, self._is_fitting)
        return "" if found is None else found[1]

    def _named(self, before: int) -> str:
        """The preview with fewer plain values than `before`, and the names of the others."""
        return render_json(self.shape.named(before - 1))

    def _raised(self, levels: dict[str, int], level: int, text: str) -> str:
        """The preview with parts raised in turn, a size at a time, as long as it fits."""
        open_parts = list(levels) if len(levels) <= _MOST_SHARING else []
        while open_parts:
            for part in [*open_parts]:
                higher = {**levels, part: levels[part] - 1}
                more = self._fitting(higher, level) if levels[part] else None
                if more is None:
                    open_parts.remove(part)
                else:
                    levels, text = higher, more
        return text

    def _fitting(self, levels: dict[str, int], level: int) -> str | None:
        text = render_json(self.shape.shown(levels, _SIZES[level].chars))
        return text if self._is_fitting(text) else None

    def _is_fitting(self, text: str) -> bool:
        return self.target.may_fit(text) and self.target.fits(text)


@dataclass(frozen=True, slots=True)
class _Preview:
    """Makes previews of one object."""

    value: JsonObject
    is_chinese: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys of lists and objects."""
        return tuple(key for key, item in self.value.items() if isinstance(item, (dict, list)))

    def shown(self, levels: dict[str, int], chars: int) -> JsonObject:
        """The preview with these sizes of its parts, and texts of so many characters."""
        shape: JsonObject = {}
        for key in _status_first(self.value):
            item = self.value[key]
            if key in levels:
                maker = _Maker(_SIZES[levels[key]], is_chinese=self.is_chinese)
                shape.update(maker.member(key, item, self.value, _DEEPEST))
            elif key not in shape:  # a total may stand already beside its items
                shape[key] = _short(item, chars)
        shape.setdefault("compressed", True)
        return shape

    def named(self, count: int) -> JsonObject:
        """Every part with its count, `count` plain values, and the names of the others."""
        levels = dict.fromkeys(self.parts, len(_SIZES) - 1)
        shape = self.shown(levels, _SIZES[-1].chars)
        plain = [key for key in _status_first(self.value) if key not in levels]
        for key in (gone := plain[count:]):
            shape.pop(key, None)
        return {**shape, "…": [*gone]}


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes what is shown of one part."""

    size: _Size
    is_chinese: bool

    def member(self, key: str, item: JsonValue, parent: JsonObject, depth: int) -> JsonObject:
        """A member of `parent` under its name; the document's list with its total beside it."""
        if not isinstance(item, list):
            return {key: self._object(item, depth) if isinstance(item, dict) else self._text(item)}
        if _is_the_list(key, item, parent):
            return {"total": len(item), f"{_ITEMS}_preview": self._ends(item)}
        return {key: self._list(item)}

    def _list(self, items: Sequence[JsonValue]) -> JsonObject:
        total: JsonObject = {"total": len(items)}
        return {**total, "items_preview": self._ends(items)} if self.size.ends else total

    def _object(self, value: JsonObject, depth: int) -> JsonValue:
        """An object: its first plain fields and objects, and every list."""
        if not self.size.fields or not depth:
            return self._counted(value)
        plain = [key for key, item in value.items() if not isinstance(item, (dict, list))]
        objects = [key for key, item in value.items() if isinstance(item, dict)]
        lists = [key for key, item in value.items() if isinstance(item, list)]
        chosen = {*plain[: self.size.fields], *objects[: self.size.fields], *lists}
        shape: JsonObject = {}
        below = depth - (len(value) > 1)  # what only wraps an object is no level
        for key in (key for key in _status_first(value) if key in chosen and key not in shape):
            shape.update(self.member(key, value[key], value, below))
        gone = sum(key not in chosen for key in value)
        return {**shape, "…": self._omitted(gone)} if gone else shape

    def _counted(self, value: JsonObject) -> str:
        count = len(value)
        return f"({count} 个键)" if self.is_chinese else f"({count} key{'s' * (count != 1)})"

    def _ends(self, items: Sequence[JsonValue]) -> list[JsonValue]:
        """The first and the last of `items`, and how many are left out between them."""
        ends = self.size.ends
        gone = len(items) - 2 * ends
        if gone <= 0:
            return [self._item(item) for item in items]
        last = items[len(items) - ends :]
        return [*map(self._item, items[:ends]), self._omitted(gone), *map(self._item, last)]

    def _omitted(self, count: int) -> str:
        return f"... (省略 {count} 项)" if self.is_chinese else f"... ({count} omitted)"

    def _item(self, item: JsonValue) -> JsonValue:
        """An item of a list: its short fields. Source: the document."""
        if isinstance(item, list):
            cells = [self._text(part) for part in item[: self.size.fields]]
            gone = len(item) - len(cells)
            return [*cells, self._omitted(gone)] if gone and cells else cells
        if not isinstance(item, dict):
            return self._text(item)
        plain = dict(islice(self._plain_fields(item), self.size.fields))
        if plain or not item:
            return plain
        name, inner = next(iter(item.items()))
        return {name: self._item(inner)}  # a wrapper: its content identifies the item

    def _plain_fields(self, value: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        for name, item in value.items():
            if not isinstance(item, (dict, list)):
                yield name, self._text(item)

    def _text(self, value: JsonValue) -> JsonValue:
        return _short(value, self.size.chars)


def _short(value: JsonValue, chars: int) -> JsonValue:
    if isinstance(value, str) and len(value) > chars:
        return f"{value[:chars]}…"
    return f"({len(value)})" if isinstance(value, (dict, list)) else value


def _status_first(value: JsonObject) -> Iterator[str]:
    """The keys of an object: those of its status, its own total, then the others."""
    first = [name for name in (*_STATUS, *_TOTALS) if name in value]
    yield from first
    yield from (name for name in value if name not in first)


def _is_the_list(key: str, items: Sequence[JsonValue], parent: JsonObject) -> bool:
    """Whether a list is the document's: the only one of `parent`, whose total is its count.

    Any other total, of all pages or of prices, would describe something else beside its preview.
    """
    if key != _ITEMS or f"{_ITEMS}_preview" in parent:
        return False
    lists = sum(isinstance(other, list) for other in parent.values())
    totals = [parent[name] for name in _TOTALS if name in parent]
    return lists == 1 and all(type(total) is int and total == len(items) for total in totals)
