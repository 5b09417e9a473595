"""A counter whose numbers can be checked by hand: one token a word.

A message then takes 4 and its words, a call 13 and the words of name and arguments, a result 10,
its words and those of the function's name; the reply is primed with 3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import oversize_tokens
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy


class Words:
    """Counts every word as one token."""

    id = "words"
    is_exact = True

    def count(self, text: str) -> int:
        """The words of `text`."""
        return len(text.split())


class Quarters:
    """A token for every four bytes begun."""

    id = "quarters"
    is_exact = True

    def count(self, text: str) -> int:
        """The quarters of the bytes of `text`, rounded up."""
        return -(-len(text.encode("utf-8", "replace")) // 4)


def words(count: int, word: str = "word") -> str:
    """`count` words."""
    return " ".join([word] * count)


def context_of(
    history: Sequence[Message],
    usable: int,
    *,
    policy: Policy | None = None,
    active: Compaction | None = None,
    pinned: Collection[int] = (),
    excluded: Collection[int] = (),
    knowledge: Mapping[str, str] | None = None,
    tools_tokens: int = 0,
    offers_expand: bool = False,
) -> Context:
    """The context of `history` within `usable` tokens, every word one; marks count from 1."""
    policy = policy or Policy()
    budget = policy.input_budget(usable, tools_tokens=tools_tokens)
    view = ListHistory(
        history,
        Words(),
        pinned=pinned,
        excluded=excluded,
        oversize_tokens=oversize_tokens(policy, budget),
    )
    call = Call(
        policy=policy,
        counter=Words(),
        budget=budget,
        tools_tokens=tools_tokens,
        knowledge=knowledge or {},
        offers_expand=offers_expand,
    )
    context = build_context(view, call, active)
    assert context.tokens <= usable
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[]] * 4
    return context


def sent(context: Context) -> list[str]:
    """What is sent, a message a line, calls by their ids."""
    lines = []
    for message in parse_messages(context.messages):
        calls = "".join(f" ({made.id})" for made in message.calls)
        lines.append(f"{message.role}: {message.text}{calls}")
    return lines
