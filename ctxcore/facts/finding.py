"""Finds the facts of a message, and stores them as JSON.

Its own are decisions, questions, answers and fixes of errors; all others come from `rules`,
`literals`, `names` and `agent_records`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, Literal, cast

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
from ctxcore.facts.bindings import bindings, bound_by, is_labelled
from ctxcore.facts.literals import literals
from ctxcore.facts.names import names
from ctxcore.facts.reading import (
    OUTPUT_CHARS,
    PROSE_CHARS,
    Sentence,
    one_line,
    sample,
    sentences,
    statement_key,
)
from ctxcore.facts.speakers import words_from
from ctxcore.facts.topics import topic_of
from ctxcore.facts.values import KINDS, ClauseChange, Effect, Fact, Kind
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.values import Message, Role, ToolCall
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import StoreProblem
from ctxcore.text.languages import has_han
from ctxcore.text.latin import latin_words, plain_words
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

# Chosen: bounds for one message, so that a long report does not fill the ledger.
MOST_STATEMENTS: Final = {"decision": 8, "question": 6, "error": 2}
LINE_CHARS: Final = 240

_DECISION = late(
    r"\b(?:(?:(?:i|we)(?:'ve| have)? (?:decided|agreed|settled|opted|concluded)\b|(?:final"
    r" )?decision(?: is|:)|it(?:'s| is) (?:decided|settled|agreed)|agreed:|decided (?:to|on"
    r"|that|against|not)|(?:was|were|has been|have been) (?:agreed|decided|settled)|going with"
    r" (?:option|plan) \w+))"
)
_CHOICE = late(  # a person settles it by saying so; a model says it of every step
    r"\b(?:let'?s (?:go (?:with|for)|use|take|stick (?:to|with)|pick|choose|settle)|(?:i|we)(?:'ll"
    r"| will|'re going to| are going to| am going to|'m going to)(?: just| then)? (?:go (?:with"
    r"|for)|use|take|choose|pick|stick (?:to|with)|adopt|proceed with|book)|(?:i'm|we're|i am"
    r"|we are) going with|we (?:chose|went with)|option [a-d\d] it is|final answer"
    r"|go with (?:option|the|plan)|(?:is|are) approved|please (?:go ahead|proceed) with)"
)
_DECISION_HAN = late(
    "(?:我们?|大家|团队|最[终后]|那|就|已经?|一致)[^，,。？?]{0,6}(?:决定|选定|敲定|定了"
    "|同意|商定)|决定(?:用|采用|选择|使用|在|把|先|不|了|去|改)|就(?:用|选|定|按"
    "|订)(?!不)[^，,。？?]{2,}(?:吧|了|就好|就行|[。！!]|$)|(?:方案|时间|日期"
    "|地点)?(?:定为|定在|敲定)|(?:采用|选择|选用)[^，,。？?]{2,20}方案|结论是"
    "|最终(?:选择|方案|采用)|确定(?:用|采用|选|为|在)"
)
_NOT_DECIDED = late(
    r"\b(?:haven't|have not|not yet|if we|should we|could we|might|maybe|whether|before"
    r" we|once we|when we|until|i wonder|can't decide)\b|还没|没有?决定|如果|要是|还在"
    r"|是否|不知道|难以"
)
_DEFERRED = late(
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
_SHORT_QUESTION: Final = late(
    r"(?:right|ok(?:ay)?|really|yes|no|huh|what|why|how|you know|is that so|how are you.*"
    r"|how about you|what about you|and you|what's up|do you know|isn't it|can you"
    r" believe.*|guess what|anything else|what do you think|any (?:other )?(?:questions"
    r"|thoughts|ideas)|(?:can|may|could) i help.*|how can i (?:help|assist).*|is there"
    r" anything else.*|would you like.*|do you have any (?:other )?questions.*)\??$"
)
_SHORT_QUESTION_HAN: Final = late(
    "(?:是吗|对吗|好吗|真的吗|怎么样|你呢|为什么|是不是|行吗|可以吗|知道吗|在吗|你好吗"
    "|什么|吗|呢)[？?]$|还有(?:什么|其他)(?:问题|需要)|需要(?:我)?帮"
)
_CLOSING: Final = "\"'”’)）*"
_FIX = late(
    r"\b(?:fixed (?:it |this |that |the [a-z ]+ )?by|the fix (?:is|was|:)|(?:this|that"
    r"|it) fixe[sd]|(?:root cause|the (?:problem|issue|bug|cause|reason|culprit)) (?:is"
    r"|was|turned out)|solved (?:it |this |that )?by|resolved by|that (?:worked|did it"
    r"|helped|solved)|works now|it works|working now|now passes|all tests pass|the"
    r" solution (?:is|was)|now fixed|i(?:'ve| have)? fixed)\b"
    r"|(?:问题|原因|根因|错误)(?:是|在于|出在)|修复(?:了|方法|方案|好)|已(?:经)?(?:修复"
    r"|解决)|解决(?:了|办法|方法|方案)|通过[^，,。]{2,30}(?:解决|修复)|现在(?:可以|正常"
    r"|好)了|(?:改成|改为)[^，,。]{2,30}(?:就好|后正常)"
)
_FIX_GATE = late(
    r"fix|cause|problem|issue|bug|culprit|reason|sol[uv]|resolved|work|pass|did it|helped"
    r"|[修解问原根错现改]"
)
_DECISION_GATE = late(
    r"let'?s|decid|decision|agreed|settled|going|'ll|will|chose|opted|picked|went with"
    r"|plan|option|final|approved|proceed|go ahead|[决定选敲就采结确]"
)
# A word of each English form above: sentences with none of them need no pattern.
_DECIDING: Final = word_set("""
    decided agreed settled opted concluded decision going
""")
_CHOOSING: Final = _DECIDING | word_set("""
    go use take stick pick choose settle adopt proceed book chose went option final approved
""")
_FIXING: Final = word_set("""
    fixed fix fixes root cause problem issue bug reason culprit solved resolved worked did helped
    works working passes pass solution
""")
_TOLD: Final = _DECIDING | _FIXING
_TOLD_BY_PEOPLE: Final = _CHOOSING | _FIXING


def statements(text: str, said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """Decisions, questions and what fixed an error, each as its sentence of those in `text`."""
    counts = Counter[str]()
    may_tell = not text.isascii() or not _telling(role).isdisjoint(latin_words(text))
    for sentence in said:
        if not may_tell and not _is_question(sentence.words):
            continue
        kind = _kind_of(sentence.words, role)
        if kind and counts[kind] < MOST_STATEMENTS[kind]:
            counts[kind] += 1
            yield _statement(kind, sentence, role)


def settings(said: Sequence[Sentence], role: Role, stated: Sequence[Fact]) -> Iterator[Fact]:
    """What a person binds to a value, or marks as to remember, where it is not among `stated`."""
    known = {fact.text for fact in stated if fact.effect != "revokes"}
    for sentence, bound in zip(said, bound_by(said, role), strict=True):
        text = one_line(sentence.text, LINE_CHARS)
        if text in known:
            continue
        if len(bound) > 1:
            yield from (_setting(one.text, one.subject, role) for one in bound)
        elif bound or is_labelled(sentence):
            yield _setting(text, bound[0].subject if bound else "", role)


def _setting(text: str, subject: str, role: Role) -> Fact:
    return Fact(kind="setting", text=text, key=statement_key(text), subject=subject, role=role)


def answers(said: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """What may answer an earlier question: the content words of a message that tells something."""
    words = " ".join([s.text for s in said if not _is_question(s.text)])[:4_000]
    if words and not (len(words) < 200 and _is_put_off(words.lower().replace("’", "'"))):
        topic = topic_of(words)
        yield Fact(kind="question", text="", key="", effect="answers", topic=topic, role=role)


def _is_put_off(words: str) -> bool:
    is_possible = not words.isascii() or any(map(words.__contains__, _DEFERRED_SIGNS))
    return is_possible and bool(_DEFERRED.search(words))


def _is_question(words: str) -> bool:
    return words.rstrip(_CLOSING).endswith(("?", "？"))


def _kind_of(words: str, role: Role) -> Literal["question", "decision", "error"] | None:
    if _is_question(words):
        return "question" if _is_open_question(words, role) else None
    plain = plain_words(words) if words.isascii() else None  # Chinese sentences have other cues
    may_decide = plain is None or not _deciding(role).isdisjoint(plain)
    if may_decide and _DECISION_GATE.search(words) and _decides(words, role):
        return "decision"
    may_fix = plain is None or not _FIXING.isdisjoint(plain)
    return "error" if may_fix and _FIX_GATE.search(words) and _FIX.search(words) else None


def _deciding(role: Role) -> frozenset[str]:
    return _CHOOSING if role == "user" else _DECIDING


def _telling(role: Role) -> frozenset[str]:
    return _TOLD_BY_PEOPLE if role == "user" else _TOLD


def _decides(words: str, role: Role) -> bool:
    found = _DECISION.search(words) or (role == "user" and _CHOICE.search(words))
    found = found or (has_han(words) and _DECISION_HAN.search(words))
    return bool(found) and not _NOT_DECIDED.search(words)


def _is_open_question(words: str, role: Role) -> bool:
    """Whether a question wants an answer: one by a person or a model, no phrase of politeness."""
    if role not in ("user", "assistant") or words.count("`") % 2:
        return False
    if has_han(words):
        return len(words) >= 6 and not _SHORT_QUESTION_HAN.match(words.strip())
    return len(words.split()) >= 4 and not _SHORT_QUESTION.match(words.strip())


def _statement(
    kind: Literal["question", "decision", "error"], sentence: Sentence, role: Role
) -> Fact:
    text = one_line(sentence.text, LINE_CHARS)
    fact = Fact(
        kind=kind,
        text=text,
        key=" ".join(text.lower().split())[:200],
        effect="fixes" if kind == "error" else "states",
        topic=topic_of(sentence.text),
        role=role,
    )
    if kind != "decision":
        return fact
    from ctxcore.facts.rule_changes import change_of  # late: has many patterns

    change = change_of(sentence.words, is_rule=True)
    bound = bindings(sentence) if role == "user" else ()
    subject = bound[0].subject if bound else ""
    return replace(fact, effect=change.effect, about=change.about, subject=subject)


FINDER: Final = 9
"""The version of the finder, stored with its facts; raise it when other facts are found."""
INSTRUCTING: Final[tuple[Role, ...]] = ("user", "system", "developer")
# Chosen: bounds on the work that one message makes.
MOST_FACTS: Final = 160
MOST_CALLS: Final = 32
RULE_ALONE_CHARS: Final = 200
SHORT_CHARS: Final = 1_000  # of a message whose rules go to the larger cache
CALL_CHARS: Final = 2_000  # of the texts of a call that are read for literals


def find_facts(
    message: Message,
    *,
    function_name: str = "",
    arguments: str = "",
    known_rules: Sequence[Fact] | None = None,
) -> tuple[Fact, ...]:
    """The facts in `message`, in the order of kinds.

    For a tool result, `function_name` and `arguments` are those of the call it answers.
    `known_rules` is the result of `find_rules`, so that rules are not searched twice.
    """
    if message.is_tool_result:
        return _unique(_of_output(message, function_name, arguments))
    return _unique(_of_speech(message, known_rules))


def find_rules(message: Message) -> tuple[Fact, ...]:
    """The facts of `message` that are standing instructions or take some back."""
    if message.role not in INSTRUCTING:
        return ()
    if message.calls:
        return tuple(fact for fact in find_facts(message) if fact.kind == "instruction")
    text = message.text
    rules_in = _rules_in_short if len(text) <= SHORT_CHARS else _rules_in_long
    return rules_in(text, message.role)


def is_rule_alone(message: Message) -> bool:
    """Whether a short message of a person is one standing instruction and nothing else.

    It has to open like one: “The parcel must arrive before Friday” is a request as well.
    """
    text = message.text.strip()
    if len(text) > RULE_ALONE_CHARS or not _OPENS_RULE.match(text[words_from(text) :].lower()):
        return False
    found = [fact for fact in find_rules(message) if fact.effect != "revokes" or fact.about]
    return len(found) == 1 and found[0].text.strip() == " ".join(text.split())


_OPENS_RULE: Final = late(
    r"(?:please |from now on,? )?(?:never|always|don['’]t|do not|only|from now on|use|keep|send"
    r"|make sure|round|no)\b|i prefer\b"
    r"|(?:请)?(?:不要|别|只能|必须|一律|以后|今后|从现在|每次|每天|称呼|叫我)"
    r"|[^，。]{1,8}(?:一律|必须|统一|都(?:发给|安排|写)|不要超过|最多)"
)


def _rules_of(said: list[Sentence], role: Role) -> Iterator[Fact]:
    from ctxcore.facts.rules import rules  # late: has many patterns

    return rules(said, role)


def _rules_in(text: str, role: Role) -> tuple[Fact, ...]:
    return _unique(_rules_of(list(sentences(sample(text, PROSE_CHARS))), role))


# Every turn passes all messages again; a cache smaller than their number would never be hit.
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
        yield from _of_call(call, message.role)
    text = sample(message.text, PROSE_CHARS)
    if not text:
        return
    said, role = list(sentences(text)), message.role
    rules: Sequence[Fact] = ()
    if role in INSTRUCTING:
        rules = list(_rules_of(said, role)) if known_rules is None else known_rules
        yield from rules
    if role == "user":  # people paste errors
        yield from failures(text, role, "")
    decided = list(statements(text, said, role))
    yield from decided
    if role == "user":
        yield from settings(said, role, [*rules, *decided])
    if role in ("user", "assistant"):
        yield from answers(said, role)
    yield from literals(text, role)
    yield from names(said, role)


def _of_call(call: ToolCall, role: Role) -> Iterator[Fact]:
    arguments = arguments_of(call.arguments)
    if todo := todo_state(call.name, arguments, role):
        yield todo
        return
    yield from file_uses(call.name, arguments, role)
    texts = [text for text in strings_of(arguments).values() if len(text) <= CALL_CHARS]
    yield from literals("\n".join(texts)[:CALL_CHARS], role)


def _of_output(message: Message, function_name: str, arguments: str) -> Iterator[Fact]:
    text = sample(message.text, OUTPUT_CHARS)
    values = arguments_of(arguments)
    command = command_of(strings_of(values))
    if command or not any(file_uses(function_name, values, "tool")):  # a file's text is no failure
        yield from failures(text, message.role, command)
        yield from changes(sample(message.text, OUTPUT_CHARS * 8), message.role)
    yield from literals(text, message.role)


# In the order of the stored lists, each with its default; defaults at the end are not stored.
_FIELDS: Final[dict[str, object]] = {
    **dict.fromkeys(("kind", "text", "key", "subject", "value"), ""),
    **{"effect": "states", "topic": (), "is_negative": False, "weight": 1.0, "about": ()},
}
_values_of = attrgetter(*_FIELDS)
_DEFAULTS: Final = tuple(_FIELDS.values())


def dump_facts(facts: tuple[Fact, ...]) -> str:
    """The facts of one message as canonical JSON, without its role."""
    return to_canonical({"finder": FINDER, "facts": [_to_list(fact) for fact in facts]})


def load_facts(text: str | None, role: Role) -> tuple[Fact, ...] | None:
    """The facts that `dump_facts` wrote; None where another version of the finder found them.

    Raises:
        ValueError: the text is no list of facts.
    """
    if text is None:
        return None
    stored = cast("dict[str, Any]", parse_canonical(text))
    if not isinstance(stored, dict) or stored.get("finder") != FINDER:
        return None
    try:
        facts = tuple(_to_fact(values, role) for values in stored["facts"])
        for fact in facts:
            if fact.kind not in KINDS:
                raise KeyError(fact.kind)
        return facts
    except (TypeError, KeyError) as error:
        raise UnreadableError(StoreProblem.NO_FACTS(reason=reason_of(error))) from error


def _to_list(fact: Fact) -> list[Any]:
    values = list(_values_of(fact))
    if fact.about:
        values[-1] = [[aim.said, aim.sign, aim.freeing] for aim in fact.about]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return values


def _to_fact(values: list[Any], role: Role) -> Fact:
    if len(values) == len(_FIELDS):
        return _changing_fact(values, role)
    if len(values) <= _TOPIC:
        return _repeated_fact(role, *values)
    values[_TOPIC] = tuple(values[_TOPIC])
    return (_simple_fact if values[_TOPIC] else _repeated_fact)(role, *values)


_TOPIC: Final = list(_FIELDS).index("topic")


def _simple_fact(
    role: Role,
    kind: Kind,
    text: str = "",
    key: str = "",
    subject: str = "",
    value: str = "",
    effect: Effect = "states",
    topic: tuple[str, ...] = (),
    is_negative: bool = False,
    weight: float = 1.0,
) -> Fact:
    """A fact that changes no rule, with its fields in the order of the stored lists."""
    return Fact(
        kind=kind,
        text=text,
        key=key,
        subject=subject,
        value=value,
        effect=effect,
        topic=topic,
        role=role,
        is_negative=is_negative,
        weight=weight,
    )


# The same names and numbers are said again and again, statements with a topic are not.
_repeated_fact = lru_cache(maxsize=16_384)(_simple_fact)


def _changing_fact(values: list[Any], role: Role) -> Fact:
    fields: dict[str, Any] = dict(zip(_FIELDS, values, strict=False))
    fields["topic"] = tuple(fields["topic"])
    fields["about"] = tuple(ClauseChange(*aim) for aim in fields["about"])
    return Fact(role=role, **fields)
