"""Requests a summary: selects its source, limits its length, and checks the text."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.history_views import adapted, counted_by_rule
from ctxcore.assembly.records import Compaction, Lineage
from ctxcore.assembly.texts import summary_message
from ctxcore.budget import clamp
from ctxcore.compaction.claims import with_sentences
from ctxcore.compaction.drafting import LEAST_SUMMARY_TOKENS, source_so_far, summary_limit
from ctxcore.compaction.lineage import SummarySources, Text, lineage_of, lineage_of_quotes
from ctxcore.compaction.selectors import Outdated, text_at
from ctxcore.compaction.triggers import measure
from ctxcore.errors import ConfigurationError, SummarizerError, SummarizerTypeError
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message, text_chars
from ctxcore.policy.values import Policy
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.problems import SummaryProblem
from ctxcore.salience.traits import noted_chars, noted_text
from ctxcore.summarizers.checks import check_content, check_summary
from ctxcore.summarizers.extractive import ExtractiveSummarizer, Quoted
from ctxcore.summarizers.notes import are_sized_by
from ctxcore.summarizers.protocol import Detail, Summarizer, SummaryRequest, SummaryUsage
from ctxcore.summarizers.support import SummaryCheck
from ctxcore.text.languages import Language, detect_language
from ctxcore.tokens.count import count_message, text_frame_tokens

# Characters. Source: the `truncate-or-summarize` design.
_LEAST_CHARS = 100  # the shortest summary that is requested
_BRIEF_CHARS = 500  # a shorter source gets a brief summary, of half the length
_KEY_POINTS_CHARS = 2_000  # a shorter source gets its key points, a longer one layers

LINE_SOURCE = 100
"""Messages that a single line is quoted from, the newest; chosen: what was spoken of last."""


class Summarizing:
    """Writes the summary of one compaction."""

    def __init__(
        self,
        view: HistoryView,
        call: Call,
        active: Compaction,
        summarizer: Summarizer,
        *,
        focus: str = "",
        is_talk: bool = False,
        carried: str = "",
        outdated: Outdated,
        report: Callable[[SummaryUsage], None],
    ) -> None:
        assert call.budget is not None  # `for_trigger` gave it one
        self._budget = call.budget
        self._view = view
        self._call = call
        self._active = _unsummarized(active) if _is_worn(active, call.policy) else active
        self._summarizer = summarizer
        self._focus = focus
        self._is_talk = is_talk
        self._carried = carried
        self.check: SummaryCheck | None = None
        """What the check of the summary found; None where it quotes, or before it is written."""
        self._outdated = tuple(chain.from_iterable(outdated.values()))
        self._report = report

    def summarized(self, record: Compaction, stops: Sequence[int] = ()) -> Compaction:
        """Returns `record` with a summary of the newly covered messages and the previous summary.

        It is written up to each of the messages `stops` before it continues.

        Raises:
            SummarizerError: there is no usable summary.
        """
        rows = self._source(record)
        is_first = not self._active.summary
        language = _language(rows) if is_first else self._active.language
        source_tokens = sum(row.sent_tokens for row in rows)
        # messages that the previous summary stands for and that the history no longer has
        not_passed = max(0, self._active.covered_messages - self._covered(self._active))
        limit = self._limit(record, self._shown_tokens(rows))
        text, lineage = self._active.summary, self._active.lineage
        for part in _parts(rows, stops):
            part = part[-LINE_SOURCE:] if self._quotes_a_line else part
            text, lineage = self._continued(text, lineage, part, limit, language)
        return replace(
            record,
            summary=text,
            summary_tokens=self._call.counter.count(text),
            lineage=lineage,
            summarized_until=record.covered_until,
            covered_messages=self._covered(record) + not_passed,
            source_tokens=self._active.source_tokens + source_tokens,
            source_chars=self._active.source_chars + sum(map(_chars, rows)),
            summarizer=self._summarizer.name,
            generation=0 if is_first else self._active.generation + 1,
            language=language,
        )

    @property
    def _quotes_a_line(self) -> bool:
        """Whether the messages that stay leave nothing but a line to quotes."""
        return self._is_talk and isinstance(self._summarizer, ExtractiveSummarizer)

    def _shown_tokens(self, rows: Sequence[Counted]) -> int:
        """Returns what `rows` take as the policy shows them, as plans count them."""
        shown = adapted(self._view, self._call.policy, self._call.counter)
        return sum(row.sent_tokens for row in shown.get([row.seq for row in rows]))

    def _covered(self, record: Compaction) -> int:
        """Returns how many messages of the history `record` covers."""
        return self._view.messages() - self._view.messages(after=record.covered_until)

    def _continued(
        self,
        summary: str,
        lineage: Lineage,
        rows: Sequence[Counted],
        max_tokens: int,
        language: Language,
    ) -> tuple[str, Lineage]:
        """Returns a new summary of `summary` and `rows`, and the messages of its sentences."""
        messages = tuple(_named(row) for row in rows)
        chars = sum(map(_chars, rows))
        asked_chars, detail = _length(self._call.policy, chars + len(summary))
        request = SummaryRequest(
            messages=messages,
            previous=summary,
            max_tokens=max_tokens,
            language=language,
            form=self._call.policy.summary_form,
            detail=detail,
            asked_chars=asked_chars,
            max_chars=self._call.policy.summary_max_chars,
            dates=tuple(row.said_at for row in rows),
            focus=self._focus,
            instructions=self._call.policy.summary_instructions or "",
            carried=self._carried,
            outdated=self._outdated,
            noted=self._noted(rows),
            report=self._report,
        )
        summary_tokens = self._call.counter.count(summary)
        written = self._write(request)
        text = check_summary(
            written if isinstance(written, str) else written.text,
            source_tokens=summary_tokens + sum(row.sent_tokens for row in rows),
            counter=self._call.counter,
            max_tokens=request.max_tokens,
            max_chars=request.max_chars,
        )
        text = printable(text)
        seqs = [row.seq for row in rows]
        if isinstance(written, Quoted):
            return text, lineage_of_quotes(written, text, seqs, summary, lineage)
        sources = SummarySources.of(
            messages, seqs, previous=summary, lineage=lineage, others=self._others()
        )
        self._check(text, request, sources)
        return text, lineage_of(text, sources)

    def _others(self) -> list[Text]:
        """Returns what a summary may say besides its messages and the summary before."""
        texts = (self._active.facts, self._carried, self._focus)
        return [
            _original_request(self._view),
            *(Text(line) for text in texts for line in text.splitlines()),
        ]

    def _noted(self, rows: Sequence[Counted]) -> tuple[tuple[str, int], ...]:
        """Returns the notes of `rows` with the sizes of their texts, for quotes."""
        counter = self._call.counter
        frame = text_frame_tokens(counter)
        is_quoting = isinstance(self._summarizer, ExtractiveSummarizer)
        if not is_quoting or frame is None or self._call.is_scaled:
            return ()
        return tuple(
            [
                (row.notes if are_sized_by(row.notes, counter) else "", row.tokens - frame)
                for row in rows
            ]
        )

    def _check(self, text: str, request: SummaryRequest, sources: SummarySources) -> None:
        """Refuses a text that says what its source does not; notes what little of that it says.

        The original request, which every context shows, is a source too.
        """
        found = check_content(
            text,
            request,
            facts=f"{self._active.facts}\n{text_at(self._view, self._view.anchors().goal)}",
            most_ratio=self._call.policy.unsupported_ratio,
        )
        before = self.check.within(text) if self.check else SummaryCheck()
        unsupported = tuple(dict.fromkeys((*before.unsupported, *found.unsupported)))
        found = with_sentences(replace(found, unsupported=unsupported), text, sources)
        known = {one.text for one in found.sentences}
        earlier = (one for one in before.sentences if one.text not in known)
        self.check = replace(found, sentences=(*found.sentences, *earlier))
        if found.refused is not None:
            raise SummarizerError(problem=found.refused)

    def _limit(self, record: Compaction, source_tokens: int) -> int:
        """Returns the most tokens of the summary; its source limits an extractive one too."""
        budget, policy = self._budget, self._call.policy
        if not isinstance(self._summarizer, ExtractiveSummarizer):
            limit = min(budget.summary_tokens, policy.summary_max_tokens)
            return limit if policy.lower_tokens is None else min(limit, self._below_lower(record))
        source = source_tokens + source_so_far(self._active)
        limit = summary_limit(policy.summary_source_ratio, budget, source)
        limit = min(limit, LEAST_SUMMARY_TOKENS) if self._is_talk else limit
        return limit if policy.trigger_on == "history" else min(limit, self._room(record))

    def _room(self, record: Compaction) -> int:
        """Returns what the target leaves for the summary beside all that stays."""
        empty = replace(record, summary=".", facts="")
        taken = measure(self._view, self._call, empty).input_tokens + self._budget.carried_tokens
        return max(LEAST_SUMMARY_TOKENS, self._budget.target_tokens - taken)

    def _below_lower(self, record: Compaction) -> int:
        """Returns what the lower threshold leaves for the summary beside all that stays."""
        call = self._call
        views = [adapted(self._view, call.policy, call.counter)]
        if call.rule is not None:
            views.append(counted_by_rule(self._view, call.policy, call.counter, call.rule))
        stays = max(view.totals(after=record.covered_until).tokens for view in views)
        empty = summary_message(replace(record, summary=""), call.policy.summary_place)
        frame = count_message(empty, call.counter)
        return max(LEAST_SUMMARY_TOKENS, self._budget.target_tokens - 1 - stays - frame)

    def _write(self, request: SummaryRequest) -> str | Quoted:
        """Returns what the summarizer writes; quotes with their places."""
        try:
            if isinstance(self._summarizer, ExtractiveSummarizer):
                return self._summarizer.quote(request)
            text: object = self._summarizer.summarize(request)
        except (SummarizerError, ConfigurationError):  # no other summary would mend a setup
            raise
        except Exception as error:  # a caller's summarizer may raise anything; nothing changes
            kind = type(error).__name__
            problem = SummaryProblem.RAISED(kind=kind, problem=reason_of(error))
            raise SummarizerError(problem=problem) from error
        if isinstance(text, str):
            return text
        problem = SummaryProblem.NOT_TEXT(kind=type(text).__name__)
        if text is None:  # as libraries of models give a reply without text
            raise SummarizerError(problem=problem)
        if inspect.iscoroutine(text):
            text.close()  # else Python warns that nobody awaited it
        raise SummarizerTypeError(problem=SummaryProblem.NO_SUMMARY(problem=problem))

    def _source(self, record: Compaction) -> Sequence[Counted]:
        return summary_source(self._view, self._call.policy, self._active, record)


def summary_source(
    view: HistoryView, policy: Policy, active: Compaction, record: Compaction
) -> Sequence[Counted]:
    """Returns the messages to summarize: truncated ones too, but none that stays shown.

    The last user message is among them: it is shown only until it is answered.
    """
    anchors = view.anchors()
    out = {*anchors.excluded, *anchors.system, *record.pins, *record.kept}
    goal = anchors.goal  # a short one is shown whole in every context
    if goal is not None and view.get([goal])[0].tokens <= policy.request_tokens:
        out.add(goal)
    released = {*active.pins, *active.kept}  # not summarized until now
    new = range(active.summarized_until + 1, record.covered_until + 1)
    return view.get({*released, *new} - out)


def edited_lineage(
    view: HistoryView, call: Call, active: Compaction | None, record: Compaction
) -> Lineage:
    """Returns the messages of the sentences in a summary that a person edited.

    `active` is the record before, `record` the edited one with the lineage of what was proposed.
    """
    before = active or NOTHING_COVERED
    before = _unsummarized(before) if _is_worn(before, call.policy) else before
    rows = summary_source(view, call.policy, before, record)
    sources = SummarySources.of(
        [row.message for row in rows],
        [row.seq for row in rows],
        previous=before.summary,
        lineage=before.lineage,
        others=[_original_request(view)],
    )
    return lineage_of(record.summary, sources)


def _original_request(view: HistoryView) -> Text:
    goal = view.anchors().goal
    return Text(text_at(view, goal), () if goal is None else (goal,))


def _parts(rows: Sequence[Counted], stops: Sequence[int]) -> list[Sequence[Counted]]:
    """Returns `rows` split after each of the messages `stops`, without empty parts."""
    bounds = [0, *(bisect_right([row.seq for row in rows], stop) for stop in stops), len(rows)]
    parts = [rows[first:last] for first, last in pairwise(bounds) if first < last]
    return parts or [rows]


def _is_worn(active: Compaction, policy: Policy) -> bool:
    """Whether the summary was rewritten so often that it is made anew from the messages."""
    return policy.rebuild_after is not None and active.generation >= policy.rebuild_after


def _unsummarized(active: Compaction) -> Compaction:
    return replace(
        active,
        summary="",
        lineage=(),
        summary_tokens=0,
        summarized_until=0,
        source_tokens=0,
        source_chars=0,
        kept=(),
        pins=(),
    )


def _length(policy: Policy, source_chars: int) -> tuple[int | None, Detail | None]:
    """Returns the requested length in characters, and the level of detail."""
    if policy.summary_chars_ratio is None:
        return policy.summary_asked_chars, None
    most = policy.summary_asked_chars or source_chars
    wanted = clamp(int(source_chars * policy.summary_chars_ratio), _LEAST_CHARS, most)
    if source_chars < _BRIEF_CHARS:
        return wanted // 2, "brief"
    return wanted, "key_points" if source_chars < _KEY_POINTS_CHARS else "layered"


def _chars(row: Counted) -> int:
    """Returns the length of a message's text."""
    return noted_chars(row.notes) if row.notes else text_chars(row.message)


def _language(rows: Sequence[Counted]) -> Language:
    """Returns the language that most of `rows` are in."""
    sizes = [noted_text(row.notes) for row in rows if row.notes]
    return detect_language(
        (row.message for row in rows if not row.notes),
        han=sum([size.han for size in sizes]),
        latin=sum([size.latin for size in sizes]),
    )


def _named(row: Counted) -> Message:
    """Returns the message, a tool output with the name of its function."""
    if row.message.is_tool_result and not row.message.name:
        return replace(row.message, name=row.function_name or None)
    return row.message
