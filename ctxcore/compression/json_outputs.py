"""Owns how a JSON output is made to fit: without loss if that is enough, else by shedding.

The ladder: minified; records as tables; the same with the least worth parts left out; a one-line
marker. What comes out is JSON again, whatever the rung.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.lossless import encode
from ctxcore.compression.markers import ELISION, Elided, Elision, amount
from ctxcore.compression.shedding import Shedding
from ctxcore.compression.structures import Source
from ctxcore.compression.target import Target, estimate_tokens
from ctxcore.compression.tree import MARKER_TOKENS, Leaf, Node
from ctxcore.compression.tree_building import TreeBuilder, thin
from ctxcore.messages.values import JsonValue

MAX_ROUNDS: Final = 20  # each sheds at least one part; two or three are usual
REFILL_SHARES: Final = (0.9, 0.9, 0.5, 0.5, 0.3)  # of the room left each time; estimates err
USUAL_SCALE: Final = 0.85  # real tokens for each estimated one; corrected after the first count
HOPELESS_RATIO: Final = 2.5  # an estimate this far over the budget is not counted exactly
# Measured on 8,600 JSON outputs, indented or not, in both vocabularies:
HALVED: Final = 2  # tables and names rarely save more than half of the tokens
SPARSER: Final = 0.6  # minified JSON has .68 of the output's tokens per character, or more
DENSER: Final = 0.95  # tables have .997 of those of minified JSON, or more


def compress_json(source: Source, target: Target, tokens: int) -> tuple[str, Elided]:
    """JSON within the budget, or the smallest marker there is, and what is gone.

    `tokens` are those of the output. The end of JSON that the tool cut off says so.
    """
    tail = source.structure.tail if source.structure is not None else None
    if tail is None:
        return _compress_whole(source, target, tokens)
    note = render_json(f"{ELISION} cut off here")
    room = target.max_tokens - target.counter.count(note) - 2 * MARKER_TOKENS
    within = replace(target, max_tokens=max(0, room))
    text, elided = _compress_whole(source, within, tokens)
    return _with_note(text, note, tail, target), elided


def _with_note(text: str, note: str, tail: str, target: Target) -> str:
    """`text` with `note` as its last part, and the `tail` too if it fits; it may have no parts."""
    closing = text[-1]
    if closing not in "]}":
        return text
    comma = "," if text[-2] not in "[{" else ""
    notes = [f"{note}:{render_json(tail)}", f'{note}:""'] if closing == "}" else [note]
    noted = (f"{text[:-1]}{comma}{one}{closing}" for one in notes)
    return target.first_fitting(noted) or text


def _compress_whole(source: Source, target: Target, tokens: int) -> tuple[str, Elided]:
    if source.structure is None:
        return json_marker(source, target)
    value = source.structure.value
    try:
        if isinstance(value, str):
            return _shortened_text(source, value, target)
        return _climb_down(source, value, target, tokens)
    except RecursionError:  # the caller's own stack is nearly used up
        return json_marker(source, target)


def _climb_down(
    source: Source, value: JsonValue, target: Target, tokens: int
) -> tuple[str, Elided]:
    minified = render_json(value)
    least = _least_tokens(source.text, tokens, minified)
    if least <= target.max_tokens * HALVED:
        if least <= target.max_tokens and target.fits(minified):
            return minified, ()
        shorter = encode(value)
        least *= len(shorter) / len(minified) * DENSER
        if least <= target.max_tokens and target.fits(shorter):
            return shorter, ()
    builder = TreeBuilder(target)
    tree = builder.build(thin(value, len(minified), target, builder.thinned))
    if builder.is_shorter and not builder.thinned and target.fits(whole := tree.render()):
        return whole, ()
    text = shed(tree, target)
    return (text, tuple(tree.gone(""))) if text is not None else json_marker(source, target)


def _least_tokens(output: str, tokens: int, minified: str) -> float:
    """What `minified` takes at least; far faster than counting it, and mostly enough to know."""
    gone = len(output) - len(minified)  # blanks, of which none is more than a token
    return max(tokens - gone, tokens * len(minified) / len(output) * SPARSER)


def shed(tree: Node, target: Target) -> str | None:
    """The tree's JSON after it lost what is worth least; None if it cannot fit."""
    shedding, scale = Shedding(tree), USUAL_SCALE
    for _ in range(MAX_ROUNDS):
        can_go_on = shedding.shed_to(target.max_tokens / scale)
        text = tree.render()
        tokens = target.counter.count(text)
        if tokens <= target.max_tokens:
            return _refilled(shedding, target, text, tokens)
        if not can_go_on:
            return None
        scale = max(scale * 1.01, 1.005 * tokens / max(1, tree.tokens))
    return None


def _refilled(shedding: Shedding, target: Target, text: str, tokens: int) -> str:
    """`text` with the best parts put back that the counter has room for."""
    for share in REFILL_SHARES:
        scale = max(1, tokens) / max(1, shedding.tree.tokens)
        undone = shedding.refill((target.max_tokens - tokens) / scale * share)
        if not undone:
            continue
        fuller = shedding.tree.render()
        count = target.counter.count(fuller)
        if count <= target.max_tokens:
            text, tokens = fuller, count
        else:
            shedding.retake(undone)
    return text


def json_marker(source: Source, target: Target) -> tuple[str, Elided]:
    """The whole output as one marker: as much of the description as fits."""
    chars = amount(len(source.text), "characters")
    texts = [
        render_json({ELISION: f"{chars} of JSON left out"}),
        render_json({ELISION: chars}),
        render_json(ELISION),
        "0",
    ]
    text = target.first_fitting(texts) or texts[-1]
    return text, (Elision(unit="characters", count=len(source.text)),)


def _shortened_text(source: Source, said: str, target: Target) -> tuple[str, Elided]:
    """An output that is one JSON string, shortened."""
    leaf = Leaf(said, 1.0, target.terms)
    while leaf.can_shorten:
        leaf.shorten()
        text = leaf.render()
        if _may_fit(text, target) and target.fits(text):
            return text, tuple(leaf.gone(""))
    return json_marker(source, target)


def _may_fit(text: str, target: Target) -> bool:
    """Whether it is worth counting `text` exactly."""
    head = text[: target.max_tokens * 40]
    return estimate_tokens(head) <= target.max_tokens * HOPELESS_RATIO
