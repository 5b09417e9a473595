"""Renders facts as a compact text within a token budget, and reads such texts back.

Instructions come first and verbatim; the rest is chosen by salience per token. A count stands for
what is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ctxcore.facts.finding import find_facts
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import unlabelled
from ctxcore.facts.values import KINDS, STATEMENTS, Fact, Kind
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Role, text_message
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

PROTECTED: Final[tuple[Kind, ...]] = ("request", "instruction")
LEAST_WORTH: Final = 0.1  # chosen: what many newer facts have outlived is left out
RULE_WEIGHT: Final = 1.5  # of a line with an instruction in a brief list; chosen
FILES: Final[tuple[Kind, ...]] = ("path", "file_read", "file_changed")
FILE_FACTOR: Final = 2.5
"""Of the salience of a file that was just named once. Chosen, as the next, on half of some sessions
of coding agents and checked on the others: docs/adr/0078-files-at-work.md."""
FILE_HALVING: Final = 40  # messages in which a file that nobody names counts half as much
FILE_LEAST: Final = 0.2  # of that factor, however long ago a file was named
MOST_MERGED: Final = 2_000  # tokens of facts from messages that are no longer passed; chosen

HEADINGS: Final[dict[Language, dict[Kind, str]]] = {
    "en": {
        "request": "Original request",
        "instruction": "Standing instructions",
        "todo": "To-do list",
        "decision": "Decisions",
        "setting": "Settings",
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
        "setting": "设定",
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
class FactsBlock:
    """A text of facts, the entries in it, its tokens, and how many entries were left out."""

    text: str
    entries: tuple[Entry, ...]
    tokens: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    entry: Entry
    text: str
    tokens: int
    is_protected: bool


def render_facts(
    entries: Sequence[Entry],
    *,
    max_tokens: int,
    counter: TokenCounter,
    language: Language = "en",
    protected_kinds: Collection[Kind] = PROTECTED,
    protected_tokens: int = 0,
    visible: Collection[int] = (),
    brief: Mapping[int, str] | None = None,
) -> FactsBlock:
    """The most salient of `entries` as a text of at most `max_tokens`; empty if none fits.

    `visible` are the messages that the context shows verbatim: their facts are not repeated.
    `protected_kinds` are taken before all others, alone in up to `protected_tokens`.
    Where `brief` has the texts of messages that are told whole, these kinds are all there is, in
    one list (see `_brief`).
    """
    shown = frozenset(visible)
    hidden = [entry for entry in entries if shown.isdisjoint(entry.seqs)]
    if brief is not None:
        stated = [entry for entry in hidden if entry.kind in protected_kinds]
        return _brief(stated, brief, max(max_tokens, protected_tokens), counter)
    hidden = _each_file_once(hidden)
    ranked = _ranked(hidden, counter, language, protected_kinds)
    rooms = {True: max(max_tokens, protected_tokens), False: max_tokens}  # by `is_protected`
    chosen: list[_Line] = []
    for left_out in (0, len(hidden)):  # the line with the count takes room as well
        more = counter.count(_more(left_out, language))
        limits = {is_protected: tokens - more for is_protected, tokens in rooms.items()}
        chosen = _chosen(ranked, limits, counter, language)
        if len(chosen) == len(hidden):
            break
    while chosen:
        left_out = len(hidden) - len(chosen)
        lines = sorted(chosen, key=_order)
        text = _text(lines, left_out, language)
        tokens = counter.count(text)
        if tokens <= rooms[chosen[-1].is_protected]:
            entries = tuple(line.entry for line in lines)
            return FactsBlock(text=text, entries=entries, tokens=tokens, left_out=left_out)
        chosen = chosen[:-1]
    return FactsBlock(text="", entries=(), tokens=0, left_out=len(hidden))


def _brief(
    entries: Sequence[Entry], whole: Mapping[int, str], max_tokens: int, counter: TokenCounter
) -> FactsBlock:
    """As many statements as there is room for, in one list in their order.

    For a window where headings and a count would take the room of further statements. What one
    message states stands on one line, with the rest of a short message: it is read together.
    """
    groups: dict[int, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.seqs[-1]):
        groups.setdefault(entry.seqs[-1], []).append(entry)
    lines = {
        seq: printable(f"- {whole.get(seq) or ' '.join(map(render_entry, group))}")
        for seq, group in groups.items()
    }
    sizes = {seq: counter.count(f"{line}\n") for seq, line in lines.items()}
    chosen, left = set[int](), max_tokens
    for seq in sorted(groups, key=lambda seq: (sizes[seq] / _weight(groups[seq]), -seq)):
        if sizes[seq] <= left:
            chosen.add(seq)
            left -= sizes[seq]
    text = "\n".join(lines[seq] for seq in sorted(chosen))
    kept = tuple(entry for seq in sorted(chosen) for entry in groups[seq])
    tokens = counter.count(text) if text else 0
    return FactsBlock(text=text, entries=kept, tokens=tokens, left_out=len(entries) - len(kept))


def _weight(stated: Iterable[Entry]) -> float:
    """How much a line counts: what is demanded more than what is told."""
    return max(RULE_WEIGHT if entry.kind == "instruction" else 1.0 for entry in stated)


def with_more(
    block: FactsBlock,
    more: Sequence[Entry],
    *,
    max_tokens: int,
    counter: TokenCounter,
    language: Language = "en",
) -> FactsBlock:
    """`block` with those of the entries `more`, the first ones first, that fit `max_tokens` in all.

    They are entries that the block left out, and no entry of it gives way.
    """
    chosen, left_out, shown = list(block.entries), block.left_out, block
    for entry in more:
        entries = [*chosen, entry]
        text = _text(_in_order(entries, language), max(0, left_out - 1), language)
        tokens = counter.count(text)
        if tokens > max_tokens:
            continue
        chosen, left_out = entries, max(0, left_out - 1)
        shown = FactsBlock(text=text, entries=tuple(chosen), tokens=tokens, left_out=left_out)
    return shown


def _in_order(entries: Iterable[Entry], language: Language) -> list[_Line]:
    lines = [
        _Line(entry, printable(f"- {render_entry(entry, language)}\n"), 0, is_protected=False)
        for entry in entries
    ]
    return sorted(lines, key=_order)


def _order(line: _Line) -> tuple[int, int, str]:
    return KINDS.index(line.entry.kind), line.entry.seqs[0], line.text


def render_request(text: str, language: Language) -> str:
    """The original request as a text of facts."""
    return f"{HEADINGS[language]['request']}:\n- {' '.join(text.split())}" if text.strip() else ""


def parse_facts_block(text: str) -> tuple[Fact, ...]:
    """The facts in a text that `carry` made, as far as their lines tell them.

    Instructions are found anew, so that they can be taken back; of others the line is the literal.
    """
    kind: Kind | None = None
    found: list[Fact] = []
    for line in text.splitlines():
        kind = _KIND_OF.get(line.rstrip(":："), kind)
        if not line.startswith("- ") or not (words := line[2:].strip()):
            continue
        found += _stated_on(words) if kind is None else [_fact_on(words, kind)]
    return tuple(found)


def _stated_on(line: str) -> list[Fact]:
    """The statements on a line without a heading."""
    stated = [
        fact
        for fact in find_facts(text_message("user", line))
        if fact.kind in STATEMENTS and fact.effect != "revokes"
    ]
    return stated or [Fact(kind="setting", text=line, key=line.casefold(), role="user")]


def merge_blocks(texts: Iterable[str], counter: TokenCounter, language: Language) -> str:
    """Several texts of facts as one, oldest first: of each thing the newest, within a limit."""
    ledger = Ledger()
    for seq, text in enumerate(texts, start=1):
        ledger.add(seq, parse_facts_block(text))
    return render_facts(
        live(ledger), max_tokens=MOST_MERGED, counter=counter, language=language
    ).text


_OF_PEOPLE: Final = (*PROTECTED, "setting")


def _fact_on(line: str, kind: Kind) -> Fact:
    """The fact that is found in a line and is all of it, else one of its words."""
    role: Role = "user" if kind in _OF_PEOPLE else "assistant"
    for fact in find_facts(text_message(role, line)):
        if fact.kind == kind and line in (_with_name(fact), fact.text):
            return fact
    return Fact(kind=kind, text=line, key=line.casefold(), role=role)


def render_entry(entry: Entry, language: Language = "en") -> str:
    """An entry on one line: its name where it has one, the literal, what became of it."""
    fact, note = entry.fact, entry.note
    named = _with_name(fact)
    match fact.kind:
        case "error" if note:
            return named + _FIXED[language].format(note=note)
        case "number" | "date" if note:
            return named + _BEFORE[language].format(note=note)
        case "todo" | "change" | "file_changed" if note:
            return f"{note} {named}" if fact.kind == "todo" else f"{named} ({note})"
        case _:
            return named


def _with_name(fact: Fact) -> str:
    """The literal, behind its name where it has one; a statement without its label."""
    if fact.kind in STATEMENTS:
        return unlabelled(fact.text)
    return f"{fact.subject}: {fact.text}" if fact.subject and fact.kind in _NAMED else fact.text


_NAMED: Final[frozenset[Kind]] = frozenset({"number", "date", "identifier"})


def _each_file_once(entries: Sequence[Entry]) -> list[Entry]:
    """`entries` without the paths of files of which it is told that they were read or changed."""
    told = {entry.text for entry in entries if entry.kind in ("file_read", "file_changed")}
    return [entry for entry in entries if entry.kind != "path" or entry.text not in told]


def _ranked(
    entries: Sequence[Entry],
    counter: TokenCounter,
    language: Language,
    protected_kinds: Collection[Kind],
) -> list[_Line]:
    """Lines in the order to take them: protected kinds, then salience per token, then the newer."""
    lines, last = [], max((entry.seqs[-1] for entry in entries), default=0)
    for entry in entries:
        text = printable(f"- {render_entry(entry, language)}\n")
        tokens = max(1, counter.count(text))
        lines.append(_Line(entry, text, tokens, entry.kind in protected_kinds))
    lines.sort(key=lambda line: (-_per_token(line, last), -line.entry.seqs[-1], line.text))
    return sorted(lines, key=lambda line: not line.is_protected)


def _per_token(line: _Line, last: int) -> float:
    """What a line is worth per token, where `last` is the newest message that a line is from.

    A file is worth more the more messages name it and the later, since an agent goes on with the
    files that it is at. The root of its tokens counts: a long path is no less needed.
    """
    entry = line.entry
    if entry.kind not in FILES:
        return entry.salience / line.tokens
    freshness: float = 0.5 ** ((last - entry.seqs[-1]) / FILE_HALVING)
    factor = FILE_FACTOR * entry.mentions * (FILE_LEAST + (1 - FILE_LEAST) * freshness)
    return entry.salience * factor / math.sqrt(line.tokens)


def _chosen(
    ranked: Iterable[_Line], limits: dict[bool, int], counter: TokenCounter, language: Language
) -> list[_Line]:
    """The lines, protected ones first, that their limit leaves room for."""
    chosen: list[_Line] = []
    headed: set[Kind] = set()
    spent = 0
    for line in ranked:
        kind = line.entry.kind
        heading = 0 if kind in headed else counter.count(f"{HEADINGS[language][kind]}:\n")
        cost = line.tokens + heading
        if cost <= limits[line.is_protected] - spent and line.entry.salience >= LEAST_WORTH:
            chosen.append(line)
            headed.add(kind)
            spent += cost
    return chosen


def _text(lines: Iterable[_Line], left_out: int, language: Language) -> str:
    parts = []
    for kind, of_kind in groupby(lines, key=lambda line: line.entry.kind):
        parts += [f"{HEADINGS[language][kind]}:\n", *(line.text for line in of_kind)]
    return "".join([*parts, _more(left_out, language)]).rstrip("\n")


def _more(count: int, language: Language) -> str:
    return MORE[language].format(count=count) if count else ""


_RULES: Final = {f"{titles[kind]}:" for titles in HEADINGS.values() for kind in PROTECTED}
_LEFT_OUT: Final = re.compile(
    "|".join(re.escape(more).replace(r"\{count\}", r"(\d+)") for more in MORE.values())
)


@dataclass(frozen=True, slots=True)
class _BlockLine:
    place: int
    heading: str
    section: int
    text: str

    @property
    def is_rule(self) -> bool:
        return not self.heading or self.heading in _RULES


def rules_of(text: str) -> str:
    """The standing instructions in a text of facts, with their headings."""
    lines, _ = _parse_block(text)
    return _join([line for line in lines if line.is_rule], "")


def shorten_block(text: str, max_tokens: int, counter: TokenCounter, language: Language) -> str:
    """As many lines of a text of facts as fit, and the count of the others.

    Standing instructions are taken first, all else in its order. Empty where no line fits.
    """
    if counter.count(text) <= max_tokens:
        return text
    lines, left_out = _parse_block(text)
    counts = all(line.heading for line in lines)  # a brief list has no room for that
    room = max_tokens - (counter.count(_more(left_out + len(lines), language)) if counts else 0)
    chosen, headed = list[_BlockLine](), set[int]()
    for line in sorted(lines, key=lambda line: (not line.is_rule, line.place)):
        is_headed = not line.heading or line.section in headed
        tokens = counter.count(f"{line.text}\n" if is_headed else f"{line.heading}\n{line.text}\n")
        if tokens <= room:
            chosen.append(line)
            headed.add(line.section)
            room -= tokens
    while chosen:
        in_order = sorted(chosen, key=lambda line: line.place)
        gone = left_out + len(lines) - len(chosen)
        shorter = _join(in_order, _more(gone, language) if counts else "")
        if counter.count(shorter) <= max_tokens:
            return shorter
        chosen = chosen[:-1]
    return ""


def _parse_block(text: str) -> tuple[list[_BlockLine], int]:
    """The lines under their headings, and the count of those left out already."""
    lines, left_out, heading, section = list[_BlockLine](), 0, "", 0
    for place, line in enumerate(text.split("\n")):
        if found := _LEFT_OUT.fullmatch(line):
            left_out += int(found[1] or found[2])
        elif line.endswith((":", "：")) and not line.startswith("- "):
            heading, section = line, section + 1
        else:
            lines.append(_BlockLine(place, heading, section, line))
    return lines, left_out


def _join(lines: Iterable[_BlockLine], more: str) -> str:
    parts: list[str] = []
    for (_, heading), of_section in groupby(lines, key=lambda line: (line.section, line.heading)):
        parts += [heading] if heading else []
        parts += [line.text for line in of_section]
    return "\n".join([*parts, more] if more and parts else parts)
