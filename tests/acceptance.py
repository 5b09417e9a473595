"""Thirty turns under a 4,000-token window, with any model: what must hold whatever it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

from ctxcore.assembly.context import Context
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import ContextBuilt, TurnEnded, UsageReported
from ctxcore.engine.policies import save_figures

TURNS = 30
WINDOW_TOKENS = 4_000
REPLY_TOKENS = 80
WORDS = 60

_SENTENCES = (
    "I am planning the move of our small office to the second floor in the old mill.",
    "The lease starts on the first of March and the movers need a list of all the desks.",
    "There are eleven desks, four shelves, two printers and a heavy safe that nobody can open.",
    "Please remember that the safe must never be tilted, because the papers inside are fragile.",
    "The internet line is ordered under the number DSL-4711 and should work by the tenth.",
    "Marta brings the keys on Friday, and Jonas measures the door of the meeting room.",
    "We would like to spend at most four thousand euros for the whole move, paint included.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What thirty turns showed."""

    turns: int
    compactions: int
    largest_input_tokens: int
    over_usable: tuple[int, ...]
    """By how much the provider's count of a call exceeded what was usable, where it did."""
    differences: tuple[int, ...]
    """The provider's count of each call less ours."""
    unreported_calls: int
    violations: tuple[str, ...]
    failures: tuple[str, ...]


def user_messages() -> Iterator[str]:
    """Thirty messages of sixty words each."""
    words = cycle(" ".join(_SENTENCES).split())
    for number in range(1, TURNS + 1):
        yield " ".join([f"Note {number}:", *islice(words, WORDS - 2)])


def run_acceptance(engine: ContextEngine, model: str) -> Acceptance:
    """Chats thirty turns with `model`; asserts nothing about its words."""
    save_figures(engine.store, model, {"window_tokens": WINDOW_TOKENS})
    session = engine.create_session("acceptance", model=model, system="You are a brief helper.")
    inputs: list[int] = []
    contexts: list[Context] = []
    failures: list[str] = []
    unreported = 0
    for text in user_messages():
        for event in engine.chat(session.id, text, max_output_tokens=REPLY_TOKENS):
            if isinstance(event, ContextBuilt):
                contexts.append(event.context)
            elif isinstance(event, UsageReported):
                unreported += event.usage.input_tokens is None
                inputs.append(event.usage.input_tokens or 0)
            elif isinstance(event, TurnEnded) and event.state != "done":
                failures.append(str(event.error or event.state))
        engine.wait(session.id)  # else how many compactions there are depends on the machine
    pairs = list(zip(contexts, inputs, strict=True))
    usable = [context.budget.usable_tokens for context in contexts if context.budget]
    return Acceptance(
        turns=len(engine.store.turns(session.id)),
        compactions=len(engine.compactions(session.id)),
        largest_input_tokens=max(inputs, default=0),
        over_usable=tuple(
            tokens - most for tokens, most in zip(inputs, usable, strict=True) if tokens > most
        ),
        differences=tuple(tokens - context.tokens for context, tokens in pairs),
        unreported_calls=unreported,
        violations=tuple(
            f"{provider}: {violation.detail}"
            for context in contexts
            for provider in PROVIDERS
            for violation in lint(context.messages, provider)
        ),
        failures=tuple(failures),
    )


def assert_accepted(seen: Acceptance) -> None:
    """Every turn answered, compacted on the way, within the window, legal for all providers."""
    assert seen.failures == ()
    assert seen.turns == TURNS
    assert seen.compactions >= 2
    assert seen.unreported_calls == 0
    assert 0 < seen.largest_input_tokens <= WINDOW_TOKENS
    assert seen.over_usable == ()
    assert seen.violations == ()
