"""Measure 4: is a standing instruction, said once, still there at 5 % of the history?

A sentence is put into a real conversation as a user's turn that is acknowledged: before the first
user message, before the one in the middle, before the last. It is there if its core stands in the
context word for word. Of an update the stale rule must be gone and the new one there: the rule is
said at one of the three places, its update at a later one. Of what is said in passing half changes
a rule, and half only speaks of the same things: there the rule must still stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal

from benchmarks.fidelity.methods import Method
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.said import Said
from benchmarks.fidelity.tables import Best, Column, Table
from benchmarks.fidelity.talks import Talk, talk_of
from ctxcore.messages.values import JsonObject

Where = Literal["first", "middle", "last"]
WHERE: tuple[Where, ...] = ("first", "middle", "last")
SHARE = 0.05
FEWEST, MOST = 6_000, 36_000  # tokens of a host
FEWEST_TURNS = 10
HOSTS_PER_LIMIT = 2
SENTENCES = Path(__file__).parent.parent / "data" / "instructions.json"
REPLY = {"en": "Understood.", "zh": "好的。"}
LANGUAGES = ("en", "zh")
PASSING: Mapping[str, Best] = {"both": "high", "held": "high", "lost": "low"}


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """A table of rules, one of updates and one of changes in passing, by language."""
    quick = [method for method in methods if not method.is_slow]
    hosts = {language: _hosts(talks, language, limit) for language in LANGUAGES}
    yield _rules(hosts, quick)
    yield _updates(hosts, quick)
    yield _changes(hosts, quick)


def _hosts(talks: Sequence[Talk], language: str, limit: int) -> list[Talk]:
    """Conversations of that language that are long enough; else the longest one."""
    own = [talk for talk in talks if talk.has_chinese == (language == "zh") and _turns(talk)]
    fitting = [
        talk
        for talk in own
        if FEWEST <= talk.total_tokens <= MOST and len(_turns(talk)) >= FEWEST_TURNS
    ]
    longest = sorted(own, key=lambda talk: -talk.total_tokens)[:1]
    return sampled(fitting or longest, limit * HOSTS_PER_LIMIT)


def _turns(talk: Talk) -> list[int]:
    """The user messages that a turn may be put before: nothing is open there."""
    roles = [message["role"] for message in talk.messages]
    return [at for at, role in enumerate(roles) if role == "user"]


def _place(talk: Talk, where: Where) -> int:
    turns = _turns(talk)
    return {"first": turns[0], "middle": turns[len(turns) // 2], "last": turns[-1]}[where]


def _with(talk: Talk, said: Mapping[Where, str], language: str) -> Talk:
    """`talk` with a turn for each sentence of `said` at its place."""
    places = {_place(talk, where): words for where, words in said.items()}
    messages: list[JsonObject] = []
    for at, message in enumerate(talk.messages):
        if at in places:
            messages.append({"role": "user", "content": places[at]})
            messages.append({"role": "assistant", "content": REPLY[language]})
        messages.append(message)
    return talk_of(messages, id=talk.id)


def _budget(talk: Talk) -> int:
    return round(SHARE * talk.total_tokens) + talk.system_tokens


def _rules(hosts: Mapping[str, Sequence[Talk]], methods: Sequence[Method]) -> Table:
    columns = [Column(name=f"{lang} {where}") for lang in LANGUAGES for where in WHERE]
    table = Table(title="4 · Standing instructions at 5 % of the history", columns=columns)
    table.notes += _sizes(hosts, "said")
    for language in LANGUAGES:
        for number, sentence in enumerate(_sentences("said", language)):
            for host in _host(hosts[language], number):
                for where in WHERE:
                    talk = _with(host, {where: sentence["says"]}, language)
                    tell(f"instructions: {language} {number} {where}")
                    for method in methods:
                        has = Said(method.fold(talk, _budget(talk)) or ()).has(sentence["core"])
                        table.add(method, f"{language} {where}", [float(has)])
    return table


def _updates(hosts: Mapping[str, Sequence[Talk]], methods: Sequence[Method]) -> Table:
    kinds = ("gone", "new", "both")
    columns = [
        Column(name=f"{lang} {kind}", best="high" if kind == "both" else "none")
        for lang in LANGUAGES
        for kind in kinds
    ]
    table = Table(title="4 · Updates: the stale rule gone, the new one there", columns=columns)
    table.notes += _sizes(hosts, "updates")
    for language in LANGUAGES:
        for number, sentence in enumerate(_sentences("updates", language)):
            for host in _host(hosts[language], number):
                for old, new_at in combinations(WHERE, 2):
                    said = {old: sentence["first"], new_at: sentence["then"]}
                    talk = _with(host, said, language)
                    tell(f"updates: {language} {number} {new_at}")
                    for method in methods:
                        left = Said(method.fold(talk, _budget(talk)) or ())
                        gone, new = not left.has(sentence["stale"]), left.has(sentence["new"])
                        table.add(method, f"{language} gone", [float(gone)])
                        table.add(method, f"{language} new", [float(new)])
                        table.add(method, f"{language} both", [float(gone and new)])
    return table


def _changes(hosts: Mapping[str, Sequence[Talk]], methods: Sequence[Method]) -> Table:
    columns = [
        Column(name=f"{lang} {kind}", best=best)
        for lang in LANGUAGES
        for kind, best in PASSING.items()
    ]
    title = "4 · Said in passing: a changed rule is replaced, one that is only mentioned is held"
    table = Table(title=title, columns=columns)
    table.notes += _sizes(hosts, "changes")
    table.notes.append("both: of a change, the rule gone and the new one there, if there is one")
    table.notes.append("held: of as many rules that are only mentioned again, those still there")
    table.notes.append(
        "lost: the others of those that are there while nothing more is said of them"
    )
    for language in LANGUAGES:
        for number, sentence in enumerate(_sentences("changes", language)):
            for _, talk in _said_later(hosts[language], number, sentence, language):
                tell(f"changes: {language} {number}")
                for method in methods:
                    left = Said(method.fold(talk, _budget(talk)) or ())
                    table.add(method, f"{language} both", [float(is_replaced(sentence, left))])
        for number, sentence in enumerate(_sentences("mentions", language)):
            for alone, talk in _said_later(hosts[language], number, sentence, language):
                tell(f"mentions: {language} {number}")
                for method in methods:
                    left = Said(method.fold(talk, _budget(talk)) or ())
                    is_held = left.has(core(sentence))
                    table.add(method, f"{language} held", [float(is_held)])
                    if Said(method.fold(alone, _budget(alone)) or ()).has(core(sentence)):
                        table.add(method, f"{language} lost", [float(not is_held)])
    return table


def is_replaced(sentence: Mapping[str, str], left: Said) -> bool:
    """Whether the rule of `sentence` is gone, and what takes its place, if anything, is there."""
    return not left.has(core(sentence)) and left.has(sentence.get("new", ""))


def core(sentence: Mapping[str, str]) -> str:
    """What must stand of a rule."""
    return sentence["rule"].rstrip(".。")


def _said_later(
    hosts: Sequence[Talk], number: int, sentence: Mapping[str, str], language: str
) -> Iterator[tuple[Talk, Talk]]:
    """A talk with the rule alone, and one with what is said of it later: the places take turns."""
    places = list(combinations(WHERE, 2))
    first, then = places[number % len(places)]
    for host in _host(hosts, number):
        alone = _with(host, {first: sentence["rule"]}, language)
        yield alone, _with(host, {first: sentence["rule"], then: sentence["later"]}, language)


def _host(hosts: Sequence[Talk], number: int) -> list[Talk]:
    """The host of a sentence: they take turns."""
    return [hosts[number % len(hosts)]] if hosts else []


def _sizes(hosts: Mapping[str, Sequence[Talk]], kind: str) -> list[str]:
    files = {lang: sorted({talk.file for talk in found}) for lang, found in hosts.items()}
    return [
        f"{language}: {len(_sentences(kind, language))} sentences in turn in "
        f"{len(hosts[language])} conversations of {', '.join(files[language])}"
        for language in LANGUAGES
    ]


def _sentences(kind: str, language: str) -> list[dict[str, str]]:
    return [found for found in _all()[kind] if found["language"] == language]


@cache
def _all() -> dict[str, list[dict[str, str]]]:
    read: dict[str, list[dict[str, str]]] = json.loads(SENTENCES.read_text(encoding="utf-8"))
    return read
