"""A trial as rows for spreadsheets: a row a candidate over all sessions, then one a session."""

from __future__ import annotations

from ctxcore.trials.comparing import compared_rows
from ctxcore.trials.values import Figures, Trial

_ALL = "*"  # in the column of sessions: all of them


def trial_rows(trial: Trial) -> list[dict[str, object]]:
    """The rows of a trial; names of columns are codes, shares are from 0 to 1, costs in USD."""
    rows = [
        _row(_ALL, "", None, candidate.name, figures, change)
        for candidate, figures, change in compared_rows(trial)
    ]
    for session in trial.sessions:
        alone = Trial(candidates=trial.candidates, sessions=(session,))
        rows += [
            _row(session.id, session.title, session.model, candidate.name, figures, change)
            for candidate, figures, change in compared_rows(alone)
        ]
    return rows


def _row(
    session: str, title: str, model: str | None, policy: str, figures: Figures, change: float | None
) -> dict[str, object]:
    return {
        "session": session,
        "title": title,
        "model": model,
        "policy": policy,
        "change_share": None if change is None else round(change, 4),
        **figures.document(),
    }
