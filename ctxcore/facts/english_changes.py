"""The signs in English that a clause changes a rule: classes of words, and patterns over them."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import Classes, Reader
from ctxcore.facts.signs import Signs

_WORD: Final = re.compile(r"[a-z]+(?:['-][a-z]+)*|\d+(?:[.,]\d+)*|[,;:!?()–—]|-(?=\s|$)|\.(?=\s|$)")
_WORDS: Final = """
other:
past: went got took made gave came had saw wrote sent found lost ate ran fell broke spent bought
 built caught thought felt met paid stood won wore woke drove grew held forgot began slept spoke
 knew flew sang swam cost hurt shut
number: one two three four five six seven eight nine ten twelve fifteen twenty thirty forty fifty
 sixty eighty hundred thousand half
asks: ?
stop: , ; : ! ( ) – — - . but because since
so: so if unless while
end: stop quit cease drop forget skip ignore scrap cancel ditch lift disregard remove lose scratch
 relax waive undo omit dump discard revoke withdraw abolish retire bin nevermind delete dropping
 scrapping skipping lifting removing ending cancelling retiring abolishing abandon nix kill axe
 chuck suspend pause finish halt shelve trash eliminate forgo ease stopping rescind repeal quitting
 avoid
ended: dropped scrapped skipped ignored cancelled canceled lifted removed waived revoked withdrawn
 abolished gone over history dead obsolete moot redundant pointless off useless exempt exempted
 excluded unlimited unrestricted retired relaxed finished done closed suspended paused rescinded
 repealed shelved expired outdated unnecessary superfluous irrelevant meaningless passé
 old-fashioned
out: out
needed: needed necessary required mandatory compulsory obligatory important useful relevant helpful
 strict binding enforced essential obliged expected supposed crucial vital demanded interested
need: need needs matter matters apply applies care bother insist require requires hold holds count
 counts have has got worry fuss applied applying
not: not don't doesn't isn't aren't won't needn't mustn't shouldn't wouldn't
no: no
always: never always must
only: only
just: just
more: more
any: any anything
longer: longer
anymore: anymore
enough: enough plenty sufficient
may: may can could
might: might should would
be: is are be it's that's they're am i'm
was: was were been being
fine: fine ok okay allowed permitted welcome acceptable alright good possible unlocked nice right
 permissible cool legit safe fair perfect tolerable
free: free optional voluntary
again: again anyway freely
too: too also
now: now
all: all
instead: instead
rather: rather
of: of
from: from
as: as
here: here today tomorrow
on: on onwards onward
future: future
forward: forward henceforth hereafter nowadays permanently
starting: starting effective
turn: make switch change set move raise lower increase reduce extend shorten bump cut swap replace
 revert update adjust rename shift push bring widen narrow decrease loosen tighten reset convert
 exchange substitute trade flip alter amend modify tweak upgrade downgrade double halve trim expand
 transform stretch
turned: switched changed moved raised lowered swapped replaced turned adopted replaces moves changes
 switches rises drops renamed changing switching migrated becomes upgraded downgraded converted
 exchanged altered amended modified tweaked doubled halved expanded transformed traded moving joined
go: go goes going stick
to: to into with by for
in: in at
let: let's lets let
say: say take try use
order: put write show send give keep talk speak answer reply list sign book explain cook include add
 address refer cite round format reserve read sort tell ask run do act pick target order start offer
 choose spell translate describe recommend suggest mark quote assume draft deliver ship schedule
 remind warn respond summarize summarise number link highlight bold begin end close greet name title
 save log commit merge
open: open
mind: mind
better: better best prefer preferably nicer safer easier
actually: actually correction plan
you: you we you're we're
i: i i've i'll i'd
he: he she they people someone somebody himself herself brother sister mother
 father mom mum dad son daughter friend friends wife husband uncle aunt cousin neighbour neighbor
 colleague boss kids him her them manager teacher partner girlfriend boyfriend roommate supervisor
 coach director editor man woman guy granny grandma grandpa
said: said says told asked asks wants wanted thinks apparently reportedly complained mentioned
 believes heard reported claims suggested
please: please pls
like: like wish want love
which: whichever whatever whenever wherever
ask: what why how where whose when did does whats hows
who: who which
feel: feel ahead
will: will
the: the these those its an a
this: this that
my: my our his their your
every: every each
soft: and then well really oh thing things part bit
rule: rule rules restriction restrictions limit limits ban requirement instruction policy freeze
 guideline constraint threshold
leave: leave leaving left
called: called named
once: once tonight yesterday currently
case: first second third fourth last next previous monday tuesday wednesday thursday friday saturday
 sunday january february march april june july august september october november december morning
 afternoon evening weekend
page: page chapter section line item step figure slide row question task
time: time
praise: thank thanks great lovely brilliant terrible awful hilarious haha lol beautiful funny what's
 cute sweet awesome amazing fantastic wonderful super loved loves laughed enjoyed enjoying adore wow
 congrats sorry glad happy
void: after than remember reminder remind yes yep yeah yup sure back up down exception exceptions
 except
"""
_GROUPS: Final = """
soften: soft so now you may better let be i just actually please like will stop again
begin: ^[soften]*
"""
_SIGNS: Final = """
lifts: 1.0 0 begin(?:end|leave)|no longer|anymore|any (?:more|longer)$ |not[soft any always was be
 now]* (?:need|needed)|no[^stop]{0,3}(?:need|needed)|no more |leave[^stop]*out |be[all
 now]*(?:ended|out) |may (?:be)?(?:ended|go)|ended$|enough[of to]|[to which any]you$|[which]you
turns: 1.0 0 begin
 (?:turn|go|say)|turned|instead|rather|mind|better|called|number[^stop]{0,3}(?:be)?
 (?:fine|enough|better|will)
permits: 0.1 0.9 be[all too]*(?:fine|free|open)|feel|free|may[all now again soft]*(?:other|order
 |past|be|say)|fine$|fine[now again too]
be_ended: -0.4 0 (?:be|need|was)[all now]*(?:ended|out)|may (?:be )?(?:ended|go)|ended$
needed: 0.3 -0.2 need|needed
be_fine: 1.0 0.7 be[all too]*(?:fine|free|enough)
may_again: 0.3 0.5 may[^stop]*again
now: 0.7 0 now
be_now: 0.3 0 be[all too]*now
lasting: 0.9 0 from[^stop]{1,4}on|from here|forward|in[my]?future|starting|as of
turn_first: 0.7 0 begin turn
to_number: 0.9 0 (?:to|turn)[^stop]{0,2}number
only: 0.3 0 only
every: 0.4 0 every|all
rule: 0.3 0 rule
plain: 0.9 0 ^[soften]*order
short_clause: 0.7 0 ^.{4,6}$
i_clause: -0.6 0 ^[soft]*i(?!may|will|please|not)
past: -1.1 0 was|(?<!be)past
he: -0.8 0 he|said
this: -1.1 0 this
case: -0.5 0 case|page number|once
this_case: -0.7 0 this[case other time number page]
only_may: 0.1 0.8 may
only_fine: -0.1 -0.2 fine
"""
_SIDES: Final = """
0.5: on, so
0.3: to, ^ other, other, end, other now
0.2: ^ order, void
0.1: from, number other, out
-0.1: soft, case
-0.2: other asks, was, ^ i
-0.3: other $, asks $, ^ my, i, other to
-0.4: asks, my, he
-0.5: of
"""
_CONTEXT: Final = """
asks: -0.5 0 asks$|^[soft]*(?:ask|who|be|may)
asks_first: -0.5 0 ^[soft]*(?:ask|who)
once_any: -0.6 0 once|(?:just|only)[^stop]{0,3}(?:this|once)|this time|this number
case_any: -0.4 0 case
lasting_any: 0.9 0 from[^stop]{1,4}on|from here|forward|in[my]?future|starting|as of
praise: -0.2 0 praise
praise_first: -0.9 0 ^[soft the]*(?:praise|fine other|fine stop)
fine_any: -0.4 0 fine|may
asks_end: -1.1 0 asks
past_any: -0.3 0 was|(?<!be)past
many: -1.2 0 stop.*stop
i_past: 0.5 0 ^[soft]*i[soft]*(?:past|was|need)
"""
_CONTEXT_SIDES: Final = """
0.5: ^ other
0.2: ^ you
0.1: other $
-0.2: the, this, ^ my, now $
-0.3: asks $
"""
_CONTENT: Final = "other order past number needed case page rule called praise"


CLASSES: Final = Classes(_WORDS, _GROUPS)


def _kind_of(word: str) -> str:
    if word[0].isdigit():
        return "number"
    return "past" if word.endswith("ed") else "other"


ENGLISH: Final = Signs(
    Reader(_WORD, CLASSES, _kind_of).read,
    CLASSES,
    signs=(_SIGNS, _SIDES),
    context=(_CONTEXT, _CONTEXT_SIDES),
    content=_CONTENT,
    start=-0.2,
)
