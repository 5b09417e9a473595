"""Finds Chinese clauses that take a rule back or give it another value.

A form alone is ambiguous (可以…了 fits everything), so each comes with the content words of its
clause, and only a rule about the same topic is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.reading import Clauses
from ctxcore.facts.topics import is_number, topic_of
from ctxcore.facts.values import ClauseChange

_CLAUSE: Final = re.compile("[，,；;：:。！!?？]|——|\\s{2,}")

_TURNS: Final = re.compile(  # sets another value; the topic stands before it
    "改(?:[成为用到回作至由叫称住写寄发送去走坐订买放存交按从在穿吃喝选点约做]|一下)"
    "|[换切转](?:[成为到用回给作个掉]|一[下种个])|换(?=[^，。了吗人]{2,}$)|切换|替换|更换"
    "|(?:提[高升前早]|砍|削|[上下]调|[升涨增加降减缩延放推挪移搬调扩压变设写放回]|增加|降低|减少|缩[短小]"
    "|延[长后]|放[宽松]|推[迟后]|往[后前]推|调整|扩[大展]|恢复|更[新正改]|修改)[成为到至回]"
    "|由(?=[^，。我你他她]{1,8}(?:批准|审批|负责|处理|审核|签字|决定|跟进)$)"
    "|改名(?=[叫为成]?)"
    "|还是(?=[^，。]{1,24}吧$)|还是(?=[用要改按走选写])"
)
_MAY_TURN: Final = re.compile("[改换切转更替到为成至回还由]")  # every turn has one of these
_ATTRIBUTE: Final = re.compile("(?:时间|日期|地点|方式|颜色|风格|价格|预算|折扣)$")
_FROM: Final = re.compile("(?<=[^，])[从由]")
_LIFTS: Final = re.compile(  # a rule holds no longer, not always, or not alone
    "取代|代替|不要太|别太|不要这么|别这么|别那么|不(?:要求|做要求|用|必|需|须|再|强求|强制|勉强"
    "|限于|局限|受限|受[^，。]{0,6}限制|拘|一定|非得|是非|是必须|光是?|仅|只[是看用])"
    "|无需|无须|毋需|毋须|用不着|没有?必要|犯不[着上]|别再|不要再|停止|停用|停[掉了]|取消|撤[销回]"
    "|废[除止]|作废|失效|无效|不算数?|不作数|不适用|去掉|拿掉|删掉|撤掉|省[了掉去略]|免了|算了$"
    "|恢复|放[宽松]|放一放|收回|不要了|不管了|不限|到此为止|没有?[^，。]{1,8}也|例外|除外|除了"
    "|不在此限|也(?:可以|好|[行成能]|没关系|没问题|没事|无所谓|无妨|不要紧)|都(?:可以|[行成能])"
    "|就(?:可以|[行成])"
    "|随[便意你您]|无所谓"
)
_ADDS: Final = re.compile("的([^的，。]{1,8}?)也(?:可以|好|[行成能]|没问题)")  # allows another kind
_TOO: Final = re.compile("够了|不够|太[^，。]{1,4}了?$")  # of an amount in the same clause
_NEEDS_NOT: Final = re.compile("不(?:用|必|需要?|须)(?:再|都|总)?([^，。]{1,12})")
_LIKE: Final = ("那么", "这么", "太")
_PERMITS: Final = re.compile(  # allows what was forbidden
    "没关系|没事|无妨|不要紧|不介意|解[除禁封锁]|放开|开放|打开|开启|启用|能接受"
    "|现在[^，。]{0,3}(?:可以|允许|能|也)|以后[^，。]{0,3}(?:可以|允许|能)"
    "|今后[^，。]{0,3}(?:可以|允许|能)|又[^，。]{0,3}(?:可以|允许|能)|已经?[^，。]{0,3}(?:可以"
    "|允许|能)"
    "|重新(?:可以|允许|能)|继续(?:可以|允许|能)|可以(?:不|再|重新|继续)"
)
_MAY_AGAIN: Final = re.compile("(?:可以|允许|能|准|行|开始|也)[^，。]{1,24}了(?:吧|啦|的|哦|呀)?$")
_NO_MORE: Final = re.compile(
    "(?:别|甭|勿|不)(?!过|能不|得不|够)[^，。]{1,24}了(?:吧|啦|的|哦|呀)?$"
)
MOST_ALLOWING: Final = 20  # characters of a clause that allows; chosen: longer ones tell more
_ALLOWS: Final = re.compile("可以|允许|准许|能(?![不否力够])|吧$|稍微|适当|一下|也")
_OTHERS: Final = re.compile(
    "他(?<!其他)|她|人家|别人|有人|别的|据说|听说|网上|新闻[里上说]|过去|当时"
    "|(?<![点号日天月周年之前二三四五六])以前"
    "|我们?(?:家)?(?:同事|同学|朋友|室友|邻居|妈|爸|弟|哥|姐|妹|儿子|女儿|孩子|老公|老婆|奶奶|爷爷)"
)
_CASE: Final = re.compile(  # 那笔, 刚才, 第三页: one thing
    "刚才(?!的?(?:说|那条|规|要求))|刚刚|昨[天晚]|上[次回]|去年|前天"
    "|(?:那|这)(?:笔|位|份|张|家|批|次|本|台|辆|篇|幅)|今天(?!起|开始|之?后)"
    "|(?:那|这)个(?!规|要求|限制|条|说法|约|禁|标准|上限)"
    "|第[一二三四五六七八九十\\d]+[页章节行条项步题张道]|[这那](?:[二两三四五六七八九十几]|一(?![步条点项些]))"
    "|^我们?[从坐订买去在][^，。]{1,12}的"
)
_ANEW: Final = re.compile("以后|今后|从今|从现在|规定|规则|一律")
CLAUSES: Final = Clauses(ends=_CLAUSE, others=_OTHERS, case=_CASE, anew=_ANEW)


def aims(words: str) -> Iterator[ClauseChange]:
    """The changes that the clauses of `words` make.

    A clause that names nothing (“改成五千”) has the topic of the one before it.
    """
    before = ""
    for clause in CLAUSES.own(words):
        aim = _aim(clause)
        if aim is not None:
            yield aim if aim.topic else ClauseChange(aim.cue, topic_of(before) or topic_of(clause))
            if (added := _ADDS.search(clause)) and (head := topic_of(added[1])):
                yield ClauseChange("lifts", head)
        before = clause


def _aim(clause: str) -> ClauseChange | None:
    """The change that `clause` makes, with the topic that it names; None where it makes none."""
    if _MAY_TURN.search(clause) and (turn := _TURNS.search(clause)):
        topic = _FROM.split(clause[: turn.start()], maxsplit=1)[0]
        return ClauseChange("turns", topic_of(_ATTRIBUTE.sub("", topic) or topic))
    if _LIFTS.search(clause):
        return ClauseChange("lifts", topic_of(_LIFTS.sub(" ", clause)), _done(clause))
    if _TOO.search(clause) and any(map(is_number, topic_of(clause))):
        return ClauseChange("lifts", topic_of(_TOO.sub(" ", clause)))
    if _PERMITS.search(clause):
        return ClauseChange("permits", topic_of(_PERMITS.sub(" ", clause)))
    if "了" in clause and _MAY_AGAIN.search(clause):
        return ClauseChange("permits", topic_of(clause))
    if "了" in clause and _NO_MORE.search(clause):
        return ClauseChange("lifts", topic_of(clause))
    is_allowing = len(clause) <= MOST_ALLOWING and _ALLOWS.search(clause)
    return ClauseChange("allows", topic_of(clause)) if is_allowing else None


def _done(clause: str) -> tuple[str, ...]:
    """The action that is lifted, where the clause names it behind the form."""
    needs_not = _NEEDS_NOT.search(clause)
    return topic_of(needs_not[1]) if needs_not and not needs_not[1].startswith(_LIKE) else ()
