"""Compares what each preset and strategy would make of a session's next call, now and as a job."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial

from ctxcore.engine.jobs import Progress, Work
from ctxcore.engine.proposals import call_by, moment_of
from ctxcore.engine.services import EngineServices
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.replay.alternatives import Alternative, Compared, alternatives, compare_all

JOB_KIND = "compaction_alternatives"


def compare_now(
    services: EngineServices,
    session_id: str,
    *,
    model: str | None = None,
    overrides: JsonObject | None = None,
) -> Iterator[tuple[Alternative, ...] | Compared | None]:
    """Gives the alternatives, None after each that was tried, then what came of all."""
    target = services.call_target(session_id, model=model, overrides=overrides)
    ways = alternatives(target.call.policy)
    yield tuple(ways)
    messages = [info.message for info in services.store.messages(session_id)]
    under = partial(call_by, services, target, overrides=overrides)
    yield from compare_all(moment_of(services, target), under, ways, messages)


def compared(
    services: EngineServices,
    session_id: str,
    *,
    model: str | None = None,
    overrides: JsonObject | None = None,
) -> list[Compared]:
    """What each alternative would make of the next call, the policy in force first."""
    found = compare_now(services, session_id, model=model, overrides=overrides)
    return [one for one in found if isinstance(one, Compared)]


def work_of(services: EngineServices, session_id: str, model: str | None) -> Work:
    """The same as the work of a job; its result has the rows of the comparison as JSON."""

    def work() -> Generator[Progress, None, JsonObject]:
        rows: list[JsonValue] = []
        total = done = 0
        for step in compare_now(services, session_id, model=model):
            if isinstance(step, tuple):
                total = len(step)
            elif step is None:
                done += 1
                yield done, total
            else:
                rows.append(step.to_dict())
        return {"rows": rows}

    return work
