"""Keeps the leases of what runs in this process, takes those of dead ones, and waits for others.

Leases are short and renewed while the work goes on, so that a holder that is gone blocks nobody
for longer than one; a process of this machine that has ended blocks nobody at all.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from ctxcore.engine.events import Queued
from ctxcore.errors import ContextError
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.holders import has_ended, parse_holder, this_process
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Claim, LeaseInfo, LeaseWaiter

T = TypeVar("T")

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)  # chosen: how long a process of another host blocks after its death
RENEW_SECONDS = 5.0  # chosen: a third, so that a lease survives a failed renewal and slow clocks
WAIT_SECONDS = 60.0  # chosen: longer than most answers take
TOLD_SECONDS = 0.5  # chosen: as often as a model's silence is told, so that a reader can leave
_LOOK_SECONDS = 0.025  # chosen: one small read, forty times a second by the first who waits
_LONGEST_LOOK_SECONDS = 0.25


class Held(Protocol):
    """Work that holds a lease."""

    @property
    def is_alive(self) -> bool:
        """Whether it still goes on; otherwise its lease is left to expire."""

    def renewed(self, at: datetime) -> None:
        """Told when the lease was renewed."""

    def lost(self) -> None:
        """Told when somebody else has the lease."""


class _Block:
    """The block of a `with`: alive until it ends, and told of nothing."""

    is_alive = True

    def renewed(self, at: datetime) -> None:
        """Nothing depends on it."""

    def lost(self) -> None:
        """What it stores is refused by its own checks."""


class Leases:
    """The leases of one engine, with a thread that renews them while there are any."""

    def __init__(
        self, store: SessionStore, clock: Callable[[], datetime], wait_seconds: float
    ) -> None:
        self._store = store
        self._clock = clock
        self._wait_seconds = wait_seconds
        self._held: dict[str, Held] = {}
        self._lock = threading.Lock()
        self._is_renewing = False

    def claim(self, ticket: int | None = None, over: LeaseInfo | None = None) -> Claim:
        """A claim of this process."""
        return Claim(holder=this_process(), ticket=ticket, over=over)

    def keep(self, owner: str, held: Held) -> None:
        """Renews what `owner` holds until it is dropped, or is not alive any more."""
        with self._lock:
            self._held[owner] = held
            if self._is_renewing:
                return
            self._is_renewing = True
        threading.Thread(target=self._renew, name="ctxcore-leases", daemon=True).start()

    def drop(self, owner: str, held: Held) -> None:
        """Renews it no longer; nothing if others have it meanwhile."""
        with self._lock:
            if self._held.get(owner) is held:
                del self._held[owner]

    @contextmanager
    def holding(self, name: str, owner: str) -> Iterator[None]:
        """Holds a lease while the block runs; nobody waits for it.

        Raises:
            LeaseTakenError: another one holds it.
        """
        held = self._store.lease(name)
        over = held if held is not None and has_ended(held.holder) else None
        now, claim = self._clock(), self.claim(over=over)
        if not self._store.acquire_lease(name, owner, expires_at=now + LEASE, at=now, claim=claim):
            other = self._store.lease(name) or LeaseInfo(
                name=name, owner="somebody else", expires_at=now
            )
            raise LeaseTakenError(
                name=name, owner=other.owner, expires_at=other.expires_at, holder=other.holder
            )
        try:
            with self.keeping(owner):
                yield
        finally:
            self._store.release_lease(name, owner)

    @contextmanager
    def keeping(self, owner: str) -> Iterator[None]:
        """Renews what `owner` holds while the block runs."""
        block = _Block()
        self.keep(owner, block)
        try:
            yield
        finally:
            self.drop(owner, block)

    def holder_of(self, name: str) -> LeaseInfo | None:
        """A lease that is valid and whose process has not ended; None if there is none."""
        held = self._store.lease(name)
        if held is None or held.expires_at <= self._clock() or has_ended(held.holder):
            return None
        return held

    def ended(self) -> list[LeaseInfo]:
        """The leases whose processes have ended, as far as this machine can tell."""
        return [lease for lease in self._store.leases() if has_ended(lease.holder)]

    def in_turn(self, name: str, attempt: Callable[[Claim], T]) -> Generator[Queued, None, T]:
        """What `attempt` returns, which takes the lease by its claim; those before it come first.

        Raises (from the iterator):
            LeaseTakenError: it was not free within the time for which this engine waits.
        """
        try:
            return attempt(self.claim())
        except LeaseTakenError as taken:
            refusal = taken
        end = time.monotonic() + self._wait_seconds
        place = _Place(self._store, self._clock, name)
        try:
            told = None
            while True:
                before, over = place.look()
                if not before:
                    try:
                        return attempt(self.claim(place.ticket, over))
                    except LeaseTakenError as taken:
                        refusal = taken
                now = time.monotonic()
                if now >= end:
                    raise refusal
                if told is None or now - told >= TOLD_SECONDS:
                    yield _queued(before, refusal)
                    told = now
                pause = min(_LOOK_SECONDS * max(1, len(before)), _LONGEST_LOOK_SECONDS)
                time.sleep(min(pause, max(0.0, end - time.monotonic())))
        finally:
            place.leave()

    def _renew(self) -> None:
        while True:
            time.sleep(RENEW_SECONDS)
            with self._lock:
                alive = {owner: held for owner, held in self._held.items() if held.is_alive}
                if not self._held:
                    self._is_renewing = False
                    return
            self._renew_these(alive)

    def _renew_these(self, alive: dict[str, Held]) -> None:
        now = self._clock()
        try:
            renewed = self._store.renew_leases(alive, holder=this_process(), expires_at=now + LEASE)
        except ContextError as error:
            logger.warning("leases not renewed error=%s", error)
            return
        with self._lock:  # one that was dropped meanwhile has released its lease itself
            kept = {owner: held for owner, held in alive.items() if self._held.get(owner) is held}
        for owner, held in kept.items():
            if owner in renewed:
                held.renewed(now)
            else:
                held.lost()


class _Place:
    """A place in the queue for a lease."""

    def __init__(self, store: SessionStore, clock: Callable[[], datetime], name: str) -> None:
        self._store = store
        self._clock = clock
        self._name = name
        self._join()

    def look(self) -> tuple[list[LeaseInfo | LeaseWaiter], LeaseInfo | None]:
        """Who is before this place, the holder first; and the lease of a process that has ended."""
        self._stay()
        now, held = self._clock(), self._store.lease(self._name)
        over = held if held is not None and has_ended(held.holder) else None
        is_free = held is None or held.expires_at <= now or over is not None
        earlier = [
            waiter
            for waiter in self._store.waiters(self._name, at=now)
            if waiter.ticket < self.ticket
        ]
        ended = [waiter for waiter in earlier if has_ended(waiter.holder)]
        if ended:
            self._store.leave_queue([waiter.ticket for waiter in ended])
        before = [waiter for waiter in earlier if waiter not in ended]
        return [*([] if is_free or held is None else [held]), *before], over

    def leave(self) -> None:
        """Gives the place up."""
        self._store.leave_queue([self.ticket])

    def _join(self) -> None:
        now = self._clock()
        self._renewed = time.monotonic()
        self.ticket = self._store.join_queue(
            self._name, holder=this_process(), expires_at=now + LEASE, at=now
        )

    def _stay(self) -> None:
        """Renews the place; one that was lost, e.g. while the machine slept, is taken anew."""
        if time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self._renewed = time.monotonic()
        if not self._store.stay_in_queue(self.ticket, expires_at=self._clock() + LEASE):
            self._join()


def _queued(before: list[LeaseInfo | LeaseWaiter], refusal: LeaseTakenError) -> Queued:
    process = parse_holder(refusal.holder)
    return Queued(
        before=max(1, len(before)),
        host=process.host if process else None,
        pid=process.pid if process else None,
    )
