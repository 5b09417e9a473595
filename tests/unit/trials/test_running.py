"""Trials: their figures, what one costs against another, their tables and their report."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Generator
from dataclasses import replace

import pytest

from ctxcore.compaction.simulation import Recording
from ctxcore.csv_text import to_csv
from ctxcore.errors import SummarizerError
from ctxcore.messages.values import text_message
from ctxcore.replay.replaying import Replaying, run_to_end
from ctxcore.tokens.prices import Price
from ctxcore.trials.candidates import last_messages, no_compaction, of_preset, today
from ctxcore.trials.comparing import are_priced, change_share, frontier, reference_at, usual_measure
from ctxcore.trials.report import WORDS, render_report
from ctxcore.trials.running import LoadedLater, Trying, run_trial
from ctxcore.trials.tables import trial_rows
from ctxcore.trials.values import Figures, Trial, TrialSession
from tests.histories import assistant, user

PRICE = Price(input=2.0, output=8.0, cached=0.5)
CANDIDATES = [no_compaction(), last_messages(6), today(), of_preset("pi")]


def session(name: str = "s", turns: int = 20, title: str = "<b>A talk</b>") -> TrialSession:
    talk = [
        text_message("system", "You help."),
        *(
            one
            for at in range(turns)
            for one in (user(f"Order ORD-{at} is late. " * 6), assistant(f"Noted {at}. " * 8))
        ),
    ]
    return TrialSession(
        id=name, title=title, messages=talk, model="gpt-4o", window_tokens=1_500, price=PRICE
    )


def later(one: TrialSession) -> LoadedLater:
    return LoadedLater(id=one.id, title=one.title, messages=len(one.messages), load=lambda: one)


def ran(steps: Generator[tuple[int, int], None, Trial]) -> tuple[list[tuple[int, int]], Trial]:
    told = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as ended:
            trial: Trial = ended.value
            return told, trial


@pytest.fixture(scope="module")
def trial() -> Trial:
    return ran(run_trial([later(session("s")), later(session("t", 8))], CANDIDATES))[1]


def test_figures_are_those_of_a_replay_of_each_session(trial: Trial) -> None:
    one = session()
    replaying = Replaying(Recording(one.messages, model=one.model), price=PRICE)
    alone = replaying.under(CANDIDATES[3].policy_for({}), window_tokens=1_500)

    assert trial.sessions[0].tried[3].figures == Figures.of(alone)


def test_sums_are_those_of_the_sessions_and_of_the_calls(trial: Trial) -> None:
    for at, total in enumerate(trial.totals):
        parts = [one.tried[at].figures for one in trial.sessions]
        assert total.sent_tokens == sum(part.sent_tokens for part in parts)
        assert total.cost == pytest.approx(sum(part.cost or 0 for part in parts))
        calls = [call for one in trial.sessions for call in one.tried[at].calls]
        assert total.sent_tokens == sum(tokens for _, tokens, *_ in calls)
        assert total.calls == len(calls)


def test_a_trial_gives_the_same_figures_again_and_reads_back(trial: Trial) -> None:
    again = ran(run_trial([later(session("s")), later(session("t", 8))], CANDIDATES))[1]

    assert again == trial
    assert Trial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial


def test_progress_only_grows_and_ends_at_the_whole() -> None:
    one = session(turns=80)

    told, _ = ran(run_trial([later(one)], CANDIDATES))

    assert told == sorted(told)
    assert told[-1] == (161 * 4, 161 * 4)
    assert len(told) > 8


def test_a_session_that_cannot_be_read_does_not_stop_the_others() -> None:
    def fails() -> TrialSession:
        raise SummarizerError(problem="no such thing")

    broken = LoadedLater(id="x", title="X", messages=4, load=fails)

    told, trial = ran(run_trial([broken, later(session("t", 4))], CANDIDATES))

    assert [one.id for one in trial.sessions] == ["t"]
    assert [one.id for one in trial.failed] == ["x"]
    assert "no such thing" in str(trial.failed[0].reason)
    assert told[-1][0] == told[-1][1]


def test_a_call_that_is_refused_had_nothing_there(trial: Trial) -> None:
    none, simple, *_ = trial.totals

    assert none.over > 0
    assert none.facts == simple.facts
    assert none.facts_there < none.facts


def test_others_are_compared_with_todays_policy_unless_it_had_calls_refused(trial: Trial) -> None:
    totals = trial.totals
    refused = [replace(one, over=1) if at == 2 else one for at, one in enumerate(totals)]

    assert reference_at(trial.candidates, totals) == 2
    assert reference_at(trial.candidates, refused) == 1
    assert change_share(totals[2], totals[2], is_priced=True) == 0
    assert change_share(totals[0], totals[2], is_priced=True) is None
    assert change_share(
        replace(totals[2], cost=1.0), replace(totals[2], cost=2.0), is_priced=True
    ) == pytest.approx(-0.5)


def test_tokens_are_compared_where_a_model_costs_nothing() -> None:
    free = [Figures(cost=0.0, sent_tokens=8), Figures(cost=0.0, sent_tokens=2)]

    assert not are_priced(free)
    assert are_priced([replace(free[0], cost=0.1), free[1]])
    assert not are_priced([replace(free[0], cost=None), free[1]])
    assert change_share(free[1], free[0], is_priced=False) == pytest.approx(-0.75)


def test_the_frontier_has_what_nothing_beats() -> None:
    def of(cost: float, there: int, over: int = 0) -> Figures:
        return Figures(cost=cost, facts=100, facts_there=there, over=over)

    totals = [of(3, 90), of(1, 50), of(2, 40), of(0, 99, over=1), of(2, 70), of(4, 90)]

    assert usual_measure(totals) == "facts"
    assert frontier(totals, "facts") == [1, 4, 0]


def test_a_table_has_a_row_a_candidate_for_all_and_for_each_session(trial: Trial) -> None:
    text = to_csv(trial_rows(trial)).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))

    assert len(rows) == 4 * 3
    assert [row["session"] for row in rows[::4]] == ["*", "s", "t"]
    assert rows[1]["policy"] == "last-messages=6"
    assert int(rows[1]["sent_tokens"]) == trial.totals[1].sent_tokens
    assert float(rows[1]["cost"]) == pytest.approx(trial.totals[1].cost, abs=1e-6)
    assert rows[0]["change_share"] == ""


def test_the_report_is_one_page_that_loads_nothing_and_says_the_same(trial: Trial) -> None:
    page = render_report(trial)

    assert not re.search(r"(?:src|href)=|<script|url\(|@import|<link", page)
    assert "prefers-color-scheme:dark" in page
    assert "<b>A talk" not in page
    assert "&lt;b&gt;A talk" in page
    assert page.count("<details>") == 2 + 2
    for figures in trial.totals:
        assert f"<td>{figures.sent_tokens:,}</td>" in page
    assert "Against today" in page
    assert page.count('class="point"') == 3
    assert "Not drawn, because calls were refused and so less was done: none." in page


def test_the_report_takes_the_words_of_another_language(trial: Trial) -> None:
    words = {key: f"¿{text}" for key, text in WORDS.items()}

    page = render_report(trial, words, "zz")

    assert '<html lang="zz">' in page
    assert WORDS["title"] in page.replace("¿", "")
    assert "<h1>¿" in page


def test_a_call_is_walked_to_by_the_same_policy() -> None:
    trying = Trying(session())
    walk = trying.walk(last_messages(6))

    tokens = [call.tokens for call in walk]

    replay = run_to_end(trying.under(last_messages(6)), lambda count: None)
    assert [call.tokens for call in replay.calls] == tokens
    assert replay.policy == "last-messages=6"
