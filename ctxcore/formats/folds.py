"""Recorded compactions as the accounts of compactions take them."""

from __future__ import annotations

from ctxcore.formats.report import usage_report
from ctxcore.formats.values import RecordedCompaction, Transcript
from ctxcore.replay.recorded import RecordedFold
from ctxcore.tokens.count import counter_for


def recorded_folds(transcript: Transcript, model: str | None) -> list[RecordedFold]:
    """The compactions of `transcript` with the size of the context right after each.

    The size is the provider's count of the next call, less the system prompt and tool definitions
    that the file does not hold: the excess of its first call over the messages before it.
    """
    if not transcript.compactions:
        return []
    hidden = usage_report(transcript, counter_for(model)).unattributed_tokens or 0

    def context_tokens(made: RecordedCompaction) -> int | None:
        sizes = (one.total_input_tokens for one in transcript.usage if one.after >= made.at)
        size = next((size for size in sizes if size), None)
        return None if size is None else max(0, size - hidden)

    return [
        RecordedFold(
            at=made.at,
            summary=made.summary,
            before_tokens=made.before_tokens,
            context_tokens=context_tokens(made),
            trigger=made.trigger,
        )
        for made in transcript.compactions
    ]
