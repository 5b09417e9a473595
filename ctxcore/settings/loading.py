"""Loads the policy that environment, `.env` and a YAML file make; reads the layer `file`.

The YAML file has a `policy:` block and the blocks of the source designs. Every key must be known,
and each value keeps its line for errors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctxcore.errors import ConfigurationError
from ctxcore.policy.fields import fields_of, refuse_field
from ctxcore.policy.layers import PRESET_FIELD, Layer, merge
from ctxcore.policy.values import Policy
from ctxcore.reasons.foreign import system_reason
from ctxcore.reasons.places import in_file
from ctxcore.reasons.storage_problems import FileProblem, SettingProblem
from ctxcore.reasons.values import Reason, as_reason
from ctxcore.settings.environment import CONFIG_NAME, read_environment
from ctxcore.settings.names import COMPACTION_NAMES, Given, LayerBuilder, unknown_name

OWN_BLOCK = "policy"
COMPACTION_BLOCK = "context_compaction"
MOST_LEVELS = 50  # chosen: policies nest four deep


def load_policy(
    name: str | None = None,
    *,
    env_file: str | Path | None = ".env",
    config: str | Path | None = None,
    **overrides: Any,
) -> Policy:
    """The policy of arguments, file, environment and preset; the first that sets a field wins.

    Args:
        name: a preset; without it the one that file or environment name, else `default`.
        env_file: a file of variables; it may be missing.
        config: a YAML file; without it the one that `CTXCORE_CONFIG` names, if any.
        overrides: fields of the policy.

    Raises:
        PolicyError: a name is unknown or a value is not allowed; it names the place.
        ConfigurationError: a file cannot be read.
    """
    if name is not None:
        overrides[PRESET_FIELD] = name
    outer = load_layers(env_file=env_file, config=config)
    return merge([*outer, Layer(name="call", overrides=overrides)]).policy


def load_layers(
    *,
    env_file: str | Path | None = ".env",
    config: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Layer, ...]:
    """The policy layers of environment and file, widest first; empty ones are left out.

    Args:
        env_file: a file of variables; it may be missing.
        config: a YAML file; without it the one that `CTXCORE_CONFIG` names, if any.
        environ: the variables of the process; without it those of this one.

    Raises:
        PolicyError: a name is unknown or a value is not allowed; it names the place.
        ConfigurationError: a file cannot be read.
    """
    environment = read_environment(os.environ if environ is None else environ, env_file)
    layers = [environment.layer]
    named = environment.config
    if config is not None:
        layers.append(read_file(Path(config)))
    elif named is not None and named.value is not None:
        try:
            layers.append(read_file(Path(str(named.value))))
        except ConfigurationError as error:
            if error.line is not None:
                raise
            problem = SettingProblem.NAMED(
                problem=error.problem, variable=CONFIG_NAME.upper(), source=named.place
            )
            raise ConfigurationError(path=error.path, problem=problem) from error
    filled = tuple(layer for layer in layers if layer.overrides)
    merge(filled)  # values that are each allowed may still contradict each other
    return filled


def read_file(path: Path) -> Layer:
    """Reads the YAML file at `path`.

    Raises:
        ConfigurationError: it cannot be read, is no YAML, or its blocks are not mappings.
        PolicyError: a key is unknown or a value is not allowed.
    """
    return read_text(text_of_file(path), name=str(path))


def text_of_file(path: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else FileProblem.NOT_UTF8()
        problem = FileProblem.UNREADABLE(reason=reason)
        raise ConfigurationError(path=str(path), problem=problem) from error


def read_text(text: str, *, name: str) -> Layer:
    """Reads the text of such a file; errors call it `name`.

    Raises:
        ConfigurationError: it is no YAML, or its blocks are not mappings.
        PolicyError: a key is unknown or a value is not allowed.
    """
    path = Path(name)
    blocks = _blocks(path, text)
    for block_name, block in blocks.items():
        if block_name not in (OWN_BLOCK, COMPACTION_BLOCK):
            given = Given(value=_plain(path, block.value), place=block.place)
            raise unknown_name(block_name, given, (OWN_BLOCK, COMPACTION_BLOCK))
    own, compaction = (_block(path, blocks.get(name)) for name in (OWN_BLOCK, COMPACTION_BLOCK))
    for key, given in own.items():
        if key not in fields_of(Policy):
            raise refuse_field(key, given.value, fields_of(Policy), source=given.place)
    for key, given in compaction.items():
        if key not in COMPACTION_NAMES:
            raise unknown_name(key, given, COMPACTION_NAMES)
    builder = LayerBuilder()
    builder.add_documents(compaction, COMPACTION_NAMES)
    builder.add_own(own)
    return builder.layer("file")


def _blocks(path: Path, text: str) -> dict[str, Given]:
    """The blocks of the file; their values are YAML nodes."""
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_LEVELS:  # a composed document is read by calls within calls
                problem = SettingProblem.DEEP(levels=MOST_LEVELS)
                line = event.start_mark.line + 1
                raise ConfigurationError(path=str(path), line=line, problem=problem)
            if isinstance(event, yaml.AliasEvent):  # a few can stand for very much
                line = event.start_mark.line + 1
                raise ConfigurationError(path=str(path), line=line, problem=SettingProblem.ALIAS())
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise ConfigurationError(path=str(path), line=line, problem=_no_yaml(error)) from error
    return {} if root is None else _entries(path, root)


def _block(path: Path, block: Given | None) -> dict[str, Given]:
    """The keys of a block with plain values; a missing or an empty block has none."""
    import yaml

    if block is None:
        return {}
    node: Any = block.value
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return {}
    return {
        name: Given(value=_plain(path, entry.value), place=entry.place)
        for name, entry in _entries(path, node).items()
    }


def _entries(path: Path, node: Any) -> dict[str, Given]:
    """The keys of a mapping; values are YAML nodes, places name the line of the key."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise _misshapen(path, node, SettingProblem.KEYS())
    entries: dict[str, Given] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _misshapen(path, key, SettingProblem.WORD())
        if key.value in entries:
            raise _misshapen(path, key, SettingProblem.TWICE(name=key.value))
        place = in_file(str(path), key.start_mark.line + 1)
        entries[key.value] = Given(value=value, place=place)
    return entries


def _plain(path: Path, node: Any) -> object:
    """The Python value of a YAML node."""
    import yaml

    try:
        return yaml.SafeLoader("").construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _misshapen(path, node, _no_yaml(error)) from error


def _no_yaml(error: Exception) -> Reason:
    return SettingProblem.YAML(reason=as_reason(getattr(error, "problem", None) or str(error)))


def _misshapen(path: Path, node: Any, problem: Reason) -> ConfigurationError:
    return ConfigurationError(path=str(path), line=node.start_mark.line + 1, problem=problem)
