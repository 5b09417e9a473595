"""Owns the English forms that take a rule back or give it another value, clause by clause.

A form alone says little (“you can … now” is said of everything): what a clause is about is told
with it, and only a rule about the same is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.clauses import Clauses
from ctxcore.facts.matters import matter_of
from ctxcore.facts.values import Aim

_CLAUSE: Final = re.compile(
    r"[,;:!?]|\.(?=\s|$)|\s[-–—]\s|—|\b(?:but|because|since|so that|as long as|if)\b"
)

_LEAD: Final = (
    r"(?:please |ok(?:ay)? |and |so |then |now |also |actually |let's |can you |could you )*"
)
_TURN: Final = re.compile(  # what it is about stands between the verb and the value
    rf"{_LEAD}(?:(?:move|push|shift|bring|raise|lower|increase|decrease|reduce|extend|shorten|bump"
    rf"|cut"
    r"|drop|set|change|switch|turn|relax|loosen|tighten|update|reset|revert|adjust|widen|narrow)\b"
    r"(?: (?:the|my|our|that|your))?([^.;]*?)\b(?:back )?(?:up |down )?(?:to|into|from)\b"
    r"|make ([^.;]*?) (?:(?:about|at most|around|under) )?(?=\d)|replace ([^.;]*?) (?:with|by)\b)"
)
_MOVES: Final = re.compile(  # … or before it
    r" (?:moves|changes|switches|goes (?:up|down)|rises|drops|(?:is|was) moved|has moved|is changed"
    r"|is raised|is lowered|is (?:now|currently)|are now) (?:to )?"
)
_INSTEAD: Final = re.compile(
    r"\b(?:instead of|rather than|in place of|in lieu of|replacing|no more|^not(?! only| just"
    r"| really| yet| sure| so)) ([^.;]+)"
)
_LIFTS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|(?:don't|doesn't|do not|does not|needn't|need not|won't)"
    r"(?: really| always)? (?:have|has|got) to\b|(?:don't|doesn't|do not|does not)(?: really"
    r"| always)?"
    r" (?:need|matter|mind)\b|(?:not|isn't|aren't) (?:needed|necessary|required|mandatory|set on"
    r"|strict|bound to)|exempt|exceptions?|except for|excluded|(?:can|may|could"
    r"|should) be (?:dropped|skipped|ignored|removed|lifted|left out)|(?:is|are) (?:optional"
    r"|too (?:few|many|much|short|long|coarse|strict)|enough)|(?:was|were) (?:wrong|too [a-z]+)"
    r"|changed my mind|no need|will do|do too|works? too|also (?:fine|ok|okay|works?|allowed)"
    r"|(?:is|are|it's) (?:all )?(?:fine|okay|ok|allowed|welcome|acceptable|alright|right) (?:too"
    r"|as well))\b"
    r"|^(?:please |ok(?:ay)? |and |so |then |you can |let's |just )*(?:drop|forget|skip|ignore"
    r"|scrap"
    r"|cancel|stop|quit|ditch|lift|disregard|remove|lose|scratch|relax|waive|undo|leave out)\b"
)
_PERMITS: Final = re.compile(
    r"\b(?:after all"
    r"|(?:is|are|it's) (?:also |all )?(?:fine|okay|ok|allowed|permitted|welcome|acceptable|alright"
    r"|right|back(?: in| on)?)|feel free|go ahead and|(?:may|can) (?:be |take |last |cost"
    r" |have )?up to|(?:can|may)(?= [a-z ]{2,60}\b(?:now|again|freely|anyway)))\b"
)
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|people|someone|somebody|my (?:neighbou?r|brother|sister|mother|mom|mum"
    r"|father|dad|son|daughter|friend|friends|kids|wife|husband|roommate|aunt|uncle|cousin"
    r"|colleague|coworker)s?|used to|back then)\b"
    r"|^(?:and |so |well |oh )*(?:i|we)(?:'ve(?! changed)|'ll|'d| have(?! changed)| had| was| were"
    r"| will| did| do| can| could| got| went| started| think| guess| know| found)\b"
)
CLAUSES: Final = Clauses(_CLAUSE, _OTHERS)
_WORD: Final = re.compile(r"[a-z']+")
_CUE_WORDS = """
    longer anymore more don't doesn't needn't won't needed necessary required mandatory strict
    exempt exception exceptions except excluded dropped skipped ignored removed lifted after back
    too fine ok okay allowed permitted welcome acceptable alright optional off gone history void
    enough up wrong free ahead mind need matter now again freely anyway
    make move push shift bring raise lower increase decrease reduce extend shorten bump cut drop set
    change switch turn relax loosen tighten update reset revert adjust widen narrow moves changes
    switches goes rises drops moved changed raised lowered currently
    instead rather place lieu replacing replace not over also
    forget skip ignore scrap cancel stop quit ditch lift disregard remove lose scratch waive undo
    leave
"""
_CUES: Final = frozenset(_CUE_WORDS.split())
CUE_PARTS: Final = frozenset(part for cue in _CUES for part in cue.split("'"))
"""Runs of letters: a sentence with none of them changes nothing."""
MOST_WORDS: Final = 28  # of a sentence: people take things back in short ones


def aims(words: str) -> Iterator[Aim]:
    """What each clause of `words` takes back, or gives another value."""
    if words.count(" ") >= MOST_WORDS or _CUES.isdisjoint(_WORD.findall(words)):
        return
    for clause in CLAUSES.of(words):
        found = list(_aims(clause))
        if found and not _OTHERS.search(clause):
            yield from (aim for aim in found if aim.matter)


def _aims(clause: str) -> Iterator[Aim]:
    if turn := _TURN.match(clause):
        yield Aim("turns", matter_of(turn[1] or turn[2] or turn[3]))
    if moves := _MOVES.search(clause):
        yield Aim("turns", matter_of(clause[: moves.start()]))
    if instead := _INSTEAD.search(clause):
        yield Aim("turns", matter_of(instead[1]))
    if _LIFTS.search(clause):
        yield Aim("lifts", matter_of(_LIFTS.sub(" ", clause)))
    elif _PERMITS.search(clause):
        yield Aim("permits", matter_of(_PERMITS.sub(" ", clause)))
