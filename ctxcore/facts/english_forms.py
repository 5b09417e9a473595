"""Owns the cues of standing instructions in English, each a pattern of lower-case words."""

from __future__ import annotations

import re

from ctxcore.facts.english_words import LANGUAGES, NOT_A_BASE, REPLIES, SOFT, VERBS

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
    r"\b(?:answer|reply|respond|use|write|speak|edit|touch|change|modify|commit|work|read"
    r"|run|install|import|support"
    r"|target|accept|include|output|communicate|talk|deploy|push|buy|order|book|recommend"
    r"|suggest|cite|quote)\b[^.;!?]{0,60}?\bonly\b"
)
MUST = re.compile(
    r"\bmust(?:n't)?\b(?: (not|never|always|only|also|all|first))?(?: ([a-z]+))?(?:"
    r" ([a-z]+))?"
)
NO_MUST_SUBJECT = re.compile(
    r"(?:^|\b)(?:i|he|she|there|someone|somebody|who|what|which|that|one|life|people"
    r"|everyone|everybody|god|guess"
    r"|why|how|where|parents|cat|dog|son|daughter|brother|sister|baby|kids|children"
    r"|babies|mom|dad|wife|husband|we all)$"
)
EVERY = re.compile(
    r"^(?:and |but |also |please |so )*(?:all|every|each|any|no|none of|nobody|no one"
    r"|only|anything|everything)\b(?! (?:i|you|we|they|he|she|it"
    r"|of us|in all|the best|time|day|year|the time|problem|idea|thanks|way|doubt|wonder)\b)"
    r"(?!.{0,40}\b(?:i|we|they|he|she|they)\b.{0,40}\b(?:should|must|can|may))"
    r"[^.;!?,]{2,70}?\b(?:should|must|needs? to|ha(?:s|ve) to|(?:is|are) to|shall"
    r"|go(?:es)? (?:in|through|to|into|under)"
    r"|(?:is|are|gets?) (?:written|stored|named|reviewed|signed|tested|logged|sent|done"
    r"|kept|made|pushed|squashed)"
    r"|(?:may|can)(?: only| not| ever)?(?: be)? [a-z]+|belongs? (?:in|to|under)|(?:needs?"
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
    r"|december) on(?:wards?)?|from (?:this|next) (?:week|month|year)|from tomorrow|starting"
    r" (?:now|today)|from today\b|going forward|moving forward"
    r"|henceforth|hereafter|in (?:the )?future(?=[,:]| (?:please|always|never|use|do"
    r"|when))|at all times|under (?:no|any) circumstances|as of (?:now|today)"
    r"|in no case|on no account|for the rest of (?:this|the|our) (?:conversation|chat"
    r"|session|project|discussion|task|day)"
    r"|for the remainder of|in all (?:your|future|further|of your|our)|for all (?:your"
    r"|future|further|my|of my)"
    r"|until (?:i (?:say|tell)|further notice|told|i approve)|unless (?:i (?:say|ask|tell"
    r"|explicitly|approve|confirm|request)|told|asked|stated|explicitly|otherwise)"
    r"|without (?:asking|(?:my|explicit|prior|our|written) (?:[a-z]+ )?(?:permission"
    r"|approval|consent|confirmation|ok|okay|review|go-ahead)|first asking|checking with)"
    r"|needs? my (?:approval|permission|confirmation|ok|okay|consent|sign-off|go-ahead)"
    r"|requires? my (?:[a-z]+ )?(?:approval|permission|confirmation|consent)"
    r"|(?:every|each) (?:single )?time (?:you|i (?:ask|say|send|paste|share))|whenever"
    r" (?:you|i (?:ask|say|send|paste|share|write|mention))|any ?time (?:you|i (?:ask|say"
    r"|send))"
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
    r"\bi (?:(?:would|'d) like|want|need|expect|prefer)(?: only| your)? (?:short|brief"
    r"|long|detailed|concise|plain|formal|honest|direct|simple)\w* (?:answers?|replies"
    r"|explanations?|responses?|emails|sentences|summaries)\b|"
    r"\bi (?:(?:would|'d) (?:like|prefer)|want|need|expect|prefer"
    r"|require)\b[^.;]{0,60}\b(?:always|never|every|each|all|only|from now on"
    r"|any)\b(?=.*\b(?:you|answers?|repl|respons|output|code|files?|comments?|tests?"
    r"|commits?|messages?|examples?)\b)"
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
    r"|laughing|crying|smiling|thinking|kidding|trying|being|dreaming|learning|talking"
    r" about|loving|in\b)(?:[a-z]+ing)\b"
    r"|(?:make sure|be sure|ensure|see to it)(?: that| to|"
    r" you)?\b[^.;(]{0,60}?\b(?:always|never|do not|don't|not to|every|each|all|none"
    r" of)\b|(?:make sure|be sure|ensure|see to it)(?: that)? (?:no|only|any) "
    r"|(?:ask|check with|consult|confirm with|tell|warn|notify|inform|alert|let (?=(?:me"
    r"|us) know)|get|wait for|ping|run it by|show) ?(?:me|my|us"
    r"|our)\b[^.;]{0,60}\b(?:before|whenever|every time|prior|each time|if (?:you(?:'re|"
    r" are)|anything is) (?:unsure|not sure|unclear|in doubt|stuck))\b|(?:ask|check with"
    r"|consult|confirm with) me first\b"
    r"|wait for my (?:approval|ok|okay|confirmation|go|permission)|(?:remember|keep in"
    r" mind|bear in mind)(?: that|:|,)(?! (?:time|when|day|song|guy|movie|one|anything"
    r"|you(?:'re| are)|everything))"
    r"|leave [^.;]{1,60} (?:untouched|unchanged|alone|as (?:it )?is)(?! for)|(?:stay"
    r"|keep) (?:away from|out of|in character)\b|hands off\b"
    r"|assume (?:that )?(?:i|we|the user|all|every)\b|default to\b|end (?:each|every|all)"
    r" |start (?:each|every|all) |begin (?:each|every|all) |sign (?:each|every|all) |cite"
    r" \w+ (?:for|whenever)"
    r"|(?:write|format|spell|express|quote|name|number|round|sort) (?:all |the |my |our "
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
    r"|(?:use|write|add|include|run|put|give|provide|show|format|name|prefix|update"
    r"|document|check|test|review|log|mention|attach|append|quote) [^.;]{0,50}\b(?:in|to"
    r"|for|with|on|after|before|at the (?:end|start|top|bottom"
    r"|head|foot|beginning|back|front) of) (?:every|each|all) (?!the"
    r"|of the|available (?:above|following|files? in|numbers))\b)"
)
NO_THING = re.compile(
    r"no (?!no\b|man\b|well|ow\b|yeah|our|an?\b|d\b|module|such|tests?|output|results?"
    r"|match|data|entry|changes|problem|idea|worries|worry|thanks|thank|way|need|wonder"
    r"|doubt|one|matter|kidding|rush|pressure|clue|offense|comment|big|pain|pun"
    r"|luck|not|i\b|it|that|you|we|they|he|she|more questions|further|other|questions?"
    r"|biggie|hurry|joke|sweat|longer|chance|regrets|excuses|words|plans"
    r"|judge?ment|shame|harm|guarantee|sign of|news|difference|issues?|errors?|changes?"
    r" (?:needed|required)|but|just|please|pets|kids|siblings|surprise|biggy|stress|hard"
    r" feelings|sorry|actually|this|the|there|what|is|are|such)"
    r"[a-z\x00-][\w\x00-]*(?: [\w\x00-]+){0,3}(?: (?:please|ever|at all|anywhere|allowed"
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
