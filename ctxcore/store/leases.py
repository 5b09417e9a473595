"""Stores leases, and the queue of those who wait for one.

A lease is taken by one statement, and only by who comes first: a claim behind others that still
wait is refused even where the lease is free.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from ctxcore.store.database import Area
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.values import NO_CLAIM, Claim, LeaseInfo, LeaseWaiter
from ctxcore.tables import LEASE, LEASE_WAITER, UtcTime

_BEHIND_ALL = 2**62
_MAX_IN_LIST = 500  # owners in one IN list, below every database's limit

# One statement, so that only one of two concurrent owners gets it; both databases have this form.
_TAKE = text(
    "INSERT INTO lease (name, owner, holder, expires_at)"
    " SELECT CAST(:name AS TEXT), CAST(:owner AS TEXT), CAST(:holder AS TEXT), :expires_at"
    " WHERE NOT EXISTS (SELECT 1 FROM lease_waiter WHERE lease_waiter.name = :name"
    " AND lease_waiter.id < :ticket AND lease_waiter.expires_at > :at)"
    " OR EXISTS (SELECT 1 FROM lease WHERE lease.name = :name AND lease.owner = :owner)"
    " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, holder = excluded.holder,"
    " expires_at = excluded.expires_at"
    " WHERE lease.owner = excluded.owner OR lease.expires_at <= :at"
    " OR (lease.owner = :over_owner AND lease.holder = :over_holder)"
).bindparams(bindparam("expires_at", type_=UtcTime()), bindparam("at", type_=UtcTime()))


def turn_lease(session_id: str) -> str:
    """The name of the lease of a session's running turn."""
    return f"turn:{session_id}"


class Leases(Area):
    """Leases and their queues."""

    def acquire_lease(
        self, name: str, owner: str, *, expires_at: datetime, at: datetime, claim: Claim = NO_CLAIM
    ) -> bool:
        with self._database.write() as connection:
            return take(connection, name, owner, expires_at=expires_at, at=at, claim=claim)

    def lease(self, name: str) -> LeaseInfo | None:
        with self._database.read() as connection:
            return find_lease(connection, name)

    def leases(self) -> list[LeaseInfo]:
        return self._list(select(LEASE).order_by(LEASE.c.name), lambda row: LeaseInfo(**row))

    def renew_leases(
        self, owners: Collection[str], *, holder: str, expires_at: datetime
    ) -> set[str]:
        renewed: set[str] = set()
        wanted = sorted(owners)
        with self._database.write() as connection:
            for at in range(0, len(wanted), _MAX_IN_LIST):
                own = LEASE.c.owner.in_(wanted[at : at + _MAX_IN_LIST]) & (LEASE.c.holder == holder)
                connection.execute(update(LEASE).where(own), {"expires_at": expires_at})
                renewed.update(connection.execute(select(LEASE.c.owner).where(own)).scalars())
        return renewed

    def release_lease(self, name: str, owner: str) -> bool:
        with self._database.write() as connection:
            return release(connection, name, owner)

    def join_queue(self, name: str, *, holder: str, expires_at: datetime, at: datetime) -> int:
        row = {"name": name, "holder": holder, "expires_at": expires_at}
        over = (LEASE_WAITER.c.name == name) & (LEASE_WAITER.c.expires_at <= at)
        with self._database.write() as connection:
            connection.execute(delete(LEASE_WAITER).where(over))
            added = connection.execute(insert(LEASE_WAITER), row).inserted_primary_key
        assert added is not None  # both databases tell it
        return int(added[0])

    def waiters(self, name: str, *, at: datetime) -> list[LeaseWaiter]:
        waiting = select(LEASE_WAITER.c.id.label("ticket"), LEASE_WAITER.c.holder).where(
            LEASE_WAITER.c.name == name, LEASE_WAITER.c.expires_at > at
        )
        return self._list(waiting.order_by(LEASE_WAITER.c.id), lambda row: LeaseWaiter(**row))

    def stay_in_queue(self, ticket: int, *, expires_at: datetime) -> bool:
        own = update(LEASE_WAITER).where(LEASE_WAITER.c.id == ticket)
        with self._database.write() as connection:
            return connection.execute(own, {"expires_at": expires_at}).rowcount > 0

    def leave_queue(self, tickets: Collection[int]) -> None:
        with self._database.write() as connection:
            connection.execute(delete(LEASE_WAITER).where(LEASE_WAITER.c.id.in_(sorted(tickets))))


def take(
    connection: Connection,
    name: str,
    owner: str,
    *,
    expires_at: datetime,
    at: datetime,
    claim: Claim = NO_CLAIM,
) -> bool:
    """Takes a lease that is free, expired or the owner's own, or that the claim takes over."""
    values = {
        "name": name,
        "owner": owner,
        "holder": claim.holder,
        "expires_at": expires_at,
        "at": at,
        "ticket": _BEHIND_ALL if claim.ticket is None else claim.ticket,
        "over_owner": claim.over and claim.over.owner,
        "over_holder": claim.over and claim.over.holder,
    }
    return connection.execute(_TAKE, values).rowcount > 0


def release(connection: Connection, name: str, owner: str) -> bool:
    """Deletes a lease if `owner` holds it."""
    its_own = (LEASE.c.name == name) & (LEASE.c.owner == owner)
    return connection.execute(delete(LEASE).where(its_own)).rowcount > 0


def release_held(connection: Connection, lease: LeaseInfo) -> None:
    """Deletes a lease if it is still in the same hands."""
    same = (LEASE.c.owner == lease.owner) & (LEASE.c.holder == lease.holder)
    connection.execute(delete(LEASE).where(LEASE.c.name == lease.name, same))


def find_lease(connection: Connection, name: str) -> LeaseInfo | None:
    """The lease of this name, which may have expired."""
    row = connection.execute(select(LEASE).where(LEASE.c.name == name)).mappings().first()
    return None if row is None else LeaseInfo(**row)


def taken(connection: Connection, name: str, *, at: datetime) -> LeaseTakenError:
    """The error for a lease that could not be taken: who holds it, or who waits and is next."""
    held = find_lease(connection, name)
    if held is None or held.expires_at <= at:
        first = select(LEASE_WAITER).where(LEASE_WAITER.c.name == name).order_by(LEASE_WAITER.c.id)
        row = connection.execute(first.limit(1)).mappings().first()
        if row is not None:
            held = LeaseInfo(
                name=name, owner="next", expires_at=row["expires_at"], holder=row["holder"]
            )
    if held is None:  # released meanwhile, where writers do not wait for each other
        held = LeaseInfo(name=name, owner="another process", expires_at=at)
    return LeaseTakenError(
        name=name, owner=held.owner, expires_at=held.expires_at, holder=held.holder
    )


def erase_lease(connection: Connection, name: str) -> None:
    """Deletes a lease with its queue."""
    connection.execute(delete(LEASE).where(LEASE.c.name == name))
    connection.execute(delete(LEASE_WAITER).where(LEASE_WAITER.c.name == name))
