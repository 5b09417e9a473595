"""Owns the declarations of a policy's fields: type, range, group, default, label and help of each.

Nothing else says them: `fields` reads what stands here. Annotations are values in this module, so
that nobody has to evaluate them. Where a number comes from stands in `docs/designs.md`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from ctxcore.policy.markers import (
    Count,
    Falling,
    Group,
    ListOf,
    ModelName,
    Score,
    Share,
    TextOf,
    Told,
    ToolLimits,
    ToolNames,
    TurnsByMessages,
)
from ctxcore.policy.names import STRATEGIES, StrategyName, unknown_strategies
from ctxcore.tokens.counting import Counting

SummaryPlace = Literal["tagged", "pair", "second_system", "headed_system", "user", "addition"]
SummaryForm = Literal["progressive", "dated_points", "layered", "third_person", "plain"]
Preference = Literal["fast", "balanced", "quality"]
TaskType = Literal["code", "analysis", "conversation", "mixed", "unknown"]


def strategy_names() -> tuple[str, ...]:
    """The strategies that a policy may name; nothing else decides it."""
    return tuple(STRATEGIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Every field of a policy."""

    name: Annotated[
        str,
        TextOf(1),
        Group("preset"),
        Told("Preset", "The preset that the values of all other fields start from."),
    ] = "default"
    strategies: Annotated[
        tuple[StrategyName, ...],
        ListOf(strategy_names, least=1, unknown=unknown_strategies),
        Group("preset"),
        Told(
            "Strategies",
            "Tried in this order; a compaction stops after the first that reaches the target. "
            "Those of the ladder that suit the kind of task come first.",
        ),
    ] = ("shorten_tool_outputs", "keep_by_worth")
    direct_strategies: Annotated[
        tuple[StrategyName, ...],
        ListOf(strategy_names, unknown=unknown_strategies),
        Group("preset"),
        Told(
            "Strategies when asked",
            "Tried instead where a person, the model or the number of turns asks. Empty: the same.",
        ),
    ] = ()
    trigger_on: Annotated[
        Literal["input", "history"],
        Group("preset"),
        Told("Measured", "What is measured: the whole input, or summary plus messages."),
    ] = "input"
    trigger_base: Annotated[
        Literal["usable", "window"],
        Group("preset"),
        Told(
            "Trigger is a share of",
            "What the trigger is a share of, where the whole input is measured.",
        ),
    ] = "usable"
    summary_place: Annotated[
        SummaryPlace,
        Group("preset"),
        Told("Place of the summary", "Where in a context the summary stands, and in which frame."),
    ] = "tagged"

    window_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Told(
            "Window, at most (tokens)",
            "The smaller of it and the model's window counts. None: the model's.",
        ),
    ] = None
    fallback_window_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Told(
            "Window of an unknown model (tokens)",
            "Holds where neither preset nor model names a window. None: it stays unknown.",
        ),
    ] = None
    reserve_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("window"),
        Told(
            "Reserve for the reply (tokens)",
            "Tokens kept free for the reply, at most. Usable is the window less the reserve.",
        ),
    ] = 4_096
    reserve_window_ratio: Annotated[
        float,
        Share(0, 1),
        Group("window"),
        Told(
            "Reserve, at most (% of window)",
            "On a small window the reserve takes no more than this.",
        ),
    ] = 0.25
    usable_ratio: Annotated[
        float,
        Share(0.01, 1),
        Group("window"),
        Told(
            "Used of the window, at most (%)",
            "No context takes more of the window than this; the rest is added to the reserve.",
        ),
    ] = 1.0
    system_estimate_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("window"),
        Told(
            "System prompt, estimated (tokens)",
            "Tokens taken off for the system prompt until a measured one replaces it.",
        ),
    ] = 0
    history_ratio: Annotated[
        float,
        Share(0, 1),
        Group("window"),
        Told(
            "Share of the history (%)",
            "What summary and messages may take of the rest after reserve and system prompt.",
        ),
    ] = 1.0
    router_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("window"),
        Told(
            "Budget of a router (tokens)",
            "A second, smaller budget, for a router that takes the history as text. None: no such "
            "budget.",
        ),
    ] = None

    trigger_ratio: Annotated[
        float | None,
        Share(0.01, 10),
        Group("when"),
        Told(
            "Trigger (%)",
            "A compaction starts when what is measured reaches this share of what it may take. All "
            "or more switches automatic compaction off. None: other rules decide.",
        ),
    ] = 0.80
    upper_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("when"),
        Told("Upper threshold (tokens)", "A compaction starts above it. None: no such threshold."),
    ] = None
    remaining_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("when"),
        Told(
            "Remaining, at least (% of usable)",
            "A compaction starts when less remains free. None: not looked at.",
        ),
    ] = None
    max_turns: Annotated[
        int | None,
        Count(1, "turns"),
        Group("when"),
        Told(
            "Turns, at most",
            "A compaction starts at so many turns since the last one; where there are strategies "
            "when asked, since the last full summary. None: any number.",
        ),
    ] = None
    lookback_messages: Annotated[
        int | None,
        Count(1, "messages"),
        Group("when"),
        Told(
            "Messages looked at",
            "A context looks at no more messages before the current one; older ones are folded, "
            "and start a compaction. None: all.",
        ),
    ] = None
    summary_marker: Annotated[
        str | None,
        TextOf(3),
        Group("when"),
        Told(
            "Words that ask for a compaction",
            "When the model writes them, a compaction starts; people never see them. None: no "
            "such words.",
        ),
    ] = None
    min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Told("Fewest messages", "No automatic compaction while fewer messages are uncovered."),
    ] = 0
    first_min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Told("Fewest for the first summary", "No first summary of fewer uncovered messages."),
    ] = 0
    next_min_messages: Annotated[
        int,
        Count(0, "messages"),
        Group("when"),
        Told(
            "Fewest for a further summary",
            "No further summary of fewer new messages. 0: the fewest messages.",
        ),
    ] = 0
    next_min_ratio: Annotated[
        float,
        Share(0, 100),
        Group("when"),
        Told(
            "New text for a further summary (%)",
            "New tokens must be more than this share of the summary's.",
        ),
    ] = 0.0
    counting: Annotated[
        Counting,
        Group("when"),
        Told(
            "Counting",
            "How the triggers count. That a context fits is always checked with the model's own "
            "counter.",
        ),
    ] = "model"
    check_at: Annotated[
        Literal["background", "after_answer", "before_message", "before_send"],
        Group("when"),
        Told(
            "Looked at",
            "When the triggers are looked at: after the answer, without or with the turn waiting "
            "for it; before a user's message is stored; or before each call.",
        ),
    ] = "background"
    requires_confirmation: Annotated[
        bool,
        Group("when"),
        Told(
            "Ask before compacting",
            "A person is asked before a compaction that starts by itself.",
        ),
    ] = False
    is_shadow: Annotated[
        bool,
        Group("when"),
        Told("Shadow mode", "Compactions are only planned and recorded; nothing changes."),
    ] = False

    target_ratio: Annotated[
        float,
        Share(0.01, 1),
        Group("target"),
        Told(
            "Target (%)",
            "A compaction stops once what is measured is down to this share; where system prompt "
            "and tools take more than a tenth, a third of what they leave stays.",
        ),
    ] = 0.40
    lower_tokens: Annotated[
        int | None,
        Count(1, "tokens"),
        Group("target"),
        Told(
            "Lower threshold (tokens)",
            "A compaction goes on until messages and summary are below it. None: the target holds.",
        ),
    ] = None
    task_type: Annotated[
        TaskType | None,
        Group("target"),
        Told(
            "Kind of task",
            "Says which steps come first. None: found from the tools that are called and how "
            "messages are said.",
        ),
    ] = None
    fold_as: Annotated[
        Literal["summary", "truncation", "choice"],
        Group("target"),
        Told(
            "What becomes of older messages",
            "Summarized, only left out, or whichever the conversation calls for.",
        ),
    ] = "summary"
    preference: Annotated[
        Preference,
        Group("target"),
        Told(
            "Preference",
            "What a choice between leaving out and summarizing weighs more: speed and cost, or "
            "quality.",
        ),
    ] = "balanced"
    max_summaries: Annotated[
        int | None,
        Count(0, "summaries"),
        Group("target"),
        Told(
            "Summaries of a session, at most",
            "After so many a session is only truncated. None: any number.",
        ),
    ] = None
    keep_turns: Annotated[
        tuple[int, ...],
        Falling(),
        Group("target"),
        Told(
            "Turns that stay",
            "How many newest turns stay beside the current message; the next number where that is "
            "still too much. Falling, e.g. 2, 1, 0.",
        ),
    ] = (2,)
    keep_turns_by_messages: Annotated[
        tuple[tuple[int, int], ...],
        TurnsByMessages(),
        Group("target"),
        Told(
            "Turns that stay by messages",
            "From so many messages on so many turns stay, e.g. 50: 4, 30: 6. Below the last all "
            "stay.",
        ),
    ] = ()
    keep_messages: Annotated[
        int,
        Count(1, "messages"),
        Group("target"),
        Told(
            "Newest messages of a sliding window",
            "So many stay; the cut moves to the nearest place where no call loses its result.",
        ),
    ] = 9
    importance_threshold: Annotated[
        float,
        Score(0, 5),
        Group("target"),
        Told(
            "Importance, from",
            "Messages that score at least this much of 5 stay: 2 for what the request is about, 1 "
            "for how new, 2 for facts.",
        ),
    ] = 3.0
    chunk_turns: Annotated[
        int,
        Count(1, "turns"),
        Group("target"),
        Told(
            "Turns in a chunk",
            "So many turns are summarized at a time; the last chunk stays.",
        ),
    ] = 20
    min_fold_messages: Annotated[
        int,
        Count(1, "messages"),
        Group("target"),
        Told(
            "Fewest messages to fold",
            "A compaction that would fold fewer is not worth it.",
        ),
    ] = 1
    min_gain_ratio: Annotated[
        float,
        Share(0, 1),
        Group("target"),
        Told(
            "Smallest gain (%)",
            "A compaction that frees a smaller share of the context is not recorded, unless it is "
            "needed or forced.",
        ),
    ] = 0.10

    recent_ratio: Annotated[
        float,
        Share(0, 1),
        Group("stays"),
        Told(
            "Recent part (% of usable)",
            "The newest part that a compaction may not fold, within 2,000 and 20,000, and at most "
            "half of the target. 0: none.",
        ),
    ] = 0.25
    recent_history_ratio: Annotated[
        float | None,
        Share(0, 1),
        Group("stays"),
        Told(
            "Recent messages, at most (%)",
            "Their share of what remains after reserve and system prompt; with the summary's at "
            "most all of it. None: no such limit.",
        ),
    ] = None
    skips_chains: Annotated[
        bool,
        Group("stays"),
        Told(
            "Skip calls that do not fit",
            "A call with its results that does not fit is left out, and older ones are still "
            "tried.",
        ),
    ] = False
    max_message_chars: Annotated[
        int | None,
        Count(100, "characters"),
        Group("stays"),
        Told(
            "Longest message (characters)",
            "A longer one is shortened where it enters a context. None: any length.",
        ),
    ] = None
    goal_max_tokens: Annotated[
        int,
        Count(0, "tokens"),
        Group("stays"),
        Told(
            "Original request, at most (tokens)",
            "So many tokens of it stay once its message has gone.",
        ),
    ] = 1_000
    is_interactive: Annotated[
        bool,
        Group("stays"),
        Told(
            "A person follows",
            "Off: nobody can be asked, so the whole original request stays, however long.",
        ),
    ] = True
    working_state_ratio: Annotated[
        float | None,
        Share(0.001, 0.5),
        Group("stays"),
        Told(
            "Working state, at most (% of usable)",
            "Pinned passages, memories, task list and change statistics of folded messages, "
            "carried word for word beside the summary. None: nothing is carried.",
        ),
    ] = None
    facts_ratio: Annotated[
        float | None,
        Share(0.001, 0.5),
        Group("stays"),
        Told(
            "Facts beside the summary, at most (% of usable)",
            "Standing instructions, identifiers, numbers, decisions and open questions of folded "
            "messages, carried word for word. None: nothing is carried.",
        ),
    ] = 0.03

    summary_model: Annotated[
        str | None,
        ModelName(),
        Group("summary"),
        Told(
            "Model that writes summaries",
            "Any name can be typed. None: summaries quote what was said, without a model.",
        ),
    ] = None
    rebuild_after: Annotated[
        int | None,
        Count(1, "summaries"),
        Group("summary"),
        Told(
            "Rebuild the summary after",
            "After so many summaries of a summary, the next one is made from the original "
            "messages. None: never.",
        ),
    ] = 3
    summary_form: Annotated[
        SummaryForm,
        Group("summary"),
        Told("Form of the summary", "What a model is asked to write."),
    ] = "plain"
    summary_max_tokens: Annotated[
        int,
        Count(1, "tokens"),
        Group("summary"),
        Told("Summary of a model, at most (tokens)", "The longest summary of a model."),
    ] = 1_024
    summary_usable_ratio: Annotated[
        float | None,
        Share(0.001, 1),
        Group("summary"),
        Told(
            "Summary, at most (% of usable)",
            "The longest summary that is made without a model. None: the limit of a model's holds.",
        ),
    ] = 0.10
    summary_history_ratio: Annotated[
        float | None,
        Share(0, 1),
        Group("summary"),
        Told(
            "Summary, at most (%)",
            "Its share of what remains after reserve and system prompt; with that of recent "
            "messages at most all of it. None: not limited so.",
        ),
    ] = None
    summary_source_ratio: Annotated[
        float,
        Share(0.001, 1),
        Group("summary"),
        Told(
            "Summary, at most (% of its source)",
            "The longest summary without a model, as a share of what it stands for.",
        ),
    ] = 0.25
    summary_chars_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("summary"),
        Told(
            "Length asked for (% of characters)",
            "As a share of the characters it stands for, at least 100 characters. None: no such "
            "length is named.",
        ),
    ] = None
    summary_asked_chars: Annotated[
        int | None,
        Count(10, "characters"),
        Group("summary"),
        Told("Longest length asked for", "In characters. None: no length is named."),
    ] = None
    summary_max_chars: Annotated[
        int | None,
        Count(10, "characters"),
        Group("summary"),
        Told(
            "Longest summary (characters)",
            "A longer one is cut at a sentence's end. None: any length.",
        ),
    ] = None

    shorten_over_tokens: Annotated[
        int,
        Count(40, "tokens"),
        Group("tools"),
        Told(
            "Shorten tool outputs over (tokens)",
            "Longer outputs are shortened to this by a compaction.",
        ),
    ] = 200
    shortens_always: Annotated[
        bool,
        Group("tools"),
        Told(
            "Shorten in every context",
            "Tool outputs are shortened in every context, not only by a compaction.",
        ),
    ] = False
    fresh_turns: Annotated[
        int,
        Count(0, "turns"),
        Group("tools"),
        Told("Fresh turns", "The tool outputs of so many newest turns are left whole."),
    ] = 2
    oversize_ratio: Annotated[
        float | None,
        Share(0.01, 1),
        Group("tools"),
        Told(
            "Shorten at once over (% of usable)",
            "A tool output above this share is shortened once, when it is appended. None: never.",
        ),
    ] = 0.25
    tool_limits: Annotated[
        tuple[tuple[str, int], ...],
        ToolLimits(40),
        Group("tools"),
        Told(
            "Limits of single tools",
            "Tokens for outputs of a tool in place of the limit for all, e.g. bash: 400, search: "
            "120.",
        ),
    ] = ()
    protected_tools: Annotated[
        tuple[str, ...],
        ToolNames(),
        Group("tools"),
        Told(
            "Tools left whole",
            "Outputs of these tools are never shortened by a compaction; they may still be folded. "
            "E.g. read_plan, todo.",
        ),
    ] = ()
    offers_expand: Annotated[
        bool,
        Group("tools"),
        Told(
            "Model can read originals",
            "A model that has tools gets one more, with which it reads exact parts of shortened "
            "outputs. It takes about 130 tokens in every call.",
        ),
    ] = True
