"""Owns the thresholds a person may change: which fields there are, and how each is shown.

Pure: a field turns a policy's value into what an input shows, and what was typed into a value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias, get_args

from ctxcore.messages.values import JsonValue
from ctxcore.policy.values import Policy, Preference, SummaryForm, TaskType
from ctxcore.tokens.counting import Counting

Kind: TypeAlias = Literal[
    "percent", "tokens", "count", "number", "choice", "switch", "model", "text", "list", "names"
]
Group: TypeAlias = Literal["window", "when", "target", "stays", "summary", "tools"]
Shown: TypeAlias = float | int | str | bool | None

GROUPS: tuple[Group, ...] = get_args(Group)
ROW_FIELDS = 3  # so many stand side by side
NEVER = 1.0  # a trigger ratio at which nothing starts by itself
AUTOMATIC = 0.8  # where automatic compaction starts when it is switched on without a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One threshold of a policy as the form shows it."""

    name: str
    kind: Kind
    group: Group
    is_optional: bool = False
    choices: tuple[str, ...] = ()

    def shown(self, value: object) -> Shown:
        """The value of a policy as an input shows it."""
        if isinstance(value, tuple):
            return _listed(value)
        if isinstance(value, bool | str):
            return value
        if not isinstance(value, int | float):
            return None
        if self.kind == "number":
            return float(value)
        return round(value * 100, 2) if self.kind == "percent" else int(value)

    def stored(self, shown: Shown) -> JsonValue:
        """What was typed as a policy stores it.

        Raises:
            ValueError: it is no list of numbers, or no number stands where one belongs.
        """
        if self.kind == "list":
            return _parsed(str(shown or ""))
        if self.kind == "names":
            return _named(str(shown or ""))
        if isinstance(shown, bool):
            return shown
        if isinstance(shown, str):
            return shown.strip() or None
        if shown is None:
            return None
        if self.kind == "number":
            return round(float(shown), 6)
        return round(shown / 100, 6) if self.kind == "percent" else int(shown)


def _field(name: str, kind: Kind, group: Group) -> Field:
    return Field(name=name, kind=kind, group=group)


def _limit(name: str, kind: Kind, group: Group) -> Field:
    """One that may be empty: there is no such limit then."""
    return Field(name=name, kind=kind, group=group, is_optional=True)


def _choice(name: str, group: Group, choices: tuple[str, ...]) -> Field:
    return Field(name=name, kind="choice", group=group, choices=choices)


FIELDS = (
    _limit("window_tokens", "tokens", "window"),
    _limit("fallback_window_tokens", "tokens", "window"),
    _field("reserve_tokens", "tokens", "window"),
    _field("reserve_window_ratio", "percent", "window"),
    _field("usable_ratio", "percent", "window"),
    _field("system_estimate_tokens", "tokens", "window"),
    _field("history_ratio", "percent", "window"),
    _limit("router_tokens", "tokens", "window"),
    _limit("trigger_ratio", "percent", "when"),
    _limit("upper_tokens", "tokens", "when"),
    _limit("remaining_ratio", "percent", "when"),
    _limit("max_messages", "count", "when"),
    _limit("max_turns", "count", "when"),
    _limit("lookback_messages", "count", "when"),
    _field("lookback_target_messages", "count", "when"),
    _limit("summary_marker", "text", "when"),
    _field("min_messages", "count", "when"),
    _field("first_min_messages", "count", "when"),
    _field("next_min_messages", "count", "when"),
    _field("next_min_ratio", "percent", "when"),
    _choice("counting", "when", get_args(Counting)),
    _choice("check_at", "when", ("background", "after_answer", "before_message", "before_send")),
    _field("requires_confirmation", "switch", "when"),
    _field("is_shadow", "switch", "when"),
    _field("max_failures", "count", "when"),
    _field("target_ratio", "percent", "target"),
    _limit("lower_tokens", "tokens", "target"),
    Field(
        name="task_type",
        kind="choice",
        group="target",
        is_optional=True,
        choices=get_args(TaskType),
    ),
    _choice("fold_as", "target", ("summary", "truncation", "choice")),
    _choice("preference", "target", get_args(Preference)),
    _limit("max_summaries", "count", "target"),
    _field("keep_turns", "list", "target"),
    _field("keep_turns_by_messages", "list", "target"),
    _field("keep_messages", "count", "target"),
    _field("importance_threshold", "number", "target"),
    _field("keep_others", "count", "target"),
    _field("chunk_turns", "count", "target"),
    _field("min_fold_messages", "count", "target"),
    _field("min_gain_ratio", "percent", "target"),
    _field("recent_ratio", "percent", "stays"),
    _field("recent_min_tokens", "tokens", "stays"),
    _field("recent_max_tokens", "tokens", "stays"),
    _limit("recent_history_ratio", "percent", "stays"),
    _field("skips_chains", "switch", "stays"),
    _limit("max_message_chars", "count", "stays"),
    _field("goal_max_tokens", "tokens", "stays"),
    _field("is_interactive", "switch", "stays"),
    _field("max_memories", "count", "stays"),
    _limit("working_state_ratio", "percent", "stays"),
    _limit("facts_ratio", "percent", "stays"),
    _limit("summary_model", "model", "summary"),
    _limit("rebuild_after", "count", "summary"),
    _choice("summary_form", "summary", get_args(SummaryForm)),
    _field("summary_max_tokens", "tokens", "summary"),
    _limit("summary_usable_ratio", "percent", "summary"),
    _limit("summary_history_ratio", "percent", "summary"),
    _field("summary_source_ratio", "percent", "summary"),
    _limit("summary_chars_ratio", "percent", "summary"),
    _field("summary_min_chars", "count", "summary"),
    _limit("summary_asked_chars", "count", "summary"),
    _limit("summary_max_chars", "count", "summary"),
    _field("shorten_over_tokens", "tokens", "tools"),
    _field("shortens_always", "switch", "tools"),
    _field("fresh_turns", "count", "tools"),
    _limit("oversize_ratio", "percent", "tools"),
    _field("tool_limits", "names", "tools"),
    _field("protected_tools", "names", "tools"),
    _field("offers_expand", "switch", "tools"),
    _field("tool_call_tokens", "tokens", "tools"),
)

_ALWAYS = (
    "reserve_tokens",
    "trigger_ratio",
    "target_ratio",
    "requires_confirmation",
    "summary_model",
)
_OF_DEFAULT = ("recent_ratio", "shorten_over_tokens", "fresh_turns", "is_shadow")
_OF_LADDER = ("keep_messages", "importance_threshold", "chunk_turns", "task_type")
_INNER = {"reserve_window_ratio", "min_fold_messages", "summary_form"}  # a preset's, rarely touched


def field_named(name: str) -> Field | None:
    """The field of the form with this name."""
    return next((field for field in FIELDS if field.name == name), None)


def shown_first(preset: str, changed: Collection[str]) -> tuple[Field, ...]:
    """The fields that matter for `preset`: those it is made of, and those that somebody changed."""
    matters = {*changed, *_mattering(preset)}
    return tuple(field for field in FIELDS if field.name in matters)


def rows_of(fields: Sequence[Field]) -> list[list[Field]]:
    """The fields in rows; a group begins a new one unless all of it fits beside the one before."""
    rows: list[list[Field]] = []
    for _, grouped in groupby(fields, key=lambda field: field.group):
        members = list(grouped)
        if rows and len(rows[-1]) + len(members) <= ROW_FIELDS:
            rows[-1] += members
        else:
            rows += [members[at : at + ROW_FIELDS] for at in range(0, len(members), ROW_FIELDS)]
    return rows


def _mattering(preset: str) -> set[str]:
    policy, plain = Policy.preset(preset), Policy()
    own = [field.name for field in FIELDS if _is_own(field.name, policy, plain)]
    found = {*own, *(_ALWAYS if policy != plain else (*_ALWAYS, *_OF_DEFAULT))}
    found -= {"trigger_ratio"} if policy.trigger_ratio is None else set()
    found -= {"target_ratio"} if policy.lower_tokens is not None else set()
    found |= {"preference"} if policy.fold_as == "choice" else set()
    found |= set(_OF_LADDER) if "importance" in policy.strategies else set()
    found |= {"shorten_over_tokens"} if policy.shortens_always else set()
    found |= {"summary_max_tokens"} if policy.summary_usable_ratio is None else set()
    return found - _INNER


def _is_own(name: str, policy: Policy, plain: Policy) -> bool:
    """Whether a preset has a value of its own, and not only something switched off."""
    value = getattr(policy, name)
    return value != getattr(plain, name) and bool(value)


def _listed(value: tuple[object, ...]) -> str:
    """`2, 1, 0`, or `50: 4, 30: 6` for pairs."""
    return ", ".join(
        ": ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value
    )


def _parsed(text: str) -> list[JsonValue]:
    """What `_listed` wrote; either comma and colon will do."""
    found: list[JsonValue] = []
    for part in _parts(text):
        numbers = [int(number) for number in part.split(":")]
        found.append([*numbers] if ":" in part else numbers[0])
    return found


def _named(text: str) -> list[JsonValue]:
    """`read, plan`, or `bash: 400, read: 800` with a number after each name."""
    found: list[JsonValue] = []
    for part in _parts(text):
        name, _, number = part.rpartition(":")
        is_pair = bool(name) and number.strip().isdecimal()
        found.append([name.strip(), int(number)] if is_pair else part)
    return found


def _parts(text: str) -> list[str]:
    plain = text.replace("，", ",").replace("：", ":")
    return [part for part in (part.strip() for part in plain.split(",")) if part]
