"""Owns what a compaction loses: live facts that the context it leads to no longer says.

A fact is still said where its message is shown as it was, or where any text of the context says its
literal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.building import NOTHING_COVERED, Call, build_context
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Merged
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried import ledger_at
from ctxcore.errors import BudgetError
from ctxcore.facts.agent_records import arguments_of
from ctxcore.facts.ledger import Entry, live
from ctxcore.facts.presence import SearchedText, is_on_a_line
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import JsonValue, Message, ToolCall
from ctxcore.reasons.codes import LossCode


@dataclass(frozen=True, slots=True, kw_only=True)
class LostFact:
    """A fact that held when it was folded, and that the context no longer says."""

    text: str
    kind: Kind
    seq: int
    """The message that said it last."""
    worth: float
    fact: Fact

    @classmethod
    def of(cls, entry: Entry) -> LostFact:
        """What `entry` says."""
        return cls(
            text=entry.text,
            kind=entry.kind,
            seq=entry.seqs[-1],
            worth=entry.worth,
            fact=entry.fact,
        )


def loss_code(kind: Kind) -> LossCode:
    """The code of losing a fact of this kind."""
    return LossCode[kind.upper()]


def lost_facts(
    view: HistoryView, before: Compaction | None, after: Compaction, shown: Sequence[Merged]
) -> list[LostFact]:
    """What the record `after` loses, the most worth first, each text once.

    `shown` is the context that it leads to. Looked at are facts that hold at the newest message of
    `view`: those last said in what `after` newly covers, and older ones that `before` still said.
    """
    before = before or NOTHING_COVERED
    whole = set(verbatim_seqs(shown))
    told = SearchedText("\n".join(said_text(group.message) for group in shown))
    known = SearchedText(f"{before.facts}\n{before.summary}")
    still, gone = {*before.kept, *before.pins}, {*(before.facts_lost or ())}

    def was_known(entry: Entry) -> bool:
        is_new = before.covered_until < entry.seqs[-1] <= after.covered_until
        is_old = entry.seqs[-1] <= before.covered_until and entry.text not in gone
        return is_new or (is_old and (not still.isdisjoint(entry.seqs) or known.says(entry.fact)))

    hidden = (one for one in live(ledger_at(view)) if whole.isdisjoint(one.seqs))
    entries = sorted(hidden, key=lambda one: is_on_a_line(one.fact))  # whole texts are read once
    lost = [LostFact.of(one) for one in entries if was_known(one) and not told.says(one.fact)]
    return by_worth(lost)


def by_worth(lost: Iterable[LostFact]) -> list[LostFact]:
    """`lost` with the most worth first; of one text only the kind that is worth most."""
    ordered = sorted(lost, key=lambda one: (-one.worth, one.seq, one.kind, one.text))
    return list({one.text: one for one in reversed(ordered)}.values())[::-1]


def find_losses(
    view: HistoryView, call: Call, before: Compaction | None, record: Compaction
) -> list[LostFact] | None:
    """What `record` loses in the context it leads to; None where nothing can be sent."""
    if record.covered_until <= (before or NOTHING_COVERED).covered_until:
        return []
    try:
        shown = build_context(view, call, record).made_of
    except BudgetError:
        return None
    return lost_facts(view, before, record, shown)


def with_losses(record: Compaction, lost: Sequence[LostFact] | None) -> Compaction:
    """`record` with the texts of what it loses."""
    texts = None if lost is None else tuple(one.text for one in lost)
    return replace(record, facts_lost=texts)


def verbatim_seqs(shown: Iterable[Merged]) -> Iterator[int]:
    """The messages of the history that are shown as they were said."""
    for group in shown:
        for item in group.items:
            if item.row is not None and item.verdict == "kept":
                yield item.row.seq


def said_text(message: Message) -> str:
    """All that a message says: its words and the values in the arguments of its calls."""
    if not message.calls:
        return message.text
    return "\n".join([message.text, *map(call_text, message.calls)])


def call_text(call: ToolCall) -> str:
    """The values in the arguments of a call, one a line, or the text that they are."""
    arguments = arguments_of(call.arguments)
    return "\n".join(_values(arguments)) if arguments else call.arguments


def _values(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case list():
            for inner in value:
                yield from _values(inner)
        case dict():
            for inner in value.values():
                yield from _values(inner)
