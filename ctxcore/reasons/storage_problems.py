"""The codes of problems with files and stores: conversations, exports, settings, sessions."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class FileProblem(Code):
    """Why a file, or a line of it, is not a conversation."""

    EXPECTED = (
        "file.expected",
        "{problem}; expected {formats}",
    )
    NULS = "file.nuls", "{problem}; it contains NUL bytes: save it as UTF-8 if it is text"
    EMPTY = "file.empty", "the file is empty"
    NO_CONVERSATION = "file.none", "contains no conversation"
    NO_CONVERSATION_BECAUSE = "file.none_because", "contains no conversation: {problem}"
    LOOKS_LIKE = "file.looks_like", "this looks like {format}, but {problem}"
    NEITHER = "file.neither", "is neither a chat message nor a conversation"
    NO_DIALOGUE = "file.no_dialogue", "is no conversation of this format"
    NO_TURN = "file.no_turn", "a turn without a speaker or a text was left out"
    SPEAKER = "file.speaker", "a turn of the unknown speaker {name!r} was left out"
    NO_RECORD = "file.no_record", "is JSON, but not a session record"
    NO_CONTENT = "file.no_content", "the {kind} record has no content"
    PART_OF = "file.part_of", "it only completes a conversation; read {file} instead"
    NOT_BESIDE = "file.not_beside", "its messages are in other files, which are not beside it"
    CLIPPED = "file.clipped", "the program that wrote the file cut the text off"
    DAMAGED = "file.damaged", "the JSON is damaged or cut off: {reason}"
    NOT_JSON = "file.not_json", "is not JSON: {reason}"
    HUGE = "file.huge", "the number in {field!r} is larger than any count of tokens"
    UNREADABLE = "file.unreadable", "cannot be read: {reason}"
    NO_ROOM = (
        "file.no_room",
        "a temporary file in {folder} cannot be written: {reason}; make room there, or name "
        "another folder in TMPDIR",
    )
    MISSING = "file.missing", "there is no such file or folder"
    MISSING_NAMED = (
        "file.missing_named",
        "there is no file {path!r}; choose another with --database or CTXCORE_DATABASE_URL",
    )
    NO_FILES = "file.no_files", "contains no .json or .jsonl files"
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
    CHATGPT = "format.chatgpt", "a ChatGPT export (conversations.json)"
    CLAUDE_AI = "format.claude_ai", "a claude.ai export (conversations.json)"
    LANGCHAIN = "format.langchain", "LangChain messages or a LangGraph state"
    OPENAI_AGENTS = "format.openai_agents", "a run state of the OpenAI Agents SDK"
    GOOGLE_ADK = "format.google_adk", "a Google ADK session"
    OPENHANDS_EVENTS = "format.openhands_events", "OpenHands events"
    OPENHANDS_SDK = "format.openhands_sdk", "events of the OpenHands SDK"
    OPENHANDS_LOG = "format.openhands_log", "an OpenHands log of a model call"
    SWE_AGENT = "format.swe_agent", "a SWE-agent trajectory (.traj)"
    MINI_SWE_AGENT = "format.mini_swe_agent", "a mini-swe-agent trajectory (.traj.json)"
    AI_SDK = "format.ai_sdk", "Vercel AI SDK messages"
    CODEX = "format.codex", "a Codex rollout (.jsonl)"
    PI = "format.pi", "a pi or OpenClaw session (.jsonl)"
    GEMINI_CLI = "format.gemini_cli", "a Gemini CLI session (.json, .jsonl)"
    QWEN = "format.qwen", "a Qwen Code session (.jsonl)"
    COPILOT = "format.copilot", "a Copilot CLI session (events.jsonl)"
    GROK = "format.grok", "a Grok session (chat_history.jsonl)"
    OPENCODE = "format.opencode", "an OpenCode session (its storage folder, or an export)"
    KIMI = "format.kimi", "a Kimi session (wire.jsonl, context.jsonl)"
    CURSOR = "format.cursor", "a Cursor transcript (.jsonl)"
    DROID = "format.droid", "a Droid session (.jsonl)"
    HERMES = "format.hermes", "a Hermes session (.json, .jsonl)"
    ANTIGRAVITY = "format.antigravity", "an Antigravity transcript (.jsonl)"
    ANTHROPIC = "format.anthropic", "requests or responses of Anthropic's messages API"
    OPENAI_RESPONSES = (
        "format.openai_responses",
        "requests, responses or items of OpenAI's Responses API",
    )
    GEMINI = "format.gemini", "requests or responses of the Gemini API"
    SHAREGPT = "format.sharegpt", "a ShareGPT data set"
    TAGGED_CALLS = "format.tagged_calls", "chat messages with tool calls as tags in their text"
    GLAIVE = "format.glaive", "a Glaive data set of function calls"
    ALPACA = "format.alpaca", "an Alpaca data set of instructions and answers"
    ULTRACHAT = "format.ultrachat", "an UltraChat data set"
    FASTCHAT = "format.fastchat", "a log or data set of FastChat or Chatbot Arena"
    TAU_BENCH = "format.tau_bench", "results or examples of tau-bench"
    BFCL = "format.bfcl", "questions or results of the Berkeley Function-Calling Leaderboard"
    TOOLBENCH = "format.toolbench", "answers or training data of ToolBench"
    MARKDOWN = "format.markdown", "Markdown that ctxcore exported (.md)"
    KNOWN = (
        "format.known",
        "{first}, {second} or one of {others} other formats (`ctxcore formats` lists them)",
    )


class RepairCode(Code):
    """What was put right while a file was read."""

    NO_ID = "repair.no_id", "a tool call without an id got one"
    NO_CALL = "repair.no_call", "the result of a call that is not in the file stays where it is"
    MOVED = "repair.moved", "a result was moved behind its call"
    ROLE = "repair.role", "the unknown role {role!r} was read as {meant!r}"
    NO_CALLS_SHOWN = (
        "repair.no_calls_shown",
        "the file shows the results of tool calls but not the calls; the calls were made up",
    )


class ExportProblem(Code):
    """Why a session cannot be exported, or a file is no export that can be imported."""

    NO_HEAD = "export.no_head", "is not an export: its first line is not a {kind!r} record"
    VERSION = "export.version", "version {version!r} is not supported, only {known}"
    CUT = "export.cut", "ends before its last line; the file was cut short"
    DIGEST = (
        "export.digest",
        "was damaged or changed: its digest does not match its content; to import it anyway, "
        'remove "digest" from its last line',
    )
    NO_OBJECT = "export.no_object", "is not an object"
    NO_GOAL = "export.no_goal", "the goal is message {number}, which is not in the file"
    UNKNOWN_KIND = "export.unknown_kind", "records of type {kind!r} are unknown"
    NO_MESSAGE = "export.no_message", "the message is not an object"
    MESSAGE_BEFORE = "export.message_before", "message {number} is missing before it"
    MARK = "export.mark", "a mark is a pin or an exclude, not {kind!r}"
    RULE_EDIT = "export.rule_edit", "an edit of a rule adds or dismisses words, not {kind!r}"
    KNOWS = "export.knows", "it refers to message {number}, which is not in the file"
    PARENT = "export.parent", "the compaction {id!r} before it is missing"
    NO_SUCH_MESSAGE = "export.no_such_message", "there is no message {number}"
    WHOLE = "export.whole", "{value!r} is not a whole number"
    HUGE = "export.huge", "{value!r} is larger than any count"
    TEXT = "export.text", "{value!r} is not a text"
    RECORD = "export.record", "the record is not an object"
    NO_FORM = "export.no_form", "there is no form of export {form!r}; one of {names}"
    NOT_TEXT = "export.not_text", "files of the form {form!r} are no text; use export_many()"


class ScriptProblem(Code):
    """Problems in a file of scripted models."""

    NO_MODELS = "script.no_models", "expected an object of model names"
    NO_OBJECT = "script.no_object", "expected an object"
    UNKNOWN_KEYS = "script.unknown_keys", "unknown key {names}"
    VALUE = "script.value", "{key} is {value!r}"
    NO_KIND = "script.no_kind", "unknown error kind {kind!r}"


class SettingProblem(Code):
    """Problems with a setting, or with the file that holds it."""

    FIELD = "config.field", "policy field {field!r} is {value!r}; allowed: {allowed}"
    YAML = "config.yaml", "is not YAML: {reason}"
    KEYS = "config.keys", "expected keys with values"
    WORD = "config.word", "a key must be a plain string"
    TWICE = "config.twice", "{name!r} appears twice"
    ALIAS = "config.alias", "has an alias (*name), which a policy does not need"
    DEEP = "config.deep", "is nested deeper than {levels} levels"
    NAMED = "config.named", "{problem} (set by {variable}: {source})"
    STATE_FIELD = (
        "config.state_field",
        "working state field {field!r} {problem}; allowed: {allowed}",
    )
    TYPE = "config.type", "is of type {kind!r}"
    HOLDS_TYPE = "config.holds_type", "contains a value of type {kind!r}"
    NO_STATE = "config.no_state", "the working state is not an object"


class StoreProblem(Code):
    """Why reading or writing failed."""

    REFUSED = "store.refused", "database error: {problem}"
    CLOSED = "store.closed", "the store is closed"
    NO_BACKUP = (
        "store.no_backup",
        "only SQLite files are copied from here, this is {kind}; use the tools of the database",
    )
    NO_CTXCORE = (
        "store.no_ctxcore",
        "the file is a database, but not one of ctxcore; choose another file",
    )
    IN_USE = (
        "store.in_use",
        "{path!r} holds {count:,} sessions; pass --force to replace it, the former one is kept "
        "beside it",
    )
    NO_DRIVER = (
        "store.no_driver",
        "the driver for databases of the kind {kind!r} is not installed; install {package!r}",
    )
    UNKNOWN_KIND = (
        "store.unknown_kind",
        "databases of the kind {kind!r} are not supported; use a file of SQLite or a postgresql:// "
        "address",
    )
    FOREIGN_TABLES = (
        "store.foreign_tables",
        "the database has tables with names of ctxcore that are not its own: {names}; choose "
        "another database",
    )
    LOCKED = (
        "store.locked",
        "another program keeps the database locked; nothing was written: try again, or close that "
        "program",
    )
    FULL = "store.full", "the disk is full; nothing was written: make room and try again"
    READ_ONLY = (
        "store.read_only",
        "the database cannot be written: its file, folder or disk is read-only; allow writing or "
        "choose another database",
    )
    NO_DATABASE = (
        "store.no_database",
        "the file is not a database; choose another, or restore a backup",
    )
    MALFORMED = (
        "store.malformed",
        "the file of the database is damaged; look with `ctxcore doctor`, or restore a backup",
    )
    DAMAGED_VALUE = "store.damaged_value", "a stored value is damaged: {reason}"
    NEWER = (
        "store.newer",
        "the database has revision {revision!r}, this version of ctxcore knows {wanted!r}; upgrade "
        "ctxcore or choose another database",
    )
    NO_SESSION = (
        "store.no_session",
        "there is no session {id!r}; list_sessions() lists the existing ones",
    )
    AMBIGUOUS = (
        "store.ambiguous",
        "{count:,} sessions have an id that begins with {beginning!r}: {names}; give a longer id",
    )
    NO_RECORD = "store.no_record", "there is no {what} {id!r}"
    DAMAGED = (
        "store.damaged",
        "{what} of session {id!r} is damaged ({problem}); restore the database from a copy, or "
        "fork the session before it",
    )
    NO_FACTS = "store.no_facts", "the stored facts cannot be read: {reason}"
    STALE = (
        "store.stale",
        "another compaction became active in session {id!r} meanwhile ({active!r}, not "
        "{expected!r}); reload the session and try again",
    )
    GROWN = (
        "store.grown",
        "session {id!r} has {length:,} messages, not {expected:,}: others were added meanwhile; "
        "reload the session and try again",
    )
    RUNNING = (
        "store.running",
        "a turn is already running in session {id!r}, by {owner!r} until {time}; wait until it "
        "ends, or stop it",
    )
    RUNNING_IN = (
        "store.running_in",
        "a turn is already running in session {id!r}, in process {pid} on {host!r} ({owner!r} "
        "until {time}); wait until it ends, or stop it",
    )
    HELD = (
        "store.held",
        "{name!r} is in use by {owner!r} until {time}; wait until it is free, or stop it",
    )
    UNCOUNTED = (
        "store.uncounted",
        "the tokens of session {id!r} are not fully counted with {counter!r}; call recount(), or "
        "read it with its own counter",
    )
    COUNTER = (
        "store.counter",
        "session {id!r} is counted with {counter!r}, which this library does not have; append "
        "with that counter, or call recount() with the new one first",
    )
    PLACE = "store.place", "there is no message {number}; the session has {length}"
    PLACE_OF = (
        "store.place_of",
        "there is no message {number}; the session has {length}, 0 to {last}",
    )
    IN_BLOCK = (
        "store.in_block",
        "message {number} belongs to the calls of message {first}; branch before message {first}",
    )


class RecordCode(Code):
    """The kinds of records that are stored with a session."""

    MESSAGE = "store.message", "message"
    COMPACTION = "store.compaction", "compaction"
    USER = "store.user", "user"
    TURN = "store.turn", "turn"
    CALL = "store.call", "call"
    POLICY_VERSION = "store.policy_version", "policy version"
    SIGNAL = "store.signal", "signal"
    JOB = "store.job", "job"
    TOOLS = "store.tools", "the list of tools"
    SYSTEM_MESSAGES = "store.system_messages", "the list of system messages"
    WORKING_STATE = "store.working_state", "the working state"
    SYSTEM_CHANGES = "store.system_changes", "the record of system prompts"
    COUNT_FACTOR = "store.count_factor", "the count factor"
    RECALLS = "store.recalls", "the record of what was recalled"
    RULE_EDITS = "store.rule_edits", "the record of edited rules"
    RULE_EDIT = "store.rule_edit", "edit of a rule"
    COLUMN = "store.column", "the column {name!r}"
    IMPORTED_COMPACTION = "store.imported_compaction", "imported compaction"
    AUDIT = "store.audit", "who read what in the former database"
    OF_COMPACTION = "store.of_compaction", "compaction {id!r}"


class DamageCode(Code):
    """What is damaged in a session, or is missing of it."""

    MESSAGE = "damage.message", "message {number} cannot be read: {problem}"
    MISSING = "damage.missing", "message {number} is missing"
    COMPACTION = "damage.compaction", "compaction {number} cannot be read: {problem}"
    PART = "damage.part", "{what} cannot be read: {problem}"
    ROWS = "damage.rows", "{count:,} of the records of kind {what} cannot be read"
    FILE = "damage.file", "the database file: {problem}"
    REFERENCE = "damage.reference", "row {row} of {table} names a row of {parent} that is missing"
    PARENT = "damage.parent", "compaction {number} continues one that is missing"
    ACTIVE = "damage.active", "the active compaction is missing"
    LENGTH = "damage.length", "the session says {length:,} messages, its last one is {last:,}"
    SIZES = "damage.sizes", "the token counts of {counter!r} have gaps or wrong sums"
    FACTS = "damage.facts", "the stored facts of {count:,} messages cannot be read"
    CHECKPOINT = "damage.checkpoint", "{count:,} stored states of the rules cannot be read"
    INDEX = "damage.index", "search lacks {count:,} messages"
    INDEX_EXTRA = "damage.index_extra", "search has {count:,} entries of messages that are gone"
    STAGED = "damage.staged", "an import that broke off is left"
    LEASE = "damage.lease", "the lease {name!r} expired and was not given back"
    TURN = "damage.turn", "turn {number} is said to run, but nobody works on it"
    JOB = "damage.job", "a job of kind {what!r} is said to run, but nobody works on it"


class AccessCode(Code):
    """What only its owner or an operator may see or do."""

    SESSION = "access.session", "session {id!r}"
    TEXTS = "access.texts", "what was said in session {id!r}"
    ALL_TEXTS = "access.all_texts", "what all users said"
    SESSIONS = "access.sessions", "the sessions of all users"
    POLICY_OF = "access.policy_of", "the policy of {scope}"
    THRESHOLDS = "access.thresholds", "the thresholds of all users"
    USERS = "access.users", "the list of users"
    ADD_USERS = "access.add_users", "the creation of users"
    ASSIGN = "access.assign", "the assignment of sessions"
    REPORTS = "access.reports", "the reports of all users"
    ALERTS = "access.alerts", "the alerts"
    HEALTH = "access.health", "the state of the installation"


class RoleProblem(Code):
    """Why roles cannot be set."""

    LAST_OPERATOR = (
        "role.last_operator",
        "{user!r} is the last operator; make somebody else an operator first",
    )
    OWN_READING = (
        "role.own_reading",
        "nobody may give themselves the right to read what others said; ask another operator",
    )


class JobProblem(Code):
    """Why long work that a person started has no result."""

    BROKE_OFF = (
        "job.broke_off",
        "the work broke off because of a program error ({kind}); see the log",
    )


class ChangeCode(Code):
    """What changed since a proposal was made."""

    COMPACTION = "change.compaction", "the active compaction"
    MARK = "change.mark", "a pin or exclusion"
    RULES = "change.rules", "a rule that was dismissed or added"
    POLICY = "change.policy", "the policy"


class RuleProblem(Code):
    """Why a rule cannot be added or dismissed."""

    NOT_SAID = "rule.not_said", "message {number} does not say {text!r}"
    NO_RULE = "rule.no_rule", "message {number} lays down no rule {text!r}"
    TOO_LONG = "rule.too_long", "the rule has {chars} characters, {most} at most"


class TurnProblem(Code):
    """Why a turn cannot start or continue."""

    NOT_ALLOWED = (
        "turn.not_allowed",
        "{user!r} has no access to {what}; ask its owner or an operator for access",
    )
    NOT_AUDITOR = (
        "turn.not_auditor",
        "{user!r} may not read {what}; that takes the role of an auditor",
    )
    STALE = "turn.stale", "{changed} changed since the proposal; request a new one and confirm it"
    NO_MODEL = "turn.no_model", "no model is set for this session; choose one, or pass model="
    NO_PENDING = "turn.no_question", "no compaction waits for the answer to {id!r}"
    NO_ANSWER = "turn.no_answer", "{answer!r} is not a valid answer; use one of {names}"
    CALLS = "turn.calls", "calls without results: {names}; append them, or pass run_tool"
    CALL = "turn.call", "{tool} ({id})"
    NO_TURN = "turn.none", "there is no turn to continue; send a message first"
    DONE = "turn.done", "the last turn is complete; send a new message"
    MANY_CALLS = (
        "turn.many_calls",
        "the model requested tools {count} times in one turn; continue the turn, or tell it what "
        "to do instead",
    )
    NO_REPLY = "turn.no_reply", "the model's stream ended without an answer; send again to continue"
    LOST = (
        "turn.lost",
        "the turn was abandoned, taken over elsewhere or deleted with its session; reload the "
        "session and continue from there",
    )
