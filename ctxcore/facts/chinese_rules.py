"""The cues of standing instructions in Chinese: classes of words, and patterns over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.facts.cues import Classes, Language
from ctxcore.facts.reading import MASK

# Each class has its weights in a prompt and for a user, and its words.
_WORDS: Final = """
other 0.4 -0.5: 当时 时代 前面 应用 主要 重要 不错 作用 从小 发生 生命 机会 社会 了解 通过 有关 看来
好看 电视 传统 发展 安全 完全 不仅 不同 能力 多少钱 方面 最近 经过 功能 智能 表现 代表 表面 文化
银行 旅行 进行 行业 段时间 阶段 标准 目标 价值 生日 多年 不少 好多 许多 很多 差不多 来自 未来 原来
本来 从来 后来 起来 下来 下去 进去 上去 当中 便宜 方便 随便 就是说 才能 人才 先生 意思 有意思 想法
想象 思想 不想 得到 获得 要不 主要是 想要 肯定 决定 确定 稳定 一定会 latin 0.4 -0.1: quote 0.0 0.3:
number -0.9 -0.1: 一 二 两 三 四 五 六 七 八 九 十 百 千 万 半 零 comma 0.7 -0.3: ， , ； ; （ ） (
) 、 — … / 。 . colon -2.4 -1.0: ： : asks -0.3 -0.8: ？ ? 吗 呢 么 来着 是不是 要不要 能不能
可不可以 有没有 为什么 为啥 怎么样 怎么 怎样 如何 什么 啥 哪里 哪儿 哪个 哪些 哪 谁 多少 几点 多久
是否 还是不 几 多大 会不会 好吗 loud -1.1 -1.1: ！ ! please -0.9 -0.5: 请 麻烦 soft -0.1 -0.3: 另外
还有 对了 好的 嗯 哎 顺便 注意 首先 remember 0.8 0.8: 记住 记得 请记住 别忘了 also -0.7 -0.6: 还 也
又 仍 仍然 依旧 依然 并 并且 及 以及 或 或者 first 1.4 0.7: 先 then 0.2 -0.2: 就 便 才 那就 再
directly 1.0 0.2: 直接 直 尽快 马上 及时 主动 自动 自己 单独 明确 仔细 具体 分别 逐步 完整 严格
you 0.2 0.0: 你 您 你们 your 1.0 -0.2: 你的 您的 你们的 i -1.0 -0.3: 我 俺 本人 my 0.0 0.0: 我的
我写的 we -0.1 -0.1: 我们 咱们 咱 我家 我们家 我们公司 我们班 我们这儿 我这边 我这里 我这儿 咱俩
give_me -0.1 0.0: 给我 帮我 替我 教我 陪我 帮 帮忙 call_me 1.8 1.8: 叫我 称呼我 叫你
tell_me 0.3 0.4: 问我 告诉我 提醒我 跟我 和我 让我 给我看 跟我说 跟我确认 我同意 等我 由我 找我
发给我 对我 同意 he -0.2 -1.0: 他 她 它 他们 她们 它们 别人 人家 老师 老板 医生 妈 爸 妈妈 爸爸 朋友
孩子 同学 听说 据说 老婆 老公 奶奶 爷爷 弟弟 哥 姐 妹 女儿 儿子 邻居 领导 室友 老爸 老妈 家长 警察
大夫 司机 男友 女友 男朋友 女朋友 自个 学校 政府 国家 宝宝 小孩 亲 姑娘 男人 女人 阿姨 大哥
people 1.1 0.7: 用户 客户 客人 读者 顾客 病人 患者 同事 老人 大家 观众 somebody 0.3 0.3: 有人 对方
feel -0.1 -0.9: 觉得 认为 感觉 知道 感到 相信 以为 感谢 谢谢 怕 懂 明白 理解 发现 看见 看到 听到 听
忘 记不 后悔 担心 生气 难过 开心 高兴 哭 笑 恨 累 疼 痛 烦恼 着急 急 闹 慌 骗 逗 傻 怪
must 0.8 0.0: 必须 须 务必 应 应当 一定要 都得 都要 需要 需 应该 要求 必 want 1.2 -0.1: 要 一定 定
can -1.8 -0.3: 可以 能 能够 会 可能 敢 肯 打算 need_not -0.1 -0.1: 不用 不必 不需要 甭 跳过
only 1.2 1.3: 只 只能 仅 只在 唯一 each 0.1 0.2: 每 每个 每次 每天 每周 每月 逢 dou 0.5 -0.4: 都 全
全都 all 0.3 0.5: 全部 所有 凡是 凡 任何 各 整个 一切 各个 其他 其它 其余 别的 uniform 1.5 1.2: 一律
统一 均 全程 一致 固定 ever 0.6 0.2: 永远 始终 时刻 任何时候 无论 不管 绝对 千万 坚决 从来都
still -0.1 0.0: 一直 总是 总 老是 老 反复 继续 usual -0.3 0.1: 平时 平常 通常 默认 日常 一般 长期
常年 时不时 经常 from_now 0.3 0.2: 以后 今后 往后 从今天 从此 后续 接下来 后面都 下次 从现在起 从这
从下 开始 以后都 后面的 这段时间 never 1.5 1.0: 严禁 禁止 不得 绝不 绝不能 未经 永远不要 千万不要
千万别 从不 拒绝 ban 1.0 0.5: 不要 不许 不准 不允许 不能 不可 不该 不可以 不要再 不再 不应该 不让
bie 0.5 0.4: 别 别再 别老 别动 别提 别写 别说 别给 别用 别拿 休 莫 avoid -0.5 -0.1: 避免 停止 防止
禁 忌 戒 免 去掉 省略 no 0.4 -0.3: 不 不带 不放 不吃 不看 不写 不说 不动 不留 不买 不做 不喝
none -0.2 -0.1: 没 没有 无 未 没法 little 0.5 0.7: 少 少用 more -0.5 -0.4: 多 try 1.2 0.5: 尽量
尽可能 最好 优先 倾向 偏 尽 until 0.3 0.2: 除非 否则 直到 为止 不然 除了 if 0.0 0.1: 如果 若 要是
万一 如 的话 只要 只有 when -0.4 0.0: 时候 的时候 时 当 一旦 期间 下 meet 1.5 0.7: 遇到 碰到 涉及
涉及到 提到 说到 谈到 讲到 轮到 一看 一说 一到 收到 需要我 出现 对于 关于 针对 至于
i_do 0.6 0.6: 我说 我问 我发 我贴 我给 我让 我写 我叫 我报 我将 我会 我没 我喊 我讲 我提到 我打
我说的 我要是 我把 我告诉 我会给 you_do 1.0 0.9: 你就 你都 你会 你直接 你先 你只 你要 你来 你给 你再
你得 您将 您就 你帮我 你可以 你也 你必须 你不能 你不要 你别 你应该 你不用 你需要
before -0.7 -0.3: 之前 前 以前 之前先 前先 after -0.3 -0.1: 之后 后 完 完了 以后再 结束 完之后 过后
prefer 0.3 0.3: 喜欢 偏好 习惯 更喜欢 更想 比较喜欢 惯 hate 0.6 0.6: 讨厌 不喜欢 受不了 不爱 烦
不想看 看不懂 听不懂 hope 0.1 0.2: 希望 希望你 需要你 期望 请你 麻烦你 求你 我希望
wish -1.1 -1.1: 想 愿 想去 想学 想知道 想问 想找 我要 diet 0.9 0.9: 过敏 糖尿病 高血压 吃辣 孕妇
怀孕 痛风 哮喘 海鲜 新手 小白 fine 0.7 0.2: 就好 就行 就可以 即可 好了 行了 就可以了 就成 为准
可以了 limit -0.5 0.1: 以内 之内 以上 左右 不超过 不要超过 别超过 超过 最多 至少 为主 大于 低于 超
之间 起码 满 this 0.0 0.2: 这 这个 这些 这次 这篇 这首 这段 这份 这张 这道 这句 这回 这条 这本 这种
上面 下面 以下 下文 第一 第二 第三 第四 刚才 刚刚 这里 那里 此 该 其中 这项 这周 本周 这个月
that -0.6 -0.6: 那 那个 那些 那位 那天 那边 那种 那样 now -0.4 -0.2: 现在 今天 今晚 明天 昨天 后天
今年 去年 明年 昨晚 目前 已 已经 上次 上周 下周 正在 刚 晚上 早上 中午 下午 上午 周末 周一 周五 周六
周日 小时候 从前 曾经 当初 夏天 冬天 月份 past -0.8 -0.6: 了 过 着 final -1.4 -1.4: 吧 啊 呀 哦 啦
嘛 哈 哈哈 呗 喔 哇 唉 嘿 嘿嘿 喂 degree -0.1 -0.9: 很 太 真 好 挺 非常 特别 十分 极 超级 更 最 比较
有点 有些 多么 真的 确实 实在 其实 居然 竟然 果然 可是 几乎 差点 简直 好像 似乎 也许 大概 恐怕 当然
毕竟 到底 究竟 反正 one -0.4 0.1: 一下 一个 一首 一篇 一份 一段 一张 一次 一点 一些 一位 一种 一样
一起 一遍 一句 一套 一部 一本 一家 一天 一条 一名 一会儿 make -1.2 -1.2: 写一 生成一 做个 做一 给一
出一 来一 画一 列一 举一 设计一 创作 创作一 撰写 编写一 推荐一 找一 找个 订一 买一 查一 写一首
给我一 帮我查 总结一下 解释一下 介绍一下 翻译成 看看 改成 is -0.1 -0.2: 是 有 为 属于 等于 叫 成 像
变成 即 就有 还是 存在 because 0.3 -0.4: 因为 因 由于 所以 但是 但 而且 而 那么 比如 例如 就是 不过
于是 然后 结果 虽然 尽管 却 可 反而 既然 为了 of 0.3 -0.1: 的 地 之 get 0.0 0.0: 得 地方
into -0.2 0.0: 把 将 让 使 令 由 从 在 对 跟 和 与 向 给到 往 为您 为我 里 上 中 内
answer 0.0 0.5: 回答 答 回复 回应 回 聊 聊天 谈 说话 对话 沟通 交流 道歉 夸 废话 提问
say 0.6 0.1: 说 讲 解释 说明 描述 介绍 复述 概括 翻译 翻 译 念 称 称呼 提 述 评 论 剧透 透露 泄露 编
猜 承诺 推销 建议 推荐 举 骂 劝 总结 write 0.9 0.5: 写 标 列 注 附 带 加 补 记 填 排 引 署 大写 小写
缩进 空格 粗 拼 use 0.8 0.3: 用 使用 采用 按 按照 照 根据 依据 参考 遵循 当成 作为 算 走 套
keep 0.9 0.1: 保持 保留 确保 保证 控制 限制 保密 维护 坚持 留 守 保 check 0.0 0.3: 检查 确认 核 验
查 校 审 检 盯 测 测试 ask 0.1 0.5: 问 询问 提示 提醒 警告 通知 汇报 报 act -0.1 -0.1: 扮演 演 假装
担任 饰 扮 send -0.8 0.0: 发 发给 寄 抄送 转 发布 交 传 递 送 投 推送 put 0.5 -0.1: 放 存 堆 置 贴
导出 归 分类 整理 收 change 0.4 0.1: 改 修改 动 碰 删 换 更新 合并 拆 覆盖 新增 增 调整 命名 优化 调
run -0.3 0.1: 跑 运行 执行 提交 推 部署 上线 调用 装 备份 构建 实现 处理 编写 生成 返回 输出 封装
定义 配置 设计 完成 展示 显示 停 锁 加密 注册 choose -0.2 -0.2: 挑 选 找 买 订 下单 安排 约 付 看 搜
付款 点 取 order 0.5 -0.3: 结合 基于 围绕 添加 标注 注明 列出 补充 附上 引用 分析 识别 判断 制定
尊重 帮助 协助 支持 指导 保护 验证 启动 区分 对比 核对 评估 规划 模拟 收集 提取 转换 扩展 复用 同步
记录 存储 保存 传递 抽象 组织 呈现 采取 承担 关联 集成 开发 讨论 探索 激发 传达 体现 突出 融入 营造
塑造 创造 创建 制作 give 0.3 -0.3: 给 给出 提供 出 serve 0.5 0.4: 考虑 关注 强调 站在 鼓励 引导 避开
text -0.1 0.2: 词 句 段 页 行 标题 标点 格式 图 表 文 章 节 字 例 案 尾 开头 结论 摘要 重点 来源
步骤 理由 链接 题 稿 诗 语气 口气 风格 话 术语 表情 感叹号 号 形容词 比喻 表格 列表 图表 单子 清单
目录 内容 名 code 0.1 0.2: 代码 注释 变量 函数 接口 参数 组件 模块 分支 仓库 库 日志 脚本 依赖 文件
路径 异常 报错 错误 类型 常量 密钥 密码 环境 线上 缓存 页面 按钮 字段 数据 数据库 框架 工具 方法 码
件 框 键 端 口 amount 0.1 0.2: 价 额 钱 币 元 块 率 数 数字 单位 日期 时间 小数 度 斤 公里 克 毫 税
温 重 量 分钟 点钟 美元 job -0.7 0.0: 邮件 信 周报 合同 发票 账 文案 简历 笔记 纪要 日程 订单 快递
航班 酒店 票 药 病 法 作业 单词 群 微信 电话 短信 隐私 名字 地址 项目 任务 需求 方案 计划 论文 资料
会议 课 货 班 险 车票 food -0.8 -0.9: 菜 饭 盐 糖 油 辣 肉 鱼 奶 蛋 酒 茶 面 汤 葱 咖啡 素 零食
role -0.4 0.2: 角色 故事 小说 游戏 主角 人物 情节 结局 猫 面试官 侦探 局 世界观 style 0.9 0.1: 简短
简洁 简单 详细 正式 口语 短 长 客气 友好 幽默 轻松 专业 客观 准确 清楚 lang 0.8 0.4: 英文 中文 英语
汉语 法语 日语 简体 繁体 外语 下划线
"""
_GROUPS: Final = """
thing: text code amount job food role style lang
do: order answer say write use keep check ask act send put change run choose give serve
forbid: never ban bie avoid need_not
stop: comma colon loud
begin: ^[stop soft please]*
later: [stop][soft please]{0,3}
end: [stop]*$
gap: [^stop]{0,5}
bars: never ban bie
talk: past final asks he feel this that now degree i make one give_me because
plain: ^(?=[^talk]+$)
"""
# Weights, and the cues that have them: what begins or ends a sentence, and what follows what.
_CUES: Final = """
2.1: plain [^only uniform]*[only uniform] 1.9: plain [^must]*must 1.7: later bie
1.4: limit gap number 1.2: begin from_now 1.1: of gap [forbid], [do] gap before, later you_do,
plain [soft please]*must 1.0: you_do gap say, is gap he, when gap i 0.9: begin each, begin ever,
put gap degree, you gap is, i gap hate, plain [^bars]*[bars] 0.8: latin end, use gap latin,
later all, [do] gap lang, write end, tell_me end, [thing] gap number, still gap this, begin usual
0.7: [thing] gap [thing], [do] gap when, then gap [do], [do] gap people, if gap [do], i gap prefer,
later you, later your, [thing], begin [forbid] 0.6: [thing] gap use, [forbid] gap other,
[thing] gap [forbid], [do] gap must, can gap of, dou gap [do], begin all, must gap order,
ever gap [do], say gap when, i gap degree, into gap after, [do] 0.5: [thing] gap must,
try gap other, no gap [do], answer end, begin i_do, i_do gap [do], begin we, diet end, begin ban
0.4: begin only, never gap [do], [do] gap into, other gap must, [thing] gap want, [do] gap ban,
begin meet, begin amount, [forbid] gap [do] 0.3: [do] gap [do], [forbid] gap [thing], ask gap other,
other gap want, begin job, other gap then, amount end, [do] gap asks 0.2: text end, other gap text,
begin hope 0.1: [thing] gap [do], [do] gap [thing], [thing] gap other, other gap [thing],
of gap [do], number gap other, .{30}, when gap [do] -0.1: code end, [do] gap other, other end
-0.2: begin say -0.3: later other, begin use, of gap is, begin you_do, begin also -0.4: begin other,
later latin, [do] gap ask, say gap [thing], can gap other, degree gap other, other gap can,
later we, later i, into end, dou gap no, begin now, begin feel, begin [do] -0.5: other gap of,
ban gap other, directly gap other, into gap of, because gap other, this gap of, this gap [thing],
[do] gap give, this gap [do], later job, later number -0.6: also gap [thing], begin degree,
begin this, other gap i, he gap other, job gap [thing], [do] gap past, begin asks, you end, is end
-0.7: is gap [do], latin gap amount, other gap answer, i gap [do], final end, past gap other,
past gap [thing], begin then, begin number -0.8: latin gap other, latin gap use, other gap role,
other gap style, we gap [do], ^.?.?.?.$ -0.9: ask gap [thing], begin write, begin make
-1.0: other gap all, begin give_me, past end, begin he, begin my -1.1: begin you, .{14}
-1.2: i gap then -1.4: begin because -1.9: asks end
"""
_IN_PROMPTS: Final = """
1.3: .{14}, begin [do] 0.9: ^.?.?.?.$ 0.7: plain [^must]*must 0.6: [forbid] gap [do] 0.5: [do],
plain [^bars]*[bars], plain [^only uniform]*[only uniform] 0.4: begin [forbid] 0.2: when gap [do],
[thing] -0.5: [thing] end -0.7: [thing] gap [do] -0.8: later [do]
"""
# What a sentence is about: writing, numbers and files lean to rules, feelings and weather to talk.
_LEANS: Final = """
1.3: 或语推 1.2: 直都荐讲周 1.1: 复先优答律住 1.0: 回日我掉 0.9: 用别必最写认务称就源批 0.8: 值持比
含联空超按角里号懂 0.7: 留不录聊额何翻老陈之菜永省晚 0.6: 出进要格提开合过改位外缩记指案三挑候跳叫短
公唱九醒 0.5: 数注代反路结只新终坏息当基听思器东准远 0.4: 标须对接词排点独消除例每随而产选础视址第举
希给及价邮谁询酒隔较送账 0.3: 类导清文命量样硬前存功工测简体说方己更小次并后放发像地观期将偏系习报线
咱赶板惯桌伤孩替货林水 0.2: 入的无错确保码局配话维字戏未辑其果依关佳决事引再输人牌请上慢哪西民客份村
店肉王链牙医童龄向虚展 -0.2: 式使遗修误表已布细所调感加一应实专题会网键但重释历析同相经到意理助况似
处达找句左练您病子被喜草黑印猫坚谷括克约国诉亚典且费江企宾州 -0.3: 模示等符响成场言整识索段程多任创
史故描该才近章来智适否跟坐间肯烦吧市笔洗诗品站施照票旅块班华借待热福共胆伦巴培革汽 -0.4: 全作边下中
生可化通般个流技长采质束底汤也二还社德受获概狗紧张欢害篇刚什介斯礼太序士业莫托 -0.5: 口击致元率设背
深学稍商师常年连办药打平奶忘脑儿油马物博 -0.6: 至现得是特见心术效自规帮没觉身谢钟月她划电服各走瓶
-0.7: 参据讨天包增定他装大资策们你者饭首校快血 -0.8: 集检求这由计度好述么课美乱 -0.9: 然了钱
-1.0: 节架信考很 -1.1: 于 -1.2: 力母 -1.3: 和吗 -1.4: 那 -1.5: 需 -1.7: 去
"""
_LATIN: Final = re.compile(rf"`[^`]*`|[a-z0-9@#_./-]+|{MASK}+")
_PARTS: Final = re.split(r"([a-z_]+) (-?\d\.\d) (-?\d\.\d):", _WORDS)[1:]
_ROWS: Final = [_PARTS[at : at + 4] for at in range(0, len(_PARTS), 4)]


def _weighed(written: str) -> Iterator[tuple[float, str]]:
    parts = re.split(r"(-?\d\.\d):", written)
    return zip(map(float, parts[1::2]), parts[2::2], strict=True)


def _cues() -> Iterator[str]:
    for name, prompt, user, _ in _ROWS:
        yield f"{name}: {prompt} {user} {name}"
    for written, share in ((_CUES, 1), (_IN_PROMPTS, 0)):
        for weight, cues in _weighed(written):
            for cue in cues.split(","):
                yield f"cue: {weight} {weight * share} {' '.join(cue.split())}"


CLASSES: Final = Classes(
    "\n".join(f"{name}: {' '.join(words.split())}" for name, _, _, words in _ROWS), _GROUPS
)
_LENGTHS: Final = {  # of the known words that begin with a character, longest first
    first: sorted({len(word) for word in CLASSES.of_word if word[0] == first}, reverse=True)
    for first in {word[0] for word in CLASSES.of_word}
}


def _letters(words: str) -> str:
    """The classes of known words, of Latin and of quoted ones, and one for each run of others."""
    known, other = CLASSES.of_word, CLASSES.letter("other")
    latin, quote = CLASSES.letter("latin"), CLASSES.letter("quote")
    found, at = [""], 0
    while at < len(words):
        for length in _LENGTHS.get(words[at], ()):
            if letter := known.get(words[at : at + length]):
                break
        else:
            run = _LATIN.match(words, at)
            letter, length = (latin, len(run[0])) if run else (other, 1)
            if words[at] == MASK:
                letter = quote
        if not words[at].isspace() and (letter != other or found[-1] != other):
            found.append(letter)
        at += length
    return "".join(found)


_WEIGHTS: Final = {char: weight for weight, chars in _weighed(_LEANS) for char in chars.strip()}


def _read(sentence: str) -> tuple[str, str]:
    """A sentence as its characters, and the classes of its words."""
    return sentence, _letters(sentence)


def _leaning(characters: Sequence[str], _letters: str) -> float:
    """What the characters of a sentence weigh together, each once."""
    return sum(map(_WEIGHTS.__getitem__, _WEIGHTS.keys() & set(characters)))


_ALLERGY: Final = re.compile("对[^，,。不]{1,6}过敏")
_CLAUSE_ENDS: Final = re.compile("[，；,;]")
_EXPLICIT: Final = frozenset(CLASSES.pattern_of("ban never limit must"))
_ASKING: Final = ("?", "？", "吗", "呢")
_LEAST_CHARS: Final = 4  # of a clause; chosen: a shorter one names nothing


class _Chinese(Language):
    """Chinese, whose sentences run on: in a user's turn one clause that plainly bans is enough."""

    def is_rule(self, words: str, *, is_prompt: bool) -> bool:
        if super().is_rule(words, is_prompt=is_prompt):
            return True
        if is_prompt or words.rstrip().endswith(_ASKING):
            return False
        clauses = [clause.strip() for clause in _CLAUSE_ENDS.split(words)]
        return bool(_ALLERGY.search(words)) or (len(clauses) > 1 and any(map(self._bans, clauses)))

    def _bans(self, clause: str) -> bool:
        if len(clause) < _LEAST_CHARS or _EXPLICIT.isdisjoint(self.letters(clause)):
            return False
        return super().is_rule(clause, is_prompt=False)


CHINESE: Final = _Chinese(
    _read,
    said=_leaning,
    cues=CLASSES.cues("\n".join(_cues())),
    reach=3.5,  # more is needed for 1 % of the rules that are found
    signs=CLASSES.pattern_of(" ".join(row[0] for row in _ROWS if max(map(float, row[1:3])) > 0)),
    forbids=CLASSES.pattern_of("no none never ban bie avoid need_not until"),
    prompt=-1.88,
    user=-3.37,
)
