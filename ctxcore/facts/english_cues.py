"""Patterns of English orders, of what may stand before them, and of sentences that tell a story.

They match lower-case sentences with quotations masked.
"""

from __future__ import annotations

import re
from typing import Final

VERBS: Final = (
    "add|address|aim|answer|append|apply|ask|assume|avoid|back|base|begin|book|break|bring|build"
    "|call|change|check|choose|cite|clean|close|code|comment|commit|communicate|compile|confirm"
    "|consider|contact|convert|copy|create|cut|deal|default|delete|deploy|describe|discuss|display"
    "|do|document|download|drop|edit|email|enable|end|ensure|escape|exclude|execute|explain|export"
    "|file|fill|fix|focus|follow|format|generate|get|give|go|guess|handle|hide|hold|ignore"
    "|implement|import|include|indent|inform|insert|install|invent|invoke|keep|label|leave|let"
    "|limit|link|list|load|lock|log|look|make|mark|merge|mention|migrate|modify|mock|move|name|note"
    "|notify|obey|offer|open|order|output|overwrite|pass|paste|pick|pin|place|post|prefer|prefix"
    "|prepare|present|print|proceed|process|produce|promise|propose|provide|publish|pull|push|put"
    "|query|quote|raise|read|rebase|recommend|record|refactor|refer|reformat|refuse|release|rely"
    "|remind|remove|rename|render|repeat|replace|reply|report|request|require|reserve|respect"
    "|respond|restart|return|reuse|reveal|review|revert|rewrite|round|run|save|say|schedule|search"
    "|select|send|set|share|ship|show|sign|simplify|skip|sort|speak|specify|split|squash|start"
    "|state|stay|stick|stop|store|submit|suggest|summari[sz]e|support|switch|tag|take|talk|target"
    "|tell|test|think|throw|touch|track|translate|treat|trust|try|turn|type|update|upgrade|upload"
    "|use|validate|verify|wait|warn|work|wrap|write"
)
LANGUAGES: Final = (
    "english|german|french|spanish|italian|portuguese|dutch|russian|japanese|korean|chinese"
    "|mandarin|cantonese|arabic|hindi|turkish|polish|swedish|danish|norwegian|finnish|czech|greek"
    "|hebrew|ukrainian|vietnamese|thai|latin"
)
REPLIES: Final = (
    r"(?:answers?|reply|replies|responses?|messages?|explanations?|summar(?:y|ies)|commits?"
    r"|commit messages|functions?|comments?|sentences?|paragraphs?|emails?|output|tone|language"
    r"|lines?|line length|code|everything|things|files?|posts?|titles?|tests|it)"
)
IDIOMS = re.compile(
    r"\bnever ?mind\b|\bnever (?:say never|in a million|again[!.,]|too late|fails?|ever(?! [a-z]))"
    r"|\bnever (?:give up|lose|stop|forget (?:who|that|how|where|it|the)|underestimate|look back"
    r"|settle|let anyone|be afraid|doubt)\b[^.;]*"
    r"|\balways (?:believe|follow your|be yourself|stay (?:strong|positive|true|safe"
    r"|curious)|remember (?:that )?you"
    r"|keep (?:your head|smiling|going|growing|learning)|here|there|look on)\b[^.;]*"
    r"|\b(?:do not|don'?t)(?: ever)? (?:you(?! ever)|know|think|have(?! to)|need|see|understand"
    r"|like|want(?! (?:you|any|to (?:see|be asked|get)))|remember|mind|worry|care|believe|feel"
    r"|really|give up|hesitate|sweat|stress|bother(?! to)|miss|panic|lose|beat yourself|mention it"
    r"|we|i|they|forget|look back|look at me|push yourself|overthink|take it|judge|say that|tell me"
    r"|expect|even|work too hard|quit|cry|laugh|hold back|leave me|wait (?:for me|up)|trust me|hate"
    r"|quote me|let (?:it|that|this|them|anyone|anybody|him|her|fear|yourself|life|go)|get (?:me|it"
    r"|too|discouraged|upset|down|stuck|caught|why|how)|be (?:so|sad|shy|afraid|silly|sorry|too"
    r"|hard|nervous|scared|surprised|discouraged|mad|angry|a stranger|like|upset|ridiculous"
    r"|late))\b[^.;,]*"
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
    r"\b(?:he|she|they|mom|mum|dad|mother|father|boss|doctor|teacher|coach|friend|wife|husband"
    r"|people|article|book|readme|page|instructions|manual|label|guide|docs?|documentation|email"
    r"|website|sign|error|log|linter|guy|manager|landlord|policy|someone|everyone)(?: always| just"
    r"| once| also)? (?:says?|said|tells?|told|writes?|wrote|warns?|warned|claims?|claimed|insists?"
    r"|insisted|recommends?|recommended|suggested|advised|states?|stated|kept saying)\b"
    r"|\baccording to\b"
    r"|\bi (?:was|am|got|'ve been) (?:told|taught|advised|warned)\b|\bthe (?:saying"
    r"|proverb|motto|quote)\b"
)
NOT_A_BASE = re.compile(
    r"(?:(?:open|free|clean|close)(?= ?(?:$|[.,!?;]|(?:on|at|in|to|for|late|early|all|during)\b))"
    r"|been|heard|seen|had|thought|knew|known|met|got|gotten|did|done|was|were|would|could|might"
    r"|will|can|have|has|a|an|the|in|too|really|felt|went|gone|ate|eaten|again|said|mind|fear|ever"
    r"|better|enough|late|happy|good|great|nice|fun|here|there|love|loved|so|on|up|at|with|for|to"
    r"|my|your|his|her|their|our|this|that|these|those|some|something|glad|and|or|but|as|of|is|are"
    r"|am|wrong|right|easy|hard|busy|ready|happens?|works?|available|possible|full|an?|i|you|he|she"
    r"|we|they|it|one|two|more|less|much|quite|very|just|only a|came|made|took|gave|found|left|kept"
    r"|told|saw|worse|alone|sure|interesting|amazing|exciting|inspiring|wonderful|comes?|seems?"
    r"|looks?|feels?|tends?|gets?|makes?|goes)\b"
    r"|(?!need|feed|proceed|exceed|embed|seed|speed|shed|spread|read|add|bring|ping"
    r"|string|lead|load|head)[a-z]+(?:ed|ing)\b"
    r"|(?!process|access|pass|press|discuss|address|focus|bypass|dismiss|miss|express"
    r"|compress|cross|assess|stress|guess|dress|canvas|alias|bias|suppress|progress"
    r"|regress)[a-z]+[a-rt-z]s\b"
)
SOFT = (
    r"(?:please|pls|also|and|but|so|then|ok|okay|just|kindly|or|important|critical|instead|hey|well"
    r"|actually|plus|again|note|rule|yes|yeah|right|great|thanks|sure|alright|new rule"
    r"|one more thing|another thing|remember|remember to|to|ever|listen|reminder|first|second|third"
    r"|finally|lastly|generally|in general|by default|of course|btw|omg|omfg|seriously|really"
    r"|as always|be sure to|make sure to|make sure you|make sure that you|make sure|ensure you"
    r"|you (?:should|must|shall|may|can|will|are to|need to|have to|ought to|'re to"
    r"|absolutely must)|(?:i|we)(?: would|'d)? (?:want|need|expect|like|prefer|ask|require"
    r"|beg)(?: that)? you(?: to)?|(?:can|could|would|will) you(?: please)?|(?:the )?(?:rule|policy"
    r"|convention) is(?: to)?|my rule|our rule)"
)
PRE = re.compile(rf"(?:{SOFT}[ ,]*)*")
PRE_WHEN = re.compile(
    r"(?:and |but |so |also |please )*(?:when|whenever|if|while|before|after|for|in|on|during|once"
    r"|until|with|as|at|within|inside|under|besides|apart from|unless)\b(?!.*\b(?:i|he|she|they"
    r"|we)(?:'\w+)? (?!ask|say|tell|want|need|give|send|paste|write|type|share))"
)
PRE_VERB = re.compile(
    rf"(?:{SOFT}[ ,]*)*(?:{VERBS})\b(?!.*\b(?:i|he|she|they|we)\b).*\b(?:and|but|or|then"
    r"|,)(?: (?:please|also|you|then))*"
)
MAY = ("you can", "you may", "you will", "you could")
BREAK = re.compile(r"[,;:(—–.!?\n]| - |\*\*|…")
SPECULATES = re.compile(
    r"^(?:have|'?ve|feel|seem|look|mean|suck|hurt|cost|love|miss|know|take a lot|get (?:so|really"
    r"|hot|cold|lonely|tired)|think|enjoy|hate|like|see how|come|go through|say|admit|confess|agree"
    r"|understand|watch|visit|try (?:it|the|their|some))\b"
)
MUSES = re.compile(
    r"\bmust (?:really|just|only|all|also|so)\b|\bmust\b[^.;]*\b(?:so much|kind of|kinda"
    r"|a lot of (?:fun|work|time)|so many)\b"
    r"|^(?:[a-z]+, ){0,2}(?:i|we) (?:do not |don't )?(?:think|guess|believe|thought|feel"
    r"|know|heard|wonder|suppose|bet|assume)\b|\bmust be [a-z]+,? (?:i|because|since)\b"
)
FEELING = re.compile(
    r"^be (?:so|really|very|quite|pretty|such|a lot|amazing|great|nice|hard|tough|beautiful|fun"
    r"|exciting|excited|proud|happy|difficult|lovely|wonderful|tired|awesome|stressful|incredible"
    r"|challenging|rewarding|good|tasty|delicious|cool|kidding|joking|a|an|the|feeling|wondering"
    r"|thinking|tough|rough|busy|nervous|sad|worried|exhaust\w*|hungry|right|wrong|mistaken|crazy"
    r"|some|something|because|due|why|what|where|how|like|slow\b|broken\b|going|having|missing|it"
    r"|there|that|this|able|interesting|relaxing|thrilled|freezing|boring|sick|lonely|frustrat\w*"
    r"|confus\w*|worth)\b"
)
TELLS = re.compile(  # the sentence tells about someone, not whom it speaks to
    r"^(?:(?:and|but|so|well|ok|okay|hopefully|maybe|perhaps|yes|yeah|oh|also|because|since|then"
    r"|now|from now on|from today on|going forward|moving forward|in the future|in future"
    r"|every time [^,]*|whenever [^,]*|each time [^,]*)[ ,]+)*(?:i|he|she|they|it|this|that|there"
    r"|my|his|her|their|everyone|people|things|life|we|our)(?:'\w+)?\b(?! (?:would |'d )?(?:want"
    r"|need|expect|like|prefer|ask|require) (?:you|that|all|every|each|any)\b)(?! (?:would"
    r"|do)(?:n't| not) (?:want|like) (?:you|any)\b)"
)
ASKS = re.compile(r"(?:why|how|do|does|did|is|are|what|should)\b")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
IDIOM_WORDS = frozenset(
    ("never", "nevermind", "always", "not", "don't", "dont", "must", "only", "no")
)

ORDER_WHERE = re.compile(rf"(?:{SOFT}[ ,]*)*(?:{VERBS})\b")
PLACE = re.compile(r"(?:in|on|at|with|to|before|after|from|for|via|by|through|without)$")
IMPERATIVE = re.compile(
    r"\b(never(?:,? ever)?|always(?:, and i mean always,)?|(?:do not|don'?t|dont|do"
    r" never)(?: ever)?|avoid)\s+([a-z\x00`'/@-]+)"
)
ONLY_VERB = re.compile(
    rf"\bonly (?:ever )?(?:{VERBS})\b(?! (?:one|two|three|a few))|\bonly (?:after|when|if"
    r"|once|with) (?:i|my|we)\b"
)
VERB_ONLY = re.compile(
    r"\b(?:answer|reply|respond|use|write|speak|edit|touch|change|modify|commit|work|read|run"
    r"|install|import|support|target|accept|include|output|communicate|talk|deploy|push|buy|order"
    r"|book|recommend|suggest|cite|quote)\b[^.;!?]{0,60}?\bonly\b"
)
MUST = re.compile(
    r"\bmust(?:n't)?\b(?: (not|never|always|only|also|all|first))?(?: ([a-z]+))?(?:"
    r" ([a-z]+))?"
)
NO_MUST_SUBJECT = re.compile(
    r"(?:^|\b)(?:i|he|she|there|someone|somebody|who|what|which|that|one|life|people|everyone"
    r"|everybody|god|guess|why|how|where|parents|cat|dog|son|daughter|brother|sister|baby|kids"
    r"|children|babies|mom|dad|wife|husband|we all)$"
)
EVERY = re.compile(
    r"^(?:and |but |also |please |so )*(?:all|every|each|any|no|none of|nobody|no one|only|anything"
    r"|everything)\b(?! (?:i|you|we|they|he|she|it|of us|in all|the best|time|day|year|the time"
    r"|problem|idea|thanks|way|doubt|wonder)\b)(?!.{0,40}\b(?:i|we|they|he|she"
    r"|they)\b.{0,40}\b(?:should|must|can|may))[^.;!?,]{2,70}?\b(?:should|must|needs? to|ha(?:s"
    r"|ve) to|(?:is|are) to|shall|go(?:es)? (?:in|through|to|into|under)|(?:is|are"
    r"|gets?) (?:written|stored|named|reviewed|signed|tested|logged|sent|done|kept|made|pushed"
    r"|squashed)|(?:may|can)(?: only| not| ever)?(?: be)? [a-z]+|belongs? (?:in|to|under)|(?:needs?"
    r"|requires?|gets?|has) (?:an?|at least|two|three|\d+|its own|the|my|approval|review)"
    r"|(?:starts?|ends?|begins?|comes?) with|stays? (?:in|on|under)|uses?)\b"
)
NOT_ALLOWED = re.compile(
    r"\b(?:i (?:must|have to|need to|want to|get to) (?:approve|review|confirm|sign off on"
    r"|authori[sz]e|check) (?:every|each|all|any)\b|make (?:a point of|it a habit) (?:never"
    r"|always|not|to)\b|(?:is|are) (?:read-only|confidential|frozen|top secret|(?:not|never"
    r"|only) to be [a-z]+)\b|you(?:'re| are) (?:never|not|only) to [a-z]+|you (?:may|shall)"
    r" (?:not|never) [a-z]+|(?:important|essential|crucial|imperative|vital) (?:that you|(?:that"
    r" |to |you )+(?:never|always|not)|not to)\b|(?:is|are) (?:strictly |absolutely |completely"
    r" |always |now )?(?:not (?:allowed|permitted|acceptable|accepted|tolerated)|forbidden"
    r"|prohibited|off[- ]limits|banned|mandatory|compulsory|unacceptable|out of bounds)\b)"
    r"|^(?:please )?every (?:single )?(?:morning|day|evening|night|week|month|hour|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)day),? (?:please )?(?!(?:i|we|it|he|she|they|the|a|my|there"
    r"|that|this|is|was)\b)[a-z]+ (?:me|us|the|a|my|out|all|for)\b|^(?!i\b|we\b|it|he\b|she\b"
    r"|they\b|you\b|my\b)[^?]{8,80}, always[.!]*$|^(?:(?:and|also|please|the|your|our|all|both)["
    r" ,]+)*(?:[a-z]+ )?(?:answers?|repl(?:y|ies)|responses?|comments?|commits?|messages?|variable"
    r"s?|names|functions?|class(?:es)?|tests?|files?|docs?|dates?|amounts?|prices?|timestamps?"
    r"|reports?|e?-?mails?|summar(?:y|ies)|code|output|titles?|headings?|tables?|lists?|passwords?"
    r"|endpoints?|logs?|branch(?:es)?|links?|units?|results?|numbers|invoices?|documents?|letters?"
    r"|texts?|paragraphs?|explanations?|meetings?) (?:should|ought to|needs? to|ha(?:s|ve)"
    r" to|may|can)(?: always| never| not| only|n't)* (?:be|have|start|end|use|contain|include"
    r"|come|go|stay|fit|follow|never|always|only|not)\b"
)
STANDING = re.compile(
    r"\b(?:from (?:now|here|today|this point|this moment|then|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|january|february|march|april|may|june|july|august|september|october|november"
    r"|december) on(?:wards?)?|from (?:this|next) (?:week|month|year)|from tomorrow|starting (?:now"
    r"|today)|from today\b|going forward|moving forward|henceforth|hereafter"
    r"|in (?:the )?future(?=[,:]| (?:please|always|never|use|do|when))|at all times|under (?:no"
    r"|any) circumstances|as of (?:now|today)|in no case|on no account|for the rest of (?:this|the"
    r"|our) (?:conversation|chat|session|project|discussion|task|day)|for the remainder of"
    r"|in all (?:your|future|further|of your|our)|for all (?:your|future|further|my|of my)"
    r"|until (?:i (?:say|tell)|further notice|told|i approve)|unless (?:i (?:say|ask|tell"
    r"|explicitly|approve|confirm|request)|told|asked|stated|explicitly|otherwise)"
    r"|without (?:asking|(?:my|explicit|prior|our|written) (?:[a-z]+ )?(?:permission|approval"
    r"|consent|confirmation|ok|okay|review|go-ahead)|first asking|checking with)"
    r"|needs? my (?:approval|permission|confirmation|ok|okay|consent|sign-off|go-ahead)"
    r"|requires? my (?:[a-z]+ )?(?:approval|permission|confirmation|consent)|(?:every"
    r"|each) (?:single )?time (?:you|i (?:ask|say|send|paste|share))|whenever (?:you|i (?:ask|say"
    r"|send|paste|share|write|mention))|any ?time (?:you|i (?:ask|say|send))"
    r"|standing (?:instruction|rule|order)|(?:before|after) (?:each|every|any) [a-z]+)\b"
)
WE_DO = re.compile(
    r"^(?:(?:and|but|so|ok|okay|also)[ ,]+)*(?:from (?:now|today|here) on(?:wards?)?"
    r"|going forward|starting (?:now|today)|henceforth)[ ,]+(?:we|our|the|this|that|it"
    r"|all)(?! (?:is going to be|was|will be (?:fun|great|hard|easy)))\b"
    r"|\b(?:we|our team|the team) (?:only|always|never) (?:use|write|commit|deploy|merge"
    r"|ship|support|push|store|log)\b"
    r"|^we (?:only )?use [^.]{1,50}\bfrom now on\b"
)
I_WANT = re.compile(
    r"\bi (?:(?:would|'d) like|want|need|expect|prefer)(?: only| your)? (?:short|brief|long"
    r"|detailed|concise|plain|formal|honest|direct|simple)\w* (?:answers?|replies|explanations?"
    r"|responses?|emails|sentences|summaries)\b|\bi (?:(?:would|'d) (?:like|prefer)|want|need"
    r"|expect|prefer|require)\b[^.;]{0,60}\b(?:always|never|every|each|all|only|from now on"
    r"|any)\b(?=.*\b(?:you|answers?|repl|respons|output|code|files?|comments?|tests?|commits?"
    r"|messages?|examples?)\b)"
    r"|\bi (?:never|always|only) want (?:you|to (?:see|be asked|get)|answers?|replies"
    r"|code|the|short|plain)\b|\bi (?:do not|don't) want (?:you|any|to see|to be asked)\b"
    r"|\bi don't like (?:it when you|your)\b"
    r"|\bi(?:'d| would) (?:rather|prefer)(?: that)? you\b"
)
DIRECTIVE = re.compile(
    r"\b(?:(?:reply|respond|answer|write|speak|talk|communicate|explain|chat)(?: (?:to|with)"
    r" me| back| everything| all [a-z ]+)?(?: only| exclusively)?"
    r"(?: in| using)(?: plain| simple| british| american| simplified| traditional)?"
    rf" (?:{LANGUAGES}|full sentences|bullet points|json|markdown|plain text|lower ?case"
    r"|upper ?case|one (?:sentence|word|line)|metric)\b"
    r"|(?:keep|limit|restrict) (?:all |your |the |every |each |all your |all the |any"
    rf" )*{REPLIES}\b[^.;]{{0,40}}\b(?:short|shorter|brief|briefer|concise|simple|terse"
    r"|under|below|to|at|formal|professional|casual|within|small|polite|friendly|neutral"
    r"|max\w*|less|in|no more|as)\b"
    r"|(?:call|address) me (?!back|when|later|at|tomorrow|tonight|crazy|if|on|asap|now|in"
    r"|to|after|today|a\b|from|for|up|old|anytime|any time)"
    r"|refer to (?:me|us|it|them|him|her|the [a-z]+) as\b|stick (?:to|with) (?!it\b"
    r"|that\b|your dreams)|prefer [^.;]{1,50} (?:over|to|instead of|rather than)\b"
    r"|(?:treat|consider) [^.;]{1,60} as\b (?!well)|use [^.;]{1,70}?(?:instead of|rather"
    r" than|, not |\bnot\b|for (?:all|every|everything|any)\b|everywhere|throughout|by"
    r" default|whenever|exclusively|at all times)"
    r"|(?:stop|quit|cease|refrain from) (?!by|the\b|it\b|that\b|there|working|worrying"
    r"|laughing|crying|smiling|thinking|kidding|trying|being|dreaming|learning|talking about|loving"
    r"|in\b)(?:[a-z]+ing)\b|(?:make sure|be sure|ensure|see to it)(?: that| to"
    r"| you)?\b[^.;(]{0,60}?\b(?:always|never|do not|don't|not to|every|each|all|none of)\b"
    r"|(?:make sure|be sure|ensure|see to it)(?: that)? (?:no|only|any) |(?:ask|check with|consult"
    r"|confirm with|tell|warn|notify|inform|alert|let (?=(?:me|us) know)|get|wait for|ping"
    r"|run it by|show) ?(?:me|my|us"
    r"|our)\b[^.;]{0,60}\b(?:before|whenever|every time|prior|each time|if (?:you(?:'re|"
    r" are)|anything is) (?:unsure|not sure|unclear|in doubt|stuck))\b|(?:ask|check with"
    r"|consult|confirm with) me first\b|wait for my (?:approval|ok|okay|confirmation|go|permission)"
    r"|(?:remember|keep in mind|bear in mind)(?: that|:|,)(?! (?:time|when|day|song|guy|movie|one"
    r"|anything|you(?:'re| are)|everything))|leave [^.;]{1,60} (?:untouched|unchanged|alone"
    r"|as (?:it )?is)(?! for)|(?:stay"
    r"|keep) (?:away from|out of|in character)\b|hands off\b|assume (?:that )?(?:i|we|the user|all"
    r"|every)\b|default to\b|end (?:each|every|all) |start (?:each|every|all) |begin (?:each|every"
    r"|all) |sign (?:each|every|all) |cite \w+ (?:for|whenever)|(?:write|format|spell|express|quote"
    r"|name|number|round|sort) (?:all |the |my |our "
    r"|your )?[a-z]+s (?:as|in|with|without|to|by)\b"
    r"|use (?:only )?(?:the )?(?:metric|imperial|british|american|formal|informal|plain"
    r"|simple|double quotes|single quotes|snake_case|camelcase|kebab-case|utc|iso|tabs?"
    r"|spaces|24-hour|dark mode)\b"
    rf"|(?:{VERBS}) [^.;,]{{1,50}}, not (?:in|with|on|as|via|by|to|from)\b"
    r"|no more than (?:one|two|three|four|five|six|ten|\d+) [a-z]+"
    r"|be (?:more |very |as |always )*(?:brief|concise|polite|formal|precise|terse"
    r"|succinct|honest|direct|specific)\b|(?:ask|confirm|check in) (?:first\b|before"
    r" (?:you|any|every|each|[a-z]+ing))"
    r"|let'?s (?:always|never) |(?:if|when) in doubt,|(?:if|when|whenever) (?:the |an? "
    r"|any )?(?:user|customer|client|caller|someone|anyone|reviewer|build|test|request"
    r"|command) [^,;]{3,80}, (?:please |then |do not |don't |never |always )?(?!(?:i|we"
    r"|it|he|she|they|the|a|my|there|that|this)\b)[a-z]+ "
    r"|(?:use|write|add|include|run|put|give|provide|show|format|name|prefix|update|document|check"
    r"|test|review|log|mention|attach|append|quote) [^.;]{0,50}\b(?:in|to|for|with|on|after|before"
    r"|at the (?:end|start|top|bottom|head|foot|beginning|back|front) of) (?:every|each|all) (?!the"
    r"|of the|available (?:above|following|files? in|numbers))\b)"
)
NO_THING = re.compile(
    r"no (?!no\b|man\b|well|ow\b|yeah|our|an?\b|d\b|module|such|tests?|output|results?|match|data"
    r"|entry|changes|problem|idea|worries|worry|thanks|thank|way|need|wonder|doubt|one|matter"
    r"|kidding|rush|pressure|clue|offense|comment|big|pain|pun|luck|not|i\b|it|that|you|we|they|he"
    r"|she|more questions|further|other|questions?|biggie|hurry|joke|sweat|longer|chance|regrets"
    r"|excuses|words|plans|judge?ment|shame|harm|guarantee|sign of|news|difference|issues?|errors?"
    r"|changes? (?:needed|required)|but|just|please|pets|kids|siblings|surprise|biggy|stress"
    r"|hard feelings|sorry|actually|this|the|there|what|is|are"
    r"|such)[a-z\x00-][\w\x00-]*(?: [\w\x00-]+){0,3}(?: (?:please|ever|at all|anywhere|allowed"
    r"|in (?:the |your )?[a-z ]{3,30}))?\s*(?:[!.]|$|,)"
)
POLITE = re.compile(
    r"\b(?:can|could|will|would) you (?:please |kindly )?(?:(?:always|never)"
    rf" (?:{VERBS})\b|only (?:ever )?(?:use|answer|reply|write|speak)|from now on|stop"
    r" (?:using|asking|adding|writing|sending|making|doing|calling))\b"
    r"|\b(?:please|from now on|going forward|in future)\b.*\b(?:from now on|going forward"
    r"|in future|always|never|for the rest of|every time)\b"
    r"|^(?:can|could|will|would) you\b.*\b(?:from now on|going forward|for the rest of"
    r" (?:this|the|our)|every time (?:you|i))\b"
)
WHENEVER = re.compile(
    r"(?:and |but |also,? |please )*(?:whenever|every time|each time|any ?time|if ever|as"
    r" soon as)\b[^,;]{3,80}, (?:please |then |always |also )*"
    r"(?!(?:i|we|it|he|she|they|the|a|an|my|there|that|this|you|his|her|our|their|your"
    r"|people|everything|everyone|someone|no|not|and|or|but|so|what|which)\b(?:'\w+)?)"
    rf"(?!{NOT_A_BASE.pattern})[a-z]+ "
)
RULE_HEAD = re.compile(
    r"(?:^|\b(?:set|have|add|make|here is|here's) )(?:(?:one|a|this) rule:|ok[, ]+|and "
    r"|also,? )?(?:(?:a|the|my|our|one) )?(?:new|house|ground|golden|standing|team"
    r"|another|one more|more|important|hard)"
    r" (?:rules?|constraints?|requirements?|conventions?|preferences?)(?: is)?:\s*\S"
)
NEGATIVE = re.compile(
    r"\b(?:never|not|don'?t|do not|mustn't|shouldn't|can'?t|cannot|avoid|no|stop|quit"
    r"|refrain|forbidden|prohibited|banned|off[- ]limits|under no|in no case|on no"
    r" account|nobody|none|without|unless|leave|unacceptable|hands off|stay (?:away"
    r"|out))\b"
)
