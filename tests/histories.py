"""Histories for tests: short builders, and strategies for random ones, sound and broken."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from ctxcore.messages.values import Message, ToolCall, text_message, tool_result

WORDS = (
    "the order", "ORD-2026-417", "is late", "please refund", "42.50 EUR", "never call me",
    "see /srv/app/main.py", "error: timeout", "on 2026-03-02", "thanks", "why?", "def main():",
    "用户要求", "不要删除", "订单号 8731", "必须周五之前", "好的", "请检查日志。",
)  # fmt: skip


def user(text: str) -> Message:
    """What a user says."""
    return text_message("user", text)


def assistant(text: str = "", *calls: ToolCall) -> Message:
    """What the model says, and the calls it makes."""
    message = text_message("assistant", text) if text else Message(role="assistant")
    return Message(role="assistant", content=message.content, calls=calls)


def call(call_id: str, name: str = "search", **arguments: object) -> ToolCall:
    """A tool call."""
    return ToolCall(id=call_id, name=name, arguments=json.dumps(arguments))


def texts(max_words: int = 40) -> st.SearchStrategy[str]:
    """Words as people and tools write them, and now and then anything at all."""
    spoken = st.lists(st.sampled_from(WORDS), max_size=max_words).map(" ".join)
    return st.one_of(spoken, spoken, st.text(max_size=60))


def call_ids() -> st.SearchStrategy[str]:
    """Few enough that ids are used again, some missing."""
    return st.sampled_from(["a", "b", "c", ""])


def outputs() -> st.SearchStrategy[str]:
    """What tools return: JSON lists, texts, nothing."""
    records = st.integers(min_value=0, max_value=60).map(
        lambda count: json.dumps([{"id": f"R-{n}", "status": "ok", "n": n} for n in range(count)])
    )
    return st.one_of(records, texts(), st.just(""))


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any one message, without regard for its neighbours."""
    kind = draw(st.sampled_from(["user", "user", "assistant", "calls", "tool", "system"]))
    if kind == "tool":
        return tool_result(draw(call_ids()), draw(outputs()))
    if kind == "calls":
        arguments = st.sampled_from(['{"q": "x"}', "{}", "", "not json", "[1]"])
        calls = st.builds(
            ToolCall, id=call_ids(), name=st.sampled_from(["search", "read"]), arguments=arguments
        )
        made = draw(st.lists(calls, min_size=1, max_size=3))
        return assistant(draw(texts(5)), *made)
    if kind == "system":
        return text_message("system", draw(texts(3)))
    return text_message("user" if kind == "user" else "assistant", draw(texts()))


def broken_histories() -> st.SearchStrategy[list[Message]]:
    """Reused and missing ids, unanswered calls, results without calls, any order, or nothing."""
    return st.lists(messages(), max_size=40)


@st.composite
def sound_histories(draw: st.DrawFn) -> list[Message]:
    """A system prompt, then turns with tool calls answered in place."""
    history = [text_message("system", "You help customers of a shop.")]
    for turn in range(draw(st.integers(min_value=1, max_value=25))):
        history.append(user(f"question {turn}: {draw(texts())}"))
        for step in range(draw(st.integers(min_value=0, max_value=3))):
            call_id = f"call_{turn}_{step}"
            history.append(assistant("", call(call_id, q=turn)))
            history.append(tool_result(call_id, draw(outputs())))
        history.append(assistant(f"answer {turn}: {draw(texts())}"))
    return history


def histories() -> st.SearchStrategy[list[Message]]:
    """Sound ones, broken ones, Chinese only, tool results only, and one giant message."""
    chinese = st.lists(
        st.text(alphabet="订单退款不要必须检查日志今天。，", max_size=200), max_size=12
    )
    return st.one_of(
        sound_histories(),
        broken_histories(),
        chinese.map(lambda said: [user(text) for text in said]),
        st.lists(outputs().map(lambda text: tool_result("a", text)), max_size=10),
        texts().map(lambda text: [user("look"), assistant(text * 300), user("and now?")]),
        texts().map(lambda text: [user(text * 300)]),
    )


def windows() -> st.SearchStrategy[int]:
    """Input budgets from tiny to a million tokens."""
    return st.one_of(
        st.integers(min_value=1, max_value=400),
        st.integers(min_value=200, max_value=6_000),
        st.just(1_000_000),
    )
