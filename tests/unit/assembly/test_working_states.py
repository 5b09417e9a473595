"""What an application may say of its work, and how it is written down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.records import (
    EMPTY_WORKING_STATE,
    WorkingState,
    working_state_from_json,
    working_state_to_json,
)
from ctxcore.errors import WorkingStateError

TEXTS = st.text(max_size=20)
STATES = st.builds(
    WorkingState,
    memories=st.none() | st.lists(TEXTS, max_size=3).map(tuple),
    tasks=st.none() | TEXTS,
    changes=st.none() | TEXTS,
)


@given(STATES)
def test_what_is_written_down_is_read_back(working: WorkingState) -> None:
    assert working_state_from_json(working_state_to_json(working)) == working


def test_only_what_is_said_is_written_down() -> None:
    assert working_state_to_json(EMPTY_WORKING_STATE) == {}
    assert working_state_to_json(WorkingState(memories=(), tasks="")) == {
        "memories": [],
        "tasks": "",
    }


def test_memories_in_a_list_are_the_same_as_in_a_tuple() -> None:
    in_a_list: Any = ["Ada likes blue."]

    assert WorkingState(memories=in_a_list) == WorkingState(memories=("Ada likes blue.",))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"memories": "Ada"}, "working state field 'memories' is of type 'str'; allowed: a tuple"),
        ({"memories": ("Ada", 3)}, "working state field 'memories' contains a value of type 'int'"),
        (
            {"tasks": ["port it"]},
            "working state field 'tasks' is of type 'list'; allowed: a string",
        ),
        ({"changes": 9}, "working state field 'changes' is of type 'int'; allowed: a string"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(WorkingStateError) as caught:
        WorkingState(**fields)

    assert str(caught.value).startswith(sentence)
    assert caught.value.field in fields
    assert "Ada" not in str(caught.value)
