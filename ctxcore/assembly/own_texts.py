"""Recognizes the texts of this library that come back in a list of messages.

A caller may store what was sent and pass it again: then summary, facts, acknowledgement and markers
stand among the messages. They are taken out of the words of people and told apart; each is known by
the form that `texts` gives it, and looked for only at the head of a list, where it is put.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcore.assembly.elide import ELIDED
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import (
    ACKNOWLEDGEMENTS,
    FACTS_TAG,
    GAP_TEXTS,
    HOISTED,
    POINTS_END,
    START,
    SUMMARY_TAG,
    SUMMARY_TITLES,
    out_of_tags,
)
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message, Part, Role, Text
from ctxcore.policy.values import SummaryPlace
from ctxcore.summarizers.protocol import Language

_HEAD_MESSAGES = 64  # moved pins stand before a summary; more of them than this nobody sets
_CUT = re.compile(rf"{ELIDED.pattern}|…\Z")  # in the middle, or in the smallest rooms at the end
_SAME_CHARS = 24  # a summary cut to a small window begins like the whole


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTexts:
    """What this library said in a list, and the list without it."""

    messages: Sequence[Message]
    """All of them; those that said nothing else are empty system messages."""
    alone: Mapping[int, Message] = field(default_factory=dict)
    """The messages that said nothing else, as they were passed, by sequence number."""
    changed: frozenset[int] = frozenset()
    """Those that said something else beside, by sequence number."""
    summary: str = ""
    place: SummaryPlace | None = None
    """The form of the summary; None where there is none."""
    facts: str = ""
    language: Language | None = None
    """The language of the summary's title; None where its form has none."""
    covered_messages: int = 0
    """How many messages the summary's title says that it stands for."""
    left_out: int = 0
    """How many messages the markers say were left out."""
    cut: int = 0
    """Everything up to this message stands before the summary and facts, or is them."""

    @property
    def is_carrying(self) -> bool:
        """Whether a summary or facts are among them, not markers alone."""
        return bool(self.summary or self.facts)

    def is_of(self, record: Compaction | None) -> bool:
        """Whether this is the summary and the facts of `record`, perhaps cut to a small window."""
        if record is None or not self.is_carrying:
            return False
        if self.summary or record.summary:
            return bool(self.summary) and _begins_alike(self.summary, record.summary)
        return _begins_alike(self.facts, record.facts)

    def is_cut_from(self, summary: str) -> bool:
        """Whether the summary is `summary` as a small window shows it, or not said at all."""
        return not self.summary or printable(summary).startswith(_CUT.split(self.summary)[0])


def find_own_texts(
    messages: Sequence[Message], record: Compaction | None, place: SummaryPlace
) -> OwnTexts | None:
    """The texts of this library at the head of `messages`; None where there are none.

    `record` is what the caller's state knows: with it the end of an untagged summary is known, and
    one behind moved pins is found. A summary that a user's message holds is none where the policy
    puts summaries into system messages, `place`, unless `record` knows it: nobody writes there.
    """
    finder = _Finder(messages[:_HEAD_MESSAGES], record, place)
    finder.find()
    if not finder.alone and not finder.rest:
        return None
    cleaned = list(messages)
    for at, message in finder.rest.items():
        cleaned[at] = message
    for at in finder.alone:
        cleaned[at] = Message(role="system")
    return OwnTexts(
        messages=cleaned,
        alone={at + 1: messages[at] for at in sorted(finder.alone)},
        changed=frozenset(at + 1 for at in finder.rest),
        summary=finder.summary,
        place=finder.place,
        facts=finder.facts,
        language=finder.language,
        covered_messages=finder.covered_messages,
        left_out=finder.left_out,
        cut=finder.cut,
    )


class _Finder:
    """Goes through the head of a list once."""

    def __init__(
        self, head: Sequence[Message], record: Compaction | None, place: SummaryPlace
    ) -> None:
        self._head = head
        self._record = record
        self._is_hoisting = place in HOISTED
        self._first = 0
        self.alone: set[int] = set()
        self.rest: dict[int, Message] = {}
        self.summary, self.facts = "", ""
        self.place: SummaryPlace | None = None
        self.language: Language | None = None
        self.covered_messages = self.left_out = self.cut = 0

    def find(self) -> None:
        talk = [at for at, message in enumerate(self._head) if not message.is_system]
        self._first = talk[0] if talk else len(self._head)
        for at in range(self._first):
            self._take_system(at)
        users = [at for at in talk if self._head[at].role == "user"]
        if self._record is None:
            users = [at for at in users if at == self._first]
        taken = next((at for at in users if self._take_user(at)), None)
        if taken is not None and self.cut == taken + 1:
            self._take_following(taken + 1)

    def _take_system(self, at: int) -> None:
        """The summary that the system message at this place is, if it is one."""
        text = self._head[at].text
        for place, read in _SYSTEM_FORMS.items():
            found = None if self.summary else read(text)
            if found is not None:
                self.summary, self.language = found
                self.place = place
                self.alone.add(at)
                self.cut = at + 1

    def _take_user(self, at: int) -> bool:
        """Whether the user message at this place holds a text of this library."""
        rest: list[Part] = []
        is_last = True
        for part in self._head[at].content:
            if isinstance(part, Text):
                before, behind = self._take_text(part.text, at)
                is_last = is_last and not behind
                rest += _texts(part, _joined(before, behind))
            else:
                is_last = is_last and not self._is_carrying
                rest.append(part)
        if tuple(rest) == self._head[at].content:
            return False
        if self._is_carrying:
            self.cut = max(self.cut, at + 1 if is_last else at)
        self._say(at, tuple(rest))
        return True

    @property
    def _is_carrying(self) -> bool:
        return bool(self.facts or (self.summary and self.place not in HOISTED))

    def _take_text(self, text: str, at: int) -> tuple[str, str]:
        """What a text says before and behind those of this library."""
        if at == self._first:
            text = _without_lead(text, (START,))
        before, behind = ("", text) if self._is_carrying else (text, "")
        span = None if self.facts else _tagged(FACTS_TAG, text)
        if span is not None:
            self.facts = _inside(FACTS_TAG, text, span)
            before, behind = _around(text, span)
        searched = behind if self._is_carrying else before
        span = None if self.summary else self._take_summary(searched, at)
        if span is not None:
            first, behind = _around(searched, span)
            before = first if searched is before else _joined(before, first)
        if at != self._first and not self._is_carrying:
            return before, behind
        return self._without_markers(before), self._without_markers(behind)

    def _take_summary(self, text: str, at: int) -> tuple[int, int] | None:
        """Where the summary stands in a text of a user; None where there is none."""
        span = _tagged(SUMMARY_TAG, text)
        if span is not None:
            return self._taken(span, _inside(SUMMARY_TAG, text, span), "tagged", None)
        for place, language, title in _TITLES:
            found = title.search(text)
            if found is not None:
                end = found.end() + self._length(text[found.end() :], place, at)
                span = self._taken((found.start(), end), text[found.end() : end], place, language)
                if span is not None and found.groups():
                    self.covered_messages = int(found[1])
                return span
        return None

    def _taken(
        self, span: tuple[int, int], summary: str, place: SummaryPlace, language: Language | None
    ) -> tuple[int, int] | None:
        """`span` where `summary` may be taken for one, which is then noted."""
        known = self._record.summary if self._record else ""
        if not summary or (self._is_hoisting and not _begins_alike(summary, known)):
            return None
        self.summary, self.place, self.language = summary, place, language
        return span

    def _length(self, text: str, place: SummaryPlace, at: int) -> int:
        """How long the summary is that `text` begins with.

        Where nobody knows the summary it is all of the message, which may hold the words of a user
        that were joined to it; not so where no other user message would be left.
        """
        known = printable(self._record.summary) if self._record else ""
        if known and text.startswith(known):
            return len(known)
        later = any(message.role == "user" for message in self._head[at + 1 :])
        return len(text) if place == "pair" or later else 0

    def _without_markers(self, text: str) -> str:
        """`text` without the paragraphs that mark what was left out."""
        if "]" not in text:
            return text
        kept = []
        for paragraph in text.split("\n\n"):
            found = _GAP.fullmatch(paragraph)
            if found is None:
                kept.append(paragraph)
            else:
                self.left_out += int(next(filter(None, found.groups())))
        return "\n\n".join(kept)

    def _take_following(self, at: int) -> None:
        """The acknowledgement behind a summary, and a marker behind that."""
        if self._take_lead(at, "assistant", _without_acknowledgement):
            at += 1
        self._take_lead(at, "user", self._without_markers)

    def _take_lead(self, at: int, role: Role, clean: Callable[[str], str]) -> bool:
        """Whether the message at this place says nothing besides what `clean` takes away."""
        message = self._head[at] if at < len(self._head) else None
        if message is None or message.role != role or not message.content:
            return False
        first, *others = message.content
        if not isinstance(first, Text) or (rest := clean(first.text)) == first.text:
            return False
        self._say(at, (*_texts(first, rest), *others))
        if at not in self.alone:
            return False
        self.cut = at + 1
        return True

    def _say(self, at: int, rest: tuple[Part, ...]) -> None:
        """The message at this place says only `rest` besides the texts of this library."""
        if rest or self._head[at].calls:
            self.rest[at] = replace(self._head[at], content=rest)
        else:
            self.alone.add(at)


def _texts(part: Text, text: str) -> list[Part]:
    """`part` as it is or with what is left of it; nothing where that is nothing."""
    if text == part.text:
        return [part]
    return [replace(part, text=text)] if text else []


def _around(text: str, span: tuple[int, int]) -> tuple[str, str]:
    """What stands before and behind some paragraphs of `text`."""
    return text[: span[0]].removesuffix("\n\n"), text[span[1] :].removeprefix("\n\n")


def _joined(one: str, other: str) -> str:
    return "\n\n".join(filter(None, (one, other)))


def _without_lead(text: str, leads: Iterable[str]) -> str:
    """`text` without one of the paragraphs `leads` where it begins with that."""
    for lead in leads:
        if text == lead or text.startswith(f"{lead}\n\n"):
            return text.removeprefix(lead).removeprefix("\n\n")
    return text


def _without_acknowledgement(text: str) -> str:
    return _without_lead(text, ACKNOWLEDGEMENTS.values())


def _begins_alike(one: str, other: str) -> bool:
    """Whether one of two texts may be the other, cut to a small window."""
    one, other = (printable(text).removesuffix("…")[:_SAME_CHARS] for text in (one, other))
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _pattern(form: str) -> str:
    """A pattern of what `form` makes, a group for each number in it."""
    return re.sub(r"\\\{\w+\\\}", r"(\\d{1,9})", re.escape(form))


def _tagged(tag: str, text: str) -> tuple[int, int] | None:
    """Where what `in_tags` made stands in `text`, as paragraphs of its own; linear."""
    opening, closing = f"<{tag}>\n", f"\n</{tag}>"
    starts = _finds(text, opening, 0)
    start = next((at for at in starts if at == 0 or text[at - 2 : at] == "\n\n"), None)
    if start is None:
        return None
    ends = (at + len(closing) for at in _finds(text, closing, start))
    end = next((at for at in ends if at == len(text) or text[at : at + 2] == "\n\n"), None)
    return None if end is None else (start, end)


def _finds(text: str, wanted: str, start: int) -> Iterator[int]:
    at = text.find(wanted, start)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _inside(tag: str, text: str, span: tuple[int, int]) -> str:
    """The text between the tags that stand at `span`."""
    return out_of_tags(tag, text[span[0] + len(tag) + 3 : span[1] - len(tag) - 4])


_GAP = re.compile("|".join(_pattern(form) for forms in GAP_TEXTS.values() for form in forms))
_USER_PLACES: tuple[SummaryPlace, ...] = ("pair", "user")
_TITLES: tuple[tuple[SummaryPlace, Language, re.Pattern[str]], ...] = tuple(
    (place, language, re.compile(rf"(?:\A|(?<=\n\n)){_pattern(title)}\n"))
    for place in _USER_PLACES
    for language, title in SUMMARY_TITLES[place].items()
)


def _reads(
    place: SummaryPlace, glue: str, end: str
) -> Callable[[str], tuple[str, Language] | None]:
    """What reads a system message that is a summary in this place."""
    forms = [
        (re.compile(rf"{_pattern(title)}{glue}(.+){re.escape(end)}", re.DOTALL), language)
        for language, title in SUMMARY_TITLES[place].items()
    ]

    def read(text: str) -> tuple[str, Language] | None:
        found = ((form.fullmatch(text), language) for form, language in forms)
        return next(((one.groups()[-1], language) for one, language in found if one), None)

    return read


_SYSTEM_FORMS: Mapping[SummaryPlace, Callable[[str], tuple[str, Language] | None]] = {
    "second_system": _reads("second_system", "\n", POINTS_END),
    "headed_system": _reads("headed_system", " ", ""),
    "addition": _reads("addition", "\n", ""),
}
