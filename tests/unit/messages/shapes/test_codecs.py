"""Each shape by example: what is read, what comes back, and what stays of what was touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import lint
from ctxcore.compaction.compacting import compact
from ctxcore.messages.shapes.reading import codec_of, parse_messages, read_list
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import (
    JsonObject,
    JsonValue,
    Media,
    Message,
    Text,
    ToolCall,
    text_message,
)
from tests.shapes import (
    ANTHROPIC,
    GEMINI,
    LISTS,
    MARK,
    OPENAI,
    PNG,
    RESPONSES,
    Written,
    handed_back,
    inside,
)


def sent(
    passed: PassedMessages, changed: dict[int, Message], *, without: tuple[int, ...] = ()
) -> Written:
    """What was read, written with some messages changed and some left out."""
    groups = [
        SentGroup(message=one.message, sent=(one,))
        for at, message in enumerate(passed.messages)
        if at not in without
        for one in [
            Sent(message=changed.get(at, message), source=at, is_untouched=at not in changed)
        ]
    ]
    return codec_of(passed.shape).back(groups, passed)


def output_at(passed: PassedMessages) -> int:
    """The place of the first tool output."""
    return next(at for at, message in enumerate(passed.messages) if message.is_tool_result)


def shortened(passed: PassedMessages, at: int) -> Message:
    """Message `at` with words that are shorter."""
    return replace(passed.messages[at], content=(Text(text="short"),))


@pytest.mark.parametrize("shape", LISTS)
def test_a_list_comes_back_as_its_own_objects(shape: Shape) -> None:
    back = handed_back(read_list(LISTS[shape]))

    assert [id(one) for one in back] == [id(one) for one in LISTS[shape]]


@pytest.mark.parametrize("shape", LISTS)
def test_a_context_of_all_of_it_is_the_list(shape: Shape) -> None:
    context = fit(LISTS[shape], max_tokens=100_000)

    assert context.shape == shape
    assert [id(one) for one in context.in_shape()] == [id(one) for one in LISTS[shape]]


@pytest.mark.parametrize("shape", LISTS)
def test_a_shortened_output_changes_in_a_copy_and_all_else_stays(shape: Shape) -> None:
    before = repr(LISTS[shape])
    passed = read_list(LISTS[shape])
    at = output_at(passed)

    back = sent(passed, {at: shortened(passed, at)})

    (place,) = passed.places_of(at)
    assert repr(LISTS[shape]) == before
    assert repr(back).count("long") == 0
    assert [one is own for one, own in zip(back, LISTS[shape], strict=True)] == [
        other != place for other in range(len(back))
    ]


def test_of_an_anthropic_message_only_the_block_that_changed_is_another() -> None:
    passed = read_list(ANTHROPIC)

    back = sent(passed, {2: shortened(passed, 2)})

    first, second, words = inside(back[2])
    assert first == {"type": "tool_result", "tool_use_id": "a", "content": "short", **MARK}
    assert second is inside(ANTHROPIC[2])[1]
    assert words is inside(ANTHROPIC[2])[2]


def test_of_a_gemini_content_only_the_response_that_changed_is_another() -> None:
    passed = read_list(GEMINI)

    back = sent(passed, {2: shortened(passed, 2)})

    first, second, third = inside(back[2])
    assert first == {"functionResponse": {"name": "see", "response": {"result": "short"}}}
    assert second is inside(GEMINI[2])[1]
    assert third is inside(GEMINI[2])[2]
    assert back[2]["role"] == "function"


def test_openais_marks_stay_on_a_shortened_output() -> None:
    passed = read_list(OPENAI)

    back = sent(passed, {3: shortened(passed, 3)})

    assert back[3] == {
        "role": "tool",
        "tool_call_id": "a",
        "content": [{"type": "text", "text": "short", **MARK}],
    }


def test_words_that_were_cut_keep_thinking_and_calls_of_their_message() -> None:
    passed = read_list(ANTHROPIC)

    back = sent(passed, {1: replace(passed.messages[1], content=(Text(text="I …"),))})

    blocks = inside(back[1])
    own = inside(ANTHROPIC[1])
    assert [block["type"] for block in blocks] == [block["type"] for block in own]
    assert blocks[2] == {"type": "text", "text": "I …"}
    assert [id(blocks[at]) for at in (0, 1, 3, 4)] == [id(own[at]) for at in (0, 1, 3, 4)]


def signed(text: str) -> JsonObject:
    """Thinking as Claude signs it."""
    return {"type": "thinking", "thinking": text, "signature": f"of {text}"}


INTERLEAVED: Written = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": [
            signed("one"),
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            signed("two"),
            {"type": "text", "text": "\n\n"},
            {"type": "text", "text": "so", **MARK},
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            signed("three"),
            {"type": "tool_use", "id": "b", "name": "f", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in "ab"],
    },
]


def test_thinking_stays_between_the_blocks_where_it_was_signed() -> None:
    own = inside(INTERLEAVED[1])

    sent_ = inside(fit(INTERLEAVED, max_tokens=1_000).in_shape()[1])

    assert [id(block) for block in sent_] == [id(own[at]) for at in (0, 1, 2, 3, 5, 6, 7, 8)]


def test_words_that_changed_stand_where_the_first_of_them_stood() -> None:
    passed = read_list(INTERLEAVED)
    calls = (passed.messages[1].calls[0], replace(passed.messages[1].calls[1], id="c"))
    own = inside(INTERLEAVED[1])

    back = inside(sent(passed, {1: replace(shortened(passed, 1), calls=calls)})[1])

    assert [id(back[at]) for at in (0, 2, 3, 4)] == [id(own[at]) for at in (0, 3, 6, 7)]
    assert back[1] == {"type": "text", "text": "short", **MARK}
    assert back[5] == {**own[8], "id": "c"}


def test_words_that_were_cut_keep_reasoning_and_calls_of_their_items() -> None:
    passed = read_list(RESPONSES)

    back = sent(passed, {2: replace(passed.messages[2], content=(Text(text="I …"),))})

    assert back[2] is RESPONSES[2]
    assert back[3] == {**RESPONSES[3], "content": [{"type": "output_text", "text": "I …"}]}
    assert [id(one) for one in back[4:]] == [id(one) for one in RESPONSES[4:]]


@pytest.mark.parametrize("shape", LISTS)
def test_a_call_under_another_id_is_a_copy_with_its_own_arguments(shape: Shape) -> None:
    passed = read_list(LISTS[shape])
    at = next(at for at, message in enumerate(passed.messages) if message.calls)
    calls = passed.messages[at].calls
    renamed = (*calls[:-1], replace(calls[-1], id="other"))

    back = sent(passed, {at: replace(passed.messages[at], calls=renamed)})

    again = [call for message in parse_messages(back) for call in message.calls]
    assert again[: len(calls)] == list(renamed)
    assert sum(one is not own for one, own in zip(back, LISTS[shape], strict=True)) == 1


def test_what_anthropic_says_becomes_messages_results_first() -> None:
    messages = parse_messages(ANTHROPIC)

    assert [message.role for message in messages] == [
        *("user", "assistant", "tool", "tool", "user", "assistant", "user")
    ]
    assert messages[1].reasoning == "hm\n"
    assert messages[1].calls[0] == ToolCall(
        id="a", name="see", arguments='{"q": [1, 2.5], "z": "ä"}'
    )
    assert (messages[3].answers, messages[3].extra) == ("b", '{"is_error":true}')
    assert messages[3].text == "broken\n[image 1×1]"
    assert messages[5].text == "[server_tool_use]\n[web_search_tool_result]\nfound"


def test_the_items_of_one_answer_are_one_message() -> None:
    passed = read_list(RESPONSES)

    assert [message.role for message in passed.messages] == [
        *("developer", "user", "assistant", "tool", "tool", "tool", "assistant", "user")
    ]
    assert passed.places_of(2) == (2, 3, 4, 5, 6)
    assert [call.name for call in passed.messages[2].calls] == ["see", "run", "computer"]
    assert passed.messages[2].calls[1].arguments == '{"input":"ls -l"}'
    assert isinstance(passed.messages[5].content[0], Media)
    assert passed.messages[6].text == "[web_search_call]\nI cannot"


def test_answers_without_calls_stay_apart() -> None:
    items: Written = [
        {"role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
    ]

    assert read_list(items).places == ((0,), (1,), (2, 3))


def test_a_compaction_of_the_providers_own_is_never_folded() -> None:
    item = {"type": "compaction", "id": "cmp", "encrypted_content": "xyz"}
    talk = [
        {"role": r, "content": f"{n} {'word ' * 60}"}
        for n in range(9)
        for r in ("user", "assistant")
    ]

    context = fit([item, *talk], max_tokens=600)

    assert context.in_shape()[0] is item


def test_a_compaction_of_the_providers_own_keeps_its_place() -> None:
    items: Written = [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "compaction", "id": "cmp", "encrypted_content": "xyz"},
        {"role": "user", "content": "and then?"},
    ]

    sent_ = fit(items, max_tokens=1_000).in_shape()

    assert [id(one) for one in (*sent_[:3], *sent_[4:])] == [id(one) for one in items]
    assert sent_[3]["type"] == "function_call_output"


def test_what_a_model_said_aloud_is_handed_back_by_its_id() -> None:
    spoken: JsonObject = {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
    hi, then = ({"role": "user", "content": words} for words in ("hi", "and?"))

    context = fit([hi, spoken, then], max_tokens=1_000)

    assert context.repairs == ()
    assert context.in_shape()[1] is spoken
    assert context.messages[1] == spoken


def test_thinking_alone_is_not_said_to_be_empty_where_a_shape_takes_it() -> None:
    alone: Written = [
        {"role": "assistant", "content": "", "reasoning_content": "hm"},
        {"role": "model", "parts": [{"text": "", "thoughtSignature": "s"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}]},
    ]

    for thought in alone:
        hi: JsonObject = (
            {"role": "user", "parts": [{"text": "hi"}]}
            if "parts" in thought
            else {"role": "user", "content": "hi"}
        )
        context = fit([hi, thought, hi], max_tokens=1_000)
        assert context.in_shape()[1] is thought
        assert lint(context.messages, "anthropic") == []


def test_a_signature_alone_may_be_bytes_as_googles_library_holds_it() -> None:
    hi = {"role": "user", "parts": [{"text": "hi"}]}
    signed = {"role": "model", "parts": [{"text": "", "thought_signature": b"\x01"}]}

    context = fit([hi, signed, hi], max_tokens=1_000)

    assert context.in_shape()[1] is signed


def test_words_in_documents_and_search_results_are_words_of_the_message() -> None:
    words: list[JsonValue] = [{"type": "text", "text": f"clause {n}"} for n in (1, 2)]
    contents: JsonObject = {"type": "content", "content": words}
    held: list[JsonObject] = [
        {"type": "document", "title": "contract", "source": contents},
        {"type": "search_result", "source": "https://x", "title": "law", "content": words},
    ]
    asked: Written = [{"role": "user", "content": [*held, {"type": "text", "text": "so?"}]}]

    context = fit(asked, max_tokens=1_000)

    said = "clause 1\nclause 2"
    assert parse_messages(asked)[0].text == f"{said}\nlaw\nhttps://x\n{said}\nso?"
    assert context.in_shape()[0] is asked[0]


def test_long_search_results_of_a_tool_are_shortened() -> None:
    found: JsonObject = {
        **{"type": "search_result", "source": "https://x", "title": "law"},
        "content": [{"type": "text", "text": "important words " * 600}],
    }
    asked: Written = [
        {"role": "user", "content": "find it"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": [found]}],
        },
    ]

    (result,) = inside(fit(asked, max_tokens=500).in_shape()[2])

    assert "important words" in str(result["content"])


def test_geminis_calls_are_paired_by_id_name_and_order() -> None:
    messages = parse_messages(GEMINI)

    assert [call.id for call in messages[1].calls] == ["call_1_0", "call_1_1", "own"]
    assert [message.answers for message in messages[2:5]] == ["call_1_0", "call_1_1", "own"]
    assert [message.text.strip()[:9] for message in messages[2:5]] == [
        "long long",
        '{"rows":[',
        "ran",
    ]
    assert messages[1].reasoning == "hm"
    assert '"thought_signature":"s"' in str(messages[1].calls[0].extra)


def test_geminis_ids_stay_the_same_while_a_list_grows() -> None:
    more = [*GEMINI, *GEMINI]

    assert parse_messages(more)[: len(parse_messages(GEMINI))] == parse_messages(GEMINI)


def test_snake_case_is_read_and_written() -> None:
    raw: Written = [
        {"role": "user", "parts": [{"text": "look"}]},
        {"role": "model", "parts": [{"function_call": {"name": "see", "args": {"a_b": 1}}}]},
        {"role": "user", "parts": [{"text": "never mind"}]},
    ]

    context = fit(raw, max_tokens=1_000)

    assert [repair.kind for repair in context.repairs] == ["missing_result"]
    results, words = inside(context.in_shape()[2])
    assert results == {
        "function_response": {"name": "see", "response": {"result": "[no result recorded]"}}
    }
    assert words is inside(raw[2])[0]


def test_geminis_parts_may_name_all_keys_there_are() -> None:
    nothing: JsonObject = {"function_call": None, "inline_data": None, "thought": None}
    raw: Written = [{"role": "user", "parts": [{**nothing, "text": "hi"}]}]

    assert parse_messages(raw)[0].text == "hi"


def test_a_part_that_only_signs_is_handed_back() -> None:
    raw: Written = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "hello"}, {"text": "", "thoughtSignature": "s"}]},
    ]

    context = fit(raw, max_tokens=1_000)

    assert context.in_shape()[1] is raw[1]


def test_a_whole_answer_of_anthropics_is_a_message() -> None:
    answer: JsonObject = {
        **{"id": "m", "type": "message", "role": "assistant", "model": "claude"},
        **{"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn", "usage": {}},
    }

    assert read_list([{"role": "user", "content": "hi"}, answer]).shape == "anthropic"


@pytest.mark.parametrize("shape", LISTS)
def test_openais_shape_is_what_the_messages_of_a_context_are(shape: Shape) -> None:
    context = fit(LISTS[shape], max_tokens=100_000)

    assert shape == "openai" or context.in_shape("openai") == context.messages


def test_other_roles_of_gemini_and_none_are_read() -> None:
    raw: Written = [{"parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "hello"}]}]

    assert [message.role for message in parse_messages(raw)] == ["user", "assistant"]


def anthropic_talk(turns: int) -> Written:
    """A conversation with a call in each turn."""
    out: Written = []
    for n in range(turns):
        words = f"question {n} {'about the order ' * 20}"
        out += [
            {"role": "user", "content": [{"type": "text", "text": words, **MARK}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"c{n}", "name": "see", "input": {"n": n}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": f"out {n}"}],
            },
            {"role": "assistant", "content": f"answer {n} {'it is late ' * 20}"},
        ]
    return out


def compacted(messages: Written) -> Context:
    """The context after a forced compaction."""
    return compact(messages, max_tokens=1_200, force=True).context


def test_a_summary_joins_the_users_message_and_leaves_its_marks() -> None:
    messages = anthropic_talk(12)

    out = compacted(messages).in_shape()

    roles = [message["role"] for message in out]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert "<conversation_summary>" in str(out)
    assert "system" not in roles
    own = {id(block) for message in messages for block in inside(message)}
    joined = [block for message in out for block in inside(message) if id(block) in own]
    assert any("cache_control" in block for block in joined)


def test_a_context_has_one_verdict_a_message_read_and_tells_their_places() -> None:
    messages = anthropic_talk(12)

    context = compacted(messages)

    assert len(context.verdicts) == len(parse_messages(messages))
    assert [context.places_of(at) for at in (0, 2, 47)] == [(0,), (2,), (47,)]


def test_an_answer_of_this_library_to_a_call_comes_before_the_words() -> None:
    messages: Written = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
        },
        {"role": "user", "content": "never mind"},
    ]

    out = fit(messages, max_tokens=1_000).in_shape()

    assert out[:2] == messages[:2]
    assert out[2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "[no result recorded]"},
            {"type": "text", "text": "never mind"},
        ],
    }


def test_a_system_message_in_the_middle_is_not_sent_before_the_first_user() -> None:
    messages: Written = [
        {"role": "user", "content": "go"},
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": [{"type": "text", "text": "and?"}]},
    ]

    out = fit(messages, max_tokens=1_000).in_shape("anthropic")

    assert [id(one) for one in out] == [id(one) for one in messages]


def test_a_list_of_words_alone_is_handed_back_in_each_shape_it_is_in() -> None:
    messages = [{"role": "user", "content": "hi"}]

    context = fit(messages, max_tokens=100)

    assert context.in_shape("anthropic")[0] is messages[0]
    assert context.in_shape("responses")[0] is messages[0]
    assert context.in_shape("gemini") == [{"role": "user", "parts": [{"text": "hi"}]}]


def test_an_unknown_shape_is_no_shape() -> None:
    with pytest.raises(ValueError, match="unknown shape 'bedrock'"):
        fit([{"role": "user", "content": "hi"}], max_tokens=100).in_shape("bedrock")  # type: ignore[arg-type]  # wrong on purpose


def test_names_of_speakers_go_into_the_words_where_a_shape_has_no_place_for_them() -> None:
    messages = [{"role": "user", "content": "hi", "name": "ada"}]

    context = fit(messages, max_tokens=100)

    assert context.in_shape()[0] is messages[0]
    assert context.in_shape("anthropic") == [
        {"role": "user", "content": [{"type": "text", "text": "ada: hi"}]}
    ]
    assert context.in_shape("responses") == [{"role": "user", "content": "ada: hi"}]


def test_media_is_carried_over_between_shapes() -> None:
    context = fit(GEMINI[:1], max_tokens=5_000)

    image = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert inside(context.in_shape("anthropic")[0])[1] == {"type": "image", "source": image}
    assert str(inside(context.in_shape("responses")[0])[1]["image_url"]).endswith(PNG)


def test_a_value_among_dictionaries_is_written_in_their_shape() -> None:
    passed = read_list([*ANTHROPIC, text_message("assistant", "bye")])

    assert handed_back(passed)[-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "bye"}],
    }
