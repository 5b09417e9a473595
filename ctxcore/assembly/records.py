"""The records that stand beside a history: compactions, and the working state of an application.

A compaction is a record, never an edit. It covers messages 1 … `covered_until`, a legal cut that
never decreases along a chain; the numbers are places in the history, starting at 1. Truncation is
a record with an empty summary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import Any, cast

from ctxcore.errors import UnreadableError, WorkingStateError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.storage_problems import SettingProblem
from ctxcore.reasons.values import Reason, from_json, to_json
from ctxcore.text.languages import Language

NOT_REBUILT = -1_000_000
"""The generation of a summary whose messages were not passed: it can only be carried on."""
_REASONS = ("trigger", "reason")

ShortArguments = tuple[str | None, ...]
"""What stands for the arguments of each call of a message; None: they are as they were."""
Recalls = tuple[tuple[int, tuple[int, ...]], ...]
"""For each request that recall was decided for, the messages that it found; sequence numbers."""
Runs = tuple[tuple[int, int], ...]
"""Sequence numbers, ascending, as runs of neighbours: the first and the last of each."""
Lineage = tuple[tuple[int, int, Runs], ...]
"""The sentences of a summary in their order: where each starts and ends, and the messages that it
comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySentence(Plain):
    """A sentence of a summary, and the messages that it comes from."""

    text: str
    start: int
    """Where it starts in the summary, in characters."""
    seqs: tuple[int, ...] = ()
    """The messages by sequence number, from 1; empty where none was found."""

    @property
    def messages(self) -> tuple[int, ...]:
        """The messages by their indexes in the conversation, from 0."""
        return tuple(seq - 1 for seq in self.seqs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(Plain):
    """What stands for the messages it covers, and why it was made."""

    covered_until: int
    summary: str = ""
    summary_tokens: int = 0
    """The size of the summary's text, without its frame in the context."""
    summarized_until: int = 0
    """Covered messages behind it were truncated: the summary does not stand for them."""
    kept: tuple[int, ...] = ()
    """Covered messages that stay verbatim, whole blocks."""
    pins: tuple[int, ...] = ()
    """Pinned messages that moved to the front with this compaction."""
    shortened: tuple[tuple[int, str], ...] = ()
    """Tool outputs behind the cut with the text that stands for them."""
    arguments: tuple[tuple[int, ShortArguments], ...] = ()
    """Messages with calls, kept or behind the cut, with what stands for the arguments of each."""
    covered_messages: int = 0
    """How many messages a reader would count as summarized, system messages left out."""
    facts: str = ""
    """Facts of what it covers, beside the summary."""
    facts_lost: tuple[str, ...] | None = None
    """Facts that held and that its context no longer stated; None: not checked."""
    facts_restored: tuple[str, ...] = ()
    """Facts that a model's summary had left out and that are carried because it had room."""
    lineage: Lineage = ()
    """The messages that each sentence of the summary comes from; empty where that is not known."""
    source_tokens: int = 0
    """The size of everything that the summary stands for."""
    source_chars: int = 0
    seen_until: int = 0
    """The newest message there was when it was made."""
    turns_from: int = 0
    """The newest message there was at the last full summary: turns are counted behind it."""
    passages: tuple[tuple[int, str], ...] = ()
    """Passages that users pinned within their messages, each with its message."""
    memories: tuple[tuple[int, str], ...] = ()
    """The latest memories, each with the message that requested it."""
    read_until: int = 0
    """The last message that was searched for passages and memories."""
    summarizer: str = ""
    """What wrote the summary, e.g. `extractive`."""
    generation: int = 0
    """How often this summary was made from a summary; 0 where it quotes the originals."""
    language: Language = "en"
    trigger: Reason | None = None
    """The rule that demanded it; None where there was none."""
    reason: Reason | None = None
    """Why it was made as it was: a choice, a failure, or the trigger again."""
    strategies: tuple[str, ...] = ()
    before_tokens: int = 0
    after_tokens: int = 0

    @property
    def sentences(self) -> tuple[SummarySentence, ...]:
        """The sentences of the summary with their messages, as far as the lineage knows them."""
        return tuple(
            SummarySentence(
                text=self.summary[start:end],
                start=start,
                seqs=tuple(seqs_in(runs)),
            )
            for start, end, runs in self.lineage
        )

    @property
    def is_truncation(self) -> bool:
        """Whether it covers messages without standing for them."""
        return self.covered_until > self.summarized_until

    @property
    def compression_rate(self) -> float:
        """How much shorter the summary is than what it stands for: 1 - summary / source."""
        return 1 - self.summary_tokens / self.source_tokens if self.source_tokens else 0.0

    @property
    def saved_ratio(self) -> float:
        """How much smaller the input became: 1 - after / before."""
        return 1 - self.after_tokens / self.before_tokens if self.before_tokens else 0.0

    @property
    def last_seq(self) -> int:
        """The newest message that it knows."""
        texts = (*self.shortened, *self.arguments)
        return max((self.covered_until, *(seq for seq, _ in texts)))

    def folded_since(
        self, parent: Compaction | None, system: Collection[int] = ()
    ) -> tuple[int, ...]:
        """The messages that it folds and `parent` did not, those that `parent` had kept first;
        `system` messages never fold.
        """
        start = parent.covered_until if parent else 0
        before = {*parent.kept, *parent.pins} if parent else set[int]()
        stays = {*self.kept, *self.pins, *system}
        covered = (seq for seq in range(start + 1, self.covered_until + 1) if seq not in stays)
        return (*sorted(before - stays), *covered)


def to_runs(seqs: Iterable[int]) -> Runs:
    """Sequence numbers as runs of neighbours."""
    runs: list[tuple[int, int]] = []
    for seq in sorted(set(seqs)):
        if runs and runs[-1][1] == seq - 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return tuple(runs)


def seqs_in(runs: Runs) -> Iterator[int]:
    """The sequence numbers in runs, ascending."""
    return chain.from_iterable(range(first, last + 1) for first, last in runs)


def to_plain(record: Compaction) -> JsonObject:
    """`record` as JSON."""
    plain = cast("JsonObject", asdict(record))
    for name in _REASONS:
        reason = getattr(record, name)
        plain[name] = None if reason is None else to_json(reason)
    return plain


def from_plain(raw: Mapping[str, JsonValue]) -> Compaction:
    """The record that `to_plain` wrote; lists become tuples, all the way down.

    Raises:
        TypeError: a field is not known.
        ValueError: a reason is none.
    """
    values = {name: _frozen(value) for name, value in raw.items()}
    for name in _REASONS:
        values[name] = parse_reason(raw.get(name))
    return Compaction(**values)


def parse_reason(raw: JsonValue) -> Reason | None:
    """The trigger or reason of a stored record.

    Raises:
        ValueError: it is neither a reason nor null.
    """
    return None if raw is None else from_json(raw)


def _frozen(value: JsonValue) -> Any:
    return tuple(_frozen(inner) for inner in value) if isinstance(value, list) else value


def stands_until(record: Compaction) -> int:
    """The last message that the summary of `record` stands for; 0 where there is none."""
    return record.summarized_until if record.summary else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingState(Plain):
    """What an application states of its work; None: it is read from the history.

    Raises:
        WorkingStateError: a field is neither None nor of its type.
    """

    memories: tuple[str, ...] | None = None
    """Oldest first; only the latest stay."""
    tasks: str | None = None
    """The task list with its progress, word for word."""
    changes: str | None = None
    """Change statistics, as of a diff, word for word."""

    def __post_init__(self) -> None:
        memories: object = self.memories  # a caller without a type checker may pass anything
        if memories is not None:
            if not isinstance(memories, tuple | list):
                raise _wrong("memories", memories, AllowedCode.TEXTS_OR_NONE())
            for memory in memories:
                if not isinstance(memory, str):
                    raise _wrong("memories", memory, AllowedCode.TEXTS(), SettingProblem.HOLDS_TYPE)
            object.__setattr__(self, "memories", tuple(memories))
        for name in ("tasks", "changes"):
            if not isinstance(getattr(self, name), str | None):
                raise _wrong(name, getattr(self, name), AllowedCode.TEXT_OR_NONE())


def _wrong(
    field: str, value: object, allowed: Reason, code: SettingProblem = SettingProblem.TYPE
) -> WorkingStateError:
    problem = code(kind=type(value).__name__)
    return WorkingStateError(field=field, problem=problem, allowed=allowed)


EMPTY_WORKING_STATE = WorkingState()


def working_state_to_json(working: WorkingState) -> JsonObject:
    """`working` as JSON; fields that are read from the history are left out."""
    values = {known.name: getattr(working, known.name) for known in fields(working)}
    if working.memories is not None:
        values["memories"] = list(working.memories)
    return {name: value for name, value in values.items() if value is not None}


def working_state_from_json(raw: JsonValue) -> WorkingState:
    """The working state that `to_said` wrote.

    Raises:
        UnreadableError: it is no object.
        TypeError: it is one of a later version.
        WorkingStateError: a field is not what it may be.
    """
    if not isinstance(raw, dict):
        raise UnreadableError(SettingProblem.NO_STATE())
    return WorkingState(**cast("dict[str, Any]", raw))
