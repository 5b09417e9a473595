"""Owns what sentences settle or leave open: decisions, questions, answers, fixes of errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from ctxcore.errors import UnreadableError
from ctxcore.facts.agent_records import (
    arguments_of,
    changes,
    command_of,
    failures,
    file_uses,
    strings_of,
    todo_state,
)
from ctxcore.facts.literals import literals
from ctxcore.facts.names import names
from ctxcore.facts.reading import (
    OUTPUT_CHARS,
    PROSE_CHARS,
    Sentence,
    latin_words,
    one_line,
    sample,
    sentences,
)
from ctxcore.facts.rule_changes import change_of
from ctxcore.facts.rules import rules
from ctxcore.facts.topics import matter_of
from ctxcore.facts.values import Aim, Fact
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.values import JsonValue, Message, Role, ToolCall
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import StoreProblem
from ctxcore.text.languages import HAN
from ctxcore.text.words import word_set

MOST_DECISIONS: Final = 8
MOST_QUESTIONS: Final = 6
MOST_FIXES: Final = 2
LINE_CHARS: Final = 240

_DECISION = re.compile(
    r"\b(?:(?:(?:i|we)(?:'ve| have)? (?:decided|agreed|settled|opted|concluded)\b|(?:final"
    r" )?decision(?: is|:)|it(?:'s| is) (?:decided|settled|agreed)|agreed:|decided (?:to|on"
    r"|that|against|not)|(?:was|were|has been|have been) (?:agreed|decided|settled)|going with"
    r" (?:option|plan) \w+))"
)
_CHOICE = re.compile(  # a person settles it by saying so; a model says it of every step
    r"\b(?:let'?s (?:go (?:with|for)|use|take|stick (?:to|with)|pick|choose|settle)|(?:i|we)(?:'ll"
    r"| will|'re going to| are going to| am going to|'m going to)(?: just| then)? (?:go (?:with"
    r"|for)|use|take|choose|pick|stick (?:to|with)|adopt|proceed with|book)|(?:i'm|we're|i am"
    r"|we are) going with|we (?:chose|went with)|option [a-d\d] it is|final answer"
    r"|go with (?:option|the|plan)|(?:is|are) approved|please (?:go ahead|proceed) with)"
)
_DECISION_HAN = re.compile(
    "(?:我们?|大家|团队|最[终后]|那|就|已经?|一致)[^，,。？?]{0,6}(?:决定|选定|敲定|定了"
    "|同意|商定)|决定(?:用|采用|选择|使用|在|把|先|不|了|去|改)|就(?:用|选|定|按"
    "|订)(?!不)[^，,。？?]{2,}(?:吧|了|就好|就行|[。！!]|$)|(?:方案|时间|日期"
    "|地点)?(?:定为|定在|敲定)|(?:采用|选择|选用)[^，,。？?]{2,20}方案|结论是"
    "|最终(?:选择|方案|采用)|确定(?:用|采用|选|为|在)"
)
_NOT_DECIDED = re.compile(
    r"\b(?:haven't|have not|not yet|if we|should we|could we|might|maybe|whether|before"
    r" we|once we|when we|until|i wonder|can't decide)\b|还没|没有?决定|如果|要是|还在"
    r"|是否|不知道|难以"
)
_DEFERRED = re.compile(
    r"\b(?:i'll (?:check|look|get back|find out|ask|think|let you know)|let me (?:check"
    r"|think|look|ask|find)|not sure|don't know|no idea|(?:need|have) to (?:check|ask"
    r"|think|look)|get back to you|will (?:check|confirm|follow up)|later\b.{0,20}$|i'm"
    r" unable|cannot say)\b|我(?:去|先|再)?(?:查|问|看)(?:一下|看)|不(?:清楚|知道|确定)"
    r"|稍后|回头|待定|还没定|再说"
)
_DEFERRED_SIGNS: Final = (  # every English form has one of them
    *("i'll", "let me", "not sure", "don't know", "no idea", "need to", "have to", "get back"),
    *("will ", "later", "i'm unable", "cannot say"),
)
_SHORT_QUESTION: Final = re.compile(
    r"(?:right|ok(?:ay)?|really|yes|no|huh|what|why|how|you know|is that so|how are you.*"
    r"|how about you|what about you|and you|what's up|do you know|isn't it|can you"
    r" believe.*|guess what|anything else|what do you think|any (?:other )?(?:questions"
    r"|thoughts|ideas)|(?:can|may|could) i help.*|how can i (?:help|assist).*|is there"
    r" anything else.*|would you like.*|do you have any (?:other )?questions.*)\??$"
)
_SHORT_QUESTION_HAN: Final = re.compile(
    "(?:是吗|对吗|好吗|真的吗|怎么样|你呢|为什么|是不是|行吗|可以吗|知道吗|在吗|你好吗"
    "|什么|吗|呢)[？?]$|还有(?:什么|其他)(?:问题|需要)|需要(?:我)?帮"
)
_QUESTION_END = re.compile(r"[?？][\"'”’)）*]*$")
_FIX = re.compile(
    r"\b(?:fixed (?:it |this |that |the [a-z ]+ )?by|the fix (?:is|was|:)|(?:this|that"
    r"|it) fixe[sd]|(?:root cause|the (?:problem|issue|bug|cause|reason|culprit)) (?:is"
    r"|was|turned out)|solved (?:it |this |that )?by|resolved by|that (?:worked|did it"
    r"|helped|solved)|works now|it works|working now|now passes|all tests pass|the"
    r" solution (?:is|was)|now fixed|i(?:'ve| have)? fixed)\b"
    r"|(?:问题|原因|根因|错误)(?:是|在于|出在)|修复(?:了|方法|方案|好)|已(?:经)?(?:修复"
    r"|解决)|解决(?:了|办法|方法|方案)|通过[^，,。]{2,30}(?:解决|修复)|现在(?:可以|正常"
    r"|好)了|(?:改成|改为)[^，,。]{2,30}(?:就好|后正常)"
)
_FIX_GATE = re.compile(
    r"fix|cause|problem|issue|bug|culprit|reason|sol[uv]|resolved|work|pass|did it|helped"
    r"|[修解问原根错现改]"
)
_DECISION_GATE = re.compile(
    r"let'?s|decid|decision|agreed|settled|going|'ll|will|chose|opted|picked|went with"
    r"|plan|option|final|approved|proceed|go ahead|[决定选敲就采结确]"
)
# A word of each English form above; most sentences have none and need no pattern.
_DECIDING: Final = word_set("""
    decided agreed settled opted concluded decision going go let lets ll will chose went option
    final approved please
""")
_FIXING: Final = word_set("""
    fixed fix fixes root cause problem issue bug reason culprit solved resolved worked did helped
    works working passes pass solution
""")
_HAS_HAN = re.compile(f"[{HAN}]")


def statements(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """Decisions, questions and what fixed an error, each as its sentence, and what is answered."""
    counts = {"decision": 0, "question": 0, "error": 0}
    most = {"decision": MOST_DECISIONS, "question": MOST_QUESTIONS, "error": MOST_FIXES}
    for sentence in said:
        fact = _statement(sentence, role)
        if fact is not None and counts[fact.kind] < most[fact.kind]:
            counts[fact.kind] += 1
            yield fact


def answers(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """What a message may answer: its content words; nothing where it only asks or puts off."""
    told = [s.text for s in said if not _is_question(s.text)]
    words = " ".join(told)[:4_000]
    if words and not (len(words) < 200 and _is_put_off(words.lower().replace("’", "'"))):
        matter = matter_of(words)
        yield Fact(kind="question", text="", key="", effect="answers", matter=matter, role=role)


def _is_put_off(words: str) -> bool:
    is_possible = not words.isascii() or any(map(words.__contains__, _DEFERRED_SIGNS))
    return is_possible and bool(_DEFERRED.search(words))


def _is_question(words: str) -> bool:
    return ("?" in words or "？" in words) and bool(_QUESTION_END.search(words))


def _statement(sentence: Sentence, role: Role) -> Fact | None:
    words = sentence.words
    if _is_question(words):
        return _question(sentence, words, role)
    said = latin_words(words) if words.isascii() else None
    if _may(_DECIDING, said) and _DECISION_GATE.search(words) and _decides(words, role):
        return _fact("decision", sentence, role)
    if _may(_FIXING, said) and _FIX_GATE.search(words) and _FIX.search(words):
        return _fact("error", sentence, role)
    return None


def _may(cues: frozenset[str], said: frozenset[str] | None) -> bool:
    """Whether a sentence has one of `cues`; one with Chinese may have others."""
    return said is None or not cues.isdisjoint(said)


def _decides(words: str, role: Role) -> bool:
    found = _DECISION.search(words) or (role == "user" and _CHOICE.search(words))
    found = found or (_HAS_HAN.search(words) and _DECISION_HAN.search(words))
    return bool(found) and not _NOT_DECIDED.search(words)


def _question(sentence: Sentence, words: str, role: Role) -> Fact | None:
    has_han = bool(_HAS_HAN.search(words))
    is_long = len(words) >= 6 if has_han else len(words.split()) >= 4
    rhetorical = _SHORT_QUESTION_HAN if has_han else _SHORT_QUESTION
    if (
        words.count("`") % 2
        or not is_long
        or rhetorical.match(words.strip())
        or role in ("system", "developer", "tool")
    ):
        return None
    return _fact("question", sentence, role)


def _fact(kind: str, sentence: Sentence, role: Role) -> Fact:
    text = one_line(sentence.text, LINE_CHARS)
    matter = matter_of(sentence.text)
    key = " ".join(text.lower().split())[:200]
    if kind == "error":
        return Fact(kind="error", text=text, key=key, effect="fixes", matter=matter, role=role)
    if kind == "question":
        return Fact(kind="question", text=text, key=key, matter=matter, role=role)
    change = change_of(sentence.words, is_rule=True)
    return Fact(
        kind="decision",
        text=text,
        key=key,
        value="aimed" if change.reach == "aimed" else "",
        effect=change.effect,
        matter=matter,
        about=change.about,
        role=role,
    )


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


_FIELDS: Final = (
    *(
        "kind",
        "text",
        "key",
        "subject",
        "value",
        "effect",
        "matter",
        "is_negative",
        "weight",
        "about",
    ),
)
_DEFAULTS: Final[tuple[JsonValue, ...]] = ("", "", "", "", "", "states", [], False, 1.0, [])


def dump_facts(facts: tuple[Fact, ...]) -> str:
    """The facts of one message as canonical JSON; the role is the message's own."""
    return to_canonical({"finder": FINDER, "facts": [_to_list(fact) for fact in facts]})


def load_facts(text: str | None, role: Role) -> tuple[Fact, ...] | None:
    """The facts that `dump_facts` wrote; None where there are none of this finder.

    Raises:
        ValueError: the text is no list of facts.
    """
    if text is None:
        return None
    stored = cast("dict[str, Any]", parse_canonical(text))
    if not isinstance(stored, dict) or stored.get("finder") != FINDER:
        return None
    try:
        return tuple(_to_fact(values, role) for values in stored["facts"])
    except (TypeError, KeyError) as error:
        raise UnreadableError(StoreProblem.NO_FACTS(reason=reason_of(error))) from error


def _to_list(fact: Fact) -> list[JsonValue]:
    """The fields in order; those at the end that say nothing are left out."""
    values: list[JsonValue] = [
        fact.kind,
        fact.text,
        fact.key,
        fact.subject,
        fact.value,
        fact.effect,
        list(fact.matter),
        fact.is_negative,
        fact.weight,
        [[aim.cue, list(aim.matter), list(aim.done)] for aim in fact.about],
    ]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return values


def _to_fact(values: list[Any], role: Role) -> Fact:
    told: dict[str, Any] = dict(zip(_FIELDS, values, strict=False))
    if "matter" in told:
        told["matter"] = tuple(told["matter"])
    if "about" in told:
        told["about"] = tuple(
            Aim(cue, tuple(matter), tuple(done)) for cue, matter, done in told["about"]
        )
    return Fact(role=role, **told)
