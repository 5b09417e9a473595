"""A stored session as the reader of its file would return it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxcore.formats.reading import FORMATS
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.canonical import to_canonical
from ctxcore.store.values import CallInfo, ImportedCompaction, MessageInfo, SessionInfo


def transcript_of(
    session: SessionInfo,
    messages: Sequence[MessageInfo],
    calls: Iterable[CallInfo],
    compactions: Iterable[ImportedCompaction] = (),
) -> Transcript:
    """The stored session as a file reader would return it."""
    usage = [recorded_usage(call) for call in calls if call.seq is not None and call.input_tokens]
    return Transcript(
        id=session.id,
        title=session.title,
        format=session.origin if session.origin in FORMATS else "openai",
        path="",
        messages=tuple(info.message for info in messages),
        times=tuple(info.created_at for info in messages),
        model=session.model,
        raw_tools=tuple(map(to_canonical, session.tools)),
        compactions=tuple(_recorded_compaction(compaction) for compaction in compactions),
        usage=tuple(sorted(usage, key=lambda recorded: recorded.after)),
    )


def recorded_usage(call: CallInfo) -> RecordedUsage:
    """The usage of a stored call as the reader of a file returns it."""
    cached, written = call.cached_tokens or 0, call.cache_write_tokens or 0
    return RecordedUsage(
        call_id=call.id,
        after=(call.seq or 1) - 1,
        input_tokens=max((call.input_tokens or 0) - cached - written, 0),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cache_hour_tokens=call.cache_hour_tokens or 0,
        output_tokens=call.output_tokens or 0,
        cleared_parts=call.cleared_parts,
        cleared_tokens=call.cleared_tokens,
        model=call.model,
        recorded_at=call.created_at,
    )


def _recorded_compaction(compaction: ImportedCompaction) -> RecordedCompaction:
    return RecordedCompaction(
        at=compaction.before_seq - 1,
        summary=compaction.summary,
        before_tokens=compaction.before_tokens,
        trigger=compaction.trigger,
        recorded_at=compaction.recorded_at,
    )
