"""A fixture for pytest that fails a test where a policy loses what a conversation needs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.policy.values import Policy
    from ctxcore.replay.values import Replay


class ContextCheck:
    """Walks through recorded conversations under a policy, and fails the test at a breach."""

    def __call__(
        self,
        path: str | Path,
        *,
        policy: Policy | str = "default",
        window: int | None = None,
        max_tokens: int | None = None,
        model: str | None = None,
        no_rule_lost: bool = True,
        max_facts_lost: int | None = None,
        max_cost: float | None = None,
        min_reuse: float | None = None,
    ) -> list[Replay]:
        """The replays of the conversations in a file.

        Args:
            path: a file in any format that `ctxcore formats` lists.
            policy: thresholds, or the name of a preset.
            window: the window in tokens; without it the model's.
            max_tokens: the input budget in place of a window.
            model: whose tokens and prices count; without it the recorded one.
            no_rule_lost: whether a lost standing instruction fails the test.
            max_facts_lost: how many facts may be used after they were lost.
            max_cost: what all calls of a conversation may cost, in US dollars.
            min_reuse: the share of what is sent that a prompt cache must be able to reuse.

        Raises:
            Failed: a limit is broken; the message names each, with its message.
            FormatError: the file cannot be read.
            PolicyError: there is no such preset.
        """
        from ctxcore.formats.reading import read_transcripts
        from ctxcore.trials.checking import Limits, breaches

        limits = Limits(
            no_rule_lost=no_rule_lost,
            max_facts_lost=max_facts_lost,
            max_cost=max_cost,
            min_reuse=min_reuse,
        )
        replays, told = [], []
        for transcript in read_transcripts(Path(path)):
            replay = _replay(transcript, policy, window, max_tokens, model)
            replays.append(replay)
            found = breaches(replay, limits)
            told += [f"{path} {transcript.id}: {breach}" for breach in found]
        if told:
            pytest.fail("\n".join(told), pytrace=False)
        return replays


def _replay(
    transcript: Transcript,
    policy: Policy | str,
    window: int | None,
    max_tokens: int | None,
    model: str | None,
) -> Replay:
    from ctxcore.budget import ASSUMED_WINDOW_TOKENS
    from ctxcore.policy.layers import set_values
    from ctxcore.policy.values import Policy
    from ctxcore.replay.replaying import run_to_end
    from ctxcore.tokens.catalog import model_info
    from ctxcore.tokens.prices import list_price
    from ctxcore.trials.candidates import Candidate
    from ctxcore.trials.running import Trying
    from ctxcore.trials.values import TrialSession

    chosen = Policy.preset(policy) if isinstance(policy, str) else policy
    name = model or transcript.model
    known = window or model_info(name).window_tokens or ASSUMED_WINDOW_TOKENS
    session = TrialSession(
        id=transcript.id,
        title=transcript.title,
        messages=transcript.messages,
        model=name,
        tools=transcript.tools,
        window_tokens=None if max_tokens else known,
        max_tokens=max_tokens,
        price=list_price(name),
    )
    overrides = set_values(chosen, [field.name for field in fields(chosen)])
    candidate = Candidate(name=chosen.name, kind="preset", overrides=overrides)
    return run_to_end(Trying(session).under(candidate), lambda done: None)


@pytest.fixture(scope="session")
def ctxcore_check() -> ContextCheck:
    """Checks what a policy makes of recorded conversations; see `ContextCheck.__call__`."""
    return ContextCheck()
