"""Owns the lossless way: a text as short as it gets without losing anything, and back.

What comes back is `x` byte for byte where `x` could not be shortened, else JSON of the same value:
`json.loads` reads both alike, keys in the same order, integers as integers, floats as the same
doubles. JSON that `json.loads` and other parsers read differently (`NaN`, `1e999`) stays as it is.
"""

from __future__ import annotations

from ctxcore.compression.codec import encode, is_encoded
from ctxcore.compression.decoding import NotEncodedError, decode
from ctxcore.compression.json_text import MAX_NESTING, parse_exact, render_json
from ctxcore.messages.values import JsonValue
from ctxcore.tokens.counter import TokenCounter

MARK = " "
"""Before a text that is as it was, and would be taken for one that `encode` wrote."""

_DEEPEST = 2 * MAX_NESTING + 8  # a table is one level deeper than its records, names one more


def shorten_losslessly(text: str, counter: TokenCounter, tokens: int) -> str:
    """A text of at most `tokens` tokens, those of `text`, from which `decompress` makes it again.

    One token more only where `text` itself looks like such a text and cannot be shortened.
    """
    try:
        value = parse_exact(text)
        shorter = _shortest(value, counter)
    except (ValueError, RecursionError):
        return _as_it_is(text)
    return shorter if counter.count(shorter) < tokens else _as_it_is(text)


def _shortest(value: JsonValue, counter: TokenCounter) -> str:
    texts = [encode(value), encode(value, names=False)]
    if not is_encoded(value):
        texts.append(render_json(value))
    return min(dict.fromkeys(texts), key=counter.count)


def decompress(text: str) -> str:
    """What `compress(x, lossless=True)` made `text` of; any other text comes back as it is.

    Returns:
        `x` itself where it could not be shortened, else minified JSON of the same value.
    """
    blanks = len(text) - len(text.lstrip(MARK))
    value = _encoded_value(text[blanks:])
    if value is None:
        return text
    return text[len(MARK) :] if blanks else render_json(value[0])


def _as_it_is(text: str) -> str:
    return text if decompress(text) == text else MARK + text


def _encoded_value(text: str) -> tuple[JsonValue] | None:
    """The value that an encoded text stands for; None if the text is not encoded."""
    try:
        value = parse_exact(text, deepest=_DEEPEST)
        return (decode(value),) if is_encoded(value) else None
    except (NotEncodedError, ValueError, RecursionError):
        return None
