"""The cues of standing instructions in Chinese: classes of words, and patterns over them."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.cues import Classes, Language

_WORDS: Final = """
other: 当前 当然 当时 时间 小时 及时 同时 有时 随时 准时 那时 时代 前面 面前 提前 从前 用户 作用
 信用 费用 应用 利用
 需求 主要 重要 要点 概要 不过 不错 差别 特别 分别 区别 别墅 性别 级别 都市 首都 成都 写作 改变
 改革 从小 从来
 将来 自由 理由 发现 发生 生命 会议 会员 机会 社会 功能 技能 智能 性能 了解 过程 通过 过去 经过
 超过 有关 问题
 疑问 学问 看法 看来 好看 难看 提供者 开发者 设计师 分析师 记录片 叫做 小说 电视 传统 打算 打击
 打开 给力 发展 发烧 全家
 安全 完全 齐全 每当 一般 一样 一直到 一边 一定程度 不仅 不同 不好 不是 不知 不行 不会 不到 能力
 可能 可爱 可怜 可惜
 不可思议 了不起 用心 要么 只要 因此 之一 多少钱 里面 方面 对面 见面 页面上 后来 然后 最近 后果
 落后 前天 前年
latin:
number: 一 二 两 三 四 五 六 七 八 九 十 百 千 半
comma: ， , ； ; （ ） ( ) 、 — … / 。 .
colon: ： :
asks: ？ ? 吗 呢 么 来着 是不是 要不要 能不能 可不可以 有没有 为什么 为啥 怎么样 怎么 怎样 如何
 什么 哪里 哪儿
 哪个 哪些 哪 谁 多少 几点 多久 是否 还是不 好不好 行不行
loud: ！ !
please: 请 麻烦
soft: 另外 还有 对了 好的 好 嗯 还 也 再 先 哎 顺便 提醒一下 注意 此外 记住 记得
then: 就 便 才 那就
you: 你 您 你们 大家
your: 你的 您的
i: 我 咱 咱们 俺 我们 我家 我这儿 我们这儿
my: 我的 我们的 咱们的
give_me: 给我 帮我 跟我 对我 问我 告诉我 提醒我 警告我 叫我 称呼我 喊我 和我 替我 教我 等我
 转给我 通知我 经我
he: 他 她 它 他们 她们 它们 人家 别人 老师 老板 医生 妈 爸 妈妈 爸爸 朋友 孩子 同学 听说 据说
 老婆 老公 奶奶 爷爷 弟弟
 自己
feel: 觉得 认为 感觉 知道 感到 相信 以为 感谢 谢谢 希望能
if_any: 有人 用户 客户 客人
must: 必须 须 必需 应 应当 一定要 总得 都得 都要
want: 要 需要 得 需 一定 应该 该
can: 可以 可 能 能够 会
need_not: 不用 不必 无需 不需要 无须 不用再
only: 只 只能 只准 只许 只可 仅 仅限 只在 单独 只有
all: 都 全部 全 统一 所有 凡是 凡 任何 各 一概 整个 通篇 全程 全文
each: 每 每个 每次 每条 每一 每篇 每段 每天 每周 每月 每回 每份 每封
always: 永远 一直 总是 总 总要 一贯 平时 通常 默认 老 长期 时刻 老是
from_now: 以后 今后 往后 从现在 从今 此后 从今天 今天起 从此 后续 接下来 之后都 后面都 下次
 从现在起 从今以后
never: 严禁 禁止 不得 切勿 务必 绝不 绝不能 绝对不能 绝对不要 未经 切记 一律 永远不要
 无论如何都不要 千万不要 千万别 始终 不得擅自
ban: 不要 别 勿 不许 不准 不允许 不能 不可 避免 停止 不应 不该 绝对不 不再 请勿 不要再 别再
 千万不 不宜 不可以
little: 少 多 尽量 尽可能 最好
not: 不 没 没有 未 无 不含 不带
until: 除非 否则 直到 为止
when: 时候 时 如果 若 当 要是 一旦 遇到 碰到 万一 的话 倘若 的时候 只要一 要用时
before: 之前 前 以前 之后 后 完 完了
prefer: 喜欢 希望 想 想要 习惯 宁愿 更愿意 偏好 倾向 讨厌 不喜欢 受不了 爱 不想
diet: 过敏 吃素 素食 忌口 乳糖不耐受
fine: 就好 就行 就可以 即可 好了 行了 行 好吗 就可以了
verb: 用 使用 采用 保持 遵循 遵守 输出 提供 添加 加上 加 带上 带 检查 确保 优先 标明 标注 注明
 标出 列出 列 写出来 写上
 写明 写成 写 说明 说 讲 回答 答 回复 解释 提醒 引用 翻译 翻 修改 改 删除 删 运行 跑 提交 记录
 命名 放在 放 夹 缩进 报
 存放 置于 转换 换算 换成 控制 限制 遵照 参考 称呼 叫 当作 扮演 演 假装 用作 复述 总结 确认 问
 查 看 给出 区分 评价 剧透
 给 发给 发 保留 返回 调用 实现 处理 编写 创建 生成 维护 更新 执行 进行 分析 指导 鼓励 帮助 考虑
 关注 强调 描述
 拆分 拆 封装 导入 导出 定义 声明 配置 保证 设计 开发 完成 展示 显示 呈现 选择 选 推荐 建议 忽略
 跳过 附上 附 显式
 配上 配 接着 继续 直接 参照 对齐 校对 核对 存成 备份 抄送 省略 提 念 算 走 堆 动 碰 硬编码 收尾
prep: 以 从 由 将 把 按照 按 根据 为 让 使 在 对 跟 用来
make: 写一 写个 写首 写篇 生成一 做个 做一 给一 起一 起个 出一 来一 画一 编一 列一 举一 一首
 一篇 一份 一段 一封 一下 一张 几个
out: 答案 消息 回话 注释 代码 文件名 变量名 标题 邮件 日期 单位 语气 结尾 开头 末尾 最后 最前面
 格式 分支名 用词 名字
 文档 函数 方法 测试 接口 组件 参数 类 字段 图表 表格 列表 章节 段落 句子 例子 数字 金额 价格
 报价 来源 步骤
 提交信息 日志 菜谱 故事 文案 报告 风格 目录 文件 页面 文章 译文 摘要 变量 关键字 表情 术语 颜色
 链接 规矩 规则 要求
style: 简短 简洁 简单 详细 正式 口语 短 长 英文 中文 英语 汉语 德语 法语 日语 简体 繁体 客气
 礼貌 友好 大写 小写 纯文本
 以内 之内 以上 左右 不超过 最多 至少 控制在 上限 为主 短一点 加粗
this: 这 那 这个 那个 这些 那些 这次 这篇 这首 这封 上面 下面 以下 第一 第二 第三 刚才 刚刚 现在
 今天 今晚 明天 昨天 目前
 这里 那里 已 已经 上次
past: 了 过 着 过了
final: 吧 啊 呀 哦 啦 嘛 哈 哈哈 呗 喔
is: 是 有
because: 因为 因 由于 所以 但是 但 而且 而 其实 那么 比如 例如 就是
of: 的 地
"""
_GROUPS: Final = """
stop: comma colon loud
lead: (?:^|[stop])[soft please you always all each from_now then]*
thing: other out latin of number style if_any
tells: verb ban never must only give_me prep little
"""
_SIGNS: Final = """
verb ban never must want only all each always from_now when before prefer give_me diet need_not
not out style then you until little
"""
_CUES: Final = """
never: 1.8 1.8 never
never_verb: 3.2 3.2
 (?:^|[stop])[soft please you thing verb prep must i]*never[thing verb prep ban all]
allergic: 3.3 3.3 diet
order_first: 1.4 1.0 ^[soft you please]*verb
order_later: 0.8 0.4 [stop][soft you please]*verb
order_all: 0.7 0.7 lead verb[^stop]*[all each]
all: 0.5 0.3 all
all_first: 1.4 1.2 (?:^|[stop])[soft]*[all each]
each: 0.3 0.3 each
ban: 1.0 1.0 ban
give_me_daily: 2.1 2.1 each[^stop]*give_me
ban_whole: 2.5 3.0 ^[soft please all]*ban[^past final asks i he this feel is because]+$
ban_after_thing: 2.0 3.6
 (?:^|[stop])[other out latin of verb prep]{1,8}ban[verb out other latin number]+
 [^past final asks i he this feel you]*$
must_whole: 2.5 3.6 ^[soft please]*must[^past final asks i he this feel is]+$
limit_of_thing: 2.0 3.4
 ^[soft please]*[thing verb of]{0,7}(?:must|all|only|never)
 [verb out other latin number style prep of]{1,14}(?:$|[stop])
ban_first: 1.0 1.0 ^[soft you please]*ban
ban_later: 1.3 1.3 [stop][soft you please]*ban
ban_verb: 1.1 1.1 ban[soft each]*[verb prep]
ban_thing: -0.4 -0.4 ban[other out latin]
ban_past: 0.8 0.8 ban[^stop]*past(?:$|[stop final])
thing_ban: 1.6 1.6 (?:^|[stop])[thing]{1,4}[all]?ban
must: 0.3 0.4 must
thing_must: 0.8 0.7 (?:^|[stop])[thing verb each]{1,6}[must want]
you_must: 0.2 0.2 you[soft all always]*[must want]
must_verb: 1.3 1.1 [must want][soft all always]*[verb prep]
want: -0.5 -0.7 want
only: 0.6 0.6 only
only_verb: 2.2 2.2 only[verb prep]
always_tells: 1.1 1.1 always[tells you]
from_now: 1.2 1.2 from_now
from_now_order: 1.6 2.7 from_now[comma you soft all give_me then please]*[tells can not want
 need_not]
when: 0.2 0.1 when
when_comma: 1.3 1.3 when of?[^comma]*comma[soft you i then please all]*[tells out want]
when_order: 1.6 1.6 when[soft you please all]*[tells]
if_then: 1.8 1.8 (?:when|^[i you number]|if_any)[^stop]*comma?[you]?then[soft you]*[tells not]
if_any: 1.0 0.9 if_any
before_order: 1.5 1.5 before[comma all then]?[soft you please]*[tells want]
i_you: 1.5 1.5 ^[soft]*i[^stop]*comma[soft you then]*(?:you|give_me)
prefer: -0.6 -0.7 prefer
i_prefer: 1.4 1.4 i[soft all always other]*prefer
give_me: 1.3 1.3 give_me
you: -0.4 -0.5 you
he: -1.2 -1.4 he
feel: -1.1 -1.3 feel
can: -1.1 -1.0 can
need_not: 0.8 0.8 need_not
not: -0.6 -0.4 not
not_verb: 2.2 2.2 (?:^|[stop])[thing i]{0,5}[all]?not verb
out: 0.9 1.2 out
out_style: 1.5 1.7 out[^stop]{0,4}style
out_first: 0.4 0.9 (?:^|[stop])[soft]*[latin other]{0,2}out
out_tells: 0.8 1.3 (?:^|[stop])[latin other of]{0,3}out[other of]?[tells all want not]
verb_out: 0.9 0.9 verb[^stop]{0,3}out
style: 1.0 0.9 style
verb_style: 1.4 1.4 verb[other latin number of]{0,2}style
verb_make: -1.7 -1.7 (?:^|[stop please])[give_me]?[verb]?make
this: -1.2 -1.1 this
asks: -0.5 -0.6 asks
asks_last: -3.4 -3.4 asks[final]*[stop]*$
past: -1.5 -1.5 past
past_last: -1.0 -1.0 past(?:$|[stop final])
final: -1.9 -1.9 final
is: -0.3 -0.6 is
of: -0.4 -0.7 of
because: -1.2 -1.3 because
latin: -0.4 -0.5 latin
latin_verb: 0.9 0.5 verb[^stop]{0,2}latin
nominal: -0.4 -0.3 ^[thing]+$
long: -0.5 -0.6 .{30}
short_sentence: -0.7 -0.8 ^.{1,4}$
"""
CLASSES: Final = Classes(_WORDS, _GROUPS)
_LATIN: Final = re.compile(r"`[^`]*`|[a-z0-9@#_./-]+")
_LENGTHS: Final = {  # of the known words that begin with a character, longest first
    first: sorted({len(word) for word in CLASSES.of_word if word[0] == first}, reverse=True)
    for first in {word[0] for word in CLASSES.of_word}
}


def _letters(words: str) -> str:
    """The classes of known words, of Latin ones, and one for each run of others."""
    known, latin, other = CLASSES.of_word, CLASSES.letter("latin"), CLASSES.letter("other")
    found, at = [""], 0
    while at < len(words):
        for length in _LENGTHS.get(words[at], ()):
            if letter := known.get(words[at : at + length]):
                break
        else:
            run = _LATIN.match(words, at)
            letter, length = (latin, len(run[0])) if run else (other, 1)
        if not words[at].isspace() and (letter != other or found[-1] != other):
            found.append(letter)
        at += length
    return "".join(found)


CHINESE: Final = Language(
    _letters,
    cues=CLASSES.cues(_CUES),
    signs=CLASSES.pattern_of(_SIGNS),
    forbids=CLASSES.pattern_of("not never ban need_not until"),
    prompt=-0.09,
    user=-2.62,
)
