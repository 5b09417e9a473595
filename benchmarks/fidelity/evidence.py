"""Measure 1: how much of the annotated evidence survives a fold, at four budgets.

`ev` is the share of a question's evidence messages that are there word for word, `part` the share
of their text that is there in whole sentences, `ans` the share of the answer's content words. A
conversation counts at the budgets that it exceeds. The question itself is not known to the fold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean

from benchmarks.fidelity.methods import Method, is_over
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.said import Said
from benchmarks.fidelity.tables import OVER, Column, Table
from benchmarks.fidelity.talks import MODEL, Question, Talk, talk_of, words_of
from benchmarks.policies import preset_for_input
from ctxcore import BudgetError, CompactionState, Policy, compact, count_messages
from ctxcore.messages.values import JsonObject

BUDGETS = (2_000, 4_000, 8_000, 16_000)
FEED = 20  # messages between two compactions of the same conversation
FED_BUDGET = 4_000
TIMED_MESSAGES, TIMED_BUDGET = 10_000, 8_000


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """A table for each file with evidence; then repeated compaction, and the time of a fold."""
    asked = [talk for talk in talks if _asked(talk) and talk.total_tokens > BUDGETS[0]]
    for file, found in groupby(asked, key=lambda talk: talk.file):
        yield _of_file(file, sampled(list(found), limit), methods)
    again = [method for method in methods if method.is_ours or not method.is_slow]
    yield _repeated(asked, again, limit)
    yield _timed(talks, [method for method in methods if not method.is_slow])


def _asked(talk: Talk) -> list[Question]:
    return [question for question in talk.questions if question.evidence]


def _of_file(file: str, talks: Sequence[Talk], methods: Sequence[Method]) -> Table:
    columns = [Column(name=f"{k} {b // 1000}k") for b in BUDGETS for k in ("ev", "part", "ans")]
    columns.append(Column(name=OVER, best="none"))
    table = Table(title=f"1 · Evidence recall: {file}", columns=columns, harms=[OVER])
    table.notes.append(_sizes(talks))
    for talk in talks:
        for budget in (b for b in BUDGETS if b < talk.total_tokens):
            for method in methods:
                tell(f"evidence: {talk.id} {budget} {method.name}")
                folded = method.fold(talk, budget)
                _add(table, method, budget, talk, Said(folded or ()))
                table.add(method, OVER, [float(is_over(folded, budget))])
    return table


def _sizes(talks: Sequence[Talk]) -> str:
    longer = [f"{sum(t.total_tokens > b for t in talks)} over {b // 1000}k" for b in BUDGETS]
    questions = sum(len(_asked(talk)) for talk in talks)
    tokens = fmean(talk.total_tokens for talk in talks)
    return (
        f"{len(talks)} conversations of {tokens:,.0f} tokens, {questions} questions with evidence; "
        f"{', '.join(longer)}"
    )


def _add(table: Table, method: Method, budget: int, talk: Talk, said: Said) -> None:
    texts = {at: words_of(talk.messages[at]) for q in _asked(talk) for at in q.evidence}
    whole = {at: said.has(text) for at, text in texts.items()}
    parts = {at: said.share_of_sentences(text) for at, text in texts.items()}
    label = f"{budget // 1000}k"
    for question in _asked(talk):
        table.add(method, f"ev {label}", [fmean(whole[at] for at in question.evidence)])
        table.add(method, f"part {label}", [fmean(parts[at] for at in question.evidence)])
        share = said.share_of_words(question.answer)
        table.add(method, f"ans {label}", [] if share is None else [share])


def _repeated(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Table:
    """Evidence after one fold of everything, and after a fold of a fold every FEED messages: with
    the state, and without it of what was sent before, as who stores only that passes it.
    """
    columns = [Column(name=name) for name in ("once", "fed", "fed back")]
    title = f"1 · Evidence (`ev`) at {FED_BUDGET:,} tokens after a compaction of compactions"
    table = Table(title=title, columns=columns)
    long = [talk for talk in talks if talk.total_tokens > 2 * FED_BUDGET]
    firsts = list({talk.file: talk for talk in reversed(long)}.values())[:limit]
    table.notes.append(f"{FEED} messages at a time: {', '.join(talk.id for talk in firsts)}")
    for talk in firsts:
        for method in methods:
            tell(f"compaction of compactions: {talk.id} {method.name}")
            table.add(method, "once", _kept(talk, Said(method.fold(talk, FED_BUDGET) or ())))
            if method.is_ours:
                fed = _fed(talk, preset_for_input(method.name), FED_BUDGET)
                table.add(method, "fed", _kept(talk, fed))
            table.add(method, "fed back", _kept(talk, _fed_back(talk, method)))
    return table


def _kept(talk: Talk, said: Said) -> list[float]:
    return [
        fmean(said.has(words_of(talk.messages[at])) for at in question.evidence)
        for question in _asked(talk)
    ]


def _ends(talk: Talk) -> list[int]:
    return [*range(FEED, len(talk.messages), FEED), len(talk.messages)]


def _fed_back(talk: Talk, method: Method) -> Said:
    """What is left where each context is made of the one before and FEED messages more."""
    sent: list[JsonObject] = []
    first = 0
    for end in _ends(talk):
        sent += talk.messages[first:end]
        first = end
        if count_messages(sent, model=MODEL) > FED_BUDGET:
            sent = method.fold(talk_of(sent, id=talk.id), FED_BUDGET) or []
    return Said(sent)


def _fed(talk: Talk, policy: Policy, budget: int) -> Said:
    state: CompactionState | None = None
    said = Said(())
    for end in _ends(talk):
        if sum(talk.tokens[:end]) <= budget:
            continue
        try:
            result = compact(
                talk.messages[:end],
                policy=policy,
                max_tokens=budget,
                target_tokens=budget,
                model=MODEL,
                state=state,
                force=True,
            )
        except BudgetError:
            return Said(())
        state, said = result.state, Said(result.context.messages)
    return said


def _timed(talks: Sequence[Talk], methods: Sequence[Method]) -> Table:
    table = Table(
        title=f"1 · One fold of {TIMED_MESSAGES:,} messages to {TIMED_BUDGET:,} tokens",
        columns=[Column(name="seconds", best="none", digits=2)],
    )
    spoken = [m for talk in talks for m in talk.messages if m["role"] in ("user", "assistant")]
    plain = [m for m in spoken if isinstance(m.get("content"), str) and not m.get("tool_calls")]
    copies = -(-TIMED_MESSAGES // len(plain))
    long = talk_of((plain * copies)[:TIMED_MESSAGES], id="timed")
    for method in methods:
        tell(f"time of a fold: {method.name}")
        begun = time.perf_counter()
        method.fold(long, TIMED_BUDGET)
        table.add(method, "seconds", [time.perf_counter() - begun])
    return table
