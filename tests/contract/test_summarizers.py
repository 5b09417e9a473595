"""What every summarizer keeps to, whoever writes its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply, ScriptedRequest
from ctxcore.gateway.summarizing import ModelSummarizer
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer, SummaryRequest
from tests.engines import quiet_litellm


class WordCounter:
    """A token for every four characters begun."""

    id = "quarters"
    is_exact = True

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


class FirstWords:
    """The smallest honest summarizer: the summary so far, then the messages, cut to the limit."""

    name = "first-words"

    def summarize(self, request: SummaryRequest) -> str:
        said = [request.previous, *(message.text for message in request.messages)]
        return "\n".join(text for text in said if text)[: 4 * request.max_tokens].strip()


FACTS = {"A-4711": "Order A-4711 goes to 12 Elm Street.", "Ada": "My name is Ada."}


def told_facts(request: ScriptedRequest) -> ScriptedReply:
    """What a good model would: the facts whose name or number it was shown."""
    said = [said for name, said in FACTS.items() if name in request.last_user_text]
    return ScriptedReply(text=" ".join(said))


SUMMARIZERS: dict[str, Callable[[], Summarizer]] = {
    "extractive": lambda: ExtractiveSummarizer(WordCounter()),
    "first-words": FirstWords,
    "model": lambda: ModelSummarizer(
        LiteLLMGateway(heartbeat_seconds=None), "scripted/contract", counter=WordCounter()
    ),
}

TALK: tuple[Message, ...] = (
    text_message("user", "My order is A-4711, please change the address to 12 Elm Street."),
    text_message("assistant", "The address of order A-4711 is now 12 Elm Street."),
    tool_result("call-1", "status: shipped", name="track_order"),
)


@pytest.fixture(params=sorted(SUMMARIZERS))
def summarizer(request: pytest.FixtureRequest) -> Iterator[Summarizer]:
    quiet_litellm()
    with ScriptedModel("contract", otherwise=told_facts):
        yield SUMMARIZERS[request.param]()


def test_a_summarizer_has_a_name_to_store_its_summaries_under(summarizer: Summarizer) -> None:
    assert summarizer.name


@pytest.mark.parametrize("max_tokens", [1, 5, 20, 500])
def test_a_summary_never_exceeds_its_limit(summarizer: Summarizer, max_tokens: int) -> None:
    summary = summarizer.summarize(SummaryRequest(messages=TALK, max_tokens=max_tokens))

    assert summary
    assert WordCounter().count(summary) <= max_tokens


def test_with_room_for_everything_the_order_number_is_in_the_summary(
    summarizer: Summarizer,
) -> None:
    assert "A-4711" in summarizer.summarize(SummaryRequest(messages=TALK, max_tokens=500))


def test_the_summary_so_far_is_carried_on(summarizer: Summarizer) -> None:
    request = SummaryRequest(messages=TALK, previous="user: My name is Ada.", max_tokens=500)

    assert "My name is Ada." in summarizer.summarize(request)


def test_a_summary_without_new_messages_keeps_the_one_so_far(summarizer: Summarizer) -> None:
    request = SummaryRequest(messages=(), previous="user: My name is Ada.", max_tokens=50)

    assert summarizer.summarize(request) == "user: My name is Ada."


def test_nothing_said_gives_an_empty_summary(summarizer: Summarizer) -> None:
    assert summarizer.summarize(SummaryRequest(messages=(), max_tokens=50)) == ""


def test_the_same_request_gives_the_same_summary(summarizer: Summarizer) -> None:
    request = SummaryRequest(messages=TALK, max_tokens=20)

    assert summarizer.summarize(request) == summarizer.summarize(request)
