"""Reports progress on stderr, and draws fixed samples."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def tell(words: str) -> None:
    """One line that the next one overwrites where a person watches."""
    end = "\r" if sys.stderr.isatty() else "\n"
    print(f"{words:<78}", file=sys.stderr, end=end, flush=True)


def sampled(found: Sequence[T], limit: int) -> list[T]:
    """At most `limit` of `found`, evenly spaced, the first among them: always the same ones."""
    size = min(limit, len(found))
    return [found[at * len(found) // size] for at in range(size)]
