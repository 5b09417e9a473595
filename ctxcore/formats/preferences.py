"""Reads records of preference data: the preferred answer is the conversation's, others are counted.

OpenAI writes `input`, `preferred_output` and `non_preferred_output`; most data sets write `chosen`
and `rejected`, as messages or as text, with or without a `prompt`.
"""

from __future__ import annotations

import re
from collections import Counter

from ctxcore.json_types import JsonObject, JsonValue

_PROMPT_KEYS = ("prompt", "question", "input")
_SPEAKERS = {"Human": "user", "Assistant": "assistant"}
_TURN = re.compile(r"(?:^|\n\n)(Human|Assistant): ?")
"""How Anthropic's data of preferences writes a dialogue as one text."""


def preferred(record: JsonObject) -> tuple[JsonObject, Counter[str]] | None:
    """The record as a request body with the preferred answer; None if it is no preference."""
    example = record.get("input")
    if "preferred_output" in record and isinstance(example, dict):
        asked = _messages(example.get("messages"), "user")
        answer = _messages(record["preferred_output"], "assistant")
        others = _messages(record.get("non_preferred_output"), "assistant")
        body: JsonObject = {**example, "messages": [*asked, *answer]}
        return body, Counter({"non-preferred answer": len(others)}) if others else Counter()
    if "chosen" not in record or "rejected" not in record:
        return None
    chosen = _messages(record["chosen"], "assistant")
    rejected = _messages(record["rejected"], "assistant")
    given = (record[key] for key in _PROMPT_KEYS if record.get(key))
    prompt = [*_messages(record.get("system"), "system"), *_messages(next(given, None), "user")]
    if prompt and not _begins_itself(chosen):
        chosen = [*prompt, *chosen]
    common = sum(one == other for one, other in zip(chosen, rejected, strict=False))
    left = len(rejected) - common
    body = {key: record[key] for key in record if key != "system"} | {"messages": chosen}
    return body, Counter({"rejected answer": left}) if left else Counter()


def _messages(value: JsonValue, role: str) -> list[JsonValue]:
    """Messages as they are, or those that a text stands for."""
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        return value
    if not isinstance(value, str) or not value.strip():
        return []
    turns = _TURN.split(value)
    if len(turns) < 2 or turns[0].strip():
        return [{"role": role, "content": value}]
    return [
        {"role": _SPEAKERS[speaker], "content": text.strip()}
        for speaker, text in zip(turns[1::2], turns[2::2], strict=True)
        if text.strip()
    ]


def _begins_itself(messages: list[JsonValue]) -> bool:
    """Whether an answer repeats its prompt."""
    first = messages[0] if messages else None
    return isinstance(first, dict) and first.get("role") in ("user", "system")
