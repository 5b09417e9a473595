"""Measure 3: are the arguments of the call that was really made next still in the context?

Before each assistant message with tool calls, what precedes it is folded to a share of its tokens;
system prompts and tool definitions are sent besides and lie outside the share. Values are the
leaves of the arguments, of three characters or more, that occur before, outside system prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchmarks.fidelity.methods import Folded, Method, is_over
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.said import Said
from benchmarks.fidelity.tables import Column, Table
from benchmarks.fidelity.talks import Talk, call_values
from ctxcore import lint
from ctxcore.assembly.legality import PROVIDERS
from ctxcore.messages.values import JsonObject

SHARES = (0.25, 0.50)
CALLS_PER_LIMIT = 40
OWN_TABLE = 20  # calls from which on a file has a table of its own
FEWEST, MOST = 500, 32_000  # tokens before the call, system prompt left out

Place = tuple[Talk, int]


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """A table for each file with enough calls, and one for the others together."""
    places = [(talk, at) for talk in talks for at in _calls(talk)]
    others: list[Place] = []
    for file, group in groupby(places, key=lambda place: place[0].file):
        found = list(group)
        if len(found) >= OWN_TABLE:
            yield _of_file(file, found, methods, limit * CALLS_PER_LIMIT)
        else:
            others += found
    if others:
        files = ", ".join(dict.fromkeys(talk.file for talk, _ in others))
        yield _of_file(files, others, methods, limit * CALLS_PER_LIMIT)


def _calls(talk: Talk) -> list[int]:
    """The places of messages with calls, enough before them and a value that was said there."""
    found, before = [], 0
    for at, message in enumerate(talk.messages):
        if message.get("tool_calls") and FEWEST <= before <= MOST and _values(talk, at):
            found.append(at)
        before += 0 if message["role"] == "system" else talk.tokens[at]
    return found


def _values(talk: Talk, at: int) -> list[str]:
    values = call_values(talk.messages[at])
    said = Said(_spoken(talk.messages[:at])) if values else Said(())
    return [value for value in values if said.has_value(value)]


def _spoken(messages: Sequence[JsonObject]) -> list[JsonObject]:
    return [message for message in messages if message["role"] != "system"]


def _of_file(file: str, places: list[Place], methods: Sequence[Method], most: int) -> Table:
    names = [f"{share:.0%}" for share in SHARES]
    columns = [
        Column(name=f"{kind} {name}", best="high" if kind == "kept" else "none")
        for name in names
        for kind in ("kept", "bad", "over")
    ]
    harms = [column.name for column in columns if column.best == "none"]
    table = Table(title=f"3 · The next real call: {file}", columns=columns, harms=harms)
    taken = sampled(places, most)
    table.notes += [
        f"{len(taken)} of {len(places)} messages with calls, each folded to a share of the tokens "
        "before it; system prompts outside the share",
        "kept: argument values still there; bad: refused by OpenAI, Anthropic, "
        "Gemini or Bedrock; over: more than 1 % above the budget, or nothing could be sent",
    ]
    for done, (talk, at) in enumerate(taken):
        tell(f"next call: {file} {done + 1} of {len(taken)}")
        before, values = talk.until(at), _values(talk, at)
        for share, name in zip(SHARES, names, strict=True):
            for method in methods:
                _add(table, method, name, before, values, share)
    return table


def _add(
    table: Table, method: Method, name: str, before: Talk, values: Sequence[str], share: float
) -> None:
    system = before.system_tokens
    budget = system + round(share * (before.total_tokens - system))
    folded = method.fold(before, budget)
    said = Said(_spoken(folded or ()))
    table.add(method, f"kept {name}", [float(said.has_value(value)) for value in values])
    table.add(method, f"bad {name}", [float(_is_refused(folded))])
    table.add(method, f"over {name}", [float(is_over(folded, budget))])


def _is_refused(folded: Folded) -> bool:
    """Whether some provider would not take it; one with nothing said is never taken."""
    if not folded or not _spoken(folded):
        return True
    return any(lint(folded, provider) for provider in PROVIDERS)
