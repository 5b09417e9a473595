"""How long a hundred turns at once hold up the event loop that they run in.

Run it as `python -m benchmarks.event_loop`. A heartbeat asks to be woken every few milliseconds and
notes how late that was; the idle one shows what the machine does by itself.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.timing import print_command
from ctxcore import ContextEngine, LiteLLMGateway, open_store
from ctxcore.engine.events import TurnEnded
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply

BEAT_SECONDS = 0.005
REPLY = ScriptedReply(text="That is noted for the move. " * 20, chunk_delay_seconds=0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beats:
    """How late a heartbeat was, and for how long it was measured."""

    late_seconds: list[float]
    seconds: float

    def row(self, name: str) -> str:
        """One line of the table."""
        late = [second * 1000 for second in self.late_seconds]
        median, high = quantiles(late, n=100)[49], quantiles(late, n=100)[98]
        return (
            f"  {name:<24} {max(late):>8.1f} ms {high:>8.1f} ms {median:>8.1f} ms"
            f" {self.seconds:>7.1f} s {len(late):>7}"
        )


def main() -> None:
    """Print one table."""
    print_command()
    options = _options()
    with TemporaryDirectory() as folder, ScriptedModel("benchmark", otherwise=REPLY) as model:
        store = open_store(f"sqlite:///{Path(folder) / 'benchmark.db'}")
        engine = ContextEngine(store, gateway=LiteLLMGateway(), model=model.model)
        busy, idle = asyncio.run(_measure(engine, options.turns))
        store.close()
    print(
        f"\n  {'heartbeat':<24} {'worst':>11} {'99 %':>11} {'median':>11} {'for':>9} {'beats':>7}"
    )
    print(busy.row(f"{options.turns} turns at once"))
    print(idle.row("idle"))


async def _measure(engine: ContextEngine, turns: int) -> tuple[Beats, Beats]:
    """The heartbeat while `turns` run, and for as long again while nothing does."""
    sessions = [engine.create_session(f"session {number}").id for number in range(turns + 1)]
    await _turn(engine, sessions.pop())  # imports litellm, once a process
    busy = await _beats_during(asyncio.gather(*(_turn(engine, one) for one in sessions)))
    idle = await _beats_during(asyncio.ensure_future(asyncio.sleep(busy.seconds)))
    return busy, idle


async def _turn(engine: ContextEngine, session_id: str) -> None:
    async for event in engine.achat(session_id, "What is noted so far?"):
        if isinstance(event, TurnEnded) and event.state != "done":
            raise SystemExit(event.error)


async def _beats_during(work: asyncio.Future[list[None]] | asyncio.Future[None]) -> Beats:
    started, late = perf_counter(), []
    while not work.done():
        asked = perf_counter()
        await asyncio.sleep(BEAT_SECONDS)
        late.append(perf_counter() - asked - BEAT_SECONDS)
    await work
    return Beats(late_seconds=late, seconds=perf_counter() - started)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
