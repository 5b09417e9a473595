"""Owns the working state that stays word for word beside a summary, whoever wrote that.

Pinned passages, the latest memories, the task list with its progress, and change statistics: read
from the history, or as the application says. What a shown message says is not said again. Source:
the `ladder` design.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final
from weakref import WeakKeyDictionary

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import elide, facts_message
from ctxcore.budget import TokenBudget
from ctxcore.facts.agent_records import memories_of, passages_of
from ctxcore.facts.facts_block import carry
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import SearchedText
from ctxcore.text.languages import Language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

MOST_MEMORIES: Final = 10  # the latest; the document names the number and no setting for it
PASSAGES_PART: Final = 4  # of usable that pinned passages may take: people asked for them

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


def collected(view: HistoryView, call: Call, record: Compaction) -> Compaction:
    """`record` with the passages and memories of all that was said; each message is read once."""
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


def working_state(
    call: Call,
    record: Compaction,
    ledger: Ledger,
    *,
    visible: Collection[int],
    out: Collection[int],
) -> str:
    """The working state of `record` as a text; empty where there is none.

    `visible` are the messages that are shown as they are, `out` those that somebody excluded.
    """
    budget = call.budget
    if budget is None or not budget.working_state_tokens:
        return ""
    room = budget.working_state_tokens
    parts = [
        _passages(record, {*visible, *out}, budget, call.counter),
        *_fitting(
            _sections(call, record, ledger, visible, out), room, record.language, call.counter
        ),
    ]
    return "\n".join(part for part in parts if part)


def _sections(
    call: Call, record: Compaction, ledger: Ledger, visible: Collection[int], out: Collection[int]
) -> Iterator[tuple[str, list[str]]]:
    """Each kind of state with its lines, the most needed line of each last."""
    told, entries = call.working, list(ledger.held())
    tasks = told.tasks if told.tasks is not None else _tasks(entries, visible)
    yield "tasks", [tasks] if tasks else []
    hidden = (text for seq, text in record.memories if seq not in {*visible, *out})
    memories = list(hidden if told.memories is None else told.memories)
    yield "memories", [f"- {text}" for text in memories[-MOST_MEMORIES:]]
    changes = _changes(entries, visible) if told.changes is None else [told.changes]
    yield "changes", [line for line in changes if line]


def _fitting(
    sections: Iterable[tuple[str, Sequence[str]]],
    room_tokens: int,
    language: Language,
    counter: TokenCounter,
) -> Iterator[str]:
    """The sections within the room; of each the last lines, and how many were left out."""
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
    """Pinned passages whose messages are not shown; the oldest are cut first."""
    texts = list(dict.fromkeys(text for seq, text in record.passages if seq not in hidden))
    if not texts:
        return ""
    left = max(budget.working_state_tokens, budget.usable_tokens // PASSAGES_PART)
    told = list[str]()
    for text in reversed(texts):
        shown = text if counter.count(text) < left else elide(text, max(0, left - 1), counter)
        left -= counter.count(shown) + 1
        if shown and left >= 0:
            told.insert(0, shown)
    return "\n".join([_TITLES[record.language]["passages"], *told]) if told else ""


def _tasks(entries: Iterable[Entry], visible: Collection[int]) -> str:
    """The latest task list, an item a line, with how much of it is done."""
    lists = [one for one in entries if one.kind == "todo" and one.seqs[-1] not in visible]
    if not lists:
        return ""
    items = lists[-1].text.replace("; [", "\n[")
    return f"({lists[-1].note})\n{items}"


def _changes(entries: Iterable[Entry], visible: Collection[int]) -> list[str]:
    """A line for each changed file, the one changed last at the end.

    What a diff says of a file that was also edited is the same change twice: the edits are told.
    """
    found = [one for one in entries if one.kind in ("change", "file_changed")]
    hidden = [one for one in found if not set(one.seqs) <= {*visible}]
    edited = {one.text for one in hidden if one.kind == "file_changed"}
    told = [one for one in hidden if one.kind == "file_changed" or one.text not in edited]
    told.sort(key=lambda one: one.seqs[-1])
    return [f"- {one.text} {one.note}".rstrip() for one in told]


def _latest(memories: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """The newest different memories, oldest first; one that is said again counts as new."""
    unique = {text: seq for seq, text in memories}
    newest = sorted(((seq, text) for text, seq in unique.items()), key=lambda one: one[0])
    return tuple(newest[-MOST_MEMORIES:])


def _behind(view: HistoryView, after: int, last: int) -> Iterator[Counted]:
    """The messages behind `after`, a stretch at a time."""
    starts = range(after + 1, last + 1, _STRETCH)
    return chain.from_iterable(
        view.get(range(start, min(start + _STRETCH, last + 1))) for start in starts
    )


_STRETCH = 500


def ledger_at(view: HistoryView) -> Ledger:
    """What holds of all that was said in `view`; of a view that grew only the rest is read."""
    seen, ledger = _LEDGERS.get(view, (-1, Ledger()))
    count = view.count()
    if seen > count:
        seen, ledger = -1, Ledger()
    if seen < count:
        for seq, facts in view.facts():
            if seq > seen:
                ledger.add(seq, facts)
        _LEDGERS[view] = (count, ledger)
    return ledger


_LEDGERS: WeakKeyDictionary[HistoryView, tuple[int, Ledger]] = WeakKeyDictionary()


def ledger_for(view: HistoryView, call: Call) -> Ledger:
    """The ledger of `view` where the policy carries facts, else an empty one: it takes reading."""
    return ledger_at(view) if call.budget and call.budget.carried_tokens else Ledger()


def with_facts(view: HistoryView, call: Call, record: Compaction, ledger: Ledger) -> Compaction:
    """`record` with the working state and the facts of what it covers, where nothing else in the
    context says them verbatim.

    It has then seen all of `view`: what was taken back there is not carried.
    """
    record, budget = replace(record, facts="", seen_until=view.count()), call.budget
    if budget is None or not budget.carried_tokens:
        return record
    parts = []
    if budget.working_state_tokens:
        record, visible = collected(view, call, record), _visible(view, call, record)
        out = view.anchors().excluded
        parts.append(working_state(call, record, ledger, visible=visible, out=out))
    if budget.facts_tokens:
        parts.append(_facts(view, call, budget, record, ledger))
    return replace(record, facts="\n".join(part for part in parts if part))


def _facts(
    view: HistoryView, call: Call, budget: TokenBudget, record: Compaction, ledger: Ledger
) -> str:
    frame = _frame_tokens(call.counter)
    told = SearchedText("\n".join((record.summary, *(text for _, text in record.shortened))))
    others = _of_others(live(ledger), view.anchors().excluded)
    carried = carry(
        [entry for entry in others if not told.says(entry.fact)],
        max_tokens=budget.facts_tokens - frame,
        protected_tokens=budget.least_rules_tokens - frame,
        counter=call.counter,
        language=record.language,
        visible=_visible(view, call, record),
    )
    return carried.text


def facts_room(view: HistoryView, call: Call) -> int:
    """The most that is carried after a compaction: its share, or what rules need beyond it.

    The record carries rules in so much room, a context puts others back in as much again.
    """
    budget = call.budget
    if budget is None:
        return 0
    return budget.working_state_tokens + _rules_room(view, call, budget)


def _rules_room(view: HistoryView, call: Call, budget: TokenBudget) -> int:
    if not budget.facts_tokens:
        return 0
    if budget.least_rules_tokens <= budget.facts_tokens:
        return budget.facts_tokens
    frame = _frame_tokens(call.counter)
    rules = carry(
        _of_others(view.standing(), (*view.anchors().excluded, *view.anchors().system)),
        max_tokens=2 * budget.least_rules_tokens - frame,
        counter=call.counter,
    )
    return max(budget.facts_tokens, frame + rules.tokens) if rules.tokens else budget.facts_tokens


def _of_others(entries: Sequence[Entry], seqs: Collection[int]) -> list[Entry]:
    """Those of `entries` that some message besides `seqs` says: an excluded one says nothing."""
    left_out = frozenset(seqs)
    return [entry for entry in entries if not left_out.issuperset(entry.seqs)]


def _frame_tokens(counter: TokenCounter) -> int:
    return count_message(facts_message(Compaction(covered_until=0)), counter)


def _visible(view: HistoryView, call: Call, record: Compaction) -> set[int]:
    """The messages that the context shows as they are."""
    anchors = view.anchors()
    behind = range(record.covered_until + 1, view.count() + 1)
    shortened = {seq for seq, _ in record.shortened}
    shown = {*behind, *record.kept, *record.pins, *anchors.system, *_whole_goal(view, call)}
    return shown - shortened - {*anchors.excluded}


def _whole_goal(view: HistoryView, call: Call) -> Iterator[int]:
    """The original request, where it stands whole before all that is covered."""
    goal = view.anchors().goal
    if goal is not None:
        (row,) = view.get([goal])
        if row.sent_tokens <= call.policy.request_tokens:
            yield goal
