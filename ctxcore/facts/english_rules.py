"""Owns what holds of a piece of work in English without a word of order: “keep titles under 60 …”.

A form counts where it opens the sentence, and speaks of a kind of thing, not of one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ctxcore.facts.english_cues import (
    ASKS,
    BREAK,
    DIRECTIVE,
    EVERY,
    FEELING,
    HEARSAY,
    I_WANT,
    IDIOM_WORDS,
    IDIOMS,
    IMPERATIVE,
    MAY,
    MUSES,
    MUST,
    NEGATIVE,
    NO_MUST_SUBJECT,
    NO_THING,
    NOT_A_BASE,
    NOT_ALLOWED,
    ONE_OFF,
    ONLY_VERB,
    ORDER_WHERE,
    PLACE,
    POLITE,
    PRE,
    PRE_VERB,
    PRE_WHEN,
    RULE_HEAD,
    SOFT,
    SPECULATES,
    STANDING,
    TELLS,
    VERB_ONLY,
    VERBS,
    WE_DO,
    WHENEVER,
    WORD,
)

_DAYS: Final = "mon|tues|wednes|thurs|fri|satur|sun"
_BOUNDS: Final = re.compile(  # what stays true of the work or the person without another cue
    r"(?:please )?(?:send|forward|route|copy|cc|write|format|label|prefix|sort|store|save|sign"
    r"|mark|log|tag|name|number|translate|put|place|show|list|report|express|round|present|quote"
    r"|escalate|charge|ship|bill) (?:every|each|all|everything)\b"
    rf"|(?:please )?(?:{VERBS}|escalate|plan|bill)\b[^.;,?]* (?:on (?:{_DAYS})days"
    rf"|(?:\w+ )?(?:times? )?"
    r"(?:a|per|each|every) (?:day|week|month|year|night)|daily|weekly|monthly|hourly"
    r"|by default)[.!]*$"
    r"|(?:please )?(?:reply|respond|answer|show|list|return|give me|offer|suggest|write)\b[^.;,?]*"
    r" (?:at most|no more than|within|in under) (?:\d+|an?|one|two|three|four|five|six|ten"
    r"|twelve)\b"
    rf"|(?:please )?(?:{VERBS}|speak|talk)\b[^.;,?]* (?:only|at a time)[.!]*$"
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
    rf"|(?:please )?(?:{VERBS}|water)\b[^.;,?]* every (?:{_DAYS})day[.!]*$"
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
_DIET: Final = re.compile(
    r"\b(?:i'm|i am|we are|we're) (?:\w+ )?(?:allergic to|vegetarian|vegan)\b"
)


def is_bound(words: str) -> bool:
    """Whether an English sentence says what holds of a thing or a person, without an order."""
    return bool(_BOUNDS.match(words) or _DIET.search(words))


def is_rule(sentence: str) -> bool:
    """Whether an English sentence, lower case and masked, lays down what holds from then on."""
    said = frozenset(WORD.findall(sentence))
    tests = [test for cues, test in _TESTS if not cues.isdisjoint(said)]
    if not tests:
        return False
    if sentence.rstrip("\"'”’)*_ !").endswith("?"):
        return bool(POLITE.search(sentence)) and not ASKS.match(sentence)
    words = sentence if IDIOM_WORDS.isdisjoint(said) else IDIOMS.sub(" , ", sentence)
    if not any(test(words) for test in tests):
        return False
    return not HEARSAY.search(words) and (not ONE_OFF.search(words) or bool(STANDING.search(words)))


def is_negative(sentence: str) -> bool:
    """Whether it forbids."""
    return bool(NEGATIVE.search(sentence))


def _opened(words: str, found: Iterator[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """Each cue with what its clause says before it."""
    for cue in found:
        starts = [stop.end() for stop in BREAK.finditer(words, 0, cue.start())]
        yield cue, words[starts[-1] if starts else 0 : cue.start()].strip()


def _opens_clause(before: str, rest: str) -> bool:
    """Whether nothing but softeners, a condition or another order stands before a cue."""
    if PRE.fullmatch(before + " ") or PRE.fullmatch(before):
        is_loose = before in ("and", "but", "or", "so") or before.endswith(MAY)
        return not (is_loose and rest.startswith(("never", "always")))
    return bool(PRE_WHEN.match(before) or PRE_VERB.fullmatch(before))


def _is_imperative(words: str) -> bool:
    for cue, before in _opened(words, IMPERATIVE.finditer(words)):
        is_flat = cue[1].startswith(("never", "always"))  # “do not” has only the bare form after it
        bare = not is_flat or not NOT_A_BASE.match(words[cue.start(2) :])
        if (bare or _where(words, cue, before)) and (
            _opens_clause(before, cue[1]) or _is_told(words, before)
        ):
            return True
    return False


def _where(words: str, cue: re.Match[str], before: str) -> bool:
    """“Work on a branch, never on main”: an order and where it holds not."""
    return not before and bool(ORDER_WHERE.match(words)) and bool(PLACE.match(cue[2]))


def _is_told(words: str, before: str) -> bool:
    """“and never …” after a comma goes on with an order, unless the sentence tells a story."""
    return before == "so" or (before in ("and", "but", "or") and not TELLS.match(words))


def _is_only(words: str) -> bool:
    only = any(_opens_clause(pre, "only") for _, pre in _opened(words, ONLY_VERB.finditer(words)))
    return only or any(
        _opens_clause(pre, "") for _, pre in _opened(words, VERB_ONLY.finditer(words))
    )


def _is_must(words: str) -> bool:
    for cue, before in _opened(words, MUST.finditer(words)):
        after = " ".join(part for part in (cue[2], cue[3]) if part)
        if (
            not after
            or not before
            or NO_MUST_SUBJECT.search(before)
            or SPECULATES.match(after)
            or MUSES.search(words)
        ):
            continue
        if FEELING.match(after) and not cue[1]:
            continue
        if before.split()[-1] in ("we", "they") and not cue[1]:
            continue
        if before.split()[-1] in ("it", "this") and after.startswith("be"):
            continue
        return True
    return False


def _is_quantified(words: str) -> bool:
    return bool(EVERY.match(words)) and not FEELING.search(words)


def _is_forbidden(words: str) -> bool:
    return bool(NOT_ALLOWED.search(words)) and not re.search(
        r"\b(?:my (?:building|landlord|school|job|office|house|country|mom|dad)|i(?:'m| am)"
        r"|he|she|they)\b",
        words,
    )


def _is_standing(words: str) -> bool:
    if RULE_HEAD.search(words) or WHENEVER.match(words) or WE_DO.search(words):
        return True
    found = STANDING.search(words)
    if not found or TELLS.match(words.lstrip()):
        return False
    first = re.match(rf"(?:{SOFT}[ ,]*)*([a-z]+)", words.lstrip(" ,"))
    if re.match(r"(?:before|after|without|until|unless|every|each|whenever|any)", found[0]):
        return _orders(words, found, first[1] if first else "")
    return True


def _orders(words: str, found: re.Match[str], first: str) -> bool:
    """A condition alone may be a story: there must be an order, or someone who is told."""
    if re.search(
        r"\b(?:needs?|requires?|must|should|never|always|only|please|don'?t|do not)\b", words
    ) and ("my" in words.split() or "you" in words.split() or _is_imperative(words)):
        return not re.search(
            r"\b(?:i|he|she|they|we) (?!ask|say|tell|want|explicitly|approve|confirm|request|send"
            r"|paste|share)[a-z]+",
            words,
        )
    rest = words[found.end() :]
    ordered = re.search(rf", (?:please |then |also |you (?:must|should) )?(?:{VERBS})\b", rest)
    return bool(ordered) or bool(re.fullmatch(rf"{VERBS}", first))


def _is_directive(words: str) -> bool:
    for cue, before in _opened(words, DIRECTIVE.finditer(words)):
        if _opens_clause(before, "") and words[: cue.start()].rstrip()[-1:] != "(":
            return True
    return bool(I_WANT.search(words)) and "?" not in words


def _is_no_thing(words: str) -> bool:
    if TELLS.match(words.lstrip()) or len(words.split()) > 16:
        return False
    return any(
        not before or before in ("and", "but", "please")
        for cue, before in _opened(words, NO_THING.finditer(words))
        if words[: cue.start()].rstrip()[-1:] != "("
    )


def _cues(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TESTS: Final[tuple[tuple[frozenset[str], Callable[[str], bool]], ...]] = (
    # a test runs only where the sentence has one of its words
    (_cues("never always not don't dont avoid"), _is_imperative),
    (_cues("must mustn't"), _is_must),
    (
        _cues(
            "on onwards onward starting today forward henceforth hereafter future times"
            " circumstances case account rest remainder all until unless without needs need"
            " requires require every each whenever any anytime time standing before after now rule"
            " rules constraint constraints requirement requirements convention conventions"
            " preference preferences only always never soon ever"
        ),
        _is_standing,
    ),
    (
        _cues(
            "reply respond answer write speak talk communicate explain chat keep limit restrict"
            " call address refer stick prefer treat consider use stop quit cease refrain sure"
            " ensure see ask check consult confirm tell warn notify inform alert let get wait ping"
            " run show remember bear leave stay hands assume default end start begin sign cite add"
            " include put give provide format name prefix update document test review log mention"
            " attach append not quote round sort spell express number if when be let's want like"
            " expect need require never always only don't rather"
        ),
        _is_directive,
    ),
    (
        _cues(
            "every each all everything keep sure before prefer indent name format label sort group"
            " spell prefix number always may can must should allergic vegetarian vegan on a"
            " per day daily weekly monthly hourly default most more within under only sign round"
            " use"
        ),
        is_bound,
    ),
    (_cues("only"), _is_only),
    (_cues("all every each any no none nobody only"), _is_quantified),
    (
        _cues(
            "i every make always read only confidential frozen secret you shall may important"
            " essential crucial imperative vital should ought need needs has have can allowed"
            " permitted acceptable accepted tolerated forbidden prohibited off-limits limits"
            " banned mandatory compulsory unacceptable bounds"
        ),
        _is_forbidden,
    ),
    (_cues("no"), _is_no_thing),
)
