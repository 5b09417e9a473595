"""The context: the messages that a model is sent, and the full account of how they were chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction, Recalls, stands_until
from ctxcore.assembly.rules.values import Repair, renamed_tools
from ctxcore.assembly.texts import elide
from ctxcore.assembly.verdicts import Breakdown, Run, Verdict, VerdictKind, Verdicts, merge_runs
from ctxcore.budget import TokenBudget
from ctxcore.compression.markers import ELISION
from ctxcore.messages.canonical import printable
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import Message, SentObject, ToolCall
from ctxcore.plain import Plain
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.families import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic(Plain):
    """A text in the context that is no message of the history."""

    kind: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Context(Plain):
    """What a model is sent, never above its budget, legal for every provider."""

    messages: list[SentObject]
    """Ready to send, OpenAI chat format; `in_shape` has them as they came."""
    tokens: int
    """Framing, tools and messages together, by the session model's counter."""
    is_exact: bool
    """Whether the tokens were counted with the model's own vocabulary, not estimated or scaled."""
    breakdown: Breakdown
    runs: tuple[Run, ...]
    """The verdicts as they are stored: neighbours of one verdict and reason together."""
    verdicts: Verdicts = field(repr=False)
    """One verdict for each message of the history."""
    synthetic: tuple[Synthetic, ...]
    repairs: tuple[Repair, ...]
    budget: TokenBudget | None
    """None where the model's window is unknown."""
    prefix_messages: int
    """How many of `messages` stay the same until the next break of the prompt cache."""
    made_of: tuple[Merged, ...] = field(repr=False, default=())
    """What each of `messages` is made of."""
    said: tuple[Message, ...] = field(repr=False, default=())
    """The messages of user and model in it before the current one, as the history has them."""
    summary: str = ""
    summary_tokens: int = 0
    summarized_messages: int = 0
    recalls: Recalls = ()
    """What was recalled for requests in it, to be passed to the next one."""
    language: str = "en"
    router_tokens: int | None = None
    """The budget of `render_text`; None: unlimited."""
    counter: TokenCounter | None = field(repr=False, default=None)
    notices: tuple[Reason, ...] = ()
    """What changed in a state that was made from other messages, and what of a stored session is
    damaged; else empty."""
    passed: PassedMessages | None = field(repr=False, default=None)
    """The list that was read; None where the history came from somewhere else."""

    renamed_tools: Mapping[str, str] = field(default_factory=dict)
    """Names that tools are sent under where a provider refuses their own, which they map to."""
    renamed_ids: Mapping[str, str] = field(default_factory=dict)
    """Ids that calls are sent under in place of their own, which they map to."""

    def sent_tools(self, tools: Sequence[Mapping[str, object]]) -> list[SentObject]:
        """The tool definitions to send beside the messages: `tools`, renamed where calls are."""
        sent = {own: name for name, own in self.renamed_tools.items()}
        return [*renamed_tools(tools, sent)]

    def own_calls(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls of a model that was sent this context, under the caller's names of tools."""
        own = self.renamed_tools
        return tuple(
            replace(call, name=own[call.name]) if call.name in own else call for call in calls
        )

    @property
    def shape(self) -> Shape:
        """The shape that the messages came in."""
        return self.passed.shape if self.passed else "openai"

    def in_shape(self, shape: Shape | None = None) -> list[SentObject]:
        """What is sent, in the shape that came in, or in another one.

        Messages in which nothing changed are the caller's own objects, thinking and marks in them
        included; of others all that did not change stays. In another shape nothing is the caller's
        own; a system prompt stays a message at the front for Anthropic, which takes it as `system`
        beside the list, and becomes a user's words for Gemini.

        Raises:
            ValueError: there is no such shape.
        """
        shape = shape or self.shape
        own = self.passed.seen_as(shape) if self.passed is not None else None
        groups = [
            SentGroup(
                message=group.message,
                sent=tuple(_sent(item, own) for item in group.items),
                has_reasoning=group.has_reasoning,
            )
            for group in self.made_of
        ]
        return codec_of(shape).back(groups, own)

    def places_of(self, at: int) -> tuple[int, ...]:
        """The places, in the list that was passed, of the message at place `at` of the history."""
        return self.passed.places_of(at) if self.passed else (at,)

    @property
    def outside_tokens(self) -> int:
        """The tokens of the messages that wait outside the window because it is full.

        No compaction covers them; the triggers count them, `tokens` does not.
        """
        return sum(
            run.before_tokens for run in self.runs if run.reason.mentions(VerdictCode.OUTSIDE)
        )

    def verdict(self, at: int) -> Verdict:
        """What became of the message at place `at` of the history."""
        return self.verdicts[at]

    def render_text(self, max_tokens: int | None = None) -> str:
        """The history as text for a router, one line a message; the current one is left out.

        The summary under its header, and the newest lines beside it; all of it within `max_tokens`
        (without it: the policy's second budget). The first line that does not fit ends them; a
        summary that does not fit alone is cut. Empty when there is nothing before the current
        message, or no room for any of it. Source: the first design, section 3.2.3.
        """
        limit = self.router_tokens if max_tokens is None else max_tokens
        lines = list(_rendered(self.said))
        if limit is None:
            return self._text(self.summary, lines)
        summary = self._summary_within(limit)
        left, first = limit - self._count(self._text(summary, [])), len(lines)
        while first and (left := left - self._count(lines[first - 1])) >= 0:
            first -= 1
        while first < len(lines) and self._count(self._text(summary, lines[first:])) > limit:
            first += 1  # the line ends between them take tokens too
        return self._text(summary, lines[first:])

    def _summary_within(self, limit: int) -> str:
        """The summary, cut where it exceeds `limit` with its header."""
        if self._count(self._text(self.summary, [])) <= limit:
            return self.summary
        assert self.counter is not None  # every context that is built has one
        room = limit - self._count(self._text(ELISION, []))
        while room > 0:
            summary = elide(self.summary, room, self.counter)
            over = self._count(self._text(summary, [])) - limit
            if over <= 0:
                return summary
            room -= over
        return ""

    def _text(self, summary: str, lines: Sequence[str]) -> str:
        header = _text_header(self.language, self.summarized_messages)
        parts = [f"{header}\n{summary}"] if summary else []
        return printable("\n\n".join([*parts, "\n".join(lines)] if lines else parts))

    def _count(self, text: str) -> int:
        assert self.counter is not None  # every context that is built has one
        return self.counter.count(text)


def _rendered(messages: Sequence[Message]) -> Iterable[str]:
    for message in messages:
        if words := message.text:
            action = f"[{message.action}] " if message.action else ""
            yield f"{message.role.upper()}: {action}{' '.join(words.split())}"


def _text_header(language: str, messages: int) -> str:
    if language == "zh":
        return f"[之前对话的总结（{messages} 轮）]："
    return f"[Earlier conversation summary ({messages} turns)]:"


def _sent(item: Item, passed: PassedMessages | None) -> Sent:
    """An item, which is untouched if it equals the message that was read."""
    if passed is None or item.row is None:
        return Sent(message=item.message)
    source = item.seq - 1
    is_untouched = item.message == passed.messages[source]
    return Sent(message=item.message, source=source, is_untouched=is_untouched)


def explain(
    view: HistoryView,
    reading: Reading,
    items: Iterable[Item],
    active: Compaction,
    reminded: Collection[int] = (),
    recalled: Collection[int] = (),
    *,
    has_summary: bool,
) -> Verdicts:
    """One verdict for each message of `view`, given the `items` of the context.

    `reminded`: messages whose standing instructions the facts repeat; `recalled`: those that stand
    before a request that needs them. `has_summary`: whether any of the compaction's summary is in
    the context.
    """
    shown = {item.seq: item.run for item in items if item.row is not None}
    replaced = frozenset(reading.anchors.replaced)
    left_out = _LeftOut(active, has_summary=has_summary, replaced=replaced)
    lost = [row.seq for row in reading.kept if row.seq not in shown]
    special: dict[int, Run | _Gap] = {
        seq: left_out.dropped(seq, VerdictCode.NO_ROOM_TO_KEEP()) for seq in lost
    }
    for seq in reminded:
        why = special[seq] if seq in special else next(left_out.between(seq, seq))
        special[seq] = left_out.dropped(seq, VerdictCode.REMINDED(why=why.reason), why.verdict)
    for seq in recalled:
        special[seq] = left_out.dropped(seq, VerdictCode.RECALLED(), "recalled")
    for seq in (*reading.excluded, *reading.anchors.dismissed):
        special[seq] = left_out.dropped(seq, VerdictCode.EXCLUDED())
    special |= _out_of_force(view, reading, special)
    runs = _sized(view, _with_gaps(left_out, {**special, **shown}, view.count()))
    return Verdicts(merge_runs(runs), view.sizes)


class _Gap(NamedTuple):
    """The messages first … last, none of them in the context; a run before its size is read."""

    first: int
    last: int
    verdict: VerdictKind
    reason: Reason


def _sized(view: HistoryView, parts: Iterable[Run | _Gap]) -> list[Run]:
    """`parts` as runs, the sizes of all gaps read at once."""
    found = list(parts)
    gaps = [part for part in found if isinstance(part, _Gap)]
    sizes = iter(view.spans_tokens([(gap.first, gap.last) for gap in gaps]))
    return [_to_run(part, next(sizes)) if isinstance(part, _Gap) else part for part in found]


def _to_run(gap: _Gap, tokens: int) -> Run:
    return Run(
        first=gap.first - 1,
        last=gap.last - 1,
        verdict=gap.verdict,
        reason=gap.reason,
        before_tokens=tokens,
        after_tokens=0,
    )


def _out_of_force(
    view: HistoryView, reading: Reading, known: Collection[int]
) -> Iterator[tuple[int, Run]]:
    """The runs of system messages that are not sent because another stands for them.

    Of those before the recent part none, so that runs are no more than what the window holds.
    """
    first = reading.blocks[0][0].seq if reading.blocks else 1
    replaced = [seq for seq in reading.anchors.replaced if seq > first and seq not in known]
    for row in view.get(reading.overridden.union(replaced)):
        is_own = row.seq in reading.overridden
        reason = VerdictCode.SYSTEM_OF_CALL() if is_own else VerdictCode.SYSTEM_REPLACED()
        run = Run(
            first=row.seq - 1,
            last=row.seq - 1,
            verdict="dropped",
            reason=reason,
            before_tokens=row.tokens,
            after_tokens=0,
        )
        yield row.seq, run


def _with_gaps(
    left_out: _LeftOut, special: Mapping[int, Run | _Gap], count: int
) -> Iterator[Run | _Gap]:
    """`special` in order, and what lies between: covered or outside the window."""
    next_seq = 1
    for seq in sorted(special):
        if next_seq < seq:  # most messages have no gap before them
            yield from left_out.between(next_seq, seq - 1)
        yield special[seq]
        next_seq = seq + 1
    yield from left_out.between(next_seq, count)


class _LeftOut:
    """Says why messages are not in the context."""

    def __init__(
        self,
        active: Compaction,
        *,
        has_summary: bool,
        replaced: Collection[int],
    ) -> None:
        self._replaced = replaced
        self._folded, self._cut = stands_until(active), active.covered_until
        self._kind: VerdictKind = "summarized" if has_summary else "dropped"
        self._reason = VerdictCode.FOLDED() if has_summary else VerdictCode.NO_ROOM_FOR_SUMMARY()

    def dropped(self, seq: int, reason: Reason, verdict: VerdictKind = "dropped") -> _Gap:
        """One message by itself."""
        return _Gap(seq, seq, verdict, reason)

    def between(self, first: int, last: int) -> Iterator[_Gap]:
        """The messages first … last, those of one reason together."""
        parts: tuple[tuple[int, int, VerdictKind, Reason], ...] = (
            (1, self._folded, self._kind, self._reason),
            (self._folded + 1, self._cut, "dropped", VerdictCode.TRUNCATED()),
            (self._cut + 1, last, "dropped", self._uncovered(max(first, self._cut + 1), last)),
        )
        for low, high, kind, reason in parts:
            if max(first, low) <= min(last, high):
                yield _Gap(max(first, low), min(last, high), kind, reason)

    def _uncovered(self, first: int, last: int) -> Reason:
        """Why none of the messages first … last is there, which no compaction covers."""
        are_replaced = last - first < len(self._replaced) and all(
            seq in self._replaced for seq in range(first, last + 1)
        )
        return VerdictCode.SYSTEM_REPLACED() if are_replaced else VerdictCode.OUTSIDE()
