"""Estimates tokens from the bytes of a text, without a vocabulary; the mean error is about 7 %.

Each byte belongs to one of fourteen classes; a family of models has a weight for each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from ctxcore.messages.canonical import printable

Family = Literal["o200k", "cl100k", "qwen3", "deepseek", "gemma3", "llama3", "claude4.8"]

FAMILIES: tuple[Family, ...] = get_args(Family)

_WIDE_CLASSES = b"LRIKHGFX"  # by lead byte: see _byte_class

# Tokens per byte of a class: lower, upper, digit, space, line or tab, other, then _WIDE_CLASSES.
# Least squares over chats, documents, code, JSON and logs in ten languages against each vocabulary
# (claude4.8: a public reconstruction of it), fitted on one half, scored on the other: 6.8 to 7.7 %
# mean error, summed over 60 messages 1.5 %.
_WEIGHTS: dict[Family, tuple[float, ...]] = {
    "o200k": (
        *(0.215, 0.265, 0.863, 0.063, 0.726, 0.497),
        *(0.425, 0.338, 0.548, 0.802, 0.816, 0.856, 0.515, 1.867),
    ),
    "cl100k": (
        *(0.232, 0.243, 0.876, 0.062, 0.656, 0.447),
        *(1.134, 0.626, 1.006, 1.171, 1.223, 1.447, 0.694, 1.686),
    ),
    "qwen3": (
        *(0.227, 0.283, 1.418, 0.063, 0.637, 0.439),
        *(0.967, 0.438, 0.596, 0.789, 0.646, 0.969, 0.565, 2.174),
    ),
    "deepseek": (
        *(0.230, 0.320, 0.865, 0.052, 0.682, 0.539),
        *(0.603, 0.405, 0.537, 0.849, 0.588, 0.983, 0.656, 2.479),
    ),
    "gemma3": (
        *(0.209, 0.267, 1.377, 0.076, 1.212, 0.627),
        *(0.440, 0.335, 0.481, 0.541, 0.687, 0.776, 0.686, 1.508),
    ),
    "llama3": (
        *(0.233, 0.265, 0.880, 0.064, 0.657, 0.440),
        *(0.460, 0.400, 0.559, 0.765, 0.862, 0.859, 0.463, 2.157),
    ),
    "claude4.8": (
        *(0.350, 0.759, 0.749, 0.072, 1.003, 0.775),
        *(0.834, 0.532, 1.027, 1.000, 1.150, 1.338, 0.808, 2.185),
    ),
}


@dataclass(frozen=True, slots=True)
class EstimatedCounter:
    """Estimates the count in the vocabulary of `family`, at least 1 for any non-empty text."""

    family: Family
    is_exact: ClassVar[bool] = False

    @property
    def id(self) -> str:
        """E.g. `estimate:gemma3`."""
        return f"estimate:{self.family}"

    def count(self, text: str) -> int:
        """The estimated tokens of `text`; a text never takes fewer than a prefix of it."""
        if not text:
            return 0
        count, weights = printable(text).encode("utf-8").translate(_TABLE).count, _WEIGHTS
        lower, upper, digit, space, line, other, *wide = weights[self.family]
        tokens = (  # written out, since no other line runs as often
            lower * count(b"l")
            + upper * count(b"u")
            + digit * count(b"d")
            + space * count(b"s")
            + line * count(b"n")
            + other * count(b"p")
        )
        if not text.isascii():
            for kind, weight in zip(_WIDE_CLASSES, wide, strict=True):
                tokens += weight * count(kind)
        return max(1, round(tokens))


def _byte_class(byte: int) -> int:
    """The class of an ASCII byte or of a character's lead byte; 0 for continuation bytes."""
    character = chr(byte)
    if byte >= 0xC0:
        leads = ((0xCF, "L"), (0xDF, "R"), (0xE2, "I"), (0xE3, "K"), (0xE9, "H"), (0xED, "G"))
        return ord(next((kind for last, kind in (*leads, (0xEF, "F")) if byte <= last), "X"))
    if byte >= 0x80:
        return 0
    if character.islower():
        return ord("l")
    if character.isupper():
        return ord("u")
    if character.isdigit():
        return ord("d")
    return ord({" ": "s", "\t": "n", "\n": "n", "\r": "n"}.get(character, "p"))


_TABLE = bytes(map(_byte_class, range(256)))
