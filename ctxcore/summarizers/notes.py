"""Notes what scoring and quoting need of a short message, to be stored beside it.

The note of a message has that of its text, which is kept whole or not at all, and that of each
stretch of it that may be quoted alone. It stands for the text as long as nothing of it is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.facts.rules import lays_down_rule
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, Text
from ctxcore.salience.traits import dump_note
from ctxcore.salience.units import WHOLE_TOKENS
from ctxcore.summarizers.lines import LEFT_OUT, join_spans
from ctxcore.text.sentences import GAP, Span, split_sentences
from ctxcore.tokens.families import TokenCounter

STRETCH_BYTES = 280  # chosen: about two lines of prose, kept or left out together
WHOLE_BYTES = WHOLE_TOKENS * 4  # a message up to this is quoted whole, or not at all
MOST_BYTES: Final = 2 * WHOLE_BYTES  # chosen: longer ones are seldom within the tokens of a unit
_PREFIX: Final = "1 "  # the version of the notes, before the counter; others count as none
_NOT_PLAIN = ("```", "~~~", GAP)  # code, and what marks a gap


def stretches(spans: Sequence[Span], most_bytes: int, *, is_output: bool) -> Iterator[list[int]]:
    """Runs of neighbouring spans that are quoted together, never across what was left out."""
    sizes = [len(span.text.encode("utf-8", "replace")) for span in spans]
    most = most_bytes if sum(sizes) <= most_bytes else min(STRETCH_BYTES, most_bytes)
    run: list[int] = []
    taken = 0
    for place, span in enumerate(spans):
        is_full = taken + sizes[place] > most or is_output
        if run and (is_full or span == LEFT_OUT):
            yield run
            run, taken = [], 0
        if span != LEFT_OUT:
            run.append(place)
            taken += sizes[place]
    if run:
        yield run


def dump_notes(message: Message, facts: Sequence[Fact], counter: TokenCounter) -> str | None:
    """The notes of a message with these `facts`; None for one that has to be read.

    Its stretches are sized by `counter`.
    """
    text = _plain_text(message)
    if text is None:
        return None
    is_by_model = message.role == "assistant"
    is_ruling = any(fact.kind == "instruction" and fact.effect != "revokes" for fact in facts)
    source = f"{_PREFIX}{counter.id}"
    lines = [dump_note(text, source=source, is_by_model=is_by_model, lays_down=is_ruling)]
    if len(text.encode("utf-8", "replace")) > WHOLE_BYTES:
        spans = split_sentences(text)
        runs = list(stretches(spans, WHOLE_BYTES, is_output=False))
        for run in runs if len(runs) > 1 else ():
            part = join_spans(spans, run)
            lays_down = is_ruling and lays_down_rule(part, message.role)
            note = dump_note(
                part,
                source=source,
                is_by_model=is_by_model,
                lays_down=lays_down,
                tokens=counter.count(part),
                sentences=len(run),
            )
            lines.append(note)
    return "\n".join(lines)


def _plain_text(message: Message) -> str | None:
    """The text of a message of one short line of prose; None for any other message."""
    content = message.content
    if message.role not in ("user", "assistant") or len(content) != 1:
        return None
    if message.calls or message.name or message.answers or message.action or message.extra:
        return None
    text = content[0].text if isinstance(content[0], Text) else ""
    if not text or len(text) > MOST_BYTES or text[0] == "[":
        return None
    is_line = text.isprintable() and "  " not in text and text[0] != " " and text[-1] != " "
    if not is_line and text != " ".join(text.split()):
        return None
    return None if any(map(text.__contains__, _NOT_PLAIN)) else text


def usable_notes(stored: str | None) -> str:
    """The stored notes of a message if this version wrote them; else none."""
    return stored if stored is not None and stored.startswith(_PREFIX) else ""


def noted_stretches(notes: str) -> Sequence[str]:
    """The notes of what may be quoted alone; those of the whole text where that is one stretch."""
    return notes.split("\n")[1:] if "\n" in notes else (notes,)


def are_sized_by(notes: str, counter: TokenCounter) -> bool:
    """Whether the sizes of the stretches are known by `counter`."""
    return "\n" not in notes or notes.startswith(f"{_PREFIX}{counter.id}|")
