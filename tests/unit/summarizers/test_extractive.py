"""The offline summarizer on conversations small enough to check by hand."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import (
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    tool_result,
)
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from tests.effort import calls_made, processor_seconds
from tests.histories import assistant, user
from tests.processes import printed_under_hash_seeds
from tests.words import Quarters


def summarize(
    *messages: Message, max_tokens: int = 500, previous: str = "", language: Language = "en"
) -> str:
    request = SummaryRequest(
        messages=messages, previous=previous, max_tokens=max_tokens, language=language
    )
    return ExtractiveSummarizer(Quarters()).summarize(request)


def small_talk(turns: int) -> list[Message]:
    return [
        message
        for turn in range(turns)
        for message in (
            user(f"That sounds good, thank you so much for walking me through part {turn}."),
            assistant("You are welcome! Let me know whether there is anything else to look at."),
        )
    ]


def test_with_room_for_everything_it_quotes_everything_in_order() -> None:
    summary = summarize(user("Book seat 12A. Aisle is fine too."), assistant("Seat 12A is booked."))

    assert summary == "user: Book seat 12A. Aisle is fine too.\n- Seat 12A is booked."


def test_chinese_conversations_name_their_speakers_in_chinese() -> None:
    summary = summarize(
        user("订单号是 A-4711。"),
        assistant("好的，已经查到。"),
        tool_result("c1", "状态：已发货", name="track"),
        language="zh",
    )

    assert summary.splitlines() == [
        "用户：订单号是 A-4711。",
        "- 好的，已经查到。",
        "- 调用 track：状态：已发货",
    ]


def test_what_is_left_out_between_two_sentences_leaves_a_mark() -> None:
    padding = "That is really very nice of you and I do thank you so much for it all."
    message = user(f"The invoice is INV-2291. {padding} Pay it by 14 March to IBAN DE89 3704.")

    assert summarize(message, max_tokens=24) == (
        "user: The invoice is INV-2291. … Pay it by 14 March to IBAN DE89 3704."
    )


def test_facts_win_over_small_talk() -> None:
    talk = small_talk(20)
    talk.insert(14, user("The database host is db-7.internal, port 5433."))

    summary = summarize(*talk, max_tokens=40)

    assert "user: The database host is db-7.internal, port 5433." in summary.splitlines()


@pytest.mark.parametrize(
    "rule",
    [
        "Never push to the release branch without asking.",
        "From now on write all dates as YYYY-MM-DD.",
        "以后都用中文回答，不要用表格。",
    ],
)
@pytest.mark.parametrize("place", [0, 30, 60])
def test_standing_instructions_survive_a_tenth_of_the_tokens(rule: str, place: int) -> None:
    talk = small_talk(30)
    talk.insert(place, user(rule))
    tokens = sum(Quarters().count(message.text) for message in talk)

    assert rule in summarize(*talk, max_tokens=tokens // 10)


def test_a_standing_instruction_is_not_drowned_by_rare_words() -> None:
    rule = "Never restart the primary without asking me."
    dense = [
        assistant(f"Node db-{n} of zone {n * 7} reports lag {n * 13} ms, ticket TRK-{n * 97}.")
        for n in range(60)
    ]

    assert rule in summarize(user(rule), *dense, max_tokens=160)


def test_the_same_thing_said_again_is_quoted_once() -> None:
    said = [user("The deadline for the Lisbon report is Friday noon.") for _ in range(6)]
    said.append(user("Maria reviews the budget appendix."))

    summary = summarize(*said, max_tokens=30)

    assert summary.count("Lisbon") == 1
    assert "Maria reviews the budget appendix." in summary


def test_an_identifier_stated_once_survives_folding_after_folding() -> None:
    summary = summarize(user("My ticket number is ZX-90417, please keep it."), max_tokens=60)

    for at in range(12):
        talk = [user(f"Thanks, step {at} looks fine to me now."), *small_talk(9)]
        summary = summarize(*talk, previous=summary, max_tokens=60)

    assert "ZX-90417" in summary
    assert Quarters().count(summary) <= 60


def test_a_summary_of_a_summary_is_not_nested() -> None:
    first = summarize(user("The key is K-1."), tool_result("c1", "K-1 ok", name="check"))

    second = summarize(user("The door is D-2."), previous=first)

    assert second == f"{first}\n\nuser: The door is D-2."


def test_a_summary_written_as_prose_is_carried_on_without_a_speaker() -> None:
    summary = summarize(user("And two towels."), previous="The guest booked room 12.")

    assert summary == "The guest booked room 12.\nuser: And two towels."


def test_long_tool_outputs_do_not_drown_the_talk() -> None:
    log = "\n".join(f"2024-05-01 12:00:{n:02} GET /api/v1/items/{n} 200" for n in range(60))
    talk = [user(f"Requirement {n}: exporter {n} shall write CSV number {n}.") for n in range(20)]
    outputs = [tool_result(f"c{n}", f"{log}\nrun {n} done", name="serve") for n in range(20)]

    summary = summarize(*outputs, *talk, max_tokens=200)

    said = sum(len(line) for line in summary.splitlines() if line.startswith("user: "))
    assert 0.2 * len(summary) <= said < len(summary)


def test_what_was_taken_back_is_not_quoted_again() -> None:
    said = user("The office is in Turku. Never use tables. Invoices go to Lena Okafor.")
    request = SummaryRequest(
        messages=(said,),
        previous="user: Never use tables.",
        max_tokens=500,
        outdated=("Never use tables.",),
    )

    summary = ExtractiveSummarizer(Quarters()).summarize(request)

    assert summary == "user: The office is in Turku. … Invoices go to Lena Okafor."


def test_a_tool_output_is_quoted_by_its_telling_lines() -> None:
    log = [f"collecting module number {word}" for word in ("one", "two", "three", "four", "five")]
    output = "\n".join([*log, "ERROR src/pay.py:88 KeyError: 'iban'", "1 failed, 41 passed"])
    call = Message(role="assistant", calls=(ToolCall(id="c1", name="pytest", arguments="{}"),))

    summary = summarize(call, tool_result("c1", output))

    assert summary.startswith("- ran pytest: ")
    assert "ERROR src/pay.py:88 KeyError: 'iban'; 1 failed, 41 passed" in summary


def test_a_json_output_is_quoted_by_its_plain_values() -> None:
    output = '{"order": {"id": "A-17", "status": "delayed"}, "trace": [1, 2, 3]}' + " " * 200

    assert "id: A-17, status: delayed" in summarize(tool_result("c1", output, name="get_order"))


def test_a_tool_call_is_quoted_by_its_short_arguments() -> None:
    call = ToolCall(
        id="c1", name="edit", arguments='{"path": "src/a.py", "text": "' + "x" * 99 + '"}'
    )

    assert summarize(Message(role="assistant", calls=(call,))) == "- ran edit (path=src/a.py)"


def test_thinking_is_not_quoted_and_media_stand_as_their_labels() -> None:
    picture = Media(kind="image", raw="{}", width=640, height=480)
    message = Message(
        role="user", content=(Reasoning(text="secret plan"), Text(text="See this."), picture)
    )

    assert summarize(message) == "user: See this. [image 640×480]"


def test_where_not_one_sentence_fits_the_beginning_of_the_best_is_kept() -> None:
    sentence = "The warehouse in Rotterdam holds four hundred crates of spare turbine parts."

    summary = summarize(user(sentence), max_tokens=8)

    assert summary == "user: The warehouse in Rotterdam"


@pytest.mark.parametrize("messages", [(), (user(""),), (user(" \n "),)])
def test_nothing_said_gives_nothing(messages: tuple[Message, ...]) -> None:
    assert summarize(*messages) == ""


def test_every_process_writes_the_same_bytes() -> None:
    code = (
        "from tests.unit.summarizers.test_extractive import small_talk, summarize, user;"
        "print(summarize(*small_talk(9), user('Port 81 and host h-2.'), max_tokens=60))"
    )
    assert len(printed_under_hash_seeds(code)) == 1


def deliveries(number: int) -> list[Message]:
    return [user(f"Crate {n} of customer {n % 97} goes to dock {n % 13}.") for n in range(number)]


def retell(talk: list[Message]) -> str:
    return summarize(*talk, max_tokens=4_000)


def test_four_times_the_messages_take_four_times_the_calls() -> None:
    _, few, many = (  # the first one also loads what is needed
        calls_made(retell, deliveries(number)) for number in (100, 1_000, 4_000)
    )

    assert many < 4.5 * few


@pytest.mark.measures
def test_four_times_the_messages_take_about_four_times_the_processor() -> None:
    # Both are above what the caches of counts hold.
    few, many = (processor_seconds(retell, deliveries(number)) for number in (20_000, 80_000))

    assert many < 8 * few


def test_each_quote_tells_which_messages_it_is_from() -> None:
    request = SummaryRequest(
        messages=(user(""), user("The door is D-2."), user("The key is K-9.")),
        previous="user: My name is Ada.",
        max_tokens=24,
    )

    quoted = ExtractiveSummarizer(Quarters()).quote(request)

    assert quoted.text == ExtractiveSummarizer(Quarters()).summarize(request)
    assert [(quoted.text[start:end], places) for start, end, places in quoted.places] == [
        ("My name is Ada.", ()),
        ("The door is D-2.", (1,)),
        ("The key is K-9.", (2,)),
    ]
