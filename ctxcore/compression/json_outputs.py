"""Makes a JSON output fit: without loss if that is enough, else by leaving parts out.

The ladder: minified; records as tables; the same without the least salient parts; a one-line
marker. The result is JSON on every rung.
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
from ctxcore.compression.tree_building import TreeBuilder
from ctxcore.messages.values import JsonValue

CUT_OFF: Final = render_json(f"{ELISION} cut off here")
MAX_ROUNDS: Final = 20  # chosen: each leaves out at least one part; two or three are usual
REFILL_SHARES: Final = (0.9, 0.9, 0.5, 0.5, 0.3)  # of the room left each time; estimates err
USUAL_SCALE: Final = 0.85  # real tokens for each estimated one; corrected after the first count
HOPELESS_RATIO: Final = 2.5  # chosen: an estimate this far over the budget is not counted exactly
MOST_CHARS_PER_TOKEN: Final = 40  # chosen: of a text whose tokens are estimated
# Measured on 8,600 JSON outputs, indented or not, in both vocabularies:
HALVED: Final = 2  # tables and names rarely save more than half of the tokens
SPARSER: Final = 0.6  # minified JSON has .68 of the output's tokens per character, or more
DENSER: Final = 0.95  # tables have .997 of those of minified JSON, or more


def compress_json(source: Source, target: Target, tokens: int) -> tuple[str, Elided]:
    """JSON within the budget, or the smallest marker there is, and what is gone.

    `tokens` are those of the output. JSON that the tool cut off ends with a note of it.
    """
    if source.structure is None:
        return _json_marker(source, target)
    value, tail = source.structure.value, source.structure.tail
    if tail is None:
        return _compress_value(source, value, target, tokens)
    text, elided = _compress_value(source, value, beside_note(CUT_OFF, target), tokens)
    return with_note(text, CUT_OFF, tail, target), elided


def beside_note(note: str, target: Target) -> Target:
    """`target` with the room that `note` leaves."""
    room = target.max_tokens - target.counter.count(note) - 2 * MARKER_TOKENS
    return replace(target, max_tokens=max(0, room))


def with_note(text: str, note: str, tail: str, target: Target) -> str:
    """JSON `text` with `note` as its last part, and the `tail` too if it fits."""
    closing = text[-1]
    if closing not in "]}":
        return text
    comma = "," if text[-2] not in "[{" else ""
    notes = [f"{note}:{render_json(tail)}", f'{note}:""'] if closing == "}" else [note]
    noted = (f"{text[:-1]}{comma}{last}{closing}" for last in notes)
    return target.first_fitting(noted) or text


def _compress_value(
    source: Source, value: JsonValue, target: Target, tokens: int
) -> tuple[str, Elided]:
    try:
        if isinstance(value, str):
            found = _shorten_string(value, target)
        else:
            found = _compress_parts(source.text, value, target, tokens)
    except RecursionError:  # the caller's own stack is nearly used up
        found = None
    return found or _json_marker(source, target)


def _shorten_string(value: str, target: Target) -> tuple[str, Elided] | None:
    """An output that is one JSON string, shortened; None if it cannot fit."""
    leaf = Leaf(value, 1.0, target.terms)
    while leaf.can_shorten:
        leaf.shorten()
        text = leaf.render()
        head = text[: target.max_tokens * MOST_CHARS_PER_TOKEN]
        if estimate_tokens(head) <= target.max_tokens * HOPELESS_RATIO and target.fits(text):
            return text, tuple(leaf.gone(""))
    return None


def _compress_parts(
    output: str, value: JsonValue, target: Target, tokens: int
) -> tuple[str, Elided] | None:
    """A list or an object on the first rung of the ladder that fits; None if none does."""
    minified = render_json(value)
    least = _least_tokens(output, tokens, minified)
    if least <= target.max_tokens * HALVED:
        if least <= target.max_tokens and target.fits(minified):
            return minified, ()
        shorter = encode(value)
        least *= len(shorter) / len(minified) * DENSER
        if least <= target.max_tokens and target.fits(shorter):
            return shorter, ()
    builder = TreeBuilder(target)
    tree = builder.build(builder.thin(value, len(minified)))
    if builder.is_shorter and not builder.thinned and target.fits(whole := tree.render()):
        return whole, ()
    text = _shed(tree, target)
    return (text, tuple(tree.gone(""))) if text is not None else None


def _least_tokens(output: str, tokens: int, minified: str) -> float:
    """A lower bound for the tokens of `minified`; much faster than to count them."""
    gone = len(output) - len(minified)  # blanks, of which none is more than a token
    return max(tokens - gone, tokens * len(minified) / len(output) * SPARSER)


def _shed(tree: Node, target: Target) -> str | None:
    """The tree's JSON after it lost its least salient parts; None if it cannot fit."""
    shedding, goal = Shedding(tree), target.max_tokens / USUAL_SCALE
    for _ in range(MAX_ROUNDS):
        can_go_on = shedding.shed_to(goal)
        text = tree.render()
        tokens = target.counter.count(text)
        if tokens <= target.max_tokens:
            return _refilled(shedding, target, text, tokens)
        if not can_go_on:
            return None
        goal = tree.tokens - max(1, tokens - target.max_tokens)
    return None


def _refilled(shedding: Shedding, target: Target, text: str, tokens: int) -> str:
    """`text` with the best parts restored that the budget has room for."""
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


def _json_marker(source: Source, target: Target) -> tuple[str, Elided]:
    """One marker for the whole output, as descriptive as fits."""
    count = len(source.text)
    chars = amount(count, "characters")
    markers: list[JsonValue] = [{ELISION: f"{chars} of JSON left out"}, {ELISION: chars}, ELISION]
    text = target.first_fitting(map(render_json, markers)) or "0"
    return text, (Elision(unit="characters", count=count),)
