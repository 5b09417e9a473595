"""A plan's sizes are the model's; a rule's own number stands beside its trigger, named."""

from __future__ import annotations

from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.plans import Answer, Confirmation
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import count_messages

DESIGN = Policy.preset("dual-threshold")
MODEL = "gpt-4o"


def words(count: int) -> str:
    """Long words that a vocabulary has whole, so that an estimate by letters is far above."""
    return " ".join(["international", "responsibilities", "understanding"] * (count // 3))


def talk(messages: int) -> list[JsonObject]:
    return [
        {"role": "assistant" if at % 2 else "user", "content": f"{at} {words(60)}"}
        for at in range(messages)
    ]


def orders(first: int) -> str:
    """Sentences worth a place in a summary."""
    return " ".join(
        f"Order {at * 37} of customer C-{at} arrived on 2026-05-{at % 28 + 1:02} with {at} crates."
        for at in range(first * 40, first * 40 + 40)
    )


def with_tools(turns: int) -> list[JsonObject]:
    """Turns whose tool outputs the design shows short."""
    history: list[JsonObject] = []
    for at in range(turns):
        call = {"id": f"c{at}", "type": "function"}
        history += [
            {"role": "user", "content": f"{at} {words(30)}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{**call, "function": {"name": "read", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": f"c{at}", "content": orders(at)},
            {"role": "assistant", "content": f"{words(60)} {orders(at + 700)[:900]}"},
        ]
    return history


def test_a_plan_counts_for_the_model_and_names_the_rule_of_its_trigger() -> None:
    history = talk(500)

    plan = plan_compaction(history, policy=DESIGN, model=MODEL)

    assert plan is not None
    assert plan.before_tokens == count_messages(history, model=MODEL)
    assert plan.trigger.numbers["tokens"] != plan.before_tokens
    assert str(plan.trigger).endswith("(counted by estimate)")
    assert plan.steps[0].before_tokens == plan.before_tokens
    assert plan.steps[-1].expected_tokens == plan.expected_tokens < plan.before_tokens


def test_an_overflow_is_counted_for_the_model_and_names_no_rule() -> None:
    plan = plan_compaction(talk(120), policy=Policy(), max_tokens=2_000, model=MODEL)

    assert plan is not None
    assert "counted by" not in str(plan.trigger)


def test_a_compaction_lands_no_higher_than_its_plan_expects() -> None:
    history = with_tools(80)
    plan = plan_compaction(history, policy=DESIGN, model=MODEL)

    result = compact(history, policy=DESIGN, model=MODEL)

    assert plan is not None
    assert result.before_tokens == plan.before_tokens
    assert result.after_tokens <= plan.expected_tokens


def test_a_person_is_asked_with_the_models_counts() -> None:
    history, asked = talk(500), list[Confirmation]()

    def ask(question: Confirmation) -> Answer:
        asked.append(question)
        return "compact"

    compact(history, policy=DESIGN.override(requires_confirmation=True), model=MODEL, confirm=ask)

    (question,) = asked
    assert question.current_tokens == question.plan.before_tokens
    assert question.current_tokens == count_messages(history, model=MODEL)
