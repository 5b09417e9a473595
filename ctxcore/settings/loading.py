"""Owns what outside of a store says about policies: the layers `environment` and `file`.

The file is the narrower one: its values win over the environment's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctxcore.errors import ConfigurationError
from ctxcore.policy.layers import PRESET_FIELD, Layer, merge
from ctxcore.policy.values import Policy
from ctxcore.reasons.file_problems import SettingProblem
from ctxcore.settings.environment import CONFIG_NAME, read_environment


def load_layers(
    *,
    env_file: str | Path | None = ".env",
    config: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Layer, ...]:
    """What environment and file say, widest first; what says nothing is left out.

    Args:
        env_file: a file of variables; one that is not there says nothing.
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
        layers.append(_file(Path(config)))
    elif named is not None and named.value is not None:
        try:
            layers.append(_file(Path(str(named.value))))
        except ConfigurationError as error:
            if error.line is not None:
                raise
            problem = SettingProblem.NAMED(
                problem=error.problem, variable=CONFIG_NAME.upper(), source=named.place
            )
            raise ConfigurationError(path=error.path, problem=problem) from error
    saying = tuple(layer for layer in layers if layer.overrides)
    merge(saying)  # values that are each allowed may still contradict each other
    return saying


def load_policy(
    name: str | None = None,
    *,
    env_file: str | Path | None = ".env",
    config: str | Path | None = None,
    **overrides: Any,
) -> Policy:
    """The policy that arguments, file, environment and preset make, the first of them that speaks.

    Args:
        name: a preset; without it the one that file or environment name, else `default`.
        env_file: a file of variables; one that is not there says nothing.
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


def _file(path: Path) -> Layer:
    from ctxcore.settings.files import read_file

    return read_file(path)
