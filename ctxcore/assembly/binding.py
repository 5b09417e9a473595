"""Binds a state to the messages it is passed with: what it says of others is never used.

A message is the one of before if it says the same, wherever it stands in the list. System messages
come and go; the words of the original request may change. What lies behind the covered part may be
edited freely: marks and short texts go with their messages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal

from ctxcore.assembly.alignment import Alignment, align, align_any
from ctxcore.assembly.history import has_substance
from ctxcore.assembly.notices import Notice, NoticeCode
from ctxcore.assembly.own_texts import OwnTexts, find_own_texts
from ctxcore.assembly.records import NOT_REBUILT, Compaction
from ctxcore.assembly.states import CompactionState, Seen
from ctxcore.errors import StateError
from ctxcore.facts.carrying import carried_request
from ctxcore.messages.digests import digest_of, digest_of_all
from ctxcore.messages.shapes.values import Passed
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.summarizers.language import detect_language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

OnMismatch = Literal["raise", "rebuild"]
ON_MISMATCH: tuple[OnMismatch, ...] = ("raise", "rebuild")


class Digested:
    """What each message says; system messages and texts of this library are left out."""

    def __init__(self, messages: Sequence[Message], own: Iterable[int] = ()) -> None:
        skipped = frozenset(own)
        self.messages = messages
        self.left_out = tuple(
            seq for seq, one in enumerate(messages, 1) if one.is_system or seq in skipped
        )
        out = frozenset(self.left_out)
        self.seqs = [seq for seq in range(1, len(messages) + 1) if seq not in out]
        self._known: tuple[str, ...] = ()

    def begins_as(self, seen: Seen) -> bool:
        """Whether the list begins with the messages of before, in the places they had."""
        count = len(seen.digests) + len(seen.left_out)
        if len(self.messages) < count or seen.left_out != self._left_out_of(count):
            return False
        if seen.whole != digest_of_all(self._talk[: len(seen.digests)]):
            return False
        self._known = seen.digests
        return True

    @cached_property
    def digests(self) -> Sequence[str]:
        """One a message that is not left out."""
        return (*self._known, *map(digest_of, self._talk[len(self._known) :]))

    def seen(self) -> Seen:
        """What a state remembers of them."""
        digests = tuple(self.digests)
        return Seen(digests=digests, whole=digest_of_all(self._talk), left_out=self.left_out)

    @cached_property
    def _talk(self) -> Sequence[Message]:
        return [self.messages[seq - 1] for seq in self.seqs]

    def _left_out_of(self, count: int) -> tuple[int, ...]:
        return self.left_out[: bisect_right(self.left_out, count)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A list of messages with the state that is true of it."""

    digested: Digested
    """The messages without the texts of this library, and what each says."""
    state: CompactionState
    own: Mapping[int, Message] = field(default_factory=dict)
    """Messages that said nothing but texts of this library, as they were passed."""
    notices: tuple[Notice, ...] = ()


def bind(
    passed: Passed,
    state: CompactionState,
    policy: Policy,
    counter: TokenCounter,
    *,
    on_mismatch: OnMismatch = "raise",
) -> Bound:
    """`state` as it is true of the messages in `passed`.

    Raises:
        StateError: it was made from other messages, and `on_mismatch` is not `rebuild`.
        ValueError: there is no such `on_mismatch`.
    """
    if on_mismatch not in ON_MISMATCH:
        raise ValueError(f"on_mismatch is {on_mismatch!r}; one of {', '.join(ON_MISMATCH)}")
    own = find_own_texts(passed.messages, state.active, policy.summary_place)
    binder = _Binder(passed, own, state, policy, counter)
    return Bound(
        state=binder.bind(on_mismatch),
        digested=binder.now,
        own=own.alone if own else {},
        notices=tuple(binder.notices),
    )


class _Binder:
    """Binds one state to one list."""

    def __init__(
        self,
        passed: Passed,
        own: OwnTexts | None,
        state: CompactionState,
        policy: Policy,
        counter: TokenCounter,
    ) -> None:
        self.notices: list[Notice] = []
        self.now = Digested(own.messages, own.alone) if own else Digested(passed.messages)
        self._passed = passed
        self._own = own
        self._state = state
        self._policy = policy
        self._counter = counter

    def bind(self, on_mismatch: OnMismatch) -> CompactionState:
        """The state as it is true of the list."""
        state, seen = self._state, self._state.seen
        if seen is None:
            return self._by_hand(state, on_mismatch)
        if self.now.begins_as(seen):
            return state  # nearly always: the same messages, and more behind them
        covered = _covered(seen, state.active)
        goal = seen.digests.index(seen.goal) if seen.goal in seen.digests[:covered] else None
        found = align(seen.digests, self.now.digests, covered, goal)
        is_found = isinstance(found, Alignment) and self._is_sound(found)
        if self._is_written_back(seen) or (self._is_read_back and not is_found):
            return self._read_back(state.active)
        if isinstance(found, Alignment) and is_found:
            return _Mover(state, seen, self.now, found, self._own, self._tell).moved()
        first = found if isinstance(found, int) else found.changed or 0
        at = self._place_of(first)
        if on_mismatch == "raise":
            raise self._mismatch(at)
        self._tell("rebuilt", at=at)
        return self._rebuilt(seen)

    def _is_written_back(self, seen: Seen) -> bool:
        """Whether the list begins with the context that was made of the messages of before."""
        passed = (one for one in self._passed.messages if not one.is_system)
        said = [digest_of(one) for one in islice(passed, len(seen.sent))]
        return bool(said) and tuple(said) == seen.sent

    @property
    def _is_read_back(self) -> bool:
        """Whether the list holds the summary of the state, whatever else it holds."""
        return self._own is not None and self._own.is_of(self._state.active)

    def _place_of(self, number: int) -> int:
        """The place, in the list that was passed, of the message with this digest."""
        seqs = self.now.seqs
        at = self._passed.places_of(seqs[number] - 1) if number < len(seqs) else ()
        return at[0] if at else len(self._passed.given)

    def _tell(self, code: NoticeCode, **facts: int | str) -> None:
        self.notices.append(Notice(code=code, facts=facts))

    def _is_sound(self, found: Alignment) -> bool:
        """Whether a request whose words changed is still what a user says."""
        if found.changed is None:
            return True
        return self.now.messages[self.now.seqs[found.changed] - 1].role == "user"

    def _by_hand(self, state: CompactionState, on_mismatch: OnMismatch) -> CompactionState:
        """`state` where nobody wrote down what messages it was made from."""
        active, own, count = state.active, self._own, len(self.now.messages)
        if own and active is None:
            return self._read_back(None)
        if own and active and own.is_of(active) and active.covered_until < own.cut:
            return self._read_back(active)
        if active is None or active.last_seq <= count:
            return state
        if on_mismatch == "rebuild":
            self._tell("rebuilt", at=len(self._passed.given))
            return replace(state, active=None)
        raise StateError(
            problem=f"it knows {active.last_seq:,} messages but {count:,} were passed; "
            "pass the whole conversation, including what is covered"
        )

    def _mismatch(self, at: int) -> StateError:
        covered = self._state.active.covered_until if self._state.active else 0
        is_gone = at >= len(self._passed.given)
        what = "the list ends before it" if is_gone else "this is not the one that it covers"
        return StateError(
            at=at,
            problem=f"the state covers {covered:,} messages, and {what}; pass the whole "
            'conversation that it was made from, or on_mismatch="rebuild"',
        )

    def _rebuilt(self, seen: Seen) -> CompactionState:
        """What of the state is true of any list: its counts, and marks and short texts that go
        with messages which are still there.
        """
        found = align_any(seen.digests, self.now.digests)
        state, active = self._state, self._state.active
        if active is not None:
            behind = tuple(one for one in active.shortened if one[0] > active.covered_until)
            active = Compaction(covered_until=0, shortened=behind, language=active.language)
        state = replace(state, active=active)
        moved = _Mover(state, seen, self.now, found, self._own, self._tell).moved()
        if moved.active is not None and not moved.active.shortened:
            moved = replace(moved, active=None)
        if self._own and self._own.is_carrying:
            read = self._read_back(None)
            return replace(moved, active=read.active, inherited=read.inherited)
        return moved

    def _read_back(self, known: Compaction | None) -> CompactionState:
        """The state with the summary and the facts that the list holds, and what it marks as gone;
        `known` is their record.
        """
        own, state, record = self._own, self._state, None
        if own and own.is_carrying:
            self._tell("summary_found" if known is None else "summary_read_back")
            record = self._record(own, known)
        elif state.seen is not None:
            self._tell("context_read_back")
        if state.seen is not None:
            found = align_any(state.seen.digests, self.now.digests)
            bare = replace(state, active=None)
            state = _Mover(bare, state.seen, self.now, found, None, self._tell).moved()
        return replace(
            state,
            active=record,
            summaries=max(state.summaries, 1 if record and record.summary else 0),
            inherited=self._facts_of(record, known) if record else state.inherited,
            left_out=own.left_out if own else 0,
        )

    def _facts_of(self, record: Compaction, known: Compaction | None) -> str:
        """All facts that are known of messages that nobody passes any more."""
        told = [record.facts, known.facts if known else "", self._state.inherited]
        return "\n".join(dict.fromkeys(filter(None, told)))

    def _record(self, own: OwnTexts, known: Compaction | None) -> Compaction:
        """The record of the summary and the facts in the list; it covers what is before them."""
        base = known or Compaction(covered_until=0)
        summary = base.summary if own.is_cut_from(base.summary) else own.summary
        language = own.language or (known.language if known else self._language(own))
        return replace(
            base,
            covered_until=own.cut,
            summarized_until=own.cut,
            summary=summary,
            summary_tokens=self._counter.count(summary),
            kept=tuple(self._kept(own.cut)),
            pins=(),
            shortened=(),
            covered_messages=own.covered_messages or base.covered_messages,
            facts=own.facts or base.facts,
            facts_lost=None,
            source_chars=base.source_chars or len(summary),
            seen_until=own.cut,
            turns_from=0,
            passages=_nowhere(base.passages),
            memories=_nowhere(base.memories),
            read_until=own.cut,
            generation=NOT_REBUILT,
            language=language,
        )

    def _language(self, own: OwnTexts) -> Literal["en", "zh"]:
        return detect_language([text_message("user", own.summary or own.facts)])

    def _kept(self, cut: int) -> list[int]:
        """What stands before a summary in the list, but for the original request."""
        seqs = [seq for seq in self.now.seqs if seq <= cut]
        asked = next((seq for seq in seqs if has_substance(self.now.messages[seq - 1])), None)
        if asked is not None:
            tokens = count_message(self.now.messages[asked - 1], self._counter)
            if tokens <= self._policy.request_tokens:
                seqs.remove(asked)
        return seqs


class _Mover:
    """Moves a state to where its messages are now."""

    def __init__(
        self,
        state: CompactionState,
        seen: Seen,
        now: Digested,
        found: Alignment,
        own: OwnTexts | None,
        tell: Callable[..., None],
    ) -> None:
        self._state = state
        self._found = found
        self._seen = seen
        self._own_cut = own.cut if own else 0
        self._tell = tell
        self._out = frozenset(seen.left_out)
        self._count = len(seen.digests) + len(seen.left_out)
        self._before = seen.seqs()
        pairs = zip(self._before, found.places, strict=True)
        self._seqs = {seq: now.seqs[place] for seq, place in pairs if place is not None}
        self._changed = None if found.changed is None else self._before[found.changed]

    def moved(self) -> CompactionState:
        """The state in the numbers of the list of now."""
        state, active = self._state, self._state.active
        if self._found.gone:
            self._tell("front_missing", messages=self._found.gone)
        if self._changed is not None:
            self._tell("prefix_changed", part="goal")
        return replace(
            state,
            active=None if active is None else self._record(active),
            pinned=frozenset(self._marks(state.pinned)),
            excluded=frozenset(self._marks(state.excluded)),
            inherited=self._inherited(active),
            left_out=state.left_out + self._truncated(active),
        )

    def _inherited(self, active: Compaction | None) -> str:
        """The facts of messages that nobody passes any more."""
        if active is None or not self._found.gone:
            return self._state.inherited
        return "\n".join(filter(None, (self._seen.rules, self._facts(active))))

    def _facts(self, active: Compaction) -> str:
        """The facts; with the original request, whole in every context until it was gone."""
        goal = self._seen.goal
        at = self._seen.digests.index(goal) if goal in self._seen.digests else None
        if at is None or self._found.places[at] is not None or not self._found.gone:
            return active.facts
        request = carried_request(self._seen.request, active.language)
        return "\n".join(filter(None, (request, active.facts)))

    def _truncated(self, active: Compaction | None) -> int:
        """How many messages are gone that were left out without a summary."""
        if active is None or not self._found.gone:
            return 0
        stayed = {*active.kept, *active.pins}
        truncated = range(active.summarized_until + 1, active.covered_until + 1)
        gone = (seq for seq in self._before if seq in truncated and seq not in self._seqs)
        return sum(seq not in stayed for seq in gone)

    def _record(self, active: Compaction) -> Compaction:
        cut = max(self._until(active.covered_until), self._own_cut)
        return replace(
            active,
            facts=self._facts(active),
            covered_until=cut,
            summarized_until=self._until(active.summarized_until) if active.is_truncation else cut,
            kept=self._still(active.kept),
            pins=self._still(active.pins),
            shortened=tuple(self._short_texts(active)),
            passages=self._told(active.passages),
            memories=self._told(active.memories),
            read_until=self._until(active.read_until),
            seen_until=self._until(active.seen_until),
            turns_from=self._until(active.turns_from),
            generation=NOT_REBUILT if self._found.gone else active.generation,
        )

    def _until(self, seq: int) -> int:
        """The last message of now that is one of the first `seq` of before; 0 for none."""
        behind = bisect_right(self._before, seq)
        earlier = (self._seqs.get(self._before[at]) for at in range(behind - 1, -1, -1))
        return next((found for found in earlier if found is not None), 0)

    def _still(self, seqs: Iterable[int]) -> tuple[int, ...]:
        found = (self._seqs.get(seq) for seq in seqs)
        return tuple(seq for seq in found if seq is not None)

    def _short_texts(self, active: Compaction) -> Iterator[tuple[int, str]]:
        for seq, text in active.shortened:
            if seq in self._seqs and seq != self._changed:
                yield self._seqs[seq], text
            elif seq > active.covered_until:
                self._tell("shortening_dropped", at=seq - 1)

    def _told(self, texts: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        return tuple((self._seqs.get(seq, 0), text) for seq, text in texts)

    def _marks(self, places: Iterable[int]) -> Iterator[int]:
        """Marks go with their messages; those behind what was seen are of the list of now."""
        for at in sorted(places):
            if at >= self._count or at + 1 in self._out:
                yield at
            elif at + 1 in self._seqs:
                yield self._seqs[at + 1] - 1
            else:
                self._tell("mark_dropped", at=at)


def _covered(seen: Seen, active: Compaction | None) -> int:
    """How many of the digests are of covered messages."""
    if active is None:
        return 0
    return active.covered_until - sum(seq <= active.covered_until for seq in seen.left_out)


def _nowhere(texts: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """`texts` of messages that are in no list any more."""
    return tuple((0, text) for _, text in texts)
