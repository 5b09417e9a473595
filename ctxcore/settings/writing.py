"""Writes policies as YAML, in the form that `load_policy` and `load_layers` read."""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import PRESET_FIELD, to_json
from ctxcore.policy.values import Policy
from ctxcore.settings.loading import OWN_BLOCK


def to_yaml(overrides: Mapping[str, JsonValue]) -> str:
    """The block `policy:` with these fields, the preset first; empty braces where there are none.

    Reading it gives the same fields with the same values.
    """
    import yaml

    class Lines(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
        """One line a field: lists stand in brackets, and only a text of several lines has more."""

    Lines.add_representer(
        list,
        lambda dumper, value: dumper.represent_sequence(
            "tag:yaml.org,2002:seq", value, flow_style=True
        ),
    )
    Lines.add_representer(
        str,
        lambda dumper, value: dumper.represent_scalar(
            "tag:yaml.org,2002:str", value, style="|" if "\n" in value else None
        ),
    )
    known = (PRESET_FIELD, *fields_of(Policy))
    ordered = {name: overrides[name] for name in known if name in overrides}
    document = {OWN_BLOCK: {**ordered, **overrides}}
    text = yaml.dump(document, Dumper=Lines, sort_keys=False, allow_unicode=True, width=100)
    return str(text)


def whole_policy(policy: Policy) -> JsonObject:
    """Every field of `policy`, so that it no longer depends on a preset."""
    values = {name: to_json(getattr(policy, name)) for name in fields_of(Policy)}
    return {PRESET_FIELD: policy.name, **values}
