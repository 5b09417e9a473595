"""Reads the English sentences that earlier releases stored as reasons.

Frozen: it knows the words of those releases and the codes of the release that replaced them, as
plain texts, whatever either is called today. Used by the migration of databases and by the reader
of older exports. A sentence that is not recognised stays as it was, under the code `legacy`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from string import Formatter
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]

LEGACY: Final = "legacy"
_DEEPEST: Final = 12  # a sentence within a sentence; an application may say "a: a: a: …" for ever

_VERDICTS: Final = {
    "recent": "recent",
    "system prompt": "system_prompt",
    "pinned": "pinned",
    "pinned, moved to the front": "pinned_front",
    "kept by the compaction": "kept",
    "the original request": "goal",
    "last user message": "last_request",
    "tool output shortened": "output_shortened",
    "over-long text elided": "text_elided",
    "elided to fit its share": "elided_to_share",
    "elided to fit the window": "elided_to_window",
    "outside the window": "outside",
    "folded into the summary": "folded",
    "truncated by a compaction": "truncated",
    "no room for the summary": "no_room_for_summary",
    "no room to keep it": "no_room_to_keep",
    "excluded by a mark": "excluded",
}
_REMINDED: Final = ", its rules put back"

_TRIGGERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "asked for": ("asked", ("tokens",)),
    "input above usable": ("overflow", ("tokens", "usable")),
    "asked for by the model": ("marked", ()),
    "no room for tool calls": ("no_room_for_tools", ("over_by",)),
    "number of turns": ("many_turns", ("turns", "most")),
    "number of messages": ("many_messages", ("uncovered_messages", "most")),
    "beyond the lookback": ("beyond_lookback", ("uncovered_messages", "looked_at")),
    "beyond the recent budget": ("beyond_recent", ("tokens", "recent_budget")),
    "input above available": ("above_available", ("tokens", "available")),
    "input at the trigger": ("input_ratio", ("tokens", "trigger")),
    "history at the trigger": ("history_ratio", ("tokens", "trigger")),
    "input above the upper threshold": ("input_upper", ("tokens", "upper", "lower")),
    "history above the upper threshold": ("history_upper", ("tokens", "upper", "lower")),
    "little remains": ("little_remains", ("remaining", "least")),
    "refused by the provider as too long": ("refused", ("needed", "limit")),
}
"""Each rule with its code and the numbers it compared."""

_RECORDED_BY: Final = "recorded by "
_NOT_TOLD: Final = "trigger not told"

_OUTCOMES: Final = (
    ("outcome.done", "done"),
    ("outcome.not_enough", "not enough"),
    ("outcome.skipped", "skipped: {why:reason}"),
    ("outcome.truncated", "truncated: {why:reason}"),
    ("outcome.nothing_folds", "nothing may be folded"),
    ("outcome.nothing_helps", "nothing may be folded: start a new session"),
    ("outcome.not_smaller", "not smaller: {before:int} tokens before, {after:int} after"),
    ("outcome.little_gain", "too little gain: {before:int} tokens before, {after:int} after"),
    ("outcome.stays", "at least {tokens:int} tokens stay"),
    ("outcome.needs_confirmation", "needs confirmation"),
    ("choice.no_summarizer", "there is no summarizer"),
    ("choice.short", "short: {messages:int} messages, {chars:int} characters"),
    ("choice.limit", "{count:int} summaries in this session; {most:int} are the limit"),
    ("choice.fast", "fast is preferred"),
    ("choice.long", "long: {messages:int} messages"),
    ("choice.quality", "quality is preferred"),
    ("choice.scores", "scores: truncate {truncate:float}, summarize {summarize:float}"),
    ("choice.few", "{messages:int} messages do not fit"),
    ("choice.task_stated", "task {task:word}: as stated"),
    ("choice.task_unsaid", "task {task:word}: nothing said yet"),
    ("choice.task", "task {task:word}: {evidence:counts}"),
)
_INSTEAD: Final = "; truncated instead"
_STILL_OVER: Final = re.compile(r"(.*); still over \((.*)\): start a new session", re.DOTALL)
_RECORDED: Final = re.compile(rf"{_RECORDED_BY}(\S+) \((.*)\)", re.DOTALL)

_CALLS: Final = (
    ("call.stopped", "stopped"),
    (
        "turn.program_error",
        "the turn broke off because of a program error; try it again",
    ),
)

_ERRORS: Final = (
    (
        "budget.no_room",
        "what must be kept takes {needed:int} tokens but {available:int} are usable "
        "({parts:counts}); shorten the system prompt or tool definitions, or use a larger "
        "window",
    ),
    (
        "store.counter",
        "session {id!r} is counted by {counter!r}, which this library does not have; append "
        "with that counter, or recount() with the new one first",
    ),
    (
        "turn.lost",
        "the turn was given up, taken over elsewhere or erased with its session; look at the "
        "session and go on from what is there",
    ),
    (
        "model.no_local_because",
        "the built-in model is not available: {reason:reason}; connect a provider with an API"
        " key, or an OpenAI-compatible server by its URL",
    ),
    (
        "store.stale",
        "another compaction became active in session {id!r} meanwhile ({active!r}, not "
        "{expected!r}); look at the session again and repeat what you want",
    ),
    (
        "turn.many_calls",
        "the model asked for tools {count:int} times in one turn; continue the turn to let it"
        " go on, or say what it should do instead",
    ),
    (
        "model.unknown_model",
        "the provider does not know the model {model!r}; check its name and, for an own "
        "server, that the model is loaded",
    ),
    (
        "store.newer",
        "the database has revision {revision!r}, this version of ctxcore knows {wanted!r}; "
        "upgrade ctxcore or choose another database",
    ),
    (
        "model.malformed_history",
        "the provider of {model!r} refused the order of the messages; check the context for "
        "tool calls without results",
    ),
    (
        "budget.refused",
        "the compaction was refused at {tokens:int} of {available:int} tokens; compact, drop "
        "the oldest messages, or start a new session",
    ),
    (
        "store.uncounted",
        "session {id!r} is not counted by {counter!r} up to its end; recount() it, or read it"
        " with the counter of its own",
    ),
    (
        "store.damaged",
        "{what:reason} of session {id!r} is damaged ({problem:reason}); restore the database "
        "from a copy, or fork the session before it",
    ),
    (
        "model.overflow",
        "the context is too long for {model!r}; compact the session or take a model with a "
        "larger window",
    ),
    (
        "model.missing_key_named",
        "no key for {model!r}: set the environment variable or secret {variables:any}, or "
        "choose another connection",
    ),
    (
        "allowed.beside",
        "at most {high:float} beside a recent_history_ratio of {recent:float}; the two are "
        "shares of one budget",
    ),
    (
        "model.auth",
        "the provider of {model!r} refused the key; check the connection's key and its rights",
    ),
    (
        "budget.window_of",
        "the context window of model {model!r} is unknown; pass window_tokens or max_tokens",
    ),
    (
        "store.ambiguous",
        "{count:int} sessions have an id that begins with {beginning!r}: {names:list}; say "
        "more of the one you mean",
    ),
    (
        "store.running",
        "a turn is running in session {id!r}, by {owner!r} until {time}; wait for its end or "
        "stop it",
    ),
    (
        "model.quota",
        "the account for {model!r} has no credit left; check the plan and its billing",
    ),
    (
        "model.unavailable",
        "{model!r} cannot be reached right now; check the address or send again later",
    ),
    (
        "model.interrupted",
        "the answer of {model!r} broke off; what arrived is kept, send again to go on",
    ),
    (
        "summary.window",
        "the window of {model!r}, {tokens:int} tokens, has no room for what is to be summarized",
    ),
    (
        "model.missing_key",
        "no key for {model!r}; set the connection's environment variable or secret",
    ),
    (
        "model.rate_limit",
        "the provider of {model!r} asks to slow down; wait a moment and send again",
    ),
    (
        "model.bad_request",
        "the provider of {model!r} refused the request; check the model's settings",
    ),
    ("budget.window", "the context window is unknown; pass window_tokens or max_tokens"),
    (
        "turn.stale",
        "{changed:reason} changed since the proposal; look at a new one and confirm that",
    ),
    ("turn.no_reply", "the model's stream ended without an answer; send again to go on"),
    (
        "turn.not_allowed",
        "{what:reason} is not {user!r}'s to see; ask its owner or an operator to assign it",
    ),
    ("turn.no_model", "no model is set for this session; choose one, or pass model="),
    (
        "allowed.tool_limits",
        "a list of (tool, tokens), the tokens from {low:int} on, no tool twice",
    ),
    (
        "model.content_filter",
        "the provider of {model!r} blocked this content; reword or remove it",
    ),
    ("model.no_runtime", "its runtime xllamacpp is not installed (the extra `local`)"),
    ("store.no_session", "there is no session {id!r}; list_sessions() has those there are"),
    ("allowed.falling", "a list of whole numbers, each smaller than the one before"),
    ("model.timeout", "{model!r} did not answer in time; send again or raise the timeout"),
    ("turn.calls", "calls without results: {names:list}; append them, or pass run_tool"),
    ("turn.none", "there is no turn to go on with; say something first"),
    ("store.held", "{name!r} is held, by {owner!r} until {time}; wait for its end or stop it"),
    ("turn.done", "the last turn is done; say something new to go on"),
    ("json.name", "Expecting property name enclosed in double quotes"),
    ("allowed.turns_by_messages", "a list of (messages, turns), the messages falling"),
    ("summary.larger", "its {tokens:int} tokens are no fewer than the {needed:int} it stands for"),
    (
        "store.place_of",
        "there is no message {number:int}; the session has {length:int}, 0 to {last:int}",
    ),
    ("json.comma_in_object", "Illegal trailing comma before end of object"),
    ("summary.limit_chars", "nothing of it fits {tokens:int} tokens and {chars:int} characters"),
    ("json.comma_in_array", "Illegal trailing comma before end of array"),
    ("summary.thinking", "its thinking left no room for the summary"),
    ("summary.filter", "the provider's content filter blocked it"),
    ("summary.none", "the summarizer gave no usable summary: {problem:reason}"),
    ("store.place", "there is no message {number:int}; the session has {length:int}"),
    ("turn.no_question", "no compaction waits for an answer to {id!r}"),
    ("database.readonly", "attempt to write a readonly database"),
    ("model.no_local", "the built-in model is not available"),
    ("allowed.contradiction", "{value:literal}, as {source} says, or only one of the two"),
    ("model.no_weights", "its weights are not installed ({command})"),
    ("database.malformed", "database disk image is malformed"),
    (
        "config.state_field",
        "working state field {field!r} {problem:reason}; allowed: {allowed:reason}",
    ),
    ("json.unterminated", "Unterminated string starting at"),
    ("allowed.text", "a text of at least {low:int} characters"),
    ("json.unterminated_short", "Unterminated string starting"),
    ("json.control", "Invalid control character at"),
    ("database.no_file", "unable to open database file"),
    ("config.field", "policy field {field!r} is {value:literal}; allowed: {allowed:reason}"),
    ("store.damaged_value", "a stored value is damaged: {reason:reason}"),
    ("json.circular", "Circular reference detected"),
    ("allowed.whole", "a whole number of at least {low:int}"),
    ("summary.limit", "nothing of it fits {tokens:int} tokens"),
    ("json.control_short", "Invalid control character"),
    ("allowed.texts_or_none", "a tuple of texts, or None"),
    ("summary.call", "the reply is a tool call"),
    ("summary.no_room", "there is no room for one"),
    ("database.full", "database or disk is full"),
    ("allowed.tool_names", "a list of names of tools"),
    ("summary.is_call", "the text is a tool call"),
    ("json.place", "{reason:reason}: line {line:int} column {column:int} (char {char:int})"),
    ("json.no_comma", "Expecting ',' delimiter"),
    ("json.no_colon", "Expecting ':' delimiter"),
    ("json.deep", "it is nested too deeply"),
    ("store.refused", "the database refused: {problem:reason}"),
    ("turn.no_answer", "{answer!r} is no answer; one of {names:list}"),
    ("database.no_database", "file is not a database"),
    ("model.processor", "this processor lacks {flags:list}"),
    ("access.thresholds", "the thresholds of all"),
    ("change.compaction", "the active compaction"),
    ("json.unicode", "Invalid \\uXXXX escape"),
    ("summary.is_error", "the text is an error"),
    ("model.failed", "the call to {model!r} failed"),
    ("store.closed", "the store is closed"),
    ("store.no_record", "there is no {what:reason} {id!r} here"),
    ("access.assign", "assigning sessions"),
    ("change.mark", "a pin or exclusion"),
    ("database.locked", "database is locked"),
    ("allowed.number", "a number from {low:float} to {high:float}"),
    ("summary.empty", "the text is empty"),
    ("store.working_state", "the working state"),
    ("access.users", "the list of users"),
    ("summary.not_text", "it is {kind}, not text"),
    ("json.value", "Expecting value"),
    ("json.escape", "Invalid \\escape"),
    ("allowed.text_or_none", "a text, or None"),
    ("store.policy_version", "policy version"),
    ("access.policy_of", "the policy of {scope}"),
    ("database.disk", "disk I/O error"),
    ("model.said", "{problem:reason} (it said: {detail})"),
    ("access.add_users", "adding users"),
    ("store.of_compaction", "compaction {id!r}"),
    ("json.column", "{reason:reason} at column {column:int}"),
    ("allowed.texts", "texts alone"),
    ("config.type", "is of type {kind!r}"),
    ("store.no_facts", "no facts: {reason:reason}"),
    ("store.compaction", "compaction"),
    ("change.policy", "the policy"),
    ("json.extra", "Extra data"),
    ("allowed.list_of", "a list of {names:list}"),
    ("allowed.yes_or_no", "yes or no"),
    ("allowed.or_none", "{allowed:reason}, or none"),
    ("access.session", "session {id!r}"),
    ("place.message", "message {number:int}"),
    ("place.policy_of", "the policy of {layer:word}"),
    ("store.message", "message"),
    ("allowed.one_of", "one of {names:list}"),
    ("store.user", "user"),
    ("store.turn", "turn"),
    ("summary.raised", "{kind:word}: {problem:reason}"),
    ("place.at", "{place:policy}: {problem:reason}"),
)
"""The most words of their own first: the others are the more general ones."""

_COUNTED: Final = {
    "framing and tools": "budget_part.framing",
    "pinned and goal": "budget_part.goal",
    "last turn": "budget_part.last_turn",
    "repairs": "budget_part.repairs",
    "messages": "evidence.messages",
    "messages with code": "evidence.code",
    "short requests": "evidence.short_requests",
}

_STRATEGIES: Final = {
    "emergency truncation": "emergency_truncation",
    "edited summary": "edited_summary",
}


def verdict(text: str) -> Json:
    """The reason of a verdict."""
    if text.endswith(_REMINDED):
        return _coded("verdict.reminded", why=verdict(text.removesuffix(_REMINDED)))
    code = _VERDICTS.get(text)
    return _legacy(text) if code is None else _coded(f"verdict.{code}")


def trigger(rule: str, numbers: Mapping[str, Any] | None = None) -> Json | None:
    """The trigger of a record, which held its rule and, apart from that, its numbers."""
    if not rule:
        return None
    if rule.startswith(_RECORDED_BY):
        return _coded("trigger.recorded", product=rule.removeprefix(_RECORDED_BY))
    if rule not in _TRIGGERS:
        return _legacy(rule)
    code, names = _TRIGGERS[rule]
    given = {name.replace(" ", "_"): value for name, value in (numbers or {}).items()}
    return _coded(f"trigger.{code}", **{name: given.get(name) for name in names})


def trigger_line(text: str) -> Json | None:
    """The trigger that an event told in one line: `rule: name 1,234, name 567`."""
    rule, _, rest = text.partition(": ")
    numbers = dict(found for found in map(_number, rest.split(", ")) if found) if rest else {}
    # A thousands separator has no blank behind it, so that the split leaves numbers whole.
    return _legacy(text) if rest and not numbers else trigger(rule, numbers)


def reason(text: str, *, depth: int = 0) -> Json | None:
    """Why a compaction was made or not; also what came of one of its steps."""
    if not text:
        return None
    if depth > _DEEPEST:
        return _legacy(text)
    if (found := _STILL_OVER.fullmatch(text)) is not None:
        why, again = reason(found[1], depth=depth + 1), trigger_line(found[2])
        return _coded("outcome.still_over", why=why, trigger=again)
    if text.endswith(_INSTEAD):
        why = reason(text.removesuffix(_INSTEAD), depth=depth + 1)
        return _coded("outcome.truncated_instead", why=why)
    if (found := _RECORDED.fullmatch(text)) is not None:
        if found[2] == _NOT_TOLD:
            return _coded("outcome.recorded_untold", product=found[1])
        return _coded("outcome.recorded", product=found[1], trigger=found[2])
    if text.partition(": ")[0] in _TRIGGERS:
        return trigger_line(text)
    return _matching(_OUTCOMES, text, depth) or error(text, depth=depth)


def error(text: str | None, *, depth: int = 0) -> Json | None:
    """What a call or a turn failed with."""
    if text is None:
        return None
    return _matching(_CALLS, text, depth) or _matching(_ERRORS, text, depth) or _legacy(text)


def record(raw: Mapping[str, Any], details: Mapping[str, Any] | None = None) -> Json:
    """A compaction's record with its trigger and reason as codes; `details` held the numbers."""
    told = dict(details or {}).get("trigger")
    numbers = told.get("numbers") if isinstance(told, Mapping) else None
    numbers = numbers if isinstance(numbers, Mapping) else None
    made = dict(raw)
    rule, why = made.get("trigger", ""), made.get("reason", "")
    if isinstance(why, str):
        made["reason"] = reason(why)
    if isinstance(rule, str):
        made["trigger"] = trigger(rule, numbers or _numbers_in(made["reason"], rule))
    return made


def details(raw: Mapping[str, Any]) -> Json:
    """What was told beside a record, its steps as codes; the trigger is in the record."""
    made = {name: value for name, value in raw.items() if name != "trigger"}
    return account(made)


def account(raw: Mapping[str, Any]) -> Json:
    """Steps and strategy, as an event and a record's details held them."""
    made = dict(raw)
    if isinstance(told := made.get("strategy"), str):
        del made["strategy"]
        made["strategies"] = [_strategies(name) for name in told.split(" + ") if name]
    if isinstance(made.get("steps"), list):
        made["steps"] = [_step(step) for step in made["steps"]]
    return made


def event(raw: Mapping[str, Any]) -> Json:
    """The body of an event."""
    made = account(raw)
    if isinstance(made.get("trigger"), str):
        made["trigger"] = trigger_line(made["trigger"])
    if isinstance(made.get("reason"), str):
        made["reason"] = reason(made["reason"])
    return made


def confirmation(raw: Mapping[str, Any]) -> Json:
    """A question that waits for a person."""
    made = {name: value for name, value in raw.items() if name not in ("rule", "numbers")}
    if isinstance(raw.get("rule"), str):
        made["trigger"] = trigger(raw["rule"], _pairs(raw.get("numbers")))
    return made


def runs(raw: Iterable[Any]) -> list[Any]:
    """The runs of a call: `[first, last, verdict, reason, before, after]`."""
    return [
        [*run[:3], verdict(run[3]), *run[4:]]
        if isinstance(run, list) and len(run) > 3 and isinstance(run[3], str)
        else run
        for run in raw
    ]


def exported(raw: Mapping[str, Any]) -> Json:
    """One line of an export of version 1."""
    made = dict(raw)
    if raw.get("type") == "compaction" and isinstance(raw.get("record"), Mapping):
        known = raw.get("details")
        known = known if isinstance(known, Mapping) else {}
        made["record"], made["details"] = record(raw["record"], known), details(known)
    elif raw.get("type") == "call":
        if isinstance(raw.get("runs"), list):
            made["runs"] = runs(raw["runs"])
        if isinstance(raw.get("error"), str):
            made["error"] = error(raw["error"])
    return made


def _step(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    made = dict(raw)
    if isinstance(made.get("outcome"), str):
        made["outcome"] = reason(made["outcome"])
    if isinstance(made.get("strategy"), str):
        made["strategy"] = _strategies(made["strategy"])
    return made


def _strategies(text: str) -> str:
    return _STRATEGIES.get(text, text)


def _numbers_in(why: Any, rule: str) -> Mapping[str, Any]:
    """The numbers of a trigger that its record's reason tells again."""
    if rule in _TRIGGERS and isinstance(why, Mapping):
        if why.get("code") == f"trigger.{_TRIGGERS[rule][0]}":
            found: Mapping[str, Any] = why.get("facts", {})
            return found
        if why.get("code") == "outcome.still_over":
            return _numbers_in(why["facts"]["why"], rule)
    return {}


def _pairs(raw: Any) -> Mapping[str, Any]:
    """Names and numbers, as a question held them."""
    try:
        return {str(name): number for name, number in raw or ()}
    except (TypeError, ValueError):
        return {}


def _number(told: str) -> tuple[str, int] | None:
    found = re.fullmatch(r"(.+) (\d[\d,]{0,30})", told, re.DOTALL)
    return None if found is None else (found[1], _count(found[2]))


def _coded(code: str, **facts: Any) -> Json:
    return {"code": code, "facts": facts} if facts else {"code": code}


def _legacy(text: str) -> Json:
    return _coded(LEGACY, text=text)


def _matching(templates: Iterable[tuple[str, str]], text: str, depth: int) -> Json | None:
    for code, template in templates:
        found = _pattern(template).fullmatch(text)
        if found is None:
            continue
        kinds = _kinds(template)
        try:
            facts = {
                name: _fact(kinds[name], told, depth) for name, told in found.groupdict().items()
            }
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return _coded(code, **facts)
    return None


def _fact(kind: str, told: str, depth: int) -> Any:
    return reason(told, depth=depth + 1) if kind in _INNER else _READ[kind](told)


@cache
def _kinds(template: str) -> Mapping[str, str]:
    parsed = Formatter().parse(template)
    return {name: "repr" if how else kind or "text" for _, name, kind, how in parsed if name}


@cache
def _pattern(template: str) -> re.Pattern[str]:
    kinds, pattern = _kinds(template), ""
    for literal, name, _, _ in Formatter().parse(template):
        pattern += re.escape(literal)
        pattern += f"(?P<{name}>{_FORMS[kinds[name]]})" if name else ""
    return re.compile(pattern, re.DOTALL)


def _count(told: str) -> int:
    return int(told.replace(",", ""))


def _counted(name: str) -> Any:
    return _coded(_COUNTED[name]) if name in _COUNTED else name


def _counts(told: str) -> list[Json]:
    found = [_number(one) for one in told.split(", ")] if told else []
    if None in found:
        raise ValueError(told)
    return [_coded("count", counted=_counted(one[0]), count=one[1]) for one in found if one]


def _literal(told: str) -> Any:
    """A value as Python prints it; one that is no fact stays in those words."""
    value = ast.literal_eval(told)
    return value if _is_fact(value) else _coded("text", text=told)


def _is_fact(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fact, value))
    return value is None or isinstance(value, (str, int, float))


def _any_of(told: str) -> Any:
    """Names with `or` between them, as nested codes."""
    told_names: list[Any] = told.split(" or ")
    return reduce(lambda one, other: _coded("quote.or", one=one, other=other), told_names)


_FORMS: Final = {
    "int": r"-?[\d,]+",
    "float": r"\S+",
    "word": r"\w+",
    "counts": r".*",
    "list": r".+?",
    "any": r".+?",
    "literal": r".+?",
    "policy": r"the policy of \w+",
    "repr": r"-?\d+|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|None",
    "reason": r".+?",
    "text": r".+?",
}
_INNER: Final = ("policy", "reason")
_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "int": _count,
    "float": lambda told: float(told.rstrip(",")),
    "word": str,
    "counts": _counts,
    "list": lambda told: told.split(", "),
    "any": _any_of,
    "literal": _literal,
    "repr": ast.literal_eval,
    "text": str,
}
