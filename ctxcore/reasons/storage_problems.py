"""The codes of problems with files and stores: conversations, exports, settings, sessions."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class FileProblem(Code):
    """Why a file, or a line of it, is not a conversation."""

    EXPECTED = (
        "file.expected",
        "{problem}; expected {formats}",
    )
    NULS = "file.nuls", "{problem}; it holds NUL bytes: save it as UTF-8 if it is text"
    EMPTY = "file.empty", "the file is empty"
    NO_CONVERSATION = "file.none", "holds no conversation"
    NO_CONVERSATION_BECAUSE = "file.none_because", "holds no conversation: {problem}"
    NEITHER = "file.neither", "is neither a chat message nor a conversation"
    NO_RECORD = "file.no_record", "is JSON but no session record"
    NO_CONTENT = "file.no_content", "the {kind} record has no content"
    DAMAGED = "file.damaged", "the JSON is damaged or cut off: {reason}"
    NOT_JSON = "file.not_json", "is not JSON: {reason}"
    UNREADABLE = "file.unreadable", "cannot be read: {reason}"
    MISSING = "file.missing", "there is no such file or folder"
    MISSING_NAMED = (
        "file.missing_named",
        "there is no file {path!r}; name another with --database or CTXCORE_DATABASE_URL",
    )
    NO_FILES = "file.no_files", "holds no .json or .jsonl files"
    NO_SUCH_ID = "file.no_such_id", "no conversation has an id that starts with {beginning!r}"
    NOT_UTF8 = "file.not_utf8", "it is not UTF-8"
    BROKEN_UTF8 = "file.broken_utf8", "is not UTF-8; broken characters are shown as U+FFFD"


class FormatCode(Code):
    """The file formats that are read."""

    OPENAI = (
        "format.openai",
        "OpenAI chat messages (a list, an object with `messages`, or one message or conversation a "
        "line)",
    )
    CLAUDE_CODE = "format.claude_code", "a Claude Code session (.jsonl)"


class ExportProblem(Code):
    """Why a file is not an export of this library, or cannot be imported."""

    NO_HEAD = "export.no_head", "is no export: no {kind!r} line comes first"
    VERSION = "export.version", "version {version!r} is not read, only {known}"
    CUT = "export.cut", "ends before its last line; the file was cut short"
    DIGEST = (
        "export.digest",
        "was damaged or changed: its digest does not match what it holds; take "
        '"digest" out of its last line to import it nevertheless',
    )
    NO_OBJECT = "export.no_object", "is not an object"
    NO_GOAL = "export.no_goal", "the goal is message {number}, which it does not hold"
    UNKNOWN_KIND = "export.unknown_kind", "records of type {kind!r} are not known"
    NO_MESSAGE = "export.no_message", "the message is not an object"
    MESSAGE_BEFORE = "export.message_before", "message {number} is missing before it"
    MARK = "export.mark", "a mark is a pin or an exclude, not {kind!r}"
    KNOWS = "export.knows", "it knows message {number}, which the file does not hold"
    PARENT = "export.parent", "the compaction {id!r} before it is missing"
    NO_SUCH_MESSAGE = "export.no_such_message", "there is no message {number}"
    WHOLE = "export.whole", "{value!r} is not a whole number"
    TEXT = "export.text", "{value!r} is not a text"
    RECORD = "export.record", "the record is not an object"


class ScriptProblem(Code):
    """Problems in a file of scripted models."""

    NO_MODELS = "script.no_models", "expected an object of model names"
    NO_OBJECT = "script.no_object", "expected an object"
    UNKNOWN_KEYS = "script.unknown_keys", "unknown key {names}"
    VALUE = "script.value", "{key} is {value!r}"
    NO_KIND = "script.no_kind", "no error kind {kind!r}"


class SettingProblem(Code):
    """Problems with a setting, or with the file that holds it."""

    FIELD = "config.field", "policy field {field!r} is {value!r}; allowed: {allowed}"
    YAML = "config.yaml", "is no YAML: {reason}"
    KEYS = "config.keys", "expected keys with values"
    WORD = "config.word", "a key must be a word"
    TWICE = "config.twice", "{name!r} stands here twice"
    NAMED = "config.named", "{problem} ({variable} names it: {source})"
    STATE_FIELD = (
        "config.state_field",
        "working state field {field!r} {problem}; allowed: {allowed}",
    )
    TYPE = "config.type", "is of type {kind!r}"
    HOLDS_TYPE = "config.holds_type", "holds one of type {kind!r}"
    NO_STATE = "config.no_state", "the working state is no object"


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
    """The kinds of records that are stored with a session."""

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
    """Why a turn cannot start or continue."""

    NOT_ALLOWED = (
        "turn.not_allowed",
        "{what} is not {user!r}'s to see; ask its owner or an operator to assign it",
    )
    STALE = (
        "turn.stale",
        "{changed} changed since the proposal; look at a new one and confirm that",
    )
    NO_MODEL = "turn.no_model", "no model is set for this session; choose one, or pass model="
    NO_PENDING = "turn.no_question", "no compaction waits for an answer to {id!r}"
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
