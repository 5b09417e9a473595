"""Owns the account of a stored session: the transcript it makes, and where its tokens went.

What the provider reported is read from the session's calls; each message is counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxcore.formats.reading import FORMATS
from ctxcore.formats.report import TokenReport
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.store.values import CallInfo, ImportedCompaction, MessageInfo, SessionInfo

TITLE_CHARS = 80
OTHER_TOOLS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One part of the account."""

    kind: str
    name: str
    """The tool it belongs to; empty for what was said."""
    tokens: int


def transcript_of(
    session: SessionInfo,
    messages: Sequence[MessageInfo],
    calls: Iterable[CallInfo],
    compactions: Iterable[ImportedCompaction] = (),
) -> Transcript:
    """The stored session as a file reader would have given it."""
    usage = [_usage(call) for call in calls if call.seq is not None and call.input_tokens]
    return Transcript(
        id=session.id,
        title=session.title,
        format=session.origin if session.origin in FORMATS else "openai",
        path="",
        messages=tuple(info.message for info in messages),
        times=tuple(info.created_at for info in messages),
        model=session.model,
        compactions=tuple(_recorded(one) for one in compactions),
        usage=tuple(sorted(usage, key=lambda one: one.after)),
    )


def turn_starts(messages: Iterable[MessageInfo]) -> list[tuple[int, str]]:
    """The user messages, each with the begin of its text."""
    return [
        (info.seq, excerpt(info.message.text)) for info in messages if info.message.role == "user"
    ]


def excerpt(text: str, chars: int = TITLE_CHARS) -> str:
    """The begin of a text on one line."""
    line = " ".join(text[: chars * 4].split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def shares(report: TokenReport) -> list[Share]:
    """Where the tokens went, largest first; they add up to the report's total."""
    said = [
        Share(kind="system", name="", tokens=report.system_tokens),
        Share(kind="user", name="", tokens=report.user_tokens),
        Share(kind="assistant", name="", tokens=report.assistant_tokens),
        Share(kind="thinking", name="", tokens=report.thinking_tokens),
        Share(kind="summary", name="", tokens=report.summary_tokens),
        Share(kind="orphan", name="", tokens=report.orphan_tokens),
    ]
    calls = [Share(kind="call", name=tool.name, tokens=tool.call_tokens) for tool in report.tools]
    results = [
        Share(kind="result", name=tool.name, tokens=tool.result_tokens) for tool in report.tools
    ]
    found = [share for share in (*said, *calls, *results) if share.tokens]
    return sorted(found, key=lambda share: (-share.tokens, share.kind, share.name))


def largest(parts: Sequence[Share], limit: int) -> list[Share]:
    """The largest parts; what is left of tools becomes one part of each kind."""
    if len(parts) <= limit:
        return list(parts)
    kept, rest = list(parts[:limit]), parts[limit:]
    for kind in dict.fromkeys(share.kind for share in rest):
        group = [share for share in rest if share.kind == kind]
        tokens = sum(share.tokens for share in group)
        kept.append(
            group[0] if len(group) == 1 else Share(kind=kind, name=OTHER_TOOLS, tokens=tokens)
        )
    return kept


def _usage(call: CallInfo) -> RecordedUsage:
    cached, written = call.cached_tokens or 0, call.cache_write_tokens or 0
    return RecordedUsage(
        call_id=call.id,
        after=(call.seq or 1) - 1,
        input_tokens=max((call.input_tokens or 0) - cached - written, 0),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=call.output_tokens or 0,
        model=call.model,
        recorded_at=call.created_at,
    )


def _recorded(one: ImportedCompaction) -> RecordedCompaction:
    return RecordedCompaction(
        at=one.before_seq - 1,
        summary=one.summary,
        before_tokens=one.before_tokens,
        trigger=one.trigger,
        recorded_at=one.recorded_at,
    )
