"""Recognizes the texts of this library that come back in a list of messages.

A caller may store what was sent and pass it again: then summary, facts, acknowledgement and markers
stand among the messages. They are taken out of the caller's messages; each is known by the form
that `texts` gives it, and looked for only at the head of a list, where it is put.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import (
    ACKNOWLEDGEMENTS,
    ELIDED,
    FACTS_TAG,
    GAP_TEXTS,
    HOISTED,
    KNOWLEDGE_END,
    KNOWLEDGE_START,
    POINTS_END,
    RECALLED_TAG,
    START,
    SUMMARY_TAG,
    SUMMARY_TITLES,
    plain_tags,
    safe_tags,
    summary_message,
)
from ctxcore.messages.canonical import digest_of_texts, printable
from ctxcore.messages.values import Message, Part, Role, Text
from ctxcore.policy.values import SummaryPlace
from ctxcore.text.languages import Language

_OF_ONE_CALL = (
    (KNOWLEDGE_START, KNOWLEDGE_END),
    (f"<{RECALLED_TAG}>\n", f"\n</{RECALLED_TAG}>"),
)
"""How texts begin and end that stand beside requests: retrieved by the caller, or recalled."""
_HEAD_MESSAGES = 64  # chosen: more moved pins than any user sets stand before a summary
_MOST_KNOWLEDGE = 64  # retrieved texts in one message; chosen: bounds the search
_SAME_CHARS = 24  # chosen: a summary that was cut or edited still begins with them


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTexts:
    """The texts of this library in a list, and the list without them."""

    messages: Sequence[Message]
    """All of them; those that hold nothing else are empty system messages."""
    alone: Mapping[int, Message] = field(default_factory=dict)
    """The messages that hold nothing else, as they were passed, by sequence number."""
    rest: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """What is left of messages that hold something else: one text for each of their texts."""
    summary: str = ""
    place: SummaryPlace | None = None
    """The form of the summary; None where there is none."""
    facts: str = ""
    language: Language | None = None
    """The language of the summary's title; None where its form has none."""
    covered_messages: int = 0
    """How many messages the summary stands for by its title."""
    left_out: int = 0
    """How many messages were left out by the markers."""
    cut: int = 0
    """The last message before the summary and facts, or of them."""

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
        """Whether the summary is `summary` as a small window shows it, or none."""
        return said_length(self.summary, summary) == len(self.summary)


def find_own_texts(
    messages: Sequence[Message],
    record: Compaction | None,
    place: SummaryPlace,
    *,
    knowledge: Collection[str] = (),
) -> OwnTexts | None:
    """The texts of this library at the head of `messages`; None where there are none.

    `record` is that of the caller's state: it tells where an untagged summary ends, and finds one
    behind moved pins. Where the policy puts summaries into system messages (`place`), a user's
    message holds only the summary of `record`. `knowledge` are digests of retrieved and
    recalled texts that were sent: those are taken out wherever they are.
    """
    finder = _Finder(messages[:_HEAD_MESSAGES], record, place)
    finder.find()
    if knowledge:
        _take_knowledge(messages, finder, knowledge)
    if not finder.alone and not finder.rest:
        return None
    own = without_own(messages, finder.alone, finder.rest)
    return replace(
        own,
        summary=finder.summary,
        place=finder.place,
        facts=finder.facts,
        language=finder.language,
        covered_messages=finder.covered_messages,
        left_out=finder.left_out,
        cut=finder.cut,
    )


def without_own(
    messages: Sequence[Message], alone: Iterable[int], rest: Mapping[int, tuple[str, ...]]
) -> OwnTexts:
    """`messages` without the texts of this library that are known: see `OwnTexts`."""
    cleaned, passed = list(messages), {seq: messages[seq - 1] for seq in sorted(alone)}
    for seq, texts in rest.items():
        cleaned[seq - 1] = _with_texts(messages[seq - 1], texts)
    for seq in passed:
        cleaned[seq - 1] = Message(role="system")
    return OwnTexts(messages=cleaned, alone=passed, rest=dict(rest))


def _with_texts(message: Message, texts: Iterable[str]) -> Message:
    """`message` with `texts` in place of its own; empty ones are left out."""
    left, content = iter(texts), list[Part]()
    for part in message.content:
        if not isinstance(part, Text):
            content.append(part)
        elif text := next(left, ""):
            content.append(replace(part, text=text))
    return replace(message, content=tuple(content))


def said_length(text: str, known: str) -> int:
    """How many first characters of `text` are `known`, whole or cut to a small window."""
    known = printable(known)
    if not known or text.startswith(known):
        return len(known)
    elided = ELIDED.search(text)
    if elided is not None and elided.start() and known.startswith(text[: elided.start()]):
        tail = len(known) - elided.start() - int(elided[1].replace(",", ""))
        if tail >= 0 and text.startswith(known[len(known) - tail :], elided.end()):
            return elided.end() + tail
    begun = text.find("…")
    return begun + 1 if begun > 0 and known.startswith(text[:begun]) else 0


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
        self.rest: dict[int, tuple[str, ...]] = {}
        self.summary, self.facts = "", ""
        self.place: SummaryPlace | None = None
        self.language: Language | None = None
        self.covered_messages = self.left_out = self.cut = 0

    def find(self) -> None:
        others = (at for at, message in enumerate(self._head) if not message.is_system)
        self._first = next(others, len(self._head))
        for at in range(self._first):
            self._take_system(at)
        end = self._first + 1 if self._record is None else len(self._head)
        places = range(self._first, min(end, len(self._head)))
        users = [at for at in places if self._head[at].role == "user"]
        taken = next((at for at in users if self._take_user(at)), self._first)
        if self.cut == taken + 1 or not self._is_carrying:
            self._take_following(taken + 1)

    def _take_system(self, at: int) -> None:
        """Takes the summary out of the system message at this place."""
        texts = list(_texts_of(self._head[at]))
        for number, text in enumerate(texts):
            for place, language, form in _SYSTEM_FORMS:
                found = None if self.summary else form.fullmatch(text)
                if found is not None:
                    self.summary = plain_tags(found.groups()[-1])
                    self.place, self.language = place, language
                    self.cut, texts[number] = at + 1, ""
        self._keep(at, texts)

    def _take_user(self, at: int) -> bool:
        """Whether the user message at this place holds a text of this library."""
        texts, is_last = list[str](), True
        for part in self._head[at].content:
            if not isinstance(part, Text):
                is_last = is_last and not self._is_carrying
                continue
            before, behind = self._take_text(part.text, at)
            is_last = is_last and not behind
            texts.append(_joined(before, behind))
        if not self._keep(at, texts):
            return False
        if self._is_carrying:
            self.cut = max(self.cut, at + 1 if is_last else at)
        return True

    @property
    def _is_carrying(self) -> bool:
        return bool(self.facts or (self.summary and self.place not in HOISTED))

    def _take_text(self, text: str, at: int) -> tuple[str, str]:
        """What stands before and behind the texts of this library in `text`."""
        if at == self._first:
            text = _without_lead(text, (START,))
        before, behind = ("", text) if self._is_carrying else (text, "")
        span = None if self.facts else self._facts_in(text, at)
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

    def _facts_in(self, text: str, at: int) -> tuple[int, int] | None:
        """Where the facts stand; behind the first message only those of the state."""
        span = _tagged(FACTS_TAG, text)
        if span is None or at == self._first:
            return span
        known = self._record.facts if self._record else ""
        return span if _begins_alike(_inside(FACTS_TAG, text, span), known) else None

    def _take_summary(self, text: str, at: int) -> tuple[int, int] | None:
        """Where the summary stands in a user's text; None where there is none."""
        span = _tagged(SUMMARY_TAG, text)
        if span is not None:
            return self._taken(span, _inside(SUMMARY_TAG, text, span), "tagged", None, at)
        for place, language, title in _TITLES:
            found = title.search(text)
            if found is not None:
                end = found.end() + self._length(text[found.end() :], place, at)
                summary = plain_tags(text[found.end() : end])
                span = self._taken((found.start(), end), summary, place, language, at)
                if span is not None and found.groups():
                    self.covered_messages = int(found[1])
                return span
        return self._hoisted(text)

    def _hoisted(self, text: str) -> tuple[int, int] | None:
        """Where the summary of the state stands in the form of a system message: shapes without
        system messages hold it in a user's.
        """
        record = self._record
        if record is None or not record.summary:
            return None
        for place in HOISTED:
            form = printable(summary_message(record, place).text)
            for at in _finds(text, form):
                if _begins_paragraph(text, at) and _ends_paragraph(text, at + len(form)):
                    self.summary, self.place = record.summary, "user"
                    return at, at + len(form)
        return None

    def _taken(
        self,
        span: tuple[int, int],
        summary: str,
        place: SummaryPlace,
        language: Language | None,
        at: int,
    ) -> tuple[int, int] | None:
        """`span` where `summary` counts as one, which is then noted."""
        known = self._record.summary if self._record else ""
        is_bound = self._is_hoisting or at != self._first
        if not summary or (is_bound and not _begins_alike(summary, known)):
            return None
        self.summary, self.place, self.language = summary, place, language
        return span

    def _length(self, text: str, place: SummaryPlace, at: int) -> int:
        """How long the summary is that `text` begins with.

        An unknown summary is all of the message, with any words of a user that were joined to it;
        but it has no length where no other user message would be left.
        """
        known = said_length(text, safe_tags(self._record.summary)) if self._record else 0
        if known:
            return known
        later = any(message.role == "user" for message in self._head[at + 1 :])
        return len(text) if place == "pair" or later else 0

    def _without_markers(self, text: str) -> str:
        """`text` without the paragraphs that mark what was left out."""
        rest, left_out = _split_markers(text)
        self.left_out += left_out
        return rest

    def _take_following(self, at: int) -> None:
        """The acknowledgement behind a summary, and a marker behind that or behind the request."""
        if self._is_carrying and self._take_lead(
            at, "assistant", lambda text: _without_lead(text, ACKNOWLEDGEMENTS.values())
        ):
            at += 1
        message = self._head[at] if at < len(self._head) else None
        texts = list(_texts_of(message)) if message and message.role == "user" else []
        is_marker = len(texts) == 1 and texts[0] and not _split_markers(texts[0])[0]
        if self._is_carrying or is_marker:
            self._take_lead(at, "user", self._without_markers)

    def _take_lead(self, at: int, role: Role, clean: Callable[[str], str]) -> bool:
        """Whether the message at this place holds nothing but what `clean` takes away."""
        message = self._head[at] if at < len(self._head) else None
        if message is None or message.role != role:
            return False
        first, *others = [*_texts_of(message), ""]
        if not self._keep(at, [clean(first), *others]) or at + 1 not in self.alone:
            return False
        self.cut = at + 1 if self._is_carrying else self.cut
        return True

    def _keep(self, at: int, texts: Sequence[str]) -> bool:
        """Notes what is left of the message at this place; whether that is less than it had."""
        message = self._head[at]
        before = tuple(_texts_of(message))
        left = tuple(texts[: len(before)])
        if left != before:
            self.note(at + 1, message, left)
        return left != before

    def note(self, seq: int, message: Message, texts: tuple[str, ...]) -> None:
        """Notes that `texts` are left of those of `message`."""
        self.rest.pop(seq, None)
        if any(texts) or message.calls or len(texts) < len(message.content):
            self.rest[seq] = texts
        else:
            self.alone.add(seq)


def _take_knowledge(
    messages: Sequence[Message], finder: _Finder, knowledge: Collection[str]
) -> None:
    for seq, message in enumerate(messages, start=1):
        found = tuple(_texts_of(message))
        if message.role != "user" or not any(
            start in text for text in found for start, _ in _OF_ONE_CALL
        ):
            continue
        before = finder.rest.get(seq) or found
        texts = tuple(_without_knowledge(text, knowledge) for text in before)
        if texts != before and seq not in finder.alone:
            finder.note(seq, message, texts)


def _without_knowledge(text: str, knowledge: Collection[str]) -> str:
    """`text` without the retrieved and recalled texts in it that have one of these digests."""
    while (span := _known_in(text, knowledge)) is not None:
        text = _joined(*_around(text, span))
    return text


def _known_in(text: str, knowledge: Collection[str]) -> tuple[int, int] | None:
    for begin, close in _OF_ONE_CALL:
        ends = [at + len(close) for at in _finds(text, close)]
        starts = (at for at in _finds(text, begin) if _begins_paragraph(text, at))
        for start in islice(starts, _MOST_KNOWLEDGE):
            end = next((end for end in ends if end > start), None)
            if end is not None and digest_of_texts([text[start:end]]) in knowledge:
                return start, end
    return None


def _texts_of(message: Message) -> Iterator[str]:
    return (part.text for part in message.content if isinstance(part, Text))


def _begins_paragraph(text: str, at: int) -> bool:
    return at == 0 or text[at - 2 : at] == "\n\n"


def _ends_paragraph(text: str, at: int) -> bool:
    return text[at : at + 2] in ("", "\n\n")


def _split_markers(text: str) -> tuple[str, int]:
    """`text` without its paragraphs that are markers, and how many messages those count."""
    if "]" not in text:
        return text, 0
    kept, left_out = [], 0
    for paragraph in text.split("\n\n"):
        found = _GAP.fullmatch(paragraph)
        if found is None:
            kept.append(paragraph)
        else:
            left_out += int(next(filter(None, found.groups())))
    return "\n\n".join(kept), left_out


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
    starts = _finds(text, opening)
    start = next((at for at in starts if _begins_paragraph(text, at)), None)
    if start is None:
        return None
    ends = (at + len(closing) for at in _finds(text, closing, start))
    end = next((at for at in ends if _ends_paragraph(text, at)), None)
    return None if end is None else (start, end)


def _finds(text: str, wanted: str, start: int = 0) -> Iterator[int]:
    at = text.find(wanted, start)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _inside(tag: str, text: str, span: tuple[int, int]) -> str:
    """The text between the tags that stand at `span`."""
    return plain_tags(text[span[0] + len(tag) + 3 : span[1] - len(tag) - 4])


_GAP = re.compile("|".join(_pattern(form) for forms in GAP_TEXTS.values() for form in forms))
_TITLES: tuple[tuple[SummaryPlace, Language, re.Pattern[str]], ...] = tuple(
    (place, language, re.compile(rf"(?:\A|(?<=\n\n)){_pattern(title)}\n"))
    for place, titles in SUMMARY_TITLES.items()
    for language, title in titles.items()
    if place not in HOISTED
)


_AROUND: Mapping[SummaryPlace, tuple[str, str]] = {
    "second_system": ("\n", POINTS_END),
    "headed_system": (" ", ""),
    "addition": ("\n", ""),
}
_SYSTEM_FORMS: tuple[tuple[SummaryPlace, Language, re.Pattern[str]], ...] = tuple(
    (place, language, re.compile(f"{_pattern(title)}{glue}(.+){re.escape(end)}", re.DOTALL))
    for place, (glue, end) in _AROUND.items()
    for language, title in SUMMARY_TITLES[place].items()
)
