"""Owns telling what is wrong with a file or a line of it, in the page's language.

The library says it in English; what is not recognised is shown as the library says it.
"""

from __future__ import annotations

import re

from ctxcore.errors import ContextError, FormatError
from dashboard.sentences import sentence
from dashboard.texts import t
from dashboard.wording import words_for

_FORMS = {
    "line": re.compile(r"line (?P<line>\d+): (?P<problem>.+)", re.DOTALL),
    "expected": re.compile(r"(?P<problem>.+); expected OpenAI chat messages .+", re.DOTALL),
    "no_conversation": re.compile(r"holds no conversation: (?P<problem>.+)", re.DOTALL),
    "no_content": re.compile(r"the (?P<kind>\w+) record has no content"),
    "damaged": re.compile(r"the JSON is damaged or cut off: (?P<reason>.+)", re.DOTALL),
    "not_json": re.compile(r"is not JSON: (?P<reason>.+)", re.DOTALL),
}


def file_problem(error: ContextError) -> str:
    """Why a file cannot be read, and where in it."""
    if not isinstance(error, FormatError):
        return sentence(error)
    told = error.problem if error.line is None else f"line {error.line}: {error.problem}"
    return f"{error.path}: {problem_label(told)}"


def problem_label(told: str) -> str:
    """What the library says of a line or a file."""
    for name, form in _FORMS.items():
        if (found := form.fullmatch(told)) is not None:
            facts = found.groupdict()
            if "problem" in facts:
                facts["problem"] = problem_label(facts["problem"])
            return t(f"sessions.problem.{name}", **facts)
    return words_for("sessions.problem", told)
