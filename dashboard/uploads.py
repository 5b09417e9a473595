"""What may be uploaded: how much, and which files; reads uploaded texts.

The server's own limit (`server.maxUploadSize` in `.streamlit/config.toml`) is the largest of these.
"""

from __future__ import annotations

from typing import Final

from ctxcore.formats.reading import readable_suffixes
from dashboard.codes import GivenError, GivenProblem

TEXT_MEGABYTES: Final = 5  # of a text for the model; chosen: far above what fits in any window
IMPORT_MEGABYTES: Final = 50  # of a transcript; chosen: larger than recorded sessions usually are


def import_types() -> list[str]:
    """The suffixes of files that can be imported, as an uploader takes them."""
    return [suffix.removeprefix(".") for suffix in readable_suffixes()]


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
