"""Finds the facts a compaction loses: live facts that the context it leads to no longer holds.

The context holds a fact if it shows its message unchanged, or if any of its texts has its literal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final, Literal, get_args

from ctxcore.assembly.addressees import without_rules_for_others
from ctxcore.assembly.building import NOTHING_COVERED, Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Merged
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import ledger_at
from ctxcore.errors import BudgetError
from ctxcore.facts.agent_records import arguments_of
from ctxcore.facts.ledger import Entry, live
from ctxcore.facts.presence import SearchedText, is_on_a_line
from ctxcore.facts.values import STATEMENTS, Fact, Kind
from ctxcore.messages.values import JsonValue, Message, ToolCall
from ctxcore.reasons.codes import LossCode

LossRank = Literal["standing", "needed", "other", "minor"]
RANKS: Final[tuple[LossRank, ...]] = get_args(LossRank)
_STANDING: Final[frozenset[Kind]] = frozenset({*STATEMENTS, "request", "todo", "question"})
_MINOR: Final[frozenset[Kind]] = frozenset({"date", "number", "amount"})


def loss_rank(kind: Kind, *, is_needed: bool = False) -> LossRank:
    """Returns how much the loss of a fact matters, from the first of `RANKS` to the last.

    Rules, decisions, settings, tasks and open questions stand until someone takes them back. Of
    other facts those come first that are used later; dates and bare numbers come last.
    """
    if kind in _STANDING:
        return "standing"
    if is_needed:
        return "needed"
    return "minor" if kind in _MINOR else "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostFact:
    """A fact that held when it was folded, and that the context no longer holds."""

    text: str
    kind: Kind
    seq: int
    """The message that said it last, by sequence number."""
    salience: float
    fact: Fact

    @property
    def rank(self) -> LossRank:
        """How much its loss matters, where nothing is known of later uses."""
        return loss_rank(self.kind)

    @classmethod
    def of(cls, entry: Entry) -> LostFact:
        """Returns the fact of a ledger entry."""
        return cls(
            text=entry.text,
            kind=entry.kind,
            seq=entry.seqs[-1],
            salience=entry.salience,
            fact=entry.fact,
        )


def loss_code(kind: Kind) -> LossCode:
    """Returns the code for the loss of a fact of this kind."""
    return LossCode[kind.upper()]


def lost_facts(
    view: HistoryView, before: Compaction | None, after: Compaction, shown: Sequence[Merged]
) -> list[LostFact]:
    """Returns the facts that the record `after` loses, highest score first, each text once.

    `shown` is the context that `after` leads to. Checked are facts that hold at the newest message
    of `view`: those last said in messages that `after` newly covers, and older ones that `before`
    still held. What people ask of each other is no rule that a model could lose.
    """
    before = before or NOTHING_COVERED
    items = (item for group in shown for item in group.items)
    verbatim = {item.row.seq for item in items if item.row and item.verdict == "kept"}
    context = SearchedText("\n".join(message_text(group.message) for group in shown))
    known = SearchedText(f"{before.facts}\n{before.summary}")
    still, gone = {*before.kept, *before.pins}, {*(before.facts_lost or ())}

    def was_known(entry: Entry) -> bool:
        is_new = before.covered_until < entry.seqs[-1] <= after.covered_until
        is_old = entry.seqs[-1] <= before.covered_until and entry.text not in gone
        return is_new or (is_old and (not still.isdisjoint(entry.seqs) or known.says(entry.fact)))

    hidden = without_rules_for_others(
        view,
        (entry for entry in live(ledger_at(view)) if verbatim.isdisjoint(entry.seqs)),
        (group.message for group in shown),
    )
    # those searched in the whole text first: the text is then read once
    entries = sorted(hidden, key=lambda entry: is_on_a_line(entry.fact))
    return sort_by_salience(
        LostFact.of(entry) for entry in entries if was_known(entry) and not context.says(entry.fact)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """How many messages of a history a context shows, stands for, and does not have at all."""

    shown: int
    """Messages in it, whole, shortened or recalled."""
    represented: int
    """Folded ones of which the summary or the facts beside it still say something."""
    gone: int


def visibility(view: HistoryView, context: Context, active: Compaction | None) -> Visibility:
    """Returns what became of the messages of `view` in `context`, built under `active`.

    A folded message is represented where a sentence of the summary comes from it, or where one of
    its facts stands in the summary or beside it.
    """
    active = active or NOTHING_COVERED
    said = SearchedText(f"{active.facts}\n{active.summary}")
    told = {seq for sentence in active.sentences for seq in sentence.seqs}
    # Facts come in the order of the messages: those behind the covered ones are not read.
    covered = takewhile(lambda found: found[0] <= active.covered_until, view.facts())
    told |= {seq for seq, facts in covered if seq not in told and any(map(said.says, facts))}
    hidden = {
        at + 1
        for run in context.runs
        if run.verdict in ("summarized", "dropped")
        for at in range(run.first, run.last + 1)
    }
    represented = len(hidden & told)
    return Visibility(
        shown=view.count() - len(hidden),
        represented=represented,
        gone=len(hidden) - represented,
    )


def sort_by_salience(lost: Iterable[LostFact]) -> list[LostFact]:
    """Returns `lost` sorted by score, the highest first; of one text only the highest kind."""
    ordered = sorted(lost, key=lambda fact: (-fact.salience, fact.seq, fact.kind, fact.text))
    return list({fact.text: fact for fact in reversed(ordered)}.values())[::-1]


def sort_by_rank(lost: Iterable[LostFact]) -> list[LostFact]:
    """Returns `lost` by what matters: by rank, then by score; nothing is known of later uses."""
    return sorted(lost, key=lambda fact: (RANKS.index(fact.rank), -fact.salience))


def find_losses(
    view: HistoryView, call: Call, before: Compaction | None, record: Compaction
) -> list[LostFact] | None:
    """Returns what `record` loses in the context it leads to; None where nothing can be sent."""
    if record.covered_until <= (before or NOTHING_COVERED).covered_until:
        return []
    try:
        shown = build_context(view, call, record).made_of
    except BudgetError:
        return None
    return lost_facts(view, before, record, shown)


def with_losses(record: Compaction, lost: Sequence[LostFact] | None) -> Compaction:
    """Returns `record` with the texts of the facts it loses."""
    texts = None if lost is None else tuple(fact.text for fact in lost)
    return replace(record, facts_lost=texts)


def message_text(message: Message) -> str:
    """Returns the words of a message and the values in the arguments of its calls."""
    if not message.calls:
        return message.text
    return "\n".join([message.text, *map(call_text, message.calls)])


def call_text(call: ToolCall) -> str:
    """Returns the values in the arguments of a call, one a line, or their text if not JSON."""
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
