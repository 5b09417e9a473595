"""Owns the text in which the facts of a message are stored, so that they are found once.

It names the finder that found them: what another finder found is looked for again.
"""

from __future__ import annotations

from typing import Any, Final, cast

from ctxcore.errors import UnreadableError
from ctxcore.facts.finding import FINDER
from ctxcore.facts.values import Aim, Fact
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.values import JsonValue, Role
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.store_problems import StoreProblem

_FIELDS: Final = (
    *(
        "kind",
        "text",
        "key",
        "subject",
        "value",
        "effect",
        "matter",
        "is_negative",
        "weight",
        "about",
    ),
)
_DEFAULTS: Final[tuple[JsonValue, ...]] = ("", "", "", "", "", "states", [], False, 1.0, [])


def dump_facts(facts: tuple[Fact, ...]) -> str:
    """The facts of one message as canonical JSON; the role is the message's own."""
    return to_canonical({"finder": FINDER, "facts": [_to_list(fact) for fact in facts]})


def load_facts(text: str | None, role: Role) -> tuple[Fact, ...] | None:
    """The facts that `dump_facts` wrote; None where there are none of this finder.

    Raises:
        ValueError: the text is no list of facts.
    """
    if text is None:
        return None
    stored = cast("dict[str, Any]", parse_canonical(text))
    if not isinstance(stored, dict) or stored.get("finder") != FINDER:
        return None
    try:
        return tuple(_to_fact(values, role) for values in stored["facts"])
    except (TypeError, KeyError) as error:
        raise UnreadableError(StoreProblem.NO_FACTS(reason=reason_of(error))) from error


def _to_list(fact: Fact) -> list[JsonValue]:
    """The fields in order; those at the end that say nothing are left out."""
    values: list[JsonValue] = [
        fact.kind,
        fact.text,
        fact.key,
        fact.subject,
        fact.value,
        fact.effect,
        list(fact.matter),
        fact.is_negative,
        fact.weight,
        [[aim.cue, list(aim.matter), list(aim.done)] for aim in fact.about],
    ]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return values


def _to_fact(values: list[Any], role: Role) -> Fact:
    told: dict[str, Any] = dict(zip(_FIELDS, values, strict=False))
    if "matter" in told:
        told["matter"] = tuple(told["matter"])
    if "about" in told:
        told["about"] = tuple(
            Aim(cue, tuple(matter), tuple(done)) for cue, matter, done in told["about"]
        )
    return Fact(role=role, **told)
