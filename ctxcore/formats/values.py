"""Types of transcript files: formats, records, and one `Transcript` for each conversation.

Places are indexes into `messages`; times are aware and in UTC, None where the file has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias, cast

from ctxcore.formats.records import Problem, Records
from ctxcore.messages.canonical import parse_canonical
from ctxcore.messages.values import JsonObject, Message
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason
from ctxcore.tokens.prices import BilledTokens

TranscriptFormat: TypeAlias = str
"""The name of a registered format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Problem):
    """What was put right in a line or message, which was kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSum(Plain):
    """Repairs of one kind."""

    reason: Reason
    """The first one's."""
    count: int
    line: int | None
    """The first that is known."""


def sum_repairs(repairs: Iterable[Repair]) -> list[RepairSum]:
    """The repairs by their kind, in the order of the first of each."""
    grouped: dict[str, list[Repair]] = defaultdict(list)
    for repair in repairs:
        grouped[repair.reason.code].append(repair)
    return [
        RepairSum(
            reason=group[0].reason,
            count=len(group),
            line=min((one.line for one in group if one.line is not None), default=None),
        )
        for group in grouped.values()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCompaction(Plain):
    """A compaction that the recording program did, just before the message at `at`."""

    at: int
    summary: str
    before_tokens: int | None = None
    trigger: str | None = None
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedUsage(Plain):
    """The usage that a provider reported for one call; its answer is the message at `after`.

    The three input counts exclude each other: `input_tokens` came neither from nor into a cache.
    """

    call_id: str
    after: int
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_hour_tokens: int = 0
    """The part of `cache_write_tokens` that the provider keeps for an hour."""
    output_tokens: int = 0
    cleared_parts: int | None = None
    """Uses of tools and turns with thinking that the provider left out by itself."""
    cleared_tokens: int | None = None
    """Their tokens, which no other count has."""
    model: str | None = None
    recorded_at: datetime | None = None

    @property
    def total_input_tokens(self) -> int:
        """All input tokens of the call, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def billed(self) -> BilledTokens:
        """The same with a whole input, of which what was cached is a part."""
        return BilledTokens(
            input_tokens=self.total_input_tokens,
            cached_tokens=self.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens,
            cache_hour_tokens=self.cache_hour_tokens,
            output_tokens=self.output_tokens,
        )


USAGE_SIZE: Final = 400  # bytes in memory, measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(Plain):
    """One conversation of a file, in an order providers accept wherever the file allows it."""

    id: str
    """The file's own id of the conversation, else its name; unique within one file."""
    title: str
    format: TranscriptFormat
    path: str
    messages: Sequence[Message]
    """Of very long sessions they are read from the file when they are asked for."""
    times: tuple[datetime | None, ...]
    """The time of each message."""
    parent_id: str | None = None
    """For a sub-agent: the session that started it."""
    model: str | None = None
    raw_tools: tuple[str, ...] = ()
    """Tool definitions in OpenAI's form, each as canonical JSON."""
    compactions: tuple[RecordedCompaction, ...] = ()
    usage: Sequence[RecordedUsage] = ()
    problems: tuple[Problem, ...] = ()
    repairs: tuple[Repair, ...] = ()
    ignored: tuple[tuple[str, int], ...] = ()
    """Kinds of records that are no messages, with their number."""

    @property
    def tools(self) -> list[JsonObject]:
        """Tool definitions in OpenAI's form."""
        return [cast("JsonObject", parse_canonical(raw)) for raw in self.raw_tools]


def _is_whole(path: Path) -> bool:
    """No file completes another one, in most formats."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of transcript files: how its records are recognized and read."""

    name: str
    label: Reason | str
    """Names the format, as in "this looks like a Codex rollout"."""
    matches: Callable[[Records], bool]
    """Whether a file is of this format, of a version that cannot be read too; told from the first
    records alone."""
    read: Callable[[Records], Iterator[Transcript | Problem]]
    """The conversations of a file, and problems outside of them, one after the other."""
    suffixes: tuple[str, ...] = (".json", ".jsonl")
    """How names of its files end, in lower case: what is read of a folder, and taken as upload."""
    is_part: Callable[[Path], bool] = _is_whole
    """Whether a file of a folder is left out: it only completes others, which are read in its
    place, or has a name that files of this format share with many others and is none."""
