"""Finds statements that bind a thing to a value, and tells which later ones replace which.

“Use V as the staging API base URL” and “the staging API base URL is W” name one thing, by the same
words around values of one kind. What asks, supposes, compares, plans or tells of the past binds
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ctxcore.facts.binding_words import (
    ANY,
    ASIDE,
    CLAUSES,
    COLON,
    CONTRAST,
    CONTRAST_HAN,
    EMPTY,
    EMPTY_HAN,
    FORM,
    FORM_HAN,
    HANDLES,
    HEAD_HAN,
    HEAD_OF,
    LABEL,
    LINK_HAN,
    MADE_ALIKE,
    NAMED_BEFORE,
    NAMED_BY,
    NAMES,
    NAMING,
    NOT,
    NOT_HAN,
    OLD,
    ON_CALL,
    ONLY,
    SCOPE,
    SIGN,
    SIGN_HAN,
    SPEAKER,
    STRONG,
    TOLD_BESIDE,
    TURN,
    UNNAMED,
    VALUE,
    WORD,
    WORD_BEGIN,
    WORD_END,
)
from ctxcore.facts.reading import Sentence
from ctxcore.facts.slots import settings_in
from ctxcore.facts.speakers import STAMP, spoken
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.inflection import stem
from ctxcore.text.languages import has_han
from ctxcore.text.latin import plain_words

# Chosen: a longer message is a text of others, a longer sentence a story.
MOST_CHARS: Final = 2_000
SENTENCE_CHARS: Final = 240
MOST_SLOT: Final = 6  # words of a name besides those for its kind; chosen: more are a story
HANDLER: Final = "handler"  # of an owner told by what they do
BOUNDS: Final = frozenset({HANDLER, "limit", "least"})  # heads that say how, not what
WORD_CHARS: Final = 12  # of a Chinese value without signs; chosen


class Binding(NamedTuple):
    """A thing, and the value that a statement gives it."""

    kind: str
    """The kind of the value: an address, an amount of money, a day."""
    slot: frozenset[str]
    """The words that name the thing, besides those of `heads`."""
    heads: frozenset[str]
    """What kinds of things its words say it is, such as a limit."""
    value: str
    changes: bool
    """Whether the statement says that something changes."""
    text: str = ""
    """The clause, verbatim."""

    @property
    def subject(self) -> str:
        """The binding as one text, as facts store it."""
        parts = (" ".join(sorted(self.slot)), " ".join(sorted(self.heads)), self.value)
        return "|".join((self.kind, *parts, "!" if self.changes else ""))


@lru_cache(maxsize=4_096)
def parse_subject(subject: str) -> Binding | None:
    """The binding that is stored as the subject of a fact; None for another subject."""
    kind, *parts = subject.split("|")
    if len(parts) < 4:
        return None
    slot, heads, *value, sign = parts
    return Binding(
        kind, frozenset(slot.split()), frozenset(heads.split()), "|".join(value), bool(sign)
    )


def replaced(fact: Fact, earlier: Sequence[Fact]) -> list[str]:
    """The keys of `earlier` facts of people that bind what `fact` binds to another value.

    Statements name the same thing by the same words. One that says that something changes, or whose
    value looks like the older one, may name it by fewer or more, where that leaves only one.
    """
    new = parse_subject(fact.subject)
    if new is None:
        return []
    bound = [(old.key, one) for old in earlier if (one := parse_subject(old.subject))]
    others = [(key, one) for key, one in bound if one.kind == new.kind and one.value != new.value]
    same = [key for key, one in others if _is_same(new, one)]
    if same:
        return same
    near = [key for key, one in others if _is_near(new, one)]
    return near if len(near) == 1 else []


def are_apart(one: Fact, other: Fact) -> bool:
    """Whether two facts bind things that are told apart: a main and a spare one, tax and rent."""
    mine, theirs = parse_subject(one.subject), parse_subject(other.subject)
    if mine is None or theirs is None or mine.kind != theirs.kind:
        return False
    is_other = mine.slot and theirs.slot and mine.slot.isdisjoint(theirs.slot)
    return bool(is_other) or _is_contrasted(mine.slot ^ theirs.slot)


def _is_contrasted(more: frozenset[str]) -> bool:
    return any(word in CONTRAST or word.isdigit() or word[0] == "+" for word in more)


def _is_same(new: Binding, old: Binding) -> bool:
    heads = new.heads & old.heads
    if HANDLER in new.heads and not new.changes:  # others may do so too
        return False
    if heads and new.slot | new.heads == old.slot | old.heads:
        return True
    if new.slot != old.slot or not _may_be_one(new, old):
        return False
    is_named = bool(heads) or new.kind in STRONG or new.changes
    return is_named and bool(new.slot or heads)


def _is_near(new: Binding, old: Binding) -> bool:
    is_alike = _look_alike(new.value, old.value)
    if not (is_alike or (new.changes and _may_be_one(new, old))):
        return False
    if (_more(new, old) and _more(old, new)) or _is_contrasted(new.slot ^ old.slot):
        return False
    shared = (new.slot | new.heads) & (old.slot | old.heads)
    return bool(new.heads & old.heads) or len(shared if is_alike else new.slot & old.slot) > 1


def _look_alike(value: str, other: str) -> bool:
    """Whether two values are made alike: names of one folder, hashes, parts of a whole."""
    form = _form_of(value)
    return bool(form) and form == _form_of(other)


def _form_of(value: str) -> str:
    """The folder of a value, or what kind of sign it is; empty where it has no form of its own."""
    found = MADE_ALIKE.fullmatch(value)
    return "" if found is None else found["folder"] or str(found.lastgroup)


def _more(one: Binding, other: Binding) -> frozenset[str]:
    """The words that name the thing of `one` and not that of `other`, but for how it is bound."""
    return (one.slot | one.heads) - (other.slot | other.heads) - BOUNDS


def _may_be_one(new: Binding, old: Binding) -> bool:
    return not (new.heads and old.heads) or bool(new.heads & old.heads)


def bound_by(said: Sequence[Sentence], role: Role) -> list[tuple[Binding, ...]]:
    """What each sentence of a message binds; nothing where no person speaks, or much is pasted."""
    if role != "user" or sum(len(sentence.text) for sentence in said) > MOST_CHARS:
        return [()] * len(said)
    return [bindings(sentence) for sentence in said]


@lru_cache(maxsize=4_096)  # rules and settings ask for the same
def bindings(sentence: Sentence) -> tuple[Binding, ...]:
    """What a sentence of a person binds; nothing for most."""
    words = sentence.words
    if len(words) > SENTENCE_CHARS or len(words) < 4:
        return ()
    if words[0] == "[" and words[-1] == "]":  # a mark by a program
        return ()
    is_han = not words.isascii() and has_han(words)
    if not is_han and not (_may_name(words) and ANY.search(sentence.masked)):
        return ()
    return _bindings(sentence.masked, is_han)


def _may_name(words: str) -> bool:
    """Whether an English sentence has a word that names things, or a value that needs none."""
    return not NAMES.isdisjoint(plain_words(words)) or bool(UNNAMED.search(words))


def unlabelled(text: str) -> str:
    """`text` without stamp, its speaker's name, and the label that marks it as to remember."""
    said = spoken(text)
    stamp = STAMP.match(said) if said[:1] == "[" else None
    said = said[stamp.end() :] if stamp else said
    label = LABEL.match(said) if ":" in said or "：" in said else None
    return said[label.end() :] if label else said


def is_labelled(sentence: Sentence) -> bool:
    """Whether a person has marked a sentence as one to remember: “Decision: …”, 备注：…"""
    found = (
        LABEL.match(sentence.masked)
        if (":" in sentence.masked or "：" in sentence.masked)
        else None
    )
    return bool(found) and len(sentence.masked) - (found.end() if found else 0) >= 8


def _bindings(text: str, is_han: bool) -> tuple[Binding, ...]:
    said = unlabelled(text)
    plain = said.lower().replace("’", "'")
    if not (is_han or any(map(said.__contains__, ",:=")) or FORM.search(plain)):
        return ()
    if (NOT_HAN if is_han else NOT).search(plain):
        return ()
    changes = bool((SIGN_HAN if is_han else SIGN).search(text.lower()))
    read = _read_han if is_han else _read
    return tuple(found for clause in _clauses(said) if (found := read(clause, changes)))


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in (*(found.end() for found in CLAUSES.finditer(text)), len(text)):
        if start == 0 and _is_scope(text[:end]):
            continue
        if clause := text[start:end].strip(" ,;，；。.!！\x00"):
            yield clause
        start = end


def _is_scope(clause: str) -> bool:
    """Whether a clause only tells things apart: “Locally, ” or “In production, ”."""
    if not SCOPE.match(clause.lower()):
        return False
    slot, heads = _named(clause)
    return bool(slot) and slot <= CONTRAST and not heads


def _read(clause: str, changes: bool) -> Binding | None:
    """What an English clause binds."""
    if not (FORM.search(clause.lower()) or _orders_value(clause) or _names_value(clause)):
        return None
    found = _value_in(SPEAKER.sub(" ", ASIDE.sub(" ", clause)))
    if found is None:
        return _read_setting(clause, changes)
    kind, value, rest = found
    slot, heads = _named(rest)
    if kind in NAMED_BEFORE:  # what is done to it, or with it, does not name it
        named = _before_heads(rest)
        slot = named if named or _opens_clause(clause, value) else slot
    if kind in TOLD_BESIDE and len(heads) > 1:
        beside = _named(" ".join(_beside(clause, value)))[1]
        if beside:  # “the branch is based on commit V” names a commit
            slot, heads = slot | (heads - beside), beside
    return _binding(kind, slot, heads, value, changes, clause)


def _opens_clause(clause: str, value: str) -> bool:
    """Whether a clause begins with what a value is, and the value: “Branch spike/a is …”."""
    slot, heads = _named(clause.partition(value)[0])
    return bool(heads) and not slot and clause.partition(value)[0].count(" ") <= 2


def _beside(clause: str, value: str) -> Iterator[str]:
    """The words next to a value: of “in the V region” both."""
    before, _, after = clause.partition(value)
    yield from WORD_END.findall(before)
    yield from WORD_BEGIN.findall(after)


def _orders_value(clause: str) -> bool:
    """Whether a clause is a name and what to do about it: “Budget: keep it below 500 euros”."""
    colon = COLON.match(clause)
    return bool(colon and FORM.match(clause[colon.end() :].lower()))


def _names_value(clause: str) -> bool:
    """Whether a clause is a name and its value: “Port: 8080”."""
    colon = COLON.match(clause)
    if colon is None:
        return False
    word = WORD_BEGIN.match(f" {clause[colon.end() :]}")  # “Progress: phase 2 of 7”
    starts = [colon.end()] if _named(colon[0])[1] else []
    if word and _named(word[0])[1]:
        starts.append(colon.end() + word.end())
    return any(pattern.match(clause, at) for at in starts for pattern in VALUE.values())


def _read_setting(clause: str, changes: bool) -> Binding | None:
    """What a clause binds whose value is one of a known setting, such as a language."""
    slot, heads = _named(clause)
    if not heads:
        return None
    for name, values in settings_in(clause).items():
        if len(values) == 1 and NAMED_BY.get(name, name) in heads:
            (value,) = values
            slot = frozenset(word for word in slot if word != stem(value))
            return _binding(name, slot, heads, value, changes, clause)
    return None


def _binding(
    kind: str,
    slot: frozenset[str],
    heads: frozenset[str],
    value: str,
    changes: bool,
    clause: str,
) -> Binding | None:
    if len(slot) > MOST_SLOT or not (heads or (slot and kind in STRONG)):
        return None
    return Binding(kind, slot, heads, value.lower(), changes, " ".join(clause.split()))


def _value_in(clause: str) -> tuple[str, str, str] | None:
    """The kind of value, the value and the rest of a clause; None where several may be meant."""
    for kind, pattern in VALUE.items():
        found = [one for one in pattern.finditer(clause) if one[0].lower() not in HEAD_OF]
        current = [one for one in found if not OLD.search(clause[: one.start()].lower())]
        if len(current) == 1 or len({one[0] for one in current}) == 1:
            rest = clause
            for one in reversed(found):
                rest = f"{rest[: one.start()]} {rest[one.end() :]}"
            return kind, ONLY.sub("", current[0][0].strip("`")), rest
        if found:
            return None
    return None


def _named(rest: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a clause that name a thing, and what kinds of things its words say it is."""
    slot, heads = set[str](), set[str]()
    plainly = ON_CALL.sub(" oncall ", TURN.sub(" ", rest.lower()))
    if HANDLES.search(plainly):
        plainly = HANDLES.sub(" ", plainly)
        heads.update(("owner", HANDLER))
    for word in WORD.findall(plainly.replace("’", "'").replace("-", " ")):
        plain = _plain(word.removesuffix("'s"))
        if word in NAMING:
            heads.add("name")
        elif word.removesuffix("'s") in NAMES and (head := HEAD_OF.get(plain)):  # not Tim for time
            heads.add(head)
        elif plain not in EMPTY and word not in EMPTY:
            slot.add(plain)
    return frozenset(slot), frozenset(heads)


def _before_heads(rest: str) -> frozenset[str]:
    """The words of a clause that stand right before what kind of thing it is."""
    found, run = set[str](), list[str]()
    for word in WORD.findall(rest.lower().replace("’", "'").replace("-", " ")):
        plain = _plain(word.removesuffix("'s"))
        if word.removesuffix("'s") in NAMES and HEAD_OF.get(plain):
            found.update(run)
            run = [plain]
        elif plain in EMPTY or word in EMPTY or word.removesuffix("'s") in EMPTY:
            run = []
        else:
            run.append(plain)
    return frozenset(found)


def _plain(word: str) -> str:
    """The stem of a word, and of an adverb that tells things apart: internally is internal."""
    adjective = stem(word.removesuffix("ly"))
    return adjective if adjective in CONTRAST else stem(word)


def _read_han(clause: str, changes: bool) -> Binding | None:
    """What a Chinese clause binds."""
    if not FORM_HAN.search(clause):
        return None
    found = _value_in(clause)
    if found is None:
        link = LINK_HAN.search(clause, 2)
        if link is None:
            return None
        before, value = clause[: link.start()], clause[link.end() :].strip()
        if not 1 < len(value) <= WORD_CHARS or not HEAD_HAN.search(before[-4:]):
            return None
        found = "words", value, before
    kind, value, rest = found
    heads = frozenset(HEAD_OF[word] for word in HEAD_HAN.findall(rest))
    others = HEAD_HAN.sub(" ", rest)
    left = EMPTY_HAN.sub(" ", others).split()
    contrast = {f"+{word}" for word in CONTRAST_HAN.findall(others)}
    slot = frozenset("".join(left)) | contrast
    if len(slot) > 2 * MOST_SLOT or not (heads or (slot and kind in STRONG)):
        return None
    return Binding(kind, slot, heads, value.lower(), changes, clause)
