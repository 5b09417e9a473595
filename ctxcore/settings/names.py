"""Owns how the names of one source become its layer: what wins, what is refused and where it stood.

Within a layer our own names win over those of documents, and off wins over a trigger.
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
from ctxcore.reasons.values import Reason, raw_fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value as a source gives it."""

    value: object
    place: Reason


@dataclass(slots=True)
class Gathering:
    """The fields of one layer while its names are read."""

    overrides: JsonObject = field(default_factory=dict)
    places: dict[str, Reason] = field(default_factory=dict)

    def add_documents(self, given: Mapping[str, Given], names: Mapping[str, Name]) -> None:
        """Adds what documents' names say.

        Raises:
            PolicyError: a value is not allowed, or two names say different things.
        """
        for name in sorted(given, key=lambda name: _order(names[name])):
            known, one = names[name], given[name]
            for own, value in known.overrides(one.value, one.place).items():
                fields_of(Policy)[own].check(to_field(value), source=one.place)
                if known.is_switch or own not in self.overrides:
                    self._set(own, value, one.place)
                elif not known.is_fallback and self.overrides[own] != value:
                    raise self._contradiction(own, value, one.place)

    def add_own(self, given: Mapping[str, Given]) -> None:
        """Adds what our own names say, in place of what documents' names did.

        Raises:
            PolicyError: a value is not allowed.
        """
        for name, one in given.items():
            value = to_field(one.value)
            if name == "name" and value not in Policy.presets():
                allowed = AllowedCode.ONE_OF(names=Policy.presets())
                raise PolicyError(field=name, value=value, allowed=allowed, source=one.place)
            fields_of(Policy)[name].check(value, source=one.place)
            self._set(name, to_json(value), one.place)

    def layer(self, name: str) -> Layer:
        """What was gathered."""
        return Layer(name=name, overrides=self.overrides, places=self.places)

    def _set(self, own: str, value: JsonValue, place: Reason) -> None:
        self.overrides[own] = value
        self.places[own] = place

    def _contradiction(self, own: str, value: JsonValue, place: Reason) -> PolicyError:
        other, says_so = raw_fact(self.overrides[own]), self.places[own]
        allowed = AllowedCode.CONTRADICTION(value=other, source=says_so)
        return PolicyError(field=own, value=value, allowed=allowed, source=place)


def refuse_unknown(name: str, one: Given, known: Iterable[str]) -> PolicyError:
    """That `name` is none of those there are."""
    allowed = AllowedCode.ONE_OF(names=tuple(sorted(known)))
    return PolicyError(field=name, value=one.value, allowed=allowed, source=one.place)


def own_names(policy: type = Policy) -> tuple[str, ...]:
    """Every field of a policy that a source may name."""
    return tuple(fields_of(policy))


def _order(name: Name) -> int:
    """Switches after what they switch off, fallbacks last."""
    return 2 if name.is_fallback else int(name.is_switch)


NEVER = 1.0  # the trigger ratio at which nothing is compacted by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a document's name means for a policy."""

    field: str
    """The field whose range the value must be in."""
    type: Any = None
    """What a text is read as; None: what the field holds."""
    to_fields: Callable[[Any], JsonObject] | None = None
    """The fields that a value sets; without it, `field` to the value itself."""
    allowed: tuple[str, ...] = ()
    """The only values, where the document knows fewer than the field."""
    is_fallback: bool = False
    """Whether it counts only where no other name sets its field."""
    is_switch: bool = False
    """Whether it wins over the other names of documents."""

    def overrides(self, value: object, source: Reason) -> JsonObject:
        """The fields that `value` sets.

        Raises:
            PolicyError: it is not what this name takes.
        """
        if self.allowed and value not in self.allowed:
            raise self._refusal(value, AllowedCode.ONE_OF(names=self.allowed), source)
        if self.type is bool and not isinstance(value, bool):
            raise self._refusal(value, AllowedCode.YES_OR_NO(), source)
        is_whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if self.type is int and not is_whole:
            raise self._refusal(value, AllowedCode.WHOLE(low=0), source)
        if self.to_fields is None:
            return {self.field: _json(value)}
        return self.to_fields(value)

    def _refusal(self, value: object, allowed: Reason, source: Reason) -> PolicyError:
        return PolicyError(field=self.field, value=value, allowed=allowed, source=source)


def _json(value: object) -> JsonValue:
    return value  # type: ignore[return-value]  # checked against its field's range next


def _switch(is_on: bool) -> JsonObject:
    """Automatic compaction is switched off in one way only; on changes nothing."""
    return {} if is_on else {"trigger_ratio": NEVER}


def _rounds(count: int) -> JsonObject:
    """`count` turns stay; where that is still too much one, then none."""
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
