"""Builds a context: a pure function of a history view, the active compaction and a policy.

What is built never exceeds the budget and is legal for every provider; what must be kept is kept
or a `BudgetError` says by how much it does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from ctxcore.assembly.context import Context, Synthetic, explain
from ctxcore.assembly.history import HistoryView, requests_by_seq
from ctxcore.assembly.history_views import adapted
from ctxcore.assembly.items import (
    SHORT_TOKENS,
    Merged,
    count_prefix,
    knowledge_items,
    to_dictionary,
    total,
)
from ctxcore.assembly.layout import Layout, LayoutMaker, Recalled
from ctxcore.assembly.legality import Repairer, refuse
from ctxcore.assembly.reading import WHOLE, Reader, Reading
from ctxcore.assembly.recalled import LEAST_TOKENS, Recaller, in_force
from ctxcore.assembly.records import (
    EMPTY_WORKING_STATE,
    Compaction,
    Recalls,
    WorkingState,
    stands_until,
)
from ctxcore.assembly.reminding import Reminder
from ctxcore.assembly.rules.values import NO_TOOLS, SentNames
from ctxcore.assembly.selection import Choice, choose_chains, choose_recent, elide_newest
from ctxcore.assembly.shedding import Room, Shedder
from ctxcore.assembly.verdicts import Segment, make_breakdown
from ctxcore.budget import SMALL_TOKENS, TokenBudget
from ctxcore.errors import BudgetError
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.problems import BudgetPart
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import Language, detect_language
from ctxcore.tokens.count import count_priming, count_reasoning
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.rules import RuleCounter

NOTHING_COVERED = Compaction(covered_until=0)
_CUT = (VerdictCode.OUTSIDE, VerdictCode.NO_ROOM_FOR_SUMMARY, VerdictCode.NO_ROOM_TO_KEEP)
_FILLS = 3  # chosen: what merged neighbours save makes room for more of them, ever less each time
_LEAST_FREE = 8  # tokens; chosen: fewer are not worth another try
_ESTIMATED_SHARE = 0.85  # of usable that what is recalled may fill by an estimate; chosen
_TRIES = 8  # merged texts may count a few tokens more than their parts; each try leaves more room


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What surrounds a history in one request."""

    policy: Policy
    counter: TokenCounter
    budget: TokenBudget | None = None
    """None where the window is unknown: everything is sent."""
    tools_tokens: int = 0
    tool_names: SentNames = NO_TOOLS
    """What the tools that are sent along are called in the request."""
    knowledge: Mapping[str, str] = field(default_factory=dict)
    most_knowledge_tokens: int | None = None
    """What knowledge may take at most; None: all that the rest leaves."""
    offers_expand: bool = False
    """Whether the model can ask for originals, so that shortened outputs name them."""
    sends_reasoning: bool = True
    """Whether the provider takes thinking back inside an open tool turn."""
    rule: RuleCounter | None = None
    """What the policy's triggers count by; None: the model's counter."""
    working: WorkingState = EMPTY_WORKING_STATE
    """What the application states of its work."""
    left_out: int = 0
    """Messages left out before the first of the history: the marker counts them."""
    rule_tools_tokens: int = 0
    """What the tool definitions take by `rule`."""
    system: str | None = None
    """The call's own system prompt, in place of those in force in the history; "": none."""
    is_scaled: bool = False
    """Whether the history's sizes are scaled from another counter's until a recount is done."""
    recalls: Recalls = ()
    """What contexts before this one recalled; it stays behind its requests."""

    @property
    def by_rule(self) -> Call:
        """This call as the policy's triggers count it."""
        if self.rule is None:
            return self
        return replace(self, counter=self.rule, tools_tokens=self.rule_tools_tokens, rule=None)

    @property
    def least_output_tokens(self) -> int | None:
        """What the outputs of open calls have where the share of one is less; None: it is not."""
        share = oversize_share(self.policy, self.budget)
        is_small = share is not None and share < SHORT_TOKENS and not self.policy.shortens_always
        return SHORT_TOKENS if is_small else None

    @property
    def without_knowledge(self) -> Call:
        """This call as the session's own compactions see it: knowledge belongs to its call."""
        return replace(self, knowledge={}) if self.knowledge else self


def oversize_share(policy: Policy, budget: TokenBudget | None) -> float | None:
    """Above what part of the window, in tokens, outputs are shortened; None: above none."""
    if policy.oversize_ratio is None or budget is None:
        return None
    return budget.usable_tokens * policy.oversize_ratio


def build_context(view: HistoryView, call: Call, active: Compaction | None = None) -> Context:
    """The context of `view` under `active`.

    Raises:
        BudgetError: what must be kept does not fit.
        MessageError: a rule that was registered refuses it.
    """
    active = active or NOTHING_COVERED
    context = build_at_rest(view, call, active) or Builder(view, call, active).build()
    refuse(context.made_of)
    damage = damage_in(context.made_of)
    return replace(context, notices=(*damage, *context.notices)) if damage else context


def damage_in(made_of: Sequence[Merged]) -> tuple[Reason, ...]:
    """Why messages of a context cannot be read; it only says so in their places."""
    rows = (item.row for made in made_of for item in made.items)
    return tuple(row.damage for row in rows if row is not None and row.damage is not None)


def build_at_rest(view: HistoryView, call: Call, active: Compaction) -> Context | None:
    """The context that shows everything as it is, where the policy wants that and it fits."""
    if not call.policy.is_at_rest(view.messages()):
        return None
    try:
        context = Builder(view, at_rest(call), active).build()
    except BudgetError:
        return None
    is_cut = any(
        run.verdict == "compressed" or any(map(run.reason.mentions, _CUT)) for run in context.runs
    )
    return None if is_cut else context


def at_rest(call: Call) -> Call:
    """`call` under a policy that neither leaves out nor shortens while there is room."""
    plain = call.policy.override(shortens_always=False, skips_chains=False, trigger_on="input")
    return replace(call, policy=plain)


class _Try(NamedTuple):
    """A context, the layout it was made of, and what that was to take before repairs."""

    context: Context
    layout: Layout
    planned: int


class Builder:
    """Builds contexts of one view under one compaction; see `build_context`."""

    def __init__(self, view: HistoryView, call: Call, active: Compaction) -> None:
        self._view = adapted(view, call.policy, call.counter)
        self._call = call
        self._active = active
        self._policy = call.policy
        self._counter = call.counter

    def build(self) -> Context:
        """The context; what it shows of the history does not depend on knowledge."""
        reading = self._reader().read(self._usable)
        reminder, recaller = self._reminder(reading), self.recaller(reading)
        maker = self.maker(reading, reminder)
        try:
            made = self._made(maker, reminder, self._usable, recaller.standing)
        except BudgetError:
            if not recaller.standing:
                raise
            made = self._made(maker, reminder, self._usable)
        if self._call.knowledge:
            made = self._with_knowledge(maker, made)
        return self._with_recalled(maker, reminder, recaller, made).context

    @property
    def _usable(self) -> int | None:
        return self._call.budget.usable_tokens if self._call.budget else None

    def _made(
        self,
        maker: LayoutMaker,
        reminder: Reminder,
        usable: int | None,
        recalled: Sequence[Recalled] = (),
    ) -> _Try:
        """A context within `usable` tokens, with what was recalled before, without knowledge.

        Raises:
            BudgetError: what must be kept does not fit.
        """
        limit = usable
        for _ in range(_TRIES):
            try:
                made = self._try(maker, reminder, limit, recalled)
            except BudgetError as error:
                repairs = (usable or 0) - (limit or 0)
                parts = {**error.parts, BudgetPart.REPAIRS: repairs}
                needed = error.needed + repairs
                raise BudgetError(needed=needed, available=usable or 0, parts=parts) from None
            if usable is None or made.context.tokens <= usable:
                return self._fuller(maker, reminder, made, usable)
            limit = made.planned - (made.context.tokens - usable)
        context = made.context
        raise BudgetError(
            needed=context.tokens, available=usable or 0, parts=context.breakdown.to_dict()
        )

    def framing(self, reading: Reading) -> int:
        """What a request takes beside its messages: priming and tool definitions."""
        tools, has_system = self._call.tools_tokens, bool(reading.system)
        return tools + count_priming(self._counter, has_tools=bool(tools), has_system=has_system)

    def maker(self, reading: Reading, reminder: Reminder | None = None) -> LayoutMaker:
        """What makes layouts of `reading` under this call's policy."""
        until, covered = stands_until(self._active), self._active.covered_until
        hidden = reading.excluded
        behind, uncovered = (self._view.messages(after=after) for after in (until, covered))
        truncated = behind - uncovered - sum(until < seq <= covered for seq in hidden)
        return LayoutMaker(
            reading=reading,
            record=(reminder or self._reminder(reading)).folded.record,
            policy=self._policy,
            folded=self._view.messages() - behind - sum(seq <= until for seq in hidden),
            truncated=self._call.left_out + truncated,
            uncovered=uncovered - sum(seq > covered for seq in hidden),
            language=self._language(reading),
            counter=self._counter,
            refers=self._call.offers_expand,
        )

    def _reader(self) -> Reader:
        return Reader(
            self._view,
            self._active,
            self._policy,
            self._counter,
            refers=self._call.offers_expand,
            least_output_tokens=self._call.least_output_tokens,
            media_tokens=self._call.budget.usable_tokens if self._call.budget else 0,
            system=self._call.system,
        )

    def _reminder(self, reading: Reading) -> Reminder:
        return Reminder(
            view=self._view,
            reading=reading,
            active=self._active,
            policy=self._policy,
            budget=self._call.budget,
            language=self._language(reading),
            counter=self._counter,
            refers=self._call.offers_expand,
        )

    def recaller(self, reading: Reading) -> Recaller:
        """What finds messages for the newest request."""
        return Recaller(
            view=self._view,
            reading=reading,
            policy=self._policy,
            budget=self._call.budget,
            language=self._language(reading),
            counter=self._counter,
            covered_until=self._active.covered_until,
            recalls=self._call.recalls,
        )

    def _language(self, reading: Reading) -> Language:
        if self._active.summary:
            return self._active.language
        request = reading.goal or reading.last_user
        return detect_language([request.message] if request else [])

    @property
    def _is_covered(self) -> bool:
        """Whether a compaction stands between history and context."""
        return bool(self._active.covered_until or self._active.summary)

    def _fuller(
        self, maker: LayoutMaker, reminder: Reminder, made: _Try, usable: int | None
    ) -> _Try:
        """`made` with the room filled that its texts leave once neighbours are merged.

        Only where a record's summary or kept blocks gave way: what else is shown is chosen by
        bounds, so that a larger budget never keeps less.
        """
        context = made.context
        if usable is None or not self._is_covered:
            return made
        is_cut = context.summary != self._active.summary or any(
            run.reason.mentions(VerdictCode.NO_ROOM_TO_KEEP) for run in context.runs
        )
        if not is_cut:
            return made
        more = usable - context.tokens
        for _ in range(_FILLS):
            if more <= _LEAST_FREE:
                break
            try:
                fuller = self._try(maker, reminder, usable + more, made.layout.recalled)
            except BudgetError:
                break
            size = fuller.context.tokens
            if size > usable:
                more //= 2
            elif size > made.context.tokens:
                made, more = fuller, more + usable - size
            else:
                break
        return made

    def _with_knowledge(self, maker: LayoutMaker, made: _Try) -> _Try:
        """`made` with the caller's knowledge in the room that it leaves."""
        limit = self._usable
        usable = WHOLE if limit is None else limit
        most, taken = self._call.most_knowledge_tokens, self.framing(maker.reading)
        room = min(usable, self._history_limit(maker, taken)) - taken - made.layout.tokens
        room = room if most is None else min(room, most)
        for _ in range(_TRIES):
            known = knowledge_items(self._call.knowledge, room, self._counter)
            if not known:
                break
            layout = replace(made.layout, knowledge=known)
            context = self._assembled(maker, layout, limit)
            if context.tokens <= usable:
                return _Try(context, layout, made.planned)
            room -= context.tokens - usable
        return made

    def _with_recalled(
        self, maker: LayoutMaker, reminder: Reminder, recaller: Recaller, made: _Try
    ) -> _Try:
        """`made` with what the newest request recalls of what it does not show.

        Only a request that asks for something takes room from other messages, and not where there
        is knowledge: that comes first.
        """
        if not recaller.is_open or not _hides(made.context):
            return made
        chosen = self._choose_recalled(maker, reminder, recaller, made)
        decided = (maker.reading.last_user.seq, ()) if maker.reading.last_user else None
        if chosen is not None or decided is None:
            return chosen or made
        context = replace(made.context, recalls=(*made.context.recalls, decided))
        return made._replace(context=context)

    def _choose_recalled(
        self, maker: LayoutMaker, reminder: Reminder, recaller: Recaller, made: _Try
    ) -> _Try | None:
        """`made` with what is recalled; None where nothing is, or it has no room."""
        usable = WHOLE if self._usable is None else self._usable
        if not made.context.is_exact:
            usable = int(usable * _ESTIMATED_SHARE)
        free, most = usable - made.context.tokens, recaller.most_tokens
        base, standing = made, made.layout.recalled
        if free < most and recaller.query.asks and not self._is_settled(recaller):
            base = self._smaller(maker, reminder, usable - most, standing) or made
            free = usable - base.context.tokens
        found = recaller.choose(base.layout, free, is_free=base is made)
        if found is not None and base is not made:
            taken = max(found.item.tokens, LEAST_TOKENS)  # with less, it would not be chosen again
            base = self._smaller(maker, reminder, usable - taken, standing) or base
            found = recaller.choose(base.layout, usable - base.context.tokens, is_free=False)
        if found is None:
            return None
        recalled = in_force(standing, found, recaller.share_tokens)
        layout = replace(base.layout, recalled=tuple(recalled))
        context = self._assembled(maker, layout, self._usable)
        return _Try(context, layout, made.planned) if context.tokens <= usable else None

    def _is_settled(self, recaller: Recaller) -> bool:
        """Whether no message gives way to what is recalled.

        Knowledge comes first. In a small window a compaction that saw the request has chosen for
        it, and the frame of what is recalled would cost a good part of what it chose.
        """
        usable, request = self._usable, recaller.reading.last_user
        is_seen = request is not None and request.seq <= self._active.seen_until
        return bool(self._call.knowledge) or (
            usable is not None and usable <= SMALL_TOKENS and is_seen
        )

    def _smaller(
        self, maker: LayoutMaker, reminder: Reminder, usable: int, recalled: Sequence[Recalled]
    ) -> _Try | None:
        """A context within fewer tokens; None where what must be kept does not fit."""
        try:
            return self._made(maker, reminder, usable, recalled)
        except BudgetError:
            return None

    def _try(
        self,
        maker: LayoutMaker,
        reminder: Reminder,
        limit: int | None,
        recalled: Sequence[Recalled] = (),
    ) -> _Try:
        """A context within `limit`, without knowledge."""
        taken, tokens = self.framing(maker.reading), total(one.item for one in recalled)
        layout = self._choose(maker, reminder, taken, WHOLE if limit is None else limit - tokens)
        layout = layout.with_recalled(recalled)
        return _Try(self._assembled(maker, layout, limit), layout, taken + layout.tokens)

    def _assembled(self, maker: LayoutMaker, layout: Layout, limit: int | None) -> Context:
        """The context of `layout`, repaired."""
        taken = self.framing(maker.reading)
        items, prefix = layout.ordered(maker.reading.anchors)
        repairer = Repairer(self._counter, names=self._call.tool_names)
        merged = self._with_reasoning(repairer.repair(items), maker.reading, limit, taken)
        return self._context(maker.reading, merged, repairer, taken, prefix, layout)

    def _choose(self, maker: LayoutMaker, reminder: Reminder, taken: int, limit: int) -> Layout:
        """The layout within `limit`."""
        share = min(limit, self._history_limit(maker, taken))
        room = share - taken
        choice, layout = self._arrange(maker, room)
        if not choice.fits:
            tight = Room(available_tokens=limit, share_tokens=share, taken=taken)
            return self._shed(maker, reminder, tight)
        layout = replace(layout, reminded=reminder.folded.entries)
        is_whole = choice.is_whole and maker.reading.is_complete
        if is_whole and self._policy.max_message_chars is None:
            return layout
        return self._with_rules(layout, maker, reminder, room)

    def _history_limit(self, maker: LayoutMaker, taken: int) -> int:
        """All that may be sent where a policy limits summary and messages to a share.

        The message that waits for its answer is no history yet: it comes on top.
        """
        budget, reading = self._call.budget, maker.reading
        if budget is None or self._policy.trigger_on != "history":
            return WHOLE
        least = maker.make(len(reading.blocks))
        beside = [*least.system, *least.goal, *least.pins, *least.gap, *least.late_pins]
        current = least.request if reading.current is not None else ()
        return taken + total((*beside, *current)) + budget.history_tokens

    def _arrange(self, maker: LayoutMaker, room: int) -> tuple[Choice, Layout]:
        """Which of the newest blocks are shown, and the layout with them."""
        budget = self._call.budget
        if budget is not None and self._policy.skips_chains:
            choice = choose_chains(maker, available_tokens=room, recent_tokens=budget.recent_tokens)
        else:
            choice = choose_recent(
                maker,
                available_tokens=room,
                oversize_tokens=oversize_share(self._policy, self._call.budget),
                shortened=frozenset(
                    seq for seq, _ in (*self._active.shortened, *self._active.arguments)
                ),
            )
        layout = maker.make(choice.first_block, skipped=choice.skipped)
        elides = self._policy.trigger_on == "history" and not self._policy.skips_chains
        if choice.fits and elides:
            layout = elide_newest(maker, choice, room) or layout
        return choice, layout

    def _with_rules(
        self, layout: Layout, maker: LayoutMaker, reminder: Reminder, room: int
    ) -> Layout:
        """`layout` with the standing instructions put back that nothing in it states.

        The room they are given is a bound, so that a larger budget never keeps less.
        """
        if not reminder.missing(layout):
            return layout
        _, least = self._arrange(maker, room - reminder.most_tokens)
        layout = least if least.tokens <= room else layout
        layout = replace(layout, reminded=reminder.folded.entries)
        return reminder.put_back(layout, reminder.missing(layout), room - layout.tokens)

    def _shed(self, maker: LayoutMaker, reminder: Reminder, room: Room) -> Layout:
        """The smallest layout within `room`, filled with what there is room for.

        Where it leaves out messages that stated them, its facts state standing instructions.
        """
        first, reminded = maker.reading.open_at, reminder.folded.entries
        layout = replace(maker.make(first), reminded=reminded)
        if layout.tokens <= room.shared:  # what was chosen by upper bounds may fit as it is
            return layout
        bare = maker.make(first, keeps=False)
        layout = replace(bare, kept=layout.kept, reminded=reminded)
        rows = sorted((item.row for item in layout.messages if item.row), key=attrgetter("seq"))
        budget = self._call.budget
        shedder = Shedder(
            maker=maker,
            room=room,
            queries=requests_by_seq(rows),
            is_covered=self._is_covered,
            recent_tokens=budget.recent_tokens if budget and self._policy.skips_chains else WHOLE,
            rules_tokens=budget.min_instruction_tokens if budget else 0,
            refers=self._call.offers_expand,
        )
        shorter = shedder.shed(layout)
        missing = reminder.missing(shorter, with_covered=True)
        if not self._is_covered:  # a rule takes nothing from what must be kept
            return reminder.put_back(shorter, missing, room.shared - shorter.tokens)
        return shedder.shed(reminder.put_back(layout, missing, WHOLE)) if missing else shorter

    def _with_reasoning(
        self, merged: list[Merged], reading: Reading, limit: int | None, taken: int
    ) -> list[Merged]:
        """`merged` with the thinking of the open tool turn, newest first, as far as it fits."""
        if not self._call.sends_reasoning or not reading.open_block:
            return merged
        used = taken + sum(total(group.items) for group in merged)
        room = WHOLE if limit is None else limit - used
        last_user = reading.anchors.last_user or 0
        for at in range(len(merged) - 1, -1, -1):
            message, seq = merged[at].message, merged[at].items[-1].seq
            if seq < max(last_user, 1) or not message.calls:
                continue
            tokens = count_reasoning(message, self._counter)
            if tokens > room:
                break
            if tokens or any(call.extra for call in message.calls):
                room -= tokens
                merged[at] = merged[at].with_reasoning(tokens)
        return merged

    def _context(
        self,
        reading: Reading,
        merged: Sequence[Merged],
        repairer: Repairer,
        taken: int,
        prefix: int,
        layout: Layout,
    ) -> Context:
        call, budget = self._call, self._call.budget
        items = [item for group in merged for item in group.items]
        tokens: dict[Segment, int] = {
            "system": taken - call.tools_tokens,
            "tools": call.tools_tokens,
        }
        reminded, has_summary = layout.reminded_seqs, bool(layout.summary)
        current = reading.current
        recalled = {seq for one in layout.recalled for seq in one.seqs}
        verdicts = explain(
            self._view, reading, items, self._active, reminded, recalled, has_summary=has_summary
        )
        for item in items:
            tokens[item.segment] = tokens.get(item.segment, 0) + item.tokens
        return Context(
            messages=[to_dictionary(group) for group in merged],
            tokens=sum(tokens.values()),
            is_exact=self._counter.is_exact and not call.is_scaled,
            breakdown=make_breakdown(
                tokens,
                window_tokens=budget.window_tokens if budget else None,
                reserve_tokens=budget.reserve_tokens if budget else 0,
            ),
            runs=verdicts.runs,
            verdicts=verdicts,
            synthetic=tuple(
                Synthetic(kind=item.segment, text=item.message.text, tokens=item.tokens)
                for item in items
                if item.row is None
            ),
            repairs=(*call.tool_names.repairs, *repairer.repairs),
            renamed_tools={**call.tool_names.original, **repairer.bench.renamed_tools},
            renamed_ids=repairer.bench.renamed_ids,
            budget=budget,
            prefix_messages=count_prefix(merged, prefix),
            made_of=tuple(merged),
            said=tuple(
                item.message
                for item in items
                if item.row is not None
                and item.seq != current
                and item.message.role in ("user", "assistant")
            ),
            summary=layout.summary_text,
            summary_tokens=self._summary_tokens(layout.summary_text),
            router_tokens=budget.router_tokens if budget else None,
            counter=self._counter,
            summarized_messages=self._active.covered_messages if layout.summary else 0,
            recalls=(*_recalls(layout), *self._decided(reading)),
            language=self._language(reading),
        )

    def _decided(self, reading: Reading) -> Recalls:
        """That nothing was found for the newest request, where that was decided before."""
        request = reading.last_user
        nothing = (request.seq, ()) if request is not None else None
        return tuple(one for one in self._call.recalls if one == nothing)

    def _summary_tokens(self, text: str) -> int:
        """What the words of the summary take that are sent."""
        if text == self._active.summary:
            return self._active.summary_tokens
        return self._counter.count(text) if text else 0


def _recalls(layout: Layout) -> Recalls:
    return tuple((one.request, one.seqs) for one in layout.recalled)


def _hides(context: Context) -> bool:
    """Whether any message is not in `context` as it is."""
    return any(run.verdict != "kept" for run in context.runs)
