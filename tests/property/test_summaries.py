"""What holds for summaries of any messages whatever."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.messages.values import Media, Message, Reasoning, Role, Text, ToolCall
from ctxcore.policy.values import SummaryForm
from ctxcore.summarizers.checks import check_content, cut_at_sentence
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.lines import LEFT_OUT, parse_lines
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, split_sentences

SETTINGS = settings(max_examples=150, deadline=None)


class Bytes:
    """A token for every four bytes begun, and one more a line: counts need not add up."""

    id = "bytes"
    is_exact = False

    def count(self, text: str) -> int:
        return -(-len(text.encode()) // 4) + text.count("\n")


PHRASES = st.sampled_from(
    [
        "Deploy build 4711 to eu-west-1.",
        "Never touch the `main` branch!",
        "ok",
        "以后都用中文回答。",
        "订单号是 A-4711，请尽快处理；谢谢",
        "Error: no such file src/app.py:12",
        "\n",
        " … ",
        "```\ncode = 1\n```",
        '{"id": "x-1", "items": [1, {"a": null}]}',
        "user: ",
        "工具 grep：",
        "x" * 900,
        "天地玄黄宇宙洪荒日月" * 60,
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PHRASES, max_size=6).map(" ".join))
PARTS = st.one_of(
    TEXTS.map(lambda text: Text(text=text)),
    TEXTS.map(lambda text: Reasoning(text=text)),
    st.just(Media(kind="image", raw="{}", width=640, height=480)),
)
ROLES: st.SearchStrategy[Role] = st.sampled_from(
    ["system", "developer", "user", "assistant", "tool"]
)
CALLS = st.builds(
    ToolCall,
    id=st.just("c1"),
    name=st.just("read_file"),
    arguments=st.one_of(st.text(), st.just('{"path": "src/app.py"}'), st.just("[1]")),
)
MESSAGES = st.builds(
    Message,
    role=ROLES,
    content=st.lists(PARTS, max_size=3).map(tuple),
    calls=st.lists(CALLS, max_size=2).map(tuple),
    name=st.none() | st.text(max_size=8),
)
REQUESTS = st.builds(
    SummaryRequest,
    messages=st.lists(MESSAGES, max_size=8).map(tuple),
    previous=TEXTS,
    max_tokens=st.integers(min_value=0, max_value=300),
    language=st.sampled_from(["en", "zh"]),
)
DATES = st.none() | st.datetimes()
SHORT_REQUESTS = st.builds(
    replace,
    REQUESTS,
    form=st.sampled_from(["plain", "dated_points", "third_person"]),
    dates=st.lists(DATES, max_size=8).map(tuple),
    asked_chars=st.none() | st.integers(min_value=0, max_value=400),
    max_chars=st.none() | st.integers(min_value=0, max_value=400),
)
SUMMARIZER = ExtractiveSummarizer(Bytes())


@SETTINGS
@given(REQUESTS)
def test_a_summary_of_anything_stays_within_its_limit_and_repeats(request: SummaryRequest) -> None:
    summary = SUMMARIZER.summarize(request)

    assert Bytes().count(summary) <= request.max_tokens
    assert summary == SUMMARIZER.summarize(request)


@SETTINGS
@given(SHORT_REQUESTS)
def test_no_form_exceeds_its_tokens_or_characters(request: SummaryRequest) -> None:
    summary = SUMMARIZER.summarize(request)

    assert Bytes().count(summary) <= request.max_tokens
    assert request.max_chars is None or len(summary) <= request.max_chars
    assert summary == SUMMARIZER.summarize(request)


@SETTINGS
@given(SHORT_REQUESTS, st.sampled_from(["", "Deploy build 4711", "订单号"]))
def test_a_summary_of_quotes_passes_the_check_of_a_model(
    request: SummaryRequest, focus: str
) -> None:
    request = replace(request, focus=focus)

    summary = SUMMARIZER.summarize(request)

    check = check_content(summary, request, facts="", most_ratio=0.0)

    assert check.unsupported == ()
    assert (check.refused is None) == any(map(str.isalnum, summary))  # signs alone say nothing


@SETTINGS
@given(SHORT_REQUESTS)
def test_points_folded_alone_come_back_unchanged(request: SummaryRequest) -> None:
    once = _refold(SUMMARIZER.summarize(request), request.language, "dated_points")

    assert _refold(once, request.language, "dated_points") == once


@SETTINGS
@given(REQUESTS)
def test_a_summary_folded_alone_comes_back_unchanged(request: SummaryRequest) -> None:
    # The first pass may write labels of the other language anew; from then on nothing moves.
    once = _refold(SUMMARIZER.summarize(request), request.language)

    assert _refold(once, request.language) == once


def _refold(summary: str, language: Language, form: SummaryForm = "plain") -> str:
    return SUMMARIZER.summarize(
        SummaryRequest(
            messages=(), previous=summary, max_tokens=2_000, language=language, form=form
        )
    )


@SETTINGS
@given(TEXTS)
def test_sentences_hold_every_word_in_order(text: str) -> None:
    spans = split_sentences(text)

    assert "".join("".join(s.text for s in spans).split()) == "".join(text.split())
    assert all(0 < len(span.text) <= MAX_SENTENCE_CHARS for span in spans)


@SETTINGS
@given(TEXTS)
def test_whatever_the_summary_so_far_says_can_be_read_back(text: str) -> None:
    for line in parse_lines(text):
        assert any(span != LEFT_OUT for span in line.spans)


@SETTINGS
@given(TEXTS, st.integers(min_value=0, max_value=120))
def test_a_cut_summary_is_a_beginning_that_fits(text: str, max_tokens: int) -> None:
    cut = cut_at_sentence(text, max_tokens, Bytes())

    assert text.startswith(cut)
    assert Bytes().count(cut) <= max_tokens
