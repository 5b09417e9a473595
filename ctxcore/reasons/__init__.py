"""Why something happened, as codes with facts; every code of the library is known once imported."""

from ctxcore.reasons import codes, problems

__all__ = ["codes", "problems"]
