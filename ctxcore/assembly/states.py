"""The state of a conversation that pure functions cannot know, and its form as JSON.

It belongs to the caller, who keeps it between two calls: what was compacted, of which messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from ctxcore.assembly.records import (
    EMPTY_WORKING_STATE,
    NOT_REBUILT,
    Compaction,
    Lineage,
    Recalls,
    ShortArguments,
    WorkingState,
    parse_reason,
    to_plain,
    working_state_from_json,
    working_state_to_json,
)
from ctxcore.errors import StateError, UnreadableError, WorkingStateError
from ctxcore.facts.rule_edits import RULE_EDIT_KINDS, RuleEdit
from ctxcore.messages.canonical import DIGEST_CHARS, printable_json
from ctxcore.messages.values import JsonObject, text_message
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.problems import StateProblem
from ctxcore.reasons.values import Reason, TextCode, repr_fact, to_json
from ctxcore.text.languages import detect_language

T = TypeVar("T")
VERSION: Final = 6
"""Of the form that `to_json` writes; one more for every change that older readers would misread."""
_WITH_TEXTS: Final = 1  # its trigger and reason are texts, not codes
_WITHOUT_ARGUMENTS: Final = 2  # it shortens none
_WITHOUT_RECALLS: Final = 3
_WITHOUT_LINEAGE: Final = 4
_WITHOUT_RULE_EDITS: Final = 5
_READ: Final = (
    *(_WITH_TEXTS, _WITHOUT_ARGUMENTS, _WITHOUT_RECALLS, _WITHOUT_LINEAGE),
    *(_WITHOUT_RULE_EDITS, VERSION),
)
_MOST: Final = 2**53 - 1  # the largest whole number that every reader of JSON keeps (RFC 8259)
_MOST_DIGITS: Final = 40  # of a number in an error; chosen: any real number is shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Digests of the messages a state was made from, so that others are noticed."""

    digests: tuple[str, ...] = ()
    """One for each message, oldest first, those of `left_out` skipped."""
    whole: str = ""
    """One of all messages as they were passed, system messages of the caller skipped."""
    left_out: tuple[int, ...] = ()
    """System messages and texts of this library, by sequence number: they may change."""
    own: tuple[int, ...] = ()
    """Those of `left_out` that hold only texts of this library."""
    rest: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Messages that hold such texts beside their own, which are given: one for each text part."""
    sent: tuple[str, ...] = ()
    """Digests of the messages of the context that was built from them, system messages skipped."""
    knowledge: tuple[str, ...] = ()
    """Digests of the retrieved and recalled texts in that context: they are not the user's."""
    system: str = ""
    tools: str = ""
    goal: str = ""
    """Digests of the system messages, the tool definitions and the original request."""
    request: str = ""
    """The original request as every context shows it; empty where it is too long for that."""
    rules: str = ""
    """The standing instructions, as a context states them beside a summary."""

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
    working: WorkingState = EMPTY_WORKING_STATE
    """What the application states of its work, where the policy keeps that beside a summary."""
    seen: Seen | None = field(default=None, repr=False, compare=False)
    """The messages it was passed with last; None in a state made by hand, which fits any. Not
    compared: a state stays equal when messages are added."""
    inherited: str = ""
    """Facts of covered messages that are not passed any more."""
    left_out: int = 0
    """How many messages that are not passed any more were left out without a summary."""
    recalls: Recalls = ()
    """What contexts recalled for requests, which stays behind them."""
    rule_edits: tuple[RuleEdit, ...] = ()
    """Which of the rules that are found are none, and which were missed; messages from 1."""

    @property
    def is_bound(self) -> bool:
        """Whether any of it depends on single messages."""
        marked = self.pinned or self.excluded or self.recalls or self.rule_edits
        return bool(self.active or marked or self.left_out)

    def to_json(self) -> JsonObject:
        """The state as plain data: objects, lists, texts, whole numbers and null alone.

        `from_json` gives an equal state back. Lone surrogates in texts become U+FFFD.
        """
        values = {known.name: _plain(getattr(self, known.name)) for known in fields(self)}
        plain = printable_json({"version": VERSION, **values})
        assert isinstance(plain, dict)
        return plain

    def to_dict(self) -> JsonObject:
        """The same as `to_json`, as all values have it."""
        return self.to_json()

    @classmethod
    def from_json(cls, data: object) -> CompactionState:
        """The state that `to_json` wrote; the JSON text of it is read as well.

        Raises:
            StateError: it is no state, or one of a version that this release does not read.
        """
        return _loaded(data)


def to_state(state: CompactionState | str | None) -> CompactionState:
    """`state` in its full form; a plain text is the summary of what came before the messages.

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


def _plain(value: Any) -> Any:
    """`value` as JSON: tuples as lists, all the way down."""
    match value:
        case Compaction():
            return _plain(to_plain(value))
        case WorkingState():
            return working_state_to_json(value)
        case Seen():
            return {
                known.name: "".join(found) if known.name in _DIGESTS else _plain(found)
                for known in fields(value)
                for found in [getattr(value, known.name)]
            }
        case RuleEdit():
            return [value.kind, value.seq, value.text]
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case frozenset():
            return sorted(value)
        case _:
            return value


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
            problem=StateProblem.VERSION(version=repr_fact(version), known=_READ)
            if "version" in data
            else StateProblem.NO_VERSION(known=_READ)
        )
    data = _with_codes(data) if version == _WITH_TEXTS else data
    data = _with_arguments(data) if version < _WITHOUT_RECALLS else data
    data = {**data, "recalls": []} if version < _WITHOUT_LINEAGE else data
    data = _with_lineage(data) if version < _WITHOUT_RULE_EDITS else data
    data = {**data, "rule_edits": []} if version < VERSION else data
    reader = _Reader(data, "")
    state = reader.value(CompactionState)
    reader.end("version")
    _check_consistent(state)
    return state


def _with_codes(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state of version 1, its trigger and reason kept as texts within codes."""
    active = data.get("active")
    if not isinstance(active, dict):
        return data
    coded = {
        name: to_json(TextCode.OLD_TEXT(text=text)) if text else None
        for name in ("trigger", "reason")
        if isinstance(text := active.get(name), str)
    }
    return {**data, "active": {**active, **coded}}


def _with_arguments(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state of version 1 or 2."""
    active = data.get("active")
    if not isinstance(active, dict):
        return data
    return {**data, "active": {**active, "arguments": []}}


def _with_lineage(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state of version 1 to 4."""
    active = data.get("active")
    if not isinstance(active, dict):
        return data
    return {**data, "active": {**active, "lineage": [], "facts_restored": []}}


class _Reader:
    """Reads the fields of one object; each is there, is of its kind, and no other is."""

    def __init__(self, data: Mapping[Any, Any], within: str) -> None:
        self._data = data
        self._within = within
        self._read: set[str] = set()

    def value(self, kind: type[T]) -> T:
        """The value of a dataclass, each field read by its name or its type."""
        values = {}
        for known in fields(kind):  # type: ignore[arg-type]  # `kind` is a dataclass
            read = _BY_NAME.get(known.name) or _BY_TYPE[str(known.type)]
            values[known.name] = read(self, known.name)
        return kind(**values)

    def any(self, name: str) -> Any:
        """The field `name`, whatever it is."""
        self._read.add(name)
        if name not in self._data:
            raise StateError(problem=StateProblem.FIELD_MISSING(field=f"{self._within}{name}"))
        return self._data[name]

    def take(self, name: str, kind: type[T]) -> T:
        """The field `name`, which is of this kind."""
        value = self.any(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(name, StateProblem.OF_TYPE(kind=_kind(value)))
        return value

    def wrong(self, name: str, problem: Reason) -> StateError:
        """The error that a field is not what it may be."""
        field = f"{self._within}{name}"
        return StateError(problem=StateProblem.FIELD(field=field, problem=problem))

    def end(self, *known: str) -> None:
        """Refuses fields that were not read."""
        unknown = sorted(str(name) for name in self._data if name not in {*self._read, *known})
        if unknown:
            raise self.wrong(unknown[0], StateProblem.UNKNOWN_FIELD())

    def text(self, name: str) -> str:
        return self.take(name, str)

    def language(self, name: str) -> str:
        language = self.text(name)
        if language not in ("en", "zh"):
            raise self.wrong(name, StateProblem.QUOTED(value=language))
        return language

    def count(self, name: str, least: int = 0) -> int:
        value = self.take(name, int)
        if not least <= value <= _MOST:
            text = str(value)
            short = value if len(text) <= _MOST_DIGITS else text[:_MOST_DIGITS]
            raise self.wrong(name, StateProblem.VALUE(value=short))
        return value

    def generation(self, name: str) -> int:
        return self.count(name, NOT_REBUILT)

    def digests(self, name: str) -> tuple[str, ...]:
        """Digests, written without anything between them."""
        text = self.text(name)
        if len(text) % DIGEST_CHARS:
            raise self.wrong(name, StateProblem.CUT())
        return tuple(text[at : at + DIGEST_CHARS] for at in range(0, len(text), DIGEST_CHARS))

    def places(self, name: str) -> frozenset[int]:
        return frozenset(self._list(name, _is_count, StateProblem.NO_COUNTS(least=0)))

    def seqs(self, name: str) -> tuple[int, ...]:
        return self._list(name, _is_seq, StateProblem.NO_COUNTS(least=1))

    def texts(self, name: str) -> tuple[str, ...]:
        return self._list(name, _is_text, StateProblem.NO_TEXTS())

    def texts_or_none(self, name: str) -> tuple[str, ...] | None:
        return None if self.any(name) is None else self.texts(name)

    def text_by_seq(self, name: str) -> tuple[tuple[int, str], ...]:
        pairs = self._list(name, _is_seq_with_text, StateProblem.NO_PAIRS())
        return tuple((seq, text) for seq, text in pairs)

    def texts_by_seq(self, name: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
        pairs = self._list(name, _is_seq_with_texts, StateProblem.NO_REST())
        return tuple((seq, tuple(texts)) for seq, texts in pairs)

    def arguments_by_seq(self, name: str) -> tuple[tuple[int, ShortArguments], ...]:
        pairs = self._list(name, _is_seq_with_arguments, StateProblem.NO_REST())
        return tuple((seq, tuple(texts)) for seq, texts in pairs)

    def lineage(self, name: str) -> Lineage:
        sentences = self._list(name, _is_sentence, StateProblem.NO_LINEAGE())
        return tuple(
            (start, end, tuple((first, last) for first, last in runs))
            for start, end, runs in sentences
        )

    def recalls(self, name: str) -> Recalls:
        pairs = self._list(name, _is_seq_with_seqs, StateProblem.NO_RECALLS())
        return tuple((request, tuple(seqs)) for request, seqs in pairs)

    def rule_edits(self, name: str) -> tuple[RuleEdit, ...]:
        edits = self._list(name, _is_rule_edit, StateProblem.NO_RULE_EDITS())
        return tuple(RuleEdit(kind=kind, seq=seq, text=text) for kind, seq, text in edits)

    def reason(self, name: str) -> Reason | None:
        value = self.any(name)
        try:
            return parse_reason(value)
        except ValueError:
            raise self.wrong(name, StateProblem.OF_TYPE(kind=_kind(value))) from None

    def working(self, name: str) -> WorkingState:
        try:
            return working_state_from_json(self.take(name, dict))
        except (TypeError, UnreadableError, WorkingStateError) as error:
            raise StateError(problem=StateProblem.NO_WORKING(reason=reason_of(error))) from error

    def compaction(self, name: str) -> Compaction | None:
        return self._optional(name, Compaction)

    def seen(self, name: str) -> Seen | None:
        return self._optional(name, Seen)

    def _optional(self, name: str, kind: type[T]) -> T | None:
        if name in self._data and self._data[name] is None:
            self._read.add(name)
            return None
        inner = _Reader(self.take(name, dict), f"{self._within}{name}.")
        value = inner.value(kind)
        inner.end()
        return value

    def _list(self, name: str, is_valid: Callable[[Any], bool], problem: Reason) -> tuple[Any, ...]:
        values = tuple(self.take(name, list))
        if not all(map(is_valid, values)):
            raise self.wrong(name, problem)
        return values


_DIGESTS: Final = ("digests", "sent", "knowledge")
_BY_NAME: Final[Mapping[str, Callable[[_Reader, str], Any]]] = {
    "generation": _Reader.generation,
    **dict.fromkeys(_DIGESTS, _Reader.digests),
}
_BY_TYPE: Final[Mapping[str, Callable[[_Reader, str], Any]]] = {
    "str": _Reader.text,
    "Language": _Reader.language,
    "int": _Reader.count,
    "frozenset[int]": _Reader.places,
    "tuple[int, ...]": _Reader.seqs,
    "tuple[str, ...]": _Reader.texts,
    "tuple[str, ...] | None": _Reader.texts_or_none,
    "tuple[tuple[int, str], ...]": _Reader.text_by_seq,
    "tuple[tuple[int, tuple[str, ...]], ...]": _Reader.texts_by_seq,
    "tuple[tuple[int, ShortArguments], ...]": _Reader.arguments_by_seq,
    "Lineage": _Reader.lineage,
    "Recalls": _Reader.recalls,
    "tuple[RuleEdit, ...]": _Reader.rule_edits,
    "Reason | None": _Reader.reason,
    "WorkingState": _Reader.working,
    "Compaction | None": _Reader.compaction,
    "Seen | None": _Reader.seen,
}


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _is_seq(value: object) -> bool:
    return value != 0 and _is_count(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_seq_with_text(pair: Any) -> bool:
    return isinstance(pair, list) and list(map(type, pair)) == [int, str] and _is_count(pair[0])


def _is_seq_with_list(pair: Any) -> bool:
    return isinstance(pair, list) and list(map(type, pair)) == [int, list]


def _is_seq_with_texts(pair: Any) -> bool:
    return _is_seq_with_list(pair) and all(map(_is_text, pair[1]))


def _is_seq_with_seqs(pair: Any) -> bool:
    return _is_seq_with_list(pair) and all(map(_is_seq, (pair[0], *pair[1])))


def _is_rule_edit(value: Any) -> bool:
    if not (isinstance(value, list) and list(map(type, value)) == [str, int, str]):
        return False
    return value[0] in RULE_EDIT_KINDS and _is_count(value[1]) and bool(value[2].strip())


def _is_sentence(value: Any) -> bool:
    if not (isinstance(value, list) and list(map(type, value)) == [int, int, list]):
        return False
    start, end, runs = value
    return 0 <= start < end <= _MOST and all(map(_is_run, runs))


def _is_run(run: Any) -> bool:
    return isinstance(run, list) and len(run) == 2 and all(map(_is_seq, run)) and run[0] <= run[1]


def _is_seq_with_arguments(pair: Any) -> bool:
    return _is_seq_with_list(pair) and all(text is None or _is_text(text) for text in pair[1])


def _check_consistent(state: CompactionState) -> None:
    """Refuses numbers that contradict each other: nothing checks them later."""
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
        if any(seq < 1 for seq, _ in (*active.shortened, *active.arguments)):
            raise StateError(problem=StateProblem.SHORTENED())


def _kind(value: object) -> str:
    return type(value).__name__
