"""Binds a state to the messages it is passed with: what it knows of others is never used.

A message is the one of before if its content is the same, wherever it stands in the list. System
messages may come and go; the words of the original request may change. What lies behind the covered
part may be edited freely: marks and short texts move with their messages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar, get_args

from ctxcore.assembly.alignment import Alignment, align, align_any
from ctxcore.assembly.history import has_substance
from ctxcore.assembly.own_texts import OwnTexts, find_own_texts, without_own
from ctxcore.assembly.records import NOT_REBUILT, Compaction, Lineage, Runs, seqs_in, to_runs
from ctxcore.assembly.states import CompactionState, Seen
from ctxcore.errors import StateError
from ctxcore.facts.facts_block import merge_blocks, render_request
from ctxcore.facts.rule_edits import RuleEdit
from ctxcore.messages.canonical import digest_of, digest_of_all, digest_of_words
from ctxcore.messages.shapes.values import PassedMessages
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import NoticeCode
from ctxcore.reasons.problems import StateProblem
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import detect_language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_T = TypeVar("_T")
OnMismatch = Literal["raise", "rebuild"]
ON_MISMATCH: tuple[OnMismatch, ...] = get_args(OnMismatch)
_MOST_JOINED = 64  # chosen: neighbours that a context sends as one message and a shape as several


class Digested:
    """A list of messages without the texts of this library, and a digest of each."""

    def __init__(self, passed: Sequence[Message], own: OwnTexts | None) -> None:
        self.messages = own.messages if own else passed
        self.own: Mapping[int, Message] = own.alone if own else {}
        self._rest = own.rest if own else {}
        self._passed = passed
        self.left_out = tuple(seq for seq, m in enumerate(self.messages, 1) if m.is_system)
        out = frozenset(self.left_out)
        self.seqs = [seq for seq in range(1, len(self.messages) + 1) if seq not in out]
        self._known: tuple[str, ...] = ()

    @classmethod
    def begun_as(cls, passed: Sequence[Message], seen: Seen) -> Digested | None:
        """The list, where it begins with the same messages in the same places; else None."""
        count = len(seen.digests) + len(seen.left_out)
        system = set(seen.left_out).difference(seen.own)
        if len(passed) < count or any(not passed[seq - 1].is_system for seq in system):
            return None
        begun = [passed[at] for at in range(count) if at + 1 not in system]
        if seen.whole != digest_of_all(begun):
            return None
        own = without_own(passed, seen.own, dict(seen.rest)) if seen.own or seen.rest else None
        made = cls(passed, own)
        made._known = seen.digests
        return made

    @cached_property
    def digests(self) -> Sequence[str]:
        """One for each message that is not left out."""
        new = (self.messages[seq - 1] for seq in self.seqs[len(self._known) :])
        return (*self._known, *map(digest_of, new))

    def seen(self) -> Seen:
        """What a state remembers of them."""
        system = set(self.left_out).difference(self.own)
        others = (m for seq, m in enumerate(self._passed, 1) if seq not in system)
        return Seen(
            digests=tuple(self.digests),
            whole=digest_of_all(others),
            left_out=self.left_out,
            own=tuple(sorted(self.own)),
            rest=tuple(sorted(self._rest.items())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A list of messages with the state that is true of it."""

    digested: Digested
    state: CompactionState
    notices: tuple[Reason, ...] = ()


def bind(
    passed: PassedMessages,
    state: CompactionState,
    policy: Policy,
    counter: TokenCounter,
    *,
    on_mismatch: OnMismatch = "raise",
) -> Bound:
    """What of `state` is true of the messages in `passed`.

    Raises:
        StateError: it was made from other messages, and `on_mismatch` is not `rebuild`.
        ValueError: there is no such `on_mismatch`.
    """
    if on_mismatch not in ON_MISMATCH:
        raise ValueError(f"on_mismatch is {on_mismatch!r}; one of {', '.join(ON_MISMATCH)}")
    if state.seen is not None:
        digested = Digested.begun_as(passed.messages, state.seen)
        if digested is not None:  # nearly always: the same messages, and more behind them
            return Bound(digested=digested, state=state)
    known = state.seen.knowledge if state.seen else ()
    own = find_own_texts(passed.messages, state.active, policy.summary_place, knowledge=known)
    binder = _Binder(passed, own, state, policy, counter)
    bound = replace(binder.bind(on_mismatch), recalls=())  # the prompt cache is lost anyway
    return Bound(digested=binder.now, state=bound, notices=tuple(binder.notices))


@dataclass
class _Binder:
    """Binds one state to one list."""

    passed: PassedMessages
    own: OwnTexts | None
    state: CompactionState
    policy: Policy
    counter: TokenCounter

    def __post_init__(self) -> None:
        self.notices: list[Reason] = []
        self.now = Digested(self.passed.messages, self.own)

    def bind(self, on_mismatch: OnMismatch) -> CompactionState:
        """What of the state is true of the list."""
        state, seen = self.state, self.state.seen
        if seen is None:
            return self._without_digests(state, on_mismatch)
        if not state.is_bound:
            return self._without_digests(replace(state, seen=None), on_mismatch)
        found = self._aligned(seen)
        holds_summary = self.own is not None and self.own.is_of(state.active)
        if self._is_written_back(seen) or (holds_summary and isinstance(found, int)):
            return self._read_back(state.active)
        if isinstance(found, int) and self.own:  # the caller's words may look like our texts
            self.own, self.now = None, Digested(self.passed.messages, None)
            found = self._aligned(seen)
        if isinstance(found, Alignment):
            return self._moved(state, seen, found, self.own)
        seqs = self.now.seqs
        places = self.passed.places_of(seqs[found] - 1) if found < len(seqs) else ()
        at = places[0] if places else len(self.passed.given)
        if on_mismatch == "raise":
            raise self._mismatch(at)
        self.notices.append(NoticeCode.REBUILT(at=at))
        return self._rebuilt(seen)

    def _moved(
        self, state: CompactionState, seen: Seen, found: Alignment, own: OwnTexts | None = None
    ) -> CompactionState:
        return _Mover(state, seen, self.now, found, own, self.counter, self.notices).moved()

    def _aligned(self, seen: Seen) -> Alignment | int:
        """Where the messages of the state are, or the number of the first that differs."""
        covered = _covered(seen, self.state.active)
        goal = seen.digests.index(seen.goal) if seen.goal in seen.digests[:covered] else None
        found = align(seen.digests, self.now.digests, covered, goal)
        if isinstance(found, int) or found.changed is None:
            return found
        request = self.now.messages[self.now.seqs[found.changed] - 1]
        return found if request.role == "user" else found.changed

    def _is_written_back(self, seen: Seen) -> bool:
        """Whether the list begins with the context that was sent before."""
        messages, first = [m for m in self.passed.messages if not m.is_system], 0
        for digest in seen.sent:
            ends = range(first + 1, min(first + _MOST_JOINED, len(messages)) + 1)
            matching = (end for end in ends if digest_of_words(messages[first:end]) == digest)
            end = next(matching, None)
            if end is None:
                return False
            first = end
        return bool(seen.sent)

    def _without_digests(self, state: CompactionState, on_mismatch: OnMismatch) -> CompactionState:
        """`state`, made by hand or without any message, as far as it can be checked."""
        active, own, count = state.active, self.own, len(self.now.messages)
        if own and active is None:
            return self._read_back(None)
        if own and active and own.is_of(active) and active.covered_until < own.cut:
            return self._read_back(active)
        if active is None or active.last_seq <= count:
            return state
        if on_mismatch == "rebuild":
            self.notices.append(NoticeCode.REBUILT(at=len(self.passed.given)))
            return replace(state, active=None)
        raise StateError(problem=StateProblem.KNOWS_MORE(known=active.last_seq, count=count))

    def _mismatch(self, at: int) -> StateError:
        covered = self.state.active.covered_until if self.state.active else 0
        if not covered:
            return StateError(at=at, problem=StateProblem.OTHER_MESSAGES())
        is_short = at >= len(self.passed.given)
        code = StateProblem.LIST_ENDS if is_short else StateProblem.OTHER_MESSAGE
        return StateError(at=at, problem=code(covered=covered))

    def _rebuilt(self, seen: Seen) -> CompactionState:
        """What of the state is true of any list: its counts, and the marks and short texts of
        messages that are still there.
        """
        self.own = find_own_texts(self.passed.messages, None, self.policy.summary_place)
        self.now = Digested(self.passed.messages, self.own)
        found = align_any(seen.digests, self.now.digests)
        state, active = self.state, self.state.active
        if active is not None:
            cut = active.covered_until
            active = Compaction(
                covered_until=0,
                shortened=tuple(pair for pair in active.shortened if pair[0] > cut),
                arguments=tuple(pair for pair in active.arguments if pair[0] > cut),
                language=active.language,
            )
        state = replace(state, active=active, inherited="", left_out=0)
        moved = self._moved(state, seen, found)
        if moved.active and not (moved.active.shortened or moved.active.arguments):
            moved = replace(moved, active=None)
        if self.own is None or not self.own.is_carrying:
            return replace(moved, left_out=self.own.left_out if self.own else 0)
        self.notices.append(NoticeCode.SUMMARY_FOUND())
        record = self._record(self.own, None)
        return replace(moved, active=record, inherited=record.facts, left_out=self.own.left_out)

    def _read_back(self, known: Compaction | None) -> CompactionState:
        """The state with the summary and the facts of the list, or of their record `known`, and
        with the number of messages that the list marks as left out.
        """
        own, state, record = self.own, self.state, None
        is_carrying = own is not None and own.is_carrying
        if is_carrying or (known is not None and (known.summary or known.facts)):
            code = NoticeCode.SUMMARY_FOUND if known is None else NoticeCode.SUMMARY_READ_BACK
            self.notices.append(code())
            record = self._record(own or OwnTexts(messages=self.now.messages), known)
        elif state.seen is not None:
            self.notices.append(NoticeCode.CONTEXT_READ_BACK())
        if state.seen is not None:
            found = align_any(state.seen.digests, self.now.digests)
            state = self._moved(replace(state, active=None), state.seen, found)
        inherited = state.inherited
        if record is not None:  # the facts of messages that are not passed any more
            facts = (self.state.inherited, known.facts if known else "", record.facts)
            inherited = merge_blocks(facts, self.counter, record.language)
        return replace(
            state,
            active=record,
            summaries=max(state.summaries, 1 if record and record.summary else 0),
            inherited=inherited,
            left_out=own.left_out if own else 0,
        )

    def _record(self, own: OwnTexts, known: Compaction | None) -> Compaction:
        """The record of the summary and the facts in the list; it covers what is before them."""
        base = known or Compaction(covered_until=0)
        is_same = not own.summary or own.is_cut_from(base.summary)
        summary = base.summary if is_same else own.summary
        language = own.language or (known.language if known else None)
        if language is None:
            language = detect_language([text_message("user", own.summary or own.facts)])
        return replace(
            base,
            covered_until=own.cut,
            summarized_until=own.cut,
            summary=summary,
            summary_tokens=self.counter.count(summary),
            lineage=(),
            kept=tuple(self._kept(own.cut)),
            pins=(),
            shortened=(),
            arguments=(),
            covered_messages=own.covered_messages or base.covered_messages,
            facts=own.facts or base.facts,
            facts_lost=None,
            source_chars=base.source_chars or len(summary),
            seen_until=own.cut,
            turns_from=0,
            passages=tuple((0, text) for _, text in base.passages),
            memories=tuple((0, text) for _, text in base.memories),
            read_until=own.cut,
            generation=NOT_REBUILT,
            language=language,
        )

    def _kept(self, cut: int) -> list[int]:
        """What stands before a summary in the list, but for the original request."""
        seqs = [seq for seq in self.now.seqs if seq <= cut]
        request = next((seq for seq in seqs if has_substance(self.now.messages[seq - 1])), None)
        if request is not None:
            tokens = count_message(self.now.messages[request - 1], self.counter)
            if tokens <= self.policy.request_tokens:
                seqs.remove(request)
        return seqs


@dataclass
class _Mover:
    """Moves a state to where its messages are now."""

    state: CompactionState
    seen: Seen
    now: Digested
    found: Alignment
    own: OwnTexts | None
    counter: TokenCounter
    notices: list[Reason]

    def __post_init__(self) -> None:
        self._before = self.seen.seqs()
        pairs = zip(self._before, self.found.places, strict=True)
        self._seqs = {seq: self.now.seqs[place] for seq, place in pairs if place is not None}
        changed = self.found.changed
        self._changed = None if changed is None else self._before[changed]

    def moved(self) -> CompactionState:
        """The state in the numbers of this list."""
        state, active = self.state, self.state.active
        if self.found.gone:
            self.notices.append(NoticeCode.FRONT_MISSING(messages=self.found.gone))
        if self._uncovered_gone:
            self.notices.append(NoticeCode.MESSAGES_MISSING(messages=self._uncovered_gone))
        if self._changed is not None:
            self.notices.append(NoticeCode.PREFIX_CHANGED(part="goal"))
        guessed = {self._before[at] for at in self.found.guessed}
        return replace(
            state,
            active=None if active is None else self._record(active),
            pinned=frozenset(self._marks(state.pinned)),
            excluded=frozenset(self._marks(state.excluded, guessed)),
            rule_edits=tuple(self._rule_edits(state.rule_edits)),
            inherited=self._inherited(active),
            left_out=state.left_out + self._truncated(active),
        )

    def _inherited(self, active: Compaction | None) -> str:
        """The facts of messages that are not passed any more."""
        if active is None or not self.found.gone:
            return self.state.inherited
        facts = (self.state.inherited, self.seen.rules, self._facts(active))
        return merge_blocks(facts, self.counter, active.language)

    def _facts(self, active: Compaction) -> str:
        """The facts, with the original request where it is gone: contexts showed it whole."""
        goal = self.seen.goal
        at = self.seen.digests.index(goal) if goal in self.seen.digests else None
        if at is None or self.found.places[at] is not None or not self.found.gone:
            return active.facts
        request = render_request(self.seen.request, active.language)
        return "\n".join(filter(None, (request, active.facts)))

    @property
    def _uncovered_gone(self) -> int:
        """How many messages behind the covered part are gone from the front with those in it."""
        covered = _covered(self.seen, self.state.active)
        behind = self.found.places[covered:] if 0 < covered == self.found.gone else ()
        return next((at for at, place in enumerate(behind) if place is not None), len(behind))

    def _truncated(self, active: Compaction | None) -> int:
        """How many messages are gone that were left out without a summary."""
        if active is None or not self.found.gone:
            return 0
        stayed = {*active.kept, *active.pins}
        truncated = range(active.summarized_until + 1, active.covered_until + 1)
        gone = (seq for seq in self._before if seq in truncated and seq not in self._seqs)
        return sum(seq not in stayed for seq in gone)

    def _record(self, active: Compaction) -> Compaction:
        own_cut = self.own.cut if self.own and self.own.is_of(self.state.active) else 0
        cut = max(self._until(active.covered_until), own_cut)
        return replace(
            active,
            facts=self._facts(active),
            covered_until=cut,
            summarized_until=self._until(active.summarized_until) if active.is_truncation else cut,
            kept=self._still(active.kept),
            pins=self._still(active.pins),
            lineage=tuple(self._lineage(active.lineage)),
            shortened=tuple(self._standing(active.shortened, active.covered_until)),
            arguments=tuple(self._standing(active.arguments, active.covered_until)),
            passages=tuple((self._seqs.get(seq, 0), text) for seq, text in active.passages),
            memories=tuple((self._seqs.get(seq, 0), text) for seq, text in active.memories),
            read_until=self._until(active.read_until),
            seen_until=self._until(active.seen_until),
            turns_from=self._until(active.turns_from),
            generation=NOT_REBUILT if self.found.gone else active.generation,
        )

    def _until(self, seq: int) -> int:
        """The last message of the list that is one of the first `seq` of before; 0 for none."""
        behind = bisect_right(self._before, seq)
        earlier = (self._seqs.get(self._before[at]) for at in range(behind - 1, -1, -1))
        return next((found for found in earlier if found is not None), 0)

    def _still(self, seqs: Iterable[int]) -> tuple[int, ...]:
        return tuple(self._seqs[seq] for seq in seqs if seq in self._seqs)

    def _lineage(self, lineage: Lineage) -> Iterator[tuple[int, int, Runs]]:
        """The sentences of the summary with the messages that are still there."""
        for start, end, runs in lineage:
            yield start, end, to_runs(self._still(seqs_in(runs)))

    def _standing(self, pairs: Iterable[tuple[int, _T]], covered: int) -> Iterator[tuple[int, _T]]:
        """What stands for messages, with them."""
        for seq, text in pairs:
            if seq in self._seqs and seq != self._changed:
                yield self._seqs[seq], text
            elif seq > covered:
                self.notices.append(NoticeCode.SHORTENING_DROPPED(at=seq - 1))

    def _marks(self, places: Iterable[int], unsure: Collection[int] = ()) -> Iterator[int]:
        """Marks move with their messages; those behind what was seen are places in this list."""
        out = frozenset(self.seen.left_out)
        count = len(self.seen.digests) + len(out)
        for at in sorted(places):
            if at >= count or at + 1 in out:
                yield at
            elif at + 1 in self._seqs and at + 1 not in unsure:
                yield self._seqs[at + 1] - 1
            else:
                self.notices.append(NoticeCode.MARK_DROPPED(at=at))

    def _rule_edits(self, edits: Iterable[RuleEdit]) -> Iterator[RuleEdit]:
        """They move with their messages; a dismissal outlives its message: it may be said again."""
        out, count = frozenset(self.seen.left_out), len(self.seen.seqs()) + len(self.seen.left_out)
        for edit in edits:
            if edit.seq > count or edit.seq in out or edit.seq == 0:
                yield edit
            elif edit.seq in self._seqs:
                yield replace(edit, seq=self._seqs[edit.seq])
            elif edit.kind == "dismiss":
                yield replace(edit, seq=0)
            else:
                self.notices.append(NoticeCode.MARK_DROPPED(at=edit.seq - 1))


def _covered(seen: Seen, active: Compaction | None) -> int:
    """How many of the digests are of covered messages."""
    if active is None:
        return 0
    return active.covered_until - sum(seq <= active.covered_until for seq in seen.left_out)
