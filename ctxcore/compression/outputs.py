"""Owns how an output that is not JSON is made to fit: whole lines stay, gaps say how many are gone.

First what only a terminal or a browser needs goes; if that is not enough, the lines worth most per
token stay. A line too long for the budget is cut in its middle, and where no line fits, the whole
text is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from ctxcore.compression.json_outputs import compress_json
from ctxcore.compression.json_text import parse_json, render_json
from ctxcore.compression.line_salience import markup_lines
from ctxcore.compression.lines import Lines, fit_lines
from ctxcore.compression.lossless import shorten_losslessly
from ctxcore.compression.markers import ELISION, Elided, Elision, amount, totals
from ctxcore.compression.passages import Passages
from ctxcore.compression.structures import Kind, Source, Structure, read_source
from ctxcore.compression.target import Target, terms_of
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.tokens.families import TokenCounter

CHARS_PER_TOKEN: Final = 16  # a text above this ratio is taken not to fit without being counted

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def compress_text(source: Source, target: Target) -> tuple[str, Elided]:
    """The lines worth most within the budget, or the smallest marker there is."""
    lines, tags = clean_lines(source)
    cleaned = "\n".join(lines)
    if not cleaned.strip():
        return text_marker(source, target)
    may_fit = len(cleaned) <= target.max_tokens * CHARS_PER_TOKEN
    if may_fit and len(cleaned) < len(source.text) and target.fits(cleaned):
        return cleaned, _tags(tags)
    found = fit_lines(Lines.of(lines, source.kind, target), target)
    found = found or fit_passages(cleaned, target)
    if found is None:
        return text_marker(source, target)
    text, gone = found
    return text, (*_tags(tags), *(gone if source.kind != "html" else _without_places(gone)))


def fit_passages(text: str, target: Target) -> tuple[str, list[Elision]] | None:
    """The most of the ends of `text` and its passages that fits; None if not a few words do."""
    passages = Passages.of(text, target.terms)
    low, high = 0, min(len(text) - 1, target.max_tokens * CHARS_PER_TOKEN)
    best: str | None = None
    while low < high:
        keep = (low + high + 1) // 2
        shorter = passages.shorten(keep)
        if target.fits(shorter):
            low, best = keep, shorter
        else:
            high = keep - 1
    if best is None:
        return None
    gone = sum(stop - start for start, stop in passages.gone(low))
    place = (0, 1) if "\n" not in text else (None, None)
    return best, [Elision(unit="characters", count=gone, start=place[0], stop=place[1])]


def _without_places(gone: Iterable[Elision]) -> Elided:
    """How much is gone; the lines of markup are not those of the source."""
    return tuple(Elision(unit=unit, count=count) for unit, count in totals(gone).items())


def _tags(count: int) -> Elided:
    return (Elision(unit="tags", count=count),) if count else ()


def clean_lines(source: Source) -> tuple[list[str], int]:
    """The lines of an output without what only a terminal or a browser needs, and how
    many tags that was."""
    text = source.text
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if source.kind == "html":
        return markup_lines(text)
    if "\r" in text:
        text = "\n".join(map(_last_overwrite, text.replace("\r\n", "\n").split("\n")))
    return [line.rstrip() for line in text.split("\n")], 0


def _last_overwrite(line: str) -> str:
    """What a terminal shows of a line that a progress bar wrote again and again."""
    return line.rstrip("\r").rpartition("\r")[2]


def compress_binary(source: Source, target: Target) -> tuple[str, Elided]:
    """One line that says what it is and how long; nothing of it says anything to a model."""
    return text_marker(source, target, what="binary or base64 data")


def text_marker(source: Source, target: Target, *, what: str = "") -> tuple[str, Elided]:
    """The whole output as one marker: as much of the description as fits."""
    count = len(source.text)
    chars = amount(count, "characters")
    texts = [
        f"[{ELISION} {what or source.kind}, {chars} left out {ELISION}]",
        f"[{ELISION} {chars} {ELISION}]",
        ELISION,
    ]
    return target.first_fitting(texts) or ELISION, (Elision(unit="characters", count=count),)


WORDS_SHARE: Final = 0.3  # of the budget, for what is said around JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A tool output within its budget.

    `tokens` and `original_tokens` are of the text and of the output, in the counter's vocabulary.
    """

    text: str
    tokens: int
    original_tokens: int
    kind: Kind
    """Of the text; what is almost JSON, e.g. what Python prints, is JSON once it is shortened."""
    elided: Elided = ()
    """What is gone, each part with its place, in the order of the output; empty if nothing is."""


def compress(
    output: str,
    *,
    max_tokens: int = 200,
    query: str | None = None,
    model: str | None = None,
    lossless: bool = False,
) -> Compressed:
    """`output` in at most `max_tokens` tokens of `model`, keeping what matters most.

    Errors, odd records, identifiers and what `query` names are kept before long texts. From 40
    tokens on the result always fits; below, it is the smallest marker there is. It never takes
    more tokens than `output`.

    Args:
        output: What a tool returned; any text.
        max_tokens: The budget, as the model's counter counts.
        query: What the output is needed for, e.g. the last user message and the call's arguments.
        model: Whose tokens to count; the default counter if None.
        lossless: Leave nothing out, whatever `max_tokens` is: the shortest text from which
            `decompress` makes `output` again; `output` itself if there is no shorter one.
    """
    from ctxcore.tokens.count import counter_for  # its vocabulary is loaded on the first count

    counter = counter_for(model)
    return compress_with(
        output, max_tokens=max_tokens, counter=counter, query=query, lossless=lossless
    )


def compress_with(
    output: str,
    *,
    max_tokens: int,
    counter: TokenCounter,
    query: str | None = None,
    lossless: bool = False,
) -> Compressed:
    """`compress` with the counter passed in."""
    tokens = counter.count(output)
    source = read_source(output)
    if lossless:
        text = shorten_losslessly(output, counter, tokens)
        return _result(text, counter.count(text), tokens, source.kind)
    whole = _result(output, tokens, tokens, source.kind)
    if tokens <= max_tokens:
        return whole
    target = Target(max_tokens=max(0, max_tokens), counter=counter, terms=terms_of(query or ""))
    text, elided, kind = _reduce(source, target, tokens)
    shorter = _result(text, counter.count(text), tokens, kind, elided)
    return shorter if shorter.tokens < tokens else whole


def _result(
    text: str, tokens: int, original_tokens: int, kind: Kind, elided: Elided = ()
) -> Compressed:
    return Compressed(
        text=text, tokens=tokens, original_tokens=original_tokens, kind=kind, elided=elided
    )


def _reduce(source: Source, target: Target, tokens: int) -> tuple[str, Elided, Kind]:
    structure = source.structure
    if structure is not None and (structure.before or structure.after):
        return _reduce_announced(source, structure, target, tokens)
    if structure is not None or source.is_too_deep:
        return (*compress_json(source, target, tokens), "json")
    if source.kind == "binary":
        return (*compress_binary(source, target), "binary")
    return (*compress_text(source, target), source.kind)


def _reduce_announced(
    source: Source, structure: Structure, target: Target, tokens: int
) -> tuple[str, Elided, Kind]:
    """The words around JSON, if there is room for them, and the JSON in what they leave."""
    words = [structure.before.strip(), structure.after.strip()]
    taken = target.counter.count("\n\n".join(words))
    if taken > target.max_tokens * WORDS_SHARE:
        text, elided = compress_json(source, target, tokens)
        gone = Elision(unit="lines", count=sum(part.count("\n") + 1 for part in words if part))
        return text, (gone, *elided), "json"
    within = replace(target, max_tokens=target.max_tokens - taken)
    text, elided = compress_json(source, within, tokens)
    return "\n".join(filter(None, [words[0], text, words[1]])), elided, source.kind


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
