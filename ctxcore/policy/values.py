"""Policies: frozen sets of all thresholds, and the token budget that follows from them.

A policy is a preset with overrides. Its fields are declared in `ctxcore.policy.thresholds`; the
source designs behind the presets are described in `docs/designs.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from ctxcore.budget import TokenBudget, clamp
from ctxcore.errors import PolicyError, UnknownWindowError
from ctxcore.policy.fields import check, fields_of, refuse_field
from ctxcore.policy.names import StrategyName as StrategyName
from ctxcore.policy.thresholds import Preference as Preference
from ctxcore.policy.thresholds import SummaryForm as SummaryForm
from ctxcore.policy.thresholds import SummaryPlace as SummaryPlace
from ctxcore.policy.thresholds import TaskType as TaskType
from ctxcore.policy.thresholds import Thresholds
from ctxcore.reasons.codes import AllowedCode
from ctxcore.registries import At, Registry
from ctxcore.tokens.factors import checked_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Thresholds):
    """When to compact, how far, what stays, and how a summary is shown to the model."""

    keep_others = 5  # no annotation: it is no field
    """How many of the newest messages stay that are neither important nor key events. Source: the
    fifth design, whose fallbacks name 5 and no setting for it."""

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Policy:
        """The named preset, with fields overridden.

        Raises:
            PolicyError: the name or a field is unknown, or a value is outside its range.
        """
        if name not in PRESETS:
            raise PolicyError(
                field="name", value=name, allowed=AllowedCode.NAMES(names=tuple(PRESETS))
            )
        return PRESETS[name].override(**overrides)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets."""
        return tuple(PRESETS)

    def override(self, **overrides: Any) -> Self:
        """This policy with some fields changed.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
        """
        known = fields_of(type(self))
        for field in overrides:
            if field not in known:
                raise refuse_field(field, overrides[field], known)
        return replace(self, **overrides) if overrides else self

    def tool_limit(self, name: str) -> int | None:
        """The tokens above which outputs of a tool are shortened; None: never."""
        if name in self.protected_tools:
            return None
        return dict(self.tool_limits).get(name, self.shorten_over_tokens)

    def is_at_rest(self, messages: int) -> bool:
        """Whether a session of `messages` messages is sent unchanged while all of it fits.

        Source: the second design, section 3. Only that design leaves out or shortens while there
        is room, and not while it is switched off or the session has few messages.
        """
        is_idle = not self.is_automatic or messages < self.min_messages
        return is_idle and (self.shortens_always or self.skips_chains)

    @property
    def request_tokens(self) -> int:
        """How many tokens of the original request stay once its message is folded."""
        return self.goal_max_tokens if self.is_interactive else _UNLIMITED

    @property
    def is_automatic(self) -> bool:
        """Whether compaction may start by itself."""
        return self.trigger_ratio is None or self.trigger_ratio < 1.0

    def budget(
        self,
        *,
        window_tokens: int | None = None,
        system_tokens: int = 0,
        tools_tokens: int = 0,
        max_output_tokens: int | None = None,
        shares_output: bool = True,
        count_factor: float = 1.0,
    ) -> TokenBudget:
        """The token budget of this policy for a window.

        With `shares_output=False` the reply has tokens of its own, so nothing is reserved for it.
        What is usable is divided by `count_factor`: the model's tokens for one counted token.

        Raises:
            UnknownWindowError: neither the policy nor the caller names a window.
        """
        named = [tokens for tokens in (self.window_tokens, window_tokens) if tokens is not None]
        window = min(named, default=self.fallback_window_tokens)
        if window is None:
            raise UnknownWindowError(model=None)
        reserve = 0
        if shares_output:
            reserve = min(self.reserve_tokens, int(window * self.reserve_window_ratio))
            if max_output_tokens is not None:
                reserve = min(reserve, max_output_tokens)
        usable = min(window - reserve, int(window * self.usable_ratio))
        scale = min(1.0, window / self.window_tokens) if self.window_tokens else 1.0
        counted = int(usable / checked_factor(count_factor))
        whole = counted + window - usable  # the reserve is in the model's tokens, as a limit is
        budget = self._budget(whole, counted, scale / count_factor, system_tokens, tools_tokens)
        return replace(budget, count_factor=count_factor)

    def input_budget(
        self,
        max_tokens: int,
        *,
        system_tokens: int = 0,
        tools_tokens: int = 0,
        count_factor: float = 1.0,
    ) -> TokenBudget:
        """The token budget for a limit of `max_tokens`: all of it usable, no reserve.

        Under `max_tokens_is_window` it is that of a model with so many tokens for input and reply.
        It is divided by `count_factor`: the model's tokens for one counted token.
        """
        if self.max_tokens_is_window:
            return self.budget(
                window_tokens=max_tokens,
                system_tokens=system_tokens,
                tools_tokens=tools_tokens,
                count_factor=count_factor,
            )
        scale = 1.0
        if self.window_tokens:
            share = int(self.window_tokens * self.usable_ratio)
            own = min(self.window_tokens - self.reserve_tokens, share)
            scale = min(1.0, max_tokens / max(1, own))
        counted = int(max_tokens / checked_factor(count_factor))
        budget = self._budget(counted, counted, scale / count_factor, system_tokens, tools_tokens)
        return replace(budget, count_factor=count_factor)

    def _budget(
        self, window: int, usable: int, scale: float, system: int, tools: int
    ) -> TokenBudget:
        """The budget in counted tokens; `scale` makes the policy's own sizes such ones."""
        taken = (system or int(self.system_estimate_tokens * scale)) + tools
        history = max(0, int((usable - taken) * self.history_ratio))
        trigger = self._trigger(window, usable, history, scale)
        target = self._target(usable, history, trigger, scale, taken)
        return TokenBudget(
            window_tokens=window,
            reserve_tokens=window - usable,
            usable_tokens=usable,
            history_tokens=history,
            summary_tokens=self._summary_limit(usable, history, target),
            recent_tokens=self._recent_limit(usable, history, target),
            trigger_tokens=trigger,
            target_tokens=target,
            facts_tokens=self._facts_limit(usable),
            working_state_tokens=int(usable * (self.working_state_ratio or 0)),
            router_tokens=None if self.router_tokens is None else int(self.router_tokens * scale),
        )

    def _trigger(self, window: int, usable: int, history: int, scale: float) -> int:
        """The tokens at which the first token-based trigger fires."""
        base = history if self.trigger_on == "history" else usable
        limits = [base]
        if self.trigger_ratio is not None:
            is_on_window = self.trigger_on == "input" and self.trigger_base == "window"
            whole = window if is_on_window else base
            limits = [int(whole * self.trigger_ratio)]
        if self.upper_tokens is not None:
            limits.append(int(self.upper_tokens * scale))
        if self.remaining_ratio is not None:
            limits.append(usable - int(usable * self.remaining_ratio))
        return min(limits)

    def _target(self, usable: int, history: int, trigger: int, scale: float, taken: int) -> int:
        """The tokens at which a compaction stops; half of the trigger if the target exceeds it.

        With a large system prompt or many tools, `LEAST_LEFT_RATIO` raises the target.
        """
        if self.lower_tokens is not None:
            recent = self._recent_share(history) or trigger  # uncovered messages have to fit it
            return min(int(self.lower_tokens * scale), trigger, recent)
        target = int((usable if self.trigger_on == "input" else history) * self.target_ratio)
        target = target if target <= trigger else trigger // 2
        if self.trigger_on == "history":
            return target
        least = min(taken + int((usable - taken) * LEAST_LEFT_RATIO), (taken + trigger) // 2)
        return max(target, min(least, trigger))

    def _recent_limit(self, usable: int, history: int, target: int) -> int:
        """The tokens of the newest part that a compaction down to `target` may not fold."""
        limit = self._recent_share(history)
        if limit is not None:
            return limit
        if self.trigger_on == "history":
            return target
        if not self.recent_ratio:
            return 0
        share = int(usable * self.recent_ratio)
        return min(clamp(share, RECENT_MIN_TOKENS, RECENT_MAX_TOKENS), target // RECENT_PART)

    def _recent_share(self, history: int) -> int | None:
        ratio = self.recent_history_ratio
        return None if ratio is None else round(history * ratio)

    def retarget(self, budget: TokenBudget, target_tokens: int) -> TokenBudget:
        """`budget` with another target; the recent part and the summary never grow."""
        target = min(target_tokens, budget.usable_tokens)
        usable, history = budget.usable_tokens, budget.history_tokens
        recent = self._recent_limit(usable, history, target)
        summary = self._summary_limit(usable, history, target)
        if self.trigger_on == "input":  # the room goes to the highest scores, wherever they are
            recent = min(recent, budget.recent_tokens, int(target * RETARGETED_RECENT_RATIO))
            summary = min(summary, budget.summary_tokens)
        return replace(budget, target_tokens=target, recent_tokens=recent, summary_tokens=summary)

    def _facts_limit(self, usable: int) -> int:
        """What facts may take: their share, in a small window more where others fill the rest."""
        share = int(usable * (self.facts_ratio or 0))
        if not share or "keep_by_worth" not in self.strategies:
            return share
        return max(share, min(FACTS_TOKENS, usable // FACTS_PART))

    def _summary_limit(self, usable: int, history: int, target: int) -> int:
        if self.summary_history_ratio is not None:
            return round(history * self.summary_history_ratio)
        if self.summary_usable_ratio is None:
            return min(self.summary_max_tokens, target // 2)
        return min(int(usable * self.summary_usable_ratio), max(target // 4, 1))


PRESETS: Registry[Policy] = Registry(
    "preset",
    {
        name: At(f"ctxcore.policy.presets:{name.upper().replace('-', '_')}")
        for name in (
            *("default", "sliding-summary", "dual-threshold"),
            *("truncate-or-summarize", "pi", "ladder"),
        )
    },
)

LEAST_LEFT_RATIO = 1 / 3
"""Of what system prompt and tools leave, a target keeps at least this share. It is a target of 0.40
where they take a tenth of usable. Measured on tau-bench in small windows: .58 of the live facts
stay, .54 without, in 20 compactions instead of 29."""
RECENT_MIN_TOKENS, RECENT_MAX_TOKENS = 2_000, 20_000
"""Bounds of the recent part. Source: `docs/designs.md`, `default`."""
RECENT_PART = 4
"""The recent part is at most this part of a target that the policy sets. Measured on LoCoMo,
compacted 20 messages at a time: .39 of its evidence stays in a window of 8,000 tokens, .33 with a
half; of the strings that replayed calls of coding agents need as many as with a half."""
FACTS_TOKENS, FACTS_PART = 400, 8
"""In a small window facts may take up to so many tokens, and this part of usable, where what they
leave is filled with other messages. Bare strings are the cheapest hold of what a call needs:
tau-bench at a quarter keeps .83 of the next call's values so, .78 with 3 %."""
RETARGETED_RECENT_RATIO = 0.05
"""The recent part's share of a target that a caller names. Measured on LoCoMo: .22 of its evidence
stays at 2,000 tokens and .92 at 16,000; with a fifth, .20 and .90."""
_UNLIMITED = 1 << 60  # more tokens than any message has
