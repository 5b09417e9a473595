"""Owns `compress`: a tool output made to fit a token budget, with its structure kept.

An output that fits comes back byte for byte. JSON stays JSON, and what is almost JSON becomes it;
other kinds keep whole lines. What is gone is counted in place, in the unit of the source. The same
input gives the same bytes in every process, and no input raises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ctxcore.compression.json_outputs import compress_json
from ctxcore.compression.kinds import Kind, Source, read_source
from ctxcore.compression.lossless import shorten_losslessly
from ctxcore.compression.markers import Elided, Elision
from ctxcore.compression.structures import Structure
from ctxcore.compression.target import Target, terms_of
from ctxcore.compression.text_outputs import compress_binary, compress_text
from ctxcore.tokens.counter import TokenCounter

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
