"""Reads that say nothing new any more are shortened first, and by more."""

from __future__ import annotations

from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.reading import by_block
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.selectors import Superseded, find_superseded
from ctxcore.messages.values import Message, ToolCall, tool_result
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import counter_for
from tests.histories import assistant, call, user

SHORTENING = Policy(
    strategies=("shorten_tool_outputs",), facts_ratio=None, min_gain_ratio=0, oversize_ratio=None
)
CODE = "\n".join(f"def load_{n}(path): return parse(path, {n})" for n in range(60))


def found(*messages: Message) -> Superseded:
    """What is superseded in a conversation; numbers count from 1."""
    rows = ListHistory(messages, counter_for(None)).get(range(1, len(messages) + 1))
    return find_superseded(by_block(rows))


def asked(one: ToolCall, output: str = CODE) -> list[Message]:
    """A call with its result."""
    return [assistant("", one), tool_result(one.id, output)]


def read(call_id: str, path: str = "a.py", **more: object) -> ToolCall:
    return call(call_id, "read_file", path=path, **more)


def test_a_file_read_again_makes_the_older_read_old() -> None:
    assert found(*asked(read("1")), *asked(read("2"))) == Superseded(read_again=frozenset({2}))
    assert found(*asked(read("1")), *asked(read("2", "b.py"))) == Superseded()


def test_another_part_of_a_file_stands_for_itself() -> None:
    first, other = read("1", offset=0, limit=50), read("2", offset=50, limit=50)

    assert found(*asked(first), *asked(other)) == Superseded()
    assert found(*asked(first), *asked(read("3"))).read_again == {2}
    assert found(*asked(read("3")), *asked(first)) == Superseded()


def test_a_word_that_nothing_changed_stands_for_nothing() -> None:
    assert found(*asked(read("1")), *asked(read("2"), "unchanged since the last read")) == (
        Superseded()
    )


def test_an_edit_makes_the_reads_before_it_old_and_not_those_behind() -> None:
    edit = call("2", "edit_file", path="a.py", old_string="0", new_string="1")

    found_here = found(*asked(read("1")), *asked(edit, "done"), *asked(read("3")))

    assert found_here.changed == {2}


def turn(n: int, one: ToolCall, output: str = CODE) -> list[Message]:
    """A whole turn with one call."""
    return [user(f"ask {n}"), *asked(one, output), assistant(f"answer {n}")]


def shortened(history: list[Message], policy: Policy, usable: int) -> dict[int, int]:
    """What a compaction shortens, and to what, by place."""
    plan = plan_compaction(history, policy=policy, max_tokens=usable)
    return {seq - 1: size for seq, size in plan.short_sizes.items()} if plan else {}


def test_a_superseded_read_goes_first_even_in_the_newest_turns() -> None:
    history = [*turn(0, read("0", "b.py")), *turn(1, read("1")), *turn(2, read("2"))]

    assert shortened(history, SHORTENING.override(target_ratio=0.75), 2_400) == {6: 50}
    assert shortened(history, SHORTENING.override(target_ratio=0.3), 2_400) == {2: 200, 6: 50}


def test_a_fresh_read_of_a_file_that_was_changed_stays_whole() -> None:
    edit = call("e", "edit_file", path="a.py", old_string="0", new_string="1")
    fresh = [*turn(0, read("0", "b.py")), *turn(1, read("1")), *turn(2, edit, "done")]
    old = [*fresh, *turn(3, call("s"), "few"), *turn(4, call("t"), "few")]

    assert shortened(fresh, SHORTENING.override(target_ratio=0.3), 1_800) == {2: 200}
    assert shortened(old, SHORTENING.override(target_ratio=0.3), 1_800) == {2: 200, 6: 50}


def test_each_tool_has_its_own_limit_and_protected_ones_have_none() -> None:
    history = [
        *turn(0, call("0", "bash")),
        *turn(1, call("1", "plan")),
        *turn(2, call("2", "search")),
        *turn(3, call("3", "search"), "few"),
        *turn(4, call("4", "search"), "few"),
    ]
    policy = SHORTENING.override(
        tool_limits=(("bash", 400),), protected_tools=("plan",), target_ratio=0.1
    )

    assert shortened(history, policy, 2_400) == {2: 400, 10: 200}


def test_an_expansion_is_never_shortened() -> None:
    history = [
        *turn(0, call("0", "expand_tool_output", ref="m1")),
        *turn(1, call("1", "search")),
        *turn(2, call("2", "search"), "few"),
        *turn(3, call("3", "search"), "few"),
    ]

    assert shortened(history, SHORTENING.override(target_ratio=0.1), 1_600) == {6: 200}


def test_what_was_shortened_stays_as_it_is_when_it_is_superseded_later() -> None:
    history = [m for n in range(4) for m in turn(n, read(str(n), f"{n}.py"))]
    first = compact(history, policy=SHORTENING, max_tokens=2_600, force=True)
    assert first.state.active is not None
    before = dict(first.state.active.shortened)
    longer = [*history, *turn(9, read("9", "0.py")), *turn(10, call("s"), CODE)]

    again = compact(longer, policy=SHORTENING, max_tokens=2_600, state=first.state, force=True)

    assert before
    assert again.state.active is not None
    assert before.items() <= dict(again.state.active.shortened).items()


def test_an_output_is_shortened_for_what_it_was_called_for() -> None:
    reads = [read("1", "a.py"), read("2", "b.py", note="load_33"), read("3", "c.py")]
    history = [user("what does load_17 do?"), *(part for one in reads for part in asked(one))]
    history += [user("and now?"), assistant("nothing"), user("go on"), assistant("fine")]
    policy = SHORTENING.override(shorten_over_tokens=120)

    context = compact(history, policy=policy, max_tokens=1_500, force=True).context

    shortened = [
        str(message["content"]) for message in context.messages if message["role"] == "tool"
    ]
    assert ["load_17(path)" in text for text in shortened] == [True, True, True]
    assert ["load_33(path)" in text for text in shortened] == [False, True, False]
