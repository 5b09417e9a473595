"""The built-in presets: the default, and the source designs with exactly their documents' numbers.

Comments give the source of a number, or what `docs/designs.md` settled where a document is silent.
`ctxcore.policy.values` imports a preset by its name when it is first used.
"""

from __future__ import annotations

from ctxcore.policy.values import PRESETS as PRESETS
from ctxcore.policy.values import Policy

DEFAULT = Policy()

SLIDING_SUMMARY = Policy(
    name="sliding-summary",
    offers_expand=False,
    shorten_arguments_over_tokens=None,
    facts_ratio=None,
    recall_ratio=None,
    offers_recall=False,
    rebuild_after=None,
    window_tokens=128_000,
    system_estimate_tokens=2_000,
    history_ratio=0.60,  # int((128,000 - 4,096 - 2,000) x 0.60) = 73,142
    router_tokens=8_000,
    check_at="after_answer",
    trigger_on="history",
    min_messages=6,
    min_fold_messages=2,
    strategies=("fold_to_tail",),
    lookback_messages=40,
    summary_form="progressive",
    summary_place="pair",
    summary_usable_ratio=None,
    min_gain_ratio=0.0,
    oversize_ratio=None,
    max_message_chars=20_000,
)

DUAL_THRESHOLD = Policy(
    name="dual-threshold",
    offers_expand=False,
    shorten_arguments_over_tokens=None,
    facts_ratio=None,
    recall_ratio=None,
    offers_recall=False,
    rebuild_after=None,
    window_tokens=128_000,
    usable_ratio=0.60,  # 76,800, minus the measured system prompt
    counting="estimate",
    check_at="before_send",
    trigger_on="history",
    trigger_ratio=None,
    upper_tokens=50_000,
    lower_tokens=30_000,
    min_messages=11,  # it does nothing at 10 or fewer
    first_min_messages=20,
    next_min_messages=10,
    next_min_ratio=0.5,
    strategies=("fold_to_lower",),
    recent_history_ratio=0.65,
    skips_chains=True,
    summary_form="dated_points",
    summary_place="second_system",
    summary_max_tokens=20_000,  # the ratio below is the effective limit
    summary_history_ratio=0.26,
    min_gain_ratio=0.0,
    shortens_always=True,
    fresh_turns=0,
    oversize_ratio=None,
)

TRUNCATE_OR_SUMMARIZE = Policy(
    name="truncate-or-summarize",
    offers_expand=False,
    shorten_arguments_over_tokens=None,
    facts_ratio=None,
    recall_ratio=None,
    offers_recall=False,
    rebuild_after=None,
    fallback_window_tokens=4_096,
    reserve_tokens=2_000,
    reserve_window_ratio=0.5,
    max_tokens_is_window=True,  # "the model's limit", of which 2,000 stay free
    counting="chars/2.5",
    check_at="before_send",
    trigger_ratio=None,  # an input above what is usable
    strategies=("keep_turns", "fold_to_fit"),
    fold_as="choice",
    max_summaries=3,
    target_ratio=1.0,
    keep_turns_by_messages=((50, 4), (30, 6), (15, 8)),
    summary_form="layered",
    summary_place="headed_system",
    summary_usable_ratio=None,
    summary_chars_ratio=0.15,
    summary_asked_chars=800,
    summary_max_chars=800,
    min_gain_ratio=0.0,
    oversize_ratio=None,
)

PI = Policy(
    name="pi",
    offers_expand=False,
    shorten_arguments_over_tokens=None,
    facts_ratio=None,
    recall_ratio=None,
    offers_recall=False,
    rebuild_after=None,
    window_tokens=80_000,
    reserve_window_ratio=0.20,  # what the trigger leaves free; the document names no reserve
    counting="chars/2",
    check_at="before_message",
    trigger_base="window",  # 80,000 x 0.80 = 64,000
    target_ratio=0.80,
    requires_confirmation=True,
    strategies=("keep_turns",),
    keep_turns=(2, 1, 0),
    summary_form="third_person",
    summary_place="user",
    summary_usable_ratio=None,
    summary_asked_chars=500,
    summary_max_chars=1_000,
    min_gain_ratio=0.0,
    oversize_ratio=None,
)

LADDER = Policy(
    name="ladder",
    shorten_arguments_over_tokens=None,
    facts_ratio=None,
    recall_ratio=None,
    offers_recall=False,
    rebuild_after=None,
    check_at="before_send",
    trigger_ratio=None,
    remaining_ratio=0.25,
    max_turns=200,
    summary_marker="!!!SUMMARY!!!",
    target_ratio=0.75,  # chosen: the trigger no longer fires
    # The document's fallback order; those that suit the kind of task come first.
    strategies=("sliding_window", "importance", "key_events", "incremental", "full_summary"),
    direct_strategies=("full_summary",),
    working_state_ratio=0.10,  # chosen: what stays word for word needs a limit
    summary_form="working_memory",
    summary_place="addition",
    summary_usable_ratio=None,
    # The document names no length. With this one, quoting summaries keep .48 of the live facts of
    # a long Chinese chat; with a quarter of it .41; plain truncation keeps .50. Source:
    # `benchmarks.ladder`.
    summary_max_tokens=4_096,
    summary_source_ratio=0.40,
    min_gain_ratio=0.0,
    oversize_ratio=None,
)


def register_preset(policy: Policy) -> None:
    """Adds a preset under the policy's own name.

    Raises:
        NameTakenError: there is a preset of this name.
    """
    PRESETS.register(policy.name, policy)
