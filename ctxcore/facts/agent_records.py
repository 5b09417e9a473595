"""Finds what agents record: errors, commands, files they use, to-do lists and memories.

Reads tool outputs, the arguments of tool calls, and requests to remember something.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.reading import PROSE_CHARS, one_line, sample, sentences
from ctxcore.facts.topics import topic_of
from ctxcore.facts.values import Effect, Fact, Kind
from ctxcore.messages.values import JsonValue, Message, Role, ToolCall
from ctxcore.text.latin import latin_words
from ctxcore.text.patterns import late
from ctxcore.text.signals import error_report, mentions_error
from ctxcore.text.words import word_set

MOST_ERRORS: Final = 3  # of one output; chosen: the first ones and the last tell what went wrong
LINE_CHARS: Final = 240  # of an error line; chosen: its head names error and place

_ERROR_OBJECT = late(
    r"^\s*\{[^{}]{0,60}\"(?:error|error_message|errors|exception)\"\s*:\s*"
    r"(?:\{[^{}]*?\"message\"\s*:\s*)?\"([^\"]{3,300})"
)
_FAILED_EXIT = late(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?:?|code) [1-9]\d{0,2}\b", re.IGNORECASE
)
_RUNS = late(
    r"\b(?:test|tests|pytest|jest|vitest|build|compile|tsc|check|lint|ruff|mypy|eslint"
    r"|make|cargo|go (?:test|build|run|vet)|npm|npx|pnpm|yarn|bun|mvn|gradle|python[\d.]*"
    r"|node|ruby|bash|sh|deploy|docker|terraform|mix|dotnet|install|migrate)\b"
)
_DIGITS = late(r"0x[0-9a-f]+|\d+")


def failures(text: str, role: Role, command: str) -> Iterator[Fact]:
    """The errors in an output; for a `command` whose output has none, that it now passes."""
    words = latin_words(text) if role == "user" else None  # of outputs nothing else asks for them
    lines = _error_lines(text) if mentions_error(text, words) else []
    for line in lines:
        yield Fact(
            kind="error",
            text=line,
            key=_DIGITS.sub("0", line.lower())[:160],
            subject=command,
            topic=topic_of(line),
            role=role,
        )
    if command and not lines and not _FAILED_EXIT.search(text[-400:]):
        yield Fact(kind="error", text="", key="", subject=command, effect="fixes", role=role)


def _error_lines(text: str) -> list[str]:
    """Different error lines, the last among them: in a traceback it says what went wrong."""
    if found := _ERROR_OBJECT.match(text):
        return [one_line(found[1], LINE_CHARS)]
    lines: dict[str, str] = {}
    for raw in text.split("\n"):
        line = one_line(error_report(raw), LINE_CHARS)
        if len(line) > 8:
            lines.setdefault(_DIGITS.sub("0", line.lower())[:80], line)
        if len(lines) > 40:
            break
    errors = list(lines.values())
    return errors if len(errors) <= MOST_ERRORS else [*errors[: MOST_ERRORS - 1], errors[-1]]


def command_of(arguments: dict[str, str]) -> str:
    """The command of a call on one line, if it is one that passes or fails; else empty."""
    command = arguments.get("command") or arguments.get("cmd") or arguments.get("script") or ""
    plain = " ".join(command[:2_000].split())
    return plain[:160] if _RUNS.search(plain) else ""


# Chosen: bounds on the work and the facts of one call; usual calls stay far below.
MOST_FILES: Final = 24
ARGUMENT_CHARS: Final = 400_000
PATH_CHARS: Final = 240

_READS: Final = word_set("""
    read open view cat readfile viewfile openfile getfile getfilecontents fileread notebookread
    readmanyfiles readtextfile viewimage
""")
_WRITES: Final = word_set("""
    write edit create insert append multiedit applypatch strreplace strreplaceeditor
    strreplacebasededittool replace writefile createfile editfile editblock updatefile
    searchreplace notebookedit filewrite fileedit writetofile patch replaceinfile writetextfile
    deletefile removefile insertcontent texteditor
""")
_SHELLS: Final = word_set("""
    bash shell terminal execcommand runcommand runshellcommand executebash executecommand
    runterminalcmd localshell exec run cmd
""")
_PATHS: Final = (
    *("file_path", "path", "filename", "file", "filepath", "target_file", "notebook_path"),
    *("absolute_path", "relative_workspace_path"),
)
_BEFORE: Final = (
    *("old_string", "old_str", "oldText", "old_text", "search", "SEARCH", "find"),
    *("target_content"),
)
_AFTER: Final = (
    *("new_string", "new_str", "newText", "new_text", "replace", "content", "file_text"),
    *("text", "contents", "replacement", "new_source", "insert_text", "code_edit"),
)
_PATCH = late(
    r"^\*\*\* (Update|Add|Delete) File: (.+)$|^(?:\+\+\+|---) (?:[ab]/)?(\S+)"
    r"|^([+-])(?![+-]{2} )",
    re.MULTILINE,
)
_STAT = late(r"^ ([^\s|][^|\n]{0,200}?) +\| +(\d+) ([+]*)([-]*)$", re.MULTILINE)
_SHELL_READ = late(
    r"(?:^|[;&|(]\s*)(?:cat|head|tail|less|more|nl|bat|sed -n|wc|jq)\s+((?:-\S+\s+|\d+\s+"
    r"|'[^']*'\s+|\"[^\"]*\"\s+)*)([\w./~@+-]+\.\w+|/[\w./@+-]+)"
)
_WRITTEN: Final = r"([\w./~@+-]+\.\w+|/(?!dev/)[\w./@+-]+)"
_SHELL_WRITE = late(
    rf"(?<![0-9&=>-])>{{1,2}}\s*{_WRITTEN}|\b(?:tee(?: -a)?|touch|rm(?: -\w+)*"
    rf"|sed -i(?: '')?(?: -e)? (?:'[^']*'|\"[^\"]*\"))\s+{_WRITTEN}"
)


def arguments_of(arguments: str) -> dict[str, JsonValue]:
    """The arguments of a call; a patch instead of JSON becomes the argument `input`."""
    if len(arguments) > ARGUMENT_CHARS:
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"input": arguments} if arguments.startswith("*** Begin Patch") else {}
    return value if isinstance(value, dict) else {}


def strings_of(arguments: dict[str, JsonValue]) -> dict[str, str]:
    """The arguments that are texts; a command given as a list becomes one line."""
    found = {name: value for name, value in arguments.items() if isinstance(value, str)}
    for name, value in arguments.items():
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            found[name] = " ".join(str(part) for part in value[:200])
    return found


def file_uses(name: str, arguments: dict[str, JsonValue], role: Role) -> Iterator[Fact]:
    """The files that a call reads or changes, in the order it names them."""
    plain = _letters(name.rpartition("__")[2].rpartition(".")[2])
    texts = strings_of(arguments)
    if plain in _SHELLS:
        yield from _shell_files(texts.get("command") or texts.get("cmd") or "", role)
        return
    path = next((texts[key] for key in _PATHS if texts.get(key)), "")
    patch = next((text for text in texts.values() if "*** Begin Patch" in text[:200]), "")
    if patch:
        for changed, size in list(_patch_sizes(patch).items())[:MOST_FILES]:
            yield _file("file_changed", changed, size, role)
    elif path and (plain in _READS or texts.get("command") == "view"):
        yield _file("file_read", path, "", role)
    elif path and plain in _WRITES:
        yield _file("file_changed", path, _edit_size(arguments, texts), role)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def changes(text: str, role: Role) -> Iterator[Fact]:
    """The lines per file that a diff, or the statistics of one, adds and removes."""
    if "diff --git" in text or "\n+++ " in text:
        for path, size in _patch_sizes(text).items():
            yield _file("change", path, size, role)
    elif " | " in text:
        for found in list(_STAT.finditer(text))[:MOST_FILES]:
            total, plus, minus = int(found[2]), len(found[3]), len(found[4])
            added = round(total * plus / (plus + minus)) if plus + minus else 0
            yield _file("change", found[1].strip(), f"+{added} −{total - added}", role)


def _patch_sizes(patch: str) -> dict[str, str]:
    """The added and removed lines of each file in a patch, such as `+12 −3`."""
    added, removed = Counter[str](), Counter[str]()
    path = ""
    for found in _PATCH.finditer(patch[:ARGUMENT_CHARS]):
        if named := (found[2] or found[3] or "").strip():
            path = named if named != "/dev/null" else path
            added[path] += 0  # a file without changed lines counts too
        elif path:
            (added if found[4] == "+" else removed)[path] += 1
    return {path: f"+{count} −{removed[path]}" for path, count in added.items() if path}


def _shell_files(command: str, role: Role) -> Iterator[Fact]:
    for found in list(_SHELL_READ.finditer(command[:4_000]))[:MOST_FILES]:
        yield _file("file_read", found[2], "", role)
    for found in list(_SHELL_WRITE.finditer(command[:4_000]))[:MOST_FILES]:
        yield _file("file_changed", found[1] or found[2], "", role)


def _edit_size(arguments: dict[str, JsonValue], texts: dict[str, str]) -> str:
    edits = arguments.get("edits")
    pairs = [texts]
    if isinstance(edits, list):
        pairs = [strings_of(edit) for edit in edits[:50] if isinstance(edit, dict)]
    added = removed = 0
    for pair in pairs:
        before = Counter(_first(pair, _BEFORE).splitlines())
        after = Counter(_first(pair, _AFTER).splitlines())
        added += (after - before).total()
        removed += (before - after).total()
    return f"+{added} −{removed}"


def _first(texts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((texts[name] for name in names if name in texts), "")


def _file(kind: Kind, path: str, value: str, role: Role) -> Fact:
    plain = " ".join(path[:PATH_CHARS].split())
    effect: Effect = "adds" if kind == "file_changed" else "states"
    return Fact(
        kind=kind, text=plain, key=plain, subject=plain, value=value, effect=effect, role=role
    )


MOST_ITEMS: Final = 30  # of a to-do list; chosen: a longer list is cut
ITEM_CHARS: Final = 120  # of an item; chosen: one line

_TODO_TOOLS: Final = word_set("""
    todowrite updateplan writetodos todoupdate updatetodos settodos managetodolist todolist
    updatetodolist tasktracker plan writetodo
""")
_LISTS: Final = ("todos", "plan", "tasks", "items", "todoList", "todo_list", "task_list", "steps")
_TITLES: Final = ("content", "step", "description", "title", "text", "task", "name")
_MARKS: Final = {"done": "x", "doing": "~", "open": " ", "dropped": "-"}
_STATES: Final = {
    "done": ("completed", "done", "complete", "finished", "closed"),
    "dropped": ("cancelled", "canceled", "dropped", "skipped"),
    "doing": ("in_progress", "doing", "active", "started"),
}


def todo_state(name: str, arguments: dict[str, JsonValue], role: Role) -> Fact | None:
    """The to-do list that a call writes; None for any other call."""
    if _letters(name.rpartition("__")[2]) not in _TODO_TOOLS:
        return None
    items = next((value for key in _LISTS if isinstance(value := arguments.get(key), list)), None)
    if items is None:
        return None
    entries = [entry for item in items[:MOST_ITEMS] if (entry := _todo_entry(item)) is not None]
    text = "; ".join(f"[{_MARKS[state]}] {title}" for state, title in entries)
    done = sum(state == "done" for state, _ in entries)
    return Fact(kind="todo", text=text, key="todo", value=f"{done}/{len(entries)}", role=role)


def _todo_entry(item: JsonValue) -> tuple[str, str] | None:
    """The state and the title of an item of a to-do list; None where it has no title."""
    if isinstance(item, str):
        return "open", one_line(item, ITEM_CHARS)
    if not isinstance(item, dict):
        return None
    title = next((value for key in _TITLES if isinstance(value := item.get(key), str)), "")
    return (_state(item), one_line(title, ITEM_CHARS).replace(";", ",")) if title else None


def _state(item: dict[str, JsonValue]) -> str:
    if item.get("done") is True or item.get("completed") is True:
        return "done"
    state = str(item.get("status") or item.get("state") or "").lower().replace("-", "_")
    return next((name for name, words in _STATES.items() if state in words), "open")


# Chosen: bounds on what one message may ask to keep; a longer text is a document.
MEMORY_CHARS: Final = 400
PASSAGE_CHARS: Final = 20_000
MOST_PASSAGES: Final = 20

_PIN = late(r"<pin>(.*?)</pin>", re.IGNORECASE | re.DOTALL)
_REMEMBER = late(
    r"(?:^|[,.;:!] ?|\b(?:please|and|so|but|also|just) )(?:remember|keep in mind|don't forget"
    r"|do not forget|make a note|note down)(?: that|:|,|\s)(?! (?:when|me|how|the time)\b)",
    re.IGNORECASE,
)
_REMEMBER_HAN = late("(?:^|[，,。；：请你要帮]|一定)(?:请)?(?:记住|记得|记一下|记下|别忘了|不要忘)")
_WRITES_MEMORY = late(
    r"(?:save|add|create|store|write|update|insert|append|put|set|record|log|new|make)\w*memor"
    r"|memor(?:y|ies)\w*(?:save|add|create|store|write|update|insert|append|put|set|record)"
    r"|^(?:remember|memori[sz]e|memor(?:y|ies))(?:that|this|fact)?$"
)
_TEXTS: Final = (
    *("content", "text", "memory", "fact", "note", "value", "observation", "data", "message"),
    *("memories", "observations", "file_text", "new_str", "insert_text"),
)
_READS_MEMORY: Final = ("view", "read", "search", "list", "delete", "get")


def passages_of(message: Message) -> list[str]:
    """The texts between `<Pin>` and `</Pin>` in a user's message."""
    if message.role != "user" or "<" not in (text := message.text):
        return []
    passages = (passage.strip() for passage in _PIN.findall(text)[:MOST_PASSAGES])
    return [passage[:PASSAGE_CHARS] for passage in passages if passage]


def memories_of(message: Message) -> list[str]:
    """What a message asks to remember, in its words: a user's request, or calls that write it."""
    if message.role == "user":
        return list(_requested_memories(message.text))
    return [memory for call in message.calls for memory in _written_memories(call)]


def _requested_memories(text: str) -> Iterator[str]:
    prose = sample(text, PROSE_CHARS)
    if not _asks_to_remember(prose):
        return
    for sentence in sentences(prose):
        words = sentence.text.strip()
        if not words.endswith(("?", "？")) and _asks_to_remember(words):
            yield one_line(words, MEMORY_CHARS)


def _asks_to_remember(text: str) -> bool:
    return bool(_REMEMBER.search(text) or _REMEMBER_HAN.search(text))


def _written_memories(call: ToolCall) -> Iterator[str]:
    if not _WRITES_MEMORY.search(_letters(call.name.rpartition("__")[2])):
        return
    values = arguments_of(call.arguments)
    if str(values.get("command") or values.get("action") or "").lower() not in _READS_MEMORY:
        yield from _memory_texts(values)


def _memory_texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield one_line(value, MEMORY_CHARS)
    elif isinstance(value, list):
        for item in value[:MOST_PASSAGES]:
            yield from _memory_texts(item)
    elif isinstance(value, dict):
        yield from _memory_texts(next((value[key] for key in _TEXTS if value.get(key)), None))
