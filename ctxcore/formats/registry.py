"""The transcript formats there are; where records fit several, the first one reads them."""

from __future__ import annotations

from ctxcore.formats.values import Format
from ctxcore.reasons.file_problems import FileProblem
from ctxcore.reasons.quoting import any_of
from ctxcore.reasons.values import Reason
from ctxcore.registries import At, Registry

FORMATS: Registry[Format] = Registry(
    "transcript format",
    {
        "claude-code": At("ctxcore.formats.claude_code:CLAUDE_CODE"),
        "openai": At("ctxcore.formats.openai_chat:OPENAI_CHAT"),  # the last one takes what is left
    },
)


def register_format(fmt: Format, *, before: str = "openai") -> None:
    """Adds a format, asked before the one named `before`; OpenAI's takes whatever is left.

    Raises:
        NameTakenError: there is a format of this name.
        KeyError: there is none named `before`.
    """
    FORMATS.register(fmt.name, fmt, before=before)


def expected(problem: Reason) -> Reason:
    """`problem` of a file, and which formats are read."""
    labels = [FORMATS[name].label for name in reversed(tuple(FORMATS))]
    return FileProblem.EXPECTED(problem=problem, formats=any_of(labels))
