"""Types of transcript files: formats, records, and one `Transcript` for each conversation.

Places are indexes into `messages`; times are aware and in UTC, None where the file has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, cast

from ctxcore.messages.canonical import parse_canonical
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.plain import Plain
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.prices import BilledTokens

TranscriptFormat: TypeAlias = str
"""The name of a registered format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Plain):
    """A line or message that could not be read and was left out."""

    line: int | None
    reason: Reason

    @property
    def placed(self) -> Reason:
        """The reason, with its line where it has one."""
        if not self.line:
            return self.reason
        return PlaceCode.AT(place=PlaceCode.LINE(line=self.line), problem=self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One JSON value of a file; `line` is None inside a document that spans many lines."""

    line: int | None
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The JSON values of a file; `is_document` tells a single one from JSON lines."""

    is_document: bool
    records: tuple[Record, ...]
    problems: tuple[Problem, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(Plain):
    """One conversation of a file, in an order providers accept wherever the file allows it."""

    id: str
    """The file's own id of the conversation, else its name; unique within one file."""
    title: str
    format: TranscriptFormat
    path: str
    messages: tuple[Message, ...]
    times: tuple[datetime | None, ...]
    """The time of each message."""
    parent_id: str | None = None
    """For a sub-agent: the session that started it."""
    model: str | None = None
    raw_tools: tuple[str, ...] = ()
    """Tool definitions in OpenAI's form, each as canonical JSON."""
    compactions: tuple[RecordedCompaction, ...] = ()
    usage: tuple[RecordedUsage, ...] = ()
    problems: tuple[Problem, ...] = ()
    ignored: tuple[tuple[str, int], ...] = ()
    """Kinds of records that are no messages, with their number."""

    @property
    def tools(self) -> list[JsonObject]:
        """Tool definitions in OpenAI's form."""
        return [cast("JsonObject", parse_canonical(raw)) for raw in self.raw_tools]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of transcript files: how its records are recognized and read."""

    name: str
    label: Reason | str
    """Names the format in the error for a file of no known format."""
    matches: Callable[[Records], bool]
    """Whether records are of this format; should stop at the first that decides."""
    read: Callable[[Records, str], tuple[list[Transcript], list[Problem]]]
    """Reads records of a file, given its name: the conversations, and problems outside of them."""
    suffixes: tuple[str, ...] = (".json", ".jsonl")
    """How names of its files end, in lower case: what is read of a folder, and taken as upload."""
