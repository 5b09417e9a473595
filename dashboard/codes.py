"""Owns the codes of what breaks off in the dashboard itself."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class BrokeOff(Code):
    """What a program error ended; the log tells of the error."""

    TURN = (
        "dashboard.turn_broke_off",
        "the turn broke off because of a program error; see the server's log",
    )
    WORK = (
        "dashboard.work_broke_off",
        "the work broke off because of a program error ({kind}); see the server's log",
    )
