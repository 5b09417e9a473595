"""Owns the Chinese forms that take a rule back or give it another value, clause by clause.

A form alone says little (可以…了 is said of everything): what a clause is about is told with it, and
only a rule about the same is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ctxcore.facts.matters import matter_of

_CLAUSE: Final = re.compile("[，,；;：:。！!?？]|——|\\s{2,}")

_TURNS: Final = re.compile(  # another value: what it is about stands before it
    "改(?:[成为用到回作至由叫称住写寄发送去走坐订买放存交按从在穿吃喝选点约做]|一下)"
    "|[换切转](?:[成为到用回给作个掉]|一[下种个])|切换|替换|更换"
    "|(?:提[高升前早]|[上下]调|[升涨增加降减缩延放推挪移搬调扩压变设回]|增加|降低|减少|缩[短小]"
    "|延[长后]|放[宽松]|推[迟后]|调整|扩[大展]|恢复|更[新正改]|修改)[成为到至回]"
    "|还是(?=[^，。]{1,24}吧$)|还是(?=[用要改按走选写])"
)
_LIFTS: Final = re.compile(  # it holds no longer, or not always
    "取代|代替|不(?:用|必|需|须|再|强求|强制|勉强|限于|局限|受限|受[^，。]{0,6}限制|拘|一定|非得|是非|光是?|仅|只[是看用])"
    "|[无毋][需须]|用不着|没有?必要|犯不[着上]|别再|不要再|停止|停用|停[掉了]"
    "|取消|撤[销回]|解[除禁封锁]|废[除止]|作废|失效|无效|不算|不作数|不适用|[去拿删撤]掉"
    "|省[了掉去]|免了|算了$|恢复|放[宽松开]|开放|放一放|收回|不要了|不管了|不限|到此为止"
    "|随[便意你您]|没关系|没事|无所谓|无妨|不要紧|不介意|也好|[也都就](?:可以|[行成能])"
    "|例外|除外|除了|不在此限"
    "|不够|太[^，。]{1,4}了"
)
_ENDS: Final = re.compile(  # with 了 at the end of the clause something is other than before
    "(?:可以|允许|能|准许?|行|[别甭勿不])(?!过|能不|得不)[^，。]{1,24}了(?:吧|啦|的|哦|呀)?$"
)
_AGAIN: Final = re.compile("(?:现在|以后|今后|又|已经?|重新|继续)[^，。]{0,3}(?:可以|允许|能)|可以(?:不|再|重新|继续)")
_PERMITS: Final = re.compile("可以|允许|准许|能(?![不否力够])")

_OTHERS: Final = re.compile(
    "(?<!其)他|她|人家|别人|有人|别的|据说|听说|网上|新闻[里上说]|以前|过去|当时"
    "|我们?(?:家)?(?:同事|同学|朋友|室友|邻居|妈|爸|弟|哥|姐|妹|儿子|女儿|孩子|老公|老婆|奶奶|爷爷)"
)


def own_clauses(words: str) -> list[str]:
    """The clauses of `words` that do not speak of somebody else, or of former times."""
    clauses = map(str.strip, _CLAUSE.split(words))
    return [clause for clause in clauses if clause and not _OTHERS.search(clause)]


def changed_matters(clauses: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """What each clause that takes something back, or gives it another value, is about.

    A clause that names nothing (“改成五千”) is about what the clause before it names.
    """
    before: tuple[str, ...] = ()
    for clause in clauses:
        about = _about(clause)
        if about is not None:
            yield about or before or matter_of(clause)
        before = matter_of(clause) or before


def permits(words: str) -> bool:
    """Whether it allows something, though nothing says that it was forbidden before."""
    return bool(_PERMITS.search(words))


def _about(clause: str) -> tuple[str, ...] | None:
    """What `clause` names of what it changes; None where it changes nothing."""
    if turn := _TURNS.search(clause):
        return matter_of(clause[: turn.start()])
    if _LIFTS.search(clause):
        return matter_of(_LIFTS.sub(" ", clause))
    return matter_of(clause) if _ENDS.search(clause) or _AGAIN.search(clause) else None
