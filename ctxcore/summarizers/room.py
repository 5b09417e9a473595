"""Owns the room of a summary where characters limit it beside tokens: both as one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from ctxcore.tokens.counter import TokenCounter

# A unit is to be about a token, so that what a label or a gap costs holds in units too.
CHARS_PER_UNIT: Mapping[Language, float] = {"en": 4.0, "zh": 1.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much a text takes of a summary's room; it fits where that is at most `units`.

    Where tokens alone limit it, a unit is a token. Else a text takes the larger of its shares of
    both limits.
    """

    counter: TokenCounter
    units: int
    max_tokens: int
    max_chars: int | None

    @classmethod
    def of(cls, request: SummaryRequest, counter: TokenCounter) -> Room:
        """The room that the request asks to fill: within its limits, and no longer than asked."""
        named = [chars for chars in (request.asked_chars, request.max_chars) if chars is not None]
        tokens, chars = max(0, request.max_tokens), max(0, min(named)) if named else None
        if chars is None:
            return cls(counter=counter, units=tokens, max_tokens=tokens, max_chars=None)
        units = min(tokens, int(chars / CHARS_PER_UNIT[request.language]))
        return cls(counter=counter, units=units, max_tokens=tokens, max_chars=chars)

    def size(self, text: str) -> int:
        """What `text` takes of `units`."""
        tokens = self.counter.count(text)
        if self.max_chars is None:
            return tokens
        of_tokens = -(-tokens * self.units // max(1, self.max_tokens))
        return max(of_tokens, -(-len(text) * self.units // max(1, self.max_chars)))
