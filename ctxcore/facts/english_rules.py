"""Detects standing instructions in English sentences, and whether they forbid.

Some sentences need no order to lay down a rule (“keep titles under 60 …”): such a form counts where
it opens the sentence and speaks of a kind of thing, not of a single one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ctxcore.facts import english_cues as cues
from ctxcore.text.words import word_set

_DAYS: Final = "mon|tues|wednes|thurs|fri|satur|sun"
_BOUNDS: Final = re.compile(  # lays down a rule without another cue
    r"(?:please )?(?:send|forward|route|copy|cc|write|format|label|prefix|sort|store|save|sign"
    r"|mark|log|tag|name|number|translate|put|place|show|list|report|express|round|present|quote"
    r"|escalate|charge|ship|bill) (?:every|each|all|everything)\b"
    rf"|(?:please )?(?:{cues.VERBS}|escalate|plan|bill)\b[^.;,?]* (?:on (?:{_DAYS})days"
    rf"|(?:\w+ )?(?:times? )?"
    r"(?:a|per|each|every) (?:day|week|month|year|night)|daily|weekly|monthly|hourly"
    r"|by default)[.!]*$"
    r"|(?:please )?(?:reply|respond|answer|show|list|return|give me|offer|suggest|write)\b[^.;,?]*"
    r" (?:at most|no more than|within|in under) (?:\d+|an?|one|two|three|four|five|six|ten"
    r"|twelve)\b"
    rf"|(?:please )?(?:{cues.VERBS}|speak|talk)\b[^.;,?]* (?:only|at a time)[.!]*$"
    r"|(?:please )?only (?!(?:a|an|the|one|two|three|i|he|she|they|we|my|because|if|in|on|at|then"
    r"|time|some|few|you|it|so|that|to|for|with)\b)[a-z]+ (?!(?:and|or|is|are|was|were|of)\b)"
    r"|(?:please )?follow [^.;]*\b(?:style|guide|guidelines|conventions?|format|standard)\b"
    r"|(?:please )?sign (?:my|our|the) [a-z]+s? (?:as|with)\b"
    r"|(?:please )?round (?:up |down )?to (?:the (?:nearest|next)|\w+ (?:decimals?|digits?|places))"
    r"|(?:please )?use (?:two|three|four|eight|\d+|single|double|soft|hard|british|american)[ -]\w+"
    r"|all [a-z ]{2,40}\bneed \w+"
    r"|(?:please )?keep [^.;]{2,60}\b(?:above|below|under|within|at)\b[^.;]{0,10}\d+ ?(?:percent|%)"
    r"|(?:please )?keep (?:the|my|our|every|each|all)\b[^.;]*\b(?:under|below|above|within"
    r"|at most|at least|between)\b[^.;]*\d"
    r"|(?:please )?keep (?!the |this |that |it )[a-z ]{3,40} (?:under|below|above|within|at most"
    r"|at least|between) (?:\d|two|three|five|ten|twenty|thirty|sixty)"
    r"|(?:please )?(?:indent|name|format|label|sort|group|spell|prefix|number)"
    r" (?!the |this |that |it |a |an |my |your )[^.;,?]{2,40} (?:with|by|after|as) "
    r"|(?:please )?(?:send|e?mail|forward|post|submit|file|write) (?:the|my|our) (?:daily|weekly"
    r"|monthly|quarterly|yearly|annual) [a-z]+ (?:to|on|by|in|before)\b"
    r"|(?:please )?use (?!the |this |that |it |a |an |my |your )[^.;,?]{2,30} for [a-z]+ing\b"
    r"|(?:please )?(?:send|deliver|export|save|store|print|draw|write)"
    r" (?!the |this |that |it |an? |my |your |me |us )[a-z ]{2,30}s (?:as|in) "
    r"|(?:the|our|my) [a-z ]{2,40} (?:is|are) (?:at most|no more than|at least|limited to|capped"
    r" at)\b"
    rf"|(?:please )?(?:{cues.VERBS}|water)\b[^.;,?]* every (?:{_DAYS})day[.!]*$"
    r"|(?:each|every) [a-z ]{2,30} (?:gets?|receives?|has|have) (?:no more than|at most|at least"
    r"|only|up to)\b"
    r"|(?:the|our|my)\b[^.;?]* (?:is|are) always (?:on|at|due|before|after|the)\b(?=.*(?:day|\d))"
    r"|(?:the|our|my|an?|each|every|all)\b[^.;?]{2,60} (?:may|can|must|should) (?:[a-z]+ )?(?:at"
    r" most|no more than|at least)\b"
    r"|(?:please )?make sure\b[^.;]*\b(?:whatever happens|no matter what|at all times|every time"
    r"|stays?|remains?|runs?)\b"
    r"|before (?:you|\w+ing)\b[^.;?]*[, ](?:ask|check with|tell|let|wait for) (?:me|my)\b"
    r"|(?:i|we) prefer\b"
)
_OF_OTHERS: Final = re.compile(
    r"\b(?:my (?:building|landlord|school|job|office|house|country|mom|dad)|i(?:'m| am)|he|she"
    r"|they)\b"
)
_OBLIGES: Final = re.compile(
    r"\b(?:needs?|requires?|must|should|never|always|only|please|don'?t|do not)\b"
)
_NARRATES: Final = re.compile(
    r"\b(?:i|he|she|they|we) (?!ask|say|tell|want|explicitly|approve|confirm|request|send|paste"
    r"|share)[a-z]+"
)
_DIET: Final = re.compile(
    r"\b(?:i'm|i am|we are|we're) (?:\w+ )?(?:allergic to|vegetarian|vegan)\b"
)


def is_rule(sentence: str) -> bool:
    """Whether an English sentence, lower case and masked, is a standing instruction."""
    words = frozenset(cues.WORD.findall(sentence))
    tests = [test for signs, test in _TESTS if not signs.isdisjoint(words)]
    if not tests:
        return False
    if sentence.rstrip("\"'”’)*_ !").endswith("?"):
        return bool(cues.POLITE.search(sentence)) and not cues.ASKS.match(sentence)
    if not cues.IDIOM_WORDS.isdisjoint(words):
        sentence = cues.IDIOMS.sub(" , ", sentence)
    if not any(test(sentence) for test in tests) or cues.HEARSAY.search(sentence):
        return False
    return not cues.ONE_OFF.search(sentence) or bool(cues.STANDING.search(sentence))


def is_negative(sentence: str) -> bool:
    """Whether the sentence forbids something."""
    return bool(cues.NEGATIVE.search(sentence))


def _is_bound(words: str) -> bool:
    """Whether the sentence tells what holds of a thing or a person, without an order."""
    return bool(_BOUNDS.match(words) or _DIET.search(words))


def _opened(words: str, found: Iterator[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """Each cue with the text before it in its clause."""
    for cue in found:
        starts = [stop.end() for stop in cues.BREAK.finditer(words, 0, cue.start())]
        yield cue, words[starts[-1] if starts else 0 : cue.start()].strip()


def _opens_clause(before: str, rest: str) -> bool:
    """Whether nothing but softeners, a condition or another order stands before a cue."""
    if cues.PRE.fullmatch(before + " ") or cues.PRE.fullmatch(before):
        is_loose = before in ("and", "but", "or", "so") or before.endswith(cues.MAY)
        return not (is_loose and rest.startswith(("never", "always")))
    return bool(cues.PRE_WHEN.match(before) or cues.PRE_VERB.fullmatch(before))


def _is_imperative(words: str) -> bool:
    for cue, before in _opened(words, cues.IMPERATIVE.finditer(words)):
        is_flat = cue[1].startswith(("never", "always"))  # “do not” has only the bare form after it
        bare = not is_flat or not cues.NOT_A_BASE.match(words[cue.start(2) :])
        is_order = bare or _is_exception(words, cue, before)
        if is_order and (_opens_clause(before, cue[1]) or _continues_order(words, before)):
            return True
    return False


def _is_exception(words: str, cue: re.Match[str], before: str) -> bool:
    """Whether the cue limits an order to a place: “Work on a branch, never on main”."""
    return not before and bool(cues.ORDER_WHERE.match(words)) and bool(cues.PLACE.match(cue[2]))


def _continues_order(words: str, before: str) -> bool:
    """Whether “and never …” goes on with an order; in a sentence about somebody it tells."""
    return before == "so" or (before in ("and", "but", "or") and not cues.TELLS.match(words))


def _is_only(words: str) -> bool:
    return any(
        _opens_clause(before, opening)
        for pattern, opening in ((cues.ONLY_VERB, "only"), (cues.VERB_ONLY, ""))
        for _, before in _opened(words, pattern.finditer(words))
    )


def _is_must(words: str) -> bool:
    for cue, before in _opened(words, cues.MUST.finditer(words)):
        after = " ".join(part for part in (cue[2], cue[3]) if part)
        if not after or not before or cues.NO_MUST_SUBJECT.search(before):
            continue
        if cues.SPECULATES.match(after) or cues.MUSES.search(words):
            continue
        subject = before.split()[-1]
        if not cue[1] and (cues.FEELING.match(after) or subject in ("we", "they")):
            continue
        if not (subject in ("it", "this") and after.startswith("be")):
            return True
    return False


def _is_quantified(words: str) -> bool:
    return bool(cues.EVERY.match(words)) and not cues.FEELING.search(words)


def _is_forbidden(words: str) -> bool:
    return bool(cues.NOT_ALLOWED.search(words)) and not _OF_OTHERS.search(words)


def _is_standing(words: str) -> bool:
    if cues.RULE_HEAD.search(words) or cues.WHENEVER.match(words) or cues.WE_DO.search(words):
        return True
    found = cues.STANDING.search(words)
    if not found or cues.TELLS.match(words.lstrip()):
        return False
    if re.match(r"(?:before|after|without|until|unless|every|each|whenever|any)", found[0]):
        return _has_order(words, found)
    return True


def _has_order(words: str, condition: re.Match[str]) -> bool:
    """Whether there is an order beside a condition, which alone may belong to a story."""
    if _OBLIGES.search(words) and (
        "my" in words.split() or "you" in words.split() or _is_imperative(words)
    ):
        return not _NARRATES.search(words)
    if re.search(
        rf", (?:please |then |also |you (?:must|should) )?(?:{cues.VERBS})\b",
        words[condition.end() :],
    ):
        return True
    first = re.match(rf"(?:{cues.SOFT}[ ,]*)*([a-z]+)", words.lstrip(" ,"))
    return bool(first and re.fullmatch(cues.VERBS, first[1]))


def _is_directive(words: str) -> bool:
    for cue, before in _opened(words, cues.DIRECTIVE.finditer(words)):
        if _opens_clause(before, "") and words[: cue.start()].rstrip()[-1:] != "(":
            return True
    return bool(cues.I_WANT.search(words)) and "?" not in words


def _is_no_thing(words: str) -> bool:
    if cues.TELLS.match(words.lstrip()) or len(words.split()) > 16:
        return False
    return any(
        not before or before in ("and", "but", "please")
        for cue, before in _opened(words, cues.NO_THING.finditer(words))
        if words[: cue.start()].rstrip()[-1:] != "("
    )


# Each test runs only where the sentence has one of its words.
_TESTS: Final[tuple[tuple[frozenset[str], Callable[[str], bool]], ...]] = (
    (word_set("never always not don't dont avoid"), _is_imperative),
    (word_set("must mustn't"), _is_must),
    (
        word_set("""
            on onwards onward starting today forward henceforth hereafter future times circumstances
            case account rest remainder all until unless without needs need requires require every
            each whenever any anytime time standing before after now rule rules constraint
            constraints requirement requirements convention conventions preference preferences only
            always never soon ever
        """),
        _is_standing,
    ),
    (
        word_set("""
            reply respond answer write speak talk communicate explain chat keep limit restrict call
            address refer stick prefer treat consider use stop quit cease refrain sure ensure see
            ask check consult confirm tell warn notify inform alert let get wait ping run show
            remember bear leave stay hands assume default end start begin sign cite add include put
            give provide format name prefix update document test review log mention attach append
            not quote round sort spell express number if when be let's want like expect need require
            never always only don't rather
        """),
        _is_directive,
    ),
    (
        word_set("""
            every each all everything keep sure before prefer indent name format label sort group
            spell prefix number always may can must should allergic vegetarian vegan on a per day
            daily weekly monthly hourly default most more within under only sign round use
        """),
        _is_bound,
    ),
    (word_set("only"), _is_only),
    (word_set("all every each any no none nobody only"), _is_quantified),
    (
        word_set("""
            i every make always read only confidential frozen secret you shall may important
            essential crucial imperative vital should ought need needs has have can allowed
            permitted acceptable accepted tolerated forbidden prohibited off-limits limits banned
            mandatory compulsory unacceptable bounds
        """),
        _is_forbidden,
    ),
    (word_set("no"), _is_no_thing),
)
