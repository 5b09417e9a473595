"""Why something happened, as codes with facts; every code of the library is known once imported."""

from ctxcore.reasons import codes, foreign, message_problems, places, problems, storage_problems

__all__ = [
    "codes",
    "foreign",
    "message_problems",
    "places",
    "problems",
    "storage_problems",
]
