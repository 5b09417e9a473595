"""What becomes of a Claude Code session: messages, compactions, usage, sub-agents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import JsonObject, JsonValue, Media, Reasoning
from tests.unit.formats.session_lines import (
    SESSION,
    answer,
    boundary,
    call,
    jsonl,
    other,
    prompt,
    read,
    result,
    shape,
    text,
    usage,
)


def test_lines_with_one_message_id_are_one_message() -> None:
    found = read(
        prompt("u1", None, "look"),
        answer("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "s"}),
        answer("a2", "a1", "m1", text("I look.")),
        answer("a3", "a2", "m1", call("c1")),
        result("r1", "a3", ("c1", "found")),
    )

    assert shape(found) == ["user: look", "assistant: I look.", "tool(c1): found"]
    assert found.messages[1].reasoning == "hm"
    assert [one.id for one in found.messages[1].calls] == ["c1"]


def test_results_between_parallel_calls_follow_the_whole_answer() -> None:
    found = read(
        prompt("u1", None, "look"),
        answer("a1", "u1", "m1", call("c1")),
        result("r1", "a1", ("c1", "one")),
        answer("a2", "a1", "m1", call("c2")),
        result("r2", "a2", ("c2", "two")),
        answer("a3", "r2", "m2", text("done")),
    )

    assert [one.id for one in found.messages[1].calls] == ["c1", "c2"]
    assert shape(found)[2:] == ["tool(c1): one", "tool(c2): two", "assistant: done"]


def test_a_side_branch_of_the_same_answer_is_kept_with_its_results() -> None:
    """The last record hangs on call c1; c2 and its result are on no path to it."""
    found = read(
        prompt("u1", None, "look"),
        answer("a1", "u1", "m1", call("c1")),
        answer("a2", "a1", "m1", call("c2")),
        result("r2", "a2", ("c2", "two")),
        prompt("n2", "r2", "a note of a hook", isMeta=True),
        result("r1", "a1", ("c1", "one")),
        answer("a3", "r1", "m2", text("done")),
    )

    assert shape(found)[2:] == [
        "tool(c2): two",
        "tool(c1): one",
        "user: a note of a hook",
        "assistant: done",
    ]


def test_an_edited_prompt_leaves_its_old_branch_out() -> None:
    found = read(
        prompt("u1", None, "hello"),
        answer("a1", "u1", "m1", text("hi")),
        prompt("u2", "a1", "wrong"),
        answer("a2", "u2", "m2", text("wrong answer")),
        prompt("u3", "a1", "right"),
        answer("a3", "u3", "m3", text("right answer")),
    )

    assert shape(found) == [
        "user: hello",
        "assistant: hi",
        "user: right",
        "assistant: right answer",
    ]
    assert ("left branch", 2) in found.ignored


def test_an_edited_first_prompt_begins_the_session_anew() -> None:
    found = read(
        prompt("u1", None, "wrong"),
        answer("a1", "u1", "m1", text("wrong answer")),
        prompt("u2", None, "right"),
        answer("a2", "u2", "m2", text("right answer")),
        prompt("u3", "a2", "more"),
    )

    assert shape(found) == ["user: right", "assistant: right answer", "user: more"]


def test_a_file_without_links_is_read_in_its_order() -> None:
    found = read(
        prompt("u1", None, "one"),
        answer("a1", None, "m1", text("two")),
        prompt("u2", None, "three"),
        answer("a2", None, "m2", text("four")),
    )

    assert shape(found) == ["user: one", "assistant: two", "user: three", "assistant: four"]


def test_a_parent_that_is_missing_is_the_record_before() -> None:
    found = read(
        prompt("u1", None, "one"),
        answer("a1", "u1", "m1", text("two")),
        prompt("u2", "lost", "three"),
        answer("a2", "u2", "m2", text("four")),
    )

    assert len(found.messages) == 4


def test_a_record_written_twice_counts_once() -> None:
    found = read(
        prompt("u1", None, "one"),
        answer("a1", "u1", "m1", text("two"), usage=usage(5)),
        prompt("u1", None, "one"),
        answer("a1", "u1", "m1", text("two"), usage=usage(5)),
    )

    assert shape(found) == ["user: one", "assistant: two"]
    assert dict(found.ignored)["duplicate"] == 2


def test_a_compaction_keeps_what_came_before_and_its_summary_is_no_message() -> None:
    found = read(
        prompt("u1", None, "start"),
        answer("a1", "u1", "m1", text("ok")),
        boundary("b1", "a1"),
        prompt("s1", "b1", "Earlier: started.", isCompactSummary=True),
        answer("a2", "s1", "m2", text("on it goes")),
    )

    assert shape(found) == ["user: start", "assistant: ok", "assistant: on it goes"]
    (compaction,) = found.compactions
    assert (compaction.at, compaction.summary) == (2, "Earlier: started.")
    assert (compaction.before_tokens, compaction.trigger) == (150_000, "auto")
    assert compaction.recorded_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_a_summary_without_a_boundary_is_a_compaction_too() -> None:
    found = read(
        prompt("u1", None, "start"),
        answer("a1", "u1", "m1", text("ok")),
        prompt("s1", None, "Earlier: started.", isCompactSummary=True),
        prompt("u2", "s1", "next"),
    )

    assert [(one.at, one.before_tokens) for one in found.compactions] == [(2, None)]
    assert shape(found)[-1] == "user: next"


def test_usage_counts_once_for_each_answer_with_its_last_line() -> None:
    found = read(
        prompt("u1", None, "look"),
        answer("a1", "u1", "m1", text("I look."), usage=usage(3, read=100, write=20, out=1)),
        answer("a2", "a1", "m1", call("c1"), usage=usage(3, read=100, write=20, out=45)),
        result("r1", "a2", ("c1", "found")),
        answer("a3", "r1", "m2", text("done"), usage=usage(1, read=120, out=7)),
    )

    assert [(one.call_id, one.after, one.output_tokens) for one in found.usage] == [
        ("m1", 1, 45),
        ("m2", 3, 7),
    ]
    assert [one.total_input_tokens for one in found.usage] == [123, 121]
    assert found.model == "claude-test"


def test_an_answer_tells_what_the_provider_left_out_of_its_request() -> None:
    edited = answer("a1", "u1", "m1", text("Done."), usage=usage(3, read=100, write=20, out=1))
    edit: JsonObject = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 4}
    edit["cleared_input_tokens"] = 9_000
    edited["message"] |= {"context_management": {"applied_edits": [edit]}}  # type: ignore[operator]
    found = read(prompt("u1", None, "look"), edited)

    assert [(one.cleared_parts, one.cleared_tokens) for one in found.usage] == [(4, 9_000)]


def test_sub_agents_in_the_file_are_conversations_of_their_own() -> None:
    transcripts = parse_transcripts(
        jsonl(
            prompt("u1", None, "delegate"),
            answer("a1", "u1", "m1", call("c1", "Task")),
            prompt("x1", None, "explore", isSidechain=True, agentId="agent-7"),
            answer("x2", "x1", "m9", text("explored"), isSidechain=True, agentId="agent-7"),
            prompt("y1", None, "old style", isSidechain=True),
            answer("y2", "y1", "m8", text("no id"), isSidechain=True),
            result("r1", "a1", ("c1", "explored")),
        ),
        name="session.jsonl",
    )

    assert [(one.id, one.parent_id, one.title) for one in transcripts] == [
        (SESSION, None, "delegate"),
        ("agent-7", SESSION, "explore"),
        ("y1", SESSION, "old style"),
    ]
    assert [len(one.messages) for one in transcripts] == [3, 2, 2]


def test_a_file_of_one_sub_agent_is_that_conversation() -> None:
    found = read(
        prompt("x1", "elsewhere", "note", isSidechain=True, agentId="agent-7", isMeta=True),
        prompt("x2", "elsewhere too", "explore", isSidechain=True, agentId="agent-7"),
        answer("x3", "x2", "m9", text("explored"), isSidechain=True, agentId="agent-7"),
    )

    assert shape(found) == ["user: note", "user: explore", "assistant: explored"]


def test_words_a_program_wrote_for_the_user_are_kept_and_marked() -> None:
    found = read(prompt("u1", None, "Caveat: …", isMeta=True), prompt("u2", "u1", "hello"))

    assert [message.extra for message in found.messages] == ['{"is_meta":true}', None]
    assert found.title == "hello"


def test_what_was_typed_while_the_model_worked_is_a_user_message() -> None:
    queued: JsonObject = {"type": "queued_command", "prompt": "and the tests"}
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("c1")),
        result("r1", "a1", ("c1", "ok")),
        other("attachment", "q1", "r1", attachment=queued),
        answer("a2", "q1", "m2", text("sure")),
    )

    assert shape(found)[3] == "user: and the tests"


def test_local_commands_reach_the_model_as_the_users_words() -> None:
    found = read(
        prompt("u1", None, "go"),
        other("system", "s1", "u1", subtype="local_command", content="<command-name>/mcp"),
    )

    assert shape(found) == ["user: go", "user: <command-name>/mcp"]


def test_what_only_the_page_shows_is_counted_and_left_out() -> None:
    found = read(
        prompt("u1", None, "go"),
        other("progress", "p1", "u1"),
        other("system", "s1", "p1", subtype="turn_duration"),
        answer("e1", "s1", "x", text("API Error"), model="<synthetic>"),
        {"type": "file-history-snapshot"},
        answer("e2", "e1", "x2", text("Overloaded"), isApiErrorMessage=True),
        answer("a1", "e2", "m1", text("ok")),
        other("brand-new-type", "z1", "a1"),
    )

    assert shape(found) == ["user: go", "assistant: ok"]
    assert found.ignored == (
        ("assistant/synthetic", 2),
        ("brand-new-type", 1),
        ("file-history-snapshot", 1),
        ("progress", 1),
        ("system/turn_duration", 1),
    )
    assert found.problems == ()


def test_broken_lines_are_named_and_the_others_read() -> None:
    good = jsonl(prompt("u1", None, "go"), answer("a1", "u1", "m1", text("ok")))
    broken = jsonl({"type": "user", "uuid": "u2", "message": {"role": "user"}}, 42)
    (found,) = parse_transcripts(good + '{"type": "user", "mess\n\n' + broken, name="s.jsonl")

    assert shape(found) == ["user: go", "assistant: ok"]
    assert [str(problem.placed) for problem in found.problems] == [
        "line 3: is not JSON: Unterminated string starting at column 18",
        "line 5: the user record has no content",
        "line 6: is JSON, but not a session record",
    ]


def test_results_come_before_the_words_of_the_same_record() -> None:
    blocks: list[JsonValue] = [text("stop"), {"type": "tool_result", "tool_use_id": "c1"}]
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("c1")),
        prompt("r1", "a1", blocks),
    )

    assert shape(found)[2:] == ["tool(c1): ", "user: stop"]


def test_an_error_is_marked_and_texts_of_a_result_are_joined() -> None:
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "is_error": True,
        "content": [text("no"), text("such file")],
    }
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("c1")),
        prompt("r1", "a1", [block]),
    )

    assert found.messages[2].text == "no\nsuch file"
    assert found.messages[2].extra == '{"is_error":true}'


def test_images_become_parts_every_provider_reads() -> None:
    image: JsonObject = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    found = read(
        prompt("u1", None, [text("see"), image]),
        answer("a1", "u1", "m1", call("c1")),
        result("r1", "a1", ("c1", [image])),
    )

    for message in (found.messages[0], found.messages[2]):
        media = [part for part in message.content if isinstance(part, Media)]
        assert [part.kind for part in media] == ["image"]
        assert "data:image/png;base64,iVBORw0KGgo=" in media[0].raw


def test_signed_thinking_is_kept_as_it_came_and_unsigned_as_text() -> None:
    signed: JsonObject = {"type": "thinking", "thinking": "so", "signature": "abc"}
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", signed, {"type": "thinking", "thinking": "and so"}, text("ok")),
    )

    assert found.messages[1].content[:2] == (
        Reasoning(text="so", raw='{"signature":"abc","thinking":"so","type":"thinking"}'),
        Reasoning(text="and so"),
    )


def test_calls_and_results_without_ids_find_each_other() -> None:
    nameless: JsonObject = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", None, nameless),
        prompt("r1", "a1", [{"type": "tool_result", "content": "a.txt"}]),
        answer("a2", "r1", None, text("ok")),
    )

    assert shape(found) == ["user: go", "assistant: ", "tool: a.txt", "assistant: ok"]


def test_arguments_keep_the_order_the_model_wrote() -> None:
    found = read(
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("c1", "Edit", path="b", old="é")),
    )

    assert found.messages[1].calls[0].arguments == '{"path": "b", "old": "é"}'


def test_a_title_a_person_gave_comes_before_all_others() -> None:
    own: JsonObject = {"type": "custom-title", "customTitle": "Mine"}
    foreign: JsonObject = {"type": "summary", "summary": "Another one", "leafUuid": "elsewhere"}

    assert read(foreign, prompt("u1", None, "go")).title == "go"
    assert read(foreign, prompt("u1", None, "go"), own).title == "Mine"


def test_a_session_from_the_web_is_one_document() -> None:
    document = {"loglines": [prompt("u1", None, "go"), answer("a1", "u1", None, text("ok"))]}
    (found,) = parse_transcripts(json.dumps(document, indent=2), name="web.json")

    assert shape(found) == ["user: go", "assistant: ok"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_every_result_follows_its_call_in_whatever_order_lines_came(
    parallel: list[int], random: Random
) -> None:
    """Answers with several calls each; their results come at any time after their call."""
    records: list[JsonValue] = [prompt("u", None, "go")]
    last = "u"
    for turn, calls in enumerate(parallel):
        open_calls: list[str] = []
        for n in range(calls):
            call_id = f"c{turn}.{n}"
            records.append(answer(f"a{call_id}", last, f"m{turn}", call(call_id)))
            open_calls.append(call_id)
            last = f"a{call_id}"
            while open_calls and (n == calls - 1 or random.random() < 0.4):
                done = open_calls.pop(random.randrange(len(open_calls)))
                records.append(result(f"r{done}", f"a{done}", (done, done)))
                last = random.choice([last, f"r{done}"])

    found = read(*records)

    starts = block_starts(found.messages)
    for start in set(starts):
        head, *results = (m for m, s in zip(found.messages, starts, strict=True) if s == start)
        answered_by, orphans = pair_results(head.calls, results)
        assert not orphans
        assert None not in answered_by
    assert sum(len(message.calls) for message in found.messages) == sum(parallel)


_WORDS = ["", "u1", "m1", "user", "assistant", "system", "text", "tool_use", "tool_result"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(_WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "content", "id", "text", "usage"]), inner)
    ),
    max_leaves=8,
)
_FIELDS = ("type", "uuid", "parentUuid", "message", "timestamp", "subtype", "attachment")


@given(st.lists(st.dictionaries(st.sampled_from(_FIELDS), _JSON), max_size=4))
def test_records_of_any_shape_are_read_or_passed_over(records: list[JsonValue]) -> None:
    found = read(*records, prompt("last", None, "go"))

    assert "user: go" in shape(found)
    assert len(found.times) == len(found.messages)
