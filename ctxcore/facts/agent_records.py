"""Owns error lines in tool outputs, and the news that a command which failed has passed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.reading import PROSE_CHARS, one_line, sample, sentences
from ctxcore.facts.topics import matter_of
from ctxcore.facts.values import Effect, Fact, Kind
from ctxcore.messages.values import JsonValue, Message, Role
from ctxcore.text.signals import error_report, mentions_error

MOST_ERRORS: Final = 3
LINE_CHARS: Final = 240

_ERROR_OBJECT = re.compile(
    r"^\s*\{[^{}]{0,60}\"(?:error|error_message|errors"
    r"|exception)\"\s*:\s*(?:\{[^{}]*?\"message\"\s*:\s*)?\"([^\"]{3,300})"
)
_FAILED_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?:?|code) [1-9]\d{0,2}\b", re.IGNORECASE
)
_RUNS = re.compile(
    r"\b(?:test|tests|pytest|jest|vitest|build|compile|tsc|check|lint|ruff|mypy|eslint"
    r"|make|cargo|go (?:test|build|run|vet)|npm|npx|pnpm|yarn|bun|mvn|gradle|python[\d.]*"
    r"|node|ruby|bash|sh|deploy|docker|terraform|mix|dotnet|install|migrate)\b"
)
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")


def failures(text: str, role: Role, command: str) -> Iterator[Fact]:
    """The error lines of an output; where it has none, that its command now passes."""
    lines = _lines(text) if mentions_error(text) else []
    for line in lines:
        yield Fact(
            kind="error",
            text=line,
            key=_DIGITS.sub("0", line.lower())[:160],
            subject=command,
            matter=matter_of(line),
            role=role,
        )
    if command and not lines and not _FAILED_EXIT.search(text[-400:]):
        yield Fact(kind="error", text="", key="", subject=command, effect="fixes", role=role)


def _lines(text: str) -> list[str]:
    """Different error lines; of a traceback its last, which says what went wrong."""
    if found := _ERROR_OBJECT.match(text):
        return [one_line(found[1], LINE_CHARS)]
    lines: dict[str, str] = {}
    for raw in text.split("\n"):
        line = one_line(error_report(raw), LINE_CHARS)
        if len(line) > 8:
            lines.setdefault(_DIGITS.sub("0", line.lower())[:80], line)
        if len(lines) > 40:
            break
    told = list(lines.values())
    return told if len(told) <= MOST_ERRORS else [*told[: MOST_ERRORS - 1], told[-1]]


def command_of(arguments: dict[str, str]) -> str:
    """The command a call ran, on one line, if it is one that passes or fails; else empty."""
    command = arguments.get("command") or arguments.get("cmd") or arguments.get("script") or ""
    plain = " ".join(command[:2_000].split())
    return plain[:160] if _RUNS.search(plain) else ""


MOST_FILES: Final = 24
ARGUMENT_CHARS: Final = 400_000
PATH_CHARS: Final = 240

_READS_WORDS = """
    read open view cat readfile viewfile openfile getfile getfilecontents fileread notebookread
    readmanyfiles readtextfile viewimage
"""
_READS: Final = frozenset(_READS_WORDS.split())
_WRITES_WORDS = """
    write edit create insert append multiedit applypatch strreplace strreplaceeditor
    strreplacebasededittool replace writefile createfile editfile editblock updatefile
    searchreplace notebookedit filewrite fileedit writetofile patch replaceinfile writetextfile
    deletefile removefile insertcontent texteditor
"""
_WRITES: Final = frozenset(_WRITES_WORDS.split())
_SHELLS_WORDS = """
    bash shell terminal execcommand runcommand runshellcommand executebash executecommand
    runterminalcmd localshell exec run cmd
"""
_SHELLS: Final = frozenset(_SHELLS_WORDS.split())
_PATHS: Final = (
    "file_path",
    "path",
    "filename",
    "file",
    "filepath",
    "target_file",
    "notebook_path",
    "absolute_path",
    "relative_workspace_path",
)
_BEFORE: Final = (
    "old_string",
    "old_str",
    "oldText",
    "old_text",
    "search",
    "SEARCH",
    "find",
    "target_content",
)
_AFTER: Final = (
    "new_string",
    "new_str",
    "newText",
    "new_text",
    "replace",
    "content",
    "file_text",
    "text",
    "contents",
    "replacement",
    "new_source",
    "insert_text",
    "code_edit",
)
_PATCH = re.compile(
    r"^\*\*\* (Update|Add|Delete) File: (.+)$|^(?:\+\+\+|---) (?:[ab]/)?(\S+)"
    r"|^([+-])(?![+-]{2} )",
    re.MULTILINE,
)
_STAT = re.compile(r"^ ([^\s|][^|\n]{0,200}?) +\| +(\d+) ([+]*)([-]*)$", re.MULTILINE)
_SHELL_READ = re.compile(
    r"(?:^|[;&|(]\s*)(?:cat|head|tail|less|more|nl|bat|sed -n|wc|jq)\s+((?:-\S+\s+|\d+\s+"
    r"|'[^']*'\s+|\"[^\"]*\"\s+)*)([\w./~@+-]+\.\w+|/[\w./@+-]+)"
)
_SHELL_WRITE = re.compile(
    r"(?<![0-9&=>-])>{1,2}\s*([\w./~@+-]+\.\w+|/(?!dev/)[\w./@+-]+)|\b(?:tee(?: -a)?"
    r"|touch|rm(?: -\w+)*|sed -i(?: '')?(?: -e)? (?:'[^']*'"
    r"|\"[^\"]*\"))\s+([\w./~@+-]+\.\w+|/(?!dev/)[\w./@+-]+)"
)


def arguments_of(arguments: str) -> dict[str, JsonValue]:
    """The arguments of a call as values; a patch that is no JSON as its `input`."""
    if len(arguments) > ARGUMENT_CHARS:
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"input": arguments} if arguments.startswith("*** Begin Patch") else {}
    return value if isinstance(value, dict) else {}


def strings_of(arguments: dict[str, JsonValue]) -> dict[str, str]:
    """The arguments that are texts; a command given as a list as one line."""
    found = {name: value for name, value in arguments.items() if isinstance(value, str)}
    for name, value in arguments.items():
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            found[name] = " ".join(str(part) for part in value[:200])
    return found


def file_uses(name: str, arguments: dict[str, JsonValue], role: Role) -> Iterator[Fact]:
    """Files that a call reads or changes, in the order it names them."""
    plain = re.sub(r"[^a-z]", "", name.rpartition("__")[2].rpartition(".")[2].lower())
    texts = strings_of(arguments)
    if plain in _SHELLS:
        yield from _of_shell(texts.get("command") or texts.get("cmd") or "", role)
        return
    path = next((texts[key] for key in _PATHS if texts.get(key)), "")
    patch = next((text for text in texts.values() if "*** Begin Patch" in text[:200]), "")
    if patch:
        yield from _of_patch(patch, role)
    elif path and (plain in _READS or texts.get("command") == "view"):
        yield _file("file_read", path, "", role)
    elif path and plain in _WRITES:
        yield _file("file_changed", path, _edit_size(arguments, texts), role, effect="adds")


def changes(text: str, role: Role) -> Iterator[Fact]:
    """The lines per file that a diff, or the statistics of one, adds and takes."""
    if "diff --git" in text or "\n+++ " in text:
        for path, (added, taken) in _patch_sizes(text).items():
            yield _file("change", path, f"+{added} −{taken}", role)
    elif " | " in text:
        for found in list(_STAT.finditer(text))[:MOST_FILES]:
            total, plus, minus = int(found[2]), len(found[3]), len(found[4])
            added = round(total * plus / (plus + minus)) if plus + minus else 0
            yield _file("change", found[1].strip(), f"+{added} −{total - added}", role)


def _of_patch(patch: str, role: Role) -> Iterator[Fact]:
    for path, (added, taken) in list(_patch_sizes(patch).items())[:MOST_FILES]:
        yield _file("file_changed", path, f"+{added} −{taken}", role, effect="adds")


def _patch_sizes(patch: str) -> dict[str, tuple[int, int]]:
    sizes: dict[str, tuple[int, int]] = {}
    path = ""
    for found in _PATCH.finditer(patch[:ARGUMENT_CHARS]):
        if found[2] or found[3]:
            named = (found[2] or found[3]).strip()
            path = named if named != "/dev/null" else path
            sizes.setdefault(path, (0, 0))
        elif path:
            added, taken = sizes[path]
            sizes[path] = (added + (found[4] == "+"), taken + (found[4] == "-"))
    return {name: size for name, size in sizes.items() if name}


def _of_shell(command: str, role: Role) -> Iterator[Fact]:
    words = command[:4_000]
    for found in list(_SHELL_READ.finditer(words))[:MOST_FILES]:
        yield _file("file_read", found[2], "", role)
    for found in list(_SHELL_WRITE.finditer(words))[:MOST_FILES]:
        yield _file("file_changed", found[1] or found[2], "", role, effect="adds")


def _edit_size(arguments: dict[str, JsonValue], texts: dict[str, str]) -> str:
    edits = arguments.get("edits")
    pairs = [texts]
    if isinstance(edits, list):
        pairs = [strings_of(edit) for edit in edits[:50] if isinstance(edit, dict)]
    added = taken = 0
    for pair in pairs:
        before = Counter(_first(pair, _BEFORE).splitlines())
        after = Counter(_first(pair, _AFTER).splitlines())
        added += (after - before).total()
        taken += (before - after).total()
    return f"+{added} −{taken}"


def _first(texts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((texts[name] for name in names if name in texts), "")


def _file(kind: Kind, path: str, value: str, role: Role, *, effect: Effect = "states") -> Fact:
    plain = " ".join(path[:PATH_CHARS].split())
    return Fact(
        kind=kind, text=plain, key=plain, subject=plain, value=value, effect=effect, role=role
    )


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


MEMORY_CHARS: Final = 400
PASSAGE_CHARS: Final = 20_000
MOST_PASSAGES: Final = 20

_PIN = re.compile(r"<pin>(.*?)</pin>", re.IGNORECASE | re.DOTALL)
_REMEMBER = re.compile(
    r"(?:^|[,.;:!] ?|\b(?:please|and|so|but|also|just) )(?:remember|keep in mind|don't forget"
    r"|do not forget|make a note|note down)(?: that|:|,|\s)(?! (?:when|me|how|the time)\b)",
    re.IGNORECASE,
)
_REMEMBER_HAN = re.compile(
    "(?:^|[，,。；：请你要帮]|一定)(?:请)?(?:记住|记得|记一下|记下|别忘了|不要忘)"
)
_WRITES_MEMORY = re.compile(
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
    """What stands between `<Pin>` and `</Pin>` in a user's message."""
    if message.role != "user":
        return []
    text = message.text
    if "<" not in text:
        return []
    found = (part.strip() for part in _PIN.findall(text)[:MOST_PASSAGES])
    return [part[:PASSAGE_CHARS] for part in found if part]


def memories_of(message: Message) -> list[str]:
    """What a message asks to be remembered, in its words."""
    if message.role == "user":
        return [*_asked(message.text)]
    return [told for call in message.calls for told in _written(call.name, call.arguments)]


def _asked(text: str) -> Iterator[str]:
    prose = sample(text, PROSE_CHARS)
    if not (_REMEMBER.search(prose) or _REMEMBER_HAN.search(prose)):
        return
    for sentence in sentences(prose):
        said = sentence.text.strip()
        if said.endswith(("?", "？")):
            continue
        if _REMEMBER.search(said) or _REMEMBER_HAN.search(said):
            yield one_line(said, MEMORY_CHARS)


def _written(name: str, arguments: str) -> Iterator[str]:
    """What a tool call that writes a memory writes."""
    if not _WRITES_MEMORY.search(re.sub(r"[^a-z]", "", name.rpartition("__")[2].lower())):
        return
    values = arguments_of(arguments)
    if str(values.get("command") or values.get("action") or "").lower() in _READS_MEMORY:
        return
    value = next((values[key] for key in _TEXTS if values.get(key)), None)
    yield from _told(value)


def _told(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield one_line(value, MEMORY_CHARS)
    elif isinstance(value, list):
        for one in value[:MOST_PASSAGES]:
            yield from _told(one)
    elif isinstance(value, dict):
        yield from _told(next((value[key] for key in _TEXTS if value.get(key)), None))
