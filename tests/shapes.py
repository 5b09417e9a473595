"""Conversations for tests, written as each provider writes them, and the rules they go by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from hypothesis import strategies as st

from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import JsonObject
from tests.histories import outputs, texts

Written = list[JsonObject]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
MARK: JsonObject = {"cache_control": {"type": "ephemeral"}}

ANTHROPIC: Written = [
    {"role": "user", "content": [{"type": "text", "text": "look", **MARK}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "xx"},
            {"type": "text", "text": "I look"},
            {"type": "tool_use", "id": "a", "name": "see", "input": {"q": [1, 2.5], "z": "ä"}},
            {"type": "tool_use", "id": "b", "name": "see", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "long " * 50, **MARK},
            {
                "type": "tool_result",
                "tool_use_id": "b",
                "is_error": True,
                "content": [
                    {"type": "text", "text": "broken"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                    },
                ],
            },
            {"type": "text", "text": "and now?"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "found", "citations": []},
        ],
    },
    {"role": "user", "content": "thanks"},
]

RESPONSES: Written = [
    {"role": "developer", "content": "be brief"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
    {
        "type": "message",
        "id": "msg",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look", "annotations": [], "logprobs": []}],
    },
    {"type": "function_call", "id": "fc", "call_id": "a", "name": "see", "arguments": '{"q": 1}'},
    {"type": "custom_tool_call", "call_id": "b", "name": "run", "input": "ls -l"},
    {"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "click"}},
    {"type": "function_call_output", "id": "o", "call_id": "a", "output": "long " * 50},
    {"type": "custom_tool_call_output", "call_id": "b", "output": "files"},
    {
        "type": "computer_call_output",
        "call_id": "c",
        "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"},
    },
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "x"}},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot"}]},
    {"role": "user", "content": "thanks"},
]

GEMINI: Written = [
    {
        "role": "user",
        "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}],
    },
    {
        "role": "model",
        "parts": [
            {"text": "hm", "thought": True},
            {"text": "I look", "thoughtSignature": "t"},
            {"functionCall": {"name": "see", "args": {"q": 1}}, "thoughtSignature": "s"},
            {"functionCall": {"name": "see", "args": {"q": 2}}},
            {"functionCall": {"name": "run", "args": {}, "id": "own"}},
        ],
    },
    {
        "role": "function",
        "parts": [
            {"functionResponse": {"name": "see", "response": {"result": "long " * 50}}},
            {"functionResponse": {"name": "see", "response": {"rows": [1, 2]}}},
            {"functionResponse": {"id": "own", "name": "run", "response": {"output": "ran"}}},
        ],
    },
    {
        "role": "model",
        "parts": [
            {"executableCode": {"language": "PYTHON", "code": "1+1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            {"text": "two"},
        ],
    },
    {"role": "user", "parts": [{"text": "thanks"}]},
]

OPENAI: Written = [
    {"role": "system", "content": "be brief", "vendor": 1},
    {"role": "user", "content": [{"type": "text", "text": "look", **MARK}], "name": "ada"},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "see", "arguments": '{ "q":1 }'},
                "extra_content": {"google": {"thought_signature": "s"}},
            }
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "a",
        "content": [{"type": "text", "text": "long " * 50, **MARK}],
    },
    {"role": "assistant", "content": "found", "annotations": []},
    {"role": "user", "content": "thanks"},
]

LISTS: dict[Shape, Written] = {
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
    "responses": RESPONSES,
    "gemini": GEMINI,
}
"""A list in each shape with nearly all that can be in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Calls made at once, with what each returned, and the words and thinking before them.

    `aside` is what the user says as the results come in.
    """

    calls: tuple[tuple[str, str], ...]
    words: str = ""
    thinking: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a user asks, the steps taken, and the answer; without one the last step waits."""

    asked: str
    steps: tuple[Step, ...] = ()
    answer: str = "done"


def said(max_words: int = 40) -> st.SearchStrategy[str]:
    """Words that are not blank."""
    return texts(max_words).map(lambda text: f"so {text}".strip())


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    """A conversation."""
    steps = st.builds(
        Step,
        calls=st.lists(
            st.tuples(st.sampled_from(["search", "read"]), outputs()), min_size=1, max_size=3
        ).map(tuple),
        words=st.one_of(st.just(""), said(5)),
        thinking=st.one_of(st.just(""), said(5)),
        aside=st.one_of(st.just(""), st.just(""), said()),
    )
    one = st.builds(Turn, asked=said(), steps=st.lists(steps, max_size=2).map(tuple), answer=said())
    return draw(st.lists(one, min_size=1, max_size=10))


def write(shape: Shape, conversation: Sequence[Turn]) -> Written:
    """`conversation` in `shape`."""
    writers: Mapping[Shape, Callable[[Sequence[Turn]], Written]] = {
        "openai": _openai,
        "anthropic": _anthropic,
        "responses": _responses,
        "gemini": _gemini,
    }
    return writers[shape](conversation)


def inside(message: JsonObject) -> Written:
    """The blocks or parts of a message."""
    return cast("Written", message.get("content", message.get("parts")))


def handed_back(passed: PassedMessages) -> Written:
    """A list that was read, written again with nothing changed."""
    sent = (
        Sent(message=message, source=at, is_untouched=True)
        for at, message in enumerate(passed.messages)
    )
    groups = [SentGroup(message=one.message, sent=(one,)) for one in sent]
    return codec_of(passed.shape).back(groups, passed)


def _ids(turn: int, step: int, calls: Sequence[object]) -> list[str]:
    return [f"call_{turn}_{step}_{at}" for at in range(len(calls))]


def _openai(conversation: Sequence[Turn]) -> Written:
    out: Written = [{"role": "system", "content": "You help."}]
    for nth, turn in enumerate(conversation):
        out.append({"role": "user", "content": turn.asked})
        for at, step in enumerate(turn.steps):
            ids = _ids(nth, at, step.calls)
            function = [{"name": name, "arguments": '{"q": 1}'} for name, _ in step.calls]
            made = [
                {"id": i, "type": "function", "function": f}
                for i, f in zip(ids, function, strict=True)
            ]
            message = {"role": "assistant", "content": step.words or None, "tool_calls": made}
            thought = {"reasoning_content": step.thinking} if step.thinking else {}
            out.append({**message, **thought})  # type: ignore[dict-item]  # JSON all the same
            out += [
                {"role": "tool", "tool_call_id": i, "content": output}
                for i, (_, output) in zip(ids, step.calls, strict=True)
            ]
            out += [{"role": "user", "content": step.aside}] if step.aside else []
        out.append({"role": "assistant", "content": turn.answer})
    return out


def _anthropic(conversation: Sequence[Turn]) -> Written:
    out: Written = []
    for nth, turn in enumerate(conversation):
        mark: JsonObject = {"cache_control": {"type": "ephemeral"}} if nth % 2 else {}
        out.append({"role": "user", "content": [{"type": "text", "text": turn.asked, **mark}]})
        for at, step in enumerate(turn.steps):
            ids = _ids(nth, at, step.calls)
            signed = {"type": "thinking", "thinking": step.thinking, "signature": "s"}
            words = {"type": "text", "text": step.words}
            uses = [
                {"type": "tool_use", "id": i, "name": name, "input": {"q": 1}}
                for i, (name, _) in zip(ids, step.calls, strict=True)
            ]
            blocks = [*([signed] if step.thinking else []), *([words] if step.words else []), *uses]
            results = [
                {"type": "tool_result", "tool_use_id": i, "content": output, "is_error": False}
                for i, (_, output) in zip(ids, step.calls, strict=True)
            ]
            out.append({"role": "assistant", "content": blocks})  # type: ignore[dict-item]
            aside = [{"type": "text", "text": step.aside}] if step.aside else []
            out.append({"role": "user", "content": [*results, *aside]})  # type: ignore[list-item]
        out.append({"role": "assistant", "content": turn.answer})
    return out


def _responses(conversation: Sequence[Turn]) -> Written:
    out: Written = []
    for nth, turn in enumerate(conversation):
        out.append({"role": "user", "content": turn.asked})
        for at, step in enumerate(turn.steps):
            if step.thinking:
                summary = [{"type": "summary_text", "text": step.thinking}]
                out.append({"type": "reasoning", "id": f"rs_{nth}_{at}", "summary": summary})  # type: ignore[dict-item]
            if step.words:
                out.append(_output_message(step.words, f"msg_{nth}_{at}"))
            ids = _ids(nth, at, step.calls)
            out += [
                {"type": "function_call", "call_id": i, "name": name, "arguments": '{"q": 1}'}
                for i, (name, _) in zip(ids, step.calls, strict=True)
            ]
            out += [
                {"type": "function_call_output", "call_id": i, "output": output}
                for i, (_, output) in zip(ids, step.calls, strict=True)
            ]
            out += [{"role": "user", "content": step.aside}] if step.aside else []
        out.append(_output_message(turn.answer, f"msg_{nth}"))
    return out


def _output_message(text: str, item_id: str) -> JsonObject:
    part: JsonObject = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": item_id, "role": "assistant", "content": [part]}


def _gemini(conversation: Sequence[Turn]) -> Written:
    out: Written = []
    for turn in conversation:
        out.append({"role": "user", "parts": [{"text": turn.asked}]})
        for step in turn.steps:
            thought = {"text": step.thinking, "thought": True}
            words = {"text": step.words, "thoughtSignature": "s"}
            calls = [{"functionCall": {"name": name, "args": {"q": 1}}} for name, _ in step.calls]
            responses = [
                {"functionResponse": {"name": name, "response": {"result": output}}}
                for name, output in step.calls
            ]
            parts = [
                *([thought] if step.thinking else []),
                *([words] if step.words else []),
                *calls,
            ]
            out.append({"role": "model", "parts": parts})  # type: ignore[dict-item]
            aside = [{"text": step.aside}] if step.aside else []
            out.append({"role": "user", "parts": [*responses, *aside]})  # type: ignore[list-item]
        out.append({"role": "model", "parts": [{"text": turn.answer}]})
    return out


def broken_rules(shape: Shape, messages: Written) -> list[str]:
    """What a provider would refuse in `messages`."""
    rules: Mapping[Shape, Callable[[Written], list[str]]] = {
        "openai": _openai_rules,
        "anthropic": _anthropic_rules,
        "responses": _responses_rules,
        "gemini": _gemini_rules,
    }
    return rules[shape](json.loads(json.dumps(messages)))


def _openai_rules(messages: Written) -> list[str]:
    waiting: list[object] = []
    broken = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                broken.append(f"{at}: no call")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            broken.append(f"{at}: unanswered {waiting}")
        waiting = [call["id"] for call in message.get("tool_calls") or []]  # type: ignore[union-attr, index, call-overload]
    return broken + ([f"unanswered {waiting}"] if waiting else [])


def _anthropic_rules(messages: Written) -> list[str]:
    broken = []
    waiting: list[object] = []
    talk = [message for message in messages if message["role"] != "system"]
    for at, message in enumerate(talk):
        if message["role"] != ("user", "assistant")[at % 2]:
            broken.append(f"{at}: no turn of {message['role']}")
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        kinds = [block["type"] for block in blocks]  # type: ignore[index, call-overload]
        texts = [b["text"] for b in blocks if b["type"] == "text"]  # type: ignore[index, call-overload]
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]  # type: ignore[index, call-overload]
        if not blocks or any(not str(text).strip() for text in texts):
            broken.append(f"{at}: empty")
        if sorted(map(str, results)) != sorted(map(str, waiting)):
            broken.append(f"{at}: calls {waiting} answered by {results}")
        if kinds[: len(results)] != ["tool_result"] * len(results):
            broken.append(f"{at}: results not first")
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]  # type: ignore[index, call-overload]
    return broken + ([f"unanswered {waiting}"] if waiting else [])


def _gemini_rules(messages: Written) -> list[str]:
    broken = []
    waiting: list[object] = []
    for at, message in enumerate(messages):
        if message["role"] != ("user", "model")[at % 2]:
            broken.append(f"{at}: no turn of {message['role']}")
        parts: list[JsonObject] = message["parts"]  # type: ignore[assignment]
        answered = [p["functionResponse"]["name"] for p in parts if "functionResponse" in p]  # type: ignore[index, call-overload]
        if not parts:
            broken.append(f"{at}: empty")
        if sorted(map(str, answered)) != sorted(map(str, waiting)):
            broken.append(f"{at}: calls {waiting} answered by {answered}")
        if not all("functionResponse" in part for part in parts[: len(answered)]):
            broken.append(f"{at}: responses not first")
        waiting = [p["functionCall"]["name"] for p in parts if "functionCall" in p]  # type: ignore[index, call-overload]
    return broken + ([f"unanswered {waiting}"] if waiting else [])


def _responses_rules(items: Written) -> list[str]:
    broken = []
    waiting: list[object] = []
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            waiting.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in waiting:
                broken.append(f"{at}: no call")
            else:
                waiting.remove(item["call_id"])
        elif waiting and item.get("role") == "user":
            broken.append(f"{at}: unanswered {waiting}")
        if kind == "reasoning" and (at + 1 == len(items) or items[at + 1].get("role") == "user"):
            broken.append(f"{at}: reasoning without what it led to")
    return broken + ([f"unanswered {waiting}"] if waiting else [])
