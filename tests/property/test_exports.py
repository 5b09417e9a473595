"""What is exported in a readable form is imported again: roles, texts, calls and results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.exports.registry import EXPORT_FORMS
from ctxcore.exports.values import SessionContent
from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Media, Message, Reasoning, Text, ToolCall, tool_result
from ctxcore.store.values import MessageInfo, SessionInfo

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOSTILE = (
    *("```\nrm -rf\n```", "````", "# Heading", "> quoted", "<!-- text {} -->", "---", "===", ">"),
    *("</details>", "<script>alert(1)</script>", "a\r\nb\rc", "\u2028", "\x00", "\ufeff", "-->"),
    *(
        '<!-- message {"role":"user"} -->',
        "",
        "  two blanks  ",
        "中文：“好”",
        "🙂",
        "\\u003e",
        "\t",
    ),
)
texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.lists(st.sampled_from(HOSTILE), max_size=4).map("\n".join),
)
said = texts.filter(lambda text: text.strip() and "\x00" not in text)
arguments = st.dictionaries(st.sampled_from("ab"), said, min_size=1).map(
    lambda given_: json.dumps(given_, ensure_ascii=False)
)
image = parse_message(
    {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}],
    }
).content


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Turns of a user, with thinking, calls (several at once) and an answer."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 3))):
        media = image if draw(st.booleans()) else ()
        messages.append(Message(role="user", content=(Text(text=draw(said)), *media)))
        calls = tuple(
            ToolCall(id=f"call_{turn}_{nth}", name=f"tool_{nth}", arguments=draw(arguments))
            for nth in range(draw(st.integers(0, 3)))
        )
        thinking = (Reasoning(text=draw(said)),) if draw(st.booleans()) else ()
        if calls:
            messages.append(Message(role="assistant", content=thinking, calls=calls))
            messages += [tool_result(call.id, draw(texts), name=call.name) for call in calls]
        messages.append(Message(role="assistant", content=(Text(text=draw(said)),)))
    return messages


def content_of(messages: Sequence[Message], **session: object) -> SessionContent:
    made: dict[str, object] = {
        **{"id": "s1", "user_id": "local", "title": "A <b> `title` -->", "model": None},
        **{"origin": "chat", "tools": (), "parent_id": None, "parent_seq": None},
        **{"created_at": START, "updated_at": START, "deleted_at": None},
        **{"length": len(messages), "goal_seq": None, "last_user_seq": None, "counter_id": None},
        **{"active_compaction_id": None, "indexed_until": 0},
    }
    infos = [
        MessageInfo(
            seq=seq,
            message=message,
            block=seq,
            function_name="",
            short=None,
            turn_id=None,
            created_at=START + timedelta(seconds=seq),
        )
        for seq, message in enumerate(messages, start=1)
    ]
    return SessionContent(
        session=SessionInfo(**{**made, **session}),  # type: ignore[arg-type]  # typed above
        messages=infos,
        marks=(),
        compactions=(),
        calls=(),
        imported=(),
        settings={},
    )


def written(form: str, messages: Sequence[Message]) -> str:
    [text] = EXPORT_FORMS[form].write([content_of(messages)])
    assert isinstance(text, str)
    return text


def atoms(messages: Sequence[Message], *, thinks: bool) -> list[object]:
    """What is said in order, however it is divided into messages."""
    found: list[object] = []
    for message in messages:
        if message.is_tool_result:
            found.append(("result", message.answers, message.text))
            continue
        for part in message.content:
            match part:
                case Text(text=text):
                    found.append((message.role, text))
                case Reasoning(text=text) if thinks:
                    found.append(("thinking", text))
                case Media(kind=kind):
                    found.append((message.role, kind, json.loads(part.raw)["image_url"]["url"]))
        found += [("call", one.id, one.name, json.loads(one.arguments)) for one in message.calls]
    return found


@given(conversations())
def test_markdown_brings_back_the_same_messages_and_times(messages: list[Message]) -> None:
    text = written("markdown", messages)

    [read] = parse_transcripts(text, name="a.md")

    assert list(read.messages) == messages
    assert read.times == tuple(START + timedelta(seconds=n + 1) for n in range(len(messages)))
    assert (read.format, read.title, read.problems) == ("markdown", "A <b> `title` -->", ())
    [again] = parse_transcripts(text.replace("\n", "\r\n"), name="a.md")
    assert again.messages == read.messages


@pytest.mark.parametrize("form", ["claude-code", "openai", "anthropic", "responses", "gemini"])
@given(messages=conversations())
def test_other_programs_forms_bring_back_what_was_said(form: str, messages: list[Message]) -> None:
    thinks = form == "claude-code"

    [read] = parse_transcripts(written(form, messages), name="a")

    assert atoms(read.messages, thinks=thinks) == atoms(messages, thinks=thinks)
    assert not read.problems
    assert [lint(list(read.messages), provider) for provider in PROVIDERS] == [[]] * len(PROVIDERS)


@given(conversations())
def test_a_page_escapes_all_that_was_said(messages: list[Message]) -> None:
    page = written("html", messages)

    assert "<script" not in page
    assert page.count("<article") == len(messages)
    assert page.count("<details>") == page.count("</details>")


@given(conversations())
def test_a_form_writes_the_same_text_each_time(messages: list[Message]) -> None:
    forms = [name for name, form in EXPORT_FORMS.items() if not form.is_joined]

    assert [written(form, messages) for form in forms] == [
        written(form, messages) for form in forms
    ]
