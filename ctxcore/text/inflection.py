"""Cuts English words to a stem, and names the forms under which a word may be written.

The tables were written for this library. A form that no text has costs a look-up; a form of another
word finds what was not sought, so a rule that cannot decide prefers the former.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Final

from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

MOST_FORMS: Final = 10
_LEAST_CHARS: Final = 3  # of a word with other forms

_ENDINGS = ("ations", "ation", "ments", "ment", "ing", "ies", "ed", "es", "s", "e")

# Each row: a verb and its irregular forms. `stem` knows these alone: rules of conversations are
# compared by stems, and were tested with them.
_STEMMED_VERBS = """
    lend lent; send sent; keep kept; pay paid; buy bought; write wrote written; speak spoke spoken
    take took taken; give gave given; make made; tell told; hold held; spend spent; build built
    drive drove driven; fly flew flown; eat ate eaten; drink drank drunk; run ran; meet met
    bring brought; teach taught; choose chosen chose; sell sold; lose lost; wear worn; show shown
    draw drawn drew; begin began begun
"""
_OTHER_VERBS = """
    be am is are was were been; have has had; do does did done; go goes went gone; say said
    get got gotten; know knew known; think thought; see saw seen; come came; find found; feel felt
    leave left; become became; understand understood; hear heard; stand stood; mean meant; set
    put; let; read; cut; hit; cost; shut; hurt; quit; split; spread; bet; burst; cast; upset
    grow grew grown; throw threw thrown; blow blew blown; break broke broken; wake woke woken
    steal stole stolen; freeze froze frozen; forget forgot forgotten; hide hid hidden
    bite bit bitten; ride rode ridden; rise rose risen; arise arose arisen
    fall fell fallen; shake shook shaken
    swim swam swum; sing sang sung; ring rang rung; sink sank sunk; shrink shrank shrunk
    spring sprang sprung; win won; hang hung; stick stuck; dig dug; strike struck; spin spun
    sleep slept; sweep swept; creep crept; weep wept; deal dealt; dream dreamt; lean leant
    learn learnt; burn burnt; spell spelt; smell smelt; spill spilt; bend bent; feed fed; lead led
    bleed bled; breed bred; speed sped; flee fled; light lit; slide slid; shoot shot; sit sat
    catch caught; seek sought; fight fought; wear wore; tear tore torn; swear swore sworn
    bear bore borne born; forgive forgave forgiven; undo undid undone; redo redid redone
    rewrite rewrote rewritten; overcome overcame; withdraw withdrew withdrawn; lay laid
    lie lay lain; rebuild rebuilt; resend resent
    repay repaid; retake retook retaken; mistake mistook mistaken
    misunderstand misunderstood
    sew sewn; sow sown; prove proven; shine shone; bind bound
    wind wound; grind ground; swing swung; cling clung; fling flung; sting stung; kneel knelt
    leap leapt; forbid forbade forbidden; awake awoke awoken; weave wove woven; dive dove
"""
_NOUNS = """
    child children; man men; woman women; person people; foot feet; tooth teeth; goose geese
    mouse mice; life lives; wife wives; knife knives; leaf leaves; shelf shelves; half halves
    wolf wolves; loaf loaves; thief thieves; calf calves; scarf scarves; self selves; ox oxen
    analysis analyses; crisis crises; basis bases; thesis theses; hypothesis hypotheses
    diagnosis diagnoses; index indices indexes; vertex vertices; matrix matrices
    criterion criteria; phenomenon phenomena; medium media; datum data; curriculum curricula
    appendix appendices; grandchild grandchildren; policeman policemen
    fisherman fishermen; businessman businessmen; axis axes
    parenthesis parentheses; lens lenses; gas gases
"""
# Words that look like forms of others.
_WHOLE = word_set("""
    morning evening during ceiling thing something nothing anything everything wedding pudding
    sibling darling herring duckling string need seed weed reed deed indeed exceed succeed proceed
    hundred sacred kindred naked wicked bed red shed sled embed news always perhaps sometimes
    besides series species physics mathematics politics economics gymnastics athletics statistics
    yes was has his its this thus ours hers yours theirs afterwards towards upwards
    james charles paris christmas canvas atlas bias alias chaos
""")
_DOUBLES_ITS_END = late(r"[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]")  # a word of one syllable, as plan
_MAY_DOUBLE = late(r".*[^aeiou][aeiou][^aeiouwxy]")  # a longer one: prefer, but not visit
_HAS_VOWEL = late(r"[aeiouy]")
_HISSES = ("s", "x", "z", "ch", "sh", "o")


def _rows(table: str) -> list[list[str]]:
    return [row.split() for row in re.split(r"[;\n]", table) if row.strip()]


_IRREGULAR = {form: verb for verb, *forms in _rows(_STEMMED_VERBS) for form in forms}


def _families() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each verb or noun becomes, and what each irregular form comes from."""
    becomes: dict[str, list[str]] = {}
    comes_from: dict[str, list[str]] = {}
    for base, *forms in chain(*map(_rows, (_STEMMED_VERBS, _OTHER_VERBS, _NOUNS))):
        becomes.setdefault(base, []).extend(forms)
        for form in forms:
            comes_from.setdefault(form, []).append(base)
    return becomes, comes_from


_BECOMES, _COMES_FROM = _families()
_BASES = _WHOLE.union(_BECOMES)  # words that are no form of a regular one
_PLURALS = frozenset(noun for noun, *_ in _rows(_NOUNS))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A lower-case English word without its ending: files and filing are `fil`."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            cut = word[: -len(ending)]
            if ending == "ies":
                return cut + "y"
            doubled = len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] in "bdgmnprt"
            return cut[:-1] if doubled else cut
    return word


@lru_cache(maxsize=8192)
def forms_of(word: str) -> tuple[str, ...]:
    """The forms of a lower-case English word, itself first, at most `MOST_FORMS`.

    `studies` has study, studied and studying. Other words than of three or more plain letters have
    no other form. Some of what is named is no word, since no dictionary is read.
    """
    if len(word) < _LEAST_CHARS or not (word.isascii() and word.isalpha()):
        return (word,)
    families = chain.from_iterable(map(_family, _bases_of(word)))
    return tuple(dict.fromkeys([word, *families]))[:MOST_FORMS]


def _bases_of(word: str) -> list[str]:
    """What `word` may be a form of; itself where it has no ending."""
    known = _COMES_FROM.get(word, [])
    if word in _BASES:
        return [word, *known]
    return [*known, *(_cut(word) or ([] if known else [word]))]


def _cut(word: str) -> list[str]:
    """What `word` may be a regular form of; nothing where it has no ending."""
    if word.endswith(("ies", "ied")):
        return [word[:-3] + "y", word[:-1]] if len(word) > 4 else [word[:-1]]  # studies, movies
    if word.endswith("ying") and len(word) == 5:
        return [word[:-4] + "ie", word[:-3]]  # lying, drying
    if word.endswith("eed"):
        return [word[:-1]]  # agreed
    for ending in ("ing", "ed"):
        if word.endswith(ending) and _HAS_VOWEL.search(word[: -len(ending)]):
            return _uncut(word[: -len(ending)])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return _singular(word)
    return []


def _uncut(cut: str) -> list[str]:
    """What `cut`, a word without `ing` or `ed`, may have been."""
    if len(cut) > 2 and cut[-1] == cut[-2] and cut[-1] not in "aeiou":
        may_be_single, may_be_double = cut[-1] not in "sfz" and len(cut) > 3, cut[-1] in "lsfz"
        return [cut[:-1]] * may_be_single + [cut] * (may_be_double or not may_be_single)
    if cut in _BECOMES or cut + "e" in _BECOMES:
        return [base for base in (cut, cut + "e") if base in _BECOMES]
    if _DOUBLES_ITS_END.fullmatch(cut) or cut.endswith(("v", "u")):
        return [cut + "e"]  # baking: of bak it would be bakking
    return [cut, cut + "e"] if cut[-1] not in "aeiouwxy" else [cut]


def _singular(word: str) -> list[str]:
    if word.endswith("es") and word[:-2].endswith(_HISSES) and len(word) > 4:
        return [word[:-2], word[:-1]]  # boxes, houses
    return [word[:-1]]


def _family(base: str) -> list[str]:
    """`base` with its forms, the irregular ones first."""
    irregular = _BECOMES.get(base, [])
    if base in _PLURALS:
        return [base, *irregular]
    if base in _WHOLE and base.endswith(("ing", "s")):
        return [base] if base[-1] == "s" else [base, base + "s"]
    return [base, *irregular, *(form for form in _regular(base) if form not in _BASES)]


def _regular(base: str) -> list[str]:
    """The regular forms of a noun or verb."""
    if base[-1] == "y" and base[-2] not in "aeiou":
        return [base[:-1] + "ies", base[:-1] + "ied", base + "ing"]
    if base.endswith("ie"):
        return [base + "s", base + "d", base[:-2] + "ying"]
    if base[-1] == "e":
        return [base + "s", base + "d", (base if base[-2] in "eoy" else base[:-1]) + "ing"]
    plural = base + ("es" if base.endswith(_HISSES) else "s")
    doubled, plain = base + base[-1], [base + "ed", base + "ing"]
    if _DOUBLES_ITS_END.fullmatch(base):
        return [plural, doubled + "ed", doubled + "ing"]
    if _MAY_DOUBLE.fullmatch(base):
        return [plural, *plain, doubled + "ed", doubled + "ing"]
    return [plural, *plain]
