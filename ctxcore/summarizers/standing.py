"""Owns the forms of words by which a user lays down what holds from then on, not just once.

They are found by pattern alone, in English and Chinese. English patterns read lower case, which is
several times faster than ignoring case.
"""

from __future__ import annotations

import re

from ctxcore.messages.values import Role

# "I have always lived here" tells, "always run the tests" instructs: it opens a clause.
_OPENS = r"(?:(?<![^\n])|(?<=[.,;:!?(] )|(?<=please )|(?<=should )|(?<=must )|(?<=and )|(?<=but ))"
_ENGLISH = re.compile(
    rf"\b(?:{_OPENS}(?:never|always)|from now on|going forward|at all times"
    r"|under no circumstances|in no case"
    rf"|{_OPENS}(?:do not|don['’]t) [^.!?\n]* (?:without|unless|until)"
    r"|standing instruction|(?:the|new|this) rule|still needs? my|only after i)\b"
)
_SIGNS = (  # every English form has one of them
    *("never", "always", "from now", "forward", "at all times", "under no", "in no case"),
    *("without", "unless", "until", "standing", "rule", "still need", "only after"),
)
_CHINESE = re.compile(
    "不要|不得|不许|禁止|必须|务必|只能|一定要|从现在|今后|以后|始终|永远|千万|不再"
)


def is_standing(text: str, role: Role | None) -> bool:
    """Whether a user lays down what holds from then on."""
    if role in ("assistant", "tool"):
        return False
    lower = text.lower()
    if any(map(lower.__contains__, _SIGNS)) and _ENGLISH.search(lower):
        return True
    return not text.isascii() and bool(_CHINESE.search(text))
