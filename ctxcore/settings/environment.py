"""Reads the layer `environment`: variables of the process and of a `.env` file.

A variable of the process wins over the same one in the file. An empty variable counts as not set,
`none` takes a limit away, lists are JSON. Values are read as the type of the policy's field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from ctxcore.settings.names import (
    COMPACTION_NAMES,
    ENVIRONMENT_NAMES,
    Given,
    LayerBuilder,
    Name,
    unknown_name,
)

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

OWN_PREFIX = "ctxcore_policy_"
PRESET_NAME = "ctxcore_policy"
CONFIG_NAME = "ctxcore_config"
COMPACTION_PREFIX = "context_compaction_"

_PREFIXED: Mapping[str, tuple[str, ...]] = {
    OWN_PREFIX: tuple(fields_of(Policy)),
    COMPACTION_PREFIX: tuple(COMPACTION_NAMES),
}
_DOCUMENTS: Mapping[str, Name] = {
    **ENVIRONMENT_NAMES,
    **{f"{COMPACTION_PREFIX}{name}": known for name, known in COMPACTION_NAMES.items()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The policy layer of environment and `.env`, and the YAML file that they name."""

    layer: Layer
    config: Given | None


def read_environment(environ: Mapping[str, str], env_file: str | Path | None) -> Environment:
    """Reads the variables of `environ` and of `env_file`, if there is such a file.

    Raises:
        PolicyError: a variable has a value that is not allowed, or its name has our prefix and is
            none of ours.
        ConfigurationError: the file cannot be read.
    """
    path = Path(env_file) if env_file is not None and Path(env_file).is_file() else None
    if path is None and not any(map(_is_known, environ)):
        return Environment(layer=Layer(name="environment", overrides={}), config=None)
    given = _given(_file_variables(path), path) if path else {}
    given |= _given(environ)
    for name, item in given.items():
        _refuse_misspelled(name, item)
    values = _parsed(given)
    builder = LayerBuilder()
    builder.add_documents({key: values[key] for key in _DOCUMENTS if key in values}, _DOCUMENTS)
    own = {
        field: values[key]
        for field in fields_of(Policy)
        if (key := f"{OWN_PREFIX}{field}") in values
    }
    if PRESET_NAME in values:
        own["name"] = values[PRESET_NAME]
    builder.add_own(own)
    return Environment(layer=builder.layer("environment"), config=values.get(CONFIG_NAME))


def _is_known(variable: str) -> bool:
    name = variable.lower()
    return name in _DOCUMENTS or name in (PRESET_NAME, CONFIG_NAME) or _prefix(name) is not None


def _prefix(name: str) -> str | None:
    return next((prefix for prefix in _PREFIXED if name.startswith(prefix)), None)


def _file_variables(path: Path) -> Mapping[str, str | None]:
    from pydantic_settings import DotEnvSettingsSource

    try:
        return DotEnvSettingsSource(_settings(), env_file=path).env_vars
    except (OSError, UnicodeDecodeError) as error:
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise ConfigurationError(path=str(path), problem=problem) from error


def _given(variables: Mapping[str, str | None], path: Path | None = None) -> dict[str, Given]:
    """The known variables that are not empty, by their names in lower case."""
    given = {}
    for name, value in variables.items():
        if value is not None and value.strip() and _is_known(name):
            place = PlaceCode.VARIABLE(variable=name.upper())
            if path is not None:
                place = PlaceCode.ENV_FILE(variable=name.upper(), path=str(path))
            given[name.lower()] = Given(value=value, place=place)
    return given


def _refuse_misspelled(name: str, given: Given) -> None:
    """Refuses an unknown name with one of our prefixes: nobody else uses them, so it is a typo."""
    prefix = _prefix(name)
    if prefix is None or (field := name.removeprefix(prefix)) in _PREFIXED[prefix]:
        return
    if prefix == OWN_PREFIX and field in REMOVED:
        raise refuse_field(field, given.value, (), source=given.place)
    known = [f"{prefix}{field}".upper() for field in _PREFIXED[prefix]]
    raise unknown_name(name.upper(), given, known)


def _parsed(given: Mapping[str, Given]) -> dict[str, Given]:
    """`given` with each text parsed as the type of its name."""
    from pydantic import ValidationError
    from pydantic_settings import EnvSettingsSource

    source = EnvSettingsSource(_settings())
    source.env_vars = {name: str(item.value) for name, item in given.items()}
    try:
        settings = _settings()(**source())
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise _not_allowed(name, given[name]) from error
    return {
        name: Given(value=getattr(settings, name), place=item.place) for name, item in given.items()
    }


def _not_allowed(name: str, given: Given) -> PolicyError:
    known = _DOCUMENTS.get(name)
    field = known.field if known else name.removeprefix(OWN_PREFIX)
    allowed = fields_of(Policy)[field].allowed
    if known and known.type is bool:
        allowed = AllowedCode.YES_OR_NO()
    elif known and known.type is int:
        allowed = AllowedCode.WHOLE(low=0)
    return PolicyError(field=field, value=given.value, allowed=allowed, source=given.place)


@cache
def _settings() -> type[BaseSettings]:
    """A settings class with a field for every name, of the type of its policy field."""
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
            return (init_settings,)  # not the variables of this process once more

        @field_validator("*", mode="before")
        @classmethod
        def _decode(cls, value: object, info: Any) -> object:
            if isinstance(value, str) and value.strip().lower() == "none":
                return None
            is_list = get_origin(types[info.field_name]) is tuple
            return json.loads(value) if is_list and isinstance(value, str) else value

    fields: dict[str, Any] = {name: (kind, None) for name, kind in types.items()}
    return create_model("Names", __base__=Names, **fields)
