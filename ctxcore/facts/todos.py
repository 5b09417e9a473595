"""Owns to-do lists that agents keep by tool calls: the latest state, with its progress."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.reading import one_line
from ctxcore.facts.values import Fact
from ctxcore.messages.values import JsonValue, Role

MOST_ITEMS: Final = 30
ITEM_CHARS: Final = 120

_NAMES_WORDS = """
    todowrite updateplan writetodos todoupdate updatetodos settodos managetodolist todolist
    updatetodolist tasktracker plan writetodo
"""
_NAMES: Final = frozenset(_NAMES_WORDS.split())
_LISTS: Final = ("todos", "plan", "tasks", "items", "todoList", "todo_list", "task_list", "steps")
_TITLES: Final = ("content", "step", "description", "title", "text", "task", "name")
_MARKS: Final = {"done": "x", "doing": "~", "open": " ", "dropped": "-"}


def todo_state(name: str, arguments: dict[str, JsonValue], role: Role) -> Fact | None:
    """The list that a to-do call writes; None for any other call."""
    if re.sub(r"[^a-z]", "", name.rpartition("__")[2].lower()) not in _NAMES:
        return None
    items = next((value for key in _LISTS if isinstance(value := arguments.get(key), list)), None)
    if items is None:
        return None
    told = [item for raw in items[:MOST_ITEMS] if (item := _item(raw)) is not None]
    done = sum(state == "done" for state, _ in told)
    return Fact(
        kind="todo",
        text="; ".join(f"[{_MARKS[state]}] {title}" for state, title in told),
        key="todo",
        value=f"{done}/{len(told)}",
        role=role,
    )


def _item(raw: JsonValue) -> tuple[str, str] | None:
    if isinstance(raw, str):
        return "open", one_line(raw, ITEM_CHARS)
    if not isinstance(raw, dict):
        return None
    title = next((value for key in _TITLES if isinstance(value := raw.get(key), str)), "")
    return (_state(raw), one_line(title, ITEM_CHARS).replace(";", ",")) if title else None


def _state(raw: dict[str, JsonValue]) -> str:
    if raw.get("done") is True or raw.get("completed") is True:
        return "done"
    told = str(raw.get("status") or raw.get("state") or "").lower().replace("-", "_")
    if told in ("completed", "done", "complete", "finished", "closed"):
        return "done"
    if told in ("cancelled", "canceled", "dropped", "skipped"):
        return "dropped"
    return "doing" if told in ("in_progress", "doing", "active", "started") else "open"
