"""The fields of a policy: type, range, group, label and help, and default of each.

`ctxcore.policy.fields` reads them, so nothing repeats them. This module does without `from
__future__ import annotations`: its annotations are read as values. The numbers' sources are in
`docs/designs.md`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from ctxcore.plain import Plain
from ctxcore.policy.markers import (
    Count,
    Doc,
    Falling,
    Group,
    ListOf,
    ModelName,
    Prose,
    Score,
    Share,
    TextOf,
    ToolLimits,
    ToolNames,
    TurnsByMessages,
)
from ctxcore.policy.names import (
    MOST_TRIGGER_RATIO,
    STRATEGIES,
    StrategyName,
    unknown_strategies,
)
from ctxcore.tokens.families import CountingRule

SummaryPlace = Literal["tagged", "pair", "second_system", "headed_system", "user", "addition"]
SummaryForm = Literal[
    "progressive", "dated_points", "layered", "third_person", "working_memory", "plain"
]
Preference = Literal["fast", "balanced", "quality"]
TaskType = Literal["code", "analysis", "conversation", "mixed", "unknown"]


def strategy_names() -> tuple[str, ...]:
    """The strategies that a policy may name, those of plug-ins included."""
    return tuple(STRATEGIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds(Plain):
    """Every field of a policy."""

    name: Annotated[
        str,
        TextOf(1),
        Group("preset"),
        Doc("Preset", "The preset that the values of all other fields start from."),
    ] = "default"
    strategies: Annotated[
        tuple[StrategyName, ...],
        ListOf(strategy_names, least=1, unknown=unknown_strategies),
        Group("preset"),
        Doc(
            "Strategies",
            "Tried in this order; a compaction stops after the first that reaches the target. "
            "Those of the ladder that suit the kind of task come first.",
        ),
    ] = ("shorten_tool_outputs", "keep_by_worth")
    direct_strategies: Annotated[
        tuple[StrategyName, ...],
        ListOf(strategy_names, unknown=unknown_strategies),
        Group("preset"),
        Doc(
            "Strategies for requested compactions",
            "Used instead when a person, the model or the number of turns requests a compaction. "
            "Empty: the same.",
        ),
    ] = ()
    trigger_on: Annotated[
        Literal["input", "history"],
        Group("preset"),
        Doc(
            "What fullness means",
            "What is measured to decide: the whole input, or summary plus messages.",
        ),
    ] = "input"
    trigger_base: Annotated[
        Literal["usable", "window"],
        Group("preset"),
        Doc(
            "Full is",
            "What counts as 100 %, where the whole input is measured: the usable tokens or the "
            "whole window.",
        ),
    ] = "usable"
    summary_place: Annotated[
        SummaryPlace,
        Group("preset"),
        Doc("Place of the summary", "Where the summary is placed in a context, and in which form."),
    ] = "tagged"

    window_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Doc(
            "Window, at most (tokens)",
            "Use no more of the model's window than this. None: all of it.",
        ),
    ] = None
    fallback_window_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Doc(
            "Window if unknown (tokens)",
            "Assumed where neither the preset nor the model names a window. None: it stays "
            "unknown.",
        ),
    ] = None
    reserve_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("window"),
        Doc(
            "Reserve for the reply (tokens)",
            "Kept free for the model's answer, at most. The rest of the window is usable.",
        ),
    ] = 4_096
    reserve_window_ratio: Annotated[
        float,
        Share(0, 1),
        Group("window"),
        Doc(
            "Reserve, at most (% of window)",
            "On a small window the reserve takes no more than this.",
        ),
    ] = 0.25
    usable_ratio: Annotated[
        float,
        Share(0.01, 1),
        Group("window"),
        Doc(
            "Use at most (% of window)",
            "No context takes more of the window than this; the rest is added to the reserve.",
        ),
    ] = 1.0
    max_tokens_is_window: Annotated[
        bool,
        Group("window"),
        Doc(
            "A caller's limit includes the reply",
            "A limit in tokens that a caller names is the model's: the reserve stays free of it. "
            "Off: all of it is for the input.",
        ),
    ] = False
    learns_count_factor: Annotated[
        bool,
        Group("window"),
        Doc(
            "Correct our counts by the provider's",
            "Where tokens are estimated, sizes are corrected by what the provider counted in "
            "earlier calls. The correction changes only in a new session or at a compaction.",
        ),
    ] = True
    system_estimate_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("window"),
        Doc(
            "System prompt, estimated (tokens)",
            "Tokens deducted for the system prompt until it has been measured.",
        ),
    ] = 0
    history_ratio: Annotated[
        float,
        Share(0, 1),
        Group("window"),
        Doc(
            "Messages and summary, at most (%)",
            "Of the tokens left after reserve and system prompt.",
        ),
    ] = 1.0
    router_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Doc(
            "Limit of a routing model (tokens)",
            "For programs that first show the conversation to a smaller model, which decides who "
            "answers. None: there is none.",
        ),
    ] = None

    trigger_ratio: Annotated[
        float | None,
        Share(0.01, MOST_TRIGGER_RATIO),
        Group("when"),
        Doc(
            "Compact at (%)",
            "A compaction starts when this share of what is usable is filled. 100 % switches "
            "automatic compaction off. None: other rules decide.",
        ),
    ] = 0.80
    upper_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("when"),
        Doc(
            "Compact above (tokens)",
            "A compaction starts above this size. None: no such limit.",
        ),
    ] = None
    remaining_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("when"),
        Doc(
            "Keep free, at least (% of usable)",
            "A compaction starts when less is free. None: not checked.",
        ),
    ] = None
    max_turns: Annotated[
        int | None,
        Count(1, "turns"),
        Group("when"),
        Doc(
            "Compact after (turns)",
            "A compaction starts after this many turns since the last one; with strategies for "
            "requested compactions, since the last full summary. None: any number.",
        ),
    ] = None
    summary_marker: Annotated[
        str | None,
        TextOf(3),
        Group("when"),
        Doc(
            "Words with which the model asks for a compaction",
            "When the model writes them, a compaction starts; users never see them. None: no such "
            "words.",
        ),
    ] = None
    min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Doc(
            "Compact only from (messages)",
            "No automatic compaction while fewer messages are new since the last one.",
        ),
    ] = 0
    first_min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Doc(
            "First summary only from (messages)",
            "No first summary of fewer messages.",
        ),
    ] = 0
    next_min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Doc(
            "Further summaries only from (messages)",
            "No further summary of fewer new messages. 0: as for any compaction.",
        ),
    ] = 0
    next_min_ratio: Annotated[
        float,
        Share(0, 100),
        Group("when"),
        Doc(
            "New text for a further summary (%)",
            "New tokens must be more than this share of the summary's.",
        ),
    ] = 0.0
    counting: Annotated[
        CountingRule,
        Group("when"),
        Doc(
            "How fullness is counted",
            "Whether a context fits is always checked with the model's own counter.",
        ),
    ] = "model"
    check_at: Annotated[
        Literal["background", "after_answer", "before_message", "before_send"],
        Group("when"),
        Doc(
            "When it is checked",
            "In the background after an answer, before the turn ends, before a user message is "
            "stored, or before each call.",
        ),
    ] = "background"
    requires_confirmation: Annotated[
        bool,
        Group("when"),
        Doc(
            "Ask before compacting",
            "Somebody is asked before a compaction that would start by itself.",
        ),
    ] = False
    is_shadow: Annotated[
        bool,
        Group("when"),
        Doc(
            "Try without effect (shadow mode)",
            "Compactions are only planned and recorded; what is sent does not change.",
        ),
    ] = False

    target_ratio: Annotated[
        float,
        Share(0.01, 1),
        Group("target"),
        Doc(
            "Compact down to (%)",
            "A compaction stops once this share of what is usable is filled; if system prompt and "
            "tools take more than a tenth, at least a third of the rest is kept.",
        ),
    ] = 0.40
    lower_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("target"),
        Doc(
            "Compact down to (tokens)",
            "A compaction goes on until messages and summary are below this. None: the percentage "
            "applies.",
        ),
    ] = None
    task_type: Annotated[
        TaskType | None,
        Group("target"),
        Doc(
            "Kind of task",
            "Determines which steps come first. None: detected from the tools called and the form "
            "of the messages.",
        ),
    ] = None
    fold_as: Annotated[
        Literal["summary", "truncation", "choice"],
        Group("target"),
        Doc(
            "What becomes of older messages",
            "Summarized, only left out, or whichever suits the conversation.",
        ),
    ] = "summary"
    preference: Annotated[
        Preference,
        Group("target"),
        Doc(
            "Speed or quality",
            "What matters more when choosing between leaving out and summarizing: speed and cost, "
            "or quality.",
        ),
    ] = "balanced"
    max_summaries: Annotated[
        int | None,
        Count(0, "summaries"),
        Group("target"),
        Doc(
            "Summaries of a session, at most",
            "After this many, a session is only truncated. None: any number.",
        ),
    ] = None
    keep_turns: Annotated[
        tuple[int, ...],
        Falling(),
        Group("target"),
        Doc(
            "Turns that stay",
            "How many of the newest turns stay beside the current message; if that is still too "
            "much, the next number applies. Decreasing, e.g. 2, 1, 0.",
        ),
    ] = (2,)
    keep_turns_by_messages: Annotated[
        tuple[tuple[int, int], ...],
        TurnsByMessages(),
        Group("target"),
        Doc(
            "Turns that stay in long conversations",
            "How many turns stay from a number of messages on, e.g. 50: 4, 30: 6. With fewer "
            "messages than the last entry, all stay.",
        ),
    ] = ()
    keep_messages: Annotated[
        int,
        Count(1, "messages"),
        Group("target"),
        Doc(
            "Newest messages that stay",
            "This many stay; the cut moves to the nearest place where no call loses its result.",
        ),
    ] = 9
    importance_threshold: Annotated[
        float,
        Score(0, 5),
        Group("target"),
        Doc(
            "Minimum importance",
            "Messages with at least this score, of 5, stay: up to 2 for relevance to the request, "
            "1 for recency, 2 for facts.",
        ),
    ] = 3.0
    chunk_turns: Annotated[
        int,
        Count(1, "turns"),
        Group("target"),
        Doc(
            "Turns summarized at a time",
            "This many turns are summarized at a time; the last chunk stays.",
        ),
    ] = 20
    min_fold_messages: Annotated[
        int,
        Count(1, "messages"),
        Group("target"),
        Doc(
            "Fold at least (messages)",
            "A compaction that would fold fewer messages is skipped.",
        ),
    ] = 1
    min_gain_ratio: Annotated[
        float,
        Share(0, 1),
        Group("target"),
        Doc(
            "Smallest gain (%)",
            "A compaction that frees a smaller share of the context is not recorded, unless it is "
            "needed or forced.",
        ),
    ] = 0.10

    recent_ratio: Annotated[
        float,
        Share(0, 1),
        Group("stays"),
        Doc(
            "Newest messages kept whole (% of usable)",
            "A compaction never folds them: 2,000 to 20,000 tokens, and at most a quarter of what "
            "it compacts down to. 0: none.",
        ),
    ] = 0.25
    recent_history_ratio: Annotated[
        float | None,
        Share(0, 1),
        Group("stays"),
        Doc(
            "Recent messages, at most (%)",
            "Their share of the tokens left after reserve and system prompt; at most 100 % "
            "together with the summary. None: no such limit.",
        ),
    ] = None
    skips_chains: Annotated[
        bool,
        Group("stays"),
        Doc(
            "Skip calls that do not fit",
            "A call that does not fit is left out with its results, and older ones are still "
            "tried.",
        ),
    ] = False
    max_message_chars: Annotated[
        int | None,
        Count(100, "characters"),
        Group("stays"),
        Doc(
            "Longest message (characters)",
            "A longer one is shortened where it enters a context. None: any length.",
        ),
    ] = None
    goal_max_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("stays"),
        Doc(
            "Original request, at most (tokens)",
            "This many tokens of it stay after its message was folded.",
        ),
    ] = 1_000
    is_interactive: Annotated[
        bool,
        Group("stays"),
        Doc(
            "Somebody can be asked",
            "Off: nobody can be asked, so the whole original request stays, however long.",
        ),
    ] = True
    working_state_ratio: Annotated[
        float | None,
        Share(0.001, 0.5),
        Group("stays"),
        Doc(
            "Task list and memories, at most (% of usable)",
            "Pinned passages, memories, task list and change statistics of folded messages, "
            "carried word for word beside the summary. None: nothing is carried.",
        ),
    ] = None
    facts_ratio: Annotated[
        float | None,
        Share(0.001, 0.5),
        Group("stays"),
        Doc(
            "Facts beside the summary, at most (% of usable)",
            "Standing instructions, identifiers, numbers, decisions and open questions of folded "
            "messages, carried word for word. None: nothing is carried.",
        ),
    ] = 0.03

    recall_ratio: Annotated[
        float | None,
        Share(0.001, 0.5),
        Group("stays"),
        Doc(
            "Recalled for requests, at most (% of usable)",
            "Before a call, what the request asks for is looked up in everything that the context "
            "does not show, and put behind the request. None: nothing is recalled.",
        ),
    ] = 0.20
    recall_max_tokens: Annotated[
        int,
        Count(60, "tokens"),
        Group("stays"),
        Doc("Recalled for one request, at most (tokens)", "Of the share above, for one request."),
    ] = 3_200

    recalls_other_sessions: Annotated[
        bool,
        Group("stays"),
        Doc(
            "Recall from other sessions",
            "What the user's other sessions say about a request is sent with it too, marked with "
            "the session it comes from.",
        ),
    ] = False

    summary_model: Annotated[
        str | None,
        ModelName(),
        Group("summary"),
        Doc(
            "Model that writes summaries",
            "Any name can be typed. None: summaries quote what was said, without a model.",
        ),
    ] = None
    summary_instructions: Annotated[
        str | None,
        Prose(4_000),  # chosen: a page; it goes with every request for a summary
        Group("summary"),
        Doc(
            "Instructions for summaries",
            "What summaries should keep and how, in your own words. A model is given them; without "
            "a model, quotes and kept messages with their words come first. None: no instructions.",
        ),
    ] = None
    unsupported_ratio: Annotated[
        float | None,
        Share(0, 1),
        Group("summary"),
        Doc(
            "Without a source in a summary, at most (%)",
            "Names, numbers, dates and identifiers of a model's summary that its source lacks. "
            "With a larger share of them, quotes take its place. None: they are only listed.",
        ),
    ] = 0.05
    rebuild_after: Annotated[
        int | None,
        Count(1, "summaries"),
        Group("summary"),
        Doc(
            "Rebuild the summary after (summaries)",
            "After so many summaries of a summary, the next one is made from the original "
            "messages. None: never.",
        ),
    ] = 3
    lookback_messages: Annotated[
        int | None,
        Count(1, "messages"),
        Group("summary"),
        Doc(
            "Messages summarized at a time",
            "A summary is written from at most this many messages at a time; a longer part is "
            "summarized step by step. None: all at once.",
        ),
    ] = None
    summary_form: Annotated[
        SummaryForm,
        Group("summary"),
        Doc("Form of the summary", "What a model is asked to write."),
    ] = "plain"
    summary_max_tokens: Annotated[
        int,
        Count(1, "tokens"),
        Group("summary"),
        Doc("Summary of a model, at most (tokens)", "The longest summary of a model."),
    ] = 1_024
    summary_usable_ratio: Annotated[
        float | None,
        Share(0.001, 1),
        Group("summary"),
        Doc(
            "Summary, at most (% of usable)",
            "The longest summary that is made without a model. None: the limit for a model's "
            "summary applies.",
        ),
    ] = 0.10
    summary_history_ratio: Annotated[
        float | None,
        Share(0, 1),
        Group("summary"),
        Doc(
            "Summary, at most (%)",
            "Its share of the tokens left after reserve and system prompt; at most 100 % together "
            "with recent messages. None: no such limit.",
        ),
    ] = None
    summary_source_ratio: Annotated[
        float,
        Share(0.001, 1),
        Group("summary"),
        Doc(
            "Summary, at most (% of its source)",
            "The longest summary without a model, as a share of what it replaces.",
        ),
    ] = 0.25
    summary_chars_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("summary"),
        Doc(
            "Requested length (% of characters)",
            "As a share of the characters it replaces, at least 100 characters. None: no such "
            "length is requested.",
        ),
    ] = None
    summary_asked_chars: Annotated[
        int | None,
        Count(10, "characters"),
        Group("summary"),
        Doc("Requested summary length, at most (characters)", "None: no length is requested."),
    ] = None
    summary_max_chars: Annotated[
        int | None,
        Count(10, "characters"),
        Group("summary"),
        Doc(
            "Longest summary (characters)",
            "A longer one is cut at a sentence's end. None: any length.",
        ),
    ] = None

    shorten_over_tokens: Annotated[
        int,
        Count(40, "tokens"),
        Group("tools"),
        Doc(
            "Shorten tool outputs over (tokens)",
            "A compaction shortens longer outputs to this length.",
        ),
    ] = 200
    shorten_arguments_over_tokens: Annotated[
        int | None,
        Count(40, "tokens"),
        Group("tools"),
        Doc(
            "Shorten arguments of calls over (tokens)",
            "A compaction cuts the long texts in the arguments of older calls, so that those of a "
            "call take about this; their keys stay. None: never.",
        ),
    ] = 200
    shortens_always: Annotated[
        bool,
        Group("tools"),
        Doc(
            "Shorten in every context",
            "Tool outputs are shortened in every context, not only by a compaction.",
        ),
    ] = False
    fresh_turns: Annotated[
        int,
        Count(0, "turns"),
        Group("tools"),
        Doc(
            "Turns whose tool outputs stay whole",
            "Counted from the newest one.",
        ),
    ] = 2
    oversize_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("tools"),
        Doc(
            "Shorten on arrival over (% of usable)",
            "A tool output above this share is shortened once, when it is appended. None: never.",
        ),
    ] = 0.25
    tool_limits: Annotated[
        tuple[tuple[str, int], ...],
        ToolLimits(40),
        Group("tools"),
        Doc(
            "Limits of single tools",
            "Tokens for the outputs of a tool, instead of the limit for all, e.g. bash: 400, "
            "search: 120.",
        ),
    ] = ()
    protected_tools: Annotated[
        tuple[str, ...],
        ToolNames(),
        Group("tools"),
        Doc(
            "Tools left whole",
            "Outputs of these tools are never shortened by a compaction; they may still be folded. "
            "E.g. read_plan, todo.",
        ),
    ] = ()
    offers_expand: Annotated[
        bool,
        Group("tools"),
        Doc(
            "Model can read originals",
            "A model with tools gets one more, to read exact parts of shortened outputs. It takes "
            "about 130 tokens in every call.",
        ),
    ] = True
    offers_recall: Annotated[
        bool,
        Group("tools"),
        Doc(
            "Model can search the history",
            "A model with tools gets one more, to search everything said in the session, also what "
            "its context does not show. It takes about 70 tokens in every call.",
        ),
    ] = True

    delete_after_days: Annotated[
        int | None,
        Count(1, "days"),
        Group("storage"),
        Doc(
            "Delete sessions after (days)",
            "Stored sessions that nobody changed for so long are deleted; they can be restored for "
            "30 days more. None: never.",
        ),
    ] = None
