"""Owns the words this library puts into a context itself, in English and Chinese.

They count as tokens like any others, and say in one line what they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import SummaryPlace
from ctxcore.summarizers.protocol import Language

NO_RESULT = "[no result recorded]"
EMPTY = "[empty message]"
START = "[conversation starts here]"
PINNED = "[pinned from earlier in this conversation]"

_ACKNOWLEDGE: Mapping[Language, str] = {
    "en": "Understood. I have the context from our earlier conversation.",
    "zh": "明白了，我已了解之前的对话内容。",
}


ACKNOWLEDGED: frozenset[SummaryPlace] = frozenset({"tagged", "pair"})
"""The places where the assistant answers a summary, so that roles alternate."""
HOISTED: frozenset[SummaryPlace] = frozenset({"second_system", "headed_system", "addition"})
"""The places right behind the system prompt."""

_POINTS_TITLE: Mapping[Language, str] = {"en": "[Conversation summary]", "zh": "【对话历史总结】"}
_ADDED_TITLE: Mapping[Language, str] = {
    "en": "[Earlier in this conversation, summarized]",
    "zh": "[此前对话的摘要]",
}
_STORY_TITLE: Mapping[Language, str] = {"en": "[Summary of what came before]", "zh": "[对话摘要]"}


def acknowledgement(language: Language) -> Message:
    """What the assistant says after a summary, so that roles alternate."""
    return text_message("assistant", _ACKNOWLEDGE[language])


def summary_message(record: Compaction, place: SummaryPlace) -> Message:
    """The message that carries a record's summary."""
    match place:
        case "pair":
            return text_message("user", f"{_pair_header(record)}\n{record.summary}")
        case "second_system":
            title = _POINTS_TITLE[record.language]
            return text_message("system", f"{title}\n{record.summary}\n---")
        case "headed_system":
            return text_message("system", f"{_size_header(record)} {record.summary}")
        case "user":
            return text_message("user", f"{_STORY_TITLE[record.language]}\n{record.summary}")
        case "addition":
            return text_message("system", f"{_ADDED_TITLE[record.language]}\n{record.summary}")
        case "tagged":
            return _tagged(record)


def facts_message(record: Compaction) -> Message:
    """The user message that carries a record's facts."""
    safe = record.facts.replace("</conversation_facts>", "‹/conversation_facts›")
    return text_message("user", f"<conversation_facts>\n{safe}\n</conversation_facts>")


def _tagged(record: Compaction) -> Message:
    safe = record.summary.replace("</conversation_summary>", "‹/conversation_summary›")
    return text_message("user", f"<conversation_summary>\n{safe}\n</conversation_summary>")


def _pair_header(record: Compaction) -> str:
    if record.language == "zh":
        return f"[上下文：之前对话的总结（{record.covered_messages} 轮）]："
    return f"[Context: Summary of earlier conversation ({record.covered_messages} turns)]:"


def _size_header(record: Compaction) -> str:
    source, summary = record.source_chars, len(record.summary)
    if record.language == "zh":
        return f"[历史对话总结 · 原文{source}字，总结{summary}字]"
    return f"[Conversation summary · source {source} chars, summary {summary} chars]"


def gap_message(messages: int, language: Language) -> Message:
    """The marker that stands where messages were left out without a summary."""
    if language == "zh":
        return text_message("user", f"[此处省略了较早的 {messages} 条消息]")
    noun = "message is" if messages == 1 else "messages are"
    return text_message("user", f"[{messages} earlier {noun} not shown]")


def orphan_text(name: str, output: str) -> str:
    """What a tool result says where its call is not recorded."""
    of = f" of {name}" if name else ""
    return f"[result{of}; the call is not recorded]\n{output}"


def knowledge_text(name: str, text: str) -> str:
    """A piece of retrieved knowledge with its name."""
    label = name.replace('"', "'")
    safe = text.replace("</knowledge>", "‹/knowledge›")
    return f'<knowledge name="{label}">\n{safe}\n</knowledge>'
