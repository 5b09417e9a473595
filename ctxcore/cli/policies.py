"""`ctxcore policy fields` and `ctxcore policy show`: the fields of policies and their values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ctxcore.cli.choices import check_preset, merged_policy
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

Beside = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Also show the values of this preset that differ from the default.",
    ),
]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print the tables of docs/configuration.md.")
]
AsYaml = Annotated[bool, typer.Option("--yaml", help="Print a YAML file that `--config` takes.")]
Named = Annotated[
    str | None,
    typer.Argument(
        metavar="PRESET",
        help=f"One of {', '.join(Policy.presets())}; default: from file or environment.",
    ),
]


def run_fields(
    preset: Beside = None, as_markdown: AsMarkdown = False, as_json: AsJson = False
) -> None:
    """List every field of a policy with its group, allowed values and default.

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


def run_show(
    preset: Named = None, config: Config = None, as_json: AsJson = False, as_yaml: AsYaml = False
) -> None:
    """Show the policy from preset, file and environment, and where each value is set."""
    check_preset(preset, hint="PRESET")
    merged = merged_policy(preset, config)
    declared = list(fields_of(Policy).values())
    if as_json:
        print_json(to_document("policy show", [_policy_document(declared, merged)]))
    elif as_yaml:
        from ctxcore.settings.writing import to_yaml, whole_policy

        print_text(to_yaml(whole_policy(merged.policy)).rstrip("\n"))
    else:
        print_all([_policy_table(declared, merged)])


def fields_table(declared: Sequence[PolicyField], policy: Policy | None) -> Table:
    """One line a field; with the value of `policy` where it is not the default."""
    beside = [f"*{policy.name}"] if policy else []
    table = _table("group", "*allowed", "*default", *beside)
    for field in declared:
        value = getattr(policy, field.name, field.default)
        own = ["" if value == field.default else written(value)] if policy else []
        add_row(table, field.name, field.group, str(field.allowed), written(field.default), *own)
    return table


def field_document(field: PolicyField) -> JsonObject:
    """A field as JSON, with the presets that change it."""
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


def markdown_tables(declared: Sequence[PolicyField]) -> str:
    """A heading and a table for each group, as in `docs/configuration.md`."""
    tables = []
    for group, fields in groupby(declared, key=lambda field: field.group):
        head = f"### {GROUPS[group]}\n\n| field | default | allowed | meaning |\n|---|---|---|---|"
        rows = [
            f"| `{field.name}` | `{written(field.default)}` | {field.allowed} "
            f"| **{field.label}.** {field.help} |"
            for field in fields
        ]
        tables.append("\n".join([head, *rows]))
    return "\n\n".join(tables)


def _policy_table(declared: Sequence[PolicyField], merged: Merged) -> Table:
    """One line a field: its value, and the layer or place that sets it."""
    table = _table("*value", "*from")
    for field in declared:
        value = getattr(merged.policy, field.name)
        add_row(table, field.name, written(value), _source(field, merged))
    return table


def _policy_document(declared: Sequence[PolicyField], merged: Merged) -> JsonObject:
    return {
        field.name: {
            "value": to_json(getattr(merged.policy, field.name)),
            "source": _source(field, merged),
        }
        for field in declared
    }


def _source(field: PolicyField, merged: Merged) -> str:
    place = merged.places.get(field.name)
    return str(place) if place else merged.sources.get(field.name) or f"preset {merged.policy.name}"


def _table(*columns: str) -> Table:
    """A table whose first column holds field names, which are never cut."""
    table = make_table(">field", *columns)
    table.columns[0].justify = "left"
    return table


def written(value: object) -> str:
    """A value as an environment variable holds it."""
    plain = to_json(value)
    if plain is None:
        return "none"
    return plain if isinstance(plain, str) else json.dumps(plain)
