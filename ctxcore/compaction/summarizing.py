"""Owns asking for a summary: what it stands for, how long it may be, and what makes it usable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.history_views import adapted, ruled
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import summary_message
from ctxcore.budget import clamp
from ctxcore.compaction.drafting import LEAST_SUMMARY_TOKENS, source_so_far, summary_limit
from ctxcore.compaction.selectors import Outdated
from ctxcore.compaction.triggers import measure
from ctxcore.errors import SummarizerError
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message, text_chars
from ctxcore.policy.values import Policy
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.problems import SummaryProblem
from ctxcore.summarizers.checks import check_summary
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import (
    Detail,
    Summarizer,
    SummaryRequest,
    SummaryUsage,
)
from ctxcore.text.languages import Language, detect_language
from ctxcore.tokens.count import count_message

_LEAST_CHARS = 100  # that are asked for; the third design names the number and no setting
_BRIEF_CHARS = 500  # of a source; a shorter one is asked for briefly, in half the length
_KEY_POINTS_CHARS = 2_000  # a shorter one by its key points, a longer one in layers


class Summarizing:
    """Makes the summary of one compaction."""

    def __init__(
        self,
        view: HistoryView,
        call: Call,
        active: Compaction,
        summarizer: Summarizer,
        *,
        outdated: Outdated,
        report: Callable[[SummaryUsage], None],
    ) -> None:
        self._view = view
        self._call = call
        self._active = _rebuilt(active) if _is_worn(active, call.policy) else active
        self._summarizer = summarizer
        self._outdated = tuple(chain.from_iterable(outdated.values()))
        self._report = report

    def summarized(self, record: Compaction, stops: Sequence[int] = ()) -> Compaction:
        """`record` with a summary of what it newly covers, and of the summary before.

        With `stops` it is written up to each of these messages before it goes on.

        Raises:
            SummarizerError: there is no usable summary.
        """
        rows = self._source(record)
        is_first = not self._active.summary
        messages = [_said(row) for row in rows]
        language = detect_language(messages) if is_first else self._active.language
        source_tokens = sum(row.sent_tokens for row in rows)
        limit, text = self._limit(record, source_tokens), self._active.summary
        for part in _parts(rows, stops):
            text = self._continued(text, part, limit, language)
        chars = sum(map(text_chars, messages))
        text = printable(text)
        return replace(
            record,
            summary=text,
            summary_tokens=self._call.counter.count(text),
            summarized_until=record.covered_until,
            covered_messages=self._covered(record) + self._not_passed,
            source_tokens=self._active.source_tokens + source_tokens,
            source_chars=self._active.source_chars + chars,
            summarizer=self._summarizer.name,
            generation=0 if is_first else self._active.generation + 1,
            language=language,
        )

    def _covered(self, record: Compaction) -> int:
        """How many messages of the history `record` covers."""
        return self._view.messages() - self._view.messages(after=record.covered_until)

    @property
    def _not_passed(self) -> int:
        """How many messages the summary so far stands for that are no longer in the history."""
        return max(0, self._active.covered_messages - self._covered(self._active))

    def _continued(
        self, summary: str, rows: Sequence[Counted], max_tokens: int, language: Language
    ) -> str:
        """`summary` with what `rows` say taken in."""
        messages = tuple(_said(row) for row in rows)
        chars = sum(map(text_chars, messages))
        asked = _length(self._call.policy, chars + len(summary))
        request = SummaryRequest(
            messages=messages,
            previous=summary,
            max_tokens=max_tokens,
            language=language,
            form=self._call.policy.summary_form,
            detail=asked[1],
            asked_chars=asked[0],
            max_chars=self._call.policy.summary_max_chars,
            dates=tuple(row.said_at for row in rows),
            outdated=self._outdated,
            report=self._report,
        )
        so_far = self._call.counter.count(summary)
        return self._checked(request, so_far + sum(row.sent_tokens for row in rows))

    def _limit(self, record: Compaction, source_tokens: int) -> int:
        """How long the summary may be: a model's by its own limit, quotes by their source too."""
        budget, policy = self._call.budget, self._call.policy
        assert budget is not None  # `for_trigger` gave it one
        if not isinstance(self._summarizer, ExtractiveSummarizer):
            limit = min(budget.summary_tokens, policy.summary_max_tokens)
            return limit if policy.lower_tokens is None else min(limit, self._below_lower(record))
        source = source_tokens + source_so_far(self._active)
        limit = summary_limit(policy.summary_source_ratio, budget, source)
        return limit if policy.trigger_on == "history" else min(limit, self._room(record))

    def _room(self, record: Compaction) -> int:
        """What the target leaves for the words of a summary beside all that stays."""
        call = self._call
        assert call.budget is not None  # `for_trigger` gave it one
        empty = replace(record, summary=".", facts="")
        taken = measure(self._view, call, empty).input_tokens + call.budget.carried_tokens
        return max(LEAST_SUMMARY_TOKENS, call.budget.target_tokens - taken)

    def _below_lower(self, record: Compaction) -> int:
        """What the lower threshold leaves for the summary: with what stays it is below it."""
        call = self._call
        assert call.budget is not None  # `for_trigger` gave it one
        views = [adapted(self._view, call.policy, call.counter)]
        if call.rule is not None:
            views.append(ruled(self._view, call.policy, call.counter, call.rule))
        stays = max(view.totals(after=record.covered_until).tokens for view in views)
        empty = summary_message(replace(record, summary=""), call.policy.summary_place)
        frame = count_message(empty, call.counter)
        return max(LEAST_SUMMARY_TOKENS, call.budget.target_tokens - 1 - stays - frame)

    def _checked(self, request: SummaryRequest, source_tokens: int) -> str:
        return check_summary(
            self._ask(request),
            source_tokens=source_tokens,
            counter=self._call.counter,
            max_tokens=request.max_tokens,
            max_chars=request.max_chars,
        )

    def _ask(self, request: SummaryRequest) -> str:
        try:
            text: object = self._summarizer.summarize(request)
        except SummarizerError:
            raise
        except Exception as error:  # a caller's summarizer may raise anything; nothing changes
            kind = type(error).__name__
            problem = SummaryProblem.RAISED(kind=kind, problem=reason_of(error))
            raise SummarizerError(problem=problem) from error
        if not isinstance(text, str):
            raise SummarizerError(problem=SummaryProblem.NOT_TEXT(kind=type(text).__name__))
        return text

    def _source(self, record: Compaction) -> Sequence[Counted]:
        """What the summary newly stands for: truncated messages too, nothing that stays shown.

        The last user message is shown now, but no longer once it is answered.
        """
        anchors = self._view.anchors()
        shown = {*record.pins, *record.kept, *self._whole_goal()}
        out = {*anchors.excluded, *anchors.system, *shown}
        released = {*self._active.pins, *self._active.kept}  # and not summarized until now
        new = range(self._active.summarized_until + 1, record.covered_until + 1)
        return self._view.get({*released, *new} - out)

    def _whole_goal(self) -> list[int]:
        """The goal, if all of it stays in the context for good."""
        goal = self._view.anchors().goal
        if goal is None or self._view.get([goal])[0].tokens > self._call.policy.request_tokens:
            return []
        return [goal]


def _parts(rows: Sequence[Counted], stops: Sequence[int]) -> list[Sequence[Counted]]:
    """`rows` cut behind each of these messages; at least one part, and no other is empty."""
    bounds = [0, *(bisect_right([row.seq for row in rows], stop) for stop in stops), len(rows)]
    parts = [rows[first:last] for first, last in pairwise(bounds) if first < last]
    return parts or [rows]


def _is_worn(active: Compaction, policy: Policy) -> bool:
    """Whether the summary was summarized so often that the messages say it better."""
    return policy.rebuild_after is not None and active.generation >= policy.rebuild_after


def _rebuilt(active: Compaction) -> Compaction:
    """`active` as if nothing had been summarized yet."""
    return replace(
        active,
        summary="",
        summary_tokens=0,
        summarized_until=0,
        source_tokens=0,
        source_chars=0,
        kept=(),
        pins=(),
    )


def _length(policy: Policy, source_chars: int) -> tuple[int | None, Detail | None]:
    """The length in characters that is asked for, and how detailed. Source: the third design."""
    if policy.summary_chars_ratio is None:
        return policy.summary_asked_chars, None
    most = policy.summary_asked_chars or source_chars
    wanted = clamp(int(source_chars * policy.summary_chars_ratio), _LEAST_CHARS, most)
    if source_chars < _BRIEF_CHARS:
        return wanted // 2, "brief"
    return wanted, "key_points" if source_chars < _KEY_POINTS_CHARS else "layered"


def _said(row: Counted) -> Message:
    """The message with its function's name, so that a summarizer can say whose output it is."""
    if row.message.is_tool_result and not row.message.name:
        return replace(row.message, name=row.function_name or None)
    return row.message
