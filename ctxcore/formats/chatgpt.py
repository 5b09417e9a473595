"""Reads ChatGPT's data export: the active branch of each conversation, a tree of messages.

Calls have no ids there: a message to a tool is a call, and gets its own id; the messages of tools
behind it are its results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, cast

from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import count_at, id_at, object_at, objects_in, text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.values import JsonObject, JsonValue, Part, Text
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_Node = Mapping[str, object]

_TO_ALL: Final = (None, "all", "user")  # recipients of a message that is no call
_TEXT_KEYS: Final = ("text", "result", "output_str", "content", "summary")
_SETTINGS: Final = ("user_editable_context", "model_editable_context")  # instructions, memory
_SETTING_KEYS: Final = ("user_profile", "user_instructions", "model_set_context", "repository")


def _is_chatgpt(records: Records) -> bool:
    return any(map(_is_conversation, _values(records.values)))


def _is_conversation(value: object) -> bool:
    """Whether this is a conversation: a tree, or what stands around one."""
    if not isinstance(value, dict) or not isinstance(mapping := value.get("mapping"), dict):
        return False
    nodes = [node for node in mapping.values() if isinstance(node, dict)]
    is_tree = any("message" in node and ("parent" in node or "children" in node) for node in nodes)
    return is_tree or "current_node" in value or "conversation_id" in value


def _values(values: object) -> Iterator[JsonValue]:
    """The conversations in records, also under the key `conversations` of one object."""
    for value in values if isinstance(values, list) else ():
        inner = value.get("conversations") if isinstance(value, dict) else None
        yield from inner if isinstance(inner, list) else [value]


def _read(records: Records) -> Iterator[Transcript | Problem]:
    for record in records:
        for value in _values([record.value]):
            if isinstance(value, dict) and _is_conversation(value):
                yield from _conversation(value, records.name, record.line)
            else:
                yield Problem(line=record.line, reason=FileProblem.NEITHER())


def _conversation(about: JsonObject, name: str, line: int | None) -> Iterator[Transcript | Problem]:
    nodes = {
        key: node for key, node in object_at(about, "mapping").items() if isinstance(node, dict)
    }
    reading = _Reading(name)
    branch = _active_branch(nodes, text_at(about, "current_node"))
    for key in branch:
        reading.add(nodes.pop(key))
    left = nodes.values()
    for _ in filter(_has_message, left):
        reading.builder.ignore("left branch")
    found = reading.builder.build(
        id=id_at(about, "conversation_id", "id"), titles=[text_at(about, "title")]
    )
    yield from or_problems(found, line=line)


def _active_branch(nodes: Mapping[str, _Node], current: str | None) -> list[str]:
    """The keys of the nodes from the first to the current one, else to the newest leaf."""
    at = current if current in nodes else _newest_leaf(nodes)
    chain: dict[str, None] = {}
    while at is not None and at in nodes and at not in chain:
        chain[at] = None
        at = text_at(nodes[at], "parent")
    return list(chain)[::-1]


def _newest_leaf(nodes: Mapping[str, _Node]) -> str | None:
    parents = {text_at(node, "parent") for node in nodes.values()}
    leaves = [key for key, node in nodes.items() if key not in parents and _has_message(node)]
    times = {key: time_at(object_at(nodes[key], "message"), "create_time") for key in leaves}
    timed = [(time, key) for key, time in times.items() if time is not None]
    return max(timed)[1] if timed else next(reversed(leaves), None)


def _has_message(node: _Node) -> bool:
    return bool(object_at(node, "message"))


class _Reading:
    """Adds the messages of a branch in order."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="chatgpt", path=name)
        self._call_id: str | None = None
        """The call that the messages of tools answer now."""

    def add(self, node: _Node) -> None:
        """Adds the message of a node, if it has one."""
        if not isinstance(message := node.get("message"), dict):
            if message is not None:
                self.builder.problem(FileProblem.NO_CONTENT(kind="message"))
            return
        content, author = object_at(message, "content"), object_at(message, "author")
        role, kind = text_at(author, "role"), text_at(content, "content_type")
        time = time_at(message, "create_time")
        if role is None or (not content and message.get("content") is not None):
            self.builder.problem(FileProblem.NO_CONTENT(kind=role or "message"))
        elif role == "assistant":
            self._add_answer(message, content, kind, time)
        elif role == "tool":
            self._add_result(text_at(author, "name"), _parts(content), time)
        else:
            is_said = role == "user" and kind not in _SETTINGS
            self.builder.say("user" if is_said else "system", _parts(content), time=time)
            self._call_id = None

    def _add_answer(
        self, message: JsonObject, content: _Node, kind: str | None, time: datetime | None
    ) -> None:
        metadata, recipient = object_at(message, "metadata"), text_at(message, "recipient")
        self.builder.model = text_at(metadata, "model_slug") or self.builder.model
        if kind == "reasoning_recap":
            self.builder.ignore("reasoning_recap")
        elif kind == "thoughts":
            self.builder.think(_thoughts(content), time=time)
        elif recipient not in _TO_ALL:
            self._call_id = text_at(message, "id") or text_at(content, "id")
            self._add_call(str(recipient), content, kind, time)
        else:
            parts = [part for part in _parts(content) if not _is_blank(part)]
            if not parts:
                self.builder.ignore("blank assistant")
                return
            self.builder.answer(parts, time=time)
            self._call_id = None

    def _add_result(self, tool: str | None, parts: list[Part], time: datetime | None) -> None:
        if parts or self._call_id is not None:
            self.builder.result(parts, call_id=self._call_id, name=tool, time=time)
        else:  # a sign that something is being done
            self.builder.ignore("blank tool")

    def _add_call(self, tool: str, content: _Node, kind: str | None, time: datetime | None) -> None:
        text = "\n".join(part.text for part in _parts(content) if isinstance(part, Text))
        key = "code" if kind == "code" else "input"
        is_json = text.lstrip().startswith("{") and text.rstrip().endswith("}")
        arguments: JsonValue = text if is_json else {key: text}
        self.builder.call(tool, arguments, call_id=self._call_id, time=time)


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _thoughts(content: _Node) -> str:
    listed = objects_in(cast("JsonValue", content.get("thoughts")))
    return "\n\n".join(text for one in listed if (text := text_at(one, "content", "summary")))


def _parts(content: _Node) -> list[Part]:
    """The content of a message: its parts, or the text that its kind has under another key."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return [Text(text=text) for part in parts if (text := _part_text(part))]
    if text_at(content, "content_type") in _SETTINGS:
        return [Text(text=said) for key in _SETTING_KEYS if (said := text_at(content, key))]
    if (found := text_at(content, *_TEXT_KEYS)) is not None:
        heads = [head for key in ("title", "url", "name") if (head := text_at(content, key))]
        return [Text(text="\n".join([*heads, found]))]
    known = {key: value for key, value in content.items() if key != "content_type"}
    rest = cast("JsonObject", {key: known[key] for key in known if known[key]})
    is_empty = not rest or set(rest) <= {"language", "response_format_name"}
    return [] if is_empty else [Text(text=to_ordered(rest))]


def _part_text(part: object) -> str:
    """A part as text: images and sounds are files of their own in the export, named by pointers."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if (text := text_at(part, "text")) is not None:
        return text
    inner = object_at(part, "audio_asset_pointer") or part
    kind = (text_at(inner, "content_type") or "part").removesuffix("_asset_pointer")
    width, height = count_at(inner, "width"), count_at(inner, "height")
    size = f" {width}×{height}" if width and height else ""
    pointer = text_at(inner, "asset_pointer")
    return f"[{kind}{size}: {pointer}]" if pointer else to_ordered(part)


CHATGPT = Format(
    name="chatgpt",
    label=FormatCode.CHATGPT(),
    matches=_is_chatgpt,
    read=_read,
)
