"""The readers: scripted demo models that answer from what a call sends, and from nothing else."""

from __future__ import annotations

import pytest

from ctxcore.assembly.texts import RECALLED_TAG, SUMMARY_TAG
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import ModelCatalog
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.reader import Prepared, answer_from, register_readers
from ctxcore.messages.values import Message, text_message
from ctxcore.store.sql import open_store
from ctxcore.tokens.catalog import READER_WINDOWS

TALK = (
    text_message("user", "The harbour office opens at 07:30. The ferry to Orust takes bicycles."),
    text_message("assistant", "Noted. How many of you are there?"),
    text_message("user", "We are five people and a dog."),
)
PREPARED = Prepared(asks=("harbour office",), needs=("07:30",), says="At half past seven.")


def asked(question: str, talk: tuple[Message, ...] = TALK, *prepared: Prepared) -> str:
    return answer_from([*talk, text_message("user", question)], prepared)


def test_what_the_context_says_is_quoted_with_its_source() -> None:
    answer = asked("When does the harbour office open?")

    assert "> The harbour office opens at 07:30." in answer
    assert "your message" in answer


def test_what_was_left_out_is_not_known() -> None:
    assert "07:30" not in asked("When does the harbour office open?", TALK[1:])
    assert "I do not find that" in asked("When does the harbour office open?", TALK[1:])


@pytest.mark.parametrize(
    ("tag", "source"), [(SUMMARY_TAG, "summary"), (RECALLED_TAG, "messages recalled")]
)
def test_what_stands_in_a_text_of_the_context_is_known_from_there(tag: str, source: str) -> None:
    text = f"<{tag}>\nThe harbour office opens at 07:30.\n</{tag}>"
    answer = asked("When does the harbour office open?", (text_message("user", text),))

    assert "07:30" in answer
    assert source in answer


def test_a_recalled_text_beside_the_question_is_no_part_of_it() -> None:
    recalled = f"<{RECALLED_TAG}>\nThe harbour office opens at 07:30.\n</{RECALLED_TAG}>\n"
    answer = answer_from([text_message("user", f"{recalled}When does the harbour office open?")])

    assert "07:30" in answer


def test_a_prepared_answer_needs_what_it_rests_on() -> None:
    assert "half past seven" in asked("When does the harbour office open?", TALK, PREPARED)
    assert "half past seven" not in asked("When does the harbour office open?", TALK[1:], PREPARED)


def test_a_question_of_a_person_is_answered_by_what_followed() -> None:
    talk = (
        text_message("user", "What does the quay ticket cost?"),
        text_message("assistant", "It is 48 crowns."),
    )

    assert "48 crowns" in asked("What does the quay ticket cost again?", talk)


def test_it_answers_in_the_language_of_the_question() -> None:
    talk = (text_message("user", "酒店必须有电梯。"),)

    assert "来自您的消息" in asked("酒店必须有什么？", talk)
    assert "没有找到" in asked("航班几点起飞？", talk)


def test_a_statement_is_noted() -> None:
    assert "Noted" in asked("The dog stays at home.")


@pytest.mark.parametrize("model", READER_WINDOWS)
def test_every_reader_answers_a_session_and_counts_as_it_is_counted(model: str) -> None:
    register_readers()
    store = open_store("sqlite://")
    engine = ContextEngine(store, gateway=LiteLLMGateway(), model=model)
    session = engine.create_session()
    engine.append(session.id, TALK)
    [*engine.chat(session.id, "When does the harbour office open?")]
    (call,) = engine.calls(session.id)

    assert "07:30" in store.messages(session.id)[-1].message.text
    sent = [size for name, size in call.estimate.items() if name not in ("free", "reserve")]
    assert call.input_tokens == sum(sent)
    assert call.cost == 0
    assert ModelCatalog.load(store).info(model).window_tokens == READER_WINDOWS[model]
    store.close()
