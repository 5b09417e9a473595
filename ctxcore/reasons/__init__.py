"""Why something happened, as codes with facts; every code of the library is known once imported."""

from ctxcore.reasons import (
    allowed,
    codes,
    file_problems,
    foreign,
    message_problems,
    places,
    problems,
    quoting,
    store_problems,
)

__all__ = [
    "allowed",
    "codes",
    "file_problems",
    "foreign",
    "message_problems",
    "places",
    "problems",
    "quoting",
    "store_problems",
]
