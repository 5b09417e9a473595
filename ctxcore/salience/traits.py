"""Reads what scoring needs of a text, apart from where the text stands.

A history stores the traits of short messages beside them, so that a compaction of very many
messages reads the texts of those alone that it chooses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from string import digits
from typing import Final, NamedTuple

from ctxcore.text.identifiers import exact_strings
from ctxcore.text.languages import count_han, count_latin
from ctxcore.text.words import all_terms_of, terms_of, word_set, words_of

SHORT_CHARS = 600  # of a text whose traits are cached; chosen: most are shorter
# "march" and "may" are left out of the months: in lower case they are seldom one.
_TIMES = word_set("""
    january april february june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    yesterday today tonight tomorrow weekend ago last next week month year since recently
    soon summer winter spring morning night birthday anniversary
""")
TIME_WORDS = _TIMES | {f"{word}s" for word in _TIMES}
NUMBER_WORDS = word_set("two three four five six seven eight nine ten twice couple dozen")
ADDRESS_WORDS = word_set("you your yours")
OWN_WORDS = word_set("i we my our me us")
KIN_WORDS = word_set("""
    mom mum mother dad father parent parents sister sisters brother brothers wife husband partner
    son sons daughter daughters kid kids child children baby family grandma grandpa grandmother
    grandfather grandparents aunt uncle cousin niece nephew girlfriend boyfriend friend friends
    neighbor neighbour colleague dog cat pet
""")
PAST_WORDS = word_set("""
    was were had did went got came made took gave left met saw found won lost told wrote read ate
    ran built bought began became felt been taken seen done given
""")
DECISION_WORDS = word_set("decided decision agreed chose chosen approved confirmed")

MIN_PAST_CHARS: Final = 4  # "need" is no past

_OPENS = r"(?:(?<![^\n])|(?<=[.,;:!?(] )|(?<=please ))"
_RULE = re.compile(
    rf"{_OPENS}(?:never|always)\b(?! (?:mind|been|had|saw|gets?|good|here|up|\w+ed)\b)"
    r"|\bfrom now on\b|\bgoing forward\b|\bmust (?:not|never|always)\b"
    rf"|{_OPENS}(?:make sure|ensure) (?:that )?(?:every|each|all|any|no)\b"
    rf"|{_OPENS}(?:do not|don['’]t) [^.!?\n]{{0,200}}\b(?:without|unless|until|ever)\b"
)
"""Only what opens a clause: "I have always lived here" is no rule, "always run the tests" is."""
# Each form of a rule has one of these words or phrases; to look for them takes a tenth of the time.
_RULE_WORDS = word_set("never always ensure")
_RULE_PHRASES = ("from now on", "going forward", "must not", "make sure ")
_CONDITIONS, _BANS = word_set("without unless until ever"), ("do not ", "don't ", "don’t ")
_RULE_SIGNS = _RULE_WORDS | _CONDITIONS | word_set("now forward must sure")  # or of a phrase
_HAN_RULE = re.compile(
    "(?<!要)不要(?![了钱门])|(?<![了怪巴舍])不得|禁止|必须|务必|只能|从现在|今后|以后都|始终|永远|千万别|不再"
)
_HAN_DECISION = re.compile("决定|确定了|同意|采用|定为|就用|结论|敲定")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"[A-Z](?<=[a-z,;0-9'] [A-Z])(?:(?<!I)[\w-]|(?<=I)\w)[\w-]*")
"""What stands before it is looked at last: to look for a capital takes half the time."""
_HAN_TIME = re.compile(
    "[昨明今前后]天|今晚|上周|下周|本周|[上下]个月|[去今明前]年|周[一二三四五六日末]|星期|礼拜|早上|晚上|[上下]午|凌晨"
)
_HAN_NUMBER = re.compile(
    "[一二三四五六七八九十两百千万]+(?=[个年月日号点元人次岁天位名部首张本家只块])"
)
_HAN_ADDRESS = re.compile("[你您]")
_SENTENCE = re.compile(r"[^.!?。！？；\n]+[.!?。！？；]*|[.!?]+")
_END_CHARS = 8  # of a text; chosen: a question mark stands within them
_MAY_ASK = re.compile("[?？吗呢么]")
_QUESTION = re.compile(r"[?？][\"'”’)）\]]*\s*$|[吗呢么][。！!~]*\s*$")


class Traits(NamedTuple):
    """The terms of a text, and those signs that do not depend on where it stands."""

    told: Sequence[str]
    """The terms outside questions, each once."""
    asked: Sequence[str]
    """The terms that only its questions have."""
    times: int
    names: int
    numbers: int
    addresses: int
    decides: int
    rules: int
    personal: int
    """How many signs it has that somebody tells of their life: "I", what happened, people and pets,
    and what was said in quotation marks."""
    han: int
    """Its Chinese characters."""
    latin: int
    """Its Latin words."""
    asks: int
    """Whether it ends with a question."""


def read_traits(text: str, *, is_by_model: bool) -> Traits:
    """The traits of `text`, which a model or somebody else said."""
    read = _cached_traits if len(text) <= SHORT_CHARS else _traits
    return read(text, is_by_model)


def _traits(text: str, is_by_model: bool) -> Traits:
    return _read(text, is_by_model)[0]


def _read(text: str, is_by_model: bool) -> tuple[Traits, Sequence[str]]:
    """The traits of `text`, and all its terms in order, repeated as in `text`."""
    told, asked = _split_questions(text)
    words, words_asked = words_of(told), words_of(asked) if asked else []
    every = all_terms_of(words)
    terms, unique = tuple(dict.fromkeys(every)), frozenset(words)
    known, is_foreign = frozenset(terms if words_asked else ()), not text.isascii()
    has_digits = is_foreign or any(map(told.__contains__, digits))
    traits = Traits(
        told=terms,
        asked=tuple([term for term in terms_of(words_asked) if term not in known]),
        times=len(TIME_WORDS & unique) + (is_foreign and len(_HAN_TIME.findall(told))),
        names=0 if told[1:].islower() else len(_NAME.findall(told)),
        numbers=(has_digits and len(_NUMBER.findall(told)))
        + len(NUMBER_WORDS & unique)
        + (is_foreign and len(_HAN_NUMBER.findall(told))),
        addresses=sum(map(words.count, ADDRESS_WORDS & unique))
        + sum(map(words_asked.count, ADDRESS_WORDS))
        + (is_foreign and len(_HAN_ADDRESS.findall(text))),
        decides=not DECISION_WORDS.isdisjoint(unique)
        or (is_foreign and _HAN_DECISION.search(told) is not None),
        rules=not is_by_model and _lays_down(told, unique),
        personal=_count_personal(told, unique),
        han=count_han(text),
        latin=count_latin(text) if has_digits or words_asked or "_" in text else len(words),
        asks=is_question(text),
    )
    return traits, all_terms_of(words_of(text)) if words_asked else every


# What is kept and what is quoted is scored from the same messages, and again with every turn.
_cached_traits = lru_cache(maxsize=16_384)(_traits)


def _count_personal(told: str, words: frozenset[str]) -> int:
    is_own = not OWN_WORDS.isdisjoint(words)
    happened = is_own and (
        not PAST_WORDS.isdisjoint(words)
        or any(word.endswith("ed") for word in words if len(word) > MIN_PAST_CHARS)
    )
    return is_own + happened + (not KIN_WORDS.isdisjoint(words)) + ('"' in told or "“" in told)


def _lays_down(told: str, words: frozenset[str]) -> bool:
    if not _RULE_SIGNS.isdisjoint(words):
        lower = told.lower()
        may_rule = (
            not _RULE_WORDS.isdisjoint(words)
            or any(phrase in lower for phrase in _RULE_PHRASES)
            or (not _CONDITIONS.isdisjoint(words) and any(ban in lower for ban in _BANS))
        )
        if may_rule and _RULE.search(lower):
            return True
    return not told.isascii() and _HAN_RULE.search(told) is not None


def _split_questions(text: str) -> tuple[str, str]:
    """What `text` tells and what it asks."""
    if "?" not in text and (text.isascii() or not _MAY_ASK.search(text)):
        return text, ""
    told: list[str] = []
    asked: list[str] = []
    for sentence in _SENTENCE.findall(text):
        if not is_question(sentence):
            told.append(sentence)
            continue
        # Of a Chinese question, what stands before the last comma may tell something.
        for clause in sentence.rsplit("，", 1):
            (asked if is_question(clause) else told).append(clause)
    return " ".join(told), " ".join(asked)


def is_question(text: str) -> bool:
    """Whether `text` ends with a question."""
    end = text[-_END_CHARS:]
    may_ask = "?" in end or not end.isascii()
    return may_ask and _QUESTION.search(text, max(0, len(text) - _END_CHARS)) is not None


_FIELD: Final = "|"  # between the fields of a note; no term and no literal has it
_TOLD: Final = "?"  # before the terms outside questions, where those are not all in order
_SIGNS: Final = len(Traits._fields) - 2  # of the head; the length and more follow
_KEY_BYTES: Final = 8  # chosen: of ten million texts, two share a key once in 300,000 histories


def key_of(text: str) -> str:
    """A short name of `text` that no other text has."""
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_KEY_BYTES).hexdigest()


def dump_note(
    text: str,
    *,
    is_by_model: bool,
    source: str = "",
    lays_down: bool = False,
    size: int = 0,
    sentences: int = 0,
) -> str:
    """The note of `text`, a line that stands for it in scoring; `source` tells who noted it."""
    traits, every = _read(text, is_by_model)
    terms = dict.fromkeys(every)
    again = [] if len(terms) == len(every) else _repeated(every)
    head = (*map(int, traits[2:]), len(text), int(lays_down), size, sentences)
    told = () if tuple(terms) == traits.told else (_TOLD, *traits.told)
    literals = exact_strings(text)
    fields = ((source,), map(str, head), (key_of(text),), terms, again, told, literals)
    return _FIELD.join(map(" ".join, fields))


def _repeated(terms: Sequence[str]) -> list[str]:
    """Each of the terms as often as it is repeated."""
    return [term for term, count in Counter(terms).items() for _ in range(count - 1)]


def noted_traits(note: str) -> Traits:
    """The traits of a noted text."""
    told, asked, signs = noted_signs(note)
    return Traits(told, asked, *signs)


def noted_signs(note: str) -> tuple[Sequence[str], Sequence[str], tuple[int, ...]]:
    """The same as three plain values: the terms told, those only asked, and the signs."""
    _, head, _, every, _, told, _ = note.split(_FIELD, 6)
    signs = tuple(map(int, head.split(None, _SIGNS)[:_SIGNS]))
    if not told:
        return every.split(), (), signs
    said = told.split()[1:]
    known = frozenset(said)
    return said, [term for term in every.split() if term not in known], signs


def noted_terms(note: str) -> tuple[list[str], list[str]]:
    """The terms of a noted text, each once and in order, and those that it repeats."""
    _, _, _, every, again, _ = note.split(_FIELD, 5)
    return every.split(), again.split()


def noted_literals(note: str) -> tuple[str, ...]:
    """The exact strings in a noted text, each once, in order."""
    return tuple(note.partition("\n")[0].rpartition(_FIELD)[2].split())


class NotedText(NamedTuple):
    """What a note says of a text besides its terms."""

    han: int
    latin: int
    asks: int
    chars: int
    lays_down: int
    """Whether a standing instruction is in it."""
    size: int
    """In tokens by the counter of the note, or of a piece in bytes; 0 where its message tells."""
    sentences: int
    """How many it has; 0 where it is all of its message."""


def noted_text(note: str) -> NotedText:
    """What a note says besides terms."""
    return NotedText(*map(int, _head_of(note).split()[_SIGNS - 3 :]))


def noted_chars(note: str) -> int:
    """The length of a noted text."""
    return int(_head_of(note).split()[_SIGNS])


def _head_of(note: str) -> str:
    start = note.index(_FIELD) + 1
    return note[start : note.index(_FIELD, start)]


def noted_key(note: str) -> str:
    """The key of a noted text."""
    start = note.index(_FIELD, note.index(_FIELD) + 1) + 1
    return note[start : note.index(_FIELD, start)]
