"""Owns how the fields of policies are shown: tables, JSON, and the tables of the docs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ctxcore.cli.choices import check_preset, merged_here
from ctxcore.cli.options import AsJson, Config
from ctxcore.cli.output import print_all, print_json, print_text
from ctxcore.cli.running import to_document
from ctxcore.cli.tables import add_row, make_table
from ctxcore.policy.fields import PolicyField, fields_of
from ctxcore.policy.layers import Merged, to_json
from ctxcore.policy.markers import GROUPS
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import document
from ctxcore.settings.environment import OWN_PREFIX

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject


def fields_table(declared: Sequence[PolicyField], policy: Policy | None) -> Table:
    """One line a field; with what `policy` has where that is not the default."""
    beside = [f"*{policy.name}"] if policy else []
    table = _table("group", "*allowed", "*default", *beside)
    for field in declared:
        own = [_otherwise(field, policy)] if policy else []
        add_row(table, field.name, field.group, str(field.allowed), written(field.default), *own)
    return table


def policy_table(declared: Sequence[PolicyField], merged: Merged) -> Table:
    """One line a field: its value, and the layer or place that it is from."""
    table = _table("*value", "*from")
    for field in declared:
        value = getattr(merged.policy, field.name)
        add_row(table, field.name, written(value), _source(field, merged))
    return table


def field_document(field: PolicyField) -> JsonObject:
    """A field as JSON, with the presets that have it otherwise."""
    return {
        "name": field.name,
        "group": field.group,
        "label": field.label,
        "help": field.help,
        "kind": field.kind,
        "allowed": document(field.allowed),
        "default": to_json(field.default),
        "is_optional": field.is_optional,
        "choices": list(field.choices),
        "environment": f"{OWN_PREFIX}{field.name}".upper(),
        "presets": {
            name: to_json(value)
            for name in Policy.presets()
            if (value := getattr(Policy.preset(name), field.name, field.default)) != field.default
        },
    }


def policy_document(declared: Sequence[PolicyField], merged: Merged) -> JsonObject:
    """Every field with its value and where it is from."""
    return {
        field.name: {
            "value": to_json(getattr(merged.policy, field.name)),
            "source": _source(field, merged),
        }
        for field in declared
    }


def markdown_tables(declared: Sequence[PolicyField]) -> str:
    """A heading and a table for each group, as they stand in `docs/configuration.md`."""
    parts = (
        "\n".join(_markdown_table(GROUPS[group], list(fields)))
        for group, fields in groupby(declared, key=lambda field: field.group)
    )
    return "\n\n".join(parts)


def written(value: object) -> str:
    """A value as a variable of the environment takes it."""
    plain = to_json(value)
    if plain is None:
        return "none"
    return plain if isinstance(plain, str) else json.dumps(plain)


def _markdown_table(title: str, fields: Sequence[PolicyField]) -> Iterator[str]:
    yield f"### {title}\n\n| field | default | allowed | meaning |\n|---|---|---|---|"
    for field in fields:
        default = f"`{written(field.default)}`"
        yield f"| `{field.name}` | {default} | {field.allowed} | **{field.label}.** {field.help} |"


def _table(*columns: str) -> Table:
    """A table whose first column holds names of fields, which are never cut."""
    table = make_table(">field", *columns)
    table.columns[0].justify = "left"
    return table


def _otherwise(field: PolicyField, policy: Policy) -> str:
    value = getattr(policy, field.name, field.default)
    return "" if value == field.default else written(value)


def _source(field: PolicyField, merged: Merged) -> str:
    place = merged.places.get(field.name)
    return str(place) if place else merged.sources.get(field.name) or f"preset {merged.policy.name}"


Beside = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Also what this preset has, where it is not the default.",
        show_default=False,
    ),
]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print the tables of docs/configuration.md.")
]
Named = Annotated[
    str | None,
    typer.Argument(
        metavar="PRESET",
        help=f"One of {', '.join(Policy.presets())}; else what file or environment name.",
        show_default=False,
    ),
]


def run_fields(
    preset: Beside = None, as_markdown: AsMarkdown = False, as_json: AsJson = False
) -> None:
    """List every field of a policy: its group, what it may be, its default.

    Each is CTXCORE_POLICY_<FIELD> in the environment and a key of `policy:` in a YAML file.
    """
    check_preset(preset)
    declared = list(fields_of(Policy).values())
    if as_json:
        print_json(to_document("policy fields", map(field_document, declared)))
    elif as_markdown:
        print_text(markdown_tables(declared))
    else:
        print_all([fields_table(declared, Policy.preset(preset) if preset else None)])


def run_show(preset: Named = None, config: Config = None, as_json: AsJson = False) -> None:
    """Show the policy that a preset, file and environment make, and where each value is from."""
    check_preset(preset, hint="PRESET")
    merged = merged_here(preset, config)
    declared = list(fields_of(Policy).values())
    if as_json:
        print_json(to_document("policy show", [policy_document(declared, merged)]))
    else:
        print_all([policy_table(declared, merged)])
