"""Carries facts and working state verbatim beside a summary.

Working state is pinned passages, the latest memories, the task list and change statistics, read
from the history or given by the application. What a shown message holds is not repeated. Source:
the `ladder` design.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Final
from weakref import WeakKeyDictionary

from ctxcore.assembly.addressees import told_to_model
from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.reading import WHOLE
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import elide, facts_message
from ctxcore.budget import SMALL_TOKENS, TokenBudget
from ctxcore.compaction.triggers import measure
from ctxcore.facts.agent_records import memories_of, passages_of
from ctxcore.facts.facts_block import PROTECTED, render_facts, with_more
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import SearchedText, unlabelled
from ctxcore.facts.values import STATEMENTS, Kind
from ctxcore.messages.values import Message
from ctxcore.salience.ranking import FOCUS_WORTH, NO_WISHES, Wishes
from ctxcore.text.languages import Language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

MOST_MEMORIES: Final = 10  # the latest; source: the `ladder` design
PASSAGES_PART: Final = 4  # chosen: pinned passages may take a quarter of usable
BRIEF_TOKENS: Final = 250  # of a target; chosen: headings and counts take a tenth of it
WHOLE_CHARS: Final = 160  # of a message that is told whole; chosen: two sentences
STATED_SHARE: Final = 0.05  # of all that was said; chosen: below, stray rules of a long talk
_STRETCH = 500  # chosen: messages read at a time

_TITLES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "passages": "Pinned:",
        "memories": "Memories, the latest last:",
        "tasks": "Tasks:",
        "changes": "Changes:",
        "more": "({count} more not shown)",
    },
    "zh": {
        "passages": "固定内容：",
        "memories": "记忆（最新的在后）：",
        "tasks": "任务：",
        "changes": "改动：",
        "more": "（另有 {count} 条未列出）",
    },
}

OF_CALLS: Final[frozenset[Kind]] = frozenset({"number", "amount", "date", "name", "question"})
"""Kinds that are carried where tools are called, since a later call may need them. In mere talk
each is one of many, and its bare words take the room of a message that tells what it means."""

_LEDGERS: WeakKeyDictionary[HistoryView, tuple[int, Ledger]] = WeakKeyDictionary()


def _with_states(view: HistoryView, record: Compaction) -> Compaction:
    """Returns `record` with all passages and memories so far; each message is read only once."""
    last = view.count()
    rows = [row for row in _behind(view, record.read_until, last) if not row.message.is_system]
    passages = [(row.seq, text) for row in rows for text in passages_of(row.message)]
    memories = [(row.seq, text) for row in rows for text in memories_of(row.message)]
    return replace(
        record,
        passages=(*record.passages, *passages),
        memories=_latest((*record.memories, *memories)),
        read_until=last,
    )


def _working_state(
    call: Call,
    budget: TokenBudget,
    record: Compaction,
    ledger: Ledger,
    visible: Collection[int],
    hidden: Collection[int],
) -> Iterator[str]:
    """Yields the texts of the working state.

    `visible` are the messages that are shown unchanged, `hidden` those whose passages and memories
    are not repeated: the visible and the excluded.
    """
    yield _passages(record, hidden, budget, call.counter)
    sections = _sections(call, record, ledger, visible, hidden)
    yield from _fitting(sections, budget.working_state_tokens, record.language, call.counter)


def _sections(
    call: Call,
    record: Compaction,
    ledger: Ledger,
    visible: Collection[int],
    hidden: Collection[int],
) -> Iterator[tuple[str, list[str]]]:
    """Yields each kind of state with its lines, the most needed line of each last."""
    given, entries = call.working, list(ledger.held())
    tasks = given.tasks if given.tasks is not None else _tasks(entries, visible)
    yield "tasks", [tasks] if tasks else []
    memories = given.memories
    if memories is None:
        memories = tuple(text for seq, text in record.memories if seq not in hidden)
    yield "memories", [f"- {text}" for text in memories[-MOST_MEMORIES:]]
    changes = _changes(entries, visible) if given.changes is None else [given.changes]
    yield "changes", [line for line in changes if line]


def _fitting(
    sections: Iterable[tuple[str, Sequence[str]]],
    room_tokens: int,
    language: Language,
    counter: TokenCounter,
) -> Iterator[str]:
    """Yields the sections within the room: the last lines of each, and how many were left out."""
    titles = _TITLES[language]
    for name, lines in sections:
        if not lines:
            continue
        kept, left = list[str](), room_tokens - counter.count(titles[name]) - 1
        for line in reversed(lines):
            size = counter.count(line) + 1
            if size > left:
                break
            left -= size
            kept.insert(0, line)
        if not kept and left > 0:
            kept = [elide(lines[-1], left - 1, counter)]
            left = 0
        gone = len(lines) - len(kept)
        more = [titles["more"].format(count=gone)] if gone else []
        yield "\n".join([titles[name], *more, *kept])
        room_tokens = max(0, left)


def _passages(
    record: Compaction, hidden: Collection[int], budget: TokenBudget, counter: TokenCounter
) -> str:
    """Returns the pinned passages whose messages are not shown; the oldest are cut first."""
    texts = list(dict.fromkeys(text for seq, text in record.passages if seq not in hidden))
    if not texts:
        return ""
    left = max(budget.working_state_tokens, budget.usable_tokens // PASSAGES_PART)
    passages = list[str]()
    for text in reversed(texts):
        shown = text if counter.count(text) < left else elide(text, max(0, left - 1), counter)
        left -= counter.count(shown) + 1
        if shown and left >= 0:
            passages.insert(0, shown)
    return "\n".join([_TITLES[record.language]["passages"], *passages]) if passages else ""


def _tasks(entries: Iterable[Entry], visible: Collection[int]) -> str:
    """Returns the latest task list, an item a line, with how much of it is done."""
    lists = [entry for entry in entries if entry.kind == "todo" and entry.seqs[-1] not in visible]
    if not lists:
        return ""
    items = lists[-1].text.replace("; [", "\n[")
    return f"({lists[-1].note})\n{items}"


def _changes(entries: Iterable[Entry], visible: Collection[int]) -> list[str]:
    """Returns a line for each changed file, the one changed last at the end.

    A diff of a file that was also edited is the same change twice: only the edits are listed.
    """
    changes = [entry for entry in entries if entry.kind in ("change", "file_changed")]
    hidden = [entry for entry in changes if not set(entry.seqs) <= {*visible}]
    edited = {entry.text for entry in hidden if entry.kind == "file_changed"}
    listed = [entry for entry in hidden if entry.kind == "file_changed" or entry.text not in edited]
    listed.sort(key=lambda entry: entry.seqs[-1])
    return [f"- {entry.text} {entry.note}".rstrip() for entry in listed]


def _latest(memories: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Returns the newest different memories, oldest first; a repeated one counts as new."""
    unique = {text: seq for seq, text in memories}
    newest = sorted(((seq, text) for text, seq in unique.items()), key=itemgetter(0))
    return tuple(newest[-MOST_MEMORIES:])


def _behind(view: HistoryView, after: int, last: int) -> Iterator[Counted]:
    """Returns the messages from `after` + 1 to `last`, reading a stretch at a time."""
    starts = range(after + 1, last + 1, _STRETCH)
    return chain.from_iterable(
        view.get(range(start, min(start + _STRETCH, last + 1))) for start in starts
    )


def ledger_at(view: HistoryView) -> Ledger:
    """Returns the ledger of all facts in `view`; of a view that grew only the rest is read."""
    seen, ledger = _LEDGERS.get(view, (-1, Ledger()))
    count = view.count()
    if seen > count:
        seen, ledger = -1, Ledger()
    if seen < count:
        view.standing()  # every context asks for it, and it finds what rules took back
        known = view.taken_back()
        for seq, facts in view.facts():
            if seq > seen:
                ledger.add(seq, facts, known.by(seq, facts))
        _LEDGERS[view] = (count, ledger)
    return ledger


def ledger_for(view: HistoryView, call: Call) -> Ledger:
    """Returns the ledger of `view`; an empty one if the policy carries no facts."""
    return ledger_at(view) if call.budget and call.budget.carried_tokens else Ledger()


@dataclass(frozen=True, slots=True)
class Restored:
    """Facts to carry in the room that a summary left, the most important first."""

    entries: tuple[Entry, ...] = ()
    max_tokens: int = 0


NOTHING_RESTORED: Final = Restored()


def with_facts(
    view: HistoryView,
    call: Call,
    record: Compaction,
    ledger: Ledger,
    wishes: Wishes = NO_WISHES,
    *,
    is_talk: bool = False,
    restored: Restored = NOTHING_RESTORED,
) -> Compaction:
    """Returns `record` with the working state and the facts that nothing else in the context holds.

    Facts that people have `wishes` for come first; those that are `restored` come last, in a room
    of their own. The record has then seen all of `view`: facts revoked there are not carried.
    """
    record = replace(record, facts="", facts_restored=(), seen_until=view.count())
    budget = call.budget
    if budget is None or not budget.carried_tokens:
        return record
    visible, excluded = _visible(view, call, record), view.anchors().excluded
    parts = list[str]()
    if budget.working_state_tokens:
        record = _with_states(view, record)
        parts += _working_state(call, budget, record, ledger, visible, visible | {*excluded})
    if budget.facts_tokens:
        frame = _frame_tokens(call.counter)
        texts = [record.summary, *(text for _, text in record.shortened)]
        texts += (text for _, calls in record.arguments for text in calls if text is not None)
        shown = SearchedText("\n".join(texts))
        entries, room = _of_others(live(ledger), excluded), budget.facts_tokens
        if not wishes:
            entries = told_to_model(view, entries, staying(view, record))
        if is_talk:
            room = int(budget.usable_tokens * (call.policy.facts_ratio or 0))
            entries = [entry for entry in entries if entry.kind not in OF_CALLS]
        first, first_room = set(PROTECTED), budget.min_instruction_tokens
        brief: Mapping[int, str] | None = None
        if budget.target_tokens <= SMALL_TOKENS:  # what has no room would all be left out
            most = room_beside(view, call, record)
            first_room, room = min(first_room, most), min(room, most)
            if stated_tokens(view, call):
                first, first_room = first | {*STATEMENTS}, most
                if is_talk and budget.target_tokens <= BRIEF_TOKENS:
                    brief = _told_whole(view, ledger)
        carried = render_facts(
            _wanted([entry for entry in entries if not shown.says(entry.fact)], wishes),
            max_tokens=room - frame,
            protected_kinds=first,
            protected_tokens=first_room - frame,
            counter=call.counter,
            language=record.language,
            visible=visible,
            brief=brief,
        )
        if restored.entries:
            before = {entry.fact for entry in carried.entries}
            carried = with_more(
                carried,
                [entry for entry in restored.entries if entry.fact not in before],
                max_tokens=carried.tokens + restored.max_tokens,
                counter=call.counter,
                language=record.language,
            )
            added = (entry.text for entry in carried.entries if entry.fact not in before)
            record = replace(record, facts_restored=tuple(added))
        parts.append(carried.text)
    return replace(record, facts="\n".join(part for part in parts if part))


def _wanted(entries: Sequence[Entry], wishes: Wishes) -> Sequence[Entry]:
    """Returns `entries` with more salience for those that people want kept."""
    if not (wishes and entries):
        return entries
    shares = wishes.shares([f"{entry.fact.subject} {entry.text}" for entry in entries])
    return [
        replace(entry, salience=entry.salience * (1 + FOCUS_WORTH * share))
        for entry, share in zip(entries, shares, strict=True)
    ]


def facts_room(view: HistoryView, call: Call) -> int:
    """Returns the most tokens that facts take after a compaction: their share, or what rules need.

    The record carries rules within that room; a context puts others back in as much again.
    """
    budget = call.budget
    if budget is None:
        return 0
    if stated := stated_tokens(view, call):
        return budget.working_state_tokens + max(budget.facts_tokens, stated)
    if not budget.facts_tokens or budget.min_instruction_tokens <= budget.facts_tokens:
        return budget.working_state_tokens + budget.facts_tokens
    frame = _frame_tokens(call.counter)
    rules = render_facts(
        _of_others(view.standing(), (*view.anchors().excluded, *view.anchors().system)),
        max_tokens=2 * budget.min_instruction_tokens - frame,
        counter=call.counter,
    )
    needed = frame + rules.tokens if rules.tokens else 0
    return budget.working_state_tokens + max(budget.facts_tokens, needed)


def stated_tokens(view: HistoryView, call: Call) -> int:
    """Returns what the statements that hold take, where they come before all else; elsewhere 0.

    That is in a small window if they need more than rules may take anyway, in the record and in as
    much again put back, and are a good part of all that was said: then what was laid down is what
    the conversation is about.
    """
    budget = call.budget
    if budget is None or not budget.facts_tokens or budget.target_tokens > SMALL_TOKENS:
        return 0
    stated = [entry for entry in live(ledger_at(view)) if entry.kind in STATEMENTS]
    frame = _frame_tokens(call.counter)
    text = render_facts(
        _of_others(stated, (*view.anchors().excluded, *view.anchors().system)),
        max_tokens=WHOLE,
        counter=call.counter,
    )
    needed, said = frame + text.tokens, view.totals(after=0).tokens
    is_much = needed > 2 * budget.min_instruction_tokens and needed >= said * STATED_SHARE
    return min(needed, budget.target_tokens) if is_much else 0


def _told_whole(view: HistoryView, ledger: Ledger) -> dict[int, str]:
    """Returns the short messages with a statement that holds, without their labels.

    None of them says anything that was taken back.
    """
    gone = {seq for entry in ledger.revoked() for seq in entry.seqs}
    seqs = {entry.seqs[-1] for entry in live(ledger) if entry.kind in STATEMENTS} - gone
    texts = {row.seq: " ".join(row.message.text.split()) for row in view.get(seqs)}
    return {seq: unlabelled(text) for seq, text in texts.items() if 0 < len(text) <= WHOLE_CHARS}


def room_beside(view: HistoryView, call: Call, record: Compaction) -> int:
    """Returns what the target leaves for facts beside all else that `record` shows."""
    budget, measured = call.budget, measure(view, call, record)
    if budget is None:
        return 0
    return budget.target_tokens - measured.input_tokens + measured.facts_tokens


def _of_others(entries: Sequence[Entry], seqs: Collection[int]) -> list[Entry]:
    """Returns the entries that some message besides `seqs` holds."""
    left_out = frozenset(seqs)
    return [entry for entry in entries if not left_out.issuperset(entry.seqs)]


def _frame_tokens(counter: TokenCounter) -> int:
    return count_message(facts_message(Compaction(covered_until=0)), counter)


def staying(view: HistoryView, record: Compaction) -> Iterator[Message]:
    """Yields the messages that `record` leaves in the context."""
    behind = range(record.covered_until + 1, view.count() + 1)
    return (row.message for row in view.get({*record.kept, *behind}))


def _visible(view: HistoryView, call: Call, record: Compaction) -> set[int]:
    """Returns the messages that the context shows unchanged."""
    anchors = view.anchors()
    behind = range(record.covered_until + 1, view.count() + 1)
    shortened = {seq for seq, _ in (*record.shortened, *record.arguments)}
    shown = {*behind, *record.kept, *record.pins, *anchors.system}
    if anchors.goal is not None:
        (goal,) = view.get([anchors.goal])
        if goal.sent_tokens <= call.policy.request_tokens:  # it is shown whole
            shown.add(anchors.goal)
    return shown - shortened - {*anchors.excluded}
