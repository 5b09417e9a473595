"""Compactions that providers make themselves: shown as such, sent back as they came."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from ctxcore import ContextEngine, open_store
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import lint
from ctxcore.messages.openai import parse_message, to_full, to_openai
from ctxcore.messages.shapes.reading import codec_of, read_list
from ctxcore.messages.shapes.values import Sent, SentGroup, Shape
from ctxcore.messages.values import JsonObject, Message, Opaque, Text, text_message
from ctxcore.tokens.count import count_message, counter_for
from tests.shapes import MARK, Written, handed_back

SUMMARY = "The gate code is 4711.\nThe door is vermilion."
BLOCK: JsonObject = {"type": "compaction", "content": SUMMARY}
TALK: Written = [
    {"role": "user", "content": "go on"},
    {"role": "assistant", "content": [BLOCK, {"type": "text", "text": "So the gate."}]},
    {"role": "user", "content": "and the door?"},
]
SHOWN = f"[compaction]\n{SUMMARY}"


def compacted() -> Message:
    return read_list(TALK).messages[1]


def test_a_compaction_is_shown_as_one_and_not_as_the_assistants_words() -> None:
    assert compacted().text == f"{SHOWN}\nSo the gate."


@pytest.mark.parametrize("content", [None, "", " "])
def test_a_compaction_without_a_summary_is_its_kind(content: str | None) -> None:
    block: JsonObject = {**BLOCK, "content": content}
    talk: Written = [TALK[0], {"role": "assistant", "content": [block]}, TALK[2]]

    assert read_list(talk).messages[1].text == "[compaction]"
    assert [id(one) for one in handed_back(read_list(talk))] == [id(one) for one in talk]


def test_the_callers_own_objects_come_back() -> None:
    context = fit(TALK, max_tokens=10_000)

    assert [id(one) for one in context.in_shape()] == [id(one) for one in TALK]
    assert lint(TALK, provider="anthropic") == []


def test_a_message_whose_words_change_keeps_the_block() -> None:
    passed = read_list(TALK)
    changed = Message(role="assistant", content=(compacted().content[0], Text(text="So.")))
    sent = [
        Sent(message=changed if at == 1 else message, source=at, is_untouched=at != 1)
        for at, message in enumerate(passed.messages)
    ]
    groups = [SentGroup(message=one.message, sent=(one,)) for one in sent]

    back: Any = codec_of("anthropic").back(groups, passed)

    assert back[1]["content"][0] is BLOCK
    assert back[1]["content"][1]["text"] == "So."


def test_a_cache_mark_makes_no_other_message() -> None:
    marked: Written = [TALK[0], {"role": "assistant", "content": [{**BLOCK, **MARK}]}, TALK[2]]
    plain: Written = [TALK[0], {"role": "assistant", "content": [BLOCK]}, TALK[2]]

    assert read_list(marked).messages == read_list(plain).messages
    assert fit(marked, max_tokens=10_000).in_shape()[1] is marked[1]


def test_a_stored_message_keeps_the_block() -> None:
    stored: Any = to_full(compacted())

    assert stored["content"][0] == BLOCK
    assert parse_message(stored) == compacted()


def test_others_are_sent_the_summary_as_text() -> None:
    chat: Any = to_openai(compacted())
    assert [part["text"] for part in chat["content"]] == [SHOWN, "So the gate."]
    assert SHOWN in _written("gemini")
    assert SHOWN in _written("responses")


def _written(shape: Shape) -> list[str]:
    message = compacted()
    sent = Sent(message=message, source=None, is_untouched=False)
    [written] = codec_of(shape).back([SentGroup(message=message, sent=(sent,))], None)
    parts: Any = written.get("parts") or written.get("content")
    return [part["text"] for part in parts]


def test_a_summary_counts_by_its_words() -> None:
    counter = counter_for("gpt-4o")
    said = text_message("assistant", SUMMARY)

    assert count_message(Message(role="assistant", content=(_block(),)), counter) == (
        count_message(said, counter)
    )


def test_an_encrypted_compaction_has_no_summary() -> None:
    item: JsonObject = {"type": "compaction", "id": "cmp", "encrypted_content": "xyz"}

    [message] = read_list([item, {"role": "user", "content": "hi"}]).messages[:1]

    assert message.text == "[compaction]"


def test_a_stored_session_shows_finds_and_exports_it() -> None:
    with closing(open_store("sqlite://")) as store:
        engine = ContextEngine(store)
        session = engine.create_session()
        engine.append(session.id, TALK)

        shown = engine.store.messages(session.id)[1].message.text
        found = engine.recall(session.id, "gate code")
        exported = engine.export(session.id)

    assert shown.startswith(SHOWN)
    assert [hit.seq for hit in found] == [2]
    assert '"type":"compaction"' in exported.replace(" ", "")


def _block() -> Opaque:
    part = compacted().content[0]
    assert isinstance(part, Opaque)
    return part
