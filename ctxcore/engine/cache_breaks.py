"""Says what changed between two calls of a session so that the prompt cache was lost.

Only changes at the front of a request are told here, which break it for certain; `ctxcore replay`
compares whole requests.
"""

from __future__ import annotations

from dataclasses import replace

from ctxcore.assembly.context import Context
from ctxcore.engine.services import CallTarget
from ctxcore.engine.transcripts import recorded_usage
from ctxcore.formats.cache_breaks import break_between
from ctxcore.messages.canonical import digest_of_texts, to_ordered
from ctxcore.reasons.codes import BreakCode
from ctxcore.reasons.values import Reason
from ctxcore.store.values import CallInfo, CompactionInfo


def with_front(call: CallInfo, context: Context, target: CallTarget) -> CallInfo:
    """`call` with the hashes of the system prompt and the tool definitions that it sends."""
    items = (item for group in context.made_of for item in group.items)
    system = [item.message.text for item in items if item.segment == "system"]
    tools = context.sent_tools(target.tools)
    return replace(
        call,
        system_digest=digest_of_texts(system),
        tools_digest=digest_of_texts([to_ordered(list(tools))]),
    )


def with_break(call: CallInfo, before: CallInfo | None, active: CompactionInfo | None) -> CallInfo:
    """`call` with what changed since the call `before`; `active` is its compaction."""
    return call if before is None else replace(call, cache_break=_cause(before, call, active))


def break_seen(before: CallInfo, call: CallInfo, *, is_compacted: bool) -> Reason | None:
    """Why the cache was lost between two calls: as recorded, else by what the provider reported.

    It was lost where less than half of the input of the call before came from the cache.
    `is_compacted` says whether a compaction lies between them.
    """
    if call.cache_break is not None or call.cached_tokens is None or not before.input_tokens:
        return call.cache_break
    usages = (recorded_usage(before), recorded_usage(call))
    return break_between(*usages, is_compacted=is_compacted)


def _cause(before: CallInfo, call: CallInfo, active: CompactionInfo | None) -> Reason | None:
    if before.model != call.model:
        return BreakCode.MODEL()
    if _differ(before.tools_digest, call.tools_digest):
        return BreakCode.TOOLS()
    if before.compaction_id != call.compaction_id:
        is_new = active is not None and active.created_at > before.created_at
        return BreakCode.COMPACTION() if is_new else BreakCode.UNDO()
    is_new = _differ(before.system_digest, call.system_digest)
    return BreakCode.SYSTEM() if is_new else None


def _differ(before: str | None, now: str | None) -> bool:
    """Whether both are known and are not the same."""
    return None not in (before, now) and before != now
