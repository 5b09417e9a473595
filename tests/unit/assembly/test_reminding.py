"""Standing instructions that a context would not say: put back, once, as long as they hold."""

from __future__ import annotations

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.compacting import compact
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_messages
from tests.histories import assistant, user
from tests.words import context_of, sent, words

RULE = "Never push to main without asking me."
REVOKED = "You may push to main without asking again."


def talk(turns: int, *, start: int = 0) -> list[Message]:
    """So many turns of small talk, each message 24 words long."""
    places = range(start, start + turns)
    pairs = [(user(f"ask {n} {words(18)}"), assistant(f"answer {n} {words(18)}")) for n in places]
    return [message for pair in pairs for message in pair]


def facts_of(context: object) -> str:
    """What the facts segment of a context says."""
    return " ".join(text.text for text in context.synthetic if text.kind == "facts")  # type: ignore[attr-defined]  # a context


def test_a_rule_outside_the_window_is_put_back() -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(20)]

    context = context_of(history, 300)

    assert RULE in facts_of(context)
    assert context.verdict(6).reason == VerdictCode.REMINDED(why=VerdictCode.OUTSIDE())
    assert (
        str(context.verdict(6).reason)
        == "outside the window; its standing instructions are repeated"
    )
    assert context.breakdown.facts > 0


def test_a_rule_that_is_shown_is_not_said_twice() -> None:
    history = [*talk(20), user(RULE), assistant("Very well."), *talk(2)]

    context = context_of(history, 300)

    assert str(sent(context)).count(RULE) == 1
    assert context.breakdown.facts == 0


def test_a_rule_taken_back_is_not_put_back_but_what_took_it_back_is() -> None:
    history = [*talk(2), user(RULE), *talk(2)[1:], user(REVOKED), assistant("Good."), *talk(20)]

    said = facts_of(context_of(history, 300))

    assert RULE not in said
    assert REVOKED in said


@pytest.mark.parametrize("summary", ["", "so far"])
def test_a_rule_that_a_compaction_covers_and_does_not_carry_is_put_back(summary: str) -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(6)]
    until = 8 if summary else 0
    active = Compaction(covered_until=8, summary=summary, summarized_until=until)

    context = context_of(history, 600, active=active)

    assert RULE in facts_of(context)
    assert context.verdict(6).reason.code == VerdictCode.REMINDED


def test_a_rule_goes_behind_what_the_record_carries() -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(6)]
    active = Compaction(covered_until=8, summary="so far", facts="Numbers:\n- port: 8080")

    said = facts_of(context_of(history, 600, active=active))

    assert said.index("8080") < said.index(RULE)


@pytest.mark.parametrize("field", ["facts", "summary"])
def test_a_rule_that_the_record_says_is_not_put_back(field: str) -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(6)]
    active = Compaction(covered_until=8, **{field: f"They said: {RULE}"})  # type: ignore[arg-type]  # one of two texts

    assert str(sent(context_of(history, 600, active=active))).count(RULE) == 1


def test_a_rule_taken_back_after_the_compaction_leaves_the_prefix_as_it_is() -> None:
    """The facts are prefix; what takes the rule back comes later and is shown."""
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(6)]
    active = Compaction(covered_until=8, summary="so far", seen_until=len(history))
    before = context_of(history, 600, active=active)

    after = context_of([*history, user(REVOKED), assistant("Good.")], 600, active=active)

    known = before.prefix_messages
    assert after.messages[:known] == before.messages[:known]
    assert REVOKED in str(sent(after))


def test_a_rule_taken_back_before_the_compaction_is_not_put_back() -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(6), user(REVOKED)]
    active = Compaction(covered_until=8, summary="so far", seen_until=len(history))

    assert RULE not in facts_of(context_of(history, 600, active=active))


def test_what_a_person_excluded_is_not_put_back() -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(20)]

    assert RULE not in str(sent(context_of(history, 300, excluded=[7])))


def test_a_policy_without_facts_puts_nothing_back() -> None:
    history = [*talk(3), user(RULE), assistant("Very well."), *talk(20)]

    context = context_of(history, 300, policy=Policy(facts_ratio=None))

    assert RULE not in str(sent(context))


def test_many_rules_take_no_more_than_their_share() -> None:
    things = [f"{one}{other}" for one in "abcdefgh" for other in ("lamp", "desk", "door", "vase")]
    rules = [user(f"Never paint the {thing} in red.") for thing in things]
    history = [*talk(1), *rules, *talk(40)]

    context = context_of(history, 600)

    assert 50 < context.breakdown.facts <= 100  # a sixth of usable
    assert "more facts not shown" in facts_of(context)


def test_a_summary_given_as_a_plain_text_loses_no_rule_behind_it() -> None:
    history = [*talk(1), user(RULE), assistant("Very well."), *talk(40)]

    context = fit(history, max_tokens=400, state="They planned a trip.")

    assert RULE in facts_of(context)


def _said(place: int, sentence: str, language: str) -> list[Message]:
    """200 messages of small talk with `sentence` said once."""
    texts = {
        "en": ("Did you see the game last night, it was quite long", "Yes, what a nice evening"),
        "zh": ("昨天晚上的比赛你看了吗，时间挺长的", "看了，真是个不错的晚上呢"),
    }
    asked, answered = texts[language]
    roles = [
        user(f"{asked} {n}") if n % 2 == 0 else assistant(f"{answered} {n}") for n in range(200)
    ]
    return [*roles[:place], user(sentence), *roles[place:]]


@pytest.mark.parametrize("place", [0, 100, 196])
@pytest.mark.parametrize(
    ("language", "rule", "revoking"),
    [
        ("en", "From now on never send invoices before Friday.", "You may send invoices before"
         " Friday again."),
        ("zh", "以后不要在周五之前发送发票。", "现在可以在周五之前发送发票了。"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("compacts", [False, True])
def test_an_instruction_said_once_is_there_at_a_twentieth_of_the_history(
    place: int, language: str, rule: str, revoking: str, compacts: bool
) -> None:
    history = _said(place, rule, language)
    budget = count_messages(history) // 20

    def context(messages: list[Message]) -> object:
        if compacts:
            return compact(messages, max_tokens=budget).context
        return fit(messages, max_tokens=budget)

    assert rule in str(context(history).messages)  # type: ignore[attr-defined]  # a context
    revoked = context([*history[:198], user(revoking), *history[198:]])
    assert rule not in facts_of(revoked)


def test_a_rule_that_only_the_summary_said_stays_when_the_summary_gives_way() -> None:
    history = [user(words(400)), assistant("Fine."), user(RULE), assistant("Very well."), *talk(2)]
    active = Compaction(covered_until=8, summary=f"So far. {words(60)}. {RULE}", seen_until=8)

    context = context_of([*history, user("Go on.")], 300, active=active)

    assert RULE in facts_of(context)
    assert "So far." not in str(sent(context))
