"""Reads what one context needs of a history: anchors, kept messages and the newest part.

Reading is bounded by the window: a tail is read by size, and a longer one only where shortened
texts left room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

from ctxcore.assembly.history import (
    Anchors,
    Counted,
    HistoryView,
    media_of,
    referring,
    replace_text,
    requests_by_seq,
    shorten_row,
    unshortened,
    with_short,
    with_short_arguments,
)
from ctxcore.assembly.records import Compaction, ShortArguments
from ctxcore.assembly.texts import has_words
from ctxcore.compression.markers import REFERENCE_TOKENS
from ctxcore.messages.values import text_message
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

WHOLE = 1 << 60  # more tokens than any history has
_MARK_CHARS = 80  # no marker of what is gone is longer
_MOST_SKIPPED = 4  # chosen: windows that are read at most to look behind chains that do not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows that one context is made from."""

    anchors: Anchors
    system: tuple[Counted, ...] = ()
    goal: Counted | None = None
    last_user: Counted | None = None
    moved_pins: tuple[Counted, ...] = ()
    late_pins: tuple[Counted, ...] = ()
    kept: tuple[Counted, ...] = ()
    blocks: tuple[tuple[Counted, ...], ...] = ()
    """The newest uncovered blocks, oldest first; excluded messages left out."""
    is_complete: bool = True
    """Whether `blocks` holds everything that is uncovered."""
    excluded: frozenset[int] = field(default_factory=frozenset)
    """What the caller excluded."""
    overridden: frozenset[int] = field(default_factory=frozenset)
    """System messages in force that the call's own system prompt stands for."""

    @property
    def unsaid(self) -> frozenset[int]:
        """The messages whose instructions do not apply: excluded, or out of force."""
        return self.excluded | self.anchors.silent

    @property
    def open_block(self) -> tuple[Counted, ...]:
        """The last block if the model has yet to see its calls answered; else nothing."""
        if not self.blocks:
            return ()
        last = self.blocks[-1]
        return last if last[0].message.calls or last[-1].message.is_tool_result else ()

    @property
    def open_at(self) -> int:
        """The place of the open block among `blocks`; their number where none is open."""
        return len(self.blocks) - bool(self.open_block)

    @property
    def current(self) -> int | None:
        """The user message whose turn waits for the model; None where the last one is answered."""
        if not self.blocks:
            return None
        head = self.blocks[-1][0].message
        is_answered = head.role == "assistant" and not head.calls
        return None if is_answered else self.anchors.last_user


class Reader:
    """Reads rows of a view as a policy and the active compaction want them."""

    def __init__(
        self,
        view: HistoryView,
        active: Compaction,
        policy: Policy,
        counter: TokenCounter,
        *,
        refers: bool = False,
        least_output_tokens: int | None = None,
        media_tokens: int = 0,
        system: str | None = None,
    ) -> None:
        """`refers`: shortened outputs name their originals. `least_output_tokens`: what the outputs
        of open calls have where their share of the window is less. `media_tokens`: what that block
        may take in all for the media of its outputs to stay. `system`: the call's own system
        prompt, in place of those in force.
        """
        self._view = view
        self._active = active
        self._counter = counter
        self._policy = policy
        self._refers = refers
        self._least_output_tokens = least_output_tokens
        self._media_tokens = media_tokens
        self._system = system
        self._shortened = standing_texts(view, active)
        self._arguments = dict(active.arguments)
        self._pinned = frozenset(view.anchors().pinned)

    def read(self, limit_tokens: int | None) -> Reading:
        """Everything a context within `limit_tokens` may need; None: the whole history."""
        whole = self._view.anchors()
        anchors = whole if self._system is None else _without_system(whole)
        excluded = frozenset(anchors.excluded).difference(anchors.silent)
        limit = WHOLE if limit_tokens is None else limit_tokens
        rows, is_complete = self._tail(limit, excluded)
        blocks = by_block([row for row in rows if row.seq not in excluded])
        in_tail = {row.seq for row in rows}
        placed = excluded.union(anchors.system, anchors.silent)
        moved = [seq for seq in self._active.pins if seq not in placed]
        kept = [seq for seq in self._active.kept if seq not in placed]
        late = set(anchors.pinned) - placed - in_tail - {*moved, *kept}
        elsewhere = excluded.union(anchors.prompts)  # a goal may be a system message
        anchored = {anchors.goal, anchors.last_user} - elsewhere
        alone = self._get({seq for seq in {*anchored, *moved, *late, *kept} if seq is not None})
        known = {row.seq: row for row in alone}
        goal, last_user = (
            known[seq] if seq is not None and seq in anchored else None
            for seq in (anchors.goal, anchors.last_user)
        )
        return Reading(
            anchors=anchors,
            system=self._prompt(anchors.system),
            goal=goal,
            last_user=last_user,
            moved_pins=_chosen(known, moved),
            late_pins=_chosen(known, late),
            kept=_chosen(known, set(kept).difference(moved)),
            blocks=self._with_open(blocks, last_user),
            is_complete=is_complete,
            excluded=excluded,
            overridden=frozenset(whole.system).difference(anchors.system),
        )

    def _prompt(self, in_force: Sequence[int]) -> tuple[Counted, ...]:
        """The system messages to send: those in force, or the call's own, which has no place."""
        if not self._system:
            return tuple(self._view.get(in_force))
        message = text_message("system", self._system)
        tokens = count_message(message, self._counter)
        return (Counted(seq=0, message=message, tokens=tokens, block=0),)

    def _with_open(
        self, blocks: tuple[tuple[Counted, ...], ...], last_user: Counted | None
    ) -> tuple[tuple[Counted, ...], ...]:
        """`blocks`, the outputs that the model has yet to see in at least their least size, and
        with their media.
        """
        least, last = self._least_output_tokens, blocks[-1] if blocks else ()
        is_shorter = any(row.short is not None for row in last)
        if not (is_shorter and last[-1].message.is_tool_result):
            return blocks
        queries = requests_by_seq([*filter(None, [last_user]), *last])
        if least is not None:
            last = tuple(self._longer(row, least, queries.get(row.seq, "")) for row in last)
        return (*blocks[:-1], self._with_media(last, queries))

    def _with_media(
        self, block: tuple[Counted, ...], queries: Mapping[int, str]
    ) -> tuple[Counted, ...]:
        """`block` with the media of its outputs, the newest first, as long as they find room."""
        shown, left = list(block), self._media_tokens - sum(row.sent_tokens for row in block)
        for at in range(len(block) - 1, -1, -1):
            row = block[at]
            if not (self._is_own(row) and media_of(row.message.content)):
                continue
            bare = replace_text(row.message, "", keeps_media=True)
            media = count_message(bare, self._counter, function_name=row.function_name)
            limit, query = row.sent_tokens + media, queries.get(row.seq, "")
            is_whole = row.tokens <= limit
            more = (
                unshortened(row) if is_whole else self._resized(row, limit, query, keeps_media=True)
            )
            if more.sent_tokens - row.sent_tokens <= left:
                left -= more.sent_tokens - row.sent_tokens
                shown[at] = more
        return tuple(shown)

    def _longer(self, row: Counted, least_tokens: int, query: str) -> Counted:
        if not self._is_own(row):
            return row
        longer = self._resized(row, min(least_tokens, row.tokens), query)
        return longer if longer.sent_tokens > row.sent_tokens else row

    def _resized(
        self, row: Counted, limit_tokens: int, query: str, *, keeps_media: bool = False
    ) -> Counted:
        """`row` shortened anew to `limit_tokens`, with its reference."""
        limit = limit_tokens - (REFERENCE_TOKENS if self._refers else 0)
        return self._referring(
            shorten_row(
                unshortened(row), limit, self._counter, query=query, keeps_media=keeps_media
            )
        )

    def _is_own(self, row: Counted) -> bool:
        """Whether `row` was shortened when it was appended; what a compaction left of it stays."""
        is_output = row.short is not None and row.message.is_tool_result
        return is_output and row.seq not in self._shortened

    def _get(self, seqs: Collection[int]) -> list[Counted]:
        return [self._prepare(row) for row in self._view.get(seqs)] if seqs else []

    def _tail(self, limit_tokens: int, excluded: frozenset[int]) -> tuple[list[Counted], bool]:
        """The newest rows that pass `limit_tokens` as they will be sent, or all uncovered ones."""
        after = self._active.covered_until
        total = self._view.messages(after=after)
        tail_tokens = max(1, limit_tokens)
        while True:
            rows = list(self._view.tail(tail_tokens, after=after))
            if self._shortened or self._arguments or self._refers or self._pinned:
                rows = [self._prepare(row) for row in rows]
            sent = [row.sent_tokens for row in rows if row.seq not in excluded]
            if len(rows) >= total:
                return rows, True
            is_passed = sum(sent) > limit_tokens
            if is_passed and tail_tokens < limit_tokens * _MOST_SKIPPED:
                is_passed = not self._may_skip(rows, limit_tokens)
            if is_passed:
                return rows, False
            tail_tokens *= 2

    def _may_skip(self, rows: Sequence[Counted], limit_tokens: int) -> bool:
        """Whether chains of calls among `rows` may be skipped and make room for what is older."""
        if not self._policy.skips_chains:
            return False
        alone = (row for row in rows if not (row.message.calls or row.message.is_tool_result))
        return sum(row.sent_tokens for row in alone) <= limit_tokens

    def _prepare(self, row: Counted) -> Counted:
        """`row` with the text that stands for it under the active compaction and the policy.

        Pinned messages are shown whole.
        """
        if row.seq in self._pinned:
            return unshortened(row)
        row = self._referring(row)
        short, arguments = self._shortened.get(row.seq), self._arguments.get(row.seq)
        if short is None and arguments is None:
            return row
        shorter = self._referring(standing(row, short, arguments, self._counter))
        return shorter if shorter.sent_tokens < row.sent_tokens else row

    def _referring(self, row: Counted) -> Counted:
        return referring(row, self._counter) if self._refers else row


def _chosen(known: Mapping[int, Counted], seqs: Collection[int]) -> tuple[Counted, ...]:
    """Those of `known` that `seqs` name, oldest first."""
    return tuple(known[seq] for seq in sorted(set(seqs)) if seq in known)


def _without_system(anchors: Anchors) -> Anchors:
    """`anchors` for a call with a system prompt of its own: none of the history is in force."""
    system = set(anchors.system)
    return replace(
        anchors,
        system=(),
        replaced=tuple(sorted(system.union(anchors.replaced))),
        excluded=tuple(sorted(system.union(anchors.excluded))),
    )


def standing(
    row: Counted, short: str | None, arguments: ShortArguments | None, counter: TokenCounter
) -> Counted:
    """`row` with what a compaction made stand for its text and for the arguments of its calls."""
    if short is not None:
        row = with_short(row, short, counter)
    return row if arguments is None else with_short_arguments(row, arguments, counter)


def standing_texts(view: HistoryView, active: Compaction) -> dict[int, str]:
    """The texts that stand for messages under `active`, by sequence number.

    A bare marker stands for no output that the model has yet to see: earlier releases left some.
    """
    texts = dict(active.shortened)
    markers = {
        seq for seq, text in texts.items() if len(text) <= _MARK_CHARS and not has_words(text)
    }
    waiting = view.tail(1, after=active.covered_until) if markers else ()
    for row in waiting:
        if row.seq in markers and row.message.is_tool_result:
            del texts[row.seq]
    return texts


def by_block(rows: Iterable[Counted]) -> tuple[tuple[Counted, ...], ...]:
    """Rows in order, those of one block together."""
    return tuple(tuple(block) for _, block in groupby(rows, key=attrgetter("block")))
