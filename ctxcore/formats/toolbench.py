"""Reads ToolBench: the final chain of an answer tree, and the dialogues for training.

In a dialogue for training a model writes its thought, the tool and its input as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.dialogues import SPEAKERS, Named, add_turn, dialogue_reader, head_objects
from ctxcore.formats.fields import id_at, object_at, text_at
from ctxcore.formats.records import Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format
from ctxcore.json_types import JsonObject
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_NAME: Final = "toolbench"
_ACTION: Final = re.compile(
    r"(?:\A|\n)[ ]*Action: *(?P<name>[^\n]+)\n+[ ]*Action Input: *(?P<input>.*)\Z", re.DOTALL
)
_SUCCESS: Final = 3  # the code of an observation that ends the search with an answer


def _is_toolbench(records: Records) -> bool:
    return any(_is_tree(one) or _is_training(one) for one in head_objects(records))


def _is_tree(record: JsonObject) -> bool:
    return isinstance(record.get("answer_generation"), dict) and (
        "tree" in record or "trys" in record or "win" in record
    )


def _is_training(record: JsonObject) -> bool:
    turns = _said(record)
    has_results = any(speaker == "function" for speaker, _ in turns)
    return has_results and any(
        SPEAKERS.get(speaker) == "assistant" and _ACTION.search(text) for speaker, text in turns
    )


def _said(record: JsonObject) -> list[tuple[str, str]]:
    turns = record.get("conversations")
    found = [one for one in turns if isinstance(one, dict)] if isinstance(turns, list) else []
    return [(text_at(one, "from") or "", text_at(one, "value") or "") for one in found]


def _add(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    if _is_tree(record):
        return _add_tree(record, builder, line)
    turns = _said(record)
    if not turns:
        return None
    for speaker, text in turns:
        found = _ACTION.search(text)
        if SPEAKERS.get(speaker) == "assistant" and found:
            builder.answer(text[: found.start()].strip())
            builder.call(found["name"].strip(), found["input"].strip(), call_id=None, line=line)
        elif speaker in SPEAKERS:
            add_turn(builder, SPEAKERS[speaker], text, {}, line)
        else:
            builder.problem(FileProblem.SPEAKER(name=speaker), line=line)
    return Named(id=id_at(record, "id"))


def _add_tree(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named:
    made = record["answer_generation"]
    assert isinstance(made, dict)  # it is a tree
    root = object_at(object_at(record, "tree"), "tree")
    path = list(_final_path(root)) or _tried(record, made)
    chains = made.get("train_messages")
    if isinstance(chains, list) and chains and isinstance(chains[-1], list):
        for message in chains[-1]:
            if isinstance(message, dict):
                _add_message(message, builder, line)
    else:
        builder.say("user", text_at(made, "query") or "")
        _add_path(path, builder, line)
    for _ in range(_size(root) - len(path)):  # nothing for a chain that is no tree
        builder.ignore("left branch")
    return Named(titles=(text_at(made, "query"),), raw_tools=raw_tools(made.get("function")))


def _tried(record: JsonObject, made: JsonObject) -> list[JsonObject]:
    """The nodes of a search without a tree: those of its answer, else of the last try."""
    tries = record.get("trys")
    last = tries[-1] if isinstance(tries, list) and tries else None
    chain = made.get("chain") or (last.get("chain") if isinstance(last, dict) else None)
    return [node for node in chain if isinstance(node, dict)] if isinstance(chain, list) else []


def _add_message(message: JsonObject, builder: TranscriptBuilder, line: int | None) -> None:
    """A message of OpenAI's older form, in which calls have no ids."""
    text = text_at(message, "content") or ""
    match message.get("role"):
        case "function":
            builder.result(text, name=text_at(message, "name"), line=line)
        case "assistant":
            if text:
                builder.answer(text)
            call = message.get("function_call")
            if isinstance(call, dict):
                name = text_at(call, "name") or "unknown"
                builder.call(name, call.get("arguments"), call_id=None, line=line)
        case "user" | "system" as role:
            builder.say("user" if role == "user" else "system", text)
        case role:
            builder.problem(FileProblem.SPEAKER(name=str(role)), line=line)


def _children(node: object) -> list[JsonObject]:
    children = node.get("children") if isinstance(node, dict) else None
    return [one for one in children if isinstance(one, dict)] if isinstance(children, list) else []


def _final_path(root: object) -> Iterator[JsonObject]:
    """The nodes of the chain that ended with an answer; else those of the last one tried."""
    goal = next((path for path in _paths(root) if _is_answer(path[-1])), None)
    yield from goal or _last_path(root)


def _last_path(root: object) -> Sequence[JsonObject]:
    path: list[JsonObject] = []
    while children := _children(path[-1] if path else root):
        path.append(children[-1])
    return path


def _paths(root: object) -> Iterator[list[JsonObject]]:
    """The ways to the leaves, the last first."""
    waiting: list[list[JsonObject]] = [[child] for child in _children(root)]
    while waiting:
        path = waiting.pop()
        children = _children(path[-1])
        if not children:
            yield path
        waiting += [[*path, child] for child in children]


def _is_answer(node: JsonObject) -> bool:
    return node.get("observation_code") == _SUCCESS


def _size(root: object) -> int:
    """How many nodes are below `root`."""
    waiting, size = _children(root), 0
    while waiting:
        size += 1
        waiting += _children(waiting.pop())
    return size


def _add_path(path: Sequence[JsonObject], builder: TranscriptBuilder, line: int | None) -> None:
    name = "unknown"
    for node in path:
        said = text_at(node, "description") or ""
        match node.get("node_type"):
            case "Thought":
                builder.answer(said)
            case "Action":
                name = said
            case "Action Input":
                builder.call(name, said, call_id=None, line=line)
                builder.result(text_at(node, "observation") or "", name=name, line=line)
            case kind:
                builder.ignore(str(kind))


TOOLBENCH = Format(
    name=_NAME,
    label=FormatCode.TOOLBENCH(),
    matches=_is_toolbench,
    read=dialogue_reader(_NAME, _add),
)
