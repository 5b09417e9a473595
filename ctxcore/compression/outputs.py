"""Makes a tool output fit its budget: JSON as JSON, other text by its most salient lines.

First what only a terminal or a browser needs is removed; if that is not enough, the lines with the
highest salience per token stay. A line too long for the budget is cut in its middle, and where no
line fits, the whole text is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from ctxcore.compression.json_outputs import beside_note, compress_json, with_note
from ctxcore.compression.json_text import render_json
from ctxcore.compression.lines import Lines, fit_lines
from ctxcore.compression.lossless import shorten_losslessly
from ctxcore.compression.markers import ELISION, Elided, Elision, amount, totals
from ctxcore.compression.passages import Passages
from ctxcore.compression.structures import Kind, Source, Structure, read_source
from ctxcore.compression.target import CHARS_PER_TOKEN, Target, most_fitting, terms_of
from ctxcore.plain import Plain
from ctxcore.tokens.families import TokenCounter

PROSE_SHARE: Final = 0.3  # of the budget, for the words around JSON: docs/adr/0026-almost-json.md
MOST_JOINS: Final = 3  # chosen: joining adds a token or two, and the second nearly always fits
SAMPLE_CHARS: Final = 8_000  # chosen: enough for shares
HTML_SHARE: Final = 0.5  # chosen: of the tags in a sample, for a text to be a page

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAG: Final = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_OPENING: Final = re.compile(r"<([a-z][\w:.-]*)", re.IGNORECASE)
_PAGE: Final = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_HTML_TAGS: Final = frozenset(
    re.findall(
        r"\w+",
        "a article aside b blockquote body br button code dd div dl dt em footer form h1 h2 h3 h4 "
        "h5 h6 head header hr html i iframe img input label li main meta nav ol option p path pre "
        "script section select small span strong style svg table tbody td th thead tr u ul",
    )
)
_NEXT_SIBLING: Final = re.compile(r"(</([\w:.-]+)>)[ \t]*(?=<\2[\s/>])|(/>)[ \t]*(?=<\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed(Plain):
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
    """`output` in at most `max_tokens` tokens of `model`, keeping the most salient parts.

    Errors, odd records, identifiers and what `query` names are kept before long texts. From 40
    tokens on the result always fits; below, it is the smallest marker there is. It never takes
    more tokens than `output`.

    Args:
        output: What a tool returned; any text.
        max_tokens: The budget, as the model's counter counts.
        query: What the output is needed for, e.g. the last user message and the call's arguments.
        model: Whose tokens to count; the default counter if None.
        lossless: Leave nothing out, whatever `max_tokens` is: the shortest text from which
            `decompress` restores `output`; `output` itself if there is no shorter one.
    """
    from ctxcore.tokens.count import counter_for  # its vocabulary is loaded on the first count

    return compress_with(
        output,
        max_tokens=max_tokens,
        counter=counter_for(model),
        query=query,
        lossless=lossless,
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
    whole = Compressed(text=output, tokens=tokens, original_tokens=tokens, kind=source.kind)
    if lossless:
        text = shorten_losslessly(output, counter, tokens)
        return whole if text == output else replace(whole, text=text, tokens=counter.count(text))
    if tokens <= max_tokens:
        return whole
    query = query or ""
    target = Target(
        max_tokens=max(0, max_tokens), counter=counter, query=query, terms=terms_of(query)
    )
    text, elided, kind = _reduce(source, target, tokens)
    shorter = replace(whole, text=text, tokens=counter.count(text), kind=kind, elided=elided)
    return shorter if shorter.tokens < tokens else whole


def _reduce(source: Source, target: Target, tokens: int) -> tuple[str, Elided, Kind]:
    structure = source.structure
    if structure is not None and (structure.before or structure.after):
        return _reduce_announced(source, structure, target, tokens)
    if structure is not None or source.is_too_deep:
        return (*compress_json(source, target, tokens), "json")
    if source.kind == "binary":
        return (*_text_marker(source, target, "binary or base64 data"), "binary")
    return (*_compress_text(source, target), source.kind)


def _reduce_announced(
    source: Source, structure: Structure, target: Target, tokens: int
) -> tuple[str, Elided, Kind]:
    """The words around JSON, if there is room for them, and the JSON in the rest of the budget."""
    found = between_words(structure, target, lambda within: compress_json(source, within, tokens))
    if found is not None:
        return (*found, source.kind)
    note, lines = _note_of_words(structure)
    text, elided = compress_json(source, beside_note(note, target), tokens)
    gone = Elision(unit="lines", count=lines)
    return with_note(text, note, "", target), (gone, *elided), "json"


def between_words(
    structure: Structure, target: Target, render: Callable[[Target], tuple[str, Elided]]
) -> tuple[str, Elided] | None:
    """The words around the JSON of `structure` with what `render` makes of the room they leave.

    None if they take too much of it.
    """
    before, after = _words_of(structure)
    taken = target.counter.count("\n\n".join((before, after)))
    if taken > target.max_tokens * PROSE_SHARE:
        return None
    for _ in range(MOST_JOINS):
        text, elided = render(replace(target, max_tokens=max(0, target.max_tokens - taken)))
        joined = "\n".join(filter(None, [before, text, after]))
        over = target.counter.count(joined) - target.max_tokens
        if over <= 0:
            return joined, elided
        taken += over  # joined texts may take more tokens than each of them alone
    return None


def _words_of(structure: Structure) -> tuple[str, str]:
    return structure.before.strip(), structure.after.strip()


def _note_of_words(structure: Structure) -> tuple[str, int]:
    """The note, as JSON, that the words around JSON are gone, and how many lines they are."""
    lines = sum(part.count("\n") + 1 for part in _words_of(structure) if part)
    return render_json(f"{ELISION} {amount(lines, 'lines')} around this"), lines


def _compress_text(source: Source, target: Target) -> tuple[str, Elided]:
    lines, tags = _clean_lines(source)
    cleaned = "\n".join(lines)
    if not cleaned.strip():
        return _text_marker(source, target)
    gone_tags = (Elision(unit="tags", count=tags),) if tags else ()
    if target.may_fit(cleaned) and len(cleaned) < len(source.text) and target.fits(cleaned):
        return cleaned, gone_tags
    found = fit_lines(Lines(lines, source.kind, target), target)
    found = found or _fit_passages(cleaned, target)
    if found is None:
        return _text_marker(source, target)
    text, gone = found
    if source.kind == "html":  # the lines of markup are not those of the source
        gone = [Elision(unit=unit, count=count) for unit, count in totals(gone).items()]
    return text, (*gone_tags, *gone)


def _clean_lines(source: Source) -> tuple[list[str], int]:
    """The lines of an output without escape codes or HTML tags, and the count of the tags."""
    text = _ANSI.sub("", source.text)
    if source.kind == "html":
        return markup_lines(text)
    lines = text.replace("\r\n", "\n").split("\n")
    if "\r" in text:  # a terminal shows what a progress bar wrote last
        lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return list(map(str.rstrip, lines)), 0


def markup_lines(text: str) -> tuple[list[str], int]:
    """The lines of HTML without its tags, or of XML with each sibling element on its own.

    Also how many tags were removed. The tags of a page are for a browser; those of XML are data.
    """
    tags = 0
    if _is_html(text):
        text, tags = _TAG.subn("\n", text)
    else:
        text = _NEXT_SIBLING.sub(lambda found: f"{found.group(1) or found.group(3)}\n", text)
    return [line for line in map(str.strip, text.splitlines()) if line], tags


def _is_html(text: str) -> bool:
    if _PAGE.match(text):
        return True
    names = [name.lower() for name in _OPENING.findall(text[:SAMPLE_CHARS])]
    return sum(name in _HTML_TAGS for name in names) >= HTML_SHARE * max(1, len(names))


def _fit_passages(text: str, target: Target) -> tuple[str, list[Elision]] | None:
    """The most of the ends of `text` and its passages that fits; None if nothing does."""
    passages = Passages(text, target.terms)
    most_chars = min(len(text) - 1, target.max_tokens * CHARS_PER_TOKEN)
    found = most_fitting(passages.shorten, most_chars, target.fits)
    if found is None:
        return None
    chars, best = found
    gone = sum(stop - start for start, stop in passages.gone(chars))
    start, stop = (0, 1) if "\n" not in text else (None, None)
    return best, [Elision(unit="characters", count=gone, start=start, stop=stop)]


def _text_marker(source: Source, target: Target, what: str = "") -> tuple[str, Elided]:
    """One marker for the whole output, as descriptive as fits."""
    count = len(source.text)
    chars = amount(count, "characters")
    texts = [
        f"[{ELISION} {what or source.kind}, {chars} left out {ELISION}]",
        f"[{ELISION} {chars} {ELISION}]",
    ]
    return target.first_fitting(texts) or ELISION, (Elision(unit="characters", count=count),)
