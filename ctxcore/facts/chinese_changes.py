"""The signs in Chinese that a clause changes a rule: classes of words, and patterns over them."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import Classes, Letters
from ctxcore.facts.reading import MASK
from ctxcore.facts.signs import Signs
from ctxcore.text.patterns import longest_of

_WORDS: Final = """
other: 不错 不同 不够意思 不好意思 对不起 了解 过程 通过 超过 经过 改变 作用 费用 信用
 用户 应用 利用 功能 性能 智能 技能 能力 可能 可爱 可怜 特别 分别 区别 级别 性别 别墅 都市
 首都 还给 重要 主要 摘要 概要 需求 会议 社会 机会 早就 成就 就业 就医 改天 调查 换届 再见
 转身 转眼 天使 大使 好看 好笑 好友
latin:
named: 〇 零 一 二 两 三 四 五 六 七 八 九 十 百 千 万 半 几 又 再 重新 继续 仍
 规定 规矩 要求 限制 规则 说法 禁令 约束 上限 的 地
stop: ， , 。 . ； ; ： : ！ ! 、 （ ） ( ) — … 但是 但 不过 因为
asks: ？ ? 吗 呢 么 来着 是不是 要不要 能不能 可不可以 有没有 为什么 为啥 怎么样 怎么
 怎样 如何 哪里 哪儿 哪个 哪些 哪天 谁 多少 几点 多久 是否 好不好 行不行 啥 什么时候 算不算
 还是不 哪年 进不进 几时 干嘛 多大 多重 多远 多长时间 为何 哪一 难道
what: 什么 哪 多长 多少都
need_not: 不用 不必 无需 不需要 无须 毋需 毋须 用不着 没必要 没有必要 不要求 不强求
 不强制 不做要求 不需 不须 不要紧 犯不着 不非得 不一定 不限 不限制 不受限 不拘 不局限 不管
 不在乎 不是必须 不再 不再要求 不光 不只 不仅 甭管 不用再 不必再 不想要 不想再 懒得 用不上
 没必要再 不打算 不需要再 不再用 不再需要 不再是
end: 取消 撤销 撤回 撤 废除 废止 作废 失效 无效 不算 不算数 不作数 不适用 去掉 拿掉 删掉
 删 撤掉 省 省掉 省了 省略 免 免了 算了 停止 停用 停掉 停 解除 解禁 放开 收回 忘掉 忘了
 忽略 跳过 到此为止 不要了 不管了 腻 够了 够 去除 罢了 拉倒 结束 作罢 翻篇 关掉 关了 砍掉
 收起 拆了 丢掉 过时 告别 到头
relax: 放宽 放松 提高 降低 增加 减少 延长 缩短 扩大 推迟 提前 上调 下调 加到 减到 延到
 涨到 升到 降到 调到
ban: 别 不要 甭 勿 不许 不准 不得 禁止 别再 不要再 不能
past: 了 过
can: 可以 允许 准许 准 能够 能 许
fine: 行 没关系 没事 没问题 无妨 无所谓 不介意 随便 随意 随你 随您 任意 也好 接受 也成
 都成 就成 成了 你定 你看着办 可以的 行了 没事儿 不打紧 不碍事 欢迎 无碍 都好 都可 怎么都
 不挑 不讲究 看情况 看你 自由 不忌
also: 也 都
then: 就
turn: 改成 改为 改用 改到 改回 改叫 改名 改写 改称 改做 改走 改从 改按 改由 改坐 改订
 改住 改发 改放 改 换成 换为 换到 换回 换用 换 切换成 切换到 切换 切到 转到 转成 转为 转
 替换 更换 调整为 调整 更新为 更新 更正 变成 变为 挪到 挪 移到 搬到 写成 放到 代替 取代
 替代 恢复 升级到 升级 提到 缩到 加长 减短 换个 换一 改一 改个 切回 转回 翻倍 减半 变
 重写成 往前 往后挪 代 顶替 接手 轮到
to: 成 为 到 作 至 回
back: 反过来 而不是 统一回 回到 倒过来 颠倒
from_now: 以后 今后 往后 从现在 从今 此后 从今天 今天起 从此 后续 接下来 明年起 下周起
 下月起 起 从现在起 从今以后 明天起 打今天起 往后都 之后 长期 接下来都 从下周 从明天 从今晚
 下回 今儿起 新规
now: 现在 如今 目前
should: 要 须 必须 得 应该 一律 全 统一 只 只能 最多 至少
each: 每 每个 每次 每条 每天 所有 全部 任何
use: 用 使用 采用 写 叫 称呼 称 说 答 回答 讲 报 按 走 放 列 给 做 演 学 来 发 订
 画 读 念 唱 译 署 标 附 加 留 存 排 算 推荐 安排 提醒 问 贴 打 管 寄 送 跑 看 听
 找 选
first: 先 最后 后 前
you: 你 您 你们 我们
i: 我 咱
he: 他 她 它 他们 她们 人家 别人 有人 大家 同事 朋友 室友 邻居 妈 爸 妈妈 爸爸 弟弟
 哥哥 姐姐 妹妹 儿子 女儿 孩子 老公 老婆 奶奶 爷爷 客户 客人 老师 老板 导师 老张 听说 据说
 网上 老丈人 对方 那个人 她说 他说 我妈 我爸 我妹 我弟 我姐 我哥 人事 学生 同学 甲方 供应商
 队友 女友 男友 师傅 阿姨 叔叔 娃
once: 这次 这回 这单 这顿 这一次 这一回 就这 今晚 单独 刚才 刚刚 昨天 昨晚 上次 上回
 上周 去年 前天 今天 这题 这道 这条 那篇 这篇 这张 那张 那笔 那份 那位 那次 那家 这份 那几
 这几 那批 那台 那本 那辆 那两 这两 那三 这三 这下 今早 下午 上一个 这段 那段 一下 以前
 过去 当时 这趟 这天 本次 此次 暂时 先这样 眼下 这首 那首 这幅 那幅 这本 这部 那部 前几天
 今年 当年
nth: 第
many: 挺 真 好 很 老 老是 居然 原来 真是 太好 笑死 哭 漂亮 厉害 棒 完美 夸 感谢 多谢
 恭喜
final: 吧 啊 呀 哦 啦 嘛 哈 呗 喔
is: 是 有 叫做
feel: 觉得 喜欢 讨厌 烦 希望 想 谢谢 辛苦 哈哈
that: 那条 那个 这个 那句 那 这
void: 已 已经 太 太多 太少 太长 太短 太严 不够 说过 说过了 说了 照旧 还是老样子 如果
 要是 只要 除非 的话
"""
_SIGNS: Final = """
no_more: 1.1 0 (?:need_not|end|ban|can|fine|also)[^stop]*past[final]*$
lifts: 1.0 0 need_not|end|ban[^stop]*past[final then]*$|^[you now from_now final use]?ban
permits: -0.2 1.5 can|fine|also|what
may_again: 0.4 0.9 can[^stop]*past[final]*$
turns: 1.3 0 turn|relax|back|to$|from_now
new: 0.2 0 (?:use|turn|first|should)[^stop]*$
then_last: 1.1 0 (?:then|final)$
need_not: 1.1 0 need_not
also: -0.2 0.0 also
also_fine: 0.9 1.2 also[can fine]
fine: 1.0 0.0 fine
relax: 1.6 0 relax
each: 1.1 0 each
use_first: 1.0 0 ^[you then]*use
use: 0.2 0 use
past: -1.9 0 past
is: -1.1 0 is
i: -1.4 0 ^i
once: -0.6 0 once
that: -1.1 0 that
that_end: 1.5 0 that[^stop]*end
nth: -1.2 0 nth
use_last: 0.6 0 use[then final]*$
feel: 1.2 -0.5 feel
short: 0.7 0 ^.{4,6}$
long: -0.9 0 ^.{10}
only_what: -0.2 -0.5 what
"""
_SIDES: Final = """
0.5: then
0.4: from_now, other turn
0.3: ^ other, other then, relax
0.2: fine, he, need_not, other he, named named, first
0.1: final, final $, fine $, ^ use, use other, use i
-0.1: other asks, asks $, ^ once, once, latin, ^ i, named use
-0.2: other, other named, asks, that, ^ he, is, other many, nth, that other, ^ that
-0.3: past, turn, void
-0.7: other $
"""
_CONTEXT: Final = """
asks: -1.3 0 asks
asks_last: -1.5 0 asks[stop]*$
he_any: -1.2 0 he
once_any: -1.8 0 once
feel_any: -0.5 0 feel|many
from_now_any: 0.8 0 from_now|now
past_any: 0.8 0 past
clauses: -0.3 0 stop.+
"""
_CONTEXT_SIDES: Final = """
0.5: ^ other, other $
0.3: ^ need_not, use $, fine $
0.2: ^ ban, many $, can $
0.1: then, can, need_not, final $
-0.1: also, many, once, is, i, to
-0.2: named, that, void, ^ he, asks $
-0.3: ^ i
-0.4: ^ once, ^ that
-1.0: past $
"""
_CONTENT: Final = "other nth latin use first each many is should feel relax named"

CLASSES: Final = Classes(_WORDS, "")
_TOKEN: Final = re.compile(
    longest_of(CLASSES.of_word) + rf"|[a-z0-9@#_/+-]+(?:[.'][a-z0-9]+)*|[^\s{MASK}]"
)
_LETTERS: Final = Letters(CLASSES, lambda word: "latin" if word.isascii() else "other")


def _read(sentence: str) -> tuple[list[str], str]:
    """Known words with their letters; of others each character, or each Latin word."""
    words = _TOKEN.findall(sentence)
    return words, _LETTERS.of(words)


CHINESE: Final = Signs(
    _read,
    CLASSES,
    signs=(_SIGNS, _SIDES),
    context=(_CONTEXT, _CONTEXT_SIDES),
    content=_CONTENT,
    start=0.2,
)
