"""Owns the preview of a tool output: status, totals, and the first and last two of its list.

It is what the `dual-threshold` design makes of every long JSON output; other outputs, and JSON
that does not fit even so, are compressed as everywhere else. Source: that design, section 1.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ctxcore.compression.json_text import parse_json, render_json
from ctxcore.compression.outputs import compress_with
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.tokens.counter import TokenCounter

_STATUS = ("success", "ok", "status", "code", "error", "message")
_TOTALS = ("total", "total_count", "count")
_ENDS = 2  # items kept at each end
_SIZES = ((8, 80), (4, 60), (2, 40), (1, 20))  # fields of an item, characters; less until it fits


def preview(output: str, *, max_tokens: int, counter: TokenCounter) -> str:
    """`output` in at most `max_tokens` tokens: JSON stays JSON, and says that it is compressed."""
    if counter.count(output) <= max_tokens:
        return output
    for shape in _shapes(output):
        text = render_json(shape)
        if counter.count(text) <= max_tokens:
            return text
    return compress_with(output, max_tokens=max_tokens, counter=counter).text


def _shapes(output: str) -> Iterator[JsonObject]:
    """Ever smaller previews of `output`; none where it is no JSON with a list or plain fields."""
    try:
        value = parse_json(output)
    except ValueError:
        return
    is_chinese = any("\u4e00" <= letter <= "\u9fff" for letter in output)
    for fields, chars in _SIZES:
        shape = _Preview(fields=fields, chars=chars, is_chinese=is_chinese).of(value)
        if shape is not None:
            yield shape


@dataclass(frozen=True, slots=True, kw_only=True)
class _Preview:
    """Makes previews of one size."""

    fields: int
    chars: int
    is_chinese: bool

    def of(self, value: JsonValue) -> JsonObject | None:
        """The preview of a list or an object; None where it would say nothing."""
        if isinstance(value, list):
            shown = self._ends(value)
            return {"total": len(value), "items_preview": shown, "compressed": True}
        return self._of_object(value) if isinstance(value, dict) else None

    def _of_object(self, value: JsonObject) -> JsonObject | None:
        wrappers = _path_to_list(value)
        if not wrappers and any(isinstance(item, dict) for item in value.values()):
            return None  # its parts are objects: too little of them would be shown
        parts = {
            name: item
            for wrapper in reversed(wrappers or [value])
            for name, item in wrapper.items()
        }
        shape: JsonObject = {name: self._short(parts[name]) for name in _STATUS if name in parts}
        shape.update(islice(self._shorts(parts, (*_STATUS, *_TOTALS)), self.fields))
        beside = (one for one in parts.items() if not any(one[1] is part for part in wrappers))
        shape.update(islice(self._objects(beside), self.fields))
        items = _longest_list(wrappers[-1]) if wrappers else []
        total = next((parts[name] for name in _TOTALS if _is_number(parts.get(name))), None)
        if items or total is not None:
            shape["total"] = len(items) if total is None else total
        if items:
            shape["items_preview"] = self._ends(items)
        return {**shape, "compressed": True}

    def _ends(self, items: Sequence[JsonValue]) -> list[JsonValue]:
        """The first and the last of `items`, and how many are left out between them."""
        gone = len(items) - 2 * _ENDS
        if gone <= 0:
            return [self._item(item) for item in items]
        marker = f"... (省略 {gone} 项)" if self.is_chinese else f"... ({gone} omitted)"
        first, last = map(self._item, items[:_ENDS]), map(self._item, items[-_ENDS:])
        return [*first, marker, *last]

    def _item(self, item: JsonValue) -> JsonValue:
        if isinstance(item, list):
            return [self._short(one) for one in item[: self.fields]]
        if not isinstance(item, dict):
            return self._short(item)
        plain = dict(islice(self._shorts(item), self.fields))
        if plain or not item:
            return plain
        name, inner = next(iter(item.items()))
        return {name: self._item(inner)}  # a wrapper: what is inside says which one it is

    def _shorts(
        self, value: Mapping[str, JsonValue], without: Collection[str] = ()
    ) -> Iterable[tuple[str, JsonValue]]:
        """The fields with plain values, long texts cut."""
        for name, item in value.items():
            if name not in without and not isinstance(item, (dict, list)):
                yield name, self._short(item)

    def _objects(self, parts: Iterable[tuple[str, JsonValue]]) -> Iterable[tuple[str, JsonValue]]:
        """The parts that are objects, with their plain fields."""
        for name, item in parts:
            if isinstance(item, dict):
                yield name, self._item(item)

    def _short(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str) and len(value) > self.chars:
            return f"{value[: self.chars]}…"
        return f"({len(value)})" if isinstance(value, (dict, list)) else value


def _path_to_list(value: JsonObject) -> list[JsonObject]:
    """The objects from `value` down to one with a list, each the only one in the one before."""
    path = [value]
    while not _longest_list(path[-1]):
        inner = [item for item in path[-1].values() if isinstance(item, dict)]
        if len(inner) != 1:
            return []
        path.append(inner[0])
    return path


def _longest_list(value: JsonObject) -> Sequence[JsonValue]:
    return max((item for item in value.values() if isinstance(item, list)), key=len, default=[])


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
