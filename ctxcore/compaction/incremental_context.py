"""Extends the context that was built last by new messages, instead of building it anew.

Most contexts between two compactions only grow. Where anything else could change (a message to
repair, less room than a margin, a pin) there is no result, and the context has to be built.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import oversize_tokens
from ctxcore.assembly.history import Counted, HistoryView, media_of
from ctxcore.assembly.history_views import adapted
from ctxcore.assembly.items import Item, Merged, from_row, total
from ctxcore.assembly.legality import Repairer
from ctxcore.assembly.reading import by_block
from ctxcore.assembly.records import Compaction
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_reasoning

_MARGIN_TOKENS = 256  # chosen: bounds of sizes may exceed the sizes by markers and frames
_LOCAL = (
    "merged",
    "leading_assistant",
    "renamed_call",
    "renamed_id",
    "renamed_tool",
)  # repairs that later messages do not change


@dataclass(slots=True, kw_only=True)
class _Base:
    """A context that was built, and the messages added since."""

    active: Compaction
    seen: int
    tokens: int
    """Its size without the thinking of the open turn."""
    fixed_tokens: int
    """Its size without the recent part."""
    end: Sequence[Item]
    """The last block with the messages that are merged into it."""
    end_tokens: int = 0
    end_count: int = 0
    """How many messages the last block makes."""
    is_asking: bool
    """Whether the last user message is shown in its own place."""
    hides: bool
    """Whether any message is not shown as it is, so that a request may recall it."""
    oversize_tokens: int
    """How far bounds of the sizes of shortened tool outputs may exceed the sizes."""
    thinking_tokens: int = 0
    """The size of the model's thinking in the open turn."""
    sent: list[Merged] | None = None
    """The messages without thinking; None where the end is merged with earlier messages."""
    ids: set[str] = field(default_factory=set)
    """Ids of the calls before the last block."""
    thought: dict[int, Merged] = field(default_factory=dict)
    """The open turn's calls with their thinking, by index in `sent`."""

    @property
    def is_open(self) -> bool:
        """Whether the model has yet to see the results of its calls."""
        last = self.end[-1].message
        return last.is_tool_result or bool(last.calls)


class IncrementalContext:
    """Follows the contexts of one growing view under one call.

    A context that a message among the `marked` ones joins, pinned or excluded, has to be built.
    """

    def __init__(self, view: HistoryView, call: Call, marked: Collection[int] = ()) -> None:
        self._marked = frozenset(marked)
        self._view = adapted(view, call.policy, call.counter)
        self._call = call
        self._base: _Base | None = None

    def start(self, context: Context, active: Compaction | None) -> None:
        """Starts from `context`, built of the whole view, which no provider refuses."""
        self._base = None
        active, last = active or NOTHING_COVERED, self._view.count()
        turn = self._view.get(range(self._view.anchors().last_user or 1, last + 1))
        thinking = self._thinking(turn) if self._call.sends_reasoning else 0
        is_at_rest = self._call.policy.is_at_rest(self._view.messages())
        if thinking or is_at_rest or not _shows_all(context, active):
            return
        rows = self._view.tail(1 << 60, after=active.covered_until)
        if not rows or self._shows_more(by_block(rows)[-1]):
            return
        end = _end([from_row(row, "recent", VerdictCode.RECENT()) for row in rows])
        base = self._base = _Base(
            active=active,
            seen=last,
            tokens=context.tokens,
            fixed_tokens=context.tokens - context.breakdown.recent,
            end=end,
            is_asking=(self._view.anchors().last_user or 0) > active.covered_until,
            hides=any(run.verdict != "kept" for run in context.runs),
            oversize_tokens=sum(map(self._above, rows)),
        )
        self._take_sent(base, context.made_of)

    def _take_sent(self, base: _Base, made_of: Sequence[Merged]) -> None:
        """Takes the messages of the context, where those of its end are not merged with others."""
        first = len(made_of) - len(self._legal(base, base.end) or ())
        base.ids.update(_call_ids(made_of[:first]))
        end = self._legal(base, base.end) or []  # anew: the ids before it count now
        base.end_tokens, base.end_count = _size(end), len(end)
        same = [group.message for group in end] == [group.message for group in made_of[first:]]
        turn = self._view.anchors().last_user or 0
        in_turn = (group for group in made_of if group.items[-1].seq >= turn)
        if same and not any(call.extra for group in in_turn for call in group.message.calls):
            base.sent = list(made_of)

    def sent(self) -> list[Merged] | None:
        """Returns the messages that `tokens` counted last; None: the context has to be built."""
        base = self._base
        if base is None or base.sent is None:
            return None
        sent = list(base.sent)
        for place, group in base.thought.items() if base.is_open else ():
            sent[place] = group
        return sent

    def tokens(self, active: Compaction | None) -> int | None:
        """Returns the size of the context of the view now; None: the context has to be built."""
        base = self._base
        if base is None or base.active is not (active or NOTHING_COVERED):
            return None
        new = self._view.get(range(base.seen + 1, self._view.count() + 1))
        if not self._take_all(base, by_block(new)) or not self._has_room(base):
            self._base = None
            return None
        base.seen = self._view.count()
        return base.tokens + (base.thinking_tokens if base.is_open else 0)

    def _take_all(self, base: _Base, blocks: Sequence[Sequence[Counted]]) -> bool:
        """Adds `blocks`; returns False where the context has to be built."""
        is_longer = bool(blocks) and self._shows_more(blocks[-1])
        return not is_longer and all(self._take(base, block) for block in blocks)

    def _take(self, base: _Base, block: Sequence[Counted]) -> bool:
        """Adds a block; returns False where it could change more than the end of the context."""
        head = block[0].message
        is_new = head.role == "user" and not base.is_asking
        is_marked = not self._marked.isdisjoint(row.seq for row in block)
        if head.is_system or is_new or is_marked or self._may_recall(base, block):
            return False
        base.hides = base.hides or any(row.is_shortened for row in block)
        items = [*base.end, *(from_row(row, "recent", VerdictCode.RECENT()) for row in block)]
        groups = self._legal(base, items)
        if groups is None:
            return False
        base.tokens += _size(groups) - base.end_tokens
        base.oversize_tokens += sum(map(self._above, block))
        if head.role == "user":
            base.thinking_tokens = 0
        elif self._call.sends_reasoning:
            base.thinking_tokens += self._thinking(block)
        self._follow(base, groups, _end(items))
        if head.role == "user":
            base.thought.clear()
        return True

    def _may_recall(self, base: _Base, block: Sequence[Counted]) -> bool:
        """Whether a request may recall something: a new one, or the last once a block hides it."""
        if self._call.policy.recall_ratio is None:
            return False
        if block[0].message.role == "user":
            return base.hides
        return not base.hides and any(row.is_shortened for row in block)

    def _follow(self, base: _Base, groups: Sequence[Merged], end: Sequence[Item]) -> None:
        """Replaces the messages of the last block by `groups`; the new last block is `end`."""
        if base.sent is not None:
            first = len(base.sent) - base.end_count
            base.sent[first:] = groups
            if self._call.sends_reasoning:
                self._think(base, base.sent, first)
        legal_end = self._legal(base, end) or []
        base.end, base.end_tokens, base.end_count = end, _size(legal_end), len(legal_end)
        base.ids.update(_call_ids(groups[: len(groups) - len(legal_end)]))

    def _think(self, base: _Base, sent: Sequence[Merged], first: int) -> None:
        """Records the thinking of the open turn in the messages from index `first` on."""
        for place, group in enumerate(sent[first:], start=first):
            base.thought.pop(place, None)
            tokens = count_reasoning(group.message, self._call.counter)
            if group.message.calls and (tokens or any(call.extra for call in group.message.calls)):
                base.thought[place] = group.with_reasoning(tokens)

    def _legal(self, base: _Base, items: Sequence[Item]) -> list[Merged] | None:
        """Returns `items` as legal messages; None if a repair depends on more than neighbours."""
        repairer = Repairer(self._call.counter, taken_ids=base.ids, names=self._call.tool_names)
        groups = repairer.repair(items)
        if any(repair.kind not in _LOCAL for repair in repairer.repairs):
            return None
        return [group for group in groups if group.items[0].is_laid_out]  # not the first word

    def _has_room(self, base: _Base) -> bool:
        """Whether all fits by a margin, so that nothing has to be left out."""
        policy, budget = self._call.policy, self._call.budget
        after = base.active.covered_until
        if budget is None:
            return True
        spare = base.oversize_tokens + base.thinking_tokens + _MARGIN_TOKENS
        recent = self._view.totals(after=after).tokens + spare
        limits = [budget.usable_tokens]
        limits += [budget.history_tokens] if policy.trigger_on == "history" else []
        fits_recent = not policy.skips_chains or recent <= budget.recent_tokens
        return fits_recent and base.fixed_tokens + recent <= min(limits)

    def _above(self, row: Counted) -> int:
        """Returns how far the bound of a tool output shortened at append may exceed its size."""
        limit = oversize_tokens(self._call.policy, self._call.budget)
        if limit is None or row.short_tokens is None:
            return 0
        return max(0, min(row.tokens, limit + 1) - row.short_tokens)

    def _shows_more(self, block: Sequence[Counted]) -> bool:
        """Whether outputs of the open calls may be longer than they stay, or have their media."""
        if not block[-1].message.is_tool_result:
            return False
        cut = [row for row in block if row.message.is_tool_result and row.short is not None]
        is_longer = bool(cut) and self._call.least_output_tokens is not None
        return is_longer or any(media_of(row.message.content) for row in cut)

    def _thinking(self, rows: Iterable[Counted]) -> int:
        """Returns the size of the thinking that is sent back with the calls of an open turn."""
        asking = (row.message for row in rows if row.message.calls)
        return sum(count_reasoning(message, self._call.counter) for message in asking)


def _shows_all(context: Context, active: Compaction) -> bool:
    """Whether all uncovered messages are in `context`, unchanged or shortened for good."""
    if not context.breakdown.recent or any(repair.kind not in _LOCAL for repair in context.repairs):
        return False
    uncovered = (run for run in context.runs if run.last >= active.covered_until)
    return all(run.verdict in ("kept", "compressed") for run in uncovered)


def _call_ids(groups: Iterable[Merged]) -> set[str]:
    return {call.id for group in groups for call in group.message.calls}


def _size(groups: Iterable[Merged]) -> int:
    return sum(total(group.items) for group in groups)


def _end(items: Sequence[Item]) -> Sequence[Item]:
    """Returns the last block of `items`, and the neighbours before it that merge into it."""
    first = len(items) - 1
    while first and (items[first].message.is_tool_result or _joins(*items[first - 1 : first + 1])):
        first -= 1
    return items[first:]


def _joins(before: Item, after: Item) -> bool:
    return before.message.role == after.message.role and not before.message.calls
