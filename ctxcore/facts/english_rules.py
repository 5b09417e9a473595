"""The cues of standing instructions in English: classes of words, and patterns over them."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import MOST_WORDS, Classes, Language, Letters, Sayings

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
1.5: and you, avoid, dislike, every, i dislike, prefer, stay, times, whenever, you will
1.0: ^ all, ^ be, ^ leave, ^ only, ^ your, a strong, approve, ask, at most, back, before,
 circumstances, diet, each time, educational, ever, everything in, first, for all, from now, gets,
 give the, goes, going forward, has to, have to, i avoid, i say, if a, instead of, keep, mails,
 mention, must, must not, now on, over, refunds, reply, seats, send, short, skip the, speak, stick,
 that are, to see, under, users, with me, without a, you change, you to, your responses
0.8: ^ always, ^ avoid, ^ code, ^ for, ^ going, ^ less, ^ one, ^ treat, a source, a time, advice,
 always $, angry, answer, anything, asked, aversion, aversion to, be the, before you, call me, cite,
 claude, deploy, directly, don't, everywhere, flag, go by, hotels, i ask, i can, i prefer, i
 strongly, keep it, leave the, like you, meat, metric, most $, name the, naming, no more, only, only
 use, per, products, quote, recommendations, refer, remember, remember that, response, rest of,
 round, rule, screen, skip, spell, stick to, stories, strong, strongly, talk, the total, touch the,
 unless, when it's, without, write for, your answers
0.6: ^ ensure, ^ i'd, ^ in, ^ make, ^ nobody, ^ prefer, ^ show, ^ stop, ^ think, ^ you, ^ you're, a
 list, activities, always, asks, assume, away, below, between, british, called, character, chat $,
 clear, client, contact, costs, dates, don't like, end, everyone, exist, feedback, first name,
 flights, formal, forward, french, front, gender, guessing, have a, have an, honest, i give, i'd
 rather, if it's, in all, in your, it and, it up, learning, leave, log, make a, make sure, mark, me,
 me one, means, needs, needs a, network, never, next to, nothing, on a, on top, one question, ones,
 only $, open, otherwise, owner, please do, point, questions, rather, refer to, reports, resources,
 say, saying, shorter, small, so no, straight, that i, the steps, the word, there's a, through, to
 me, touch, treat, until, until i, us $, user's, what i, who, wine, write in
0.4: ^ as, ^ at, ^ each, ^ every, ^ if, ^ let's, ^ our, ^ when, agree, and a, and i, answer $, are
 in, at a, at the, by, can't, classes, copy, date, describe, do the, easy, eat, end with, ensure,
 even if, fish, five, follow, for me, for the, games, german, house, i go, i like, i'm, if the, in
 our, in this, instead, it in, know $, large, less, like it, must have, name, name $, names, not,
 number, number $, of it, offer, on, one, options, out, plan, prices, put, question, read,
 recommend, respond, so, source, stop, suggest, suggestions, tell, tell me, text, than, the answer,
 the new, the next, the user, then the, thing, think of, three, to hear, use, want, we're, what's,
 when, with a, you a, you don't, you play
0.2: ^ do, ^ don't, ^ from, ^ let, ^ we, a, address, as, be, case, code, code $, do, do not, first
 $, give, go, i don't, i know, if i, it $, its, may, me to, minutes, new, our, pay, please $,
 product, should be, the, them, there's, time, to be, to have, to the, two, where, with, word, work,
 you can
-0.2: ^ it's, ^ please, ^ there, about it, account, add, an, any, are the, been, change, did you,
 didn't, don't know, for, game, get, great, guess, here, i, i was, i wonder, if you, into, is the,
 job, key, like a, look, looks, lot, lot of, made, more, need to, ok, people, run, she, that $, the
 other, the same, their, thinking, this, this is, those, up, were, what, why, you, you have, you
 know, you think
-0.4: ^ can, ^ he, ^ how, ^ i'm, ^ i've, ^ my, ^ never, ^ no, ^ ok, ^ okay, ^ sure, ^ tell, ^ the,
 ^ then, ^ this, ^ use, a few, a lot, again, all, all $, app, around, better, both, but i, buy, can
 be, can i, can you, com, control, cool, could, d, doing, don't have, during, each of, else, enough,
 error, files, find me, flight, following, for example, forget, form, from the, function, go to,
 great $, hard, heard, help, help me, her, his, hope, how, i am, i just, i need, i should, i want,
 i'll, i'm looking, in a, in the, input, interesting, is a, it is, it on, latte, like the, listen,
 live, looking for, love, make, makes, making, maybe, me some, might, mocha, must be, n, nice,
 notes, oat, of the, once, over the, part, party, play it, player, pretty, problem, return, same,
 script, search, second, section, seems, set, should i, start, sure, system, t, th, thank you, that
 will, the only, then, then $, there $, title, to, to do, to get, to go, to know, to make, to write,
 true, tv, uh, understand, used, used to, value, want a, will be, with you, wonder, words $, years,
 yet, you get
-0.6: ^ add, ^ and, ^ explain, ^ now, ^ that's, a little, about, also, am, american, answers $,
 anything else, available, be a, because, body, button, come, create, do you, does, doesn't, don't
 think, down, etc, example, f, feel, few, file, find, for a, format, getting, given, going to,
 gonna, got, had, having, him, html, https, i feel, i guess, i'd like, i'm not, import, last, like
 to, little, m, make it, many, missing, now $, number of, of, okay, on my, only one, output, page,
 paragraph, place, players, please write, possible, provide me, right, s, says, seen, sentence,
 single, step, still, thats, the best, the following, they, though, to find, today $, update, what
 the, when the, which, while, would, write a, write me, write the, you want, your
-0.8: ^ $, ^ but, ^ name, ^ that, ^ they, ^ well, ^ yes, actually, all right, all the, and,
 another, bullet, but, by the, can, different, examples, for each, good, have, have any, he, i
 think, i would, just, know, language, looking, method, much, now, on the, reach, required, sounds,
 the first, up on, url, watch, well, whole, will, words, writing, you $
-1.0: ^ so, anything $, line, on your, other, python, really, such, table, think, very, want to,
 was, yes
-1.5: some, there
"""
_CUES: Final = """
order_definite: 0.3 -0.3 lead order(?:[the this it they]|within this)
order_a: -0.9 -1.2 lead order[me of]?[a one number]
habit_first: 1.6 1.3 first habit(?![m])
says_in: 1.7 1.7 (?:lead|only|you[of and only]*)[says out](?:of me)?[ly only]*[in likes]
prefer: 1.4 3.1 lead prefer
ban: 0.9 0.5 lead(?:do not|dont|never|not of)
ban_order: 1.2 2.3 ^[soft please and comma]*(?:do not|dont|never)comma?ever?[ly
 comma]*(?!single|be)[v other](?![it this me now they you])
ban_generic: 1.0 0.9 lead(?:do not|dont|never|avoid)ever?[ly]*[v ing][^stop the this it]*[plural
 outs all]
avoid: 2.0 1.9 lead avoid
always_verb: 1.8 3.1 (?:^|[stop and soft please]|you [duty]|you have of|you will|youll|you of?|can
 you[please]?)(?:always|never)[ly]*[v]
always_first: 1.6 3.1 ^[soft please and]*(?:always|never)(?![past be_form have a the asks ly of in
 comma remember soft])(?!other of|other$)
always: 0.6 0.6 always
never: 0.5 0.6 never
no_thing: 0.9 1.0 (?:^[soft please comma]*|[comma colon and])no[thing the]+(?:$|[stop in please])
no: 0.7 1.0 no
you: 1.1 0.6 [you youll youre]
outs: 1.5 1.7 outs
noun_must: 1.5 1.2 (?:^|[stop and])[the all a your my][thing]+[in of the all thing]*(?:[duty]|have
 of|need)
must_not: 1.4 3.1 (?<![i we he they])must(?:not|never|always|only)
deontic: 1.7 1.7 be_form[not ly now always]*deontic
i_will_you: 1.4 3.1 ^[soft comma edge]*(?:i will|ill)[^asks]*(?:comma and?|and)(?:youll|you will
 |you [duty])
from_now: 1.8 1.8 from_now
from_now_tells: 1.4 3.1 from_now comma?[soft please]*tells|lead tells[^stop]*from_now
scope_for: 2.2 2.1 [of through in][this my all]+scope|[of through in]the?all scope|[of through]the
 rest of[the this my]|through[the my this all]{1,2}(?:scope|rest)
until_i: 0.9 0.9 until[^stop]{0,2}[i me]|until(?:you|past|[the all][user out]|i)
all: 1.4 1.0 all
when: 0.9 0.9 when
after: 0.7 0.6 after
if_tells: 1.2 1.0 (?:^|[comma colon])[soft please and]*if[^stop]+comma[soft please]*tells
when_tells: 1.7 1.7 (?:^|[comma colon])[soft please and]*(?:when|all time|after)[^stop]+comma [soft
 please]*tells
remember_it: 1.6 1.6 lead(?:remember|verb in remember)[it of]*(?:comma|colon|i|my|the|we)
diet: 1.4 3.1 i[ly not]*diet
form: 0.8 1.6 form
in_form: 0.6 0.9 [in of no not short please]form
so_tells: 2.3 2.3 comma so[soft please]*(?:tells|[v])
not_thing: 1.3 1.4 comma not[the a in]*[thing]{1,3}$
call_me: 1.4 3.1 (?:lead|you|of)call(?:me[^stop now_once when asks a]{1,3}(?:$|comma not)|my other
 other$)|lead habit of?me in
i_you: 1.4 1.4 ^[soft comma edge]*i[ly will]*[v][^asks]*?(?:comma and?|and)you[ly
 will]*(?:[v]|only)
polite_lasting: 1.1 1.1 (?:can|would)you[please all]*(?:always|never|only|avoid|not|dont)
deed: 1.8 0.3 lead[habit verb makes says call prefer out ends](?!m)
kinds_are: 0.6 0.9 ^[soft and]*[other past code number]{0,2}[plural outs form](?:[in of][thing
 the]+)?(?:[v](?!of)|be_form(?:not|never|always|only))
kinds_in: 0.8 1.0 ^[soft and]*[other past code number]{0,2}[plural outs
 form](?:in|after|short|edge|until|no)
only_verb: 1.4 3.1 lead(?:only[v]|[v][^stop only]{0,3}only(?!of|when|number|a|the))
no_matter: 1.4 3.1 no ever(?![past])[v you i my a the duty can be_form]
make_sure: 0.5 0.6 lead makes?soft it?[the all my your]*[other past]?[plural outs form]
no_plural: 1.7 3.1 ^[soft please and comma]*no[other habit code past]{0,2}[plural outs form](?:[on
 in after per please]|comma please|$)
asks: -2.5 -2.5 asks[quote]?$
what: -0.7 -1.1 (?:^|[stop and])[soft and]*(?:what|be_form|do[you the it i we he they])
he: -0.5 -0.8 he
i_tells: -0.4 -0.4 [i we][ly]*(?:past|be_form|can|have|ly|will)
i: 0.3 0.5 [i ill]
past: 0.1 -0.7 past
we_policy: 1.2 1.2 we[only always never dont]*(?:do not)?[verb makes habit out]
it: 0.2 -0.6 it
this: -0.5 -0.8 this
now_once: -1.0 -1.0 now_once
my: 0.6 0.7 my
generic_first: 0.3 1.1 ^[soft]*[other verb]{0,2}[plural outs](?!asks)
edge_tells: 1.0 1.0 (?:tells|plural|outs|thing)[^stop]*in?[edge ends](?:$|[comma])
long: -0.6 -1.4 .{26}
filler: -1.6 -1.6 filler
short_sentence: -1.2 -0.7 ^.{1,4}$
"""


CLASSES: Final = Classes(_WORDS, _GROUPS)
_SAYINGS: Final = Sayings(_SAID)


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


_LETTERS: Final = Letters(CLASSES, _kind_of)


def _split(words: str) -> list[str]:
    return _WORD.findall(words.rstrip(" .!)'\""))


def _letters(words: str) -> str:
    return "".join(map(_LETTERS.__getitem__, _split(words)))


def _said(words: str) -> float:
    return _SAYINGS.weight(_split(words)[:MOST_WORDS])


ENGLISH: Final = Language(
    _letters,
    said=_said,
    cues=CLASSES.cues(_CUES),
    signs=CLASSES.pattern_of(_SIGNS),
    forbids=CLASSES.pattern_of("not never dont no avoid until"),
    prompt=-0.95,
    user=-2.74,
)
