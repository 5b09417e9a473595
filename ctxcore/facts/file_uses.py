"""Owns which files a tool call reads and changes, by how much, and the lines a diff adds and takes.

Names and arguments are read the way coding agents write them; an unknown tool reads nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.values import Effect, Fact, Kind
from ctxcore.messages.values import JsonValue, Role

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
