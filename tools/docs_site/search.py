"""Search in English and Chinese at once: English words by their stems, Chinese by pairs of signs.

Sphinx searches in one language a build, and leaves Chinese queries whole. Pairs need no dictionary
and are found inside longer words.
"""

from __future__ import annotations

import re
from typing import Final

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN: Final = re.compile(f"[{_HAN}]+")
_WORD: Final = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")

_SPLITTER: Final = """
function splitQuery(query) {
  const index = typeof Search === "undefined" ? null : Search._index;
  const isKnown = (pair) => !index || pair in index.terms || pair in index.titleterms;
  const found = [];
  for (const part of query.match(/[HAN]+|(?:(?![HAN])[\\p{L}\\p{N}_])+/gu) || []) {
    const pairs = [];
    if (/^[HAN]/.test(part))
      for (let at = 0; at + 1 < part.length; at++) pairs.push(part.slice(at, at + 2));
    // Two words side by side make a pair that no page may have; the others must be there.
    const known = pairs.filter(isKnown);
    found.push(...(known.length ? known : [part]));
  }
  return found;
}
""".replace("HAN", _HAN)


class SearchBoth(SearchEnglish):
    """English with its stems, and each pair of neighbouring Chinese signs as a word."""

    lang = "en-zh"
    js_splitter_code = _SPLITTER

    def split(self, input: str) -> list[str]:
        """The words of a page: those of a run of Chinese are its signs and its pairs."""
        return [word for part in _WORD.findall(input) for word in _words(part)]

    def word_filter(self, stemmed_word: str) -> bool:
        """Whether a word is indexed: Chinese always, English without its stop words."""
        return bool(_RUN.match(stemmed_word)) or super().word_filter(stemmed_word)


def _words(part: str) -> list[str]:
    if not _RUN.match(part):
        return [part]
    return [*part, *(part[at : at + 2] for at in range(len(part) - 1))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Makes the search known as the language `en-zh`."""
    app.add_search_language(SearchBoth)
    return {"parallel_read_safe": True}
