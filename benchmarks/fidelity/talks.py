"""The conversations that fidelity is measured on, with their annotations.

A file is JSON (one conversation) or JSON lines: `id`, `messages` in OpenAI chat form, and where
known `qa` (question, answer, evidence_message_indexes), `meta.literal_deps` (literal, used_at) and
`meta.compactions` (summary_index, pre_tokens). Counts are those of one vocabulary, MODEL's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import count_message, counter_for

MODEL = "gpt-4"  # cl100k
HALVES = ("even", "odd")
"""Of the conversations: what is tuned on one is shown by the other."""
KNOWN = Path(__file__).parent.parent / "data" / "known.json"
"""Questions about the demo conversations, by id of the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the places of the messages that answer it."""

    question: str
    answer: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A literal that the call at `used_at` needed, said before it."""

    literal: str
    used_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCompaction:
    """A compaction of the program that was recorded: its summary is the message at `at`."""

    at: int
    before_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Talk:
    """A conversation, counted once."""

    id: str
    file: str
    messages: tuple[JsonObject, ...]
    tokens: tuple[int, ...]
    """Of each message with its frame."""
    questions: tuple[Question, ...] = ()
    uses: tuple[Use, ...] = ()
    compactions: tuple[OwnCompaction, ...] = ()

    @property
    def total_tokens(self) -> int:
        """All messages together."""
        return sum(self.tokens)

    @property
    def system_tokens(self) -> int:
        """What the system messages take."""
        return sum(self.tokens[at] for at in self.system)

    @property
    def system(self) -> tuple[int, ...]:
        """Places of the system messages."""
        return tuple(at for at, m in enumerate(self.messages) if m["role"] == "system")

    @property
    def has_chinese(self) -> bool:
        """Whether it is held in Chinese, by its first user messages."""
        said = "".join(words_of(m) for m in self.messages[:40] if m["role"] == "user")
        return sum("\u4e00" <= char <= "\u9fff" for char in said) > len(said) / 5

    def until(self, end: int) -> Talk:
        """Its first `end` messages."""
        return Talk(
            id=self.id,
            file=self.file,
            messages=self.messages[:end],
            tokens=self.tokens[:end],
        )


def talk_of(messages: Sequence[JsonObject], *, id: str, file: str = "", **known: Any) -> Talk:
    """A talk of `messages`, counted."""
    tokens = tuple(count(message) for message in messages)
    return Talk(id=id, file=file, messages=tuple(messages), tokens=tokens, **known)


def load_talks(folders: Sequence[Path]) -> list[Talk]:
    """All conversations of the files in `folders`, subfolders left out."""
    talks = [
        _talk(raw, path.stem)
        for folder in folders
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")])
        for raw in _read(path)
    ]
    if not talks:
        raise SystemExit(f"no conversations in {', '.join(map(str, folders))}")
    return talks


def half_of(talks: Sequence[Talk], half: str | None) -> list[Talk]:
    """The talks of a half, by the first digit of the hash of their id; all of them for None."""
    return [talk for talk in talks if half in (None, _half(talk.id))]


def _half(talk_id: str) -> str:
    return HALVES[int(sha256(talk_id.encode()).hexdigest()[0], 16) % 2]


def count(message: JsonObject) -> int:
    """The tokens of one message with its frame."""
    return _count(json.dumps(message, sort_keys=True))


@lru_cache(maxsize=200_000)
def _count(written: str) -> int:
    return count_message(parse_message(json.loads(written)), counter_for(MODEL))


def words_of(message: JsonObject) -> str:
    """Everything that a message says: its text, and the arguments of its calls."""
    content = message.get("content")
    parts = [content if isinstance(content, str) else _text(content)]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function: Any = call["function"] if isinstance(call, dict) else {}
        parts += [str(function["name"]), str(function["arguments"])]
    return "\n".join(part for part in parts if part)


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else ()
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    found = [text] if path.suffix == ".json" else text.splitlines()
    for line in found:
        raw = json.loads(line) if line.strip() else None
        if isinstance(raw, dict) and raw.get("messages"):
            yield raw


def _talk(raw: dict[str, Any], file: str) -> Talk:
    known = _known().get(raw["id"], {})
    meta = {**(raw.get("meta") or {}), **known}
    questions = raw.get("qa") or known.get("qa") or ()
    uses = tuple(
        Use(literal=dep["literal"], used_at=dep["used_at"])
        for dep in meta.get("literal_deps") or ()
    )
    return talk_of(
        raw["messages"],
        id=raw["id"],
        file=file,
        questions=tuple(map(_question, questions)),
        uses=uses or tuple(_own_uses(raw["messages"])),
        compactions=tuple(
            OwnCompaction(at=made["summary_index"], before_tokens=made.get("pre_tokens"))
            for made in meta.get("compactions") or ()
        ),
    )


def _question(raw: dict[str, Any]) -> Question:
    return Question(
        question=raw["question"],
        answer=raw.get("answer") or "",
        evidence=tuple(raw.get("evidence_message_indexes") or ()),
    )


def _own_uses(messages: Sequence[JsonObject]) -> Iterator[Use]:
    """Argument values of calls that look like names and were said before, each use once."""
    said = ""
    for at, message in enumerate(messages):
        for value in call_values(message):
            if len(value) <= 80 and any(char.isdigit() for char in value) and value in said:
                yield Use(literal=value, used_at=at)
        said += f"\n{words_of(message)}"


def call_values(message: JsonObject) -> list[str]:
    """The leaf values of the arguments of a message's calls, of three characters or more."""
    calls: Any = message.get("tool_calls") or ()
    found: dict[str, None] = {}
    for call in calls:
        try:
            read = json.loads(call["function"]["arguments"] or "{}")
        except ValueError:
            continue
        found |= dict.fromkeys(value for value in _leaves(read) if len(value) >= 3)
    return list(found)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value).strip()


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return read
