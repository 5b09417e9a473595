"""Owns what holds of a piece of work in English without a word of order: “keep titles under 60 …”.

A form counts where it opens the sentence, and speaks of a kind of thing, not of one of them.
"""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.english_words import VERBS

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
    r"|time"
    r"|some|few|you|it|so|that|to|for|with)\b)[a-z]+ (?!(?:and|or|is|are|was|were|of)\b)"
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
