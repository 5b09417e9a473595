"""The cues of standing instructions in English: classes of words, and patterns over them."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import Classes, Language

_WORD: Final = re.compile(
    r"`[^`]*`|[a-z]+(?:['-][a-z]+)*|[0-9]+(?:[.,][0-9]+)*|[\x00-\x08]+|[^\sa-z0-9'\"*_]"
)
_WORDS: Final = """
code:
quote:
filler: uh um yeah oh hmm haha lol hm mm ah eh wow hey hello hi thanks thank
other:
ing:
number: two three four five six seven eight nine ten twelve twenty hundred twice
ly: very really
past: was were had got went took gave made said told thought knew did saw came kept meant been
 done
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
habit: add address assume bold capitalise capitalize cite count follow format include indent
 italicize keep label leave limit link mark name number omit prefix put quote refer reserve
 round
 sign skip sort spell stay stick treat use
single: book bring buy call cancel check come find get go help hold look order pay play schedule
 search send show transfer try visit wait
verb: abandon accept access accompany accomplish achieve acknowledge acquire activate adapt
 adhere
 adjust admit adopt advise affirm alert align allow alternate amend annotate announce anonymize
 anticipate append apply approach approve archive argue arrange articulate ask assemble assert
 assess assign assist attach attempt attend audit authenticate automate await award base batch
 begin
 bind blend block boost borrow break browse build bundle bypass cache cap capture carry cast
 categorize center challenge change cheer choose claim clarify classify clean clear click clip
 clone
 close collaborate collapse collect combine command commence commit compress compute conceal
 concentrate conclude conduct configure confirm conform connect conserve consider consolidate
 construct consult consume contact contain contextualize continue contribute control convert
 convey
 cook coordinate copy correct critique crop cross curate customize cut deactivate debug decide
 decline deduct deepen defer define delay delegate delete deliver demonstrate denote depend
 deploy
 derive detect determine diagnose differentiate direct disable discard disclose discourage
 discuss
 dismiss dispatch display disregard distinguish distribute dive divide document dodge double
 doubt
 download drive drop duplicate echo edit educate elevate eliminate embed embrace emit empathize
 emphasize employ emulate enable enclose encourage encrypt enforce engage enhance enrich enter
 escape establish estimate evaluate examine exceed exclude execute exercise exhibit exit explore
 expose express extend extract fabricate facilitate factor fall fetch file filter fix flag focus
 follow-up forbid force forget freeze gather gauge generalize gloss grade grant graph greet grow
 guide halt handcraft handle hang harness hear heed hide highlight hint honor identify ignore
 illustrate imagine imitate impersonate implement imply import impose improve incentivize
 incorporate indicate infer inform initialize initiate inject inline inquire insert inspect
 inspire
 install institute instruct integrate intend interact interpret interrupt introduce invalidate
 invent invert investigate invite invoke involve isolate iterate join judge justify lay lead
 lean
 learn lend lengthen lift lint listen load localize locate lock log maintain manage manipulate
 map
 mask match maximize measure meet memorize mention merge migrate mimic minimize mirror mix mock
 modify monitor move mute narrate navigate negotiate nest normalize notify nudge obey observe
 obtain
 offer offset open optimise optimize organize orient overlook override overwrite package pad
 parse
 participate partition pass paste patch pause perform permit persist personalize persuade phrase
 pick pin place point polish populate pose position post praise precede predict preface
 pregenerate
 preload prepare present preserve press presume prevent print prioritize probe proceed process
 profile prohibit promise promote prompt pronounce prove provide publish pull pursue push
 qualify
 quantify query raise randomize rank re-read re-use reach react read realize rearrange reason
 rebase
 rebuild recall recap receive recheck recognize recommend reconsider reconstruct record recover
 redirect reduce refactor reference reflect reformat refresh refuse regard register reiterate
 reject
 relate release relocate rely remark remind remove rename render renew repair repeat replace
 report
 represent reproduce request rerun reset reshape resist resize resolve resort respect restart
 restrict retain retrieve retry return reuse reveal reverse revert review revise reward rewind
 rhyme
 roll rotate route run sample sanitize satisfy save say scale scan scrub seed seek segment
 select
 separate serialize serve set settle shape share ship shorten shout shut signal simulate sketch
 slow
 smooth solicit span specialize specify speed spend spice split squash stamp standardize steer
 store
 stress stretch strip strive structure submit subscribe subtract suffix supply support suppress
 surface survey suspend sustain swap switch sync synthesize tabulate tackle tag tailor take
 target
 teach tease terminate test throw tidy tighten tint toggle touch track trail transform trigger
 trim
 truncate trust tune turn tweak type uncover underline undo unify unite unlock unpack update
 upgrade
 upload urge utilize validate vary verify vet visualize warn watch weave weigh widen withhold
 work
 wrap yell yield zoom
makes: create compose craft design develop draft generate give list make outline paraphrase
 produce
 propose rephrase rewrite suggest summarise summarize translate write describe explain analyze
 analyse compare calculate tell plan elaborate simplify complete expand finish solve
says: respond speak talk act behave pretend communicate converse
be: be
avoid: avoid refrain stop quit cease
dont: don't dont
do: do does
not: not
never: never
always: always
only: only exclusively solely strictly
prefer: prefer favor favour
must: must should shall ought mustn't shouldn't
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
like: love hate dislike enjoy appreciate rather better helps
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
forward: forward henceforth hereafter
scope: conversation chat session project thread discussion campaign codebase repo repository
 interaction dialogue roleplay
rest: rest remainder entirety duration
through: throughout across
edge: first last top beginning bottom front
ends: end start
out: response answer reply message output explanation comment
outs: responses answers replies messages outputs explanations summaries reports emails comments
 headings titles names dates amounts prices units notes letters commits functions files
 variables
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
now_once: yet tonight yesterday tomorrow currently already anyway maybe probably guess sometimes
remember: remember note mind reminder notice
deontic: forbidden allowed prohibited banned mandatory required compulsory acceptable
 unacceptable
 tolerated permitted off-limits confidential read-only
diet: allergic vegan vegetarian intolerant
"""
_GROUPS: Final = """
stop: comma colon loud asks
soften: soft filler please and so ly comma now edge
v: habit single verb makes says be prefer out ends
m: must will can would have be_form past
lead: (?:^|[stop and so please])[soften]*
thing: other habit plural code quote out outs number one short user ing edge ends verb diet
first: ^(?:[soft please and so ly comma now]|[thing][colon])*
within: [^stop]*?
order: [v](?![m of])
tells: (?:[v](?![m of])|do it|dont|do not|never|always|only|avoid|no|you[ly]*(?:must|have of))
from_now: (?:from now on|starting now|in the?future|all future|forward|from[this now])
whenever: (?:when|all time|[if after])
"""
_SIGNS: Final = """
v dont do never always only avoid must have need no out outs when time if until per plural
like likes want prefer remember deontic diet forward future starting now scope rest through
"""
_CUES: Final = """
order_first: 0.9 0.4 first order
order_definite: -0.0 -0.3 lead order(?:[the this it they]|within this)
order_a: -1.0 -1.0 lead order[me of]?[a one number]
order_me: 0.0 0.0 lead order me
order_all: 0.8 0.8 lead order within all
order_outs: -0.1 -0.1 lead order[^stop the this a]{0,4}outs
habit_first: 1.3 1.2 first habit(?![m])
habit_generic: 1.2 1.2 first habit[^the this a one me my it they asks]+$
habit_limit: 2.0 3.2 first habit[^stop]*in number
habit_definite: 0.9 0.7 lead habit[the this it they]
makes: 0.1 -0.0 lead makes
says: 0.3 0.2 lead[says]|^[soft please]*out(?![m])
says_in: 2.1 2.0 (?:lead|only|you[of and only]*)[says out](?:of me)?[ly only]*[in likes]
unknown_order: -0.2 -0.2 first other[the a all your my it this code]
prefer: 3.4 3.3 lead prefer
ban: 0.9 0.7 lead(?:do not|dont|never|not of)
ban_order: 1.4 2.9 ^[soft please and comma]*(?:do not|dont|never)comma?ever?[ly comma]*[v](?![it
 this me now they])
ban_generic: 1.8 1.8 lead(?:do not|dont|never|avoid)ever?[ly]*[v ing][^stop the this it]*[plural
 outs all]
ban_unknown: 1.1 1.0 ^[soft please and comma]*(?:do not|dont|never)ever?other[^it me]
ban_deep: 0.9 0.9 [stop]and?[soft]*(?:never|dont|do not)ever?[v]
avoid: 2.8 3.7 lead avoid
always_verb: 2.3 3.7 (?:^|[stop and soft please]|you must|you have of|you will|youll|you of?|can
 you[please]?)(?:always|never)[ly]*[v]
always_first: 1.5 3.0 ^[soft please and]*(?:always|never)(?![past be_form have a the asks ly of
 in comma])
always: 0.4 0.3 always
never: 0.2 0.2 never
only: 0.6 0.4 only
only_verb: 2.4 3.0 lead(?:only[v]|order within only)
no_thing: 1.6 1.6 (?:^[soft please comma]*|[comma colon and])no[thing the]+(?:$|[stop in
 please])
no_matter: 1.8 3.7 no ever(?![past])[v you i my a the must can be_form]
no: 0.7 0.7 no
you_must: 0.9 0.9 (?:you[ly all]*must|you[ly]*have of|youre not)
you_must_not: 2.2 2.9 you[ly]*(?:must|can)[ly]*(?:not|never|only|always)|you can only|you
 be_form(?:not|of|never|only)
you_can: -0.2 -0.1 you[ly]*can
you_need_not: 0.2 0.2 you(?:do not|dont)
you: 0.1 0.2 [you youll youre]
your_out: 0.8 0.8 your[other ly]*[out outs]
your_out_must: 2.0 2.0 your[other ly]*[out outs][ly]*(?:must|will|have|need|can)
outs: 1.9 2.2 outs
of_outs: 0.7 0.7 [in of][your my]?[other short]?outs
out: 0.4 0.4 out
all_out: 1.5 1.5 all[of your my the other]*[out outs]
generic_must: 2.8 3.7 (?:^|[comma colon])[soft]*[all no]?[other code verb habit past]{0,3}
 [plural outs user code][in thing]*(?:must|have of|need)
noun_must: 1.5 1.5 (?:^|[stop and])[the all a your my][thing]+[in of the all thing]*(?:must|have
 of|need)
all_must: 2.2 2.2 (?:^|[stop])[soft]*[all no][thing]*[in of the thing]*(?:must|have of|need|can)
must: 0.1 -0.2 must
must_not: 1.6 3.7 (?<![i we he they])must(?:not|never|always|only)
deontic: 2.9 3.7 be_form[not ly now always]*deontic
i_will_you: 3.8 3.8 ^[soft comma edge]*(?:i will|ill)[^asks]*(?:comma and?|and)(?:youll|you will
 |you must)
from_now: 1.5 1.5 from_now
from_now_tells: 2.7 3.7 from_now comma?[soft please]*tells|lead tells[^stop]*from_now
from_now_we: 1.3 1.3 ^[soft comma]*from_now comma?[we my the all]
scope_for: 2.1 2.1 [of through in][this my all]+scope|[of through in]the?all scope|[of
 through]the rest of[the this my]|through[the my this all]
until_i: 2.4 3.0 until[^stop]{0,2}[i me my]|until(?:you|past)
all: 0.7 0.8 all
all_time: 1.1 1.1 all time
when: 1.1 1.1 when
after: 0.9 1.1 after
if_tells: 2.7 2.7 (?:^|[comma colon])[soft please and]*if[^stop]+comma[soft please]*tells
when_tells: 3.1 3.1 (?:^|[comma colon])[soft please and]*(?:when|all time|after)[^stop]+comma
 [soft please]*tells
when_loose: 2.1 2.1 (?:^|[comma colon])[soft please and]*(?:when|all time|if|after)(?:you|i
 |youre|all|ing|the|a|it)[^stop]{2,}?(?:[v][the my a all your me it]|dont)
when_thing: 1.3 1.3 (?:^|[colon comma])[soft and]*whenever[a all the]?[thing][^stop]*comma[soft
 please]*tells
tells_when: 0.4 0.5 lead tells[^comma]*(?:when|all time|after)(?:[you i ing youre all])
tells_if: 0.2 0.2 lead tells[^comma]*if
in_case_tells: 1.6 1.6 (?:^|colon)[soft]*[in of][^stop]+comma[soft please]*tells
in_case_thing: 1.2 1.2 ^[soft]*[in of][^stop]+comma[soft please]*[thing all]
want_you: 0.9 0.9 [i we][ly all can would]*[want like likes need prefer][me]?[only always
 never]?you
want_you_standing: 1.5 1.5 [i we][ly all would]*[want like likes need prefer](?:you of?)?
 [^stop]{0,4}(?:only|always|never|scope)
not_want: 2.1 3.7 [i we](?:dont|do not|never)[want like](?:you|all)
rather_you: 1.8 1.8 [like likes]it?[if when]?you
i_prefer: 1.1 1.1 i[ly]*prefer|and[ly]*prefer
like_outs: 2.1 2.1 i[ly]*[like likes want prefer need][the my other short]*(?:outs|all)
like_generic: 2.0 2.0 i[ly]*[like want prefer avoid][other short ing]*plural
remember_it: 3.3 3.3 lead(?:remember|verb in remember)[it of]*(?:comma|colon|i|my|the|we)
diet: 3.3 3.7 i[ly not]*diet
asks: -3.2 -3.2 asks[quote]?$
polite: -0.7 -0.7 ^[soft please comma]*(?:can|would)you
what: -2.2 -2.2 (?:^|[stop and])[soft and]*(?:what|be_form|do[you the it i we he they])
he: -1.3 -1.3 he
they: -0.3 -0.4 they
i_tells: -0.9 -0.9 [i we][ly]*(?:past|be_form|can|have|ly|will)
i: -0.5 -0.5 [i ill]
past: -0.5 -0.9 past
be_form: -0.2 -0.5 be_form
we_policy: 1.1 1.1 we[only always never]*[verb makes habit]
my_is: 0.4 0.4 ^[soft]*my[thing]+[be_form m]
it: -0.3 -0.8 it
this: -0.9 -0.9 this
the: 0.2 0.2 the
a: 0.0 -0.0 [a one]
one_per: 1.8 1.8 [a one number short][thing]+per|in a time|^per[thing]
now_once: -1.3 -1.3 now_once
with_me: 1.7 1.7 [in of]me$
my: 0.5 0.5 my
nominal: 1.0 0.9 ^[soft comma]*[thing]{1,4}in[thing]
nominal_please: 0.7 0.7 ^[thing in of only]+please(?:$|[stop])
generic_first: -0.2 0.4 ^[soft]*[other verb]{0,2}[plural outs](?!asks)
edge_tells: 1.7 1.7 (?:tells|plural|outs|thing)[^stop]*in?[edge ends](?:$|[comma])
bot_does: 0.4 0.3 ^[soft comma colon thing the]*(?:bot|it)[ly]*(?:will|must|always|never|only
 |plural)
code: -0.6 -0.4 code
long: -0.4 -0.8 .{26}
filler: -2.3 -2.3 filler
short_sentence: -0.7 -0.7 ^.{1,4}$
"""


MOST_KNOWN: Final = 20_000  # words; chosen: people use far fewer
CLASSES: Final = Classes(_WORDS, _GROUPS)


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
    return "plural" if len(word) > 3 and word[-1] == "s" and word[-2] not in "siu" else "other"


class _Letters(dict[str, str]):
    """The letters of words; a word of no list has that of its ending."""

    def __missing__(self, word: str) -> str:
        letter = CLASSES.letter(_kind_of(word))
        if len(self) < MOST_KNOWN:
            self[word] = letter
        return letter


_KNOWN: Final = _Letters(CLASSES.of_word)


def _letters(words: str) -> str:
    return "".join(map(_KNOWN.__getitem__, _WORD.findall(words)))


ENGLISH: Final = Language(
    _letters,
    cues=CLASSES.cues(_CUES),
    signs=CLASSES.pattern_of(_SIGNS),
    forbids=CLASSES.pattern_of("not never dont no avoid until"),
    prompt=-0.14,
    user=-2.80,
)
