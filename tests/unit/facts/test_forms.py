"""Each form of a fact is found alone in a message: what is looked at first lets it through."""

from __future__ import annotations

import pytest

from ctxcore.facts.finding import answers, find_facts
from ctxcore.facts.reading import sentences
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import text_message

NAMED_NUMBERS = """port|ports|timeout|timeouts|budget|retries|retry limit|max|maximum|maximum load
min|minimum|minimum age|limit|threshold|batch size|page size|chunk size|pool size|size|temperature
version|age|height|weight|width|length|deadline|interval|ttl|rate limit|quota|capacity|price|cost
fee|rent|salary|total|count|score|rating|ratio|line|step|chapter|page|level|floor|room
number of rows|window|memory|worker|workers|thread|threads|replica|replicas|concurrency|delay
workdays|seed|epoch|epochs|learning rate|discount|tax|tax rate|coverage"""
NAMED_THINGS = """ticket order reservation booking confirmation invoice case issue flight account
customer tracking user job run build commit branch pr room gate seat table class payment certificate
card passport serial session container pod task"""
DATES = """Jan 4|January 4|Feb 4|Mar 4|April 4|may 4|Jun 4|July 4|Aug 4|Sept 4|Sep. 4|Oct 4|Nov 4
4th of December|4 Dec 2031|2031-04-05|2031/4/5|4/5/2031|4.5.2031|March 2031|every Monday
next Tuesday|Wednesdays at 9 am|Thursday|fri, 9:30 on Friday|Saturday night|Sunday|tomorrow
day after tomorrow|yesterday at noon|today by 5 p.m.|tonight at 8 pm|next week|last weekend
this coming month|the following year|next summer|last winter|next spring|last fall|next autumn
next quarter|in 3 minutes|in two hours|within 4 days|in 6 weeks|in three months|within 2 years
3 days ago|two weeks ago|9:30|9 am|9 p.m.|at noon on Friday|midnight on 4 May"""
DECISIONS = """We decided against it.|I've agreed to the plan.|We settled on oak.|We opted for oak.
The final decision: oak.|It's settled, oak.|Agreed: oak it is.|That was decided last week.
Going with option B then.|Let's go with oak.|Let us see, lets use oak.|I'll take the oak one.
We will adopt it.|I'm going with oak.|We chose oak.|We went with oak.|Option B it is.
Oak, final answer.|Go with the oak one, plan settled.|The drawings are approved.
Please go ahead with the oak."""
FIXES = """Fixed it by restarting.|The fix was a restart.|That fixed the crash.
Root cause was a typo.
The problem was a typo.|The issue turned out to be a typo.|The bug is a typo.|The cause was a typo.
The reason was a typo.|The culprit is a typo.|Solved this by a restart.
It was resolved by a restart.
That worked at once.|That did it for me.|That helped a lot.|It works now, thanks.|It works at last.
It is working now.|The build now passes.|All tests pass again.|The solution was a restart.
The crash is now fixed.|I've fixed the crash."""
PUT_OFF = """I'll check the list.|Let me think about it.|Not sure about it.|I don't know about it.
No idea about it.|I need to ask about it.|We have to look at it.|I get back to you on it.
We will follow up on it.|I'm unable to open it.|I cannot say.|We talk about it later tonight"""


def _split(forms: str) -> list[str]:
    return [form.strip() for form in forms.replace("\n", "|").split("|")]


def _kinds(text: str) -> set[Kind]:
    return {fact.kind for fact in find_facts(text_message("user", text))}


@pytest.mark.parametrize("name", _split(NAMED_NUMBERS))
def test_a_number_is_found_by_each_name(name: str) -> None:
    assert "number" in _kinds(f"We agreed that the {name} is 7317 there")


@pytest.mark.parametrize("name", NAMED_THINGS.split())
def test_an_identifier_is_found_behind_each_name(name: str) -> None:
    found = find_facts(text_message("user", f"Look at {name} 7317 please"))

    assert ("identifier", "7317") in {(fact.kind, fact.text) for fact in found}


@pytest.mark.parametrize("date", [d for d in _split(DATES) if d])
def test_each_form_of_a_date_is_found(date: str) -> None:
    assert "date" in _kinds(f"She said {date}")


@pytest.mark.parametrize("sentence", _split(DECISIONS))
def test_each_form_of_a_decision_is_found(sentence: str) -> None:
    assert "decision" in _kinds(sentence)


@pytest.mark.parametrize("sentence", _split(FIXES))
def test_each_form_of_a_fix_is_found(sentence: str) -> None:
    found = find_facts(text_message("user", sentence))

    assert "fixes" in {fact.effect for fact in found}


@pytest.mark.parametrize("sentence", _split(PUT_OFF))
def test_what_puts_an_answer_off_answers_nothing(sentence: str) -> None:
    def answered(text: str) -> list[Fact]:
        return list(answers(list(sentences(text)), "user"))

    assert not answered(sentence)
    assert answered("The list is on the desk.")
