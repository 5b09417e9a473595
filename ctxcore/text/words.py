"""Splits texts into words, drops those that say little, and weighs the others by rarity.

The lists of words were written for this library. Their forms are those that `words_of` and
`terms_of` make: lower case, no plural `s`, nothing after an apostrophe.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from string import ascii_letters, digits

from ctxcore.text.known_words import KnownWords
from ctxcore.text.languages import HAN, HAN_RUN
from ctxcore.text.patterns import blanks_except


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written with blanks between them."""
    return frozenset(words.split())


STOP_WORDS = word_set("""
    a about above after again against ago ah aha ain all almost alright also although am among an
    and another any anybody anyone anything anyway are aren around as ask at aw away awesome aye
    be because been before behind being below beside besides between both but by bye can cannot
    cause come coming could couldn cool d did didn do doe does doesn doing don done down each eh
    either else em er etc even ever every everybody everyone everything exactly f fair fine for
    from further gave get getting give glad go goe goes going gone gonna good got gotta great ha
    had hadn haha has hasn have haven having he hello her here hers herself hey hi him himself his
    hm hmm how however huh i if in indeed instead into is isn it its itself just kind kinda know
    last least less let like likely little ll look lot m made make many may maybe me mean might
    mine mm more most much must my myself need neither never next nice no none nor not nothing now
    of off oh ok okay on once one only onto or other others ought our ours ourselves out over own
    perhaps please pretty probably quite rather re really right s said same saw say see seem seen
    shall she should shouldn since so some somebody someone something sometime sort still stuff
    such sure t take tell than thank thanks that the their theirs them themselves then there these
    they thing think this those though through thus till to together too totally tried try u uh um
    under until up upon us use ve very vocalsound disfmarker was wasn way we well went were weren
    what whatever when where whether which while who whole whom whose why will with within without
    won would wouldn wow ya yay yeah yep yes yet you your yours yourself yup absolutely definitely
    actually basically obviously literally honestly hopefully
""")

COMMON_WORDS = word_set("""
    able add agree already always amazing answer bad beautiful become began begin believe best
    better big bit book bring brought call called care case chance change check course day deal
    different easy end enjoy enough example excited exciting experience fact far feel feeling felt
    few find first friend full fun give given guess guy happen happy hard hear heard help high hope
    idea important inspiring interesting issue job keep kid last later learn leave left life line
    live long looking lose love luck main matter mind minute moment money morning move new night
    number often old open part past people person place plan play point possible problem proud put
    question read ready real reason remember run second sense set share short show side simple
    small someday soon sorry sound special start started step stop story suggest support
    sweet talk talking team term test time today told tomorrow took tonight true turn two type
    understand used useful using usually want wait wanted watch week weekend welcome wish
    wonder wonderful word work working world worry wrong year yesterday
""")


WEAK_HAN = frozenset(
    "的了是在我你他她它们这那有和与及也都就还很吗呢吧啊呀嗯哦哈噢唉嘛着过得地个么什怎为因所以"
    "但而且或如果被把让给对从到向于之其此些样种每没不会能可要想说看去来上下里中后前多少再又"
    "只最更太真挺蛮好知道觉请谢您咱啦哇喔哪谁几呵嘿喂"
)
WEAK_PAIRS = frozenset(["请问", "一下", "时候", "如何", "是否", "一个"])
"""Pairs that say little although a character of them does not."""

_RUN = re.compile(f"[{HAN}]+|[^\\W{HAN}]+")
_TO_WORDS = blanks_except(ascii_letters + digits + "_", is_lower=True)

PRIOR_UNITS = 200
"""Added to the number of units, so that rarity means much the same in a short conversation as in a
long one; chosen: the larger, the less the length of a conversation matters."""
COMMON_WEIGHT = 0.5  # of a common word; chosen: half of a word that names something
HAN_WEIGHT = 0.45  # of a pair of characters; chosen: a Chinese word makes about two pairs


def all_terms_of(words: Iterable[str]) -> list[str]:
    """The informative terms in `words`, in order, repeated as in `words`."""
    return [*chain.from_iterable(map(_TERMS.__getitem__, words))]


def terms_of(words: Iterable[str]) -> tuple[str, ...]:
    """The informative terms in `words`, each once, in order: sums are the same in every process."""
    return tuple(dict.fromkeys(all_terms_of(words)))


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case, and its runs of Chinese characters."""
    return text.translate(_TO_WORDS).split() if text.isascii() else _RUN.findall(text.lower())


def _terms_in(word: str) -> tuple[str, ...]:
    if HAN_RUN.match(word):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        return tuple(pair for pair in pairs if not is_weak(pair))
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    weak = word in STOP_WORDS or (len(word) == 1 and word.isascii() and word.isalpha())
    return () if weak else (word,)


_TERMS = KnownWords(_terms_in)


def is_weak(word: str) -> bool:
    """Whether a word, or a pair of Chinese characters, says little in any conversation."""
    if word in STOP_WORDS or word in WEAK_PAIRS:
        return True
    return bool(HAN_RUN.fullmatch(word)) and all(letter in WEAK_HAN for letter in word)


def weigh(terms: Sequence[Collection[str]]) -> dict[str, float]:
    """The inverse document frequency of each term over the units, less for common words."""
    counts = Counter(term for unit_terms in terms for term in unit_terms)
    return weights_of(counts, len(terms))


def weights_of(counts: Mapping[str, int], units: int) -> dict[str, float]:
    """The weight of each term that so many of the `units` have."""
    total = units + PRIOR_UNITS
    return {term: _factor(term) * math.log(total / count) for term, count in counts.items()}


def content_of(terms: Iterable[str]) -> float:
    """How much different terms say in any conversation: 1 for each word that names something."""
    return sum(map(_factor, terms))


def _factor(term: str) -> float:
    if term in COMMON_WORDS:
        return COMMON_WEIGHT
    return HAN_WEIGHT if HAN_RUN.match(term) else 1.0
