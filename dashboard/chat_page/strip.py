"""Draws the strip above the chat input: the window as one bar, the next compaction, the cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from streamlit.delta_generator import DeltaGenerator

from ctxcore.assembly.context import Context
from ctxcore.engine.services import CallTarget
from dashboard import numbers
from dashboard.chat_page.strip_figures import Distance, distance, turn_spans
from dashboard.chat_page.transcript import Transcript
from dashboard.reads import Spent, spent_by
from dashboard.texts import t
from dashboard.window_chart import slim_bar, with_reply
from dashboard.window_panel import TriggerLevel, segment_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """What the strip shows beside the context, which changes while an answer streams."""

    level: TriggerLevel | None
    """What the trigger compares; None stands for the whole input of the context."""
    growths: tuple[int, ...]
    """The tokens that each recent turn added, oldest first."""
    is_automatic: bool
    spent: Spent

    def draw(self, slot: DeltaGenerator, context: Context, reply_tokens: int = 0) -> None:
        """Draws it into `slot`; `reply_tokens` are those of a running answer."""
        breakdown = with_reply(context.breakdown, reply_tokens)
        whole = context.breakdown.input_tokens + context.outside_tokens
        compared = self.level.tokens if self.level is not None else whole
        far = distance(
            compared + reply_tokens,
            context.budget,
            self.growths,
            is_automatic=self.is_automatic,
        )
        bar = slim_bar(breakdown, context.budget, segment_label)
        words = " · ".join(self._words(context, far, reply_tokens))
        slot.html(f'{bar}<div class="ctx-strip-words">{escape(words)}</div>')

    def _words(self, context: Context, far: Distance, reply_tokens: int) -> Iterator[str]:
        used = context.breakdown.input_tokens + reply_tokens
        mark = "" if context.is_exact and not reply_tokens else "≈"
        shown = f"{mark}{numbers.short_tokens(used)}"
        if context.budget is None:
            yield t("chat.strip.used_unknown", used=shown)
        else:
            usable = numbers.short_tokens(context.budget.usable_tokens)
            yield t("chat.strip.used", used=shown, usable=usable)
        yield distance_text(far)
        if context.outside_tokens:
            outside = numbers.short_tokens(context.outside_tokens)
            yield t("chat.strip.outside", tokens=outside)
        yield from spent_texts(self.spent)


def distance_text(far: Distance) -> str:
    """How far the next automatic compaction is, in words."""
    name = "turn" if far.state == "turns" and far.turns == 1 else far.state
    left = numbers.short_tokens(far.tokens)
    return t(f"chat.strip.{name}", left=left, turns=far.turns)


def spent_texts(spent: Spent) -> Iterator[str]:
    """What the session cost so far, and the share of its input that came from the cache."""
    if spent.calls:
        cost, gaps = spent.cost.dollars, "+" if spent.cost.unknown else ""
        is_known = cost is not None
        known = t("chat.strip.cost", cost=f"{numbers.money(cost)}{gaps}")
        yield known if is_known else t("chat.strip.cost_unknown")
    if spent.cached_tokens is not None and spent.input_tokens:
        yield t("chat.strip.cached", share=numbers.percent(spent.cached_tokens, spent.input_tokens))


def strip_of(target: CallTarget, level: TriggerLevel | None, transcript: Transcript) -> Strip:
    """The strip of a session; the pace is that of the turns in the transcript."""
    messages = transcript.messages
    said = [info.seq for info in messages if info.message.role == "user"]
    spans = turn_spans(said, messages[-1].seq) if messages else []
    return Strip(
        level=level,
        growths=tuple(target.view.spans_tokens(spans)) if spans else (),
        is_automatic=target.call.policy.is_automatic,
        spent=spent_by(target.session),
    )
