"""What holds for every compaction: all tell the same of the next call, without it and with it."""

from __future__ import annotations

from contextlib import closing

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.effects import CompactionEffect
from ctxcore.assembly.fitting import fit
from ctxcore.cli.contexts import next_call, unseen
from ctxcore.compaction.compacting import compact
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import COMPACTED
from ctxcore.engine.policies import save_figures
from ctxcore.messages.values import JsonObject
from ctxcore.store.sql import open_store
from dashboard.window_panel import effect_text

MODEL = "scripted/effects"
turns = st.lists(
    st.tuples(st.integers(1, 60), st.integers(1, 90)), min_size=3, max_size=20
)  # words of the request, words of the answer


def said(sizes: list[tuple[int, int]]) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for number, (asked, answered) in enumerate(sizes):
        request = f"Step {number}: " + "what about the harbour? " * asked
        reply = f"Step {number} is berth B-{number:03d}. " + "It is so. " * answered
        messages += [{"role": "user", "content": request}, {"role": "assistant", "content": reply}]
    return messages


def told(effect: CompactionEffect) -> list[str]:
    """What people read: on the pages, and on the command line."""
    return [effect_text(effect), f"{next_call(effect)} {unseen(effect)}"]


@settings(max_examples=20)
@given(turns, st.integers(2_000, 6_000))
def test_all_tell_the_same_of_the_next_call(sizes: list[tuple[int, int]], window: int) -> None:
    with closing(open_store("sqlite://")) as store:
        engine = ContextEngine(store, model=MODEL)
        save_figures(engine.store, MODEL, {"window_tokens": window})
        session = engine.create_session("Harbour")
        engine.append(session.id, said(sizes))
        before = engine.call_target(session.id)

        proposal = engine.propose(session.id)
        assume(proposal.effect is not None)
        made = engine.confirm(proposal)

        effect = proposal.effect
        assert effect is not None
        assert made is not None
        assert made.effect == effect
        target = engine.call_target(session.id)
        without, with_it = (
            build_context(one.view, one.call, one.record) for one in (before, target)
        )
        assert (effect.without_tokens, effect.with_tokens) == (without.tokens, with_it.tokens)
        assert effect.unseen_tokens == max(0, without.outside_tokens - with_it.outside_tokens)
        [event] = engine.store.last_events(session.id, (COMPACTED,), limit=1)
        assert event.body["effect"] == effect.to_dict()
        exported = "".join(engine.export(session.id, "native"))
        [again] = engine.import_(exported, name="harbour.jsonl")
        [stored] = engine.compactions(again.id)
        assert stored.effect == effect
        for text in told(effect):
            for size in (effect.without_tokens, effect.with_tokens):
                assert f"{size:,}" in text
            assert (f"{effect.unseen_tokens:,}" in text) or not effect.unseen_tokens


@settings(max_examples=30)
@given(turns, st.integers(2_000, 6_000))
def test_a_list_of_messages_is_compacted_to_what_is_sent(
    sizes: list[tuple[int, int]], window: int
) -> None:
    messages = said(sizes)

    result = compact(messages, max_tokens=window, force=True)

    if result.effect is None:
        assert not result.applied
    else:
        assert result.effect.without_tokens == fit(messages, max_tokens=window).tokens <= window
        assert result.effect.with_tokens == result.context.tokens
