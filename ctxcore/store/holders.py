"""The process that holds a lease: as it is stored, this one, and whether one has ended.

A process is named by where its number counts and by when it started, so that neither the same
number in another container nor a later process with that number is taken for it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")
_STARTED = 19  # starttime is the 22nd field, and the first two stand before these
_ENDED_STATES = ("Z", "X")  # a zombie has ended and only waits for its parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process on a host."""

    host: str
    """The name of the host, or of the container."""
    space: str
    """Where `pid` counts: this boot of the kernel and the namespace; empty: not known."""
    pid: int
    started: str
    """When it started, in clock ticks since the boot; empty: not known."""


def holder_text(holder: Holder) -> str:
    """`holder` as it is stored."""
    return json.dumps(asdict(holder))


def parse_holder(text: str | None) -> Holder | None:
    """The holder that was stored; None where none was, or one that this release cannot read."""
    try:
        return Holder(**json.loads(text)) if text else None
    except (ValueError, TypeError):
        return None


def this_process() -> str:
    """This process, as it is stored."""
    return _own_text(os.getpid())  # a fork is another process


@lru_cache(maxsize=1)
def _own_text(pid: int) -> str:
    _, started = _stat_of(pid) or ("", "")
    own = Holder(host=socket.gethostname(), space=_space(), pid=pid, started=started)
    return holder_text(own)


def has_ended(text: str | None) -> bool:
    """Whether a stored holder is a process of this machine that has ended.

    False for one of another host or container, and wherever it is not certain: then its lease
    tells, which it does not renew any more.
    """
    holder, own = parse_holder(text), parse_holder(this_process())
    if holder is None or own is None or text == this_process():
        return False
    if (holder.host, holder.space) != (own.host, own.space):
        return False
    return _has_ended(holder)


def _has_ended(holder: Holder) -> bool:
    if holder.space:
        stat = _stat_of(holder.pid)
        return stat is None or stat[0] in _ENDED_STATES or stat[1] != holder.started
    if sys.platform == "win32":
        return False  # a signal of 0 would end the process there
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's, so it is there
        return False
    return False


def _stat_of(pid: int) -> tuple[str, str] | None:
    """State and start of a process of this namespace; None if there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before may have blanks and brackets
    return fields[0], fields[_STARTED]


def _space() -> str:
    """This boot and process namespace; empty where there is no `/proc` of Linux."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    return ""
