"""Owns the carrier: a compact text of facts beside a summary, within its own budget, never above.

Instructions come first and verbatim; the rest is chosen by worth per token, and of one kind each
next one counts less, so that no kind fills the room alone. What does not fit is told as a count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.facts.finding import find_facts
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.values import KINDS, Fact, Kind
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Role, text_message
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

PROTECTED: Final[tuple[Kind, ...]] = ("request", "instruction")
NEXT_FACTOR: Final = 0.85  # what the next of a kind is worth beside the one before
LEAST_WORTH: Final = 0.1
MOST_MERGED: Final = 2_000  # tokens of facts from messages that nobody passes any more

HEADINGS: Final[dict[Language, dict[Kind, str]]] = {
    "en": {
        "request": "Original request",
        "instruction": "Standing instructions",
        "todo": "To-do list",
        "decision": "Decisions",
        "question": "Open questions",
        "error": "Errors and fixes",
        "file_changed": "Files changed",
        "change": "Lines changed",
        "identifier": "Identifiers",
        "number": "Numbers",
        "amount": "Amounts",
        "date": "Dates",
        "url": "Addresses",
        "path": "Paths",
        "file_read": "Files read",
        "name": "Names",
    },
    "zh": {
        "request": "最初的请求",
        "instruction": "长期有效的指示",
        "todo": "待办清单",
        "decision": "决定",
        "question": "未解决的问题",
        "error": "错误与修复",
        "file_changed": "改过的文件",
        "change": "改动行数",
        "identifier": "标识",
        "number": "数值",
        "amount": "金额与数量",
        "date": "日期与时间",
        "url": "网址",
        "path": "路径",
        "file_read": "读过的文件",
        "name": "名称",
    },
}
_KIND_OF: Final[dict[str, Kind]] = {
    heading: kind for headings in HEADINGS.values() for kind, heading in headings.items()
}
MORE: Final[dict[Language, str]] = {
    "en": "({count} more facts not shown)",
    "zh": "（另有 {count} 条未列出）",
}
_FIXED: Final[dict[Language, str]] = {"en": " → fixed: {note}", "zh": " → 已修复：{note}"}
_BEFORE: Final[dict[Language, str]] = {"en": " (was {note})", "zh": "（原为 {note}）"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The text, what of the entries it says, its tokens, and how many did not fit."""

    text: str
    entries: tuple[Entry, ...]
    tokens: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    entry: Entry
    text: str
    tokens: int


def carry(
    entries: Sequence[Entry],
    *,
    max_tokens: int,
    counter: TokenCounter,
    language: Language = "en",
    protected_kinds: Collection[Kind] = PROTECTED,
    protected_tokens: int = 0,
    visible: Collection[int] = (),
) -> Carried:
    """The most worthwhile of `entries` as a text of at most `max_tokens`; empty if none fits.

    `visible` are the messages that the context shows verbatim: what one of them says is not said
    again. `protected_kinds` are taken before all others, alone in up to `protected_tokens`.
    """
    shown = frozenset(visible)
    hidden = [entry for entry in entries if shown.isdisjoint(entry.seqs)]
    ranked = _ranked(hidden, counter, language, protected_kinds)
    protected = [line for line in ranked if line.entry.kind in protected_kinds]
    rooms = (max_tokens, max(max_tokens, protected_tokens))
    for left_out in (0, len(hidden)):  # the line that tells the count takes room as well
        more = counter.count(_more(left_out, language))
        room, most = (tokens - more for tokens in rooms)
        chosen = _chosen(ranked, room, protected, most, counter, language)
        if len(chosen) == len(hidden):
            break
    while True:
        text = _text(chosen, len(hidden) - len(chosen), language)
        tokens = counter.count(text)
        is_mixed = bool(chosen) and chosen[-1].entry.kind not in protected_kinds
        if tokens <= rooms[0 if is_mixed else 1] or not chosen:
            break
        chosen = chosen[:-1]
    if not chosen:
        return Carried(text="", entries=(), tokens=0, left_out=len(hidden))
    told = tuple(line.entry for line in _in_order(chosen))
    return Carried(text=text, entries=told, tokens=tokens, left_out=len(hidden) - len(chosen))


def carried_request(text: str, language: Language) -> str:
    """The original request as a carrier's text."""
    return f"{HEADINGS[language]['request']}:\n- {' '.join(text.split())}" if text.strip() else ""


def parse_carried(text: str) -> tuple[Fact, ...]:
    """The facts that a carrier's text says, as far as one line each tells them.

    Instructions keep what takes them back recognizable; of all others the line is the literal.
    """
    kind: Kind | None = None
    found: list[Fact] = []
    for line in text.splitlines():
        kind = _KIND_OF.get(line.rstrip(":："), kind)
        if kind is not None and line.startswith("- ") and (said := line[2:].strip()):
            found.append(_fact_on(said, kind))
    return tuple(found)


def merged_facts(texts: Iterable[str], counter: TokenCounter, language: Language) -> str:
    """Several carriers' texts as one, oldest first: of each thing the newest, within a limit."""
    ledger = Ledger()
    for seq, text in enumerate(texts, start=1):
        ledger.add(seq, parse_carried(text))
    return carry(live(ledger), max_tokens=MOST_MERGED, counter=counter, language=language).text


def _fact_on(line: str, kind: Kind) -> Fact:
    """What a line says: the fact that is found in it where that is all of it, else its words."""
    role: Role = "user" if kind in PROTECTED else "assistant"
    told = (fact for fact in find_facts(text_message(role, line)) if fact.kind == kind)
    found = next((fact for fact in told if line in (_told(fact), fact.text)), None)
    return found or Fact(kind=kind, text=line, key=line.casefold(), role=role)


def render_entry(entry: Entry, language: Language = "en") -> str:
    """An entry on one line: its name where it has one, the literal, what became of it."""
    fact, note = entry.fact, entry.note
    named = _told(fact)
    match fact.kind:
        case "error" if note:
            return named + _FIXED[language].format(note=note)
        case "number" | "date" if note:
            return named + _BEFORE[language].format(note=note)
        case "todo" | "change" | "file_changed" if note:
            return f"{note} {named}" if fact.kind == "todo" else f"{named} ({note})"
        case _:
            return named


def _told(fact: Fact) -> str:
    """The literal, behind its name where it has one."""
    return f"{fact.subject}: {fact.text}" if fact.subject and fact.kind in _NAMED else fact.text


_NAMED: Final[frozenset[Kind]] = frozenset({"number", "date", "identifier"})


def _ranked(
    entries: Sequence[Entry],
    counter: TokenCounter,
    language: Language,
    protected_kinds: Collection[Kind],
) -> list[_Line]:
    """Lines, the first to take first: protected kinds, then worth per token, the newer of two."""
    lines = []
    for entry in entries:
        text = printable(f"- {render_entry(entry, language)}\n")
        lines.append(_Line(entry, text, max(1, counter.count(text))))
    lines.sort(key=lambda line: (-line.entry.worth / line.tokens, -line.entry.seqs[-1], line.text))
    nth: dict[Kind, int] = {}
    discounted = []
    for line in lines:
        place = nth[line.entry.kind] = nth.get(line.entry.kind, -1) + 1
        is_protected = line.entry.kind in protected_kinds
        factor = 1.0 if is_protected else NEXT_FACTOR**place
        discounted.append((not is_protected, -line.entry.worth * factor / line.tokens, line))
    return [line for *_, line in sorted(discounted, key=lambda ranked: ranked[:2])]


def _chosen(
    ranked: Sequence[_Line],
    room: int,
    protected: Sequence[_Line],
    most: int,
    counter: TokenCounter,
    language: Language,
) -> list[_Line]:
    """Of `protected` what `most` holds, then of all others what of `room` is left."""
    chosen: list[_Line] = []
    headed: set[Kind] = set()
    spent = 0
    for limit, lines in ((most, protected), (room, ranked[len(protected) :])):
        for line in lines:
            kind = line.entry.kind
            heading = 0 if kind in headed else counter.count(f"{HEADINGS[language][kind]}:\n")
            taken = line.tokens + heading
            if taken > limit - spent or line.entry.worth < LEAST_WORTH:
                continue
            chosen.append(line)
            headed.add(kind)
            spent += taken
    return chosen


def _in_order(lines: Sequence[_Line]) -> list[_Line]:
    return sorted(
        lines, key=lambda line: (KINDS.index(line.entry.kind), line.entry.seqs[0], line.text)
    )


def _text(chosen: Sequence[_Line], left_out: int, language: Language) -> str:
    parts, kind = [], None
    for line in _in_order(chosen):
        if line.entry.kind != kind:
            kind = line.entry.kind
            parts.append(f"{HEADINGS[language][kind]}:\n")
        parts.append(line.text)
    if left_out:
        parts.append(_more(left_out, language))
    return "".join(parts).rstrip("\n")


def _more(count: int, language: Language) -> str:
    return MORE[language].format(count=count) if count else ""


_RULES: Final = {f"{titles[kind]}:" for titles in HEADINGS.values() for kind in PROTECTED}
_GONE: Final = re.compile(
    "|".join(re.escape(MORE[one]).replace(r"\{count\}", r"(\d+)") for one in MORE)
)


@dataclass(frozen=True, slots=True)
class _BlockLine:
    place: int
    heading: str
    section: int
    text: str

    @property
    def is_rule(self) -> bool:
        return self.heading in _RULES


def rules_of(text: str) -> str:
    """The standing instructions in a text of facts, with their headings."""
    lines, _ = _read(text)
    return _join([line for line in lines if line.is_rule], "")


def say_partly(text: str, max_tokens: int, counter: TokenCounter, language: Language) -> str:
    """As many lines of `text`, the facts of a record, as fit; the rest is told as a count.

    Standing instructions are taken first, all else in its order. Empty where no line fits.
    """
    if counter.count(text) <= max_tokens:
        return text
    lines, gone = _read(text)
    ranked = sorted(lines, key=lambda line: (not line.is_rule, line.place))
    chosen = _chosen_lines(
        ranked, max_tokens - counter.count(_more(gone + len(lines), language)), counter
    )
    while chosen:
        said = sorted(chosen, key=lambda line: line.place)
        shorter = _join(said, _more(gone + len(lines) - len(said), language))
        if counter.count(shorter) <= max_tokens:
            return shorter
        chosen = chosen[:-1]
    return ""


def _read(text: str) -> tuple[list[_BlockLine], int]:
    """The lines under their headings, and how many are told to be left out already."""
    lines, gone, heading, section = list[_BlockLine](), 0, "", 0
    for place, line in enumerate(text.split("\n")):
        left_out = _GONE.fullmatch(line)
        if left_out is not None:
            gone += int(next(count for count in left_out.groups() if count))
        elif line.endswith((":", "：")) and not line.startswith("- "):
            heading, section = line, section + 1
        else:
            lines.append(_BlockLine(place, heading, section, line))
    return lines, gone


def _chosen_lines(
    ranked: Iterable[_BlockLine], room: int, counter: TokenCounter
) -> list[_BlockLine]:
    chosen, headed = list[_BlockLine](), set[int]()
    for line in ranked:
        new = line.heading and line.section not in headed
        tokens = counter.count(f"{line.heading}\n{line.text}\n" if new else f"{line.text}\n")
        if tokens <= room:
            chosen.append(line)
            headed.add(line.section)
            room -= tokens
    return chosen


def _join(lines: Sequence[_BlockLine], more: str) -> str:
    said, section = list[str](), 0
    for line in lines:
        if line.section != section and line.heading:
            said.append(line.heading)
        section = line.section
        said.append(line.text)
    return "\n".join([*said, more] if more and said else said)
