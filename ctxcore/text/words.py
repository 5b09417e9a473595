"""Splits texts into words, drops those that say little, and weighs the others by rarity.

The lists of words were written for this library. Their forms are those that `words_of` and
`terms_of` make: lower case, no plural `s`, nothing after an apostrophe.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from string import ascii_letters, digits

from ctxcore.text.known_words import KnownWords
from ctxcore.text.languages import HAN, HAN_RUN
from ctxcore.text.patterns import blanks_except, late, one_of


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written with blanks between them."""
    return frozenset(words.split())


STOP_WORDS = word_set("""
    a about above after again against ago ah aha ain all almost alright also although am among an
    and another any anybody anyone anything anyway are aren around as ask at aw away awesome aye
    be because been before behind being below beside besides between both but by bye can cannot
    cause come coming could couldn cool d did didn do doe does doesn doing don done down each eh
    either else em er etc even ever every everybody everyone everything exactly f fair fine for
    from further gave get getting give glad go goe goes going gone gonna good got gotta great ha
    had hadn haha has hasn have haven having he hello her here hers herself hey hi him himself his
    hm hmm how however huh i if in indeed instead into is isn it its itself just kind kinda know
    last least less let like likely little ll look lot m made make many may maybe me mean might
    mine mm more most much must my myself need neither never next nice no none nor not nothing now
    of off oh ok okay on once one only onto or other others ought our ours ourselves out over own
    perhaps please pretty probably quite rather re really right s said same saw say see seem seen
    shall she should shouldn since so some somebody someone something sometime sort still stuff
    such sure t take tell than thank thanks that the their theirs them themselves then there these
    they thing think this those though through thus till to together too totally tried try u uh um
    under until up upon us use ve very vocalsound disfmarker was wasn way we well went were weren
    what whatever when where whether which while who whole whom whose why will with within without
    won would wouldn wow ya yay yeah yep yes yet you your yours yourself yup absolutely definitely
    actually basically obviously literally honestly hopefully
""")

COMMON_WORDS = word_set("""
    able add agree already always amazing answer bad beautiful become began begin believe best
    better big bit book bring brought call called care case chance change check course day deal
    different easy end enjoy enough example excited exciting experience fact far feel feeling felt
    few find first friend full fun give given guess guy happen happy hard hear heard help high hope
    idea important inspiring interesting issue job keep kid last later learn leave left life line
    live long looking lose love luck main matter mind minute moment money morning move new night
    number often old open part past people person place plan play point possible problem proud put
    question read ready real reason remember run second sense set share short show side simple
    small someday soon sorry sound special start started step stop story suggest support
    sweet talk talking team term test time today told tomorrow took tonight true turn two type
    understand used useful using usually want wait wanted watch week weekend welcome wish
    wonder wonderful word work working world worry wrong year yesterday
""")


WEAK_HAN = frozenset(
    "的了是在我你他她它们这那有和与及也都就还很吗呢吧啊呀嗯哦哈噢唉嘛着过得地个么什怎为因所以"
    "但而且或如果被把让给对从到向于之其此些样种每没不会能可要想说看去来上下里中后前多少再又"
    "只最更太真挺蛮好知道觉请谢您咱啦哇喔哪谁几呵嘿喂"
)
WEAK_PAIRS = frozenset(["请问", "一下", "时候", "如何", "是否", "一个"])
"""Pairs that say little although a character of them does not."""

COMMON_PAIRS = word_set("""
    今天 明天 昨天 后天 前天 天天 每天 现在 以前 以后 之前 之后 最近 刚才 刚刚 早上 上午 中午 下午
    晚上 今晚 昨晚 今年 明年 去年 每周 每月 每年 周末 上周 下周 星期 礼拜 时间 时刻 小时 分钟 日子
    日期 有时 平时 经常 常常 总是 一直 已经 曾经 马上 立刻 突然 终于 首先 然后 接着 最后 同时 将来
    未来 过去 当时 当然 永远 随时 朋友 大家 别人 自己 人们 我们 你们 他们 她们 它们 咱们 孩子 家人
    家里 先生 女士 每个 某个 有人 没人 希望 喜欢 需要 可以 可能 应该 必须 能够 愿意 打算 准备 开始
    继续 结束 完成 进行 发现 发生 出现 看到 看见 听到 听说 听听 看看 试试 想想 说说 聊聊 谈谈 聊天
    告诉 记得 忘记 忘了 回答 解释 介绍 推荐 建议 帮忙 帮助 麻烦 打扰 感谢 客气 抱歉 不起 原谅 理解
    明白 了解 清楚 确定 相信 放心 担心 小心 注意 加油 努力 休息 睡觉 起床 吃饭 喝水 上班 下班 回家
    出门 出去 出来 回来 回去 过来 起来 下来 下去 进来 进去 等等 稍等 等待 选择 决定 改变 使用 处理
    解决 讨论 提到 提醒 学习 工作 生活 支持 同意 认为 以为 成为 作为 变成 属于 包括 表示 开心 高兴
    快乐 难过 伤心 生气 无聊 有趣 好玩 好吃 好看 好听 漂亮 可爱 厉害 优秀 重要 主要 简单 容易 困难
    复杂 方便 舒服 辛苦 紧张 害怕 奇怪 正常 普通 一般 特别 非常 十分 比较 相当 确实 其实 实在 的确
    不错 没错 没事 没问 问题 没关 关系 有点 有些 一些 一样 一起 一定 一共 许多 很多 不少 所有 全部
    部分 大概 大约 左右 几乎 差不 不多 完全 至少 只有 只是 如果 虽然 但是 可是 不过 而且 因为 所以
    因此 于是 或者 还是 还有 另外 其他 其它 比如 例如 关于 对于 根据 按照 通过 为了 除了 以及 之间
    其中 有空 有没 在忙 在干 干嘛 干什 怎样 东西 事情 有事 地方 方面 情况 原因 结果 办法 方法 方式
    意思 想法 看法 感觉 心情 机会 经验 经历 故事 名字 名称 内容 信息 消息 数量 样子 世界 社会 国家
    城市 公司 学校 身体 天气 下雨 太阳 电话 笑话 玩笑 主意 问候 早安 晚安 再见 拜拜 回头 回见 愉快
    新年 节日 祝你 祝贺 恭喜 好运 顺利 哈哈 呵呵 嘿嘿 保重 幸福 健康 笑死 真棒 太棒 棒了 太美 羡慕
    期待 佩服 道理 有理 同感 随便 无所 所谓 算了 先忙 忙吧 慢慢 好好 快点 早点 赶紧 二个 两个 三个
    两天 几天 几点 几次 一次 第一 第二 多大 多久 多长 多远 哪天 哪年 哪家 哪位 叫做 叫什
""")
"""Pairs of Han in words that are said in any conversation."""

_RUN = re.compile(f"[{HAN}]+|[^\\W{HAN}]+")
_LITTLE_HAN = late(f"({one_of(COMMON_PAIRS)})|{one_of(WEAK_PAIRS)}|[{''.join(sorted(WEAK_HAN))}]")
_TO_WORDS = blanks_except(ascii_letters + digits + "_", is_lower=True)

PRIOR_UNITS = 200
"""Added to the number of units, so that rarity means much the same in a short conversation as in a
long one; chosen: the larger, the less the length of a conversation matters."""
COMMON_WEIGHT = 0.5  # of a common word; chosen: half of a word that names something
HAN_WEIGHT = 0.45  # of a pair of characters; chosen: a Chinese word makes about two pairs
TELLING_HAN_WEIGHT = 0.75  # of one of no common word, where those of others weigh less; chosen: a
# word of two characters that one or two messages have proves enough
JOINT_HAN_WEIGHT = 0.2  # of a pair with a weak character, which mostly joins two words


def all_terms_of(words: Iterable[str]) -> list[str]:
    """The informative terms in `words`, in order, repeated as in `words`."""
    return [*chain.from_iterable(map(_TERMS.__getitem__, words))]


def terms_of(words: Iterable[str]) -> tuple[str, ...]:
    """The informative terms in `words`, each once, in order: sums are the same in every process."""
    return tuple(dict.fromkeys(all_terms_of(words)))


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case, and its runs of Chinese characters."""
    return text.translate(_TO_WORDS).split() if text.isascii() else _RUN.findall(text.lower())


def _terms_in(word: str) -> tuple[str, ...]:
    if HAN_RUN.match(word):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        return tuple(pair for pair in pairs if not is_weak(pair))
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    weak = word in STOP_WORDS or (len(word) == 1 and word.isascii() and word.isalpha())
    return () if weak else (word,)


_TERMS = KnownWords(_terms_in)


def is_weak(word: str) -> bool:
    """Whether a word, or a pair of Chinese characters, says little in any conversation."""
    if word in STOP_WORDS or word in WEAK_PAIRS:
        return True
    return bool(HAN_RUN.fullmatch(word)) and all(letter in WEAK_HAN for letter in word)


def han_weight(pair: str) -> float:
    """The weight of a pair of Chinese characters by what it says: common and joint ones less."""
    if pair in COMMON_PAIRS:
        return HAN_WEIGHT * COMMON_WEIGHT
    return JOINT_HAN_WEIGHT if any(map(WEAK_HAN.__contains__, pair)) else TELLING_HAN_WEIGHT


def han_content(run: str) -> float:
    """How much a run of simplified Chinese characters says: 1 for every two that name something.

    These are what grammatical characters and common words leave of it; a common word counts half.
    """
    named_and_common = _LITTLE_HAN.split(run)
    named = sum(len(piece) // 2 for piece in named_and_common[::2])
    return named + COMMON_WEIGHT * sum(map(bool, named_and_common[1::2]))


def weigh(terms: Sequence[Collection[str]]) -> dict[str, float]:
    """The inverse document frequency of each term over the units, less for common words."""
    counts = Counter(term for unit_terms in terms for term in unit_terms)
    return weights_of(counts, len(terms))


def weights_of(counts: Mapping[str, int], units: int) -> dict[str, float]:
    """The weight of each term that so many of the `units` have."""
    total = units + PRIOR_UNITS
    return {term: _factor(term) * math.log(total / count) for term, count in counts.items()}


def content_of(terms: Iterable[str]) -> float:
    """How much different terms say in any conversation: 1 for each word that names something."""
    return sum(map(_factor, terms))


def _factor(term: str) -> float:
    if term in COMMON_WORDS:
        return COMMON_WEIGHT
    return HAN_WEIGHT if HAN_RUN.match(term) else 1.0
