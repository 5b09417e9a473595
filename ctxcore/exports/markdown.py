"""Writes a session as Markdown that reads well and can be imported again.

Texts are quoted or fenced, so that nothing in them ends the part they stand in. What only a program
needs is in comments, which no page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.exports.compactions import PlacedCompaction, placed_compactions
from ctxcore.exports.values import ExportForm, SessionContent, applying, one_file_each
from ctxcore.formats.markdown import COMMENT, KIND, VERSION
from ctxcore.json_types import JsonObject
from ctxcore.messages.canonical import parse_canonical, to_ordered
from ctxcore.messages.openai import to_full
from ctxcore.messages.values import Message, Part, Reasoning, Text, ToolCall
from ctxcore.store.values import MessageInfo

_TICKS: Final = re.compile("`+")
_CHANGED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
"""What editors and pages end lines at, show as nothing, or replace."""
_FOLDED_CHARS: Final = 2_000  # chosen: about a screen


def _text(content: SessionContent) -> str:
    return "".join(f"{line}\n" for line in _lines(content))


def _lines(content: SessionContent) -> Iterator[str]:
    session = content.session
    head: JsonObject = {"version": VERSION, "id": session.id, "title": session.title}
    if session.model:
        head["model"] = session.model
    if session.tools:
        head["tools"] = list(session.tools)
    yield _comment(KIND, head)
    yield f"# {_escaped(session.title or session.id)}"
    waiting = placed_compactions(content)
    for info in applying(content):
        while waiting and waiting[0].before_seq <= info.seq:
            yield from _compaction(waiting.pop(0))
        yield from _message(info)
    for compaction in waiting:
        yield from _compaction(compaction)


def _message(info: MessageInfo) -> Iterator[str]:
    message = info.message
    fields: JsonObject = {"role": message.role, "time": info.created_at.isoformat()}
    for key, value in (("name", message.name), ("action", message.action)):
        if value is not None:
            fields[key] = value
    if message.answers is not None:
        fields["answers"] = message.answers
    if message.extra is not None:
        fields["extra"] = parse_canonical(message.extra)
    name = f" · {_escaped(info.function_name)}" if info.function_name else ""
    yield from ("", f"## {info.seq} · {message.role}{name}", _comment("message", fields))
    for part in message.content:
        yield from _part(message, part)
    for call in message.calls:
        yield from _call(call)


def _part(message: Message, part: Part) -> Iterator[str]:
    if isinstance(part, Text) and part.extra is None:
        body = _fenced if message.is_tool_result else _quoted
        yield from body("text", {}, part.text)
    elif isinstance(part, Reasoning) and part.raw is None:
        yield from ("", "*thinking*")
        yield from _quoted("thinking", {}, part.text)
    else:
        alone = to_full(Message(role="assistant", content=(part,)))
        yield from _fenced("part", {}, to_ordered(alone), language="json")


def _call(call: ToolCall) -> Iterator[str]:
    fields: JsonObject = {"id": call.id, "name": call.name}
    if call.extra is not None:
        fields["extra"] = parse_canonical(call.extra)
    yield from ("", f"**→ {_escaped(call.name)}**")
    yield from _fenced("call", fields, call.arguments, language="json")


def _compaction(compaction: PlacedCompaction) -> Iterator[str]:
    at = compaction.recorded_at
    fields: JsonObject = {
        "before_tokens": compaction.before_tokens,
        "trigger": compaction.trigger,
        "time": at.isoformat() if at else None,
    }
    known: JsonObject = {key: value for key, value in fields.items() if value is not None}
    yield from ("", "---", "", "**compaction**")
    yield from _quoted("compaction", known, compaction.summary)
    yield from ("", "---")


def _quoted(kind: str, fields: JsonObject, text: str) -> Iterator[str]:
    if _CHANGED.search(text):
        yield from _fenced(kind, fields, text)
        return
    yield from ("", _comment(kind, fields), "")
    yield from (f"> {line}" if line else ">" for line in text.split("\n"))


def _fenced(kind: str, fields: JsonObject, text: str, *, language: str = "") -> Iterator[str]:
    """The text between fences, folded where it is long; as JSON where it would be changed."""
    if _CHANGED.search(text):
        text, fields, language = _escaped_json(text), {**fields, "is_json": True}, "json"
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    is_long = len(text) > _FOLDED_CHARS
    yield from ("", _comment(kind, fields), "")
    if is_long:
        yield from (f"<details><summary>{len(text):,} characters</summary>", "")
    yield from (f"{fence}{language}", text, fence)
    if is_long:
        yield from ("", "</details>")


def _comment(kind: str, fields: JsonObject) -> str:
    """A comment; none of the texts in it can end it."""
    opening, closing = COMMENT
    return f"{opening}{kind} {_escaped_json(fields).replace('>', chr(92) + 'u003e')}{closing}"


def _escaped_json(value: str | JsonObject) -> str:
    """JSON in which everything is escaped that would be changed."""
    return _CHANGED.sub(lambda found: f"\\u{ord(found[0]):04x}", to_ordered(value))


def _escaped(text: str) -> str:
    """A text on one line, with nothing in it that Markdown reads."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&$-])", r"\\\1", " ".join(text.split()))


MARKDOWN = ExportForm(
    name="markdown",
    suffix=".md",
    media_type="text/markdown",
    write=one_file_each(_text),
)
