"""Owns telling what a threshold may be, in the page's language and as its input takes it.

The library says it in English, with shares and lists as files write them; what is not recognised
is shown as the library says it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dashboard.settings.fields import Field
from dashboard.texts import t

_OR_NONE = ", or none"
_ANYWHERE = {
    "whole": re.compile(r"a whole number of at least (?P<low>[\d,]+)"),
    "number": re.compile(r"a number from (?P<low>[\d.e-]+) to (?P<high>[\d.]+)"),
    "text": re.compile(r"a text of at least (?P<low>\d+) characters"),
    "one_of": re.compile(r"one of (?P<names>.+)"),
    "yes_or_no": re.compile(r"yes or no"),
}
_TYPED = {  # said of inputs alone: files write lists another way
    "beside": re.compile(r"at most (?P<high>[\d.e-]+) beside a recent_history_ratio of .+"),
    "falling": re.compile(r"a list of whole numbers, each smaller than the one before"),
    "turns_by_messages": re.compile(r"a list of \(messages, turns\), the messages falling"),
    "tool_limits": re.compile(
        r"a list of \(tool, tokens\), the tokens from (?P<low>\d+) on, no tool twice"
    ),
    "tool_names": re.compile(r"a list of names of tools"),
}


def allowed_label(allowed: str, field: Field | None = None) -> str:
    """What is allowed, by the library's words for it; of an input, as it takes `field`."""
    plain = allowed.removesuffix(_OR_NONE)
    if plain != allowed:
        return t("settings.allowed.or_none", allowed=allowed_label(plain, field))
    for name, form in (_ANYWHERE if field is None else {**_ANYWHERE, **_TYPED}).items():
        if (found := form.fullmatch(allowed)) is not None:
            return t(f"settings.allowed.{name}", **_facts(found.groupdict(), field))
    return allowed


def _facts(found: Mapping[str, str], field: Field | None) -> dict[str, str]:
    """The numbers of a rule, shares as percentages where the input takes those."""
    if field is None or field.kind != "percent":
        return dict(found)
    return {name: f"{float(number) * 100:g} %" for name, number in found.items()}
