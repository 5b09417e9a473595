"""The state that the verbs over lists pass on: what was compacted, of which messages.

It is a value of the caller: kept between two calls, as plain JSON where that is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from ctxcore.assembly.records import (
    NOT_REBUILT,
    NOTHING_SAID,
    Compaction,
    WorkingState,
    from_said,
    parse_reason,
    to_plain,
    to_said,
)
from ctxcore.errors import StateError, UnreadableError, WorkingStateError
from ctxcore.messages.canonical import DIGEST_CHARS, printable_json
from ctxcore.messages.values import JsonObject, JsonValue, text_message
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.problems import StateProblem
from ctxcore.reasons.values import Reason, Stated, raw_fact, to_json
from ctxcore.text.languages import detect_language

T = TypeVar("T")
VERSION: Final = 2
"""Of the form that `to_json` writes; one more for every change that older readers would misread."""
_IN_WORDS: Final = 1
_READ: Final = (_IN_WORDS, VERSION)  # version 1 held reasons in words
_MOST: Final = 2**53 - 1  # what every reader of JSON takes for a whole number


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What messages a state was made from, so that others are noticed."""

    digests: tuple[str, ...] = ()
    """One a message, oldest first, those of `left_out` skipped."""
    whole: str = ""
    """One of all of them as they were passed, but for system messages of others."""
    left_out: tuple[int, ...] = ()
    """System messages and texts of this library, by sequence number: they may change."""
    own: tuple[int, ...] = ()
    """Those of `left_out` that say nothing but texts of this library."""
    rest: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Messages that say some of them beside words of their own, and those, a text for each part."""
    sent: tuple[str, ...] = ()
    """Digests of the messages of the context that was made of them, system messages skipped."""
    knowledge: tuple[str, ...] = ()
    """Digests of the retrieved texts in it: they are of one call, and no words of a user."""
    system: str = ""
    tools: str = ""
    goal: str = ""
    """Digests of the system messages, the tool definitions and the original request."""
    request: str = ""
    """The original request as every context says it; empty where it is too long for that."""
    rules: str = ""
    """The standing instructions, as a context would say them beside a summary."""

    def seqs(self) -> list[int]:
        """The sequence number of each digest."""
        out = frozenset(self.left_out)
        count = len(self.digests) + len(out)
        return [seq for seq in range(1, count + 1) if seq not in out]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionState:
    """What pure functions cannot know of a conversation: pass `result.state` the next time.

    It belongs to the messages it was made from. `pinned` and `excluded` are places in that list,
    starting at 0; a place behind its end is one in the list that is passed with it.
    """

    active: Compaction | None = None
    summaries: int = 0
    truncations: int = 0
    failures: int = 0
    pinned: frozenset[int] = field(default_factory=frozenset)
    excluded: frozenset[int] = field(default_factory=frozenset)
    working: WorkingState = NOTHING_SAID
    """What the application says of its work, where the policy keeps that beside a summary."""
    seen: Seen | None = field(default=None, repr=False, compare=False)
    """The messages it was passed with last; None in a state made by hand, which fits any. States
    that say the same are equal, however many messages were added since."""
    inherited: str = ""
    """Facts of covered messages that nobody passes any more."""
    left_out: int = 0
    """How many messages were left out, without a summary, that nobody passes any more."""

    @property
    def is_bound(self) -> bool:
        """Whether it says anything of single messages."""
        return bool(self.active or self.pinned or self.excluded or self.left_out)

    def to_json(self) -> JsonObject:
        """The state as plain data: objects, lists, texts, whole numbers and null alone.

        `from_json` gives an equal state back. Lone surrogates in texts become U+FFFD.
        """
        return _dumped(self)

    @classmethod
    def from_json(cls, data: object) -> CompactionState:
        """The state that `to_json` wrote; the JSON text of it is read as well.

        Raises:
            StateError: it is no state, or one of a version that this release does not read.
        """
        return _loaded(data)


def to_state(state: CompactionState | str | None) -> CompactionState:
    """`state` in its full form; a plain summary stands before the first message.

    Raises:
        StateError: it is something else.
    """
    if isinstance(state, str):
        language = detect_language([text_message("user", state)])
        before = Compaction(
            covered_until=0, summary=state, language=language, generation=NOT_REBUILT
        )
        return CompactionState(active=before, summaries=1)
    given: object = state  # a caller without a type checker may pass anything
    if given is None or isinstance(given, CompactionState):
        return state or CompactionState()
    code = StateProblem.PLAIN if isinstance(given, Mapping) else StateProblem.TYPE
    raise StateError(problem=code(kind=_kind(given)))


def _dumped(state: CompactionState) -> JsonObject:
    seen, active = state.seen, state.active
    said: JsonObject = {
        "version": VERSION,
        "active": None if active is None else _plain(to_plain(active)),
        "summaries": state.summaries,
        "truncations": state.truncations,
        "failures": state.failures,
        "pinned": _plain(sorted(state.pinned)),
        "excluded": _plain(sorted(state.excluded)),
        "working": to_said(state.working),
        "seen": None,
        "inherited": state.inherited,
        "left_out": state.left_out,
    }
    if seen is not None:
        said["seen"] = {
            "digests": "".join(seen.digests),
            "whole": seen.whole,
            "left_out": list(seen.left_out),
            "own": list(seen.own),
            "rest": [[seq, list(texts)] for seq, texts in seen.rest],
            "sent": "".join(seen.sent),
            "knowledge": "".join(seen.knowledge),
            "system": seen.system,
            "tools": seen.tools,
            "goal": seen.goal,
            "request": seen.request,
            "rules": seen.rules,
        }
    plain = printable_json(said)
    assert isinstance(plain, dict)
    return plain


def _plain(value: Any) -> JsonValue:
    """Tuples as lists, all the way down."""
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case _:
            return value  # type: ignore[no-any-return]  # texts, whole numbers, None


def _loaded(data: object) -> CompactionState:
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise StateError(problem=StateProblem.NOT_JSON(reason=reason_of(error))) from error
    if not isinstance(data, Mapping):
        raise StateError(problem=StateProblem.NO_OBJECT(kind=_kind(data)))
    version = data.get("version")
    if type(version) is not int or version not in _READ:
        raise StateError(
            problem=StateProblem.VERSION(version=raw_fact(version), known=_READ)
            if "version" in data
            else StateProblem.NO_VERSION(known=_READ)
        )
    reader = _Fields(_in_codes(data) if version == _IN_WORDS else data, "")
    state = CompactionState(
        active=reader.optional("active", _active),
        summaries=reader.count("summaries"),
        truncations=reader.count("truncations"),
        failures=reader.count("failures"),
        pinned=frozenset(reader.counts("pinned")),
        excluded=frozenset(reader.counts("excluded")),
        working=_working(reader.take("working", dict)),
        seen=reader.optional("seen", _seen),
        inherited=reader.text("inherited"),
        left_out=reader.count("left_out"),
    )
    reader.end("version")
    _check_whole(state)
    return state


def _in_codes(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state of version 1, which held trigger and reason in words, with the words kept."""
    active = data.get("active")
    if not isinstance(active, dict):
        return data
    told = {name: active.get(name) for name in ("trigger", "reason")}
    coded = {
        name: to_json(Stated.OLD_TEXT(text=words)) if words else None
        for name, words in told.items()
        if isinstance(words, str)
    }
    return {**data, "active": {**active, **coded}}


class _Fields:
    """Reads the fields of one object; each is there, is of its kind, and no other is."""

    def __init__(self, data: Mapping[Any, Any], within: str) -> None:
        self._data = data
        self._within = within
        self._read: set[str] = set()

    def take(self, name: str, kind: type[T]) -> T:
        """The field `name`, which is of this kind."""
        value = self.any(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(name, StateProblem.OF_TYPE(kind=_kind(value)))
        return value

    def any(self, name: str) -> Any:
        """The field `name`, whatever it is."""
        self._read.add(name)
        if name not in self._data:
            raise StateError(problem=StateProblem.FIELD_MISSING(field=f"{self._within}{name}"))
        return self._data[name]

    def wrong(self, name: str, problem: Reason) -> StateError:
        """That a field is not what it may be."""
        field = f"{self._within}{name}"
        return StateError(problem=StateProblem.FIELD(field=field, problem=problem))

    def text(self, name: str) -> str:
        """A text."""
        return self.take(name, str)

    def count(self, name: str, least: int = 0) -> int:
        """A whole number, at least so much."""
        value = self.take(name, int)
        if not least <= value <= _MOST:
            raise self.wrong(name, StateProblem.VALUE(value=_short(value)))
        return value

    def counts(self, name: str, least: int = 0) -> tuple[int, ...]:
        """Whole numbers, each at least so much."""
        values = tuple(self.take(name, list))
        if not all(type(one) is int and least <= one <= _MOST for one in values):
            raise self.wrong(name, StateProblem.NO_COUNTS(least=least))
        return values

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = tuple(self.take(name, list))
        if not all(isinstance(one, str) for one in values):
            raise self.wrong(name, StateProblem.NO_TEXTS())
        return values

    def digests(self, name: str) -> tuple[str, ...]:
        """Digests, written without anything between them."""
        text = self.text(name)
        if len(text) % DIGEST_CHARS:
            raise self.wrong(name, StateProblem.CUT())
        return tuple(text[at : at + DIGEST_CHARS] for at in range(0, len(text), DIGEST_CHARS))

    def texts_by_seq(self, name: str) -> tuple[tuple[int, str], ...]:
        """Pairs of a message and a text."""
        values = tuple(self.take(name, list))
        if not all(_is_told(one) for one in values):
            raise self.wrong(name, StateProblem.NO_PAIRS())
        return tuple((seq, text) for seq, text in values)

    def optional(self, name: str, read: Callable[[_Fields], T]) -> T | None:
        """An object that `read` reads; None where it is null."""
        if name in self._data and self._data[name] is None:
            self._read.add(name)
            return None
        inner = _Fields(self.take(name, dict), f"{self._within}{name}.")
        value = read(inner)
        inner.end()
        return value

    def end(self, *known: str) -> None:
        """Refuses fields that nobody asked for."""
        unknown = sorted(str(name) for name in self._data if name not in {*self._read, *known})
        if unknown:
            raise self.wrong(unknown[0], StateProblem.UNKNOWN_FIELD())


_MOST_DIGITS: Final = 40  # of a number in an error
_TOLD: Final = ("shortened", "passages", "memories")
_PLACES: Final = ("kept", "pins")


def _active(reader: _Fields) -> Compaction:
    values: dict[str, Any] = {}
    plain = Compaction(covered_until=0)
    for name in (known.name for known in fields(Compaction)):
        if name in _TOLD:
            values[name] = reader.texts_by_seq(name)
        elif name in _PLACES:
            values[name] = reader.counts(name, least=1)
        elif name == "strategies":
            values[name] = reader.texts(name)
        elif name == "facts_lost":
            values[name] = _lost(reader)
        elif name in ("trigger", "reason"):
            values[name] = _reason(reader, name)
        elif isinstance(getattr(plain, name), str):
            values[name] = reader.text(name)
        else:
            least = NOT_REBUILT if name == "generation" else 0
            values[name] = reader.count(name, least=least)
    if values["language"] not in ("en", "zh"):
        raise reader.wrong("language", StateProblem.QUOTED(value=values["language"]))
    return Compaction(**values)


def _reason(reader: _Fields, name: str) -> Reason | None:
    """A trigger or a reason."""
    value = reader.any(name)
    try:
        return parse_reason(value)
    except ValueError:
        raise reader.wrong(name, StateProblem.OF_TYPE(kind=_kind(value))) from None


def _lost(reader: _Fields) -> tuple[str, ...] | None:
    try:
        return reader.take("facts_lost", type(None))
    except StateError:
        return reader.texts("facts_lost")


def _seen(reader: _Fields) -> Seen:
    return Seen(
        digests=reader.digests("digests"),
        whole=reader.text("whole"),
        sent=reader.digests("sent"),
        knowledge=reader.digests("knowledge"),
        left_out=reader.counts("left_out", least=1),
        own=reader.counts("own", least=1),
        rest=_rest(reader),
        system=reader.text("system"),
        tools=reader.text("tools"),
        goal=reader.text("goal"),
        request=reader.text("request"),
        rules=reader.text("rules"),
    )


def _rest(reader: _Fields) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found = []
    for pair in reader.take("rest", list):
        match pair:
            case [int() as seq, list() as texts] if all(isinstance(one, str) for one in texts):
                found.append((seq, tuple(texts)))
            case _:
                raise reader.wrong("rest", StateProblem.NO_REST())
    return tuple(found)


def _working(said: JsonObject) -> WorkingState:
    try:
        return from_said(said)
    except (TypeError, UnreadableError, WorkingStateError) as error:
        raise StateError(problem=StateProblem.NO_WORKING(reason=reason_of(error))) from error


def _check_whole(state: CompactionState) -> None:
    """Refuses numbers that do not go together: nothing later looks at them again."""
    active, seen = state.active, state.seen
    if seen is not None:
        count = len(seen.digests) + len(seen.left_out)
        rest = [seq for seq, _ in seen.rest]
        places = (*seen.left_out, *rest)
        if len(set(places)) < len(places) or not all(0 < seq <= count for seq in places):
            raise StateError(problem=StateProblem.LEFT_OUT())
        if not {*seen.own} <= {*seen.left_out}:
            raise StateError(problem=StateProblem.OWN())
        if active is not None and active.last_seq > count:
            raise StateError(problem=StateProblem.COVERS())
    if active is not None:
        kept = (*active.kept, *active.pins)
        if (
            active.summarized_until > active.covered_until
            or max(kept, default=0) > active.covered_until
        ):
            raise StateError(problem=StateProblem.KEEPS())
        if any(seq < 1 for seq, _ in active.shortened):
            raise StateError(problem=StateProblem.SHORTENED())


def _is_told(pair: object) -> bool:
    match pair:
        case [int() as seq, str()]:
            return not isinstance(seq, bool) and 0 <= seq <= _MOST
        case _:
            return False


def _short(value: int) -> int | str:
    """`value`, or its first digits where there are many."""
    text = str(value)
    return value if len(text) <= _MOST_DIGITS else text[:_MOST_DIGITS]


def _kind(value: object) -> str:
    return type(value).__name__
