"""Reads uploaded text files; a pure function."""

from __future__ import annotations

from dashboard.codes import GivenError, GivenProblem

MAX_MEGABYTES = 5  # chosen: far above what fits in any window


def text_of_file(name: str, data: bytes) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises:
        GivenError: it is no text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GivenError(GivenProblem.NO_TEXT(name=name)) from error
    if "\0" in text:  # no text has it, and databases refuse it
        raise GivenError(GivenProblem.NO_TEXT(name=name))
    return text
