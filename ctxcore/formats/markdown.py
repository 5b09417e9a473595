"""Reads the Markdown that `ctxcore.exports.markdown` writes.

Comments say what each part is; the text itself stands below in a quote or between fences. Headings
and everything else outside of these are for readers and say nothing to a program.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.fields import count_at, file_stem, id_at, text_at, time_at, title_of
from ctxcore.formats.fields import prompt_texts as prompts_in
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import parsed, raw_tools
from ctxcore.formats.values import Format, RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import ROLES, Message, Part, Reasoning, Text, ToolCall
from ctxcore.reasons.storage_problems import ExportProblem, FileProblem, FormatCode
from ctxcore.reasons.values import repr_fact

KIND: Final = "ctxcore.markdown"
VERSION: Final = 1
COMMENT: Final = ("<!-- ", " -->")
"""What stands around the kind and the fields of a part."""

_SUFFIXES: Final = (".md", ".markdown")
_PARTS: Final = ("text", "thinking", "part", "call")


@dataclass(slots=True, kw_only=True)
class _Said:
    """A message as far as it was read."""

    line: int
    fields: JsonObject
    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A comment with the text below it; None where there is none."""

    kind: str
    line: int
    fields: JsonObject
    text: str | None = None


def _is_markdown(records: Records) -> bool:
    return records.layout == "text" and _head(_text(records)) is not None


def _text(records: Records) -> str:
    value = records.head[0].value
    return value if isinstance(value, str) else ""


def _head(text: str) -> JsonObject | None:
    comment = _comment(text.partition("\n")[0].rstrip("\r"))
    return comment[1] if comment and comment[0] == KIND else None


def _comment(line: str) -> tuple[str, JsonObject] | None:
    """The kind and the fields of a comment of ours; None for any other line."""
    opening, closing = COMMENT
    if not line.startswith(opening) or not line.endswith(closing):
        return None
    kind, _, fields = line[len(opening) : -len(closing)].partition(" ")
    value = parsed(fields)
    return (kind, value) if isinstance(value, dict) else None


def _read(records: Records) -> Iterator[Transcript | Problem]:
    text = _text(records).replace("\r\n", "\n")  # as some editors save it; a text has none as such
    head = _head(text) or {}
    if head.get("version") != VERSION:
        found = repr_fact(head.get("version"))
        problem = ExportProblem.VERSION(version=found, known=(VERSION,))
        raise FormatError(path=records.name, line=1, problem=problem)
    reading = _Reading()
    for block in _blocks(text.split("\n")):
        reading.add(block)
    reading.end()
    own_id = id_at(head, "id") or file_stem(records.name)
    titles = (text_at(head, "title"), *prompts_in(reading.messages))
    made = Transcript(
        id=own_id,
        title=title_of(titles, otherwise=own_id),
        format=MARKDOWN.name,
        path=records.name,
        messages=tuple(reading.messages),
        times=tuple(reading.times),
        model=text_at(head, "model"),
        raw_tools=raw_tools(head.get("tools")),
        compactions=tuple(reading.compactions),
        problems=tuple(reading.problems),
    )
    if made.messages:
        yield made
    else:
        yield from reading.problems


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """The comments of ours in their order, each with the text that follows it."""
    found: _Block | None = None
    at = 1  # behind the first line, which is the head
    while at < len(lines):
        line, first = lines[at], at
        comment = _comment(line)
        body: str | None = None
        if comment is not None:
            if found is not None:
                yield found
            found = _Block(kind=comment[0], line=at + 1, fields=comment[1])
        elif _is_quoted(line):
            while at + 1 < len(lines) and _is_quoted(lines[at + 1]):
                at += 1
            body = "\n".join(map(_unquoted, lines[first : at + 1]))
        elif line.startswith("```"):
            at = _end_of_fence(lines, at)
            body = "\n".join(lines[first + 1 : at])
        if body is not None and found is not None and found.text is None:
            found = replace(found, text=body)
        at += 1
    if found is not None:
        yield found


def _is_quoted(line: str) -> bool:
    return line.startswith("> ") or line == ">"


def _unquoted(line: str) -> str:
    return line.removeprefix(">").removeprefix(" ")


def _end_of_fence(lines: list[str], start: int) -> int:
    """The line that ends the fence begun at `start`; behind the last line if none does."""
    fence = lines[start][: len(lines[start]) - len(lines[start].lstrip("`"))]
    return next((at for at in range(start + 1, len(lines)) if lines[at] == fence), len(lines))


class _Reading:
    """Puts messages together of blocks."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.times: list[datetime | None] = []
        self.compactions: list[RecordedCompaction] = []
        self.problems: list[Problem] = []
        self._said: _Said | None = None

    def add(self, block: _Block) -> None:
        """Adds a block to the message that it is of."""
        if block.kind == "message":
            self.end()
            self._said = _Said(line=block.line, fields=block.fields)
        elif block.kind == "compaction":
            self.end()
            self.compactions.append(_compaction(block, len(self.messages)))
        elif block.kind in _PARTS and self._said is not None:
            self._add_part(self._said, block)
        else:
            reason = FileProblem.NEITHER()
            self.problems.append(Problem(line=block.line, reason=reason))

    def end(self) -> None:
        """Completes the message that blocks were added to."""
        said, self._said = self._said, None
        if said is None:
            return
        role = said.fields.get("role")
        if role not in ROLES:
            self.problems.append(Problem(line=said.line, reason=FileProblem.NEITHER()))
            return
        extra = said.fields.get("extra")
        self.messages.append(
            Message(
                role=role,
                content=tuple(said.parts),
                calls=tuple(said.calls),
                answers=_answers(said.fields) if role == "tool" else None,
                name=text_at(said.fields, "name"),
                action=text_at(said.fields, "action"),
                extra=to_canonical(extra) if isinstance(extra, dict) else None,
            )
        )
        self.times.append(time_at(said.fields, "time"))

    def _add_part(self, said: _Said, block: _Block) -> None:
        text = _body(block)
        if block.kind == "text":
            said.parts.append(Text(text=text))
        elif block.kind == "thinking":
            said.parts.append(Reasoning(text=text))
        elif block.kind == "call":
            said.calls.append(_call(block, text))
        else:
            self._add_other(said, block)

    def _add_other(self, said: _Said, block: _Block) -> None:
        """Adds a part that is no text, which stands as a chat message that holds it alone."""
        raw = parsed(block.text or "")
        try:
            if not isinstance(raw, dict):
                raise ValueError
            said.parts += parse_message({**raw, "role": "assistant"}).content
        except MessageError as error:
            self.problems.append(Problem(line=block.line, reason=error.reason))
        except ValueError:
            self.problems.append(Problem(line=block.line, reason=FileProblem.NO_RECORD()))


def _body(block: _Block) -> str:
    """The text of a block; a JSON text where Markdown would not keep it as it is."""
    text = block.text or ""
    if block.fields.get("is_json") is not True:
        return text
    value = parsed(text)
    return value if isinstance(value, str) else text


def _answers(fields: JsonObject) -> str:
    answers = fields.get("answers")
    return answers if isinstance(answers, str) else ""


def _call(block: _Block, arguments: str) -> ToolCall:
    fields, extra = block.fields, block.fields.get("extra")
    call_id = fields.get("id")
    return ToolCall(
        id=call_id if isinstance(call_id, str) else "",
        name=text_at(fields, "name") or "unknown",
        arguments=arguments,
        extra=to_canonical(extra) if isinstance(extra, dict) else None,
    )


def _compaction(block: _Block, at: int) -> RecordedCompaction:
    return RecordedCompaction(
        at=at,
        summary=_body(block),
        before_tokens=count_at(block.fields, "before_tokens"),
        trigger=text_at(block.fields, "trigger"),
        recorded_at=time_at(block.fields, "time"),
    )


def _is_other(path: Path) -> bool:
    """Whether a Markdown file, of which folders have many, is no conversation."""
    if path.suffix.lower() not in _SUFFIXES:
        return False
    beginning = f"{COMMENT[0]}{KIND} ".encode()
    try:
        with path.open("rb") as file:
            return not file.read(len(beginning) + 3).removeprefix(BOM_UTF8).startswith(beginning)
    except OSError:
        return False  # reading it says why it cannot be read


MARKDOWN = Format(
    name="markdown",
    label=FormatCode.MARKDOWN(),
    matches=_is_markdown,
    read=_read,
    suffixes=_SUFFIXES,
    is_part=_is_other,
)
