"""Owns `ctxcore policy`: the fields that policies declare, and the values that hold here."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxcore.cli.choices import check_preset, merged_here
from ctxcore.cli.options import AsJson, Config
from ctxcore.cli.output import print_all, print_json, print_text
from ctxcore.cli.policy_views import (
    field_document,
    fields_table,
    markdown_tables,
    policy_document,
    policy_table,
)
from ctxcore.cli.running import to_document
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy

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
