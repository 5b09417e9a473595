"""Finds the shortened messages of a context, and what was left out of each.

Pure functions. A text made of pieces of its original shows by itself what was left out. For any
other text the original is compressed again with the library's limits. If no attempt reproduces
the text that was sent, the lines that do not stand literally in it are marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ctxcore.assembly.arguments import told
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import Counted, HistoryView, replace_text, requests_by_seq
from ctxcore.assembly.items import Item
from ctxcore.compression.markers import LEAST_TOKENS, REFERENCE_TOKENS, Elided, with_reference
from ctxcore.compression.outputs import compress_with
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter
from dashboard.context_page.marking import (
    Marked,
    Stretch,
    mark_elided,
    mark_missing,
    mark_pieces,
    pieces_of,
)

_SHARES = (1, 4)  # divisors of a tool's limit: for old outputs, and for superseded ones
_SHED = (200, 60)  # the limits that fitting falls back to
_LOOK_BACK = 200  # chosen: messages searched for the request behind an output


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was left out of a message; both fields are None if it cannot be told by place."""

    stayed: tuple[Stretch, ...] | None = None
    """The stretches of the original that the short text is made of."""
    elided: Elided | None = None
    """The parts that compression left out, by place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """One message that is shortened in a context."""

    seq: int
    name: str
    """The tool, or the role."""
    reason: Reason
    sent: str
    before_tokens: int
    after_tokens: int
    row: Counted

    @property
    def original(self) -> str:
        """The full text, with the arguments of its calls where those are shortened."""
        return _words(self.row, self.row.message)


def find_shortened(context: Context) -> list[Shortened]:
    """The shortened messages of `context`, the largest reduction first."""
    found = [_shortened(item) for item in _items(context)]
    return sorted(
        found,
        key=lambda shortened: (shortened.after_tokens - shortened.before_tokens, shortened.seq),
    )


def with_block(chosen: Shortened, among: Iterable[Shortened]) -> list[Shortened]:
    """The shortened messages that a pin of `chosen` restores: those of its block."""
    return [shortened for shortened in among if shortened.row.block == chosen.row.block]


def queries_for(shortened: Shortened, view: HistoryView) -> list[str]:
    """The requests that the output may have been compressed for; may include the empty one."""
    last_user = view.anchors().last_user or shortened.seq
    firsts = (max(1, shortened.seq - _LOOK_BACK), shortened.row.block)
    spans = [set(range(first, shortened.seq + 1)) for first in firsts]
    spans.append(spans[1] | {last_user})
    queries = (requests_by_seq(view.get(span)).get(shortened.seq, "") for span in spans)
    return list(dict.fromkeys((*queries, "")))


def left_out(
    shortened: Shortened, limits: Sequence[int], queries: Sequence[str], counter: TokenCounter
) -> LeftOut:
    """What was left out of a message; `queries` are the requests it may be compressed for."""
    stayed = pieces_of(shortened.original, shortened.sent, shortened.seq)
    if stayed is not None:
        return LeftOut(stayed=tuple(stayed))
    return LeftOut(elided=elided_of(shortened, limits, queries, counter))


def elided_of(
    shortened: Shortened, limits: Sequence[int], queries: Sequence[str], counter: TokenCounter
) -> Elided | None:
    """The parts that compression left out; None if no attempt reproduces the sent text."""
    name, message = shortened.row.function_name, shortened.row.message
    frame = count_message(replace_text(message, ""), counter, function_name=name)
    likely = [limit for limit in limits if limit >= shortened.after_tokens - REFERENCE_TOKENS]
    for query, limit in product(queries, likely):
        room = limit - frame
        again = compress_with(shortened.original, max_tokens=room, counter=counter, query=query)
        if shortened.sent in (again.text, with_reference(again.text, shortened.seq)):
            return again.elided
    return None


def limits_for(policy: Policy, name: str, oversize_tokens: int | None) -> list[int]:
    """The token limits that outputs of a tool may have had, the smallest first."""
    usual = policy.tool_limit(name) or policy.shorten_over_tokens
    limits = {max(LEAST_TOKENS, usual // share) for share in _SHARES} | set(_SHED)
    limits |= {oversize_tokens} if oversize_tokens else set()
    return sorted({*limits, *(limit - REFERENCE_TOKENS for limit in limits)})


def mark(shortened: Shortened, found: LeftOut) -> Marked:
    """Marks in the original what was left out."""
    if found.stayed is not None:
        return mark_pieces(shortened.original, found.stayed)
    if found.elided is not None:
        return mark_elided(shortened.original, found.elided)
    return mark_missing(shortened.original, shortened.sent)


def _words(row: Counted, message: Message) -> str:
    return message.text if row.short_calls is None else told(message)


def _items(context: Context) -> Iterator[Item]:
    for group in context.made_of:
        yield from (item for item in group.items if item.row and item.verdict == "compressed")


def _shortened(item: Item) -> Shortened:
    row = item.row
    assert row is not None  # `_items` yields no item without a row
    return Shortened(
        seq=row.seq,
        name=row.function_name or row.message.role,
        reason=item.reason,
        sent=_words(row, item.message),
        before_tokens=row.tokens,
        after_tokens=item.tokens,
        row=row,
    )
