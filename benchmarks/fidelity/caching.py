"""Measure 5: how much of each context is the exact beginning of the one before?

TURNS turns of a conversation are replayed call by call under one budget, a quarter of their
tokens. A break is a call for which more than LOST of the context before must be sent anew, what was
recalled for one request among it. The cost takes an input token at 1 and one that the provider has
cached at CACHED. Beside `default` stands the same without recall: what both reuse tells what recall
costs the cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile

from benchmarks.fidelity.methods import Method
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.replaying import Sent, of_method, of_policy
from benchmarks.fidelity.tables import Column, Table
from benchmarks.fidelity.talks import Talk, count, talk_of
from benchmarks.policies import preset_for_input
from ctxcore.messages.values import JsonObject

TURNS = 100
BUDGET_SHARE = 0.25
CACHED = 0.1
LOST = 0.1
SLIDING = ("last N messages", "head + tail", "langchain-core trim_messages")
NOTHING_RECALLED = Method(
    name="default, nothing recalled", fold=lambda talk, budget: None, is_ours=True
)
HALVED = Method(name="trim to half when full", fold=lambda talk, budget: None)


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """One table over a conversation of each file, short ones put one behind the other."""
    columns = [
        Column(name="prefix"),
        Column(name="reused k", best="none", digits=0),
        Column(name="breaks", best="low", digits=1),
        Column(name="cost k", best="low", digits=0),
        Column(name="input k", best="none", digits=0),
        Column(name="sent", best="none"),
    ]
    table = Table(title=f"5 · Prompt cache over {TURNS} turns under one budget", columns=columns)
    long = sampled(_long(talks), 2 * limit)
    table.notes += [
        f"{len(long)} conversations: {', '.join(f'{t.file} {t.total_tokens:,}' for t in long)} "
        f"tokens, budget {BUDGET_SHARE:.0%} of that",
        f"cost in thousands of input tokens, cached ones at {CACHED}; summaries cost nothing here",
    ]
    for talk in long:
        budget = talk.system_tokens + round(BUDGET_SHARE * talk.total_tokens)
        for method in [*methods, NOTHING_RECALLED, HALVED]:
            if method.is_ours or method.name in SLIDING or method is HALVED:
                tell(f"prompt cache: {talk.id} {method.name}")
                _add(table, method, list(_replayed(talk, method, budget)))
    yield table


def _long(talks: Sequence[Talk]) -> list[Talk]:
    """TURNS turns of each file, its conversations one behind the other under one system prompt."""
    found = []
    for file in dict.fromkeys(talk.file for talk in talks):
        own = [talk for talk in talks if talk.file == file]
        turns = _turns([talk for talk in own if not talk.compactions])
        if len(turns) >= TURNS:
            first = own[0]
            system = [first.messages[at] for at in first.system]
            said = [message for turn in turns[:TURNS] for message in turn]
            found.append(talk_of([*system, *said], id=file, file=file))
    return found


def _turns(talks: Sequence[Talk]) -> list[list[JsonObject]]:
    """The turns of `talks` that have an answer, call ids made unique."""
    found: list[list[JsonObject]] = []
    for number, talk in enumerate(talks):
        for message in talk.messages:
            if message["role"] == "user":
                found.append([])
            if found and message["role"] != "system":
                found[-1].append(_renamed(message, number))
    return [turn for turn in found if turn[-1]["role"] == "assistant"]


def _renamed(message: JsonObject, number: int) -> JsonObject:
    made: JsonObject = json.loads(json.dumps(message))
    if "tool_call_id" in made:
        made["tool_call_id"] = f"{made['tool_call_id']}-{number}"
    calls = made.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            call["id"] = f"{call['id']}-{number}"
    return made


def _replayed(talk: Talk, method: Method, budget: int) -> Iterator[Sent]:
    if method is NOTHING_RECALLED:
        policy = preset_for_input("default").override(recall_ratio=None)
        return of_policy(talk, policy, budget)
    if method.is_ours:
        return of_policy(talk, preset_for_input(method.name), budget)
    if method is HALVED:
        return _halved(talk, budget)
    return of_method(talk, method, budget)


def _halved(talk: Talk, budget: int) -> Iterator[Sent]:
    """Everything until the budget is full, then the newest half of it, from a user message on."""
    system = [talk.messages[at] for at in talk.system]
    start = len(system)
    for at, message in enumerate(talk.messages):
        if message["role"] != "assistant" or at < len(system):
            continue
        if talk.system_tokens + sum(talk.tokens[start:at]) > budget:
            half = (budget - talk.system_tokens) / 2
            starts = [p for p in range(start, at) if talk.messages[p]["role"] == "user"]
            start = next((p for p in starts if sum(talk.tokens[p:at]) <= half), starts[-1])
        yield at, [*system, *talk.messages[start:at]]


def _add(table: Table, method: Method, sent: Sequence[Sent]) -> None:
    shared = total = breaks = 0
    before: Sequence[JsonObject] = ()
    for _, context in sent:
        if context is None:
            continue
        same = _shared_tokens(before, context)
        breaks += bool(before) and same < (1 - LOST) * sum(map(count, before))
        shared, total = shared + same, total + sum(map(count, context))
        before = context
    table.add(method, "prefix", [shared / total if total else 0.0])
    table.add(method, "reused k", [shared / 1_000])
    table.add(method, "breaks", [breaks])
    table.add(method, "cost k", [(total - shared + CACHED * shared) / 1_000])
    table.add(method, "input k", [total / 1_000])
    table.add(method, "sent", [float(context is not None) for _, context in sent])


def _shared_tokens(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> int:
    """The tokens at the beginning that both have: whole messages, and of the next one its text."""
    shared = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            return shared + _shared_text(old, new)
        shared += count(new)
    return shared


def _shared_text(old: JsonObject, new: JsonObject) -> int:
    texts = [old.get("content"), new.get("content")]
    if old["role"] != new["role"] or not all(isinstance(text, str) for text in texts):
        return 0
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(*map(str, texts), strict=False))
    same = "".join(char for char, _ in pairs)
    return count({"role": new["role"], "content": same}) if same else 0
