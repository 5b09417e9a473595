"""What holds for every replay: it agrees with whole contexts compared byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.items import to_dictionary, total
from ctxcore.compaction.loss_report import message_text
from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.replay.references import find_literal_uses, says_literal
from ctxcore.replay.replaying import Replaying
from tests.examples import fewer
from tests.histories import histories, sound_histories

presets = st.sampled_from(Policy.presets())
budgets = st.integers(min_value=300, max_value=6_000)
MODEL = "claude-sonnet-4-5"

Sent = list[tuple[str, int]]
"""The messages of a request as bytes, with their tokens."""


def whole_requests(
    history: list[Message], preset: str, budget: int
) -> list[tuple[int, Sent, list[str]]]:
    """Every request, built whole: what it takes, its messages, and what they say."""
    recording = Recording(history, model=MODEL)
    walk = Walk(recording, Policy.preset(preset), max_tokens=budget, builds_all=True)
    made = []
    for call in walk:
        shown = walk.sent
        sent = [(to_canonical(to_dictionary(one)), total(one.items)) for one in shown]
        made.append((call.tokens, sent, [message_text(one.message) for one in shown]))
    return made


def shared(before: Sent, after: Sent) -> int:
    """How many messages two requests begin with alike."""
    pairs = zip(before, after, strict=False)
    differing = (at for at, ((one, _), (other, _)) in enumerate(pairs) if one != other)
    return next(differing, min(len(before), len(after)))


@fewer(16)
@given(st.one_of(histories(), sound_histories()), budgets, presets)
def test_reuse_is_what_whole_requests_share_byte_for_byte(
    history: list[Message], budget: int, preset: str
) -> None:
    replay = Replaying(Recording(history, model=MODEL)).under(
        Policy.preset(preset), max_tokens=budget
    )
    last: Sent | None = None
    earlier: set[str] = set()
    for call, (tokens, sent, _) in zip(
        replay.calls, whole_requests(history, preset, budget), strict=True
    ):
        assert call.reused_tokens + call.resent_tokens + call.new_tokens == call.tokens == tokens
        if call.is_over:
            continue
        same = 0 if last is None else shared(last, sent)
        framing = tokens - sum(size for _, size in sent)
        reused = 0 if last is None else framing + sum(size for _, size in sent[:same])
        assert (call.reused_tokens, call.shared_messages) == (reused, same)
        assert call.resent_tokens == resent(sent[same:], earlier)
        assert (call.cause is None) == (last is not None and same == len(last))
        last = sent


def resent(sent: Sent, earlier: set[str]) -> int:
    """Tokens of messages that came earlier; what is new here is in `earlier` then."""
    tokens = 0
    for text, size in sent:
        tokens += size if text in earlier else 0
        earlier.add(text)
    return tokens


@fewer(6)
@given(sound_histories(), budgets, presets)
def test_a_literal_is_there_where_the_words_of_the_whole_request_hold_it(
    history: list[Message], budget: int, preset: str
) -> None:
    replay = Replaying(Recording(history, model=MODEL)).under(
        Policy.preset(preset), max_tokens=budget
    )
    used: dict[int, list[str]] = {}
    for use in find_literal_uses(history):
        used.setdefault(use.used_at, []).append(use.literal)

    for call, (_, _, texts) in zip(
        replay.calls, whole_requests(history, preset, budget), strict=True
    ):
        wanted = sorted(used.get(call.at, []))
        missed = [one for one in wanted if not _says(texts, one)]
        assert (call.literals_used, list(call.literals_missed)) == (len(wanted), missed)


def _says(texts: Sequence[str], literal: str) -> bool:
    return any(says_literal(text, literal) for text in texts)
