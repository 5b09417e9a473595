"""Notes what scoring and quoting need of a short message, to be stored beside it.

The notes of a message are that of its text, those of the stretches of it that may be quoted alone,
and those of the pieces in which a longer one is kept. They stand for the text as long as nothing of
it is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.facts.rules import lays_down_rule
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, Text
from ctxcore.salience.traits import dump_note, noted_chars
from ctxcore.salience.units import PROSE_CHARS, WHOLE_BYTES, WHOLE_TOKENS, pieces_of
from ctxcore.summarizers.lines import LEFT_OUT, join_spans
from ctxcore.text.sentences import GAP, Span, split_sentences
from ctxcore.tokens.families import TokenCounter

STRETCH_BYTES = 280  # chosen: about two lines of prose, kept or left out together
MOST_BYTES: Final = 2 * WHOLE_BYTES  # chosen: longer ones are seldom within the tokens of a unit
_PREFIX: Final = "2 "  # the version of the notes, before the counter; others count as none
_PIECES: Final = "\n\n"  # between the note of a text with its stretches and those of its pieces
_NOT_PLAIN = ("```", "~~~", GAP, "</")  # code, what marks a gap, and markup


def stretches(spans: Sequence[Span], most_bytes: int, *, is_output: bool) -> Iterator[list[int]]:
    """Runs of neighbouring spans that are quoted together, never across what was left out.

    A sentence that announces what follows stands with it.
    """
    sizes = [len(span.text.encode("utf-8", "replace")) for span in spans]
    most = most_bytes if sum(sizes) <= most_bytes else min(STRETCH_BYTES, most_bytes)
    run: list[int] = []
    taken = 0
    for place, span in enumerate(spans):
        is_full = taken + sizes[place] > most or is_output
        if run and (is_full or span == LEFT_OUT):
            heading = run[1:][-1:] if span != LEFT_OUT and _announces(spans[run[-1]]) else []
            yield run[: len(run) - len(heading)]
            run, taken = heading, sum(sizes[at] for at in heading)
        if span != LEFT_OUT:
            run.append(place)
            taken += sizes[place]
    if run:
        yield run


def _announces(span: Span) -> bool:
    """Whether a sentence says what follows it."""
    return span.text[-1] in ":："


def dump_notes(
    message: Message, facts: Sequence[Fact], counter: TokenCounter, *, tokens: int
) -> str | None:
    """The notes of a message with these `facts`; None for one that has to be read.

    It and its stretches are sized by `counter`.
    """
    text = _plain_text(message)
    if text is None:
        return None
    rules = [fact for fact in facts if fact.kind == "instruction" and fact.effect != "revokes"]
    whole = dump_note(
        text,
        source=f"{_PREFIX}{counter.id}",
        is_by_model=message.role == "assistant",
        lays_down=bool(rules),
    )
    notes = "\n".join([whole, *_stretch_notes(message, text, counter, is_ruling=bool(rules))])
    if tokens <= WHOLE_TOKENS or len(text) <= PROSE_CHARS:
        return notes
    return notes + _PIECES + "\n".join(_piece_notes(message, text))


def _stretch_notes(
    message: Message, text: str, counter: TokenCounter, *, is_ruling: bool
) -> Iterator[str]:
    """The notes of what may be quoted alone, where that is not all of `text`."""
    if len(text.encode("utf-8", "replace")) <= WHOLE_BYTES:
        return
    spans = split_sentences(text)
    runs = list(stretches(spans, WHOLE_BYTES, is_output=False))
    for run in runs if len(runs) > 1 else ():
        part = join_spans(spans, run)
        yield dump_note(
            part,
            is_by_model=message.role == "assistant",
            lays_down=is_ruling and lays_down_rule(part, message.role),
            size=counter.count(part),
            sentences=len(run),
        )


def _piece_notes(message: Message, text: str) -> Iterator[str]:
    """The notes of the pieces in which a message is kept that does not stay whole."""
    for piece in pieces_of(text, "talk"):
        size = len(piece.encode("utf-8", "replace"))
        yield dump_note(piece, is_by_model=message.role == "assistant", size=size)


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
    return notes.partition(_PIECES)[0].split("\n")[1:] or (notes,)


def noted_pieces(notes: str) -> Sequence[str]:
    """The notes of the pieces in which a longer message is kept; none where those were not made."""
    text, _, pieces = notes.partition(_PIECES)
    if pieces:
        return pieces.split("\n")
    return (notes,) if noted_chars(text) <= PROSE_CHARS else ()


def are_sized_by(notes: str, counter: TokenCounter) -> bool:
    """Whether the sizes of the stretches are known by `counter`."""
    return "\n" not in notes.partition(_PIECES)[0] or notes.startswith(f"{_PREFIX}{counter.id}|")
