"""Owns what kind of output a tool returned; decided from its text alone, from a bounded sample.

Only JSON is decided by the whole text: JSON is what `json.loads` reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.compression.json_text import TooDeepError
from ctxcore.compression.structures import Structure, read_structure

Kind = Literal["json", "table", "log", "diff", "code", "html", "text", "binary"]

SAMPLE_CHARS: Final = 8_000  # about 150 lines: enough for shares, flat in the size of the output

_CONTROL: Final = re.compile(r"[\r\x1b\x08]+")
_BASE64: Final = re.compile(r"(?:data:[\w/+.-]*;base64,)?[A-Za-z0-9+/_-]{160,}={0,2}")
_DIFF: Final = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ |@@ -\d+)", re.MULTILINE)
_HTML: Final = re.compile(r"\s*(?:<!doctype html|<html|<\?xml|<[a-z][\w-]*[^<>]*>)", re.IGNORECASE)
_STAMP: Final = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:)"
    r"|^\{\"(?:ts|time|timestamp|level|severity|msg|message)\""
    r"|\b(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|PASS(?:ED)?|FAIL(?:ED)?)\b"
)
_CODE: Final = re.compile(
    r"\s*(?:(?:async |export |pub |static |public |private )*(?:def|class|function|fn|func|struct|"
    r"interface|enum|impl|module|defmodule|defp|namespace)\b|(?:import|from|use|#include|require|"
    r"alias|package|return|const|let|var|if|for|while|end|else|try|except)\b|[)\]}]+,?$|@\w|"
    r"\w+ = |.*+(?:(?<=[{};])|(?<=\):)|(?<=\) :)|(?<=\bdo)))"
)
_NUMBERED: Final = re.compile(r" *\d+(?:→|: |\t| *\|)")
_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$", re.MULTILINE)
_GAP: Final = re.compile(r"\S {2,}(?=\S)")


@dataclass(frozen=True, slots=True)
class Source:
    """A tool output, what kind of text it is, and its structure if it has one."""

    text: str
    kind: Kind
    structure: Structure | None = None
    """The value that it stands for; a text that is no JSON can have one too."""
    is_too_deep: bool = False
    """Whether it has a structure that is nested too deeply to be taken apart."""


def read_source(output: str) -> Source:
    """`output` with its kind and its structure."""
    try:
        structure = read_structure(output)
    except TooDeepError:
        return Source(output, "json", is_too_deep=True)
    except ValueError:
        return Source(output, detect_text_kind(output))
    kind = "json" if structure.is_json else detect_text_kind(output)
    return Source(output, kind, structure)


def detect_text_kind(output: str) -> Kind:
    """The kind of an output that is not JSON."""
    sample = output[:SAMPLE_CHARS]
    lines = [line for line in sample.splitlines() if line.strip()]
    return next((kind for kind, is_kind in _RULES if is_kind(sample, lines)), "text")


def _is_binary(sample: str, lines: list[str]) -> bool:
    plain = sample.replace("\n", "").replace("\t", "")
    odd = 0
    if not plain.isprintable():  # asked of the whole text first, which takes no time
        odd = sum(not char.isprintable() for char in _CONTROL.sub("", plain))
    if "\x00" in sample or odd * 10 > len(sample):
        return True
    head = "".join(sample[:400].split("\n")).strip()
    return bool(_BASE64.fullmatch(head)) and any(c.isdigit() for c in head) and not head.isdigit()


def _is_diff(sample: str, lines: list[str]) -> bool:
    return bool(_DIFF.search(sample))


def _is_html(sample: str, lines: list[str]) -> bool:
    return bool(_HTML.match(sample)) and sample.count("</") + sample.count("/>") >= 2


def _is_table(sample: str, lines: list[str]) -> bool:
    rows = lines[:20]
    if len(rows) < 3 or sum(row[0] in "{[" for row in rows) * 2 > len(rows):
        return False  # commas of JSON separate no cells
    if _RULE.search(sample) and sum("|" in row for row in rows) * 2 > len(rows):
        return True
    separated = any(_is_regular([row.count(mark) for row in rows], 2) for mark in "\t,;|")
    return separated or _is_regular([len(_GAP.findall(row)) for row in rows], 2)


def _is_regular(counts: list[int], least: int) -> bool:
    return (
        counts[0] >= least and sum(count == counts[0] for count in counts) * 10 >= len(counts) * 9
    )


def _is_log(sample: str, lines: list[str]) -> bool:
    return _share(_STAMP.search, lines) >= 0.3


def _is_code(sample: str, lines: list[str]) -> bool:
    if _share(_NUMBERED.match, lines) >= 0.7:
        return True
    return _share(_CODE.match, lines) >= 0.35


def _share(is_found: Callable[[str], object], lines: list[str]) -> float:
    return sum(map(bool, map(is_found, lines))) / max(1, len(lines))


_RULES: Final[tuple[tuple[Kind, Callable[[str, list[str]], bool]], ...]] = (
    ("binary", _is_binary),
    ("diff", _is_diff),
    ("html", _is_html),
    ("log", _is_log),
    ("table", _is_table),
    ("code", _is_code),
)
