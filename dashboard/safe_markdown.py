"""Makes text of models and people safe to draw as markdown.

An image would make the browser fetch its address, so images become links. Directives, shortcodes
and single dollar signs are shown literally. Code stays unchanged; where it is not certain to be
code, an invisible character breaks what could be an image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_BACKTICKS_OR_END = re.compile(r"`+|\n")
_IMAGE = re.compile(r"!\[(\s*\])?")
_BLOCK_MATH = re.compile(r"(\$\$.+?\$\$)", re.DOTALL)
_DOLLAR = re.compile(r"(?<!\\)\$")
_DIRECTIVE = re.compile(r"(?<!\\):(?=[a-zA-Z][\w-]*\[)")
_SHORTCODE = re.compile(r":(?=(?:[a-zA-Z+\-][\w+\-]*|100|1234|material/\w+):)")
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!$<>|~:])")

# HTML or $$ at the start of a line, or a fence inside one: fences may end earlier than they seem.
_UNCERTAIN = re.compile(r"^(?:[^\S\n]*<|[^\S\n]*\$\$|(?!`{3}|~{3}).*(?:`{3}|~{3}))", re.MULTILINE)

# Where an address begins to be one: the front end links it even where its marks are escaped.
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.)", re.IGNORECASE)

_WORD_JOINER = "\u2060"  # invisible; breaks what an escaping backslash would not


def safe_markdown(text: str) -> str:
    """`text` as markdown that loads nothing and reads as it was typed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    is_certain = _UNCERTAIN.search(text) is None
    return "".join(
        (block if is_certain else _broken(block)) if is_code else _safe_lines(block)
        for is_code, block in _blocks(text)
    )


def with_line_breaks(text: str) -> str:
    """`text` as safe markdown that keeps its line breaks."""
    lines = safe_markdown(text).split("\n")
    return "\n".join(f"{line}  " if line.strip() else line for line in lines)


def plain_label(text: str, *, max_chars: int = 80) -> str:
    """`text` on one line with all markdown escaped and no address a link, for labels."""
    line = " ".join(text.split(None, max_chars))  # the rest of a long text is one last part
    short = line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"
    return _escaped(_ADDRESS.sub(_WORD_JOINER, short))


def marked_text(text: str, words: Sequence[str]) -> str:
    """`text` with all markdown escaped, its line breaks kept and each of `words` highlighted."""
    if not words:
        return "\n".join(f"{_escaped(line)}  " for line in text.split("\n"))
    longest = sorted(words, key=len, reverse=True)
    found = re.compile(f"({'|'.join(map(re.escape, longest))})", re.IGNORECASE)
    return "\n".join(
        "".join(
            f":orange-background[{_escaped(part)}]" if at % 2 else _escaped(part)
            for at, part in enumerate(found.split(line))
        )
        + "  "
        for line in text.split("\n")
    )


def _escaped(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", text)


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Runs of lines, each with whether it is fenced code; an open fence runs to the end."""
    lines: list[str] = []
    fence = ""
    for line in re.split(r"(?<=\n)", text):
        found = _FENCE.match(line)
        mark = (found.group(1) or found.group(2)) if found else ""
        if not fence and mark:
            yield False, "".join(lines)
            lines, fence = [line], mark
        elif fence and mark.startswith(fence) and not line.strip().strip(mark[0]):
            yield True, "".join([*lines, line])
            lines, fence = [], ""
        else:
            lines.append(line)
    yield bool(fence), "".join(lines)


def _safe_lines(text: str) -> str:
    """Prose made safe; in code spans only possible images are broken."""
    pieces: list[str] = []
    end = 0
    for start, stop in _code_spans(text):
        pieces += [_safe_prose(text[end:start]), _broken(text[start:stop])]
        end = stop
    return "".join([*pieces, _safe_prose(text[end:])])


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where code within a line starts and ends: at a run of backticks and the next one as long.

    A backslash in front of a run keeps it from starting one.
    """
    runs = [*_BACKTICKS_OR_END.finditer(text)]
    ahead: dict[int, int] = {}  # where the next run of a length ends, on the same line
    ends: dict[int, int] = {}
    for run in reversed(runs):
        start, stop = run.span()
        if text[start] == "\n":
            ahead.clear()
            continue
        if stop - start in ahead:
            ends[start] = ahead[stop - start]
        ahead[stop - start] = stop
    last = 0
    for run in runs:
        start = run.start()
        if start >= last and start in ends and text[max(0, start - 1)] != "\\":
            last = ends[start]
            yield start, last


def _broken(code: str) -> str:
    return code.replace("![", f"!{_WORD_JOINER}[")


def _safe_prose(text: str) -> str:
    linked = _IMAGE.sub(_link, text)
    named = _SHORTCODE.sub(f":{_WORD_JOINER}", _DIRECTIVE.sub(r"\\:", linked))
    parts = _BLOCK_MATH.split(named)
    return "".join(part if at % 2 else _DOLLAR.sub(r"\\$", part) for at, part in enumerate(parts))


def _link(image: re.Match[str]) -> str:
    """The link in place of an image; an exclamation mark before it stays one."""
    name = "image]" if image.group(1) else ""
    start = image.start()
    has_mark = image.string[start - 1 : start] == "!"
    return f"{_WORD_JOINER}[{name}" if has_mark else f"[{name}"
