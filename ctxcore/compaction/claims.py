"""Finds the sentences of a summary that its source does not support.

A sentence is one of them if it names what the source lacks, if next to none of its telling words
are said anywhere, if it tells of a result that nobody reported, or if it says the opposite of the
only clause that says the same. What is said in other words must not be among them, so in doubt a
sentence is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxcore.compaction.lineage import LEAST_SAME, Match, SummarySources, bare, is_heading
from ctxcore.messages.values import Message, text_message
from ctxcore.recalling.requests import Term, terms_in
from ctxcore.recalling.word_places import WordPlaces
from ctxcore.summarizers.support import SentenceProblem, SummaryCheck, UnsupportedSentence
from ctxcore.text.sentences import sentence_places, split_sentences

LEAST_SHARE: Final = 0.1  # of a sentence's weight that a stretch of its source has; chosen
LEAST_WORDS: Final = 3  # of a sentence that is judged by its words; chosen
_READ_CHARS: Final = 4_000  # of a message that are read for results and clauses; chosen

_NOT = re.compile(
    r"\b(?:not|never|cannot|no|nobody|none|neither|nor)\b|n['’]t\b|不|没|沒|未|别|別|勿|無|无",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"\bno (?:problem|worries|doubt|matter)\b|\bnot only\b|\bwhy (?:not|don['’]t)\b|\bno[,.!]"
    r"|不错|不過|不过|不仅|不但|不同|差不多|不久|对不起|不好意思|要不|没问题|没关系|没事|别的|特别|"
    r"区别|分别|级别|个别|性别|无论|未来|是不是|能不能|可不可以|要不要|有没有|会不会|好不好|行不行",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    _NOT.pattern
    + r"|\b(?:without|avoid\w*|refus\w*|reject\w*|declin\w*|unable|impossible|fail\w*|lack\w*"
    r"|miss\w*|stop\w*|forb\w*|prohibit\w*|ban\w*|instead|rather|only|except|unless|until|yet"
    r"|before|still|dislike\w*|hat(?:e|es|ed)|against|drop\w*|scrap\w*|cancel\w*|forget|actually"
    r"|remov\w*|open|pending|wait\w*|untouched|free|un\w{4,})\b"
    r"|禁|拒|避免|停|除|只|仅|尚|暂|先|取消|换|改|等|待|免|忌|腻|讨厌|失败",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,，;；、:：()（）]|\s[-–—]\s|\b(?:but|although|though|because|since|while|whereas)\b"
    r"|但是?|因为|所以|而是?|不过"
)
_AHEAD = re.compile(
    r"\?|？|\b(?:please|can|could|would|will|shall|should|must|may|might|let['’]?s|want\w*|need\w*"
    r"|wish\w*|like to|going to|plan\w*|intend\w*|have to|has to|had to|to be|todo|next|if|when"
    r"|once|unless|until|before|after|ask\w*|suggest\w*|propos\w*|recommend\w*|try\w*|tried"
    r"|pending|ready to|wait\w*)\b"
    r"|请|帮|能不能|可以|可否|吗|想|要|需|打算|准备|计划|希望|建议|如果|应|将|待|等|先|再|之后|以后|下一步",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|complete[d]?|success\w*|succeeded|ok|works|worked)\b|✓|✔|✅"
    r"|已经?|完成|成功|好了|搞定|完毕"
)


@dataclass(frozen=True, slots=True)
class _Result:
    """A kind of result: how a summary claims it, and what in a source reports or performs it."""

    claim: re.Pattern[str]
    report: re.Pattern[str]

    @classmethod
    def of(cls, claim: str, report: str) -> _Result:
        return cls(re.compile(claim, re.IGNORECASE), re.compile(report, re.IGNORECASE))


_RESULTS: Final = (
    _Result.of(
        r"\btests? (?:\w+ ){0,2}pass(?:es|ed)?\b|\bpass(?:es|ed)? (?:all|the) (?:\w+ )?tests?\b"
        r"|\btests? (?:is|are|were) (?:\w+ )?(?:green|passing)\b|测试\w{0,4}通过",
        r"pass|green|succe|\bok\b|✓|no failures|0 failed|通过|成功",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been|got) (?:\w+ )?(?:fixed|resolved|solved|repaired)\b"
        r"|已经?(?:被)?(?:修复|解决)|(?:修复|解决)了",
        r"fix|resol|solv|repair|patch|work|correct|chang|add|修|解决|正常|改|加",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been|got) (?:\w+ )?(?:deployed|released|shipped|published|merged"
        r"|rolled out)\b|\bwent live\b"
        r"|已经?(?:被)?(?:部署|上线|发布|合并)|(?:上线|发布|部署|合并)了",
        r"deploy|releas|ship|publish|live|roll|merg|push|上线|发布|部署|合并|推送",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been|got) (?:\w+ )?(?:booked|reserved|purchased|bought|paid)\b"
        r"|已经?(?:被)?(?:预订|订好|购买|支付|付款|买)|(?:订好|买|付款)了",
        r"book|reserv|confirm|purchas|bought|buy|order|paid|pay|payment|订|买|付|支付|确认|下单|出票",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been|got) (?:\w+ )?(?:sent|emailed|mailed|submitted)\b"
        r"|已经?(?:被)?(?:发送|提交|寄出|发出)|(?:发送|提交)了",
        r"sen[dt]|mail|submit|deliver|post|发|寄|提交|投",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been) (?:\w+ )?(?:approved|signed)\b|\bapproved the\b|\bsigned off\b"
        r"|已经?(?:被)?(?:批准|审批)|批准了",
        r"approv|accept|sign|agree|confirm|yes|fine|go ahead|sure|deal"
        r"|批|同意|确认|可以|没问题|通过",
    ),
    _Result.of(
        r"\b(?:was|were|is|are|been|got) (?:\w+ )?(?:cancel+ed|deleted|removed)\b"
        r"|已经?(?:被)?(?:取消|删除|移除)|(?:取消|删除|移除)了",
        r"cancel|delet|remov|drop|\brm\b|clear|uninstall|without|删|取消|移除|清|退",
    ),
)


def with_sentences(check: SummaryCheck, summary: str, sources: SummarySources) -> SummaryCheck:
    """`check` with the sentences of `summary` that its sources do not support."""
    return replace(check, sentences=tuple(_unsupported(check, summary, sources)))


def _unsupported(
    check: SummaryCheck, summary: str, sources: SummarySources
) -> Iterator[UnsupportedSentence]:
    items = [one.text for one in check.unsupported]
    for start, end in sentence_places(summary):
        sentence = summary[start:end]
        if is_heading(sentence):
            continue
        named = tuple(item for item in items if item in sentence)
        problem = SentenceProblem.NAMED if named else problem_of(bare(sentence), sources)
        if problem is not None:
            yield UnsupportedSentence(text=sentence, problem=problem, items=named)


def problem_of(sentence: str, sources: SummarySources) -> SentenceProblem | None:
    """What is wrong with a sentence without its mark and heading; None where nothing is."""
    match = sources.match(sentence)
    if match.is_known:
        return None
    if match.words >= LEAST_WORDS and match.share < LEAST_SHARE:
        return SentenceProblem.UNSOURCED
    if _is_unreported(sentence, match, sources):
        return SentenceProblem.UNREPORTED
    return SentenceProblem.REVERSED if _is_reversed(sentence, match, sources) else None


def _is_unreported(sentence: str, match: Match, sources: SummarySources) -> bool:
    """Whether a sentence tells of a result that no message near what it speaks of reports."""
    claimed = [result for result in _RESULTS if result.claim.search(sentence)]
    if not claimed or _NOT.search(_IDIOM.sub(" ", sentence)) or _AHEAD.search(sentence):
        return False
    near = sorted({at for one in match.near for at in sources.around(one)})
    read = [_ends(sources.texts[at]) for at in near]
    return not any(_reports(result, text) for result in claimed for text in read)


def _reports(result: _Result, text: str) -> bool:
    """Whether `text` reports a result, or says only that something is done."""
    for span in split_sentences(text):
        for clause in _CLAUSE.split(span.text):
            said = _IDIOM.sub(" ", clause)
            if _NOT.search(said) or _AHEAD.search(span.text):
                continue
            if result.report.search(said) or _DONE.search(said):
                return True
    return False


def _is_reversed(sentence: str, match: Match, sources: SummarySources) -> bool:
    """Whether each clause that says what a sentence says affirms what it denies, or denies it."""
    terms = [term for term in terms_in(sentence) if term.proof == 1.0]
    if len(terms) < 2 or _AHEAD.search(sentence):
        return False
    denies = _NOT.search(_IDIOM.sub(" ", sentence)) is not None
    if not denies and _NEGATIVE.search(sentence):
        return False
    said = [at for at in match.whole if not sources.texts[at].is_tool_result]
    clauses = [(at, clause) for at in said for clause in _clauses(_ends(sources.texts[at]))]
    same = [clauses[place] for place in _saying_same([clause for _, clause in clauses], terms)]
    if not same:
        return False
    if denies:
        after = {near for at, _ in same for near in sources.around(at) if near >= at}
        return not any(_NEGATIVE.search(_ends(sources.texts[at])) for at in after)
    return all(_denies(clause, terms) for _, clause in same)


def _clauses(text: str) -> Iterator[str]:
    for span in split_sentences(text):
        for clause in _CLAUSE.split(span.text):
            if clause.strip():
                yield _IDIOM.sub(" ", clause)


def _saying_same(clauses: Sequence[str], terms: Sequence[Term]) -> list[int]:
    """The places of the clauses that have nearly all of `terms`."""
    weights = dict.fromkeys(range(len(clauses)), 0.0)
    for term, places in zip(terms, _places(clauses, terms), strict=True):
        for place in places:
            weights[place - 1] += term.weight
    least = LEAST_SAME * sum(term.weight for term in terms)
    return [place for place, weight in weights.items() if weight >= least]


def _denies(clause: str, terms: Sequence[Term]) -> bool:
    """Whether a clause that is no question denies what it says of `terms`."""
    found = _NOT.search(clause)
    if found is None or "?" in clause or "？" in clause:
        return False
    return any(_places([clause[found.end() :]], terms))


def _places(texts: Sequence[str], terms: Sequence[Term]) -> Sequence[Sequence[int]]:
    """For each term, the texts with it, counted from 1."""
    words = WordPlaces([text_message("user", text) for text in texts])
    count = len(texts)
    return words.having([term.forms for term in terms], before=count + 1, most=count)


def _ends(message: Message) -> str:
    """The beginning and the end of what a message says."""
    text = "\n".join([message.text, *(f"{call.name} {call.arguments}" for call in message.calls)])
    if len(text) <= _READ_CHARS:
        return text
    half = _READ_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"
