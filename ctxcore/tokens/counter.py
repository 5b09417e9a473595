"""Owns what a token counter is: text in, a number out, and whether that number is exact."""

from __future__ import annotations

from typing import Protocol


class TokenCounter(Protocol):
    """Counts the tokens of a text in one vocabulary; never raises, whatever the text."""

    @property
    def id(self) -> str:
        """The name that counts are stored under, e.g. `o200k_base` or `estimate:claude4.8`."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether counts are the vocabulary's own, not an estimate."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text` as ordinary text; 0 for the empty text."""
        ...
