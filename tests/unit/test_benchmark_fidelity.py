"""The measures of fidelity count what they say, on talks small enough to check by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.conversations import DEMO
from benchmarks.fidelity import (
    caching,
    evidence,
    instructions,
    literals,
    memories,
    next_calls,
    requests,
    searches,
)
from benchmarks.fidelity.methods import Method, chosen, is_over, own_methods, plain_methods
from benchmarks.fidelity.progress import sampled
from benchmarks.fidelity.said import Said, content_words
from benchmarks.fidelity.tables import Column, Table
from benchmarks.fidelity.talks import (
    OwnCompaction,
    Question,
    Talk,
    Use,
    call_values,
    half_of,
    load_talks,
    talk_of,
)
from ctxcore import lint
from ctxcore.assembly.legality import PROVIDERS
from ctxcore.messages.values import JsonObject

EVERYTHING = Method(name="everything", fold=lambda talk, budget: list(talk.messages))
NOTHING = Method(name="nothing", fold=lambda talk, budget: None)


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def assistant(text: str) -> JsonObject:
    return {"role": "assistant", "content": text}


def asks(call_id: str, **arguments: str) -> JsonObject:
    function: JsonObject = {"name": "look", "arguments": json.dumps(arguments)}
    call: JsonObject = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answers(call_id: str, text: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def chatter(turns: int) -> list[JsonObject]:
    lines = [
        f"Parcel {turn} left hub {turn % 7} in the rain and nobody saw it." for turn in range(turns)
    ]
    return [made for line in lines for made in (user(line), assistant(f"Noted: {line}"))]


def row(table: Table, method: Method) -> dict[str, float | None]:
    return {column.name: table.mean(method.name, column.name) for column in table.columns}


def test_a_quote_counts_wherever_it_stands_whatever_its_blanks() -> None:
    said = Said([user("- she said:  The gate\n is B42. -")])

    assert said.has("the gate is B42.")


def test_a_value_is_no_part_of_a_longer_number() -> None:
    said = Said([user("order 12345")])

    assert said.has_value("12345")
    assert not said.has_value("234")


def test_half_a_message_counts_by_its_whole_sentences() -> None:
    said = Said([user("One two three.")])

    assert said.share_of_sentences("One two three. Six nine four.") == 0.5


def test_chinese_words_are_pairs_of_characters() -> None:
    assert content_words("五号楼 B2") == {"五号", "号楼", "b2"}


def test_windows_stay_within_the_budget_and_keep_system_prompts() -> None:
    talk = talk_of([{"role": "system", "content": "Be brief."}, *chatter(40)], id="t")

    for method in plain_methods():
        folded = method.fold(talk, 400)
        assert folded is not None
        assert folded[0] == talk.messages[0], method.name
        assert not is_over(folded, 400), method.name


def test_whole_blocks_are_legal_for_every_provider() -> None:
    turn = [user("Where is it?"), asks("c1", parcel="P-77"), answers("c1", "hub 4 " * 30)]
    talk = talk_of([*chatter(3), *turn, assistant("In hub 4."), user("Sure?")], id="t")
    blocks = next(method for method in plain_methods() if "blocks" in method.name)

    for budget in range(60, talk.total_tokens, 10):
        folded = blocks.fold(talk, budget)
        assert folded
        assert not [found for provider in PROVIDERS for found in lint(folded, provider)]


def test_a_window_that_stops_leaves_out_all_behind_the_first_that_does_not_fit() -> None:
    talk = talk_of([user("a"), user("much " * 50), user("b")], id="t")

    assert chosen(talk, [2, 1, 0], 30, stops=True) == [talk.messages[2]]
    assert chosen(talk, [2, 1, 0], 30) == [talk.messages[0], talk.messages[2]]


def test_the_ratio_is_to_the_best_peer_and_to_the_best_one_that_does_no_harm() -> None:
    columns = [Column(name="kept"), Column(name="over", best="none")]
    table = Table(title="t", columns=columns, harms=["over"])
    for name, kept, over in (("ours", 0.6, 0.0), ("greedy", 0.8, 1.0), ("modest", 0.3, 0.0)):
        method = Method(name=name, fold=NOTHING.fold, is_ours=name == "ours")
        table.add(method, "kept", [kept])
        table.add(method, "over", [over])

    last, safe = table.render().splitlines()[-2:]

    assert "0.75×" in last
    assert "2.00×" in safe


def test_a_sample_is_the_same_each_time_and_spread_over_all() -> None:
    assert sampled(range(10), 5) == [0, 2, 4, 6, 8]
    assert sampled(range(3), 5) == [0, 1, 2]


def test_evidence_is_all_there_when_everything_is_and_gone_when_nothing_is() -> None:
    question = Question(question="Where?", answer="hub 4", evidence=(4, 6))
    talk = talk_of(chatter(100), id="t", file="f", questions=(question,))

    table = next(evidence.measure([talk], [EVERYTHING, NOTHING], 1))

    assert row(table, EVERYTHING)["ev 2k"] == 1.0
    assert row(table, EVERYTHING)["over"] == 1.0
    assert row(table, NOTHING)["ev 2k"] == 0.0


def asked_talk() -> Talk:
    """A talk of which a question asks for one message."""
    said = chatter(100)
    said[61] = assistant("The violin lies in hub 5.")
    question = Question(question="Where is the violin?", answer="hub 5", evidence=(61,))
    return talk_of(said, id="t", file="f", questions=(question,))


def test_a_search_finds_the_evidence_and_peers_get_as_many_tokens() -> None:
    table = next(searches.measure([asked_talk()], [], 1))

    for name in ("recall", "BM25, the same tokens"):
        assert table.mean(name, "R@1") == 1.0
    ours, peer = (table.mean(n, "tokens@1") for n in ("recall", "BM25, the same tokens"))
    assert 0 < (peer or 0) <= (ours or 0)


def test_who_searches_the_whole_conversation_finds_the_same_now_and_later() -> None:
    default = own_methods()[0]

    table = next(requests.measure([asked_talk()], [default], 1))

    ranked = "BM25 with the question"
    assert table.mean(ranked, "then 2k") == table.mean(ranked, "ev 2k") == 1.0
    assert table.mean(default.name, "then 2k") == 1.0


@pytest.mark.skipif(not memories.has_llama_index(), reason="LlamaIndex is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # its store is closed by nobody
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_kept_memory_finds_an_early_message_within_the_budget() -> None:
    talk = asked_talk()
    asking = talk_of([*talk.messages, user(talk.questions[0].question)], id="t")

    folded = memories.remembered(asking, 1_000)

    assert Said(folded or ()).has("The violin lies in hub 5.")
    assert not is_over(folded, 1_000)
    assert memories.llama_ranks(talk, "Where is the violin?")[0] == 61


def test_each_talk_is_in_one_of_two_halves() -> None:
    talks = [talk_of([user("a")], id=f"t{at}") for at in range(40)]

    even, odd = (half_of(talks, half) for half in ("even", "odd"))

    assert {talk.id for talk in even} | {talk.id for talk in odd} == {talk.id for talk in talks}
    assert len(even) + len(odd) == len(talks) == len(half_of(talks, None))
    assert even
    assert odd


def test_values_of_the_next_call_that_were_said_are_looked_for() -> None:
    talk = talk_of(
        [*chatter(30), user("Find P-9044."), asks("c1", id="P-9044", note="new")], id="t"
    )

    table = next(next_calls.measure([talk], [EVERYTHING, NOTHING], 1))

    assert row(table, EVERYTHING)["kept 25%"] == 1.0
    assert row(table, NOTHING)["kept 25%"] == 0.0
    assert row(table, NOTHING)["bad 25%"] == 1.0


def test_leaves_of_arguments_are_values_of_three_characters_or_more() -> None:
    assert call_values(asks("c1", a="P-1", b="x", c="2026-03-01")) == ["P-1", "2026-03-01"]


def test_a_literal_counts_that_was_said_before_a_compaction_and_used_after() -> None:
    said = [user("Order Z-100 and Z-200."), assistant("Yes."), user("Summary: Z-100."), *chatter(1)]
    uses = (Use(literal="Z-100", used_at=5), Use(literal="Z-200", used_at=5))
    made = (OwnCompaction(at=2, before_tokens=None),)
    talk = talk_of([*said, asks("c1", a="Z-100", b="Z-200")], id="t", uses=uses, compactions=made)

    table = next(literals.measure([talk], [EVERYTHING], 1))

    assert row(table, literals.PROGRAM)["kept"] == 0.5
    assert row(table, EVERYTHING)["kept"] == 1.0


def test_a_context_that_only_grows_never_breaks() -> None:
    talks = [talk_of(chatter(120), id="t", file="f")]
    last = next(method for method in plain_methods() if method.name == "last N messages")

    table = next(caching.measure(talks, [last], 1))

    halved, sliding = row(table, caching.HALVED), row(table, last)
    assert halved["breaks"] == pytest.approx(6, abs=1)
    assert (sliding["breaks"] or 0) > 50
    assert (halved["cost k"] or 0) < (sliding["cost k"] or 0)


def test_our_presets_are_measured_default_first() -> None:
    assert own_methods()[0].name == "default"


def test_what_a_sentence_must_leave_stands_in_it_and_an_update_names_no_stale_rule() -> None:
    sentences = json.loads(instructions.SENTENCES.read_text(encoding="utf-8"))

    for made in sentences["said"]:
        assert Said([user(made["says"])]).has(made["core"]), made
    for made in sentences["updates"]:
        first, then = Said([user(made["first"])]), Said([user(made["then"])])
        assert first.has(made["stale"]), made
        assert then.has(made["new"]), made
        assert not then.has(made["stale"]), made
        assert not first.has(made["new"]), made


def test_what_is_said_in_passing_says_no_rule_again_and_names_what_replaces_it() -> None:
    sentences = json.loads(instructions.SENTENCES.read_text(encoding="utf-8"))

    for made in (*sentences["changes"], *sentences["mentions"]):
        assert Said([user(made["rule"])]).has(instructions.core(made)), made
        assert not Said([user(made["later"])]).has(instructions.core(made)), made
        assert Said([user(made["later"])]).has(made.get("new", "")), made
        assert not ("new" in made and Said([user(made["rule"])]).has(made["new"])), made


def test_a_rule_is_replaced_where_it_is_gone_and_the_new_one_is_there() -> None:
    change = {"rule": "Only take trains.", "later": "Take the bus instead.", "new": "the bus"}
    revoked = {"rule": "Only take trains.", "later": "Trains are not needed any more."}

    def replaced(made: dict[str, str], *texts: str) -> bool:
        return instructions.is_replaced(made, Said(map(user, texts)))

    assert replaced(change, "Take the bus instead.")
    assert not replaced(change, "Only take trains.", "Take the bus instead.")
    assert not replaced(change, "Hello.")
    assert replaced(revoked, "Hello.")
    assert not replaced(revoked, "Only take trains.")


def test_in_passing_one_that_keeps_all_replaces_nothing_and_loses_nothing() -> None:
    talks = [talk_of(chatter(12), id="en"), talk_of(chatter(12), id="empty")]
    forgetful = Method(name="forgetful", fold=lambda talk, budget: list(talk.messages[-4:]))

    *_, table = instructions.measure(talks, [EVERYTHING, NOTHING, forgetful], 1)

    everything, nothing, last = (row(table, m) for m in (EVERYTHING, NOTHING, forgetful))
    assert (everything["en both"], everything["en held"], everything["en lost"]) == (0, 1, 0)
    assert (nothing["en held"], nothing["en lost"]) == (0, None)
    assert 0 < (last["en both"] or 0) < 1
    assert everything["zh held"] is None


def test_a_file_is_read_with_what_is_known_of_it(tmp_path: Path) -> None:
    known = {"literal_deps": [{"literal": "P-1", "used_at": 1}], "compactions": []}
    asked = [{"question": "?", "answer": None, "evidence_message_indexes": [0]}]
    raw = {"id": "a", "messages": [user("P-1"), assistant("ok")], "meta": known, "qa": asked}
    (tmp_path / "some.jsonl").write_text(f"{json.dumps(raw)}\n\n", encoding="utf-8")

    (talk,) = load_talks([tmp_path])

    assert (talk.id, talk.file) == ("a", "some")
    assert talk.uses == (Use(literal="P-1", used_at=1),)
    assert talk.questions == (Question(question="?", answer="", evidence=(0,)),)


def test_the_demo_has_all_that_the_measures_need() -> None:
    talks: Sequence[Talk] = load_talks([DEMO])

    assert all(talk.questions and talk.uses for talk in talks)
    assert {talk.has_chinese for talk in talks} == {True, False}
    for talk in talks:
        for question in talk.questions:
            said = Said(talk.messages[at] for at in question.evidence)
            assert (said.share_of_words(question.answer) or 0) > 0.5, question
