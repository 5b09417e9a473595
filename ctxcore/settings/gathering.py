"""Owns how the names of one source become its layer: what wins, what is refused and where it stood.

Within a layer our own names win over those of documents, and off wins over a trigger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import Layer, to_field, to_json
from ctxcore.policy.values import Policy
from ctxcore.reasons.allowed import AllowedCode
from ctxcore.reasons.quoting import raw_fact
from ctxcore.reasons.values import Reason
from ctxcore.settings.names import Name


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
