"""Owns measuring a session against its budget, and the rules by which a compaction starts.

One measurement feeds every rule; a rule that fires says so with its numbers. Nothing here reads
more than a compaction record and the totals behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ctxcore.assembly.building import NOTHING_COVERED, Builder, Call, build_context
from ctxcore.assembly.history import Counted, HistoryView, with_short
from ctxcore.assembly.items import Item, total
from ctxcore.assembly.layout import Layout
from ctxcore.assembly.reading import Reader
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import knowledge_text
from ctxcore.messages.values import text_message
from ctxcore.tokens.count import count_message

ASKED = "asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The size of a session, as if nothing of what is uncovered were left out."""

    fixed_tokens: int
    """Framing, tools, system, knowledge, goal, pins, kept blocks: all but summary and messages."""
    summary_tokens: int
    uncovered_tokens: int
    uncovered_messages: int

    @property
    def input_tokens(self) -> int:
        """The whole input."""
        return self.fixed_tokens + self.history_tokens

    @property
    def history_tokens(self) -> int:
        """Summary and uncovered messages."""
        return self.summary_tokens + self.uncovered_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The rule that asked for a compaction, with the numbers it compared."""

    rule: str
    numbers: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.rule}: " + ", ".join(f"{name} {value:,}" for name, value in self.numbers)


def measure(view: HistoryView, call: Call, active: Compaction | None = None) -> Measure:
    """How large the input of a session is under `active`, flat in the length of its history."""
    active = active or NOTHING_COVERED
    reading = Reader(view, active, call.policy, call.counter).read(1)
    builder = Builder(view, call, active)
    layout = builder.maker(reading).make(len(reading.blocks), 0)
    covered = active.covered_until
    uncovered = view.totals(after=covered)
    hidden = [row for row in view.get(reading.excluded) if row.seq > covered]
    saved = sum(row.sent_tokens for row in hidden) + _saved(view, active, call, reading.excluded)
    return Measure(
        fixed_tokens=builder.framing(reading) + _fixed(layout, covered) + _knowledge(call),
        summary_tokens=total(layout.summary),
        uncovered_tokens=uncovered.tokens - saved,
        uncovered_messages=uncovered.messages - len(hidden),
    )


def input_size(view: HistoryView, call: Call, active: Compaction | None) -> int:
    """What the input takes: the context's own count where all of it fits, else its measure."""
    measured = measure(view, call, active).input_tokens
    if call.budget is not None and measured > call.budget.usable_tokens:
        return measured
    return build_context(view, call, active).tokens


def find_trigger(measured: Measure, call: Call) -> Trigger | None:
    """The first rule that asks for a compaction; None if the session may go on as it is."""
    policy, budget = call.policy, call.budget
    if budget is None or not policy.is_automatic:
        return None
    lookback = policy.lookback_messages
    if lookback is not None and measured.uncovered_messages > lookback + 1:
        numbers = (("uncovered messages", measured.uncovered_messages), ("looked at", lookback))
        return Trigger(rule="beyond the lookback", numbers=numbers)
    on_input = policy.trigger_on == "input"
    size = measured.input_tokens if on_input else measured.history_tokens
    if size >= budget.trigger_tokens and measured.uncovered_messages >= policy.min_messages:
        numbers = (("tokens", size), ("trigger", budget.trigger_tokens))
        return Trigger(rule=f"{policy.trigger_on} at the trigger", numbers=numbers)
    return overflow(measured, call)


def overflow(measured: Measure, call: Call) -> Trigger | None:
    """The rule that an input larger than usable cannot be sent whole."""
    if call.budget is None or measured.input_tokens <= call.budget.usable_tokens:
        return None
    numbers = (("tokens", measured.input_tokens), ("usable", call.budget.usable_tokens))
    return Trigger(rule="input above usable", numbers=numbers)


def asked(measured: Measure) -> Trigger:
    """The rule that a person or a program asked."""
    return Trigger(rule=ASKED, numbers=(("tokens", measured.input_tokens),))


def for_trigger(call: Call, measured: Measure, trigger: Trigger, *, halves: bool = True) -> Call:
    """`call` as a compaction for `trigger` plans with it.

    Somebody who asks wants a smaller input even below the target: half of it is the target then,
    unless they named one themselves (`halves=False`). An unknown window is planned for as if the
    input filled it.
    """
    budget = call.budget or call.policy.input_budget(measured.input_tokens)
    if trigger.rule == ASKED and halves:
        target = min(budget.target_tokens, measured.input_tokens // 2)
        budget = call.policy.retarget(budget, target)
    return replace(call, budget=budget)


def _fixed(layout: Layout, covered: int) -> int:
    """The covered survivors: what is uncovered is measured with the messages."""
    survivors = (*layout.goal, *layout.request, *layout.late_pins)
    always = (*layout.system, *layout.pins, *layout.kept)
    return total(always) + total(_up_to(survivors, covered))


def _up_to(items: Iterable[Item], covered: int) -> list[Item]:
    return [item for item in items if item.seq <= covered]


def _knowledge(call: Call) -> int:
    return sum(
        count_message(text_message("user", knowledge_text(name, text)), call.counter)
        for name, text in call.knowledge.items()
    )


def _saved(view: HistoryView, active: Compaction, call: Call, excluded: Collection[int]) -> int:
    """What the tool outputs that the record shortened take less."""
    texts = {seq: text for seq, text in active.shortened if seq not in excluded}
    rows: list[Counted] = view.get([seq for seq in texts if seq > active.covered_until])
    short = (with_short(row, texts[row.seq], call.counter).sent_tokens for row in rows)
    return sum(max(0, row.sent_tokens - size) for row, size in zip(rows, short, strict=True))
