"""What people ask of each other is carried as talk, and no instruction for the model."""

from __future__ import annotations

import pytest

from ctxcore.assembly.addressees import only_people_speak
from ctxcore.compaction.compacting import compact
from ctxcore.facts.rules import is_clear_rule
from ctxcore.messages.values import Message, Text
from ctxcore.policy.values import Policy
from tests.histories import assistant, user
from tests.unit.facts.speech import facts
from tests.words import context_of, words

AMONG_FRIENDS = "I prefer window seats."
CLEAR = "From now on, always answer in Dutch."


def letters(rule: str, *, named: bool = True, turns: int = 20) -> list[Message]:
    """The letters of two friends; `rule` is said by the first, with or without her name."""
    said = [user("Anna: How are you?"), assistant("Ben Meier: Fine, and you?")]
    said += [user(f"Anna: {rule}" if named else rule), assistant("Ben Meier: I see.")]
    for turn in range(turns):
        said += [user(f"Anna: ask {turn} {words(18)}"), assistant(f"Ben Meier: so {words(18)}")]
    return said


def facts_of(context: object) -> str:
    return " ".join(text.text for text in context.synthetic if text.kind == "facts")  # type: ignore[attr-defined]  # a context


def with_name(name: str, text: str) -> Message:
    return Message(role="user", content=(Text(text=text),), name=name)


@pytest.mark.parametrize(
    ("messages", "is_so"),
    [
        ([user("Anna: Hi."), assistant("Ben: Hello.")], True),
        ([user("Hi."), assistant("Ben: Hello.")], True),
        ([user("Anna: Hi."), assistant("Hello.")], False),
        ([user("User: Hi."), assistant("Assistant: Hello.")], False),
        ([user("Customer: Hi."), assistant("Support Agent: Hello.")], False),
        ([user("用户：你好"), assistant("客服：您好")], False),
        ([user("<anna> Hi."), assistant("<ChatGPT> Hello.")], False),
        ([user("Anna: Hi."), user("Ben: Hello.")], True),
        ([user("User: Hi."), user("Assistant: Hello.")], False),
        ([user("Anna: Hi."), user("Anna: Anybody?")], False),
        ([with_name("Anna", "Hi."), with_name("Ben", "Hello.")], True),
        ([with_name("Anna", "Hi."), with_name("Ben", "Hello."), assistant("Hello, both.")], False),
        ([with_name("MAIA", "Hi."), with_name("RAIN", "Hello.")], True),
        ([with_name("Anna", "Hi."), with_name("小AI", "Hello.")], False),
        ([user("王强：你好"), assistant("小明：你好")], True),
        ([user("Hi."), user("Anybody?")], False),
        ([], False),
    ],
)
def test_no_model_takes_part_where_only_people_have_names(
    messages: list[Message], is_so: bool
) -> None:
    assert only_people_speak(messages) is is_so


def test_what_friends_ask_of_each_other_is_no_fact() -> None:
    folded = compact(letters(AMONG_FRIENDS), max_tokens=600, force=True).context
    windowed = context_of(letters(AMONG_FRIENDS), 300)

    assert "prefer window seats" not in facts_of(folded) + facts_of(windowed)


@pytest.mark.parametrize(("named", "lost"), [(True, []), (False, [AMONG_FRIENDS])])
def test_what_friends_ask_of_each_other_is_no_rule_that_is_lost(
    named: bool, lost: list[str]
) -> None:
    policy = Policy(strategies=("fold_oldest",), facts_ratio=None, recall_ratio=None)
    made = compact(
        letters(AMONG_FRIENDS, named=named),
        policy=policy,
        summarizer=lambda *_: "They talked.",
        max_tokens=600,
        target_tokens=300,
        force=True,
    )

    rules = [one.text for one in made.lost if one.kind == "instruction"]
    assert rules == lost


@pytest.mark.parametrize(("rule", "named"), [(AMONG_FRIENDS, False), (CLEAR, True)])
def test_what_is_said_to_the_model_or_is_clear_is_a_fact(rule: str, named: bool) -> None:
    assert rule in facts_of(context_of(letters(rule, named=named), 300))


def test_the_same_rule_holds_where_a_model_answers() -> None:
    history = [
        Message(role="assistant", content=(Text(text="Noted."),)) if turn.role != "user" else turn
        for turn in letters(AMONG_FRIENDS)
    ]

    assert AMONG_FRIENDS in facts_of(context_of(history, 300))


def test_a_rule_is_clear_that_weighs_more_than_one_needs_to() -> None:
    clear, doubtful = (
        next(fact for fact in facts(text) if fact.kind == "instruction")
        for text in (CLEAR, AMONG_FRIENDS)
    )

    assert is_clear_rule(clear)
    assert not is_clear_rule(doubtful)
