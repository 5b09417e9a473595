"""The cues of standing instructions in English: classes of words, what they weigh, and patterns."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import Classes, Language, Reader, Sayings

_WORD: Final = re.compile(
    r"`[^`]*`|[a-z]+(?:['-][a-z]+)*|[0-9]+(?:[.,][0-9]+)*|[\x00-\x08]+|[^\sa-z0-9'\"*_]"
)
_WORDS: Final = """
code:
quote:
filler: uh um yeah oh hmm haha lol hm mm ah eh wow hey hello hi thanks thank
other: template private climate chocolate certificate candidate immediate ultimate appropriate
 corporate accurate adequate
ing:
number: two three four five six seven eight nine ten twelve twenty hundred twice
ly: very really
past: was were had got went took gave made said told thought knew did saw came kept meant been done
 gone known seen felt found left heard
plural: things people details
comma: , ; – — ( ) - . … / + •
colon: :
asks: ?
loud: !
please: please pls plz kindly
soft: also ok okay just well again yes right sorry btw important rule additionally furthermore
 moreover finally lastly second third next ensure sure simply
and: and but or then
so: so
habit: add address ask flag mention run say warn assume capitalise capitalize cite count follow
 include indent italicize keep label leave limit link mark name number omit prefix put quote refer
 reserve round sign skip sort spell stay stick treat use
single: panic bother mess fool hurry kid trip hesitate dare cry cut enter forget worry yell shout
 book bring buy cancel check come find get go help hold look order pay play schedule search send
 show transfer try visit wait
verb: rebase rebuild rerun announce bind borrow browse bundle bypass cap conclude crop distinguish
 distribute embed recall reuse accept access accomplish achieve acknowledge acquire adapt adhere
 adjust adopt advise alert align allow append apply approach approve archive argue arrange assemble
 assert assess assign assist attach attempt attend audit await award base batch begin blend block
 boost break build cache capture carry cast center challenge change cheer choose claim clean clear
 click clone close collect combine command commit compress compute conduct configure confirm connect
 consider construct consume contact contain continue contribute control convert convey cook copy
 correct critique cross debug decide decline define delay delete deliver depend deploy derive detect
 determine direct disable discuss dispatch display dive divide document double doubt download drop
 echo edit employ enable encourage enforce engage enhance escape establish examine exceed exclude
 execute exercise exit explore expose express extend extract factor fall fetch file filter fix focus
 force gather gloss grade grant graph greet grow guess guide handle hang hear hide highlight hint
 honor ignore imagine implement import improve infer inform inline insert insist inspect install
 instruct interact interpret interrupt introduce invite invoke involve join judge lead lean learn
 lift lint listen load locate lock log maintain manage map mask match measure meet merge mirror mix
 mock monitor move nest observe obtain offer offset open overwrite package pad parse pass paste
 pause perform permit pick pin place point polish pose position post praise predict prepare present
 preserve press prevent print proceed process profile promise promote prompt prove provide publish
 pull pursue push query raise rank rate reach react read reason receive recheck recommend record
 redirect reduce refactor reference reflect reformat register relate release rely remind remove
 rename render repeat replace report represent request reset resist resolve respect restart retain
 retrieve return reveal reverse revert review revise reward roll route sample satisfy save scale
 scan seed seek segment select serve set shape share ship shorten shut signal sketch slow smooth
 spare speed spend split squash store stress stretch strip structure submit suffix supply support
 suppress surface survey switch sync tag tailor take target teach test throw touch track transform
 trigger trim trust turn type uncover unlock update upgrade upload urge vary watch weave weigh work
 wrap zoom
makes: create compose craft design develop draft generate give list make outline paraphrase produce
 propose rephrase rewrite suggest summarise summarize translate write describe explain analyze
 analyse compare calculate tell plan elaborate simplify complete expand finish solve
says: respond speak talk act behave pretend communicate converse
call: call
be: be
avoid: avoid refrain stop quit cease
dont: don't dont
do: do does
not: not
never: never
always: always
only: only exclusively solely strictly
prefer: prefer favor favour
must: must mustn't shall
should: should shouldn't ought supposed
have: have has
need: need needs requires require
will: will
can: can may could
would: would can't cannot couldn't wouldn't won't might
ill: i'll we'll
let: let
lets: lets let's
i: i i'm i'd i've
we: we we'd we've we're
me: me us
my: my our
you: you you'd yourself you've
youll: you'll
youre: you're
your: your
it: it its it's there's there itself that that's
he: he he's she she's him his her someone somebody who mom dad friend wife husband everyone
 everybody
they: they they're their them
bot: claude gpt chatgpt assistant model agent ai bot character
user: user users customer customers client clients person student students reader readers anyone
want: want expect wish
likes: like
like: love hate dislike enjoy appreciate rather better helps aversion refuse
when: when whenever while once upon
if: if
after: after before during
until: until till unless otherwise without
time: time times
all: all every each any everything anything entire whole both
no: no none nobody nothing
from: from
starting: starting
now: now here today
on: on onwards onward
future: future later
forward: forward
hence: henceforth hereafter
scope: conversation chat session project thread discussion campaign codebase repo repository
 interaction dialogue roleplay
rest: rest remainder entirety duration
through: throughout across
edge: first last top beginning bottom front
ends: end start
form: english french german spanish italian dutch chinese japanese russian latin welsh british
 american markdown json html yaml csv pdf utf apa mla metric imperial celsius fahrenheit euros euro
 dollars pounds sterling francs kilometres kilometers miles metres kilos grams utc iso bold italics
 italic caps bullet table tables prose verse rhyme rhymes haiku spelling grammar tone style format
 formatting language wording jargon slang abbreviations acronyms emoji exclamation semicolons
 semicolon commas hyphens hyphen dashes headers footnotes citations citation references decimals
 decimal digits numerals indentation tabs spaces brackets parentheses quotation marks contractions
 adjectives adverbs synonyms tense voice fluff disclaimers pleasantries intro intros greeting
 greetings summary tl-dr recap typescript python rust sentence paragraph words line lines page pages
 column columns step steps theory examples term terms phrase phrases vocabulary font chart charts
 axis caption captions figures pictures diagrams formula formulas linter docstring docstrings jokes
 puns small-talk recipes receipts budget links
lives: eat drink drive fly smoke wear
out: response answer reply message output explanation comment
outs: responses answers replies messages outputs explanations summaries reports emails comments
 headings titles names dates amounts prices units notes letters commits functions files variables
 tests imports sentences paragraphs numbers quotes emojis spoilers bullets sources lists drafts
 commands headlines translations
this: this these those above below following previous
the: the
a: a an another
one: one
in: in with by using via under within at as
per: per
of: of for to about into onto over than instead through
be_form: is are am isn't aren't becomes being
what: what why how where which whose whom what's didn't doesn't
short: short shorter brief briefly concise plain max maximum most least tops lowercase uppercase
 capitals polite friendly long longer less more
ever: ever anymore default circumstance circumstances matter regardless exception exceptions
 explicitly whatever possible
now_once: yet tonight yesterday tomorrow currently already anyway maybe probably sometimes back
 soon moment
remember: remember note mind reminder notice
deontic: forbidden allowed prohibited banned mandatory required compulsory acceptable unacceptable
 tolerated permitted off-limits confidential read-only
diet: allergic vegan vegetarian intolerant
"""
_GROUPS: Final = """
duty: must should
stop: comma colon loud asks
soften: soft filler please and so ly comma now edge
v: habit single verb makes says call be prefer out ends
m: must should will can would have be_form past
lead: (?:^|[stop and so please])[soften]*
thing: other habit plural code quote out outs number one short user ing edge ends verb diet
first: ^(?:[soft please and so ly comma now]|[thing][colon])*
within: [^stop]*?
order: [v](?![m of])
tells: (?:[v](?![m of])|do it|dont|do not|never|always|only|avoid|no|you[ly]*(?:[duty]|have of))
from_now: (?:from now on|from this other on|starting now|in the?future|all future|ing
 forward(?:$|comma)|hence|^[soft comma]*(?:from|in of)[now this])
whenever: (?:when|all time|[if after])
"""
_SIGNS: Final = """
v dont do never always only avoid duty have need no out outs when time if until per plural
like likes want prefer remember deontic diet form lives forward future starting now scope rest
through
"""
_SAID: Final = """
2.0: prefer
1.5: ^ short, a time, and you, avoid, comma so, dislike, from now, have of, plural single, send,
 under, until a, whenever, you will
1.0: ^ be, ^ habit, ^ only, advice, all in, avoid in, back, before, comma not, deontic $, ever,
 every, formal, gets, i avoid, i like, i'm, if a, learning, must, must not, no form, no plural, now
 on, of of, of user, other forward, outs should, over, per, please comma, plural this, refer, rule,
 short, short $, stay, stick, times, until i, users, when it, your outs
0.8: ^ all, ^ always, ^ avoid, ^ one, ^ your, a verb, after number, after you, all out, all time,
 ask, be the, dates, diet, don't, first, forward, goes, habit my, habit the, habit this, have a, i
 habit, i makes, it verb, likes you, log, makes plural, metric, needs, network, on plural, only $,
 out $, questions, reply, screen, single they, skip, small, strong, text, this scope, user be_form,
 want all, you of
0.6: ^ form, ^ in, ^ of, ^ outs, ^ single, ^ when, always, answer, anything, asked, be past,
 be_form in, between, by, called, can habit, can't, costs, date, do not, dont verb, end, ensure,
 feedback, five, form $, habit $, habit form, habit what, in all, in me, in plural, it i, keep,
 leave, like of, never, no short, of all, of ly, of me, offer, one other, ones, only, open, other
 edge, other time, out, out in, plural $, plural edge, plural it, point, question, read, remember,
 response, scope comma, single all, single in, source, speak, thing, this comma, three, two, until,
 user comma, verb all, we habit, what i, without, word, you past, you verb
0.4: ^ if, ^ no, a, after all, as, away, be_form past, code, comma do, comma habit, comma makes,
 comma no, habit in, habit it, habit other, he $, i, i ly, i prefer, i'd, if i, in short, it soft,
 it's, makes soft, me, me other, mean, names, need a, new, next, not, nothing, of he, on a, other
 habit, other until, our, outs in, past $, past comma, past other, past plural, plan, plural on,
 quote comma, rather, remember it, see, something, stop, talk, tell, than, the form, the user,
 there's, they $, through, user $, verb $, verb my, verb plural, want, when, when i, when you, who,
 will verb, with, you dont, you habit, you makes
0.2: ^ you, a makes, be_form other, can verb, give, he past, i can, i dont, i single, i've, in my,
 in this, like, me $, my, no other, of plural, on, other now, play, please, please $, plural in,
 say, short other, soft of, soft past, the, the ing, time, type
-0.2: ^ filler, ^ number, ^ other, ^ please, ^ verb, a other, all, any, are, be_form ly, be_form
 the, been, can you, does, filler comma, form of, from other, her, here, how, i need, ing in, ing
 it, is, it all, makes the, number comma, of ing, of it, of other, of this, other and, other
 be_form, other i, other single, past in, past of, plural asks, plural of, quote $, set, should, the
 verb, this other, uh, verb of, verb other, were, what be_form, why, you likes
-0.4: ^ a, ^ i, a past, a short, about, again, all of, available, because, better, can be, can i,
 can single, colon other, comma a, comma filler, comma i, comma in, comma it, comma ly, comma other,
 comma quote, comma verb, comma what, create, do it, do you, doesn't, doing, down, edge other, else,
 example, file, filler $, filler you, form in, from the, get, getting, got, help, i would, if you,
 ing other, it it, know, last, likes a, likes other, little, look, lot, ly past, makes a, makes it,
 makes other, makes this, maybe, more, my other, need of, not other, of, of a, of comma, of do, of
 lives, of verb, other a, other do, other have, other he, other in, other it, other now_once, other
 number, other of, other other, other outs, other past, other scope, other the, other you, past a,
 past it, past you, players, plural be_form, plural ing, plural likes, right, same, single me,
 single other, single you, sir, so it, soft in, soft other, still, take, the edge, their, they,
 this, this $, though, today, verb a, verb the, what do, what the, will single, you, you have, you
 single
-0.6: ^ can, ^ past, ^ the, ^ this, ^ what, a single, actually, all soft, and, and $, and habit,
 another, be a, be ing, be_form ing, both, button, colon comma, colon number, colon quote, come,
 comma $, comma if, comma plural, could, examples, few, find, format, given, good, had, have past,
 him, i be_form, i ing, i not, i other, i soft, include, it comma, it on, it plural, it will,
 language, likes of, line, listen, looking, ly other, many, now $, now_once $, number of, number
 plural, okay, on other, once, other asks, other my, other on, other short, other so, other they,
 other verb, past me, people, please single, plural colon, plural verb, plural you, possible,
 problem, so other, sounds, start, step, the habit, the this, user other, verb comma, verb ing,
 watch, which, while, will be, words, would, you $, you want, your, your other
-0.8: ^ $, ^ he, ^ ly, ^ makes, ^ they, add, all $, all the, am, and verb, but, comma the,
 different, form number, form plural, have all, he, i past, in you, ing of, love, much, now, number
 form, number other, of habit, on the, on your, only number, other, other all, other ing, other
 what, place, plural me, python, required, such, think, this plural, very, want of, was, when the,
 writing, you other
-1.0: ^ comma, ^ it, ^ now, ^ so, can, comma comma, comma number, have, ing the, just, number
 colon, of single, other colon, outs and, outs of, please makes, please verb, really, single comma,
 soft comma, well, will, yes
-1.5: ^ and, asks $, colon $, some, table, there
-2.0: no comma
"""
_CUES: Final = """
order_definite: 0.2 -0.5 lead order(?:[the this it they]|within this)
order_a: -0.8 -1.0 lead order[me of]?[a one number]
habit_first: 0.3 0.1 first habit(?![m])
says_in: 1.5 1.5 (?:lead|only|you[of and only]*)[says out](?:of me)?[ly only]*[in likes]
prefer: 1.3 2.9 lead prefer
ban: 0.9 0.6 lead(?:do not|dont|never|not of)
ban_order: 1.3 2.1 ^[soft please and comma]*(?:do not|dont|never)comma?ever?[ly
 comma]*(?!single|be)[v other](?![it this me now they you])
ban_generic: 0.8 0.7 lead(?:do not|dont|never|avoid)ever?[ly]*[v ing][^stop the this it]*[plural
 outs all]
avoid: 1.7 1.6 lead avoid
always_verb: 2.0 2.9 (?:^|[stop and soft please]|you [duty]|you have of|you will|youll|you of?|can
 you[please]?)(?:always|never)[ly]*[v]
always_first: 1.1 2.9 ^[soft please and]*(?:always|never)(?![past be_form have a the asks ly of in
 comma remember soft])(?!other of|other$)
always: 0.8 0.7 always
never: 0.5 0.6 never
no_thing: 0.4 0.4 (?:^[soft please comma]*|[comma colon and])no[thing the]+(?:$|[stop in please])
no: 0.7 1.0 no
you: 1.3 0.8 [you youll youre]
outs: 1.6 1.8 outs
noun_must: 1.3 1.1 (?:^|[stop and])[the all a your my][thing]+[in of the all thing]*(?:[duty]|have
 of|need)
must_not: 1.1 2.9 (?<![i we he they])must(?:not|never|always|only)
deontic: 1.5 1.5 be_form[not ly now always]*deontic
i_will_you: 1.7 2.9 ^[soft comma edge]*(?:i will|ill)[^asks]*(?:comma and?|and)(?:youll|you will
 |you [duty])
from_now: 1.7 1.7 from_now
from_now_tells: 1.5 3.8 from_now comma?[soft please]*tells|lead tells[^stop]*from_now
scope_for: 2.1 2.0 [of through in][this my all]+scope|[of through in]the?all scope|[of through]the
 rest of[the this my]|through[the my this all]{1,2}(?:scope|rest)
until_i: 0.9 0.9 until[^stop]{0,2}[i me]|until(?:you|past|[the all][user out]|i)
all: 1.0 0.6 all
when: 1.0 0.8 when
after: 0.5 0.4 after
if_tells: 1.1 0.9 (?:^|[comma colon])[soft please and]*if[^stop]+comma[soft please]*tells
when_tells: 1.3 1.2 (?:^|[comma colon])[soft please and]*(?:when|all time|after)[^stop]+comma [soft
 please]*tells
remember_it: 1.4 1.4 lead(?:remember|verb in remember)[it of]*(?:comma|colon|i|my|the|we)
diet: 1.5 3.8 i[ly not]*diet
form: 0.6 1.3 form
in_form: 0.5 0.6 [in of no not short please]form
so_tells: 1.6 1.6 comma so[soft please]*(?:tells|[v])
not_thing: 0.8 0.8 comma not[the a in]*[thing]{1,3}$
call_me: 1.5 3.8 (?:lead|you|of)call(?:me[^stop now_once when asks a]{1,3}(?:$|comma not)|my other
 other$)|lead habit of?me in
i_you: 1.6 1.6 ^[soft comma edge]*i[ly will]*[v][^asks]*?(?:comma and?|and)you[ly
 will]*(?:[v]|only)
polite_lasting: 1.1 1.1 (?:can|would)you[please all]*(?:always|never|only|avoid|not|dont)
deed: 2.2 0.7 lead[habit verb makes says call prefer out ends](?!m)
kinds_are: 0.8 1.0 ^[soft and]*[other past code number]{0,2}[plural outs form](?:[in of][thing
 the]+)?(?:[v](?!of)|be_form(?:not|never|always|only))
kinds_in: 0.8 1.0 ^[soft and]*[other past code number]{0,2}[plural outs
 form](?:in|after|short|edge|until|no)
only_verb: 1.4 2.9 lead(?:only[v]|[v][^stop only]{0,3}only(?!of|when|number|a|the))
no_matter: 0.9 2.9 no ever(?![past])[v you i my a the duty can be_form]
make_sure: 0.7 0.7 lead makes?soft it?[the all my your]*[other past]?[plural outs form]
you_barred: 0.6 2.9 ^[soft and]*(?:you be_form|youre)[not never]+deontic
no_plural: 1.1 2.9 ^[soft please and comma]*no[other habit code past]{0,2}[plural outs form](?:[on
 in after per please]|comma please|$)
asks: -1.3 -1.3 asks[quote]?$
what: -0.6 -0.8 (?:^|[stop and])[soft and]*(?:what|be_form|do[you the it i we he they])
he: -0.8 -1.0 he
i_tells: -0.2 -0.3 [i we][ly]*(?:past|be_form|can|have|ly|will)
i: 0.0 0.0 [i ill]
past: -0.1 -0.9 past
we_policy: 0.9 0.9 we[only always never dont]*(?:do not)?[verb makes habit out]
it: 0.4 -0.5 it
this: -0.3 -0.6 this
now_once: -0.9 -0.9 now_once
my: 0.6 0.6 my
generic_first: 0.0 0.9 ^[soft]*[other verb]{0,2}[plural outs](?!asks)
edge_tells: 0.9 0.9 (?:tells|plural|outs|thing)[^stop]*in?[edge ends](?:$|[comma])
long: 0.9 0.0 .{26}
filler: -1.2 -1.2 filler
short_sentence: -1.8 -1.1 ^.{1,4}$
"""


CLASSES: Final = Classes(_WORDS, _GROUPS)
_SAYINGS: Final = Sayings(_SAID, CLASSES)


def _kind_of(word: str) -> str:
    if word[0] == "`":
        return "code"
    if word[0] < " ":
        return "quote"
    if word[0].isdigit():
        return "number"
    if not word[0].isalpha():
        return "comma" if word.isascii() else "other"
    for ending, kind in (("ly", "ly"), ("ed", "past"), ("ing", "ing"), ("'s", "other")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return kind
    if len(word) > 6 and word.endswith(("ate", "ize", "ify")):
        return "verb"
    return "plural" if len(word) > 3 and word[-1] == "s" and word[-2] not in "siu" else "other"


_READER: Final = Reader(_WORD, CLASSES, _kind_of, across_blanks="`")


def _read(sentence: str) -> tuple[list[str], str]:
    return _READER.read(sentence.rstrip(" .!)'\""))


ENGLISH: Final = Language(
    _read,
    said=_SAYINGS.weight,
    cues=CLASSES.cues(_CUES),
    signs=CLASSES.pattern_of(_SIGNS),
    forbids=CLASSES.pattern_of("not never dont no avoid until"),
    prompt=-0.25,
    user=-2.52,
)
