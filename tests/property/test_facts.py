"""What holds for the facts of any text and any history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.facts.facts_block import render_facts
from ctxcore.facts.finding import MOST_FACTS, find_facts
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.presence import is_present
from ctxcore.facts.values import KINDS
from ctxcore.messages.values import ROLES, Message, ToolCall, text_message
from ctxcore.text.languages import Language
from tests.histories import histories, messages
from tests.processes import printed_under_hash_seeds
from tests.unit.facts.speech import FourBytes

PHRASES = st.sampled_from(
    ["Never ", "always ", "don't ", "must ", "only ", "no longer ", "from now on", "instead of ",
     "forget that rule", "port 8080", "at 3pm", "$5", "ORD-12", "/a/b.py", "?", ". ", "\n- ", "```",
     "<a>", "</a>", '"', "“", "不要", "必须", "以后", "现在可以", "改成", "吗", "，", "。", "《",
     "Error: x\n", "diff --git a/x b/x\n+++ b/x\n", " | 3 ++-", "\ud800", "\x00", "𝔘", "e.g. ",
     "x=1", "@", "://"]
)  # fmt: skip
ANY_TEXT = st.lists(PHRASES | st.text(max_size=12), max_size=60).map("".join) | st.text(
    st.characters(), max_size=400
)
NAMES = st.sampled_from(["Read", "edit", "bash", "apply_patch", "TodoWrite", "search", ""])
ARGUMENTS = ANY_TEXT | st.sampled_from(
    ['{"path": 1}', '{"todos": [1, null, {"content": "a"}]}', '{"command": ["ls", "a.py"]}',
     '{"edits": [{"oldText": "a"}], "path": "a.py"}', "[1]", "null", '{"plan": {"a": 1}}']
)  # fmt: skip


@given(ANY_TEXT, st.sampled_from(ROLES), NAMES, ARGUMENTS)
def test_any_text_has_its_facts_and_none_raises(
    text: str, role: str, name: str, arguments: str
) -> None:
    call = ToolCall(id="1", name=name, arguments=arguments)
    message = Message(
        role=next(known for known in ROLES if known == role),
        content=text_message("user", text).content,
        calls=(call,),
    )

    found = find_facts(message, function_name=name, arguments=arguments)

    assert len(found) <= MOST_FACTS
    assert all(fact.kind in KINDS and "\n" not in fact.text for fact in found)
    assert found == find_facts(message, function_name=name, arguments=arguments)


@given(histories())
def test_adding_in_pieces_equals_adding_at_once(history: list[Message]) -> None:
    once, pieces = Ledger(), Ledger()
    for seq, message in enumerate(history):
        found = find_facts(message)
        once.add(seq, found)
        for fact in found:
            pieces = pieces.copy()
            pieces.add(seq, [fact])
        pieces.add(seq, ())

    assert live(once) == live(pieces)
    assert once.revoked() == pieces.revoked()


@given(
    st.lists(messages(), max_size=25),
    st.integers(0, 300),
    st.sampled_from(["en", "zh"]),
    st.sets(st.integers(0, 25)),
)
def test_the_carried_text_is_within_its_budget(
    history: list[Message], max_tokens: int, language: Language, visible: set[int]
) -> None:
    ledger = Ledger()
    for seq, message in enumerate(history):
        ledger.add(seq, find_facts(message))
    entries = live(ledger)

    carried = render_facts(
        entries, max_tokens=max_tokens, counter=FourBytes(), language=language, visible=visible
    )

    hidden = [entry for entry in entries if visible.isdisjoint(entry.seqs)]
    assert FourBytes().count(carried.text) == carried.tokens <= max_tokens
    assert len(carried.entries) + carried.left_out == len(hidden)
    assert all(is_present(entry.fact, carried.text) for entry in carried.entries)


@given(ANY_TEXT, ANY_TEXT)
def test_whether_a_fact_is_present_never_raises(text: str, other: str) -> None:
    for fact in find_facts(text_message("user", text)):
        assert is_present(fact, other) in (True, False)


def test_the_hash_seed_changes_nothing() -> None:
    script = (
        "from ctxcore.facts.finding import find_facts\n"
        "from ctxcore.facts.ledger import Ledger, live\n"
        "from ctxcore.facts.facts_block import render_facts\n"
        "from ctxcore.messages.values import text_message\n"
        "from tests.unit.facts.speech import FourBytes\n"
        "ledger = Ledger()\n"
        "for n in range(60):\n"
        "    text = f'Never open door {n}. Order ORD-{n}, port {n}, /a/{n}.py, May {n}. Who?'\n"
        "    ledger.add(n, find_facts(text_message('user', text)))\n"
        "print(render_facts(live(ledger), max_tokens=300, counter=FourBytes()).text)\n"
    )
    assert len(printed_under_hash_seeds(script)) == 1
