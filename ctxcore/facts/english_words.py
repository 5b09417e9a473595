"""Owns the words around a cue in English: what may stand before an order, and what tells instead.

Forms are lower case; a sentence is read with its quotations masked.
"""

from __future__ import annotations

import re
from typing import Final

VERBS: Final = (
    "add|address|aim|answer|append|apply|ask|assume|avoid|back|base|begin|book|break"
    "|bring|build|call|change|check"
    "|choose|cite|clean|close|code|comment|commit|communicate|compile|confirm|consider"
    "|contact|convert|copy|create"
    "|cut|deal|default|delete|deploy|describe|discuss|display|do|document|download|drop"
    "|edit|email|enable|end|ensure"
    "|escape|exclude|execute|explain|export|file|fill|fix|focus|follow|format|generate"
    "|get|give|go|guess|handle|hide"
    "|hold|ignore|implement|import|include|indent|inform|insert|install|invent|invoke"
    "|keep|label|leave|let|limit|link"
    "|list|load|lock|log|look|make|mark|merge|mention|migrate|modify|mock|move|name|note"
    "|notify|obey|offer|open|order"
    "|output|overwrite|pass|paste|pick|pin|place|post|prefer|prefix|prepare|present"
    "|print|proceed|process|produce"
    "|promise|propose|provide|publish|pull|push|put|query|quote|raise|read|rebase"
    "|recommend|record|refactor|refer"
    "|reformat|refuse|release|rely|remind|remove|rename|render|repeat|replace|reply"
    "|report|request|require|reserve"
    "|respect|respond|restart|return|reuse|reveal|review|revert|rewrite|round|run|save"
    "|say|schedule|search|select|send"
    "|set|share|ship|show|sign|simplify|skip|sort|speak|specify|split|squash|start|state"
    "|stay|stick|stop|store|submit"
    "|suggest|summari[sz]e|support|switch|tag|take|talk|target|tell|test|think|throw"
    "|touch|track|translate|treat|trust"
    "|try|turn|type|update|upgrade|upload|use|validate|verify|wait|warn|work|wrap|write"
)
LANGUAGES: Final = (
    "english|german|french|spanish|italian|portuguese|dutch|russian|japanese|korean"
    "|chinese|mandarin|cantonese|arabic"
    "|hindi|turkish|polish|swedish|danish|norwegian|finnish|czech|greek|hebrew|ukrainian"
    "|vietnamese|thai|latin"
)
REPLIES: Final = (
    r"(?:answers?|reply|replies|responses?|messages?|explanations?|summar(?:y|ies)"
    r"|commits?|commit messages|functions?"
    r"|comments?|sentences?|paragraphs?|emails?|output|tone|language|lines?|line length"
    r"|code|everything|things|files?"
    r"|posts?|titles?|tests|it)"
)
IDIOMS = re.compile(
    r"\bnever ?mind\b|\bnever (?:say never|in a million|again[!.,]|too late|fails?"
    r"|ever(?! [a-z]))|\bnever (?:give up|lose|stop"
    r"|forget (?:who|that|how|where|it|the)|underestimate|look back|settle|let anyone|be"
    r" afraid|doubt)\b[^.;]*"
    r"|\balways (?:believe|follow your|be yourself|stay (?:strong|positive|true|safe"
    r"|curious)|remember (?:that )?you"
    r"|keep (?:your head|smiling|going|growing|learning)|here|there|look on)\b[^.;]*"
    r"|\b(?:do not|don'?t)(?: ever)? (?:you(?! ever)|know|think|have(?! to)|need|see"
    r"|understand|like|want(?! (?:you|any|to (?:see|be asked|get)))|remember|mind|worry"
    r"|care|believe"
    r"|feel|really|give up|hesitate|sweat|stress|bother(?! to)|miss|panic|lose|beat"
    r" yourself|mention it|we|i|they|forget"
    r"|look back|look at me|push yourself|overthink|take it|judge|say that|tell me|expect"
    r"|even|work too hard|quit|cry"
    r"|laugh|hold back|leave me|wait (?:for me|up)|trust me|hate|quote me|let (?:it|that"
    r"|this|them|anyone|anybody|him|her"
    r"|fear|yourself|life|go)|get (?:me|it|too|discouraged|upset|down|stuck|caught|why"
    r"|how)|be (?:so|sad|shy|afraid|silly"
    r"|sorry|too|hard|nervous|scared|surprised|discouraged|mad|angry|a stranger|like|upset"
    r"|ridiculous|late))\b[^.;,]*"
    r"|\bmust[- ](?:see|have|read|haves?|try|watch)\b(?= (?:for|in|on|place|book|movie"
    r"|film|show|item|feature)|[.,!])"
    r"|\bif you must\b|\bi must say\b|\bonly (?:time|if i|you can(?: prevent| do))\b"
    r"|\balways welcome\b|\bno longer than\b"
)
ONE_OFF = re.compile(
    r"\b(?:yet|just (?:this )?once|this time|this one time|right now|for a (?:second"
    r"|moment|minute|sec)|tonight)\b"
)
HEARSAY = re.compile(
    r"\b(?:he|she|they|mom|mum|dad|mother|father|boss|doctor|teacher|coach|friend|wife"
    r"|husband|people|article|book"
    r"|readme|page|instructions|manual|label|guide|docs?|documentation|email|website|sign"
    r"|error|log|linter|guy|manager"
    r"|landlord|policy|someone"
    r"|everyone)(?: always| just| once| also)? (?:says?|said|tells?|told|writes?|wrote"
    r"|warns?|warned|claims?|claimed"
    r"|insists?|insisted|recommends?|recommended|suggested|advised|states?|stated|kept"
    r" saying)\b|\baccording to\b"
    r"|\bi (?:was|am|got|'ve been) (?:told|taught|advised|warned)\b|\bthe (?:saying"
    r"|proverb|motto|quote)\b"
)
NOT_A_BASE = re.compile(
    r"(?:(?:open|free|clean|close)(?= ?(?:$|[.,!?;]|(?:on|at|in|to|for|late|early|all"
    r"|during)\b))|been|heard|seen|had|thought|knew|known|met|got|gotten|did|done|was"
    r"|were|would"
    r"|could|might|will|can|have|has|a|an|the|in"
    r"|too|really|felt|went|gone|ate|eaten|again|said|mind|fear|ever|better|enough|late"
    r"|happy|good|great|nice|fun|here"
    r"|there|love|loved|so|on|up|at|with|for|to|my|your|his|her|their|our|this|that|these"
    r"|those|some|something|glad"
    r"|and|or|but|as|of|is|are|am|wrong|right|easy|hard|busy|ready|happens?|works?"
    r"|available|possible|full|an?|i|you|he|she"
    r"|we|they|it|one|two|more|less|much|quite|very|just|only a|came|made|took|gave|found"
    r"|left|kept|told|saw|worse|alone"
    r"|sure|interesting|amazing|exciting|inspiring|wonderful|comes?|seems?"
    r"|looks?|feels?|tends?|gets?|makes?|goes)\b"
    r"|(?!need|feed|proceed|exceed|embed|seed|speed|shed|spread|read|add|bring|ping"
    r"|string|lead|load|head)[a-z]+(?:ed|ing)\b"
    r"|(?!process|access|pass|press|discuss|address|focus|bypass|dismiss|miss|express"
    r"|compress|cross|assess|stress|guess|dress|canvas|alias|bias|suppress|progress"
    r"|regress)[a-z]+[a-rt-z]s\b"
)
SOFT = (
    r"(?:please|pls|also|and|but|so|then|ok|okay|just|kindly|or|important|critical"
    r"|instead|hey|well|actually|plus|again"
    r"|note|rule|yes|yeah|right|great|thanks|sure|alright|new rule|one more thing|another"
    r" thing|remember|remember to"
    r"|to|ever|listen|reminder|first|second|third|finally|lastly|generally|in general|by"
    r" default|of course|btw|omg"
    r"|omfg|seriously|really|as always|be sure to|make sure to|make sure you|make sure"
    r" that you|make sure|ensure you"
    r"|you (?:should|must|shall|may|can|will|are to|need to|have to|ought to|'re to"
    r"|absolutely must)"
    r"|(?:i|we)(?: would|'d)? (?:want|need|expect|like|prefer|ask|require|beg)(?: that)?"
    r" you(?: to)?"
    r"|(?:can|could|would|will) you(?: please)?|(?:the )?(?:rule|policy|convention) is(?:"
    r" to)?|my rule|our rule)"
)
PRE = re.compile(rf"(?:{SOFT}[ ,]*)*")
PRE_WHEN = re.compile(
    r"(?:and |but |so |also |please )*(?:when|whenever|if|while|before|after|for|in|on"
    r"|during|once|until|with|as|at|within"
    r"|inside|under|besides|apart from|unless)\b(?!.*\b(?:i|he|she|they|we)(?:'\w+)?"
    r" (?!ask|say|tell|want|need|give|send|paste|write|type|share))"
)
PRE_VERB = re.compile(
    rf"(?:{SOFT}[ ,]*)*(?:{VERBS})\b(?!.*\b(?:i|he|she|they|we)\b).*\b(?:and|but|or|then"
    r"|,)(?: (?:please|also|you|then))*"
)
MAY = ("you can", "you may", "you will", "you could")
BREAK = re.compile(r"[,;:(—–.!?\n]| - |\*\*|…")
SPECULATES = re.compile(
    r"^(?:have|'?ve|feel|seem|look|mean|suck|hurt|cost|love|miss|know|take a lot|get"
    r" (?:so|really|hot|cold|lonely|tired)"
    r"|think|enjoy|hate|like|see how|come|go through|say|admit|confess|agree|understand"
    r"|watch|visit|try (?:it|the|their|some))\b"
)
MUSES = re.compile(
    r"\bmust (?:really|just|only|all|also|so)\b|\bmust\b[^.;]*\b(?:so much|kind of|kinda"
    r"|a lot of (?:fun|work|time)|so many)\b"
    r"|^(?:[a-z]+, ){0,2}(?:i|we) (?:do not |don't )?(?:think|guess|believe|thought|feel"
    r"|know|heard|wonder|suppose|bet|assume)\b|\bmust be [a-z]+,? (?:i|because|since)\b"
)
FEELING = re.compile(
    r"^be (?:so|really|very|quite|pretty|such|a lot|amazing|great|nice|hard|tough"
    r"|beautiful|fun|exciting|excited|proud"
    r"|happy|difficult|lovely|wonderful|tired|awesome|stressful|incredible|challenging"
    r"|rewarding|good|tasty|delicious"
    r"|cool|kidding|joking|a|an|the|feeling|wondering|thinking|tough|rough|busy|nervous"
    r"|sad|worried|exhaust\w*|hungry|right"
    r"|wrong|mistaken|crazy|some|something|because|due|why|what|where|how|like|slow\b"
    r"|broken\b|going|having|missing|it"
    r"|there|that|this|able|interesting|relaxing|thrilled|freezing|boring|sick|lonely"
    r"|frustrat\w*|confus\w*|worth)\b"
)
TELLS = re.compile(  # the sentence tells about someone, not whom it speaks to
    r"^(?:(?:and|but|so|well|ok|okay|hopefully|maybe|perhaps|yes|yeah|oh|also|because"
    r"|since|then|now|from now on|from today on|"
    r"going forward|moving forward|in the future|in future|every time [^,]*|whenever"
    r" [^,]*|each time [^,]*)[ ,]+)*"
    r"(?:i|he|she|they|it|this|that|there|my|his|her|their|everyone|people|things|life|we"
    r"|our)(?:'\w+)?\b"
    r"(?! (?:would |'d )?(?:want|need|expect|like|prefer|ask|require) (?:you|that|all"
    r"|every|each|any)\b)"
    r"(?! (?:would|do)(?:n't| not) (?:want|like) (?:you|any)\b)"
)
ASKS = re.compile(r"(?:why|how|do|does|did|is|are|what|should)\b")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
IDIOM_WORDS = frozenset(
    ("never", "nevermind", "always", "not", "don't", "dont", "must", "only", "no")
)
