"""The story of a message: which calls showed it whole, shortened or not, and who used it later.

Told as it was, and as it would have been under the policy in force and every preset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.recall_hits import RecalledMessage, find_hits, find_phrase
from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.compaction.loss_report import LostFact, message_text
from ctxcore.compaction.simulation import Recording
from ctxcore.compaction.triggers import is_recorded
from ctxcore.engine.jobs import Progress, Work
from ctxcore.engine.services import EngineServices
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.facts.values import Fact
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.replay.losses import LaterUses, NeededFact, rank_losses
from ctxcore.replay.message_fates import MessageFate, Need, fate_under
from ctxcore.store.values import CallInfo, CompactionInfo, MessageInfo
from ctxcore.tokens.families import TokenCounter

SHOWN: frozenset[VerdictKind] = frozenset({"kept", "compressed", "recalled"})
"""The verdicts under which a call has something of the message itself."""
_BATCH = 500  # chosen: calls whose verdicts are read at a time
_QUERY_CHARS = 400  # chosen: what a person would remember of a message, and more
_HITS = 10  # as many as a search shows


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryStep(Plain):
    """The first call that treated the message in another way than the call before."""

    call: int
    """Its number among the calls for answers, from 1."""
    at: datetime
    verdict: VerdictKind
    reason: Reason
    before_tokens: int | None
    """The size of the message, or of the run of messages that has the verdict; None: not known."""
    after_tokens: int | None
    compaction: int | None = None
    """The number of the compaction that was active."""
    trigger: Reason | None = None
    """Why that compaction was made, where it folded the message."""

    @property
    def is_shown(self) -> bool:
        """Whether the call has something of the message itself."""
        return self.verdict in SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStory(Plain):
    """What became of a message; numbers count from 1."""

    seq: int
    steps: tuple[StoryStep, ...]
    """Oldest first; empty where no call after it is recorded."""
    hidden_from: int | None
    """The first answer of a call that did not show it; None: every call did."""
    uses: tuple[NeededFact, ...]
    """The facts of it that were used once it was hidden, by what matters."""
    is_recallable: bool
    """Whether a search for its own words finds it."""


def story_of(services: EngineServices, session_id: str, seq: int) -> MessageStory:
    """The story of message `seq` (from 1)."""
    session, store = services.session(session_id), services.store
    counter = services.counter(session)
    view, _ = services.recounts.view(session, counter)
    (row,) = view.get([seq])
    calls = [call for call in store.calls(session.id, with_runs=False) if call.purpose == "answer"]
    made = store.compactions(session.id)
    folds = sorted(fold.before_seq for fold in store.imported_compactions(session.id))
    recorded = sorted(
        (info for info in made if is_recorded(info.compaction)),
        key=lambda info: info.compaction.covered_until,
    )
    compactions = {
        **{info.id: info for info in made},
        **({_fold_id(at): info for at, info in enumerate(recorded, start=1)}),
    }
    seen = list(_seen(services, session_id, calls, seq, folds))
    behind = [call.seq for call, step in seen if step.verdict not in SHOWN]
    hidden = next(filter(None, behind), session.length) if behind else None
    return MessageStory(
        seq=seq,
        steps=tuple(_changes(seen, calls, compactions, folds)),
        hidden_from=hidden,
        uses=_uses(services, session_id, view, seq, hidden) if hidden else (),
        is_recallable=_is_found(view, row.message, counter, seq),
    )


def _seen(
    services: EngineServices,
    session_id: str,
    calls: Sequence[CallInfo],
    seq: int,
    folds: Sequence[int],
) -> Iterator[tuple[CallInfo, Run]]:
    """The calls behind the message, each with its verdict on it."""
    later = [call for call in calls if call.seq is None or call.seq > seq]
    for at in range(0, len(later), _BATCH):
        batch = later[at : at + _BATCH]
        runs = services.store.runs(session_id, [call.id for call in batch])
        for call in batch:
            verdict = run_at(runs.get(call.id, ()), seq - 1) or _recorded(call, seq, folds)
            if verdict is not None:
                yield call, verdict


def run_at(runs: Sequence[Run], at: int) -> Run | None:
    """The run that holds the message at place `at`; None if none does."""
    place = bisect_right(runs, at, key=lambda run: run.first) - 1
    found = runs[place] if place >= 0 else None
    return found if found is not None and found.last >= at else None


def _recorded(call: CallInfo, seq: int, folds: Sequence[int]) -> Run | None:
    """The verdict of an imported call: whatever came before the last compaction was folded."""
    if not call.is_imported or call.seq is None:
        return None
    fold = bisect_right(folds, call.seq)
    is_folded = fold > 0 and seq < folds[fold - 1]
    return Run(
        first=seq - 1,
        last=seq - 1,
        verdict="summarized" if is_folded else "kept",
        reason=VerdictCode.FOLDED() if is_folded else VerdictCode.RECENT(),
        before_tokens=0,
        after_tokens=0,
    )


def _fold_id(number: int) -> str:
    """Names the nth compaction that a recording program made."""
    return f"recorded {number}"


def _compaction_of(
    call: CallInfo, run: Run, compactions: Mapping[str, CompactionInfo], folds: Sequence[int]
) -> CompactionInfo | None:
    """The compaction that was active at a call; of an imported one, that which folded."""
    if call.compaction_id is not None:
        return compactions.get(call.compaction_id)
    if run.verdict != "summarized" or not call.is_imported or call.seq is None:
        return None
    return compactions.get(_fold_id(bisect_right(folds, call.seq)))


def _changes(
    seen: Iterable[tuple[CallInfo, Run]],
    calls: Sequence[CallInfo],
    compactions: Mapping[str, CompactionInfo],
    folds: Sequence[int],
) -> Iterator[StoryStep]:
    """The calls whose verdict is another than that of the call before."""
    places = {call.id: number for number, call in enumerate(calls, start=1)}
    before: tuple[VerdictKind, str] | None = None
    for call, run in seen:
        now = (run.verdict, str(run.reason.code))
        if now == before:
            continue
        before = now
        is_known = bool(run.before_tokens)
        info = _compaction_of(call, run, compactions, folds)
        is_fold = info is not None and run.verdict == "summarized"
        yield StoryStep(
            call=places[call.id],
            at=call.created_at,
            verdict=run.verdict,
            reason=run.reason,
            before_tokens=run.before_tokens if is_known else None,
            after_tokens=run.after_tokens if is_known else None,
            compaction=info.number if info else None,
            trigger=info.compaction.trigger if info and is_fold else None,
        )


def _uses(
    services: EngineServices, session_id: str, view: HistoryView, seq: int, hidden: int
) -> tuple[NeededFact, ...]:
    """The facts of the message that are used from message `hidden` on."""
    facts = _facts_of(view, seq)
    lost = [
        LostFact(text=fact.text, kind=fact.kind, seq=seq, salience=0.0, fact=fact) for fact in facts
    ]
    later = services.store.messages(session_id, hidden)
    uses = LaterUses([info.message for info in later], start=hidden - 1)
    needed = uses.needed(lost, after=hidden - 1)
    return rank_losses(fact for fact in needed if fact.needed_at is not None)


JOB_KIND = "message_story"
MOST_NEEDS = 500  # uses of the facts of one message; chosen: more are the same few words


def said_about(
    services: EngineServices, session_id: str, words: str, *, limit: int = _HITS
) -> list[RecalledMessage]:
    """The messages with a phrase: those that say it word for word first, oldest first."""
    session = services.session(session_id)
    counter = services.counter(session)
    view, _ = services.recounts.view(session, counter)
    return find_phrase(view, words, counter, limit=limit)


def fates_of(
    services: EngineServices, session_id: str, seq: int
) -> Generator[Progress, None, list[MessageFate]]:
    """What the policy in force and every other preset would have made of message `seq`.

    Messages that no context shows are left out, such as system prompts out of force.
    """
    target = services.call_target(session_id)
    silent = {*target.view.anchors().excluded} - {seq}
    infos = [info for info in services.store.messages(session_id) if info.seq not in silent]
    places = {info.seq: at for at, info in enumerate(infos)}
    edits = RuleEdits.of(
        replace(edit, seq=places[edit.seq] + 1)
        for edit in target.view.rule_edits().edits
        if edit.seq in places
    )
    recording = Recording(
        [info.message for info in infos], model=target.model, tools=target.tools, rule_edits=edits
    )
    needs = _needs(infos, _facts_of(target.view, seq), places[seq])
    policies = _policies(services, session_id, target.model)
    answers = sum(info.message.role == "assistant" for info in infos)
    done, total, found = 0, answers * len(policies), list[MessageFate]()
    for number, (name, policy) in enumerate(policies):
        walk = fate_under(
            recording,
            policy,
            places[seq] + 1,
            needs,
            name=name,
            window_tokens=target.info.window_tokens,
        )
        while True:
            try:
                done += next(walk)
            except StopIteration as ended:
                found.append(ended.value)
                break
            yield min(done, total), total
        done = answers * (number + 1)
    return found


def fates_work(services: EngineServices, session_id: str, seq: int) -> Work:
    """The same as the work of a job; its result has the fates as JSON."""

    def work() -> Generator[Progress, None, JsonObject]:
        found = yield from fates_of(services, session_id, seq)
        fates: list[JsonValue] = [fate.to_dict() for fate in found]
        return {"fates": fates}

    return work


def _needs(infos: Sequence[MessageInfo], facts: Iterable[Fact], at: int) -> list[Need]:
    """The later uses of the `facts` of the message at place `at`, the first ones of very many."""
    uses = LaterUses([info.message for info in infos[at + 1 :]], start=at + 1)
    found = [Need(fact=fact, at=place) for fact in facts for place in uses.places(fact, at + 1)]
    return sorted(found, key=lambda need: need.at)[:MOST_NEEDS]


def _policies(
    services: EngineServices, session_id: str, model: str | None
) -> list[tuple[str, Policy]]:
    """The policy in force, and every preset with the other settings of the session."""
    session = services.session(session_id)
    own = services.effective_policy(session, model).policy
    presets = [name for name in Policy.presets() if name != own.name]
    found = [(own.name, own)]
    for name in presets:
        overrides: JsonObject = {PRESET_FIELD: name}
        found.append((name, services.effective_policy(session, model, overrides).policy))
    return found


def _facts_of(view: HistoryView, seq: int) -> Sequence[Fact]:
    return next((found for at, found in view.facts() if at == seq), ())


def _is_found(view: HistoryView, message: Message, counter: TokenCounter, seq: int) -> bool:
    """Whether a search for the message's own words shows it."""
    words = message_text(message)[:_QUERY_CHARS].strip()
    if message.is_system or not words:
        return False
    for hit in find_hits(view, words, counter, limit=_HITS):
        if seq in {hit.seq, *(one.seq for one in (*hit.before, *hit.after))}:
            return True
    return False
