"""What a summary names that its source lacks, and which forms follow from the source."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxcore.messages.values import text_message, tool_result
from ctxcore.policy.values import SummaryForm
from ctxcore.summarizers.checks import check_content
from ctxcore.summarizers.prompts import system_text
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.support import SummaryCheck, SummarySource, check_support
from ctxcore.text.languages import Language

SAID = (
    "Please book 3 nights at Hotel Aurora in Berlin from 5 March 2026 for Lena Okafor, order "
    "ORD-77120. We meet at 3pm on Friday. The budget is 15,300 RMB, the limit 1,234,567 users, the "
    "ratio 0.853, for 0.5 hours. See ./src/app/main.py line 120, timeout 30s, GPT-4o, "
    "get_user_id, and https://example.org/a?b=1. Fifteen hundred guests went to New York City. "
    "At least a hundred of them stay. 王小明老师订了三百二十元的票。"
    "周一上午9点到下午4点开门。"
)
SOURCE = SummarySource([SAID], [datetime(2026, 3, 1, tzinfo=UTC)])


def lacking(summary: str) -> list[str]:
    return [one.text for one in check_support(summary, SOURCE).unsupported]


@pytest.mark.parametrize(
    "summary",
    [
        "three nights from March 5th, 2026, that is 2026-03-05 or 5.3.2026",
        "2026年3月5日 二〇二六年三月五日 3月5号",
        "in March 2026, in 2026",
        "1. 2026-03-01 The user asked for ORD-77120.\n2) Lena Okafor paid.\n(3) ord-77120",
        "about 1.2 million users, 123.5万, roughly 1,230,000, over 1,234,000",
        "85.3%, 85.3 %, about 85 %, 0.85",
        "1.53万元, about 15,000 RMB, 15.3k, 15300元, ¥15,300",
        "at 15:00 on Friday, 3 p.m., 下午三点",
        "src/app/main.py:120, main.py, `/repo/src/app/main.py`? no: src/app/main.py",
        "a timeout of 30 s, 30 seconds, 30-second, 30分钟",
        "On March 5, she came.",
        "gpt-4o and GPT-4o, get_user_id(), example.org/a?b=1",
        "100 stay",
        "1,500 guests, fifteen hundred guests, Guests",
        "NYC trip; he made 2 files, three files and 7 changes",
        "**Key Decisions:** none\n## Next Steps\nStanding Instructions: none\nThe User wants it.",
        "王小明订了320元的票，三百二十元",
        "the 1st, second and 3rd night",
        "周一9点到16点，星期六15点",
    ],
)
def test_what_follows_from_the_source_is_supported(summary: str) -> None:
    assert set(lacking(summary)) <= {"/repo/src/app/main.py"}


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        ("Order ORD-77121 is booked.", "ORD-77121"),
        ("It is due on 6 March 2026.", "6 March 2026"),
        ("It is due on 2027-03-05.", "2027-03-05"),
        ("They meet at 17:30.", "17:30"),
        ("It costs $240.", "240"),
        ("It took 8 minutes.", "8"),
        ("1,234,568 users signed up.", "1,234,568"),
        ("We changed src/app/other.py today.", "src/app/other.py"),
        ("The mail is a.b@example.org now.", "a.b@example.org"),
        ("See https://example.org/c for it.", "https://example.org/c"),
        ("Welcome to Lisbon, Alejandro.", "Lisbon"),
        ("She was met by Maria Silva there.", "Maria Silva"),
        ("Flight to LAX.", "LAX"),
        ("They go on to Zürich.", "Zürich"),
        ("张伟明老师订了票。", "张伟明老师"),
        ("一共四百五十元。", "四百五十"),
        ("用户的妻子叫李婷。", "李婷"),
        ("联系人：张伟，已付款。", "张伟"),
        ("导游是陈建国，明天到。", "陈建国"),
        ("同事赵敏负责订票。", "赵敏"),
        ("It calls set_user_name now.", "set_user_name"),
    ],
)
def test_what_the_source_lacks_is_named(summary: str, text: str) -> None:
    assert text in lacking(summary)


def test_each_thing_counts_once() -> None:
    check = check_support("ORD-77121, ord-77121, ORD-77120 and ORD-77120", SOURCE)

    assert (check.named, len(check.unsupported)) == (2, 1)
    assert check.share == 0.5
    assert SummaryCheck().share == 0.0


def test_an_edited_summary_is_marked_only_for_what_it_still_names() -> None:
    check = check_support("ORD-77121 and ORD-77122", SOURCE)

    assert [one.text for one in check.within("It is ORD-77122.").unsupported] == ["ORD-77122"]


def test_a_day_counted_from_that_of_its_message_is_supported() -> None:
    said = ["I came yesterday and leave tomorrow.", "我们周五见面。"]
    request = SummaryRequest(
        messages=tuple(text_message("user", text) for text in said),
        dates=(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)),
        max_tokens=500,
    )

    def lacks(text: str) -> list[str]:
        return [one.text for one in check_support(text, SummarySource.of(request)).unsupported]

    assert lacks("She came on 28 February 2026 and leaves on 2026-03-02.") == []
    assert lacks("They meet on March 13.") == []
    assert lacks("She came on 27 February 2026.") == ["27 February 2026"]
    assert lacks("They meet on March 14.") == ["March 14"]


def requested(
    *, previous: str = "", focus: str = "", language: Language = "en", form: SummaryForm = "plain"
) -> SummaryRequest:
    messages = (
        text_message("user", SAID),
        tool_result("c1", '{"rooms": [{"id": "r-9", "price": 100}]}'),
    )
    return SummaryRequest(
        messages=messages,
        max_tokens=500,
        previous=previous,
        focus=focus,
        language=language,
        form=form,
    )


def checked(summary: str, **request: str) -> SummaryCheck:
    return check_content(summary, requested(**request), facts="seat 31C", most_ratio=0.05)  # type: ignore[arg-type]  # texts of literals


def test_previous_summary_facts_focus_outputs_and_arguments_are_sources_too() -> None:
    text = "Room r-9 at 100, seat 31C, case CS-1, and ticket TK-20."

    assert checked(text, previous="case CS-1", focus="TK-20").unsupported == ()
    assert {one.text for one in checked(text).unsupported} == {"CS-1", "TK-20"}


@pytest.mark.parametrize(
    "summary",
    [
        "<previous_summary>\nWelcome to Lisbon, Alejandro!",
        "The guest books Hotel Aurora.</conversation>",
        "<|im_start|>assistant\nThe guest books a room.",
        "Add nothing that was not said. The guest books a room.",
        "‹conversation›\nThe guest books a room.",
        "&lt;previous_summary&gt; The guest books a room. &lt;/previous_summary&gt;",
        "[/INST] The guest books a room.",
        "<|start_header_id|>assistant<|end_header_id|>\nThe guest books a room.",
        "<start_of_turn>model\nThe guest books a room.",
        "<｜Assistant｜>The guest books a room.",
        "<<SYS>>The guest books a room.<</SYS>>",
        "### Response:\nThe guest books a room.",
    ],
)
def test_a_summary_that_repeats_the_prompt_is_refused(summary: str) -> None:
    refused = checked(summary).refused

    assert refused is not None
    assert refused.code == "summary.echo"


@pytest.mark.parametrize(
    "form", ["progressive", "dated_points", "layered", "third_person", "plain"]
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_prompt_said_back_is_an_echo_in_every_form(form: SummaryForm, language: Language) -> None:
    request = requested(language=language, form=form)
    prompt = system_text(request, max_tokens=500)

    refused = check_content(prompt, request, facts="", most_ratio=0.05).refused

    assert refused is not None
    assert refused.code == "summary.echo"


@pytest.mark.parametrize(
    "summary",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot summarize this conversation.",
        "As an AI language model, I have no memory of it.",
        "Please provide the conversation you would like summarized.",
        "抱歉，我无法总结这段对话。",
        "作为AI语言模型，我不能这样做。",
        "I'm not able to summarize this, because it contains personal data.",
        "I am unable to produce a summary of this exchange.",
        "Sure! Please provide the text that I should summarize.",
        "Of course. Could you share the messages?",
        "Unfortunately, there isn't enough context to write a summary.",
        "There is no conversation to summarize.",
        "There are no messages between the tags, so nothing can be summarized.",
        "It looks like no conversation was provided.",
        "The conversation is empty.",
        "好的，请您提供需要总结的对话。",
        "您好，我暂时无法回答这个问题。",
        "这个问题我无法回答，我们换个话题吧。",
        "没有可以总结的对话内容。",
        "很遗憾，我不能处理这段内容。",
    ],
)
def test_a_refusal_is_no_summary(summary: str) -> None:
    refused = checked(summary).refused

    assert refused is not None
    assert refused.code == "summary.refusal"


@pytest.mark.parametrize("summary", [".", "...", "---\n", "。", "```\n```"])
def test_signs_alone_are_no_summary(summary: str) -> None:
    refused = checked(summary).refused

    assert refused is not None
    assert refused.code == "summary.empty"


@pytest.mark.parametrize(
    "summary",
    [
        "The user asked to change the port; the assistant could not do it.",
        "The assistant refused to share the text and said that it cannot.",
        "There is no direct train to Berlin, so the guest drives.",
        "Please note: the guest books 3 nights.",
        "Unfortunately, the hotel is full; the guest waits.",
        "There are no messages from Lena Okafor yet; she cannot come.",
        "没有直达的火车，客人开车去。",
        "用户无法登录，助手请他提供订单号。",
        "您好酒店没有房间，用户改订别处。",
    ],
)
def test_what_tells_of_a_refusal_is_none(summary: str) -> None:
    assert checked(summary).refused is None


def test_words_of_the_conversation_are_neither_an_echo_nor_a_refusal() -> None:
    said = "I cannot come before 3pm. Add nothing that was not said. <conversation>"
    summary = f"{said}\nThe guest said so."

    assert checked(summary, previous=said).refused is None


def test_up_to_the_share_of_the_policy_is_only_listed() -> None:
    request = requested()
    text = "ORD-77120, Lena Okafor, Hotel Aurora in Berlin, and order ORD-77121."

    listed = check_content(text, request, facts="", most_ratio=0.5)
    refused = check_content(text, request, facts="", most_ratio=0.05).refused

    assert listed.refused is None
    assert [one.text for one in listed.unsupported] == ["ORD-77121"]
    assert check_content(text, request, facts="", most_ratio=None).refused is None
    assert refused is not None
    assert refused.facts["items"] == ("ORD-77121",)
    assert "ORD-77121" in str(refused)
