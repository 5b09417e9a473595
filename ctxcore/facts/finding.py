"""Owns finding the facts of one message: bounded work, the same facts every time, never an error.

A long text is read at its head and tail. Rules are read from people alone, error lines from tool
outputs alone, uses of files from calls alone; literals from everyone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from ctxcore.facts.failures import command_of, failures
from ctxcore.facts.file_uses import arguments_of, changes, file_uses, strings_of
from ctxcore.facts.literals import literals
from ctxcore.facts.names import names
from ctxcore.facts.reading import OUTPUT_CHARS, PROSE_CHARS, sample, sentences
from ctxcore.facts.rules import rules
from ctxcore.facts.statements import answers, statements
from ctxcore.facts.todos import todo_state
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, Role, ToolCall

FINDER: Final = 3
"""The finder's version, stored with what it found: one more for every change of what is found."""
INSTRUCTING: Final[tuple[Role, ...]] = ("user", "system", "developer")
MOST_FACTS: Final = 160
MOST_CALLS: Final = 32
RULE_ALONE_CHARS: Final = 200
SHORT_CHARS: Final = 1_000  # of a message whose rules are remembered as long as most are
CALL_CHARS: Final = 2_000  # of the texts of a call read for literals


def find_facts(
    message: Message,
    *,
    function_name: str = "",
    arguments: str = "",
    known_rules: Sequence[Fact] | None = None,
) -> tuple[Fact, ...]:
    """What `message` says that must not get lost, in the order of kinds.

    For a tool result, `function_name` and `arguments` are those of the call it answers.
    `known_rules` is what `find_rules` said of the message, so that they are not found twice.
    """
    found = (
        _of_output(message, function_name, arguments)
        if message.is_tool_result
        else _of_speech(message, known_rules)
    )
    return _unique(found)


def find_rules(message: Message) -> tuple[Fact, ...]:
    """Those facts of `message` that lay down standing instructions or take them back."""
    if message.role not in INSTRUCTING:
        return ()
    if message.calls:
        return tuple(fact for fact in find_facts(message) if fact.kind == "instruction")
    text = message.text
    if not text:
        return ()
    rules_in = _rules_in_short if len(text) <= SHORT_CHARS else _rules_in_long
    return rules_in(text, message.role)


def is_rule_alone(message: Message) -> bool:
    """Whether a short message of a person says nothing but one standing instruction.

    It opens like one: “The parcel must arrive before Friday” is a request as well.
    """
    text = message.text.strip()
    if len(text) > RULE_ALONE_CHARS or not _OPENS_RULE.match(text.lower()):
        return False
    found = find_rules(message)
    return len(found) == 1 and found[0].text.strip() == " ".join(text.split())


_OPENS_RULE: Final = re.compile(
    r"(?:please |from now on,? )?(?:never|always|don['’]t|do not|only|from now on|use|keep|send"
    r"|make sure|round|no)\b|i prefer\b"
    r"|(?:请)?(?:不要|别|只能|必须|一律|以后|今后|从现在|每次|每天|称呼|叫我)"
    r"|[^，。]{1,8}(?:一律|必须|统一|都(?:发给|安排|写)|不要超过|最多)"
)


def _rules_in(text: str, role: Role) -> tuple[Fact, ...]:
    return _unique(rules(list(sentences(sample(text, PROSE_CHARS))), role))


# A list is passed again with every turn, and of one longer than this nothing would be found again.
_rules_in_short = lru_cache(maxsize=16_384)(_rules_in)
_rules_in_long = lru_cache(maxsize=1_024)(_rules_in)


def _unique(found: Iterable[Fact]) -> tuple[Fact, ...]:
    unique: dict[tuple[str, str, str, str], Fact] = {}
    for fact in found:
        unique.setdefault((fact.kind, fact.key, fact.effect, fact.subject), fact)
        if len(unique) >= MOST_FACTS:
            break
    return tuple(unique.values())


def _of_speech(message: Message, known_rules: Sequence[Fact] | None) -> Iterator[Fact]:
    for call in message.calls[:MOST_CALLS]:
        yield from _of_call(call, message)
    text = sample(message.text, PROSE_CHARS)
    if not text:
        return
    said = list(sentences(text))
    if message.role in INSTRUCTING:
        yield from rules(said, message.role) if known_rules is None else known_rules
    if message.role == "user":  # people paste errors
        yield from failures(text, message.role, "")
    yield from statements(said, message.role)
    if message.role in ("user", "assistant"):
        yield from answers(said, message.role)
    yield from literals(text, message.role)
    yield from names(said, message.role)


def _of_call(call: ToolCall, message: Message) -> Iterator[Fact]:
    arguments = arguments_of(call.arguments)
    todo = todo_state(call.name, arguments, message.role)
    if todo is not None:
        yield todo
        return
    yield from file_uses(call.name, arguments, message.role)
    told = "\n".join(text for text in strings_of(arguments).values() if len(text) <= CALL_CHARS)
    yield from literals(told[:CALL_CHARS], message.role)


def _of_output(message: Message, function_name: str, arguments: str) -> Iterator[Fact]:
    whole = message.text
    text = sample(whole, OUTPUT_CHARS)
    command = command_of(strings_of(arguments_of(arguments))) if arguments else ""
    is_looked_up = not command and bool(
        list(file_uses(function_name, arguments_of(arguments), "tool"))
    )
    if not is_looked_up:  # the words of a file are no news of an error
        yield from failures(text, message.role, command)
        yield from changes(sample(whole, OUTPUT_CHARS * 8), message.role)
    yield from literals(text, message.role)
