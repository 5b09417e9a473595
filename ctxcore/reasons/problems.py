"""The codes of problems with budgets, states, parts, summaries, model calls and plug-ins.

Files, settings and stores are in `storage_problems`, messages in `message_problems`.
"""

from __future__ import annotations

from typing import Final

from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, SettingProblem
from ctxcore.reasons.values import Code, Reason


class BudgetProblem(Code):
    """Why no context can be built."""

    NO_ROOM = (
        "budget.no_room",
        "what must be kept takes {needed:,} tokens but {available:,} are usable ({parts}); "
        "shorten the system prompt or tool definitions, or use a larger window",
    )
    WINDOW_OF = (
        "budget.window_of",
        "the context window of model {model!r} is unknown; pass window_tokens or max_tokens",
    )
    WINDOW = (
        "budget.window",
        "the context window is unknown; pass window_tokens or max_tokens",
    )
    REFUSED = (
        "budget.refused",
        "the compaction was refused at {tokens:,} of {available:,} tokens; "
        "compact, drop the oldest messages, or start a new session",
    )


class BudgetPart(Code):
    """The parts that must be kept and are no segment of a context."""

    FRAMING = "budget_part.framing", "framing and tools"
    GOAL = "budget_part.goal", "pinned and goal"
    LAST_TURN = "budget_part.last_turn", "last turn"
    REPAIRS = "budget_part.repairs", "repairs"


class StateProblem(Code):
    """Why a state cannot be read, or does not match the messages that were passed."""

    TYPE = "state.type", "expected a CompactionState or a summary, got {kind}"
    PLAIN = (
        "state.plain",
        "expected a CompactionState or a summary, got {kind}; CompactionState.from_json reads what "
        "to_json wrote",
    )
    NOT_JSON = "state.not_json", "it is not JSON: {reason}"
    NO_OBJECT = "state.no_object", "expected the object that to_json wrote, got {kind}"
    VERSION = "state.version", "it has version {version!r}; this release reads the versions {known}"
    NO_VERSION = "state.no_version", "it has no version; this release reads the versions {known}"
    FIELD_MISSING = "state.field_missing", "its field {field} is missing"
    FIELD = "state.field", "its field {field} is {problem}"
    OF_TYPE = "state.of_type", "of type {kind}"
    VALUE = "state.value", "{value}"
    QUOTED = "state.quoted", "{value!r}"
    NO_COUNTS = "state.no_counts", "not a list of integers of at least {least}"
    NO_TEXTS = "state.no_texts", "not a list of strings"
    CUT = "state.cut", "incomplete"
    NO_PAIRS = "state.no_pairs", "not a list of (message, text) pairs"
    NO_REST = "state.no_rest", "not a list of (message, texts) pairs"
    NO_LINEAGE = "state.no_lineage", "not a list of (start, end, runs of messages)"
    NO_RECALLS = "state.no_recalls", "not a list of (request, messages) pairs"
    NO_RULE_EDITS = "state.no_rule_edits", "not a list of (add or dismiss, message, text)"
    UNKNOWN_FIELD = "state.unknown_field", "unknown to this release"
    NO_WORKING = "state.no_working", "its field working is not a working state: {reason}"
    LEFT_OUT = "state.left_out", "its field seen.left_out refers to messages that it does not have"
    OWN = "state.own", "its field seen.own refers to messages that are not left out"
    COVERS = "state.covers", "its field active covers more messages than it has seen"
    KEEPS = "state.keeps", "its field active keeps or summarizes more than it covers"
    SHORTENED = "state.shortened", "its field active.shortened refers to a message before the first"
    KNOWS_MORE = (
        "state.knows_more",
        "it refers to {known:,} messages but {count:,} were passed; pass the whole conversation, "
        "including the covered messages",
    )
    OTHER_MESSAGES = (
        "state.other_messages",
        "the state was made from other messages; pass the conversation it was made from, or "
        'on_mismatch="rebuild"',
    )
    LIST_ENDS = (
        "state.list_ends",
        "the state covers {covered:,} messages, but the list is shorter; pass the conversation it "
        'was made from, or on_mismatch="rebuild"',
    )
    OTHER_MESSAGE = (
        "state.other_message",
        "the state covers {covered:,} messages, but this message differs from the covered one; "
        'pass the conversation it was made from, or on_mismatch="rebuild"',
    )


class TrialProblem(Code):
    """Why policies cannot be tried."""

    BASELINE = (
        "trial.baseline",
        "{text!r} is no baseline; write last-messages=20, last-tokens=8000 or "
        "summarize=20000/4000 (at 20,000 tokens, keep 4,000)",
    )
    CHANGE = (
        "trial.change",
        "{text!r} changes no field; write FIELD=VALUE, or FIELD=LOW..HIGH or FIELD=LOW..HIGH:STEP "
        "for numbers",
    )
    RISING = "trial.rising", "a range ends above its start, and its step is above 0"
    MANY = "trial.many", "that makes {count:,} policies; try at most {most:,} at a time"
    NO_CANDIDATE = "trial.no_candidate", "there is no policy {name!r} in this trial"
    NO_QUESTION = "trial.no_question", "there is no question; write what the model is to be asked"
    NOT_WHOLE = (
        "trial.not_whole",
        "everything together takes {tokens:,} tokens, and {usable:,} fit beside the reply",
    )
    NOTHING_TO_SEND = "trial.nothing_to_send", "under none of the policies the request fits"


class PartProblem(Code):
    """Why there is no such tool output, or no such part of it."""

    NO_PART = "part.no_part", "no part {part!r}: {problem}"
    STEP = "part.step", "{rest!r} is neither a key nor an [index]"
    OUTPUT = "part.output", "the output"
    ITEMS = "part.items", "{where} has {count:,} items, counted from 0"
    ITEM = "part.item", "{where} has {count} item, counted from 0"
    KEYS = "part.keys", "{where} has the keys {keys}"
    LIST = "part.list", "{where} is a list of {count:,} items"
    LIST_OF_ONE = "part.list_of_one", "{where} is a list of {count} item"
    NO_PARTS = "part.no_parts", "{where} has no parts"
    NOT_JSON = "part.not_json", "the output is not JSON"
    ROWS = "part.rows", "give rows as a:b, e.g. 10:20"
    COUNT = "part.count", "there are {count:,}, counted from 0"
    NO_LINE = "part.no_line", "none of {count:,} lines matches"
    NO_LINE_OF_ONE = "part.no_line_of_one", "none of {count} line matches"
    NO_ROWS = "part.no_rows", "that is neither a list nor an object"
    NO_MATCH = "part.no_match", "no value and no key matches"
    NO_MESSAGES = "part.no_messages", "the session has no messages"
    MESSAGES = "part.messages", "the session has the messages m1 to m{last}"
    NO_TEXT = "part.no_text", "that message has no text"
    LEFT_OUT = "part.left_out", "that message was excluded by a user"


class SummaryProblem(Code):
    """Why there is no usable summary."""

    NO_SUMMARY = "summary.none", "the summarizer gave no usable summary: {problem}"
    RAISED = "summary.raised", "{kind}: {problem}"
    NOT_TEXT = "summary.not_text", "it is {kind}, not text"
    CALL_REPLY = "summary.call", "the reply is a tool call"
    FILTER = "summary.filter", "the provider's content filter blocked it"
    NO_ROOM = "summary.no_room", "there is no room for a summary"
    WINDOW = (
        "summary.window",
        "the messages to summarize do not fit the window of {model!r}, {tokens:,} tokens",
    )
    EMPTY = "summary.empty", "the text is empty"
    IS_CALL = "summary.is_call", "the text is a tool call"
    IS_ERROR = "summary.is_error", "the text is an error"
    LIMIT = "summary.limit", "no part of it fits in {tokens:,} tokens"
    LIMIT_CHARS = (
        "summary.limit_chars",
        "no part of it fits in {tokens:,} tokens and {chars:,} characters",
    )
    LARGER = (
        "summary.larger",
        "the summary ({tokens:,} tokens) is not shorter than the text it replaces ({needed:,})",
    )
    THINKING = "summary.thinking", "its thinking left no room for the summary"
    NO_SUMMARIZER = (
        "summary.no_summarizer",
        "expected a summarizer or a function (messages, previous) -> str, got {kind}",
    )
    COROUTINE = (
        "summary.coroutine",
        "expected a function (messages, previous) -> str, got a coroutine function",
    )
    OTHER_ARGUMENTS = (
        "summary.other_arguments",
        "expected a function (messages, previous) -> str, but this {kind} takes other arguments",
    )
    ECHO = "summary.echo", "it repeats the instructions for the summary: {words!r}"
    REFUSAL = "summary.refusal", "the model refused to summarize: {words!r}"
    UNSUPPORTED = (
        "summary.unsupported",
        "{count:,} of the {named:,} names, numbers, dates and identifiers in it are not in its "
        "source: {items}",
    )


class ProviderProblem(Code):
    """Why a model call failed, one code for each kind of error."""

    SAID = "model.said", "{problem} (provider message: {detail})"
    AUTH = (
        "model.auth",
        "the provider of {model!r} refused the key; check the connection's key and its rights",
    )
    MISSING_KEY = (
        "model.missing_key",
        "no key for {model!r}; set the connection's environment variable or secret",
    )
    MISSING_KEY_NAMED = (
        "model.missing_key_named",
        "no key for {model!r}: set the environment variable or secret {variables}, or choose "
        "another connection",
    )
    RATE_LIMIT = (
        "model.rate_limit",
        "the provider of {model!r} asks to slow down; wait a moment and send again",
    )
    QUOTA = (
        "model.quota",
        "the account for {model!r} has no credit left; check the plan and its billing",
    )
    OVERFLOW = (
        "model.overflow",
        "the context is too long for {model!r}; compact the session or use a model with a larger "
        "window",
    )
    TIMEOUT = "model.timeout", "{model!r} did not answer in time; send again or raise the timeout"
    UNAVAILABLE = (
        "model.unavailable",
        "{model!r} cannot be reached right now; check the address or send again later",
    )
    BAD_REQUEST = (
        "model.bad_request",
        "the provider of {model!r} refused the request; check the model's settings",
    )
    CONTENT_FILTER = (
        "model.content_filter",
        "the provider of {model!r} blocked this content; reword or remove it",
    )
    MALFORMED_HISTORY = (
        "model.malformed_history",
        "the provider of {model!r} refused the order of the messages; check the context for tool "
        "calls without results",
    )
    UNKNOWN_MODEL = (
        "model.unknown_model",
        "the provider does not know the model {model!r}; check its name and, on your own server, "
        "that the model is loaded",
    )
    INTERRUPTED = (
        "model.interrupted",
        "the answer of {model!r} was cut off; the part received is kept, send again to continue",
    )
    LOCAL_UNAVAILABLE = "model.no_local", "the built-in model is not available"
    NO_LOCAL_BECAUSE = (
        "model.no_local_because",
        "the built-in model is not available: {reason}; connect a provider with an API key, or an "
        "OpenAI-compatible server by its URL",
    )
    UNKNOWN = "model.failed", "the call to {model!r} failed"


class LocalModelProblem(Code):
    """Why the built-in model cannot run here."""

    NO_RUNTIME = (
        "model.no_runtime",
        "its runtime xllamacpp is not installed (the extra `local`)",
    )
    NO_WEIGHTS = "model.no_weights", "its weights are not installed ({command})"
    PROCESSOR = "model.processor", "this processor lacks {flags}"


class PackageProblem(Code):
    """Why a package that something needs cannot be used."""

    MISSING = (
        "package.missing",
        "this needs the package {package}, which is not installed; install it with: {command}",
    )


AROUND: Final[frozenset[str]] = frozenset(
    {
        PlaceCode.AT,
        FileProblem.EXPECTED,
        FileProblem.NULS,
        SettingProblem.NAMED,
        ProviderProblem.SAID,
    }
)
"""Codes that wrap another problem and add its place or a detail."""


def core(reason: Reason) -> Reason:
    """The problem itself, without the codes of `AROUND` that wrap it."""
    inner = reason.facts.get("problem")
    return core(inner) if reason.code in AROUND and isinstance(inner, Reason) else reason


class WorkersProblem(Code):
    """Why work cannot be shared out."""

    NOT_INSTALLED = "workers.not_installed", "a cluster needs another package; {install}"
    UNREACHABLE = (
        "workers.unreachable",
        "no cluster answers at {address!r}; give the address of its scheduler, such as "
        "tcp://10.0.0.5:8786",
    )
    NO_WORKERS = "workers.none", "the cluster at {address!r} has no workers; start some"
    OTHER_VERSION = (
        "workers.other_version",
        "the workers of the cluster at {address!r} have another version of ctxcore ({found}), "
        "here it is {own}; install the same one there",
    )
    ENDED = (
        "workers.ended",
        "processes were ended {times} times at the same work, perhaps for want of memory; use "
        "fewer of them",
    )


class PluginProblem(Code):
    """Why a plug-in could not be loaded, or failed when it was used."""

    FAILED = "plugin.failed", "the plug-in {name!r} ({where}) failed: {kind}: {problem}"
    STRATEGY = "plugin.strategy", "the strategy {name!r} failed: {kind}: {problem}"
