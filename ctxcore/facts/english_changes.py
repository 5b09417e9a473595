"""Owns the English forms that take a rule back or give it another value, clause by clause.

A form alone says little (“you can … now” is said of everything): what a clause is about is told with
it, and only a rule about the same is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ctxcore.facts.matters import matter_of

_CLAUSE: Final = re.compile(r"[,;:!?]|\.(?=\s|$)|\s[-–—]\s|—|\b(?:but|because|since|so that|as long as|if)\b")

_TURNS: Final = re.compile(  # what it is about stands between the verb and the value
    r"^(?:please |ok(?:ay)? |and |so |then |now |also |actually |let's |can you |could you )*(?:move"
    r"|push|shift|bring|raise|lower|increase|decrease|reduce|extend|shorten|bump|cut|drop|set|change"
    r"|switch|turn|relax|loosen|tighten|update|reset|revert|adjust|widen|narrow)\b"
    r"(?: (?:the|my|our|that|your))?(?P<about>[^.;]*?)\b(?:back )?(?:up |down )?(?:to|into|from)\b"
    r"|^(?P<moved>[^.;]*?) (?:moves|changes|switches|goes up|goes down|rises|drops|is moved|has moved"
    r"|is changed|is raised|is lowered|is (?:now|currently)|are now|was moved) (?:to )?"
    r"|\b(?:instead of|rather than|in place of|in lieu of|replacing|no more|^not(?! only| just| really| yet| sure| so)) (?P<instead>[^.;]+)"
    r"|\breplace (?P<replaced>[^.;]*?) (?:with|by)\b"
)
_LIFTS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|(?:don't|doesn't|do not|does not|needn't|need not|won't)"
    r"(?: really| always)? (?:have|has|got) to\b|(?:don't|doesn't|do not|does not)(?: really| always)?"
    r" (?:need|matter|mind)\b|(?:not|isn't|aren't) (?:needed|necessary|required|mandatory|set on"
    r"|strict|bound to)|exempt|exceptions?|except for|excluded|(?:can|may|could|should) be (?:dropped"
    r"|skipped|ignored|removed|lifted|left out)|after all|back on|will do|do too|works? too|also"
    r" (?:fine|ok|okay|works?|allowed)|(?:is|are|it's) (?:also |all )?(?:fine|okay|ok|allowed"
    r"|permitted|welcome|acceptable|alright|right|optional|over|off|gone|back|history|void"
    r"|too (?:few|many|much|short|long|coarse|strict))|(?:was|were) (?:wrong|too [a-z]+)"
    r"|feel free|go ahead and|changed my mind|no need|up to"
    r"|(?:can|may)(?= [a-z ]{2,60}\b(?:now|again|freely|anyway)))\b"
    r"|^(?:please |ok(?:ay)? |and |so |then |you can |let's |just )*(?:drop|forget|skip|ignore|scrap"
    r"|cancel|stop|quit|ditch|lift|disregard|remove|lose|scratch|relax|waive|undo|leave out)\b"
)
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|people|someone|somebody|my (?:neighbou?r|brother|sister|mother|mom|mum"
    r"|father|dad|son|daughter|friend|friends|kids|wife|husband|roommate|aunt|uncle|cousin"
    r"|colleague|coworker)s?|used to|back then)\b"
    r"|^(?:and |so |well |oh )*(?:i|we)(?:'ve(?! changed)|'ll|'d| have(?! changed)| had| was| were"
    r"| will| did| do| can| could| got| went| started| think| guess| know| found)\b"
)
MOST_WORDS: Final = 28  # of a sentence: people take things back in short ones


def own_clauses(words: str) -> list[str]:
    """The clauses of `words` that do not speak of somebody else, or of former times."""
    clauses = map(str.strip, _CLAUSE.split(words))
    return [clause for clause in clauses if clause and not _OTHERS.search(clause)]


def changed_matters(clauses: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """What each clause that takes something back, or gives it another value, is about."""
    for clause in clauses:
        yield from filter(None, map(matter_of, _about(clause)))


def _about(clause: str) -> Iterator[str]:
    for turn in _TURNS.finditer(clause):
        yield from filter(None, turn.groups())
    if _LIFTS.search(clause):
        yield _LIFTS.sub(" ", clause)
