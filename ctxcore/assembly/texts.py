"""The texts that this library puts into a context, in English and Chinese, and elided texts.

They count as tokens like any others, and state in one line what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import Message, Role, text_message
from ctxcore.policy.values import SummaryPlace
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

NO_RESULT = "[no result recorded]"
EMPTY = "[empty message]"
START = "[conversation starts here]"
PINNED = "[pinned from earlier in this conversation]"

SUMMARY_TAG = "conversation_summary"
FACTS_TAG = "conversation_facts"
RECALLED_TAG = "recalled_messages"
KNOWLEDGE_START = '<knowledge name="'
KNOWLEDGE_END = "\n</knowledge>"
_SAFE_TAGS = tuple(
    (f"<{slash}{tag}>", f"‹{slash}{tag}›")
    for tag in (SUMMARY_TAG, FACTS_TAG, RECALLED_TAG)
    for slash in ("/", "")
)

ACKNOWLEDGEMENTS: Mapping[Language, str] = {
    "en": "Understood. I have the context from our earlier conversation.",
    "zh": "明白了，我已了解之前的对话内容。",
}
ACKNOWLEDGED: frozenset[SummaryPlace] = frozenset({"tagged", "pair"})
"""The places where the assistant answers a summary, so that roles alternate."""
HOISTED: frozenset[SummaryPlace] = frozenset({"second_system", "headed_system", "addition"})
"""The places right behind the system prompt."""

SUMMARY_TITLES: Mapping[SummaryPlace, Mapping[Language, str]] = {
    "pair": {
        "en": "[Context: Summary of earlier conversation ({messages} turns)]:",
        "zh": "[上下文：之前对话的总结（{messages} 轮）]：",
    },
    "second_system": {"en": "[Conversation summary]", "zh": "【对话历史总结】"},
    "headed_system": {
        "en": "[Conversation summary · source {source} chars, summary {summary} chars]",
        "zh": "[历史对话总结 · 原文{source}字，总结{summary}字]",
    },
    "user": {"en": "[Summary of what came before]", "zh": "[对话摘要]"},
    "addition": {
        "en": "[Earlier in this conversation, summarized]",
        "zh": "[此前对话的摘要]",
    },
}
"""What a summary starts with in each place; `tagged` stands between tags instead."""
RECALLED_TITLES: Mapping[Language, str] = {
    "en": "Earlier messages of this conversation, found for the request above:",
    "zh": "以下是为上面的请求找到的较早消息：",
}
POINTS_END = "\n---"
GAP_TEXTS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "[{messages} earlier messages are not shown]",
        "[{messages} earlier message is not shown]",
    ),
    "zh": ("[此处省略了较早的 {messages} 条消息]",),
}
"""The markers for messages left out, in the plural and in the singular where it differs."""


def acknowledgement(language: Language) -> Message:
    """The assistant's answer to a summary, so that roles alternate."""
    return text_message("assistant", ACKNOWLEDGEMENTS[language])


def summary_message(record: Compaction, place: SummaryPlace) -> Message:
    """The message that carries a record's summary."""
    if place == "tagged":
        return text_message("user", in_tags(SUMMARY_TAG, record.summary))
    title = SUMMARY_TITLES[place][record.language].format(
        messages=record.covered_messages, source=record.source_chars, summary=len(record.summary)
    )
    glue = " " if place == "headed_system" else "\n"
    end = POINTS_END if place == "second_system" else ""
    role: Role = "system" if place in HOISTED else "user"
    return text_message(role, f"{title}{glue}{safe_tags(record.summary)}{end}")


def facts_message(record: Compaction) -> Message:
    """The user message that carries a record's facts."""
    return text_message("user", in_tags(FACTS_TAG, record.facts))


def recalled_message(entries: str, language: Language) -> Message:
    """The user message with earlier messages that were found for the request before it."""
    return text_message("user", in_tags(RECALLED_TAG, f"{RECALLED_TITLES[language]}\n{entries}"))


def in_tags(tag: str, text: str) -> str:
    """`text` between tags that no tag in it can close."""
    return f"<{tag}>\n{safe_tags(text)}\n</{tag}>"


def safe_tags(text: str) -> str:
    """`text` with the tags of this library in it written with other brackets."""
    for tag, safe in _SAFE_TAGS if "<" in text else ():
        text = text.replace(tag, safe)
    return text


def plain_tags(text: str) -> str:
    """The text that `safe_tags` made safe."""
    for tag, safe in _SAFE_TAGS if "‹" in text else ():
        text = text.replace(safe, tag)
    return text


def gap_message(messages: int, language: Language) -> Message:
    """The marker that stands where messages were left out without a summary."""
    several, *single = GAP_TEXTS[language]
    form = single[0] if single and messages == 1 else several
    return text_message("user", form.format(messages=messages))


def orphan_text(name: str, output: str) -> str:
    """The text of a tool result whose call is not recorded."""
    of = f" of {name}" if name else ""
    return f"[result{of}; the call is not recorded]\n{output}"


def knowledge_text(name: str, text: str) -> str:
    """A piece of retrieved knowledge with its name."""
    label = name.replace('"', "'")
    safe = text.replace("</knowledge>", "‹/knowledge›")
    return f'{KNOWLEDGE_START}{label}">\n{safe}{KNOWLEDGE_END}'


_HEAD_SHARE = 0.6  # chosen: a request starts with its topic and ends with the question
ELIDED = re.compile(r"\[… ([\d,]{1,13}) characters left out …\]")
"""The marker of what is gone, and how many characters that is."""
_MARKERS = re.compile(r'"…":\s*"[^"]*"|\[…[^\]]*\]|"…[^"]*"|…')
_FEW_CHARS = 4  # chosen: fewer letters beside markers are noise
_ROUNDS = 12  # halving the error each time, 12 rounds settle texts of millions of characters


def elide(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The longest head and tail of `text` within `max_tokens`; empty if not even a marker fits."""
    total = counter.count(text)
    if total <= max_tokens:
        return text
    low, high, best = 0, max(0, min(len(text) - 1, max_tokens * len(text) // max(total, 1) * 2)), ""
    for _ in range(_ROUNDS):
        keep = (low + high + 1) // 2
        shown = elide_chars(text, keep)
        if counter.count(shown) <= max_tokens:
            low, best = keep, shown
        else:
            high = keep - 1
        if low >= high:
            break
    return best


def elide_chars(text: str, keep_chars: int) -> str:
    """`keep_chars` characters of the head and tail of `text`, and a marker between them."""
    if len(text) <= keep_chars:
        return text
    head = int(keep_chars * _HEAD_SHARE)
    tail = keep_chars - head
    return f"{text[:head]}{_marker(len(text) - keep_chars)}{text[len(text) - tail :]}"


def elide_within(text: str, max_chars: int) -> str:
    """`text` in at most `max_chars` characters, the marker included."""
    if len(text) <= max_chars:
        return text
    return elide_chars(text, max(0, max_chars - len(_marker(len(text)))))


def has_words(text: str) -> bool:
    """Whether a shortened output has words beside the markers of what is gone."""
    return sum(map(str.isalnum, _MARKERS.sub("", text))) >= _FEW_CHARS


def _marker(gone_chars: int) -> str:
    return f"[… {gone_chars:,} characters left out …]"
