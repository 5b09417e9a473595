"""Owns policies: frozen values that hold every threshold; nothing reads one from anywhere else.

A policy is a preset's name plus overrides. Figures and resolutions of the source designs stand in
`docs/designs.md`, their presets in `presets`, the allowed ranges in `rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxcore.budget import TokenBudget, clamp, reserve_for
from ctxcore.errors import PolicyError, UnknownWindowError
from ctxcore.policy.names import StrategyName
from ctxcore.reasons.allowed import AllowedCode
from ctxcore.tokens.counting import Counting

SummaryPlace = Literal["tagged", "pair", "second_system", "headed_system", "user", "addition"]
SummaryForm = Literal["progressive", "dated_points", "layered", "third_person", "plain"]
Preference = Literal["fast", "balanced", "quality"]
TaskType = Literal["code", "analysis", "conversation", "mixed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When to compact, how far, what stays, and how a summary is shown to the model."""

    name: str = "default"

    # the window

    window_tokens: int | None = None
    """The preset's window; the smaller of it and the model's counts. None: the model's."""
    fallback_window_tokens: int | None = None
    """The window where neither the preset nor the model names one; None: it stays unknown."""
    usable_ratio: float = 1.0
    """No context takes more of the window than this; the rest is added to the reserve."""
    reserve_tokens: int = 4_096
    """Kept free for the reply, at most."""
    reserve_window_ratio: float = 0.25
    """The reserve never takes more of the window than this."""
    system_estimate_tokens: int = 0
    """Taken off for the system prompt until a measured one replaces it."""
    history_ratio: float = 1.0
    """Share of what remains after reserve and system that summary and messages may take."""
    router_tokens: int | None = None
    """A second, smaller budget, for a router that takes the history as text."""

    # when a compaction starts

    counting: Counting = "model"
    """Whose counts the triggers compare; that a context fits is always the model's to say."""
    check_at: Literal["background", "after_answer", "before_message", "before_send"] = "background"
    """When the rules are looked at: after the answer, without or with the turn waiting for it;
    before a user's message is stored; or before each call."""
    trigger_on: Literal["input", "history"] = "input"
    """What is measured: the whole input, or summary plus messages."""
    trigger_base: Literal["usable", "window"] = "usable"
    """What the trigger ratio is a share of, where the whole input is measured."""
    trigger_ratio: float | None = 0.80
    """Share at which compaction starts; 1.0 or more switches automatic compaction off, None leaves
    it to the other rules."""
    upper_tokens: int | None = None
    """Starts a compaction above it."""
    remaining_ratio: float | None = None
    """Starts a compaction when less than this share of usable remains."""
    max_messages: int | None = None
    """Starts a compaction at so many uncovered messages."""
    max_turns: int | None = None
    """Starts a compaction at so many turns since the last one; where there are
    `direct_strategies`, since the last full summary."""
    summary_marker: str | None = None
    """Words by which the model asks for a compaction itself; people never see them."""
    min_messages: int = 0
    """No automatic compaction while fewer messages are uncovered."""
    first_min_messages: int = 0
    """No first summary of fewer uncovered messages."""
    next_min_messages: int = 0
    """No further summary of fewer messages than this behind the one before; 0: `min_messages`."""
    next_min_ratio: float = 0.0
    """No further summary unless new tokens are more than this many times those of the summary."""
    lookback_messages: int | None = None
    """A context looks at no more messages before the current one; an uncovered one beyond is a
    trigger of its own."""
    lookback_target_messages: int = 20
    requires_confirmation: bool = False
    """Whether a person is asked before a compaction that starts by itself."""
    is_shadow: bool = False
    """Whether compactions are only planned and recorded, and change nothing."""
    rebuild_after: int | None = 3
    """After so many summaries of a summary the next is made from the messages; None: never."""
    max_failures: int = 3
    """After so many failed compactions in a row nothing is tried until a person asks."""

    # what folds

    strategies: tuple[StrategyName, ...] = ("shorten_tool_outputs", "keep_by_worth")
    """Tried in this order; a compaction stops after the first that reaches the target. Those of the
    `ladder` design that suit the kind of task come first."""
    direct_strategies: tuple[StrategyName, ...] = ()
    """Tried instead where a person, the model or the number of turns asks; empty: the same."""
    task_type: TaskType | None = None
    """The kind of task, where the application knows it; None: it is found."""
    fold_as: Literal["summary", "truncation", "choice"] = "summary"
    """Whether folded messages are summarized, only left out, or whichever the gates choose."""
    preference: Preference = "balanced"
    """What a choice weighs more: speed and cost, or quality."""
    max_summaries: int | None = None
    """After so many summaries in a session it is only truncated."""
    target_ratio: float = 0.40
    lower_tokens: int | None = None
    """A compaction goes on until messages and summary are below it."""
    keep_turns: tuple[int, ...] = (2,)
    """How many newest turns stay beside the current message; the next number where still over."""
    keep_turns_by_messages: tuple[tuple[int, int], ...] = ()
    """(messages, turns): so many turns stay from so many messages on; below the last, all."""
    keep_messages: int = 9
    """How many newest messages a sliding window keeps."""
    importance_threshold: float = 3.0
    """From which importance on, of 0 to 5, a message stays."""
    keep_others: int = 5
    """How many of the newest messages stay that are neither important nor key events."""
    chunk_turns: int = 20
    """How many turns are summarized at a time; the last so many or fewer stay."""
    min_fold_messages: int = 1
    """A compaction that would fold fewer messages is not worth it."""
    min_gain_ratio: float = 0.10
    """A compaction must free this share of the context, unless it is needed or forced."""

    # what stays verbatim

    recent_ratio: float = 0.25
    recent_min_tokens: int = 2_000
    recent_max_tokens: int = 20_000
    recent_history_ratio: float | None = None
    """The most that recent messages take of what remains after reserve and system; None: all."""
    skips_chains: bool = False
    """Whether a call with its results that does not fit is skipped, and what is older goes on."""
    max_message_chars: int | None = None
    """A longer message is elided where it enters a context."""
    goal_max_tokens: int = 1_000
    """How much of the original request stays once its message has gone."""
    is_interactive: bool = True
    """Whether a person follows the session; in a run without one the whole request is pinned."""
    max_memories: int = 10
    """How many of the latest memories stay."""
    working_state_ratio: float | None = None
    """The most that pinned passages, memories, the task list and change statistics of folded
    messages take of usable beside the summary; None: none."""
    facts_ratio: float | None = 0.03
    """The most that facts of folded messages take of usable beside the summary; None: none."""

    # the summary

    summary_model: str | None = None
    """The model that writes summaries; None: they quote what was said, without a model."""
    summary_form: SummaryForm = "plain"
    """What a summary is asked to be like."""
    summary_place: SummaryPlace = "tagged"
    summary_max_tokens: int = 1_024
    """The longest summary of a model."""
    summary_usable_ratio: float | None = 0.10
    """The longest extractive summary, as a share of usable; None: `summary_max_tokens`."""
    summary_history_ratio: float | None = None
    """The longest summary, as a share of what remains after reserve and system."""
    summary_source_ratio: float = 0.25
    """The longest extractive summary, as a share of what it stands for."""
    summary_chars_ratio: float | None = None
    """The length that is asked for, as a share of the characters it stands for."""
    summary_min_chars: int = 100
    """The shortest length that is asked for."""
    summary_asked_chars: int | None = None
    """The longest length that is asked for; None: no length in characters is named."""
    summary_max_chars: int | None = None
    """A longer summary is cut at a sentence's end."""

    # tool outputs

    shorten_over_tokens: int = 200
    """Tool outputs above it are shortened to it by a compaction."""
    shortens_always: bool = False
    """Whether tool outputs are shortened in every context, without a compaction."""
    fresh_turns: int = 2
    """The tool outputs of so many newest turns are left whole."""
    oversize_ratio: float | None = 0.25
    """A tool output above this share of usable is shortened once, when it is appended."""
    tool_limits: tuple[tuple[str, int], ...] = ()
    """(tool, tokens): limits of single tools in place of `shorten_over_tokens`."""
    protected_tools: tuple[str, ...] = ()
    """Tools whose outputs a compaction leaves whole; they may still be folded."""
    offers_expand: bool = True
    """Whether a model that has tools is also given the one that reads originals."""
    tool_call_tokens: int = 500
    """Room that each planned tool call must find before it is run."""

    def __post_init__(self) -> None:
        from ctxcore.policy.rules import check

        check(self)

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Policy:
        """The named preset, with fields overridden.

        Raises:
            PolicyError: the name or a field is unknown, or a value is outside its range.
        """
        from ctxcore.policy.presets import PRESETS

        if name not in PRESETS:
            raise PolicyError(
                field="name", value=name, allowed=AllowedCode.NAMES(names=tuple(PRESETS))
            )
        return PRESETS[name].override(**overrides)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets."""
        from ctxcore.policy.presets import PRESETS

        return tuple(PRESETS)

    def override(self, **overrides: Any) -> Policy:
        """This policy with some fields changed.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
        """
        for field in overrides:
            if field not in self.__dataclass_fields__:
                allowed = AllowedCode.ONE_OF(names=tuple(sorted(self.__dataclass_fields__)))
                raise PolicyError(field=field, value=overrides[field], allowed=allowed)
        return replace(self, **overrides)

    def tool_limit(self, name: str) -> int | None:
        """Above how many tokens outputs of a tool are shortened; None: never."""
        if name in self.protected_tools:
            return None
        return dict(self.tool_limits).get(name, self.shorten_over_tokens)

    def is_at_rest(self, messages: int) -> bool:
        """Whether a session of so many messages is sent as it is, as long as all of it fits.

        Source: the second design, section 3; only it leaves out or shortens while there is room,
        and neither when it is switched off nor with few messages.
        """
        is_idle = not self.is_automatic or messages < self.min_messages
        return is_idle and (self.shortens_always or self.skips_chains)

    @property
    def request_tokens(self) -> int:
        """How much of the original request stays once its message has gone."""
        return self.goal_max_tokens if self.is_interactive else _WHOLE

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
    ) -> TokenBudget:
        """The numbers of this policy for a window.

        A window that does not share its output (`shares_output=False`) needs no reserve.

        Raises:
            UnknownWindowError: neither the policy nor the caller names a window.
        """
        window = _smaller(self.window_tokens, window_tokens) or self.fallback_window_tokens
        if window is None:
            raise UnknownWindowError(model=None)
        reserve = 0
        if shares_output:
            reserve = reserve_for(
                window,
                wanted_tokens=self.reserve_tokens,
                max_output_tokens=max_output_tokens,
                window_ratio=self.reserve_window_ratio,
            )
        usable = min(window - reserve, int(window * self.usable_ratio))
        scale = min(1.0, window / self.window_tokens) if self.window_tokens else 1.0
        return self._budget(window, usable, scale, system_tokens, tools_tokens)

    def input_budget(
        self, max_tokens: int, *, system_tokens: int = 0, tools_tokens: int = 0
    ) -> TokenBudget:
        """The numbers where a caller names the input itself: all of it usable, no reserve."""
        scale = 1.0
        if self.window_tokens:
            share = int(self.window_tokens * self.usable_ratio)
            own = min(self.window_tokens - self.reserve_tokens, share)
            scale = min(1.0, max_tokens / max(1, own))
        return self._budget(max_tokens, max_tokens, scale, system_tokens, tools_tokens)

    def _budget(
        self, window: int, usable: int, scale: float, system: int, tools: int
    ) -> TokenBudget:
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
            facts_tokens=int(usable * (self.facts_ratio or 0)),
            working_state_tokens=int(usable * (self.working_state_ratio or 0)),
            router_tokens=None if self.router_tokens is None else int(self.router_tokens * scale),
        )

    def _trigger(self, window: int, usable: int, history: int, scale: float) -> int:
        """Where the first of the rules that compare tokens fires."""
        base = history if self.trigger_on == "history" else usable
        limits = [base]
        if self.trigger_ratio is not None:
            whole = window if self._is_on_window else base
            limits = [int(whole * self.trigger_ratio)]
        if self.upper_tokens is not None:
            limits.append(int(self.upper_tokens * scale))
        if self.remaining_ratio is not None:
            limits.append(usable - int(usable * self.remaining_ratio))
        return min(limits)

    @property
    def _is_on_window(self) -> bool:
        return self.trigger_on == "input" and self.trigger_base == "window"

    def _target(self, usable: int, history: int, trigger: int, scale: float, taken: int) -> int:
        """Where a compaction stops; half of the trigger where the two contradict each other.

        Where system prompt and tools take much of the input, part of what they leave stays.
        """
        if self.lower_tokens is not None:
            shown = self._recent_share(history) or trigger  # what is left uncovered has to fit it
            return min(int(self.lower_tokens * scale), trigger, shown)
        target = int((usable if self.trigger_on == "input" else history) * self.target_ratio)
        target = target if target <= trigger else trigger // 2
        if self.trigger_on == "history":
            return target
        least = min(taken + int((usable - taken) * LEAST_LEFT_RATIO), (taken + trigger) // 2)
        return max(target, min(least, trigger))

    def _recent_limit(self, usable: int, history: int, target: int) -> int:
        """How much of the newest part stays; a compaction down to `target` may not fold it."""
        shown = self._recent_share(history)
        if shown is not None:
            return shown
        if self.trigger_on == "history":
            return target
        share = int(usable * self.recent_ratio)
        return min(clamp(share, self.recent_min_tokens, self.recent_max_tokens), target // 2)

    def _recent_share(self, history: int) -> int | None:
        ratio = self.recent_history_ratio
        return None if ratio is None else round(history * ratio)

    def retarget(self, budget: TokenBudget, target_tokens: int) -> TokenBudget:
        """`budget` with a compaction's stop at `target_tokens`; tail and summary never grow."""
        target = min(target_tokens, budget.usable_tokens)
        usable, history = budget.usable_tokens, budget.history_tokens
        recent = self._recent_limit(usable, history, target)
        summary = self._summary_limit(usable, history, target)
        if self.trigger_on == "input":  # more room goes to what is worth it, wherever it lies
            recent = min(recent, budget.recent_tokens, int(target * RETARGETED_RECENT_RATIO))
            summary = min(summary, budget.summary_tokens)
        return replace(budget, target_tokens=target, recent_tokens=recent, summary_tokens=summary)

    def _summary_limit(self, usable: int, history: int, target: int) -> int:
        if self.summary_history_ratio is not None:
            return round(history * self.summary_history_ratio)
        if self.summary_usable_ratio is None:
            return min(self.summary_max_tokens, target // 2)
        return min(int(usable * self.summary_usable_ratio), max(target // 4, 1))


LEAST_LEFT_RATIO = 1 / 3
"""Of what system prompt and tools leave, at least so much stays: with a tenth of usable for them
that is a target of 0.40. tau-bench in small windows says .58 of its live facts so, .54 without, in
20 compactions instead of 29."""
RETARGETED_RECENT_RATIO = 0.05
"""Of a target that a caller names. LoCoMo keeps .22 of its evidence at 2,000 tokens and .92 at
16,000 with it; .20 and .90 with a fifth."""


_WHOLE = 1 << 60  # more tokens than any message has


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((tokens for tokens in (one, other) if tokens is not None), default=None)
