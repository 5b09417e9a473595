"""Replaces secrets in texts and values; the same secret gets the same mark everywhere.

What is a JSON document stays one: marks lie inside its strings and need no escapes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from ctxcore.plain import Plain
from ctxcore.redaction.shapes import Secret, SecretKind, found_by_shape

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LABELS: Final[Mapping[SecretKind, str]] = {
    "aws_key": "AWS key",
    "azure_key": "Azure key",
    "bearer_token": "bearer token",
    "bot_token": "bot token",
    "github_token": "GitHub token",
    "gitlab_token": "GitLab token",
    "google_key": "Google key",
    "jwt": "JWT",
    "model_key": "model provider key",
    "package_token": "package registry token",
    "password": "password",
    "private_key": "private key",
    "secret": "secret",
    "service_key": "service key",
    "slack_token": "Slack token",
    "stripe_key": "Stripe key",
    "url_password": "URL password",
}
"""How each kind is called in marks."""

# Fields that say which thing something is; a mark there would break what refers to it.
_IDENTITIES: Final = frozenset(
    {"id", "session_id", "parent_id", "compaction_id", "answers", "digest", "user_id", "model"}
)
_SHORTEST = 8  # chosen: shorter values are replaced where they were found, not wherever they occur
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_MARK = re.compile(r"\[redacted: (?:" + "|".join(map(re.escape, LABELS.values())) + r") (\d+)\]")
_BLANKS = {"n": " \n", "r": " \n", "t": "  ", '"': ' "'}

Value = TypeVar("Value")


def find_secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order; where two overlap, the longer one.

    Raises:
        RedactionUnavailableError: the package that recognises secrets is not installed.
    """
    found = [*found_by_shape(_unescaped(text))]
    chosen: list[Secret] = []
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(one.end <= other.start or one.start >= other.end for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.start)


def _unescaped(text: str) -> str:
    """A text of the same length in which escaped line ends and quotes end words."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: _BLANKS.get(found[1], found[0]), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction(Plain):
    """The secrets of some texts with the mark that replaces each."""

    marks: Mapping[str, str]
    """The mark by the secret's own text."""
    counts: Mapping[SecretKind, int]
    """How many different secrets of each kind there are."""

    @property
    def total(self) -> int:
        """How many different secrets there are."""
        return sum(self.counts.values())

    def text(self, text: str) -> str:
        """The text with marks for its secrets; a JSON document stays valid."""
        if not text or not self.marks:
            return text
        spans = self._spans(text)
        if not spans:
            return text
        if _is_json(text):
            spans = _inside_strings(text, spans)
        parts, at = [], 0
        for start, end, mark in spans:
            parts += [text[at:start], mark]
            at = end
        return "".join([*parts, text[at:]])

    def value(self, value: Value) -> Value:
        """A value of dataclasses, tuples, lists and mappings with every text in it redacted.

        Identities (ids, digests, models) stay, and whatever holds no secret is the same object.
        """
        return map_texts(value, self.text)

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where known secrets are, the longest first where they overlap."""
        taken: list[tuple[int, int, str]] = []
        present = [(value, mark) for value, mark in self.marks.items() if value in text]
        for value, mark in sorted(present, key=lambda pair: -len(pair[0])):
            if len(value) >= _SHORTEST:
                places = [found.start() for found in re.finditer(re.escape(value), text)]
            else:
                places = [one.start for one in find_secrets(text) if _raw(text, one) == value]
            for start in places:
                end = start + len(value)
                if all(end <= left or start >= right for left, right, _ in taken):
                    taken.append((start, end, mark))
        return sorted(taken)


def redaction_of(texts: Iterable[str]) -> Redaction:
    """The secrets of all `texts`, numbered by kind in order of appearance.

    Numbers of marks that stand in the texts already are not used again.

    Raises:
        RedactionUnavailableError: the package that recognises secrets is not installed.
    """
    marks: dict[str, str] = {}
    known: dict[str, str] = {}
    counts: Counter[SecretKind] = Counter()
    every = [*dict.fromkeys(texts)]
    used = max((int(n) for text in every for n in _MARK.findall(text)), default=0)
    for text in every:
        for one in find_secrets(text):
            raw = _raw(text, one)
            if raw in marks:
                continue
            plain = re.sub(r"\\[nrt]|\s", "", raw)  # one key, whether its lines are escaped or not
            if plain not in known:
                counts[one.kind] += 1
                known[plain] = f"[redacted: {LABELS[one.kind]} {used + counts[one.kind]}]"
            marks[raw] = known[plain]
    return Redaction(marks=MappingProxyType(marks), counts=MappingProxyType(dict(counts)))


def redaction_in(*values: object) -> Redaction:
    """The secrets in all texts of `values`, as `Redaction.value` walks them."""
    texts: list[str] = []

    def note(text: str) -> str:
        texts.append(text)
        return text

    for value in values:
        map_texts(value, note)
    return redaction_of(texts)


def redact(value: Value) -> tuple[Value, Mapping[SecretKind, int]]:
    """A value without its secrets, and how many different ones of each kind it held."""
    redaction = redaction_in(value)
    return redaction.value(value), redaction.counts


def map_texts(value: Value, change: Callable[[str], str]) -> Value:
    """A value in which `change` made every text that is no identity."""
    return cast("Value", _mapped(value, change))


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        made = {
            key: one if key in _IDENTITIES else _mapped(one, change) for key, one in value.items()
        }
        return value if all(made[key] is one for key, one in value.items()) else made
    if isinstance(value, (list, tuple)):
        items = [_mapped(one, change) for one in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(items)
    if is_dataclass(value) and not isinstance(value, type):
        changed = _changed_fields(value, change)
        return replace(value, **changed) if changed else value
    return value


def _changed_fields(value: DataclassInstance, change: Callable[[str], str]) -> dict[str, Any]:
    changed = {}
    for field in fields(value):
        if field.name in _IDENTITIES or not field.init:
            continue
        old = getattr(value, field.name)
        if (new := _mapped(old, change)) is not old:
            changed[field.name] = new
    return changed


def _raw(text: str, secret: Secret) -> str:
    return text[secret.start : secret.end]


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _inside_strings(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The spans inside of strings, widened so that none cuts an escape."""
    strings = [(found.start() + 1, found.end() - 1) for found in _STRING.finditer(text)]
    starts = [start for start, _ in strings]
    kept: list[tuple[int, int, str]] = []
    for start, end, mark in spans:
        at = bisect_right(starts, start) - 1
        if at < 0 or end > strings[at][1]:
            continue
        for escape in _ESCAPE.finditer(text, strings[at][0], strings[at][1]):
            start = escape.start() if escape.start() < start < escape.end() else start
            end = escape.end() if escape.start() < end < escape.end() else end
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, mark))
    return kept
