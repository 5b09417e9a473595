"""Reasons for programs and people: a code with its facts, and an English text by `str()`.

A code is a member of an enum that derives from `Code` and carries its English text. The text has a
blank for each fact; texts in other languages have the same blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from string import Formatter
from typing import Final, Self, TypeAlias, Union

from ctxcore.json_types import JsonObject, JsonValue

Fact: TypeAlias = Union[str, int, float, bool, "Reason", tuple["Fact", ...], None]
"""A value for a blank; it may be another reason, e.g. why a step was skipped."""

LEGACY = "legacy"
"""The code of a stored sentence of an older release; its fact is `text`."""

COUNTED_BY = "counted_by"
"""A fact that any reason may have: the rule that counted its tokens, if not the model's."""

_KNOWN: dict[str, Code] = {}
_DEEPEST = 64  # chosen: nested facts that are read; the library nests a few
_PLAIN: dict[str, Reason] = {}  # the reasons of codes without blanks, shared


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with the facts for the blanks of its text."""

    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __str__(self) -> str:
        code = _KNOWN.get(self.code)
        try:
            text = self._bare() if code is None else fill(code.text, self.facts)
        except RecursionError:
            return str.__str__(self.code)
        rule = None if code is None else self.facts.get(COUNTED_BY)
        return text if rule is None else fill(_COUNTED_BY, {"text": text, "rule": rule})

    def by(self, rule: str) -> Reason:
        """The same reason, naming the rule that counted its tokens."""
        return Reason(self.code, {**self.facts, COUNTED_BY: rule})

    def __hash__(self) -> int:
        return hash(self.code)

    def __bool__(self) -> bool:
        return True

    def to_dict(self) -> JsonObject:
        """The code and the facts as JSON."""
        return to_json(self)

    def mentions(self, code: str) -> bool:
        """Whether this reason, or one nested in its facts, has `code`."""
        if self.code == code or not self.facts:
            return self.code == code
        inner = (fact for fact in self.facts.values() if isinstance(fact, Reason))
        return any(reason.mentions(code) for reason in inner)

    def _bare(self) -> str:
        facts = ", ".join(f"{name} {shown(fact)}" for name, fact in self.facts.items())
        return f"{self.code}: {facts}" if facts else self.code


class Code(StrEnum):
    """Base of all enums of codes. A member is written as `NAME = "area.name", "English {fact}"`.

    Calling a member makes a reason: `Outcome.STAYS(tokens=300)`.
    """

    text: str
    """The English text with blanks for the facts, as `str.format` reads them."""

    def __new__(cls, value: str, text: str) -> Self:
        if value in _KNOWN:
            raise ValueError(f"the code {value!r} is declared twice")
        member = str.__new__(cls, value)
        member._value_ = value
        member.text = text
        _KNOWN[value] = member
        return member

    def __call__(self, **facts: Fact) -> Reason:
        if not facts and self.value in _PLAIN:  # every message of a context has a reason
            return _PLAIN[self.value]
        if facts.keys() != blanks(self.text):
            raise TypeError(f"{self.value} needs {sorted(blanks(self.text))}, not {sorted(facts)}")
        reason = Reason(self, facts)
        if not facts:
            _PLAIN[self.value] = reason
        return reason


class TextCode(Code):
    """Reasons that hold foreign text, or a number of named things."""

    COUNT = "count", "{counted} {count:,}"
    """A number of something, e.g. of a tool's calls; several numbers are a list of these."""
    TEXT = "text", "{text}"
    """Text of a provider, an operating system or an application, unchanged."""
    OLD_TEXT = LEGACY, "{text}"
    COUNTED_BY = "text.counted_by", "{text} (counted by {rule})"
    """Around the text of a reason that names the rule of its numbers."""


_COUNTED_BY: Final = TextCode.COUNTED_BY.text


def as_reason(text: str | Reason) -> Reason:
    """Foreign text as a reason; a reason stays as it is."""
    return text if isinstance(text, Reason) else TextCode.TEXT(text=text)


def counts(numbers: Mapping[str, int]) -> tuple[Reason, ...]:
    """Named numbers as a fact, in their order; a name may be a code."""
    return tuple(
        TextCode.COUNT(counted=name() if isinstance(name, Code) else name, count=count)
        for name, count in numbers.items()
    )


def known_codes() -> Mapping[str, Code]:
    """All declared codes, by value."""
    return _KNOWN


@cache
def blanks(text: str) -> frozenset[str]:
    """The names of the blanks in a text."""
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name)


def fill(text: str, facts: Mapping[str, Fact]) -> str:
    """`text` with its blanks filled; a missing fact shows as `?`, and no fact makes it fail."""
    try:
        return _FORMATTER.vformat(text, (), facts)
    except ValueError:  # an unmatched brace, in a text of another language
        return text


def shown(fact: Fact) -> str:
    """A fact as English text; a tuple becomes a list with commas."""
    if isinstance(fact, tuple):
        return ", ".join(map(shown, fact))
    if isinstance(fact, int) and not isinstance(fact, bool):
        return _written(fact, ",")
    return str(fact)


def _written(value: object, spec: str) -> str:
    """`value` in the format `spec`, else in a simpler one: Python refuses to print huge numbers."""
    for attempt in (spec, "", "#x"):
        try:
            return format(value, attempt)
        except (TypeError, ValueError):
            continue
    return "?"


class _Formatter(Formatter):
    """Fills blanks and never fails, since stored facts may come from another release."""

    def get_field(self, field_name: str, args: object, kwargs: Mapping[str, Fact]) -> object:
        return self.get_value(field_name, args, kwargs), field_name  # no attributes of facts

    def get_value(self, key: int | str, args: object, kwargs: Mapping[str, Fact]) -> Fact:
        return kwargs.get(str(key), "?")

    def convert_field(self, value: object, conversion: str | None) -> object:
        if isinstance(value, Reason):  # its text stands for a value that is no fact
            return value
        try:
            return repr(value) if conversion == "r" else value
        except ValueError:  # a number too long to print
            return value

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, tuple):
            return shown(value)
        if value is None:
            return "?"
        return _written(value, format_spec)


_FORMATTER = _Formatter()


def to_json(reason: Reason) -> JsonObject:
    """`reason` as JSON: its code, and its facts if it has any."""
    raw: JsonObject = {"code": str(reason.code)}
    if reason.facts:
        raw["facts"] = {name: _to_json(fact) for name, fact in reason.facts.items()}
    return raw


def document(reason: Reason) -> JsonObject:
    """`reason` as JSON with its English text, as commands print it."""
    return {**to_json(reason), "text": str(reason)}


def from_json(raw: object, *, depth: int = 0) -> Reason:
    """The reason that `to_json` wrote; its code may be one of another release.

    Raises:
        ValueError: it is no reason.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get("code"), str):
        raise ValueError("a reason is an object with a code")
    facts = raw.get("facts", {})
    if not isinstance(facts, Mapping) or raw.keys() - {"code", "facts"}:
        raise ValueError("the facts of a reason are an object")
    known = _KNOWN.get(raw["code"])
    code = raw["code"] if known is None else known
    return Reason(code, {name: _from_json(fact, depth + 1) for name, fact in facts.items()})


def _to_json(fact: Fact) -> JsonValue:
    if isinstance(fact, Reason):
        return to_json(fact)
    return [_to_json(item) for item in fact] if isinstance(fact, tuple) else fact


def _from_json(raw: object, depth: int) -> Fact:
    if depth > _DEEPEST:
        raise ValueError("a reason is nested too deeply")
    if isinstance(raw, Mapping):
        return from_json(raw, depth=depth)
    if isinstance(raw, list):
        return tuple(_from_json(item, depth + 1) for item in raw)
    if raw is None or isinstance(raw, (str, int, float)):
        return raw
    raise ValueError(f"no fact: {raw!r}")


SHOWN_CHARS: Final = 60  # chosen: a value shows what it is, and a line stays a line
_KEYS_LISTED: Final = 6  # chosen: enough keys to recognize a format


class QuoteCode(Code):
    """Quoted values and lists of them inside a text."""

    VALUE = "quote.value", "{value!r}"
    OF_TYPE = "quote.of_type", "a value of type {kind}"
    MORE = "quote.more", "…"
    NONE = "quote.none", "none"
    AND = "quote.and", "{one} and {other}"
    OR = "quote.or", "{one} or {other}"
    AND_MORE = "quote.and_more", "{names} and {count:,} more"


def repr_fact(value: object) -> Fact:
    """`value` as a fact that `{value!r}` shows as `repr(value)`, of any length."""
    return value if _is_fact(value) else as_reason(repr(value))  # type: ignore[return-value]


def quoted(value: object) -> Fact:
    """`value` as a fact that `{value!r}` shows in at most `SHOWN_CHARS` characters."""
    if value is not None and not isinstance(value, (str, int, float)):
        return QuoteCode.OF_TYPE(kind=type(value).__name__)
    text = repr(value)
    return value if len(text) <= SHOWN_CHARS else as_reason(f"{text[:SHOWN_CHARS]}…")


def quoted_keys(value: Mapping[str, object]) -> Fact:
    """The first keys of an object, quoted."""
    if not value:
        return QuoteCode.NONE()
    keys = tuple(QuoteCode.VALUE(value=quoted(key)) for key in list(value)[:_KEYS_LISTED])
    return (*keys, QuoteCode.MORE()) if len(value) > len(keys) else keys


def all_of(names: Iterable[Fact]) -> Fact:
    """Names with `and` between them."""
    return _paired(QuoteCode.AND, tuple(names))


def any_of(names: Iterable[Fact]) -> Fact:
    """Names with `or` between them."""
    return _paired(QuoteCode.OR, tuple(names))


def _paired(code: QuoteCode, names: tuple[Fact, ...]) -> Fact:
    """Joins halves recursively, so that many names are not nested deeply."""
    if len(names) < 2:
        return names[0] if names else QuoteCode.NONE()
    half = (len(names) + 1) // 2
    return code(one=_paired(code, names[:half]), other=_paired(code, names[half:]))


def _is_fact(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fact, value))
    return value is None or isinstance(value, (str, int, float))
