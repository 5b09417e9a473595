"""Owns policies: frozen values that hold every threshold, and the presets that name good ones.

A policy is a preset's name plus overrides; nothing reads a threshold from anywhere else.
Figures and resolutions of the source designs stand in `docs/designs.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxcore.budget import TokenBudget, clamp, reserve_for
from ctxcore.errors import PolicyError, UnknownWindowError

SummaryPlace = Literal["tagged", "pair"]
StrategyName = Literal["shorten_tool_outputs", "fold_oldest", "fold_to_tail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When to compact, how far, what stays, and how a summary is shown to the model."""

    name: str = "default"

    window_tokens: int | None = None
    """The preset's window; the smaller of it and the model's counts. None: the model's."""
    reserve_tokens: int = 4_096
    """Kept free for the reply, at most."""
    reserve_window_ratio: float = 0.25
    """The reserve never takes more of the window than this."""
    system_estimate_tokens: int = 0
    """Taken off for the system prompt until a measured one replaces it."""
    history_ratio: float = 1.0
    """Share of what remains after reserve and system that summary and messages may take."""

    trigger_on: Literal["input", "history"] = "input"
    """What is measured against the trigger: the whole input, or summary plus messages."""
    trigger_ratio: float = 0.80
    """Share at which compaction starts; 1.0 or more switches automatic compaction off."""
    min_messages: int = 0
    """No automatic compaction while fewer messages are uncovered."""
    min_fold_messages: int = 1
    """A compaction that would fold fewer messages is not worth it."""
    check_at: Literal["after_answer", "before_send"] = "after_answer"

    strategies: tuple[StrategyName, ...] = ("shorten_tool_outputs", "fold_oldest")
    """Tried in this order; a compaction stops after the first that reaches the target."""
    target_ratio: float = 0.40
    recent_ratio: float = 0.25
    recent_min_tokens: int = 2_000
    recent_max_tokens: int = 20_000
    lookback_messages: int | None = None
    """A context looks at no more messages before the current one; an uncovered one beyond is a
    trigger of its own."""
    lookback_target_messages: int = 20

    summary_place: SummaryPlace = "tagged"
    summary_max_tokens: int = 1_024
    """The longest summary of a model."""
    summary_usable_ratio: float | None = 0.10
    """The longest extractive summary, as a share of usable; None: `summary_max_tokens`."""
    summary_source_ratio: float = 0.25
    """The longest extractive summary, as a share of what it stands for."""
    min_gain_ratio: float = 0.10
    """A compaction must free this share of the context, unless it is needed or forced."""
    max_failures: int = 3
    """After so many failed compactions in a row nothing is tried until a person asks."""

    shorten_over_tokens: int = 200
    """Tool outputs above it are shortened to it by a compaction."""
    fresh_turns: int = 2
    """The tool outputs of so many newest turns are left whole."""
    oversize_ratio: float | None = 0.25
    """A tool output above this share of usable is shortened once, when it is appended."""
    max_message_chars: int | None = None
    """A longer message is elided where it enters a context."""
    goal_max_tokens: int = 1_000
    """How much of the original request stays once its message has gone."""

    def __post_init__(self) -> None:
        for field, is_valid, allowed in _RANGES:
            value = getattr(self, field)
            if not is_valid(value):
                raise PolicyError(field=field, value=value, allowed=allowed)

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Policy:
        """The named preset, with fields overridden.

        Raises:
            PolicyError: the name or a field is unknown, or a value is outside its range.
        """
        if name not in _PRESETS:
            raise PolicyError(field="name", value=name, allowed=", ".join(_PRESETS))
        return _PRESETS[name].override(**overrides)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets."""
        return tuple(_PRESETS)

    def override(self, **overrides: Any) -> Policy:
        """This policy with some fields changed.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
        """
        for field in overrides:
            if field not in self.__dataclass_fields__:
                allowed = ", ".join(sorted(self.__dataclass_fields__))
                raise PolicyError(field=field, value=overrides[field], allowed=f"one of {allowed}")
        return replace(self, **overrides)

    @property
    def is_automatic(self) -> bool:
        """Whether compaction may start by itself."""
        return self.trigger_ratio < 1.0

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
        window = _smaller(self.window_tokens, window_tokens)
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
        return self._budget(window, reserve, system_tokens, tools_tokens)

    def input_budget(
        self, max_tokens: int, *, system_tokens: int = 0, tools_tokens: int = 0
    ) -> TokenBudget:
        """The numbers where a caller names the input itself: all of it usable, no reserve."""
        return self._budget(max_tokens, 0, system_tokens, tools_tokens)

    def _budget(self, window: int, reserve: int, system: int, tools: int) -> TokenBudget:
        usable = window - reserve
        taken = (system or self._scaled(self.system_estimate_tokens, window)) + tools
        history = max(0, int((usable - taken) * self.history_ratio))
        base = usable if self.trigger_on == "input" else history
        target = int(base * self._target_share())
        return TokenBudget(
            window_tokens=window,
            reserve_tokens=reserve,
            usable_tokens=usable,
            history_tokens=history,
            summary_tokens=self._summary_limit(usable, target),
            recent_tokens=self.recent_limit(usable, target),
            trigger_tokens=int(base * self.trigger_ratio),
            target_tokens=target,
        )

    def _target_share(self) -> float:
        """Where a compaction stops; half of the trigger where the two contradict each other."""
        if self.target_ratio < self.trigger_ratio:
            return self.target_ratio
        return self.trigger_ratio / 2

    def recent_limit(self, usable_tokens: int, target_tokens: int) -> int:
        """How much of the newest part a compaction down to `target_tokens` may not fold."""
        if self.trigger_on == "history":
            return target_tokens
        share = int(usable_tokens * self.recent_ratio)
        return min(clamp(share, self.recent_min_tokens, self.recent_max_tokens), target_tokens // 2)

    def retarget(self, budget: TokenBudget, target_tokens: int) -> TokenBudget:
        """`budget` with a compaction's stop at `target_tokens`, tail and summary in proportion."""
        target = min(target_tokens, budget.usable_tokens)
        return replace(
            budget,
            target_tokens=target,
            recent_tokens=self.recent_limit(budget.usable_tokens, target),
            summary_tokens=self._summary_limit(budget.usable_tokens, target),
        )

    def _summary_limit(self, usable: int, target: int) -> int:
        if self.summary_usable_ratio is None:
            return min(self.summary_max_tokens, target // 2)
        return min(int(usable * self.summary_usable_ratio), max(target // 4, 1))

    def _scaled(self, tokens: int, window: int) -> int:
        """An absolute number of the preset, smaller where the window is smaller than its own."""
        if self.window_tokens is None or window >= self.window_tokens:
            return tokens
        return tokens * window // self.window_tokens


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((tokens for tokens in (one, other) if tokens is not None), default=None)


def _whole(low: int) -> tuple[Callable[[Any], bool], str]:
    def is_valid(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= low

    return is_valid, f"a whole number of at least {low:,}"


def _optional(rule: tuple[Callable[[Any], bool], str]) -> tuple[Callable[[Any], bool], str]:
    is_valid, allowed = rule
    return lambda value: value is None or is_valid(value), f"{allowed}, or none"


def _share(low: float, high: float) -> tuple[Callable[[Any], bool], str]:
    def is_valid(value: Any) -> bool:
        return (
            isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high
        )

    return is_valid, f"a number from {low:g} to {high:g}"


def _one_of(*names: str) -> tuple[Callable[[Any], bool], str]:
    return lambda value: value in names, f"one of {', '.join(names)}"


_STRATEGIES = ("shorten_tool_outputs", "fold_oldest", "fold_to_tail")

_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str) and bool(value), "a text that is not empty"),
    "window_tokens": _optional(_whole(1)),
    "reserve_tokens": _whole(0),
    "reserve_window_ratio": _share(0, 1),
    "system_estimate_tokens": _whole(0),
    "history_ratio": _share(0, 1),
    "trigger_on": _one_of("input", "history"),
    "trigger_ratio": _share(0.01, 10),
    "min_messages": _whole(0),
    "min_fold_messages": _whole(1),
    "check_at": _one_of("after_answer", "before_send"),
    "strategies": (
        lambda value: (
            isinstance(value, tuple) and bool(value) and all(name in _STRATEGIES for name in value)
        ),
        f"a tuple of {', '.join(_STRATEGIES)}",
    ),
    "target_ratio": _share(0.01, 1),
    "recent_ratio": _share(0, 1),
    "recent_min_tokens": _whole(0),
    "recent_max_tokens": _whole(0),
    "lookback_messages": _optional(_whole(1)),
    "lookback_target_messages": _whole(0),
    "summary_place": _one_of("tagged", "pair"),
    "summary_max_tokens": _whole(1),
    "summary_usable_ratio": _optional(_share(0.001, 1)),
    "summary_source_ratio": _share(0.001, 1),
    "min_gain_ratio": _share(0, 1),
    "max_failures": _whole(1),
    "shorten_over_tokens": _whole(40),
    "fresh_turns": _whole(0),
    "oversize_ratio": _optional(_share(0.01, 1)),
    "max_message_chars": _optional(_whole(100)),
    "goal_max_tokens": _whole(0),
}
_RANGES = tuple((field, is_valid, allowed) for field, (is_valid, allowed) in _RULES.items())

_PRESETS: Mapping[str, Policy] = {
    "default": Policy(),
    "sliding-summary": Policy(
        name="sliding-summary",
        window_tokens=128_000,
        system_estimate_tokens=2_000,
        history_ratio=0.60,  # int((128,000 - 4,096 - 2,000) x 0.60) = 73,142
        trigger_on="history",
        min_messages=6,
        min_fold_messages=2,
        strategies=("fold_to_tail",),
        lookback_messages=40,
        summary_place="pair",
        summary_usable_ratio=None,
        min_gain_ratio=0.0,
        oversize_ratio=None,
        max_message_chars=20_000,
    ),
}
