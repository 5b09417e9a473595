"""The messages that each sentence of a summary comes from, over generations and in every form."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import CompactionResult, compact
from ctxcore.compaction.lineage import MOST_SEQS, SummarySources, bare, lineage_of, sections_in
from ctxcore.messages.values import JsonObject, text_message

SAID = [
    "The invoice goes to Marta Kowalska in Gdansk.",
    "Fine, but never call her before nine.",
    "We pay by bank transfer, 4,300 euros.",
    "The crates arrive on 12 May at dock 7.",
]


def sources(previous: str = "", *seqs: int) -> SummarySources:
    lineage = ((0, len(previous), tuple((seq, seq) for seq in seqs)),) if previous else ()
    messages = [text_message("user", text) for text in SAID]
    return SummarySources.of(messages, [11, 12, 13, 14], previous=previous, lineage=lineage)


def seqs(sentence: str, known: SummarySources) -> tuple[int, ...]:
    return known.seqs(known.match(sentence))


def test_a_sentence_comes_from_the_messages_with_its_telling_words() -> None:
    known = sources()

    assert seqs("Marta Kowalska in Gdansk gets the invoice.", known) == (11,)
    assert seqs("The crates arrive at dock 7 and 4300 euros are paid by transfer.", known) == (
        13,
        14,
    )
    assert seqs("The choir rehearses every Tuesday evening.", known) == ()


def test_a_sentence_of_the_summary_before_keeps_its_messages() -> None:
    known = sources("The contract was signed in Porto.", 2, 5)

    assert seqs("The contract was signed in Porto.", known) == (2, 5)
    assert seqs("The contract was signed in Porto; crates arrive at dock 7.", known) == (2, 5, 14)


def test_the_messages_of_a_sentence_do_not_grow_with_the_generations() -> None:
    summary, lineage = "", lineage_of("", sources())
    messages = [text_message("user", f"Crate {n} goes to dock {n}.") for n in range(400)]
    for first in range(0, 400, 40):
        known = SummarySources.of(
            messages[first : first + 40],
            range(first + 1, first + 41),
            previous=summary,
            lineage=lineage,
        )
        summary = f"Crates go to docks, the last one to dock {first + 39}, {'I' * (first // 40)}."
        lineage = lineage_of(summary, known)

    ((_, _, runs),) = lineage
    assert sum(last - first + 1 for first, last in runs) <= MOST_SEQS


def test_marks_and_headings_are_no_part_of_a_sentence() -> None:
    summary = (
        "**Decided:**\n- Pay by bank transfer.\nOpen: who unloads at dock 7?\n下一步：打电话。"
    )

    assert list(sections_in(summary)) == [
        ("decided", "Pay by bank transfer."),
        ("open", "who unloads at dock 7?"),
        ("next", "打电话。"),
    ]
    assert bare("3. Rules in force: never call before nine") == "never call before nine"
    found = lineage_of(summary, sources())
    assert [(summary[start:end], runs) for start, end, runs in found[:2]] == [
        ("- Pay by bank transfer.", ((13, 13),)),
        ("Open: who unloads at dock 7?", ((14, 14),)),
    ]


def demo() -> list[JsonObject]:
    path = Path(__file__).parents[3] / "data" / "demo_trip_zh.json"
    found: list[JsonObject] = json.loads(path.read_text(encoding="utf-8"))["messages"]
    return found


def compacted(messages: list[JsonObject], **options: object) -> CompactionResult:
    return compact(messages, max_tokens=4_000, model="gpt-4o", **options)  # type: ignore[arg-type]


def test_each_quote_stands_in_the_messages_that_it_names() -> None:
    messages = demo()
    first = compacted(messages)
    again = compacted([*messages, *messages[1:]], state=first.state, force=True)

    for result, said in ((first, messages), (again, [*messages, *messages[1:]])):
        assert result.lineage
        for sentence in result.lineage:
            assert result.summary[sentence.start :].startswith(sentence.text)
            texts = ["".join(str(said[at]).split()) for at in sentence.messages]
            begun = re.split(r"[\s(（…;]", sentence.text)[0]
            assert any(begun in text for text in texts)


def test_the_state_keeps_the_lineage() -> None:
    state = compacted(demo()).state

    assert state.active is not None
    assert state.active.lineage
    assert CompactionState.from_json(state.to_json()) == state


def test_messages_that_moved_take_their_sentences_with_them() -> None:
    messages = demo()
    first = compacted(messages)
    moved: list[JsonObject] = [{"role": "system", "content": "又一条系统消息。"}, *messages]

    again = compacted(moved, state=first.state)

    assert [[at - 1 for at in one.messages] for one in again.lineage] == [
        [*one.messages] for one in first.lineage
    ]


def test_a_summary_passed_as_a_text_has_no_known_messages() -> None:
    assert compacted(demo()[:4], state="They spoke of a trip.").lineage == ()
