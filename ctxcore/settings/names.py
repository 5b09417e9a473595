"""The setting names of the source designs, and how the names of one source become a layer.

Within a layer our own names win over those of the designs, and switching compaction off wins over
a trigger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import Layer, to_field, to_json
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Reason, repr_fact

NEVER = 1.0  # the trigger ratio that switches automatic compaction off


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value with the place that sets it."""

    value: object
    place: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The meaning of a design's setting name for a policy."""

    field: str
    """The field whose range the value must be in."""
    type: Any = None
    """What a text is read as; None: the type of the field."""
    to_fields: Callable[[Any], JsonObject] | None = None
    """The fields that a value sets; without it, `field` to the value itself."""
    allowed: tuple[str, ...] = ()
    """The only values, where the design knows fewer than the field."""
    is_fallback: bool = False
    """Whether it counts only where no other name sets its field."""
    is_switch: bool = False
    """Whether it wins over the other names of the designs."""

    def overrides(self, given: Given) -> JsonObject:
        """The fields that a value sets.

        Raises:
            PolicyError: it is not what this name takes.
        """
        value, allowed = given.value, None
        is_whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if self.allowed and value not in self.allowed:
            allowed = AllowedCode.ONE_OF(names=self.allowed)
        elif self.type is bool and not isinstance(value, bool):
            allowed = AllowedCode.YES_OR_NO()
        elif self.type is int and not is_whole:
            allowed = AllowedCode.WHOLE(low=0)
        if allowed is not None:
            raise PolicyError(field=self.field, value=value, allowed=allowed, source=given.place)
        if self.to_fields is not None:
            return self.to_fields(value)
        return {self.field: value}  # type: ignore[dict-item]  # checked by its field next


@dataclass(slots=True)
class LayerBuilder:
    """The fields of one layer while its names are read."""

    overrides: JsonObject = field(default_factory=dict)
    places: dict[str, Reason] = field(default_factory=dict)

    def add_documents(self, given: Mapping[str, Given], names: Mapping[str, Name]) -> None:
        """Adds values under the designs' names: switches behind the names they win over.

        Fallbacks come last: they count only where their field is not set yet.

        Raises:
            PolicyError: a value is not allowed, or two names contradict each other.
        """
        known = {key: names[key] for key in given}
        for key in sorted(given, key=lambda key: (known[key].is_fallback, known[key].is_switch)):
            name, place = known[key], given[key].place
            for own, value in name.overrides(given[key]).items():
                fields_of(Policy)[own].check(to_field(value), source=place)
                if name.is_switch or own not in self.overrides:
                    self._set(own, value, place)
                elif not name.is_fallback and self.overrides[own] != value:
                    other = repr_fact(self.overrides[own])
                    allowed = AllowedCode.CONTRADICTION(value=other, source=self.places[own])
                    raise PolicyError(field=own, value=value, allowed=allowed, source=place)

    def add_own(self, given: Mapping[str, Given]) -> None:
        """Adds values under our own names, in place of those under the designs' names.

        Raises:
            PolicyError: a value is not allowed.
        """
        for name, item in given.items():
            value = to_field(item.value)
            if name == "name" and value not in Policy.presets():
                allowed = AllowedCode.ONE_OF(names=Policy.presets())
                raise PolicyError(field=name, value=value, allowed=allowed, source=item.place)
            fields_of(Policy)[name].check(value, source=item.place)
            self._set(name, to_json(value), item.place)

    def layer(self, name: str) -> Layer:
        """The layer of all values added so far."""
        return Layer(name=name, overrides=self.overrides, places=self.places)

    def _set(self, own: str, value: JsonValue, place: Reason) -> None:
        self.overrides[own] = value
        self.places[own] = place


def unknown_name(name: str, given: Given, known: Iterable[str]) -> PolicyError:
    """The error for a name that is none of the `known` ones."""
    allowed = AllowedCode.ONE_OF(names=tuple(sorted(known)))
    return PolicyError(field=name, value=given.value, allowed=allowed, source=given.place)


def _switch(is_on: bool) -> JsonObject:
    """Off sets the trigger ratio to `NEVER`; on changes nothing."""
    return {} if is_on else {"trigger_ratio": NEVER}


def _rounds(count: int) -> JsonObject:
    """`count` newest turns stay; where that is still too much, one, then none."""
    return {"keep_turns": [*dict.fromkeys(number for number in (count, 1, 0) if number <= count)]}


ENVIRONMENT_NAMES: Mapping[str, Name] = {
    # design 1
    "context_window_tokens": Name(field="window_tokens"),
    "history_token_budget_ratio": Name(field="history_ratio"),
    "output_token_reserve": Name(field="reserve_tokens"),
    "system_prompt_token_estimate": Name(field="system_estimate_tokens"),
    "router_history_token_budget": Name(field="router_tokens"),
    "summarization_trigger_ratio": Name(field="trigger_ratio"),
    "summarization_target_ratio": Name(field="target_ratio"),
    "summarization_model": Name(field="summary_model"),
    "router_model": Name(field="summary_model", is_fallback=True),
    "summarization_max_tokens": Name(field="summary_max_tokens"),
    # design 2
    "enable_context_optimization": Name(
        field="trigger_ratio", type=bool, to_fields=_switch, is_switch=True
    ),
    "token_calculation_method": Name(field="counting", allowed=("estimate", "tiktoken")),
    "target_usage_ratio": Name(field="usable_ratio"),
    "summary_token_ratio": Name(field="summary_history_ratio"),
    "recent_token_ratio": Name(field="recent_history_ratio"),
    "compress_tool_output": Name(field="shortens_always"),
    "tool_output_max_tokens": Name(field="shorten_over_tokens"),
    # design 5
    "sliding_window_size": Name(field="keep_messages"),
    "importance_score_threshold": Name(field="importance_threshold"),
    "incremental_summary_chunk_size": Name(field="chunk_turns"),
    "conversation_turn_threshold": Name(field="max_turns"),
}

COMPACTION_NAMES: Mapping[str, Name] = {  # design 4
    "enabled": Name(field="trigger_ratio", type=bool, to_fields=_switch, is_switch=True),
    "max_context_tokens": Name(field="window_tokens"),
    "trigger_ratio": Name(field="trigger_ratio"),
    "keep_recent_rounds": Name(field="keep_turns", type=int, to_fields=_rounds),
    "require_confirmation": Name(field="requires_confirmation"),
    "summary_max_length": Name(field="summary_max_chars"),
}
