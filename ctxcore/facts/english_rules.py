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
 corporate accurate adequate worries
ing:
number: two three four five six seven eight nine ten twelve twenty hundred twice
ly: very
past: was were had got went took gave made said told thought knew did saw came kept meant been done
 gone known seen felt found left heard
plural: people
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
now_once: yet tonight yesterday tomorrow currently already anyway maybe probably sometimes back soon
 moment
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
3.0: dislike
2.0: a time, avoid, other forward, passwords, prefer, you will
1.5: ^ be, and you, aversion, be the, comma always, comma so, diet, ensure, everywhere, have of, i
 avoid, if a, if past, learning, naming, now on, outs habit, outs should, per, please comma, refer,
 reply, short $, stick, strongly, texts, until a, until i, user's, whenever
1.0: ^ always, ^ habit, ^ only, ^ short, activities, advice, after number, aisle, all in, all out,
 all time, answer, approve, ask, asked, avoid in, back, before, called, chapter, circumstances,
 cite, code, colon habit, colon no, comma ever, comma not, deontic $, dish, do not, doc, document,
 due, edge $, ever, every, feedback, five, foods, form have, form i, formal, from now, gets, goes,
 gpt, habit i, habit so, habit what, have a, heavy, honest, hotels, i diet, i like, in me, involve,
 lawyer, likes you, mails, makes plural, makes quote, medical, metric, must, must not, need you, no
 form, offer, on plural, opinions, otherwise, outs single, over, plural edge, plural single, plural
 this, present, products, putting, recipes, refunds, remain, round, sam, scripts, send, short, skip,
 soft colon, spell, stay, stories, strong, text, this comma, this scope, three, times, until, users,
 want all, when it, zone
0.8: ^ avoid, ^ do, ^ of, ^ one, ^ your, a bot, after you, all form, all it, always, asks, assume,
 be past, between, book, can only, character, claim, classes, comma do, config, costs, date, dates,
 deploy, don't, end, entry, explain, first, habit my, handle, he $, i makes, in if, kids, large,
 lives other, maintain, makes soft, nested, net, never, no ever, no in, no ing, no plural, no short,
 of user, on of, one other, only, only $, plural only, quote, red, remember, remember it, remind,
 respond, says $, screen, seats, single all, single they, small, so no, speak, straight, strict,
 task, the ends, the user, ticket, topic, translate, treat, two, under, unless, user be_form, we
 habit, when a, without, word, you past, your outs, youre not
0.6: ^ all, ^ no, ^ says, ^ single, ^ when, ^ youre, a makes, a verb, after ing, all outs, api,
 asking, be_form deontic, be_form past, can habit, case, clear, client, comma dont, comma habit,
 customers, describe, detail, directly, docs, e, easy, edge comma, ends, ends in, external, facts,
 flag, folder, form $, habit $, habit a, habit form, habit the, habit this, hand, i only, i prefer,
 i'm, if the, in all, in plural, it i, it when, keep, leave, legal, less, like of, log, me, me
 plural, me when, mention, ms, must verb, my form, my user, names, need a, need the, needs, next, of
 all, of of, on a, one form, ones, only habit, option, other edge, other like, out, out $, out
 comma, outs in, past plural, path, pay, plan, plural $, plural it, point, price, provide, question,
 questions, request, response, responses, rule, say, short outs, source, standard, talk, team, ten,
 the form, user comma, verb all, verb past, what i, will habit, will verb, you dont, you makes
0.4: ^ form, ^ from, ^ if, ^ in, ^ soft, a form, answers, anything, as, avoid ing, b, by, can verb,
 can't, chat, claude, comma makes, comma no, data, dont verb, games, give, habit in, habit it, habit
 me, house, i dont, i habit, i have, i likes, i will, if i, in a, in form, in my, information, its,
 links, makes you, me if, name, new, nothing, of me, of outs, of past, on $, only verb, other now,
 out in, outs it, past $, past comma, play, please $, plural habit, plural in, plural on, prefer
 other, quote comma, rather, should be, single in, soft of, stop, tell, than, that's, they $, thing,
 too, type, use, user $, uses, verb my, verb outs, verb plural, version, want, want you, when i,
 when ing, will makes, write, year, you habit, you verb
0.2: ^ dont, ^ you, all other, and other, be other, each, form comma, habit plural, instead, into,
 it's, me $, no other, not, of plural, on, one $, other habit, other until, our, past other, read,
 see, test, the, the ing, time $, verb $, wait, who, with
-0.2: ^ please, and i, do, how, i, i need, is, make, makes a, more, now $, of a, of verb, other a,
 other be_form, other comma, other it, other plural, other the, outs $, past of, put, take, the
 edge, this, to, up, verb the, words, you can
-0.4: ^ a, ^ can, ^ i, ^ ill, ^ ing, ^ makes, ^ other, ^ plural, a short, add, again, all, all the,
 an, any, be a, better, comma i, comma other, comma verb, d, dont other, form of, form other, get,
 good, guess, has, her, i past, i soft, i would, ing in, ing it, ing other, json, last, lot, makes
 other, makes the, me in, must be, my other, need of, of habit, of ing, of you, other i, other in,
 other ing, other of, other on, other other, other you, people, same, second, single other, soft
 other, sorry, start, such, tests, their, then, this other, try, us, verb ing, verb of, we verb, x,
 you have
-0.6: ^ code, ^ never, ^ not, ^ the, ^ what, a out, about, ai, am, bot of, c, come, comments,
 content, could, day, didn't, doesn't, during, edge other, example, examples, file, find, help,
 here, i other, id, include, instructions, it plural, know, let, level, little, look, ly past, ly
 verb, me a, might, no $, notes, number outs, of, of do, okay, on other, once, other number, other
 outs, other short, other verb, outs and, page, past it, place, plural all, plural verb, project,
 remove, so other, still, sure, system, term, the habit, they, think, today, user other, verb comma,
 were, whole, why, works, you $, your, your other
-0.8: ^ it, all $, always other, and, and habit, and short, and verb, be_form ing, both, button,
 colon other, colon quote, comma $, comma plural, different, does, dont, dont single, etc, few, form
 plural, format, guys, had, have past, he, home, i ing, i should, if you, in you, ing of, it comma,
 likes of, line, m, many, meeting, model, much, no i, number form, number of, number plural, other
 my, other scope, outs of, please makes, plural ing, prompt, python, repository, run, s, says,
 server, single you, so it, sounds, support, this plural, update, want of, was, which, while, would,
 writing, you other
-1.0: ^ comma, ^ he, ^ ly, ^ now, ^ so, ^ this, always a, but, can, chatgpt, column, comma comma,
 comma if, comma number, comma the, count, dreams, events, files, form number, habit colon, have,
 have all, him, i'll, ing the, just, language, love, now, number other, of single, on the, on your,
 other, other colon, other what, outs colon, please verb, plural me, required, single comma, soft
 comma, step, there, ubuntu, verb colon, verb out, very, we'll, well, will be, you want
-1.5: ^ and, ^ past, ^ they, asks $, number colon, really, some, table, will, yes
-2.0: no comma
-2.5: colon $
"""
_CUES: Final = """
order_a: -0.5 -1.0 lead order[me of]?[a one number]
habit_first: 1.2 0.4 first habit(?![m])
says_in: 1.6 1.5 (?:lead|only|you[of and only]*)[says out](?:of me)?[ly only]*[in likes]
prefer: 1.5 2.8 lead prefer
ban: 1.7 0.8 lead(?:do not|dont|never|not of)
ban_order: 2.2 1.6 ^[soft please and comma ly]*(?:do not|dont|never)comma?ever?[ly
 comma]*(?!single|be)[v other](?![it this me now they you])
avoid: 2.0 1.7 lead avoid
always_verb: 1.7 2.9 (?:^|[stop and soft please]|you [duty][ly]*|you have of|you will|youll|you
 of?|can you[please]?)(?:always|never)[ly]*[v]
always_first: 1.8 3.3 ^[soft please and ly]*(?:always|never)(?![past be_form have a the asks ly of
 in comma remember soft])(?!other of|other$)
always: 1.0 0.8 always
never: 0.7 0.7 never
no: 0.2 0.8 no
you: 1.1 0.4 [you youll youre]
outs: 1.5 2.0 outs
noun_must: 2.2 1.3 (?:^|[stop and])[the all a your my][thing]+[in of the all thing]*(?:[duty]|have
 of|need)
must_not: 1.5 2.9 (?<![i we he they])must(?:not|never|always|only)
deontic: 1.5 1.4 be_form[not ly now always]*deontic
i_will_you: 2.5 2.5 ^[soft comma edge]*(?:i will|ill)[^asks]*(?:comma and?|and)(?:youll|you will
 |you [duty])
from_now: 1.8 1.8 from_now
from_now_tells: 0.9 3.4 from_now comma?[soft please]*tells|lead tells[^stop]*from_now
scope_for: 1.9 2.4 [of through in][this my all]+scope|[of through in]the?all scope|[of through]the
 rest of[the this my]|through[the my this all]{1,2}(?:scope|rest)
all: 0.7 0.6 all
when: 1.1 0.8 when
after: 0.8 0.5 after
if_tells: 1.2 1.0 (?:^|[comma colon])[soft please and]*if[^stop]+comma[soft please]*tells
when_tells: 1.6 1.7 (?:^|[comma colon])[soft please and]*(?:when|all time|after)[^stop]+comma [soft
 please]*tells
remember_it: 1.2 1.4 lead(?:remember|verb in remember)[it of]*(?:comma|colon|i|my|the|we)
diet: 1.0 3.4 i[ly not]*diet
form: 0.4 1.4 form
in_form: 0.8 0.6 [in of no not short please]form
so_tells: 1.7 1.7 comma so[soft please]*(?:tells|[v])
call_me: 1.4 3.4 (?:lead|you|of)call(?:me[^stop now_once when asks a]{1,3}(?:$|comma not)|my other
 other$)|lead habit of?me in
deed: 2.3 0.6 lead[habit verb makes says call prefer out ends](?!m)
kinds_are: 0.7 1.1 ^[soft and]*[other past code number]{0,2}[plural outs form](?:[in of][thing
 the]+)?(?:[v](?!of)|be_form(?:not|never|always|only))
kinds_in: 0.5 1.3 ^[soft and]*[other past code number]{0,2}[plural outs
 form](?:in|after|short|edge|until|no)
only_verb: 1.0 2.3 lead(?:only[v]|[v][^stop only]{0,3}only(?!of|when|number|a|the))
no_matter: 1.0 2.9 no ever(?![past])[v you i my a the duty can be_form]
you_barred: 1.7 2.9 ^[soft and]*(?:you be_form|youre)[not never]+deontic
no_plural: 1.6 1.4 ^[soft please and comma]*no[other habit code past]{0,2}[plural outs form](?:[on
 in after per please]|comma please|$)
asks: -1.5 -1.5 asks[quote]?$
what: -0.6 -1.1 (?:^|[stop and])[soft and]*(?:what|be_form|do[you the it i we he they])
he: -0.7 -0.8 he
i_tells: -0.4 -0.4 [i we][ly]*(?:past|be_form|can|have|ly|will)
i: 0.3 0.8 [i ill]
past: -0.4 -1.2 past
we_policy: 0.6 0.7 we[only always never dont]*(?:do not)?[verb makes habit out]
it: 0.3 -0.7 it
this: -0.2 -0.7 this
now_once: -1.2 -1.3 now_once
my: 0.4 0.7 my
generic_first: -0.2 0.9 ^[soft]*[other verb]{0,2}[plural outs](?!asks)
long: 1.4 -0.3 .{26}
filler: -1.7 -1.7 filler
short_sentence: -1.6 -0.9 ^.{1,4}$
"""


CLASSES: Final = Classes(_WORDS, _GROUPS)
_SAYINGS: Final = Sayings(_SAID, CLASSES)


_ORDERING: Final = frozenset(
    CLASSES.pattern_of("habit single verb makes says call prefer out ends").split()[0]
)


def may_order(word: str) -> bool:
    """Whether a sentence that begins with `word` may be an order."""
    return CLASSES.of_word.get(word) in _ORDERING


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
    prompt=-0.47,
    user=-2.76,
)
