"""The codes of contexts and compactions: verdicts, repairs, triggers, outcomes, notices."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class VerdictCode(Code):
    """Why a message is kept, changed or left out in a context."""

    RECENT = "verdict.recent", "recent"
    SYSTEM_PROMPT = "verdict.system_prompt", "system prompt"
    PINNED = "verdict.pinned", "pinned"
    PINNED_FRONT = "verdict.pinned_front", "pinned, moved to the front"
    KEPT = "verdict.kept", "kept by the compaction"
    GOAL = "verdict.goal", "the original request"
    LAST_REQUEST = "verdict.last_request", "last user message"
    OUTPUT_SHORTENED = "verdict.output_shortened", "tool output shortened"
    ARGUMENTS_SHORTENED = "verdict.arguments_shortened", "arguments of calls shortened"
    TEXT_ELIDED = "verdict.text_elided", "long text shortened"
    ELIDED_TO_SHARE = "verdict.elided_to_share", "shortened to fit its part of the budget"
    ELIDED_TO_WINDOW = "verdict.elided_to_window", "shortened to fit the window"
    OUTSIDE = "verdict.outside", "outside the window"
    FOLDED = "verdict.folded", "folded into the summary"
    TRUNCATED = "verdict.truncated", "truncated by a compaction"
    NO_ROOM_FOR_SUMMARY = "verdict.no_room_for_summary", "no room for the summary"
    NO_ROOM_TO_KEEP = "verdict.no_room_to_keep", "does not fit the budget"
    EXCLUDED = "verdict.excluded", "excluded by a mark"
    SYSTEM_REPLACED = "verdict.system_replaced", "a later system prompt is in force"
    SYSTEM_OF_CALL = "verdict.system_of_call", "the call had a system prompt of its own"
    REMINDED = "verdict.reminded", "{why}; its standing instructions are repeated"
    RECALLED = "verdict.recalled", "found for a request, and put behind it"
    OWN = "verdict.own", "text added by ctxcore"
    """For texts that are no message of the history."""


class RepairCode(Code):
    """What was repaired so that the provider accepts the messages."""

    BROKEN_ARGUMENTS = (
        "repair.broken_arguments",
        "the arguments of call {id!r} are not a JSON object",
    )
    RENAMED_CALL = "repair.renamed_call", "id {id!r} was used before; now {new_id!r}"
    NAMED_CALL = "repair.named_call", "a call had no id; now {new_id!r}"
    MISSING_RESULT = "repair.missing_result", "call {id!r} of {tool} has no result"
    ORPHAN_RESULT = "repair.orphan_result", "no call {id!r} before it"
    NAME_IN_WORDS = (
        "repair.name_in_words",
        "the name {name!r} is not valid for providers; moved into the text",
    )
    REFUSAL_IN_WORDS = (
        "repair.refusal_in_words",
        "the refusal was in a separate field; moved into the text",
    )
    EMPTY_MESSAGE = "repair.empty_message", "an empty {role} message"
    BLANK_TEXT = "repair.blank_text", "a part with only white space"
    LEADING_ASSISTANT = "repair.leading_assistant", "an assistant message came first"
    MERGED = "repair.merged", "two {role} messages in a row"
    RENAMED_TOOL = (
        "repair.renamed_tool",
        "a provider refuses the tool name {name!r}; now {new_name!r}",
    )
    RENAMED_ID = "repair.renamed_id", "a provider refuses the call id {id!r}; now {new_id!r}"
    BY_RULE = "repair.by_rule", "corrected by the rule {rule!r}"


class LegalityCode(Code):
    """What a provider would refuse."""

    ORPHAN_RESULT = (
        "legality.orphan_result",
        "no open call {id!r} directly before this result",
    )
    MISSING_RESULT = "legality.missing_result", "call {id!r} has no result after it"
    CALL_ID_MISSING = "legality.call_id_missing", "a call of {tool} has no id"
    CALL_ID_TWICE = "legality.call_id_twice", "call id {id!r} is used twice"
    CALL_ID_FORM = "legality.call_id_form", "the call id {id!r} does not match {pattern}"
    FIRST_ROLE = "legality.first_role", "the first message is not a user message"
    ALTERNATION = "legality.alternation", "two {role} messages in a row"
    ARGUMENTS = "legality.arguments", "arguments of call {id!r} are not a JSON object"
    EMPTY = "legality.empty", "an empty {role} message"
    BLANK = "legality.blank", "a {role} message with only white space"
    NAME = (
        "legality.name",
        "the name {name!r} has white space or one of <|\\/>, or is too long",
    )
    TOOL_NAME = "legality.tool_name", "the tool name {name!r} does not match {pattern}"
    DEFINED_NAME = (
        "legality.defined_name",
        "a tool is defined as {name!r}, which does not match {pattern}",
    )


class TriggerCode(Code):
    """The rule that asked for a compaction, with the numbers it compared."""

    ASKED = "trigger.asked", "requested: {tokens:,} tokens"
    OVERFLOW = "trigger.overflow", "input above usable: tokens {tokens:,}, usable {usable:,}"
    MARKED = "trigger.marked", "requested by the model"
    NO_ROOM_FOR_TOOLS = "trigger.no_room_for_tools", "no room for tool calls: over by {over_by:,}"
    MANY_TURNS = "trigger.many_turns", "number of turns: turns {turns:,}, most {most:,}"
    MANY_MESSAGES = (
        "trigger.many_messages",
        "number of messages: uncovered messages {uncovered_messages:,}, most {most:,}",
    )
    """Only in stored records; no policy has this rule any more."""
    BEYOND_LOOKBACK = (
        "trigger.beyond_lookback",
        "beyond the lookback: {uncovered_messages:,} uncovered messages, lookback {looked_at:,}",
    )
    """Only in stored records; no policy has this rule any more."""
    BEYOND_RECENT = (
        "trigger.beyond_recent",
        "beyond the recent budget: tokens {tokens:,}, recent budget {recent_budget:,}",
    )
    ABOVE_AVAILABLE = (
        "trigger.above_available",
        "input above available: tokens {tokens:,}, available {available:,}",
    )
    INPUT_RATIO = (
        "trigger.input_ratio",
        "input at the trigger: tokens {tokens:,}, trigger {trigger:,}",
    )
    HISTORY_RATIO = (
        "trigger.history_ratio",
        "history at the trigger: tokens {tokens:,}, trigger {trigger:,}",
    )
    INPUT_UPPER = (
        "trigger.input_upper",
        "input above the upper threshold: tokens {tokens:,}, upper {upper:,}, lower {lower:,}",
    )
    HISTORY_UPPER = (
        "trigger.history_upper",
        "history above the upper threshold: tokens {tokens:,}, upper {upper:,}, lower {lower:,}",
    )
    LITTLE_REMAINS = (
        "trigger.little_remains",
        "too little free: {remaining:,} tokens left, minimum {least:,}",
    )
    REFUSED = (
        "trigger.refused",
        "refused by the provider as too long: needed {needed:,}, limit {limit:,}",
    )
    """A number that the provider did not report is None."""
    RECORDED = "trigger.recorded", "recorded by {product}"
    """Another product compacted, and its transcript says so."""


class ChoiceCode(Code):
    """Why a compaction summarized, or truncated instead."""

    NO_SUMMARIZER = "choice.no_summarizer", "there is no summarizer"
    SHORT = "choice.short", "short: {messages} messages, {chars:,} characters"
    LIMIT = "choice.limit", "{count} summaries in this session; the limit is {most}"
    FAST = "choice.fast", "fast is preferred"
    LONG = "choice.long", "long: {messages} messages"
    QUALITY = "choice.quality", "quality is preferred"
    SCORES = "choice.scores", "scores: truncate {truncate:g}, summarize {summarize:g}"
    FEW = "choice.few", "only {messages} messages, but they do not fit"
    TASK = "choice.task", "task {task}: {evidence}"
    TASK_STATED = "choice.task_stated", "task {task}: set explicitly"
    TASK_UNKNOWN = "choice.task_unsaid", "task {task}: no evidence yet"


class PolicyCode(Code):
    """Notices about the policy in force."""

    FIELD_REMOVED = (
        "policy.field_removed",
        "{place} sets {field!r}, a field that was removed in {since}; it is ignored",
    )


class EvidenceCode(Code):
    """The evidence for a kind of task, besides the names of tools."""

    MESSAGES = "evidence.messages", "messages"
    CODE = "evidence.code", "messages with code"
    SHORT_REQUESTS = "evidence.short_requests", "short requests"


class OutcomeCode(Code):
    """The outcome of a compaction or of one of its steps, or why there was none."""

    DONE = "outcome.done", "done"
    NOT_ENOUGH = "outcome.not_enough", "not enough"
    SKIPPED = "outcome.skipped", "skipped: {why}"
    TRUNCATED = "outcome.truncated", "truncated: {why}"
    QUOTED = "outcome.quoted", "quoted: {why}"
    TRUNCATED_INSTEAD = "outcome.truncated_instead", "{why}; truncated instead"
    QUOTED_INSTEAD = "outcome.quoted_instead", "{why}; quoted instead"
    """The summary was refused, and quotes of the messages took its place."""
    STILL_OVER = "outcome.still_over", "{why}; still too large ({trigger}): start a new session"
    RECORDED = "outcome.recorded", "recorded by {product} ({trigger})"
    """Another product compacted, and its transcript says why."""
    RECORDED_WITHOUT_TRIGGER = "outcome.recorded_untold", "recorded by {product} (trigger unknown)"
    NOTHING_FOLDS = "outcome.nothing_folds", "no message can be folded"
    NOTHING_HELPS = "outcome.nothing_helps", "no message can be folded; start a new session"
    NOT_SMALLER = "outcome.not_smaller", "not smaller: {before:,} tokens before, {after:,} after"
    LITTLE_GAIN = (
        "outcome.little_gain",
        "too little gain: {before:,} tokens before, {after:,} after",
    )
    STAYS = "outcome.stays", "cannot go below {tokens:,} tokens"
    ONLY_PLANNED = "outcome.only_planned", "only planned: {strategy}"
    NEEDS_CONFIRMATION = "outcome.needs_confirmation", "needs confirmation"
    WINDOW_UNKNOWN = (
        "outcome.window_unknown",
        "the window is unknown, so automatic compaction is off",
    )
    SWITCHED_OFF = (
        "outcome.switched_off",
        "automatic compaction is switched off (trigger ratio of 1.0 or more)",
    )
    FAILURES = "outcome.failures", "stopped after {failures} failed compactions; force one to retry"
    TOO_FEW_MESSAGES = "outcome.too_few_messages", "only {messages} messages; {needed} are needed"
    KNOWLEDGE_TRIMMED = (
        "outcome.knowledge_trimmed",
        "only because of knowledge, of which {tokens:,} of {whole:,} tokens are sent; nothing is "
        "folded",
    )
    FOR_ONE_CALL = (
        "outcome.for_one_call",
        "for this call alone, because of knowledge: {why}; {tokens:,} of its {whole:,} tokens are "
        "sent",
    )
    AT_TRIGGER = "outcome.at_trigger", "at the trigger: {tokens:,} of {trigger:,} tokens"
    BELOW_TRIGGER = "outcome.below_trigger", "below the trigger: {tokens:,} of {trigger:,} tokens"


class LossCode(Code):
    """The kinds of facts that a compaction may lose."""

    REQUEST = "loss.request", "original request"
    INSTRUCTION = "loss.instruction", "instruction"
    TODO = "loss.todo", "to do"
    DECISION = "loss.decision", "decision"
    SETTING = "loss.setting", "setting"
    QUESTION = "loss.question", "open question"
    ERROR = "loss.error", "error"
    FILE_CHANGED = "loss.file_changed", "changed file"
    CHANGE = "loss.change", "change"
    IDENTIFIER = "loss.identifier", "identifier"
    NUMBER = "loss.number", "number"
    AMOUNT = "loss.amount", "amount"
    DATE = "loss.date", "date"
    URL = "loss.url", "address"
    PATH = "loss.path", "path"
    FILE_READ = "loss.file_read", "read file"
    NAME = "loss.name", "name"


class CallCode(Code):
    """Why a call or a turn ended without an answer, where there is no error."""

    STOPPED = "call.stopped", "stopped"
    PROGRAM_ERROR = "turn.program_error", "a program error ended the turn; try again"
    UNTOUCHED = "call.untouched", "sent as it came, since it could not be fitted: {why}"
    REFUSED_THERE = "call.refused_there", "the proxy reported {error}"


class RequestCode(Code):
    """Whether the request of a past call could be made again, and is the one that was sent."""

    IDENTICAL = "request.identical", "rebuilt, identical"
    DIFFERS = "request.differs", "rebuilt, differs: message {at} of {count} first; {why}"
    OTHER_PARTS = "request.other_parts", "rebuilt, differs: the messages are the same; {why}"
    NO_DIGEST = (
        "request.no_digest",
        "not rebuilt: no digest was stored with this call; its verdicts and sizes are known, what "
        "was sent is not",
    )
    IMPORTED = (
        "request.imported",
        "not rebuilt: recorded by {product}; its model and the reported usage are known, what was "
        "sent is not",
    )
    OF_SUMMARY = (
        "request.of_summary",
        "not rebuilt: a request for a summary; its usage is known, what was sent is not",
    )
    LIBRARY = "request.library", "it was made by ctxcore {then}, this is {now}"
    GONE = "request.gone", "something it was made of is missing or was changed in the store"
    CHANGED = "request.changed", "a stored message was changed"
    TOOLS_GONE = "request.tools_gone", "the tool definitions are missing or were changed"
    UNKNOWN = "request.unknown", "the model, the tools or the limit are not those of the digest"


class BreakCode(Code):
    """Why a request does not start with the whole previous one, so that the prompt cache breaks."""

    FIRST_CALL = "break.first_call", "the first call"
    MODEL = "break.model", "the model changed"
    TOOLS = "break.tools", "the tool definitions changed"
    UNDO = "break.undo", "a compaction was undone"
    COMPACTION = "break.compaction", "a compaction"
    POLICY = "break.policy", "the policy changed"
    EXCLUSION = "break.exclusion", "a message was excluded or included again"
    SYSTEM = "break.system", "the system prompt changed"
    THINKING = "break.thinking", "the thinking of an answered turn was left out"
    REQUEST_MOVED = "break.request_moved", "a new user message replaced the one shown separately"
    WINDOW_MOVED = "break.window_moved", "the recent part moved"
    JOINED = "break.joined", "a new message was merged into the last one, which has the same role"
    OUTPUT_SHORTENED = "break.output_shortened", "a message was shortened"
    KNOWLEDGE = "break.knowledge", "the knowledge changed"
    PINS = "break.pins", "the pinned messages changed"
    RECALL_ENDED = "break.recall_ended", "what was recalled for the last request went with its turn"
    RECALLED = "break.recalled", "what was recalled for earlier requests changed"
    EXPIRED = "break.expired", "a pause of {minutes} minutes, longer than the cache is kept"
    NONE_CACHED = (
        "break.none_cached",
        "nothing was in the cache: its front changed (system prompt, tools, thinking), or the "
        "provider dropped it",
    )
    FRONT_CACHED = (
        "break.front_cached",
        "only the front was in the cache: earlier messages or the thinking setting changed",
    )
    OTHER = "break.other", "something else"


class CostCode(Code):
    """Why it is not known what calls cost."""

    NO_USAGE = "cost.no_usage", "the provider's usage is not known"
    NO_MODEL = "cost.no_model", "their model is not known"
    NO_PRICE = "cost.no_price", "no price of {model!r} is known"


class LossVerdictCode(Code):
    """What a compaction's losses come to, by what was needed after it."""

    NONE_LATER = "loss_verdict.none_later", "nothing was said after it yet"
    NOT_NEEDED = "loss_verdict.not_needed", "nothing of what was folded was needed later"
    ALL_THERE = "loss_verdict.all_there", "all {needed} things needed later are still there"
    GONE = "loss_verdict.gone", "{gone} of {needed} things needed later are gone"


class BreachCode(Code):
    """Why a recorded conversation fails a check under a policy."""

    REFUSED = "breach.refused", "{calls} of {of} calls could not be made: too large, or not legal"
    RULE_LOST = "breach.rule_lost", "message {at}: the rule {text!r} is lost at message {lost_at}"
    FACTS_LOST = (
        "breach.facts_lost",
        "{lost} facts are lost that the conversation uses later, {most} are allowed: {facts}",
    )
    COST = "breach.cost", "it costs {cost}, {most} is allowed"
    COST_UNKNOWN = "breach.cost_unknown", "its cost is not known, since the model has no price"
    REUSE = "breach.reuse", "the prompt cache can reuse {share}, at least {least} is asked for"


class NoticeCode(Code):
    """Notices about a state that was passed with other messages than before."""

    FRONT_MISSING = (
        "notice.front_missing",
        "{messages} covered messages are no longer at the start of the list; the summary replaces "
        "them",
    )
    MESSAGES_MISSING = (
        "notice.messages_missing",
        "{messages} messages after the covered part are no longer in the list; nothing replaces "
        "them",
    )
    CONTEXT_READ_BACK = (
        "notice.context_read_back",
        "the list begins with the context that was sent before; the compaction continues from it",
    )
    SUMMARY_READ_BACK = (
        "notice.summary_read_back",
        "the list contains the summary of the state instead of the messages it covers; the "
        "compaction continues from it",
    )
    SUMMARY_FOUND = (
        "notice.summary_found",
        "the list contains a summary or facts of an earlier context; the compaction continues "
        "from them",
    )
    REBUILT = (
        "notice.rebuilt",
        "message {at} differs from the one that the state covers; its summary is dropped, and the "
        "messages are compacted again",
    )
    MARK_DROPPED = (
        "notice.mark_dropped",
        "the mark on message {at} is dropped: that message changed or is gone",
    )
    SHORTENING_DROPPED = (
        "notice.shortening_dropped",
        "message {at} changed or is gone; its short text is dropped",
    )
    PREFIX_CHANGED = (
        "notice.prefix_changed",
        "{part} changed since the last call; the prompt cache breaks there",
    )


class AllowedCode(Code):
    """The allowed values, where another one was given."""

    WHOLE = "allowed.whole", "a whole number of at least {low:,}"
    NUMBER = "allowed.number", "a number from {low:g} to {high:g}"
    TEXT = "allowed.text", "a text of at least {low} characters"
    PROSE = "allowed.prose", "a text of 1 to {high:,} characters"
    ONE_OF = "allowed.one_of", "one of {names}"
    NAMES = "allowed.names", "{names}"
    YES_OR_NO = "allowed.yes_or_no", "yes or no"
    OR_NONE = "allowed.or_none", "{allowed}, or none"
    REMOVED = "allowed.removed", "no value: the field was removed in {since}"
    LIST_OF = "allowed.list_of", "a list of {names}"
    STRATEGIES = (
        "allowed.strategies",
        "a list of {names}; unknown: {unknown} (a plug-in may be missing)",
    )
    FALLING = "allowed.falling", "a list of whole numbers, each smaller than the one before"
    TURNS_BY_MESSAGES = (
        "allowed.turns_by_messages",
        "a list of (messages, turns), each with fewer messages than the one before",
    )
    TOOL_LIMITS = (
        "allowed.tool_limits",
        "a list of (tool, tokens), with at least {low} tokens and each tool once",
    )
    TOOL_NAMES = "allowed.tool_names", "a list of tool names"
    BESIDE = (
        "allowed.beside",
        "at most {high:.6g} with a recent_history_ratio of {recent:g}; the two share one budget",
    )
    FIELDS_ONLY = "allowed.fields_only", "only policy fields may be passed; {reason}"
    CONTRADICTION = (
        "allowed.contradiction",
        "{value!r}, as set by {source}; or remove one of the two settings",
    )
    TEXTS_OR_NONE = "allowed.texts_or_none", "a tuple of strings, or None"
    TEXTS = "allowed.texts", "only strings"
    TEXT_OR_NONE = "allowed.text_or_none", "a string, or None"
