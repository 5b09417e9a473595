"""Reads the token counts that providers report, each in its own form.

OpenAI and Gemini count cached tokens as a part of the input, Anthropic beside it; here the three
input counts always exclude each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ctxcore.formats.fields import count_at, object_at
from ctxcore.formats.values import RecordedUsage
from ctxcore.messages.provider_edits import NOTHING_CLEARED, Cleared


def anthropic_usage(
    reported: Mapping[str, object],
    *,
    call_id: str,
    after: int = 0,
    model: str | None = None,
    recorded_at: datetime | None = None,
    cleared: Cleared = NOTHING_CLEARED,
) -> RecordedUsage:
    """The `usage` of Anthropic's messages, with what context editing left out."""
    return RecordedUsage(
        call_id=call_id,
        after=after,
        input_tokens=count_at(reported, "input_tokens") or 0,
        cache_read_tokens=count_at(reported, "cache_read_input_tokens") or 0,
        cache_write_tokens=count_at(reported, "cache_creation_input_tokens") or 0,
        cache_hour_tokens=(
            count_at(object_at(reported, "cache_creation"), "ephemeral_1h_input_tokens") or 0
        ),
        output_tokens=count_at(reported, "output_tokens") or 0,
        cleared_parts=cleared.cleared_parts,
        cleared_tokens=cleared.cleared_tokens,
        model=model,
        recorded_at=recorded_at,
    )


def openai_usage(
    reported: Mapping[str, object],
    *,
    call_id: str,
    after: int = 0,
    model: str | None = None,
    recorded_at: datetime | None = None,
) -> RecordedUsage:
    """The `usage` of OpenAI's chat completions or Responses, and of APIs made after them."""
    details = {
        **object_at(reported, "prompt_tokens_details"),
        **object_at(reported, "input_tokens_details"),
    }
    read = _first(details, "cached_tokens") or _first(
        reported, "prompt_cache_hit_tokens", "cache_read_input_tokens"
    )
    written = _first(details, "cache_write_tokens", "cache_creation_tokens") or _first(
        reported, "cache_creation_input_tokens"
    )
    total = _first(reported, "prompt_tokens", "input_tokens")
    return RecordedUsage(
        call_id=call_id,
        after=after,
        input_tokens=max(total - read - written, 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=_first(reported, "completion_tokens", "output_tokens"),
        model=model,
        recorded_at=recorded_at,
    )


def gemini_usage(
    reported: Mapping[str, object],
    *,
    call_id: str,
    after: int = 0,
    model: str | None = None,
    recorded_at: datetime | None = None,
) -> RecordedUsage:
    """The `usageMetadata` of Gemini; thoughts are output, what tools read is input."""
    read = _first(reported, "cachedContentTokenCount", "cached_content_token_count")
    total = _first(reported, "promptTokenCount", "prompt_token_count") + _first(
        reported, "toolUsePromptTokenCount", "tool_use_prompt_token_count"
    )
    return RecordedUsage(
        call_id=call_id,
        after=after,
        input_tokens=max(total - read, 0),
        cache_read_tokens=read,
        output_tokens=_first(reported, "candidatesTokenCount", "candidates_token_count")
        + _first(reported, "thoughtsTokenCount", "thoughts_token_count"),
        model=model,
        recorded_at=recorded_at,
    )


def _first(record: Mapping[str, object], *keys: str) -> int:
    """The first count that is not zero under these keys; else 0."""
    return next((count for key in keys if (count := count_at(record, key))), 0)
