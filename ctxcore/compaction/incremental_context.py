"""Owns a context that is the one built last with new messages behind it: its size, its messages.

Between two compactions most contexts are. Where anything else could change (a message to repair,
less room than a margin, a pin) there is no answer, and the context has to be built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import oversize_tokens
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.history_views import adapted
from ctxcore.assembly.items import Item, Merged, from_row, total
from ctxcore.assembly.legality import Repairer
from ctxcore.assembly.reading import by_block
from ctxcore.assembly.records import Compaction
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_reasoning

_MARGIN_TOKENS = 256  # what bounds of sizes may be above the sizes: markers, frames, a first word
_LOCAL = (
    "merged",
    "leading_assistant",
    "renamed_call",
    "renamed_id",
    "renamed_tool",
)  # what comes behind leaves them as they are


@dataclass(slots=True, kw_only=True)
class _Base:
    """A context that was built, and what has come behind it since."""

    active: Compaction
    seen: int
    tokens: int
    """Without the thinking of the open turn."""
    fixed_tokens: int
    """All of it but the recent part."""
    end: Sequence[Item]
    """The last block with what is merged into it."""
    end_tokens: int = 0
    end_count: int = 0
    """How many messages the last block makes."""
    is_asking: bool
    """Whether the last user message is shown where it was said."""
    oversize_tokens: int
    """What bounds of the sizes of shortened tool outputs may be above their sizes."""
    thinking_tokens: int = 0
    """What the model thought in the open turn."""
    sent: list[Merged] | None = None
    """What is sent, thinking left out; None where the end is not a message by itself."""
    ids: set[str] = field(default_factory=set)
    """Of the calls before the last block."""
    thought: dict[int, Merged] = field(default_factory=dict)
    """Places in `sent` of the open turn's calls, and what is sent there with their thinking."""

    @property
    def is_open(self) -> bool:
        """Whether the model has yet to see its calls answered."""
        last = self.end[-1].message
        return last.is_tool_result or bool(last.calls)


class IncrementalContext:
    """Follows the contexts of one growing view under one call."""

    def __init__(self, view: HistoryView, call: Call) -> None:
        self._view = adapted(view, call.policy, call.counter)
        self._call = call
        self._base: _Base | None = None

    def start(self, context: Context, active: Compaction | None) -> None:
        """`context` was built of all that the view shows now, and no provider refuses it."""
        self._base = None
        active, last = active or NOTHING_COVERED, self._view.count()
        thinking = self._thinking(self._turn()) if self._call.sends_reasoning else 0
        if thinking or self._is_at_rest() or not _shows_all(context, active):
            return
        rows = self._view.tail(1 << 60, after=active.covered_until)
        if not rows:
            return
        end = _end([from_row(row, "recent", VerdictCode.RECENT()) for row in rows])
        base = self._base = _Base(
            active=active,
            seen=last,
            tokens=context.tokens,
            fixed_tokens=context.tokens - context.breakdown.recent,
            end=end,
            is_asking=(self._view.anchors().last_user or 0) > active.covered_until,
            oversize_tokens=sum(map(self._above, rows)),
        )
        self._take_sent(base, context.made_of)

    def _take_sent(self, base: _Base, made_of: Sequence[Merged]) -> None:
        """The messages of the context, where those of its end stand by themselves."""
        first = len(made_of) - len(self._legal(base, base.end) or ())
        base.ids.update(_call_ids(made_of[:first]))
        end = self._legal(base, base.end) or []
        base.end_tokens, base.end_count = _size(end), len(end)
        same = [group.message for group in end] == [group.message for group in made_of[first:]]
        turn = self._view.anchors().last_user or 0
        asked = (group for group in made_of if group.items[-1].seq >= turn)
        if same and not any(call.extra for group in asked for call in group.message.calls):
            base.sent = list(made_of)

    def sent(self) -> list[Merged] | None:
        """What is sent of what `tokens` last gave the size of; None: it has to be built."""
        base = self._base
        if base is None or base.sent is None:
            return None
        sent = list(base.sent)
        for place, group in base.thought.items() if base.is_open else ():
            sent[place] = group
        return sent

    def tokens(self, active: Compaction | None) -> int | None:
        """The size of the context of what the view shows now; None: it has to be built."""
        base = self._base
        if base is None or base.active is not (active or NOTHING_COVERED):
            return None
        new = self._view.get(range(base.seen + 1, self._view.count() + 1))
        if not all(self._take(base, block) for block in by_block(new)) or not self._has_room(base):
            self._base = None
            return None
        base.seen = self._view.count()
        return base.tokens + (base.thinking_tokens if base.is_open else 0)

    def _is_at_rest(self) -> bool:
        """Whether the policy does not yet do what it does to longer histories."""
        return self._call.policy.is_at_rest(self._view.messages())

    def _take(self, base: _Base, block: Sequence[Counted]) -> bool:
        """Adds a block; False where it could change more than the end of the context."""
        head = block[0].message
        is_new = head.role == "user" and not base.is_asking
        if head.is_system or is_new:
            return False
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

    def _follow(self, base: _Base, groups: Sequence[Merged], end: Sequence[Item]) -> None:
        """Takes `groups` in place of those of the last block; the new one ends with `end`."""
        if base.sent is not None:
            first = len(base.sent) - base.end_count
            base.sent[first:] = groups
            if self._call.sends_reasoning:
                self._think(base, base.sent, first)
        legal_end = self._legal(base, end) or []
        base.end, base.end_tokens, base.end_count = end, _size(legal_end), len(legal_end)
        base.ids.update(_call_ids(groups[: len(groups) - len(legal_end)]))

    def _think(self, base: _Base, sent: Sequence[Merged], first: int) -> None:
        """Notes the thinking of the open turn in the messages from place `first` on."""
        for place, group in enumerate(sent[first:], start=first):
            base.thought.pop(place, None)
            tokens = count_reasoning(group.message, self._call.counter)
            if group.message.calls and (tokens or any(one.extra for one in group.message.calls)):
                base.thought[place] = group.with_reasoning(tokens)

    def _legal(self, base: _Base, items: Sequence[Item]) -> list[Merged] | None:
        """`items` as legal messages; None where more than their neighbours matters."""
        repairer = Repairer(self._call.counter, taken_ids=base.ids, names=self._call.tool_names)
        groups = repairer.repair(items)
        if any(repair.kind not in _LOCAL for repair in repairer.repairs):
            return None
        return [group for group in groups if group.items[0].is_laid_out]  # not the first word

    def _has_room(self, base: _Base) -> bool:
        """Whether all fits by so much that nothing that is sent can give way to it."""
        policy, budget = self._call.policy, self._call.budget
        after = base.active.covered_until
        lookback = policy.lookback_messages
        if lookback is not None and self._view.messages(after=after) > lookback:
            return False
        if budget is None:
            return True
        spare = base.oversize_tokens + base.thinking_tokens + _MARGIN_TOKENS
        recent = self._view.totals(after=after).tokens + spare
        limits = [budget.usable_tokens]
        limits += [budget.history_tokens] if policy.trigger_on == "history" else []
        fits_recent = not policy.skips_chains or recent <= budget.recent_tokens
        return fits_recent and base.fixed_tokens + recent <= min(limits)

    def _above(self, row: Counted) -> int:
        """How far the bound of a tool output shortened at append may be above its size."""
        limit = oversize_tokens(self._call.policy, self._call.budget)
        if limit is None or row.short_tokens is None:
            return 0
        return max(0, min(row.tokens, limit + 1) - row.short_tokens)

    def _turn(self) -> list[Counted]:
        first = self._view.anchors().last_user or 1
        return self._view.get(range(first, self._view.count() + 1))

    def _thinking(self, rows: Iterable[Counted]) -> int:
        """The thinking that goes back beside the calls of an open turn."""
        asking = (row.message for row in rows if row.message.calls)
        return sum(count_reasoning(message, self._call.counter) for message in asking)


def _shows_all(context: Context, active: Compaction) -> bool:
    """Whether everything uncovered is in `context` as it was said, or as it always is."""
    if not context.breakdown.recent or any(one.kind not in _LOCAL for one in context.repairs):
        return False
    uncovered = (run for run in context.runs if run.last >= active.covered_until)
    return all(run.verdict in ("kept", "compressed") for run in uncovered)


def _call_ids(groups: Iterable[Merged]) -> set[str]:
    return {call.id for group in groups for call in group.message.calls}


def _size(groups: Iterable[Merged]) -> int:
    return sum(total(group.items) for group in groups)


def _end(items: Sequence[Item]) -> Sequence[Item]:
    """The last block of `items`, and the neighbours before it that are merged into it."""
    first = len(items) - 1
    while first and (items[first].message.is_tool_result or _joins(*items[first - 1 : first + 1])):
        first -= 1
    return items[first:]


def _joins(one: Item, other: Item) -> bool:
    return one.message.role == other.message.role and not one.message.calls
