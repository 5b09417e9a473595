"""Compiles patterns when they are first used: compiling all takes longer than many a command."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Late:
    """Stands for a pattern; after the first use it has the pattern's own methods."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:  # asked by copy and pickle, say
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(source, flags)`, put off until the pattern is used."""
    return cast("re.Pattern[str]", _Late(source, flags))
