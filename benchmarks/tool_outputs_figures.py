"""The figures of compressed outputs: what fits, what parses, what is still there, how fast.

*retain* is the mean share of the values used later that still stand literally in the result, as
whole words; thousands separators are taken off. It measures literal re-use, not task success.
Times are those of the processor, so that a busy machine shows less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from time import process_time
from typing import Final

from benchmarks.tool_outputs_contenders import COUNTER, Contender
from benchmarks.tool_outputs_data import Needle, Output, is_json
from benchmarks.tool_outputs_failures import Failure
from benchmarks.tool_outputs_lookups import Lookup

ERROR_LINE: Final = re.compile(
    r"\b(?:errors?|exception|fail(?:ed|ure)?|fatal|traceback|critical|panic)\b"
    r"|[a-z]Error\b|[a-z]Exception\b",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_IDENTIFIER: Final = re.compile(r"(?=.*[\d_/.#@-])\S{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one contender made of one output."""

    output: Output
    text: str | None
    """None where it raised."""
    tokens: int
    seconds: float


@dataclass(slots=True)
class Normal:
    """A result as it is searched: lower case, no thousands separators."""

    text: str
    plain: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.text.lower()
        self.plain = _THOUSANDS.sub("", self.text)

    def has(self, value: str) -> bool:
        """Whether the value stands in it as a whole word."""
        found = re.compile(rf"(?<!\w){re.escape(value.lower())}(?!\w)")
        return bool(found.search(self.text) or found.search(self.plain))


def run(contender: Contender, outputs: Iterable[Output], budget: int) -> list[Result]:
    """What `contender` makes of `outputs`."""
    return [_run(contender, output, budget) for output in outputs]


def _run(contender: Contender, output: Output, budget: int) -> Result:
    begun = process_time()
    try:
        text: str | None = contender(output.content, output.query, budget)
    except Exception:  # noqa: BLE001  # whatever a peer raises is one failure of it
        text = None
    seconds = process_time() - begun
    tokens = output.tokens if text is None else COUNTER.count(text)
    return Result(output=output, text=text, tokens=tokens, seconds=seconds)


def kept_share(result: Result, wanted: Callable[[str], bool] = bool) -> float | None:
    """The share of the used values that stand in the result; None where none is known."""
    values = [value for value in result.output.used if wanted(value)]
    if not values:
        return None
    text = Normal(result.text or "")
    return fmean(text.has(value) for value in values)


def is_identifier(value: str) -> bool:
    """Whether a used value is a name for something rather than a word or a small number."""
    return bool(_IDENTIFIER.fullmatch(value))


def mean(values: Iterable[float | None]) -> float:
    """The mean of those that are known; 0 where none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def table_row(name: str, results: Sequence[Result], budget: int) -> str:
    """The figures of one contender as a row of the table."""
    json_results = [result for result in results if result.output.is_json]
    texts = [result for result in results if not result.output.is_json]
    milliseconds = [result.seconds * 1_000 for result in results]
    cells = [
        f"{_ratio(json_results):.3f}",
        _percent(result.tokens <= budget for result in json_results),
        f"{mean(map(kept_share, json_results)):.3f}",
        f"{mean(kept_share(result, is_identifier) for result in json_results):.3f}",
        _percent(share == 1 for share in map(kept_share, json_results) if share is not None),
        _percent(is_json(result.text or "") for result in json_results),
        f"{_ratio(texts):.3f}",
        _percent(result.tokens <= budget for result in texts),
        f"{mean(map(kept_share, texts)):.3f}",
        f"{percentile(milliseconds, 0.5):.2f} / {percentile(milliseconds, 0.99):.1f}",
        str(sum(result.text is None for result in results)),
    ]
    return f"| {name} | {' | '.join(cells)} |"


TABLE_HEAD: Final = (
    "| compressor | JSON ratio | JSON fits | JSON retain | id | all kept | valid JSON "
    "| text ratio | text fits | text retain | ms p50 / p99 | failed |\n" + "|---" * 12 + "|"
)


def _ratio(results: Sequence[Result]) -> float:
    before = sum(result.output.tokens for result in results)
    return sum(result.tokens for result in results) / before if before else 0.0


def _percent(flags: Iterable[bool]) -> str:
    known = list(flags)
    return f"{100 * fmean(known):.0f} %" if known else "–"


def error_lines_kept(result: Result) -> float | None:
    """The share of the different error lines of a log that are still there.

    None where there are none, or where they alone would take half of what the result may take.
    """
    lines = {line.strip() for line in result.output.content.split("\n") if ERROR_LINE.search(line)}
    if not lines or COUNTER.count("\n".join(sorted(lines))) > MOST_ERROR_TOKENS:
        return None
    text = _COLOUR.sub("", result.text or "")
    return fmean(_COLOUR.sub("", line) in text for line in sorted(lines))


MOST_ERROR_TOKENS: Final = 100


def needle_kept(contender: Contender, needle: Needle, budget: int) -> tuple[bool, int, float]:
    """Whether what is wanted is there, the tokens of the result, and the seconds."""
    output = Output(content=needle.content, query=needle.query)
    result = _run(contender, output, budget)
    return any(want in (result.text or "") for want in needle.wanted), result.tokens, result.seconds


def lookup_kept(contender: Contender, lookup: Lookup, budget: int) -> tuple[bool, int, float]:
    """Whether the whole answer is there, the tokens of the result, and the seconds."""
    result = _run(contender, Output(content=lookup.content, query=lookup.query), budget)
    text = Normal(result.text or "")
    return all(map(text.has, lookup.wanted)), result.tokens, result.seconds


def failure_kept(contender: Contender, failure: Failure, budget: int) -> float:
    """The share of the lines of a failure that are there whole; no query names them."""
    text = _run(contender, Output(content=failure.content), budget).text or ""
    return fmean(line.strip() in text for line in failure.wanted)
