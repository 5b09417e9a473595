"""Finds English clauses that take a rule back or give it another value.

A form alone is ambiguous (“you can … now” fits everything), so each comes with the content words of
its clause, and only a rule about the same topic is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.reading import Clauses
from ctxcore.facts.topics import is_number, names_something, topic_of
from ctxcore.facts.values import ClauseChange
from ctxcore.text.words import word_set

_CLAUSE: Final = re.compile(
    r"[,;:!?]|\.(?=\s|$)|\s[-–—]\s|—|\b(?:but|because|since|so that|as long as|if)\b"
)

_LEAD: Final = (
    r"(?:please |ok(?:ay)? |and |so |then |now |also |actually |let's |can you |could you )*"
)
_TURN: Final = re.compile(  # the topic stands between the verb and the value
    rf"{_LEAD}(?:(?:move|push|shift|bring|raise|lower|increase|decrease|reduce|extend|shorten|bump"
    rf"|cut"
    r"|drop|set|change|switch|turn|relax|loosen|tighten|update|reset|revert|adjust|widen|narrow)\b"
    r"(?: (?:the|my|our|that|your))?([^.;]*?)(?: back)?(?: up| down)? (?:to|into|from)\b"
    r"|make ([^.;]*?) (?:(?:about|at most|around|under) )?(?=\d)|replace ([^.;]*?) (?:with|by)\b)"
)
_MOVES: Final = re.compile(  # the topic stands before the verb
    r" (?:ha(?:s|ve) (?:gone (?:up|down)|risen)|(?:ha(?:s|ve) been|was|were) (?:raised|lowered|set"
    r"|moved|changed|switched|extended|cut)|went (?:up|down)|can grow|may grow)(?= |$)"
    r"| (?:moves|changes|switches|goes (?:up|down)|rises|drops|(?:is|was) moved|has moved"
    r"|is changed|is raised|is lowered|is (?:now|currently)|are now) (?:to )?"
)
_INSTEAD: Final = re.compile(
    r"\b(?:instead of|rather than|in place of|in lieu of|replacing|no more|^not(?! only| just"
    r"| really| yet| sure| so)) ([^.;]+)"
)
_LIFTS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|(?:don't|doesn't|do not|does not|needn't|need not"
    r"|won't)(?: really| always)? (?:have|has|got) to\b|(?:don't|doesn't|do not|does not)(?: really"
    r"| always)? (?:need|matter|mind)\b|(?:not|isn't|aren't) (?:needed|necessary|required|mandatory"
    r"|set on|strict|bound to)|not(?= (?:allergic|vegetarian|vegan)\b)|(?:needn't|need not)|exempt"
    r"|exceptions?|except for|excluded|(?:can|may|could|should) be (?:dropped|skipped|ignored"
    r"|removed|lifted|left out)|(?:is|are) (?:optional|enough|plenty|sufficient"
    r"|(?:of )?no (?:more )?use|only (?:needed|required|necessary))|(?:was|were) wrong"
    r"|changed my mind|no need|will do|(?:may|can|could) (?:now )?(?:skip|omit|drop|ignore|bypass)"
    r"|(?:is|are) no (?:problem|issue)|(?:stopped|gave up|quit)(?: being| eating)?"
    r"|leave(?= [^.;]{2,40} out\b)|can (?:do|go|live) without|(?:thing|part|bit|idea) (?:is"
    r"|are) (?:off|out|gone|over|dead)|do too|works? too|also (?:fine|ok|okay|works?|allowed)|(?:is"
    r"|are|it's) (?:all )?(?:fine|okay|ok|allowed|welcome|acceptable|alright|right) (?:too"
    r"|as well))\b|^not (?:just|only)\b|(?<=[a-z]) (?:is|are) (?:out|history|off the table)$"
    r"|^(?:please |ok(?:ay)? |and |so |then |you can |let's |just )*(?:drop|forget|skip|ignore"
    r"|scrap"
    r"|cancel|stop|quit|ditch|lift|disregard|remove|lose|scratch|relax|waive|undo|leave out)\b"
    r"|^(?:and |so )*(?:i|we) (?:dropped|scrapped|abolished|lifted|waived|relaxed|removed) the\b"
)
_STOPS: Final = re.compile(r"\b(?:stop|quit) ([a-z]+ing)\b")
_ADDS: Final = re.compile(  # allows another thing beside the only one
    r"\b(?:(?:is|are) (?:also |all )?(?:fine|okay|ok|allowed|permitted|welcome|acceptable|alright"
    r"|right) ?(?:too|as well)?|also (?:works?|fine|okay)|works? (?:too|as well)|will do too)\b"
)
_TOO: Final = re.compile(  # of an amount in the same clause
    r"\b(?:is|are|was|were|seems?|turned out)(?: far| way| a bit| much)? too"
    r" (?:few|many|much|short|long|coarse|strict|tight|little|low|high|late|early|narrow)\b"
    r"|\b(?:is|are)(?:n't| not) enough\b"
)
_PERMITS: Final = re.compile(
    r"\b(?:after all|(?:whenever|wherever|as often as) (?:you|we|they) (?:like|want|wish)|(?:is|are"
    r"|it's) (?:also |all )?(?:fine|okay|ok|allowed|permitted|welcome|acceptable|alright|right"
    r"|possible|back(?: in| on)?(?: the (?:table|menu|list|agenda))?)|feel free|(?:free|welcome) to"
    r"|go ahead and|(?:may|can) (?:be |take |last |cost |have |go |run |get )?up to|(?:can"
    r"|may)(?= [a-z0-9 ]{2,60}\b(?:now|again|freely|anyway)))\b"
)
_NO_CASE: Final = (  # behind “that” or “this”: not one single thing
    r"(?:rules?|instruction|restriction|limit|ban|requirement|polic(?:y|ies)|constraint|guideline"
    r"|convention|freeze|point|month|week|year|quarter|on|is|was|the|an?|we|you|i|it|he|she|they"
    r"|there|no|not|one|way|can|may|will|has|and|or|but|any|all|every\w*|much|many|part|thing)\b"
)
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|people|someone|somebody|my (?:neighbou?r|brother|sister|mother|mom|mum"
    r"|father|dad|son|daughter|friend|friends|kids|wife|husband|roommate|aunt|uncle|cousin"
    r"|colleague|coworker)s?|used to|back then)\b"
    r"|\b(?:says|(?<!i )said|according to|apparently|i hear|i heard)\b"
    r"|^(?:and |so |well |oh )*(?:i|we)(?:'ve(?! changed)|'ll|'d| have(?! changed)| had| was| were"
    r"| will| did| do| can| could| got| went| started| think| guess| know| found)\b"
)
_CASE: Final = re.compile(  # “that ticket”, “page 3”, “today”, “the weather is fine again”
    r"(?<!agreed )(?<!decided )(?<!said )(?<!so )(?<!now )(?<!fine )(?<!okay )\b(?:this|that)"
    rf" (?!{_NO_CASE})[a-z-]+(?<!s)(?!\w)(?!.*\bagain\b)"
    r"|\b(?:page|chapter|section|line|item|step|figure|slide|row|question|task) \d"
    r"|\bthe (?:first|second|third|fourth) (?!rule|instruction|part|half)[a-z]+\b"
    r"|\bthe (?:last|next) (?!rule|instruction|restriction|part|few|days?\b|weeks?\b|months?\b"
    r"|years?\b|morning|two|three|four|five|six|seven|eight|nine|ten)[a-z]+\b"
    r"|\bfrom (?:yesterday|last|this morning|(?:friday|monday)(?! on))\b|\byesterday\b|\btonight\b"
    r"|(?<!as of )(?<!from )(?<!starting )\btoday\b"
    r"|\bno longer (?:has|have|owns?|exists?|open|works?|lives?|teach(?:es)?|sells?)\b(?! to\b)"
    r"|^(?:and |so |but )*(?:the|my|our|his|her|their) (?:[a-z-]+ ){1,2}is (?:all )?(?:fine|ok|okay"
    r"|good|right|alright)(?: now| again)+(?: (?:after(?! all)|since|thanks)\b.*)?$"
)
_ANEW: Final = re.compile(r"\b(?:from now on|from here on|going forward|rules?|as of)\b")
CLAUSES: Final = Clauses(ends=_CLAUSE, others=_OTHERS, case=_CASE, anew=_ANEW)
_WORD: Final = re.compile(r"[a-z']+")
_CUES: Final = word_set("""
    longer anymore more don't doesn't needn't won't needed necessary required mandatory strict
    exempt exception exceptions except excluded dropped skipped ignored removed lifted after back
    too fine ok okay allowed permitted welcome acceptable alright optional off gone history void
    enough plenty sufficient use needn't allergic vegetarian vegan has have been went grow whenever
    wherever often without do bypass omit stopped gave problem issue out table up wrong free
    ahead mind need matter now again freely anyway
    make move push shift bring raise lower increase decrease reduce extend shorten bump cut drop set
    change switch turn relax loosen tighten update reset revert adjust widen narrow moves changes
    switches goes rises drops moved changed raised lowered currently
    instead rather place lieu replacing replace not over also
    dropped scrapped abolished waived relaxed
    forget skip ignore scrap cancel stop quit ditch lift disregard remove lose scratch waive undo
    leave
""")
CUE_PARTS: Final = frozenset(part for cue in _CUES for part in cue.split("'"))
"""Runs of letters: a sentence with none of them changes nothing."""
MOST_WORDS: Final = 28  # of a sentence; chosen: people take rules back in short ones


def aims(words: str) -> Iterator[ClauseChange]:
    """The changes that the clauses of `words` make.

    A clause that names nothing (“use it whenever you like”) has the topic of the one before it.
    """
    if words.count(" ") >= MOST_WORDS or _CUES.isdisjoint(_WORD.findall(words)):
        return
    before = ""
    for clause in CLAUSES.own(words):
        for aim in _aims(clause):
            if topic := aim.topic if names_something(aim.topic) else topic_of(before):
                yield ClauseChange(aim.cue, topic, aim.done)
        before = clause


def _aims(clause: str) -> Iterator[ClauseChange]:
    if turn := _TURN.match(clause):
        yield ClauseChange("turns", topic_of(turn[1] or turn[2] or turn[3] or ""))
    if moves := _MOVES.search(clause):
        yield ClauseChange("turns", topic_of(clause[: moves.start()]))
    if instead := _INSTEAD.search(clause):
        yield ClauseChange("turns", topic_of(instead[1]))
    if _ADDS.search(clause):
        yield ClauseChange("permits", topic_of(_ADDS.sub(" ", clause)))
    if _LIFTS.search(clause):
        stops = _STOPS.search(clause)
        done = topic_of(stops[1]) if stops else ()
        topic = topic_of(_LIFTS.sub(" ", clause))
        yield ClauseChange("lifts", topic, done if names_something(done) else ())
    elif _TOO.search(clause) and any(map(is_number, topic_of(clause))):
        yield ClauseChange("lifts", topic_of(_TOO.sub(" ", clause)))
    elif _PERMITS.search(clause):
        yield ClauseChange("permits", topic_of(_PERMITS.sub(" ", clause)))
