"""The codes of what can be wrong with sessions that are stored, and with turns in them."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class StoreProblem(Code):
    """Why reading or writing failed."""

    REFUSED = "store.refused", "the database refused: {problem}"
    CLOSED = "store.closed", "the store is closed"
    DAMAGED_VALUE = "store.damaged_value", "a stored value is damaged: {reason}"
    NEWER = (
        "store.newer",
        "the database has revision {revision!r}, this version of ctxcore knows {wanted!r}; upgrade "
        "ctxcore or choose another database",
    )
    NO_SESSION = (
        "store.no_session",
        "there is no session {id!r}; list_sessions() has those there are",
    )
    AMBIGUOUS = (
        "store.ambiguous",
        "{count:,} sessions have an id that begins with {beginning!r}: {names}; say more of the "
        "one you mean",
    )
    NO_RECORD = "store.no_record", "there is no {what} {id!r} here"
    DAMAGED = (
        "store.damaged",
        "{what} of session {id!r} is damaged ({problem}); restore the database from a copy, or "
        "fork the session before it",
    )
    NO_FACTS = "store.no_facts", "no facts: {reason}"
    STALE = (
        "store.stale",
        "another compaction became active in session {id!r} meanwhile ({active!r}, not "
        "{expected!r}); look at the session again and repeat what you want",
    )
    RUNNING = (
        "store.running",
        "a turn is running in session {id!r}, by {owner!r} until {time}; wait for its end or stop "
        "it",
    )
    HELD = "store.held", "{name!r} is held, by {owner!r} until {time}; wait for its end or stop it"
    UNCOUNTED = (
        "store.uncounted",
        "session {id!r} is not counted by {counter!r} up to its end; recount() it, or read it with "
        "the counter of its own",
    )
    COUNTER = (
        "store.counter",
        "session {id!r} is counted by {counter!r}, which this library does not have; append with "
        "that counter, or recount() with the new one first",
    )
    PLACE = "store.place", "there is no message {number}; the session has {length}"
    PLACE_OF = (
        "store.place_of",
        "there is no message {number}; the session has {length}, 0 to {last}",
    )


class RecordCode(Code):
    """What is stored with a session."""

    MESSAGE = "store.message", "message"
    COMPACTION = "store.compaction", "compaction"
    USER = "store.user", "user"
    TURN = "store.turn", "turn"
    CALL = "store.call", "call"
    POLICY_VERSION = "store.policy_version", "policy version"
    WORKING_STATE = "store.working_state", "the working state"
    OF_COMPACTION = "store.of_compaction", "compaction {id!r}"


class AccessCode(Code):
    """What only its owner or an operator may see or do."""

    SESSION = "access.session", "session {id!r}"
    POLICY_OF = "access.policy_of", "the policy of {scope}"
    THRESHOLDS = "access.thresholds", "the thresholds of all"
    USERS = "access.users", "the list of users"
    ADD_USERS = "access.add_users", "adding users"
    ASSIGN = "access.assign", "assigning sessions"


class ChangeCode(Code):
    """What changed since a proposal was made."""

    COMPACTION = "change.compaction", "the active compaction"
    MARK = "change.mark", "a pin or exclusion"
    POLICY = "change.policy", "the policy"


class TurnProblem(Code):
    """Why a turn cannot begin or go on."""

    NOT_ALLOWED = (
        "turn.not_allowed",
        "{what} is not {user!r}'s to see; ask its owner or an operator to assign it",
    )
    STALE = (
        "turn.stale",
        "{changed} changed since the proposal; look at a new one and confirm that",
    )
    NO_MODEL = "turn.no_model", "no model is set for this session; choose one, or pass model="
    NO_QUESTION = "turn.no_question", "no compaction waits for an answer to {id!r}"
    NO_ANSWER = "turn.no_answer", "{answer!r} is no answer; one of {names}"
    CALLS = "turn.calls", "calls without results: {names}; append them, or pass run_tool"
    CALL = "turn.call", "{tool} ({id})"
    NO_TURN = "turn.none", "there is no turn to go on with; say something first"
    DONE = "turn.done", "the last turn is done; say something new to go on"
    MANY_CALLS = (
        "turn.many_calls",
        "the model asked for tools {count} times in one turn; continue the turn to let it go on, "
        "or say what it should do instead",
    )
    NO_REPLY = "turn.no_reply", "the model's stream ended without an answer; send again to go on"
    LOST = (
        "turn.lost",
        "the turn was given up, taken over elsewhere or erased with its session; look at the "
        "session and go on from what is there",
    )
