"""A field of a policy is declared once; whoever needs it reads the declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from ctxcore.errors import PolicyError
from ctxcore.policy.fields import PolicyField, fields_of
from ctxcore.policy.markers import GROUPS, Count, Doc, Group, Score
from ctxcore.policy.names import REMOVED, renewed
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from tests.processes import printed_by

DECLARED = fields_of(Policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bolder(Policy):
    """A policy of tomorrow."""

    boldness: Annotated[
        int | None,
        Count(2, "turns"),
        Group("when"),
        Doc("Boldness", "How bold. None: not at all."),
    ] = None


def test_a_declaration_says_everything_of_its_field() -> None:
    assert DECLARED["trigger_ratio"] == PolicyField(
        name="trigger_ratio",
        group="when",
        label="Compact at (%)",
        help=DECLARED["trigger_ratio"].help,
        default=0.80,
        type=float | None,
        range=DECLARED["trigger_ratio"].range,
    )
    assert DECLARED["trigger_ratio"].kind == "percent"
    assert DECLARED["trigger_ratio"].is_optional
    assert str(DECLARED["trigger_ratio"].allowed) == "a number from 0.01 to 1, or none"


def test_a_range_follows_from_the_type_where_that_says_it() -> None:
    assert DECLARED["is_shadow"].allowed == AllowedCode.YES_OR_NO()
    assert DECLARED["fold_as"].choices == ("summary", "truncation", "choice")
    assert DECLARED["task_type"].choices[0] == "code"
    assert DECLARED["task_type"].is_optional


@pytest.mark.parametrize("field", DECLARED.values(), ids=lambda field: field.name)
def test_every_field_has_words_and_a_default_that_it_may_hold(field: PolicyField) -> None:
    assert field.group in GROUPS
    assert field.label
    assert field.help.endswith((".", "todo."))
    assert ("None:" in field.help) is field.is_optional
    field.check(field.default)


def test_the_fields_of_a_group_are_declared_together() -> None:
    groups = [field.group for field in DECLARED.values()]

    assert list(dict.fromkeys(groups)) == list(GROUPS)
    assert groups == sorted(groups, key=list(GROUPS).index)


def test_a_new_field_is_checked_and_named_without_another_line() -> None:
    assert tuple(fields_of(Bolder)) == (*DECLARED, "boldness")
    assert Bolder().override(boldness=3).boldness == 3
    with pytest.raises(PolicyError, match="'boldness' is 1; allowed: a whole number of at least 2"):
        Bolder(boldness=1)


def test_a_field_without_what_it_needs_is_refused_when_it_is_read() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Untold:
        mood: Annotated[float, Score(0, 1), Group("when")] = 0.5

    @dataclass(frozen=True, kw_only=True)
    class Boundless:
        mood: Annotated[float, Group("when"), Doc("Mood", "How it feels.")] = 0.5

    @dataclass(frozen=True, kw_only=True)
    class Bare:
        mood: Annotated[Literal["good"], Group("when"), Doc("Mood", "How it feels.")]

    for kind in (Untold, Boundless, Bare):
        with pytest.raises(TypeError, match="the policy field 'mood'"):
            fields_of(kind)


def test_no_field_is_both_there_and_removed() -> None:
    assert not set(REMOVED) & set(DECLARED)


def test_what_was_removed_once_stays_in_the_table() -> None:
    assert set(REMOVED) >= {
        *("keep_others", "lookback_target_messages", "max_failures", "max_memories"),
        *("max_messages", "recent_max_tokens", "recent_min_tokens", "summary_min_chars"),
        "tool_call_tokens",
    }
    assert set(REMOVED.values()) == {"0.1.0"}


def test_what_is_stored_loses_removed_fields_by_name() -> None:
    kept, removed = renewed({"name": "pi", "max_failures": 5, "fresh_turns": 1})

    assert kept == {"name": "pi", "fresh_turns": 1}
    assert removed == ("max_failures",)


def test_a_stored_trigger_above_all_that_there_is_means_never_as_before() -> None:
    assert renewed({"trigger_ratio": 2.5})[0] == {"trigger_ratio": 1.0}
    assert renewed({"trigger_ratio": 0.5})[0] == {"trigger_ratio": 0.5}
    assert renewed({"trigger_ratio": None})[0] == {"trigger_ratio": None}
    with pytest.raises(PolicyError):
        Policy().override(trigger_ratio=1.01)


@pytest.mark.parametrize("name", REMOVED)
def test_a_person_who_names_a_removed_field_is_told_so(name: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy().override(**{name: 1})

    assert caught.value.allowed == AllowedCode.REMOVED(since=REMOVED[name])
    assert "the field was removed in 0.1.0" in str(caught.value)


def test_policies_fitting_and_compacting_load_neither_pydantic_nor_a_database() -> None:
    code = (
        "import sys; from ctxcore import Policy, fit, compact\n"
        "talk = [{'role': 'user', 'content': 'hi'}]\n"
        "fit(talk, policy=Policy.preset('pi', fresh_turns=1), max_tokens=100)\n"
        "compact(talk, max_tokens=100)\n"
        "print(' '.join(sys.modules))"
    )
    loaded = {name.split(".")[0] for name in printed_by(code).split()}

    assert not loaded & {"pydantic", "pydantic_core", "sqlmodel", "sqlalchemy", "litellm"}
