"""Codes for messages of Python, the operating system and databases.

The text of each code is the foreign message itself, so a message is recognized by equality. Other
messages stay plain text.
"""

from __future__ import annotations

import errno
import json
from typing import Final

from ctxcore.reasons.values import Code, Reason, as_reason, blanks


class JsonProblem(Code):
    """The messages of Python's `json`, with the place in the text."""

    AT_COLUMN = "json.column", "{reason} at column {column}"
    AT_PLACE = "json.place", "{reason}: line {line} column {column} (char {char})"
    VALUE = "json.value", "Expecting value"
    NAME = "json.name", "Expecting property name enclosed in double quotes"
    COMMA_IN_OBJECT = "json.comma_in_object", "Illegal trailing comma before end of object"
    COMMA_IN_ARRAY = "json.comma_in_array", "Illegal trailing comma before end of array"
    NO_COMMA = "json.no_comma", "Expecting ',' delimiter"
    NO_COLON = "json.no_colon", "Expecting ':' delimiter"
    EXTRA = "json.extra", "Extra data"
    UNTERMINATED = "json.unterminated", "Unterminated string starting at"
    UNTERMINATED_SHORT = "json.unterminated_short", "Unterminated string starting"
    CONTROL = "json.control", "Invalid control character at"
    CONTROL_SHORT = "json.control_short", "Invalid control character"
    ESCAPE = "json.escape", "Invalid \\escape"
    UNICODE = "json.unicode", "Invalid \\uXXXX escape"
    CIRCULAR = "json.circular", "Circular reference detected"
    DEEP = "json.deep", "it is nested too deeply"


class SystemProblem(Code):
    """The messages of operating systems about files."""

    MISSING = "system.missing", "No such file or directory"
    PERMISSION = "system.permission", "Permission denied"
    FOLDER = "system.folder", "Is a directory"
    NO_FOLDER = "system.no_folder", "Not a directory"
    FULL = "system.full", "No space left on device"
    NUMBERED = "system.numbered", "[Errno {number}] {problem}"
    NUMBERED_FILE = "system.numbered_file", "[Errno {number}] {problem}: {path!r}"


class DatabaseProblem(Code):
    """The messages of SQLite."""

    LOCKED = "database.locked", "database is locked"
    READONLY = "database.readonly", "attempt to write a readonly database"
    NO_FILE = "database.no_file", "unable to open database file"
    MALFORMED = "database.malformed", "database disk image is malformed"
    NO_DATABASE = "database.no_database", "file is not a database"
    FULL = "database.full", "database or disk is full"
    DISK = "database.disk", "disk I/O error"


_KNOWN: Final = {
    code.text: code
    for codes in (JsonProblem, SystemProblem, DatabaseProblem)
    for code in codes
    if not blanks(code.text)
}
_BY_NUMBER: Final = {
    errno.ENOENT: SystemProblem.MISSING,
    errno.EACCES: SystemProblem.PERMISSION,
    errno.EISDIR: SystemProblem.FOLDER,
    errno.ENOTDIR: SystemProblem.NO_FOLDER,
    errno.ENOSPC: SystemProblem.FULL,
}


def foreign(message: str) -> Reason:
    """A foreign message as a reason: by its code if it has one, else as plain text."""
    code = _KNOWN.get(message)
    return as_reason(message) if code is None else code()


def system_reason(error: OSError) -> Reason:
    """The operating system's message, without the name of the file."""
    code = _BY_NUMBER.get(error.errno or 0)
    return foreign(error.strerror or str(error)) if code is None else code()


def reason_of(error: BaseException) -> Reason:
    """The reason of an error: its own `reason`, else its message as `str()` gives it."""
    own = getattr(error, "reason", None)
    if isinstance(own, Reason):
        return own
    if isinstance(error, json.JSONDecodeError):
        return JsonProblem.AT_PLACE(
            reason=foreign(error.msg), line=error.lineno, column=error.colno, char=error.pos
        )
    if isinstance(error, OSError) and error.errno and error.strerror and not error.filename2:
        return _numbered(error)
    return foreign(str(error))


def column_reason(error: json.JSONDecodeError) -> Reason:
    """The problem and its column in a text, for callers that name the line themselves."""
    message = error.msg.removesuffix(" at")
    return JsonProblem.AT_COLUMN(reason=foreign(message), column=error.colno)


def _numbered(error: OSError) -> Reason:
    problem, number = system_reason(error), error.errno or 0
    if error.filename is None:
        return SystemProblem.NUMBERED(number=number, problem=problem)
    return SystemProblem.NUMBERED_FILE(number=number, problem=problem, path=str(error.filename))
