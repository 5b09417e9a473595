"""Reasons: codes with facts. Importing this package declares every code of the library."""

from ctxcore.reasons import codes, foreign, message_problems, places, problems, storage_problems

__all__ = [
    "codes",
    "foreign",
    "message_problems",
    "places",
    "problems",
    "storage_problems",
]
