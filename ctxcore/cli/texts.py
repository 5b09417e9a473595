"""Owns making texts of files harmless to look at, and how numbers are written.

What a terminal would obey (escape sequences, marks that turn the direction of text) is shown as an
escape; nothing here is ever read as markup.
"""

from __future__ import annotations

import re

ESTIMATED = "~ estimated"

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    """`text` on one line, fit to be shown."""
    return escape(" ".join(text.split()))


def block(text: str) -> str:
    """`text` with its lines as they are, fit to be shown."""
    return "\n".join(escape(line.expandtabs(4)) for line in text.split("\n"))


def escape(text: str) -> str:
    """`text` with everything a terminal would obey, line feeds too, as escapes."""
    return _OBEYED.sub(_escaped, text)


def json_escape(text: str) -> str:
    r"""JSON text that means the same with the same characters as `\u` escapes.

    Line feeds stay: in JSON text they stand between values only.
    """
    return _OBEYED.sub(lambda found: _unit_escapes(found[0]), text)


def amount(tokens: int, *, is_exact: bool = True) -> str:
    """A number of tokens; `~` before it says that it is estimated."""
    return f"{'' if is_exact or not tokens else '~'}{tokens:,}"


def percent(ratio: float) -> str:
    """A share; never rounded to nothing or to all."""
    if 0 < ratio < 0.01:
        return "<1 %"
    return "99 %" if 0.99 < ratio < 1 else f"{ratio:.0%}".replace("%", " %")


def plural(count: int, noun: str) -> str:
    """`3 messages`, `1 message`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def how_counted(counter_id: str, *, is_exact: bool) -> str:
    """Whether counts are exact, and by which counter."""
    return f"{'exact' if is_exact else 'estimated'}, {counter_id.removeprefix('estimate:')}"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unit_escapes(character: str) -> str:
    if character == "\n":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
