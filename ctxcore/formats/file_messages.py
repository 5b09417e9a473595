"""The messages of a long session file, read from the file whenever they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.formats.records import Records, Span
from ctxcore.formats.spool import LazySequence
from ctxcore.json_types import JsonValue
from ctxcore.messages.values import Message

# Chosen: below, holding the messages costs little, and reading them again much.
_LEAST_BYTES: Final = 8_000_000
_BATCH_BYTES: Final = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A value that cannot be read again by its place, as in a document."""

    value: JsonValue


Source = Span | Held


@dataclass(frozen=True, slots=True)
class MessagePlan:
    """How a message is made from the records it stands in."""

    make: Callable[[Sequence[JsonValue]], Message]
    """Takes the values of the records at `sources`."""
    sources: tuple[Source, ...]

    @property
    def size(self) -> int:
        """The bytes to be read for it."""
        return sum(source.length for source in self.sources if isinstance(source, Span))


def planned_messages(plans: Sequence[MessagePlan], records: Records) -> Sequence[Message]:
    """The messages of `plans`: those of a short file as a tuple, else read when asked for."""
    messages = FileMessages(plans, records)
    is_short = sum(plan.size for plan in plans) < _LEAST_BYTES
    return tuple(messages) if is_short else messages


class FileMessages(LazySequence[Message]):
    """Messages that are made when they are asked for; iterating holds a few at a time."""

    def __init__(self, plans: Sequence[MessagePlan], records: Records) -> None:
        self._plans = plans
        self._records = records

    def __len__(self) -> int:
        return len(self._plans)

    def _value(self, place: int) -> Message:
        [message] = self._made([self._plans[place]])
        return message

    def _values(self, places: Sequence[int]) -> Iterator[Message]:
        for batch in _batches(map(self._plans.__getitem__, places)):
            yield from self._made(batch)

    def _made(self, plans: Sequence[MessagePlan]) -> list[Message]:
        sources = dict.fromkeys(source for plan in plans for source in plan.sources)
        values: dict[Source, JsonValue] = {
            source: source.value for source in sources if isinstance(source, Held)
        }
        spans = [source for source in sources if isinstance(source, Span)]
        values.update(zip(spans, self._records.read(spans), strict=True))
        return [plan.make([values[source] for source in plan.sources]) for plan in plans]


def _batches(plans: Iterable[MessagePlan]) -> Iterator[list[MessagePlan]]:
    batch: list[MessagePlan] = []
    size = 0
    for plan in plans:
        batch.append(plan)
        size += plan.size
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
