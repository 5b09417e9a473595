"""Steps of a tree: what each says it costs is what it costs, and asking changes nothing."""

from __future__ import annotations

import pytest

from ctxcore.compression.shedding import (
    AnyStep,
    DropColumnNames,
    DropNames,
    ListValues,
    Shorten,
    steps_of,
)
from ctxcore.compression.target import Target
from ctxcore.compression.tree import Node
from ctxcore.compression.tree_building import TreeBuilder
from ctxcore.messages.values import JsonValue
from tests.unit.compression.counters import FourBytes

BOATS: JsonValue = {
    "harbour": {"town": "Varel", "berths": 40},
    "boats": [
        {"boat": f"B-{n}", "hull": ["oak", "steel"][n % 2], "log": [{"day": n, "sea": f"s{n}"}, {}]}
        for n in range(8)
    ],
    "crews": [{"boat": n, "crew": {f"mate {n}": "Ada", f"cook {n}": n}} for n in range(8)],
    "report": "The wind came from the north all day. " * 12,
}


def tree() -> Node:
    return TreeBuilder(Target(max_tokens=100, counter=FourBytes())).build(BOATS)


@pytest.mark.parametrize("kind", [ListValues, DropNames, DropColumnNames, Shorten])
def test_a_step_costs_what_it_says(kind: type[AnyStep]) -> None:
    root = tree()
    steps = [step for step in steps_of(root) if isinstance(step, kind)]
    assert steps

    for step in steps:
        salience, tokens = root.salience, root.tokens
        lost, freed = step.price() or (0, 0)
        step.set_out(True)
        assert lost == pytest.approx(salience - root.salience)
        assert freed == tokens - root.tokens
        step.set_out(False)
        assert root.salience == pytest.approx(salience)
        assert root.tokens == tokens


def test_asking_for_prices_changes_nothing() -> None:
    root, untouched = tree(), tree()

    for step in steps_of(root):
        step.price()

    assert (root.salience, root.tokens) == (untouched.salience, untouched.tokens)
    assert root.render() == untouched.render()
