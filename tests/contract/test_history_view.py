"""What every `HistoryView` promises; one suite for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count

import pytest

from ctxcore.assembly.history import Counted, HistoryView, ListHistory, Totals
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.prompts import Changes, PromptChange
from ctxcore.facts.rule_edits import RuleEdit, RuleEdits
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.store import SessionStore, open_store
from tests.histories import assistant, call, user
from tests.words import Words, words

Factory = Callable[..., HistoryView]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def list_history(
    messages: Sequence[Message],
    *,
    pinned: Collection[int] = (),
    excluded: Collection[int] = (),
    oversize_tokens: int | None = None,
    changes: Changes = (),
    rule_edits: Sequence[RuleEdit] = (),
) -> HistoryView:
    """A history in memory."""
    return ListHistory(
        messages,
        Words(),
        pinned=pinned,
        excluded=excluded,
        oversize_tokens=oversize_tokens,
        changes=changes,
        rule_edits=RuleEdits.of(rule_edits),
    )


def prefix_history(
    messages: Sequence[Message],
    *,
    pinned: Collection[int] = (),
    excluded: Collection[int] = (),
    oversize_tokens: int | None = None,
    changes: Changes = (),
    rule_edits: Sequence[RuleEdit] = (),
) -> HistoryView:
    """The beginning of a longer history in memory."""
    longer = [*messages, user("and now?"), assistant("later"), text_message("system", "new rule")]
    whole = list_history(
        longer,
        pinned=pinned,
        excluded=excluded,
        oversize_tokens=oversize_tokens,
        changes=[*changes, PromptChange.to_message(len(longer))],
        rule_edits=rule_edits,
    )
    return PrefixHistory(whole, len(messages))


class StoredHistories:
    """Makes histories in a database, each in a session of its own."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._names = (f"s{number}" for number in count())
        store.create_user("ada", at=NOON)

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        pinned: Collection[int] = (),
        excluded: Collection[int] = (),
        oversize_tokens: int | None = None,
        changes: Changes = (),
        rule_edits: Sequence[RuleEdit] = (),
    ) -> HistoryView:
        """A history in the store."""
        name, store = next(self._names), self._store
        store.create_session(name, user_id="ada", at=NOON)
        if messages:
            store.append(name, messages, counter=Words(), at=NOON, oversize_tokens=oversize_tokens)
        store.restore_system(name, changes)
        for seq in pinned:
            store.add_mark(name, seq, "pin", at=NOON)
        for seq in excluded:
            store.add_mark(name, seq, "exclude", at=NOON)
        for edit in rule_edits:
            store.add_rule_edit(name, edit, by="ada", at=NOON)
        return store.view(name)


@pytest.fixture(params=["list", "prefix", "store", "store_on_postgres"])
def make(request: pytest.FixtureRequest) -> Iterator[Factory]:
    """What makes a history of messages; a new implementation is one more parameter."""
    if not request.param.startswith("store"):
        yield list_history if request.param == "list" else prefix_history
        return
    on_postgres = request.param == "store_on_postgres"
    store = open_store(request.getfixturevalue("postgres_url") if on_postgres else "sqlite://")
    yield StoredHistories(store)
    store.close()


SIZES = [6, 5, 5, 15, 13, 12, 5, 6]
HISTORY = [
    text_message("system", "be brief"),  # 1: 4 + 2
    user("hello"),  # 2: 4 + 1
    assistant("yes?"),  # 3: 4 + 1
    assistant("", call("a", name="search")),  # 4: 13 + 1 + 1, a block with 5 and 6
    tool_result("a", "one two"),  # 5: 10 + 2 + 1
    tool_result("a", "three"),  # 6: 10 + 1 + 1
    assistant("done"),  # 7: 4 + 1
    user("refund it"),  # 8: 4 + 2
]


def seqs(rows: Sequence[Counted]) -> list[int]:
    """The places of `rows`."""
    return [row.seq for row in rows]


def test_every_message_is_counted_once_with_its_block_and_function(make: Factory) -> None:
    rows = make(HISTORY).get(range(1, 9))

    assert [row.tokens for row in rows] == SIZES
    assert [row.block for row in rows] == [1, 2, 3, 4, 4, 4, 7, 8]
    assert [row.function_name for row in rows[3:6]] == ["", "search", "search"]
    assert [row.message for row in rows] == HISTORY


def test_totals_leave_system_messages_out(make: Factory) -> None:
    view = make(HISTORY)

    assert view.count() == 8
    assert view.totals() == Totals(messages=7, tokens=61)
    assert view.totals(after=3) == Totals(messages=5, tokens=51)
    assert view.totals(after=8) == Totals()


def test_get_gives_what_was_asked_for_oldest_first(make: Factory) -> None:
    assert seqs(make(HISTORY).get({7, 2, 5})) == [2, 5, 7]
    assert make(HISTORY).get([]) == []


@pytest.mark.parametrize(
    ("tokens", "first"), [(0, 8), (5, 8), (6, 7), (11, 4), (30, 4), (50, 4), (51, 3), (999, 2)]
)
def test_a_tail_starts_with_the_whole_block_that_passes_the_limit(
    make: Factory, tokens: int, first: int
) -> None:
    assert seqs(make(HISTORY).tail(tokens)) == list(range(first, 9))


def test_a_tail_never_reaches_what_is_covered(make: Factory) -> None:
    assert seqs(make(HISTORY).tail(999, after=3)) == [4, 5, 6, 7, 8]
    assert list(make(HISTORY).tail(999, after=8)) == []


def test_sizes_and_their_sum_are_those_of_the_messages(make: Factory) -> None:
    view = make(HISTORY)

    assert list(view.sizes(2, 5)) == SIZES[1:5]
    assert view.spans_tokens([(2, 5)])[0] == sum(SIZES[1:5])
    assert view.spans_tokens([(1, 8)])[0] == sum(SIZES)
    assert view.spans_tokens([(2, 5), (1, 8), (8, 8)]) == [sum(SIZES[1:5]), sum(SIZES), SIZES[7]]
    assert view.spans_tokens([]) == []


def test_the_goal_is_the_first_user_message_with_substance(make: Factory) -> None:
    anchors = make(HISTORY).anchors()

    assert (anchors.system, anchors.goal, anchors.last_user) == ((1,), 8, 8)


@pytest.mark.parametrize("greeting", ["Hi!", "你好。", " hello there ", "", "OK", "Anna: Hi!"])
def test_a_greeting_is_no_goal(make: Factory, greeting: str) -> None:
    assert make([user(greeting), assistant("yes?")]).anchors().goal is None


def test_a_mark_on_a_call_or_result_marks_its_block(make: Factory) -> None:
    anchors = make(HISTORY, pinned=[5], excluded=[2]).anchors()

    assert anchors.pinned == (4, 5, 6)
    assert anchors.excluded == (2,)


def test_an_oversize_output_stands_for_itself_shortened(make: Factory) -> None:
    output = "\n".join(f"line {n} of a long listing" for n in range(200))
    history = [user("list"), assistant("", call("a", name="ls")), tool_result("a", output)]

    (row,) = make(history, oversize_tokens=100).get([3])

    assert row.tokens > 1_000
    assert row.short is not None
    assert row.sent_tokens <= 100
    assert make(history).get([3])[0].short is None


def test_an_oversize_output_keeps_what_was_asked_for(make: Factory) -> None:
    output = "\n".join(f"berth K-{n:03d} is {n * 7} cm deep" for n in range(200))
    asking = [
        user("how deep is K-123?"),
        assistant("", call("a", name="ls")),
        tool_result("a", output),
    ]
    calling = [user("go on"), assistant("", call("a", berth="K-077")), tool_result("a", output)]
    other = [user("and K-001?"), assistant("it is 7 cm deep")]

    first, second = make([*asking, *calling, *other], oversize_tokens=100).get([3, 6])

    assert "K-123 is 861" in str(first.short)
    assert "K-077 is 539" in str(second.short)


def test_totals_never_say_less_than_what_is_sent(make: Factory) -> None:
    history = [user("list"), assistant("", call("a")), tool_result("a", words(500, "word\n"))]
    view = make(history, oversize_tokens=100)

    assert sum(row.sent_tokens for row in view.get([1, 2, 3])) <= view.totals().tokens <= 200


def test_an_empty_history_has_nothing(make: Factory) -> None:
    view = make([])

    assert (view.count(), view.totals(), list(view.tail(10))) == (0, Totals(), [])
    assert view.anchors().last_user is None


def test_every_view_finds_the_same_facts(make: Factory) -> None:
    """A tool result's facts need the call that it answers, wherever the view reads it."""
    history = [
        user("From now on never push to main. The ticket is OPS-4471."),
        assistant("", call("c1")),
        tool_result("c1", "FileNotFoundError: no such file: src/app.py"),
        assistant("Fixed: it was renamed to src/main.py."),
    ]

    found = [
        (seq, [(fact.kind, fact.text) for fact in facts]) for seq, facts in make(history).facts()
    ]

    assert found == [
        (seq, [(fact.kind, fact.text) for fact in facts])
        for seq, facts in list_history(history).facts()
    ]
    kinds = {kind for _, facts in found for kind, _ in facts}
    assert {"instruction", "identifier", "error"} <= kinds


def test_every_view_tells_the_rules_that_hold_now_and_then(make: Factory) -> None:
    view = make(
        [
            text_message("system", "Always answer in plain words."),
            user("Please never use tables."),
            assistant("Always. I never would."),
            user("Prices in euros from now on."),
            user("You may use tables again."),
        ]
    )

    now = [entry.text for entry in view.standing()]

    assert "Please never use tables." not in now
    assert {"Always answer in plain words.", "Prices in euros from now on."} <= set(now)
    assert [entry.text for entry in view.standing(until=3)] == [
        "Always answer in plain words.",
        "Please never use tables.",
    ]
    assert [entry.text for entry in view.standing()] == now


def test_an_empty_history_has_no_rules(make: Factory) -> None:
    assert list(make([]).standing()) == []


def test_an_excluded_system_message_is_not_in_force(make: Factory) -> None:
    anchors = make([*HISTORY, text_message("system", "be kind")], excluded=[1]).anchors()

    assert (anchors.system, anchors.dismissed, anchors.excluded) == ((9,), (1,), (1,))


def test_a_change_of_the_prompt_takes_those_before_it_out_of_force(make: Factory) -> None:
    history = [*HISTORY, text_message("system", "be kind"), text_message("system", "use SI")]
    changes = [PromptChange.to_message(9)]

    anchors = make(history, changes=changes, excluded=[1]).anchors()

    assert (anchors.system, anchors.replaced, anchors.excluded) == ((9, 10), (1,), (1,))
    assert make(history, changes=[PromptChange.to_none(9)]).anchors().system == (10,)
    assert make(history, changes=changes).totals() == make(history).totals()


def test_a_shorter_history_has_the_prompt_of_its_time() -> None:
    history = [*HISTORY, text_message("system", "be kind"), user("so"), assistant("yes")]
    changes = [PromptChange.to_message(9), PromptChange.to_none(10)]
    whole = list_history(history, changes=changes, excluded=[1])

    found = [PrefixHistory(whole, length).anchors().system for length in (8, 9, 10, 11)]
    shown = PrefixHistory(list_history(history, changes=changes), 8).anchors().system

    assert (found, shown) == ([(), (9,), (), ()], (1,))


BAN, BACK = "Never call me before nine.", "You may call me before nine again."
ORDER = "The report is due on Fridays, as ever."
EDITS = (
    RuleEdit(kind="dismiss", seq=3, text=BACK),
    RuleEdit(kind="add", seq=2, text=ORDER),
)


def test_rules_are_read_as_people_edited_them(make: Factory) -> None:
    said = [user(BAN), assistant(f"Noted. {ORDER}"), user(BACK), user("And?")]

    plain, edited = make(said), make(said, rule_edits=EDITS)

    assert [entry.text for entry in plain.standing()] == [BACK]
    assert [(entry.text, entry.seqs) for entry in edited.standing()] == [(BAN, (1,)), (ORDER, (2,))]
    assert [entry.text for entry in edited.standing(until=1)] == [BAN]
    rules = {
        seq: [f.text for f in facts if f.kind == "instruction"] for seq, facts in edited.facts()
    }
    assert [rules.get(seq, []) for seq in (1, 2, 3)] == [[BAN], [ORDER], []]
    assert edited.taken_back().by_seq == {}


def test_a_rule_that_was_added_can_be_taken_back(make: Factory) -> None:
    rule = "Reports go out on Fridays."
    said = [user(rule), assistant("Yes."), user("Reports need not go out on Fridays any more.")]

    added = make(said, rule_edits=[RuleEdit(kind="add", seq=1, text=rule)])

    assert rule in [entry.text for entry in added.standing(until=2)]
    assert rule not in [entry.text for entry in added.standing()]
