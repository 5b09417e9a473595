"""Owns reading scripted models from a JSON file, for a process that a test cannot reach into.

A file is an object of model names; see `scripted` for its form. A mistake in it is an error with
its place: a test that runs on half a script proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, NoReturn, cast, get_args

from ctxcore.errors import FormatError
from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.scripted import ECHO, Script, ScriptedModel, ScriptedReply, echo
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.values import JsonValue, ToolCall
from ctxcore.reasons.file_problems import ScriptProblem
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.quoting import raw_fact
from ctxcore.reasons.values import Reason

_REPLY_KEYS = (*(field.name for field in fields(ScriptedReply)), "echo")


def load_scripted_models(path: Path) -> list[ScriptedModel]:
    """The models that the file at `path` describes, each registered under its name.

    Raises:
        FormatError: the file is not JSON or not of this form.
    """
    try:
        content: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(path=str(path), problem=reason_of(error)) from error
    if not isinstance(content, dict):
        raise FormatError(path=str(path), problem=ScriptProblem.NO_MODELS())
    return [_parse_model(name, entry, str(path)) for name, entry in content.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fields:
    """The values of one JSON object, each read as the type it must have."""

    path: str
    place: Place
    values: Mapping[str, JsonValue]

    def text(self, key: str) -> str:
        value = self.values.get(key, "")
        return value if isinstance(value, str) else self._refuse(key)

    def number(self, key: str) -> float:
        value = self.values.get(key, 0.0)
        return float(value) if isinstance(value, (int, float)) else self._refuse(key)

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if value is None or isinstance(value, int) else self._refuse(key)

    def items(self, key: str) -> list[JsonValue]:
        value = self.values.get(key, [])
        return value if isinstance(value, list) else self._refuse(key)

    def inner(self, entry: JsonValue, part: str, allowed: Iterable[str]) -> _Fields:
        return _fields(entry, self.path, self.place.within(part), allowed)

    def _refuse(self, key: str) -> NoReturn:
        raise self.wrong(ScriptProblem.VALUE(key=key, value=raw_fact(self.values[key])))

    def wrong(self, problem: Reason) -> FormatError:
        """That the object, or a value of it, is not what it may be."""
        return _wrong(self.path, self.place, problem)


def _fields(entry: JsonValue, path: str, place: Place, allowed: Iterable[str]) -> _Fields:
    if not isinstance(entry, dict):
        raise _wrong(path, place, ScriptProblem.NO_OBJECT())
    if unknown := sorted(set(entry) - set(allowed)):
        raise _wrong(path, place, ScriptProblem.UNKNOWN_KEYS(names=tuple(unknown)))
    return _Fields(path=path, place=place, values=entry)


def _wrong(path: str, place: Place, problem: Reason) -> FormatError:
    return FormatError(path=path, problem=PlaceCode.AT(place=place.reason, problem=problem))


def _parse_model(name: str, entry: JsonValue, path: str) -> ScriptedModel:
    fields = _fields(
        entry, path, Place(PlaceCode.MODEL, name), ("replies", "otherwise", "window_tokens")
    )
    otherwise = fields.values.get("otherwise")
    return ScriptedModel(
        name,
        [
            _parse_reply(fields.inner(reply, f"reply {at}", _REPLY_KEYS))
            for at, reply in enumerate(fields.items("replies"))
        ],
        otherwise=(
            None
            if otherwise is None
            else _parse_reply(fields.inner(otherwise, "otherwise", _REPLY_KEYS))
        ),
        window_tokens=fields.whole("window_tokens"),
    )


def _parse_reply(fields: _Fields) -> Script:
    reply = ScriptedReply(
        text=fields.text("text"),
        reasoning=fields.text("reasoning"),
        calls=tuple(_parse_call(fields, at, raw) for at, raw in enumerate(fields.items("calls"))),
        finish_reason=fields.text("finish_reason") or None,
        usage=_parse_usage(fields),
        first_delay_seconds=fields.number("first_delay_seconds"),
        chunk_delay_seconds=fields.number("chunk_delay_seconds"),
        chunk_chars=fields.whole("chunk_chars") or ScriptedReply().chunk_chars,
        error=_parse_error(fields),
        error_text=fields.text("error_text"),
        error_after_chunks=fields.whole("error_after_chunks"),
    )
    template = fields.values.get("echo")
    if not template:
        return reply
    return echo(template if isinstance(template, str) else ECHO, reply)


def _parse_call(fields: _Fields, at: int, raw: JsonValue) -> ToolCall:
    call = fields.inner(raw, f"call {at}", ("id", "name", "arguments"))
    return ToolCall(
        id=call.text("id") or f"call_{at + 1}",
        name=call.text("name"),
        arguments=call.text("arguments") or "{}",
    )


def _parse_usage(fields: _Fields) -> ModelUsage | Literal["counted"]:
    if "usage" not in fields.values:
        return "counted"
    usage = fields.inner(fields.values["usage"], "usage", ModelUsage.__slots__)
    return ModelUsage(
        input_tokens=usage.whole("input_tokens"),
        cached_tokens=usage.whole("cached_tokens"),
        cache_write_tokens=usage.whole("cache_write_tokens"),
        output_tokens=usage.whole("output_tokens"),
        reasoning_tokens=usage.whole("reasoning_tokens"),
    )


def _parse_error(fields: _Fields) -> ErrorKind | None:
    kind = fields.text("error")
    if not kind:
        return None
    if kind not in get_args(ErrorKind):
        raise fields.wrong(ScriptProblem.NO_KIND(kind=kind))
    return cast("ErrorKind", kind)
