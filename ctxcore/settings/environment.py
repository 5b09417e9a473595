"""Owns the layer `environment`: variables of the process and of a `.env` file.

A variable of the process wins over the same one in the file; an empty one is not set; `none` takes
a limit away; lists are JSON. Values are read as what the policy's field holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from ctxcore.errors import ConfigurationError, PolicyError
from ctxcore.policy.fields import fields_of, refuse_field
from ctxcore.policy.layers import Layer
from ctxcore.policy.names import REMOVED
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason
from ctxcore.settings.names import (
    COMPACTION_NAMES,
    ENVIRONMENT_NAMES,
    Gathering,
    Given,
    Name,
    own_names,
    refuse_unknown,
)

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

OWN_PREFIX = "ctxcore_policy_"
PRESET_NAME = "ctxcore_policy"
CONFIG_NAME = "ctxcore_config"
COMPACTION_PREFIX = "context_compaction_"

_PREFIXED: Mapping[str, tuple[str, ...]] = {
    OWN_PREFIX: own_names(),
    COMPACTION_PREFIX: tuple(COMPACTION_NAMES),
}
_DOCUMENTS: Mapping[str, Name] = {
    **ENVIRONMENT_NAMES,
    **{f"{COMPACTION_PREFIX}{name}": known for name, known in COMPACTION_NAMES.items()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What environment and `.env` say."""

    layer: Layer
    config: Given | None
    """The YAML file that they name."""


def read_environment(environ: Mapping[str, str], env_file: str | Path | None) -> Environment:
    """What the variables of `environ` and of `env_file` say; a file that is not there says nothing.

    Raises:
        PolicyError: a variable has a value that is not allowed, or its name has our prefix and is
            none of ours.
        ConfigurationError: the file cannot be read.
    """
    path = Path(env_file) if env_file is not None and Path(env_file).is_file() else None
    if path is None and not any(map(_is_ours, environ)):
        return Environment(layer=Layer(name="environment", overrides={}), config=None)
    given = {**(_in_file(path) if path else {}), **_in_process(environ)}
    for name, one in given.items():
        _refuse_misspelled(name, one)
    values = _parsed(given)
    gathering = Gathering()
    gathering.add_documents(_only(values, _DOCUMENTS), _DOCUMENTS)
    gathering.add_own(_own(values))
    return Environment(layer=gathering.layer("environment"), config=values.get(CONFIG_NAME))


def _is_ours(name: str) -> bool:
    lower = name.lower()
    return lower in _DOCUMENTS or lower in (PRESET_NAME, CONFIG_NAME) or _prefix(lower) is not None


def _prefix(name: str) -> str | None:
    return next((prefix for prefix in _PREFIXED if name.startswith(prefix)), None)


def _in_process(environ: Mapping[str, str]) -> dict[str, Given]:
    return {
        name.lower(): Given(value=value, place=PlaceCode.VARIABLE(variable=name.upper()))
        for name, value in environ.items()
        if value.strip() and _is_ours(name)
    }


def _in_file(path: Path) -> dict[str, Given]:
    from pydantic_settings import DotEnvSettingsSource

    try:
        variables = DotEnvSettingsSource(_settings(), env_file=path).env_vars
    except (OSError, UnicodeDecodeError) as error:
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise ConfigurationError(path=str(path), problem=problem) from error
    return {
        name.lower(): Given(value=value, place=_in_env(name, path))
        for name, value in variables.items()
        if value is not None and value.strip() and _is_ours(name)
    }


def _in_env(name: str, path: Path) -> Reason:
    return PlaceCode.ENV_FILE(variable=name.upper(), path=str(path))


def _refuse_misspelled(name: str, one: Given) -> None:
    """Names with our prefix are ours alone, so one that means nothing is a mistake."""
    prefix = _prefix(name)
    if prefix is None or name.removeprefix(prefix) in _PREFIXED[prefix]:
        return
    if prefix == OWN_PREFIX and (field := name.removeprefix(prefix)) in REMOVED:
        raise refuse_field(field, one.value, (), source=one.place)
    known = [f"{prefix}{field}".upper() for field in _PREFIXED[prefix]]
    raise refuse_unknown(name.upper(), one, known)


def _parsed(given: Mapping[str, Given]) -> dict[str, Given]:
    """`given` with texts read as what they stand for."""
    from pydantic import ValidationError
    from pydantic_settings import EnvSettingsSource

    source = EnvSettingsSource(_settings())
    source.env_vars = {name: str(one.value) for name, one in given.items()}
    try:
        settings = _settings()(**source())
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise _refusal(name, given[name]) from error
    return {
        name: Given(value=getattr(settings, name), place=one.place) for name, one in given.items()
    }


def _refusal(name: str, one: Given) -> PolicyError:
    known = _DOCUMENTS.get(name)
    field = known.field if known else name.removeprefix(OWN_PREFIX)
    allowed = (
        AllowedCode.YES_OR_NO()
        if known and known.type is bool
        else fields_of(Policy)[field].allowed
    )
    if known and known.type is int:
        allowed = AllowedCode.WHOLE(low=0)
    return PolicyError(field=field, value=one.value, allowed=allowed, source=one.place)


def _only(values: Mapping[str, Given], names: Iterable[str]) -> dict[str, Given]:
    return {name: values[name] for name in names if name in values}


def _own(values: Mapping[str, Given]) -> dict[str, Given]:
    found = {
        field: values[f"{OWN_PREFIX}{field}"]
        for field in own_names()
        if f"{OWN_PREFIX}{field}" in values
    }
    return {**found, **({"name": values[PRESET_NAME]} if PRESET_NAME in values else {})}


@cache
def _settings() -> type[BaseSettings]:
    """The class whose fields are all names, each of the type that its policy field has."""
    from pydantic import create_model, field_validator
    from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

    declared = fields_of(Policy)
    types: dict[str, Any] = {f"{OWN_PREFIX}{name}": one.type for name, one in declared.items()}
    types |= {name: known.type or declared[known.field].type for name, known in _DOCUMENTS.items()}
    types |= {PRESET_NAME: str, CONFIG_NAME: str}

    class Names(BaseSettings):
        model_config = SettingsConfigDict(
            extra="ignore", enable_decoding=False, validate_default=False
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (init_settings,)  # what is given, not the variables of this process once more

        @field_validator("*", mode="before")
        @classmethod
        def _decode(cls, value: object, info: Any) -> object:
            if isinstance(value, str) and value.strip().lower() == "none":
                return None
            is_list = get_origin(types[info.field_name]) is tuple
            return json.loads(value) if is_list and isinstance(value, str) else value

    fields: dict[str, Any] = {name: (kind, None) for name, kind in types.items()}
    return create_model("Names", __base__=Names, **fields)
