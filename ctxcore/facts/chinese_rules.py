"""The cues of standing instructions in Chinese: classes of words, and patterns over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ctxcore.facts.cues import Classes, Language
from ctxcore.facts.reading import MASK

# Each class has its weights in a prompt and for a user, and its words.
_WORDS: Final = """
other 0.0 0.0: 前面 应用 主要 重要 不错 发生 机会 通过 有关 电视 安全 完全 不同 能力 方面 功能 智能
文化 进行 阶段 标准 目标 价值 未来 从来 起来 下来 便宜 才能 意思 想法 不想 得到 想要 决定 确定
latin -0.5 -0.5: quote 0.5 0.9: number -0.8 -0.1: 一 二 两 三 四 五 六 七 八 九 十 百 千 万 半 零
comma 1.4 0.6: ， , ； ; （ ） ( ) 、 — … / 。 . colon -1.6 -1.6: ： : asks -0.5 -0.5: ？ ? 吗 呢 么
来着 是不是 要不要 能不能 可不可以 有没有 为什么 为啥 怎么样 怎么 怎样 如何 什么 啥 哪里 哪儿 哪个
哪些 哪 谁 多少 几点 多久 是否 还是不 几 多大 会不会 好吗 loud -2.1 -2.1: ！ ! please -1.5 -1.1: 请
麻烦 soft 0.4 -0.1: 另外 还有 对了 好的 嗯 注意 首先 remember 0.9 0.9: 记住 记得 请记住 别忘了
also -0.6 -0.7: 还 也 又 并 并且 及 以及 或 或者 first 1.2 1.0: 先 then 0.5 -0.1: 就 便 才 再
directly 0.3 0.0: 直接 直 马上 自动 自己 单独 明确 具体 分别 完整 you 0.7 0.1: 你 您 你们
your 1.0 0.1: 你的 您的 i -0.1 0.2: 我 my -0.3 -0.3: 我的 我写的 we 1.1 1.1: 我们 咱们 我家 我们家
我们公司 我们班 我们这儿 我这边 我这儿 give_me -0.1 0.0: 给我 帮我 替我 帮 call_me 2.3 2.3: 叫我
称呼我 tell_me 0.6 0.7: 问我 告诉我 提醒我 跟我 让我 给我看 跟我说 跟我确认 我同意 等我 发给我 对我
同意 he -0.4 -1.0: 他 她 它 他们 别人 老师 老板 医生 妈 爸 妈妈 朋友 孩子 哥 姐 女儿 领导 家长 学校
国家 亲 people 1.8 1.0: 用户 客户 客人 读者 病人 同事 老人 大家 somebody -0.2 -0.1: 有人 对方
feel 0.2 -0.5: 觉得 认为 感觉 知道 谢谢 怕 懂 理解 发现 看见 看到 听 忘 担心 生气 难过 哭 笑 累 疼
痛 着急 急 闹 逗 怪 must 1.6 0.0: 必须 须 务必 应 一定要 都要 需要 需 应该 要求 必 want 1.7 0.2: 要
一定 定 can -1.7 -0.6: 可以 能 会 可能 need_not 0.1 0.1: 不用 不需要 only 1.3 1.2: 只 只能 仅
each 0.6 0.6: 每 每个 每次 每天 每周 dou 0.4 -0.3: 都 全 all 0.8 0.7: 全部 所有 凡是 任何 各 整个
其他 别的 uniform 1.7 2.5: 一律 统一 均 一致 ever 1.0 0.8: 永远 始终 任何时候 绝对
still -0.4 -0.3: 一直 总是 总 老 继续 usual -0.3 0.4: 平时 默认 一般 时不时 from_now 0.2 0.1: 以后
今后 从今天 接下来 后面都 下次 从现在起 从这 从下 开始 以后都 后面的 never 2.7 1.7: 严禁 禁止 不得
绝不能 未经 永远不要 千万不要 千万别 拒绝 ban 1.0 0.5: 不要 不许 不准 不允许 不能 不可以 不要再
不应该 不让 bie 1.5 1.6: 别 别再 别老 别动 别提 别写 别给 别用 休 avoid 0.2 0.3: 避免 停止 禁 免
去掉 no 0.5 -0.3: 不 不带 不放 不吃 不看 不写 不说 不留 不喝 none 0.5 0.0: 没 没有 无 未
little 0.9 0.9: 少 少用 more -0.5 -0.4: 多 try 1.1 1.1: 尽量 尽可能 最好 优先 偏 until 1.1 0.7: 除非
为止 除了 if 0.7 0.0: 如果 若 要是 万一 如 的话 只要 只有 when 0.5 0.5: 时候 的时候 时 当 下
meet 1.5 0.9: 遇到 碰到 涉及 涉及到 提到 说到 出现 关于 i_do 0.8 0.9: 我说 我问 我发 我给 我写 我报
我将 我会 我没 我提到 我打 我说的 我要是 我把 我会给 you_do 1.4 1.3: 你就 你会 你直接 你先 你只 你要
你来 你再 您将 你可以 你也 你必须 你不能 你不要 你别 你应该 你不用 你需要 before -0.6 -0.5: 之前 前
以前 之前先 前先 after 0.3 0.0: 之后 后 完 完了 以后再 完之后 prefer 0.5 0.6: 喜欢 偏好 习惯 更喜欢
比较喜欢 hate 1.6 1.5: 讨厌 不喜欢 受不了 不爱 烦 不想看 看不懂 hope 0.3 0.5: 希望 希望你 需要你
我希望 wish -1.0 -1.0: 想 想知道 我要 diet 1.2 1.2: 过敏 糖尿病 高血压 海鲜 fine 0.1 0.2: 就行 即可
好了 就可以了 limit 1.2 0.6: 以内 以上 不超过 不要超过 别超过 超过 最多 至少 超 之间 满
this -0.8 -0.8: 这 这个 这些 这次 这篇 这首 这段 这份 这张 这句 这本 这种 上面 下面 以下 下文 第一
第二 第三 刚才 这里 此 该 其中 that -1.0 -1.0: 那 那个 now 0.0 -0.2: 现在 今天 明天 昨天 已 已经
上次 正在 刚 晚上 早上 下午 周末 周五 小时候 past 0.1 0.1: 了 过 着 final -2.3 -2.3: 吧 啊 呀 哦 啦
嘛 哈哈 degree 0.1 -0.6: 很 太 真 好 挺 非常 特别 十分 更 最 比较 有点 真的 其实 可是 当然
one -0.4 0.3: 一下 一个 一首 一份 一段 一次 一点 一些 一位 一种 一样 一起 一遍 一句 一天 一条 一名
make -1.1 -1.1: 写一 生成一 做一 出一 列一 设计一 编写一 推荐一 写一首 给我一 帮我查 总结一下
解释一下 介绍一下 翻译成 看看 改成 is 0.1 -0.1: 是 有 为 属于 叫 成 像 即 还是 存在
because 0.1 0.1: 因为 因 所以 但是 但 而且 而 那么 例如 就是 不过 然后 结果 却 可 为了
of 0.1 0.3: 的 地 之 get 0.1 0.1: 得 地方 into 0.2 0.1: 把 将 让 使 令 由 从 在 对 跟 和 与 向 往 里
上 中 内 answer 1.0 1.0: 回答 答 回复 回应 回 聊 聊天 谈 说话 对话 交流 道歉 夸 提问 say 1.0 0.4: 说
讲 解释 说明 描述 介绍 翻译 翻 译 念 称 提 述 评 论 透露 编 猜 建议 推荐 举 骂 总结
write 0.6 0.8: 写 标 列 注 附 带 加 记 填 排 引 大写 小写 缩进 空格 粗 拼 use 1.7 0.9: 用 使用 采用
按 按照 照 根据 依据 参考 遵循 作为 算 走 套 keep 0.4 0.1: 保持 保留 确保 保证 控制 限制 留 守 保
check 0.0 0.6: 检查 确认 核 验 查 审 检 测 测试 ask 0.0 0.6: 问 询问 提示 提醒 警告 通知 报
act -0.1 -0.1: 扮演 演 send -1.0 -0.2: 发 发给 寄 抄送 转 发布 交 传 递 送 投 推送 put 0.3 0.1: 放
存 堆 置 贴 导出 归 分类 收 change 0.4 0.1: 改 修改 动 删 换 更新 合并 拆 覆盖 新增 命名 调
run 0.2 0.4: 跑 运行 执行 提交 推 上线 调用 装 备份 构建 实现 处理 编写 生成 返回 输出 定义 配置
设计 完成 展示 显示 停 加密 注册 choose -0.2 0.0: 挑 选 找 买 订 安排 约 付 看 搜 付款 点 取
order 0.2 -0.1: 基于 添加 注明 列出 附上 引用 分析 判断 制定 帮助 支持 验证 启动 区分 对比 评估 提取
复用 同步 记录 组织 开发 讨论 创造 创建 give 0.3 -0.4: 给 给出 提供 出 serve 0.8 0.9: 考虑 引导 避开
text -0.6 0.4: 词 句 段 页 行 标题 标点 格式 图 表 文 章 节 字 例 案 尾 开头 结论 摘要 重点 来源
步骤 理由 链接 题 稿 诗 语气 风格 话 术语 表情 感叹号 号 形容词 表格 列表 单子 清单 目录 内容 名
code -0.4 0.4: 代码 注释 变量 函数 接口 参数 组件 模块 分支 仓库 库 日志 脚本 依赖 文件 路径 异常
报错 错误 类型 密钥 密码 环境 线上 缓存 页面 按钮 字段 数据 数据库 框架 工具 方法 码 件 键 端 口
amount -0.3 0.0: 价 额 钱 币 元 块 率 数 数字 单位 日期 时间 小数 度 斤 克 税 温 重 量 分钟
job -0.3 0.1: 邮件 信 周报 合同 发票 账 文案 简历 订单 快递 航班 酒店 票 药 病 法 作业 单词 群 电话
隐私 名字 地址 项目 任务 方案 计划 论文 会议 课 货 班 险 food -0.8 -0.8: 菜 饭 盐 糖 油 辣 肉 奶 酒
茶 面 葱 咖啡 素 role -0.9 -0.3: 角色 故事 小说 游戏 结局 猫 面试官 局 世界观 style 0.0 -0.4: 简短
简洁 简单 详细 正式 短 长 客气 专业 准确 清楚 lang 0.6 0.6: 英文 中文 英语 法语 简体 下划线
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
1.5: can gap of, begin from_now 1.4: you gap is, limit gap number 1.3: of gap [forbid]
1.2: [thing] gap number, later bie, [do] gap before 1.1: begin [forbid] 1.0: [thing], latin end,
use gap latin, dou gap [do] 0.9: plain [^must]*must, [do] gap asks 0.8: [do] 0.7: [do] gap when,
other gap want 0.6: [thing] gap [thing], [forbid] gap [do] 0.4: ^[^i he past this that now asks]*$
0.1: [thing] end -0.3: .{8} -0.6: other gap of -0.7: latin gap other, into gap of, degree gap other
-0.8: other gap answer, past gap other -0.9: also gap [thing], later other, later [do]
-1.0: is gap [do], because gap other, begin you -1.1: .{20}, i gap [do], begin he -1.2: past end
-1.3: other gap style, past gap [thing] -1.4: .{14}, we gap [do], i gap then -1.5: begin asks
-1.6: .{5}, begin make -2.0: begin because, asks end -2.2: ^.?.?.?.$
"""
_IN_PROMPTS: Final = """
1.5: .{14} 1.4: no gap [do] 1.1: .{20} 1.0: plain [^bars]*[bars] 0.9: ^.?.?.?.$ 0.6: [do]
0.5: [thing] gap other 0.4: other gap [thing], other gap text 0.3: [do] gap [thing] -0.5: .{8}
-0.7: [thing] gap [do]
"""
# What a sentence is about: writing, numbers and files lean to rules, feelings and weather to talk.
_LEANS: Final = """
1.7: 讲 1.6: 勿竖 1.5: 译律扮 1.4: 就料 1.3: 号批喊骂 1.2: 必或语缩按陈宁糊漏 1.1: 复进记答里叫短废
屏箱抄缺拦 1.0: 注留别敏先含联都认随推删请三菜周唱括顺催航 0.9: 清禁维消只最官荐遵价税币谁稿替盘幕呼
破研 0.8: 数用象直聊互字改更日称责远脏亲险 0.7: 返要确格词交比终写空尾领引础角跳邮住矩印链斤哦摘低界
拍 0.6: 须对组接变令独合测位例网外循务从观我期指址给挑客四轮惯伤九音免钥凡露软急掉旁职素 0.5: 值标导
出不持文反前开除过题景单供分每息再少默近教及候线粗较转货曲醒右涉懂 0.4: 类显码本存结工简方关长后放发
图选略思机慢老份坐准食诉异区晚半 0.3: 式录以优许新体完程额当事第之收红孩热友衣断真 0.2: 回名提话次十
源公水 -0.2: 行一说超也验内手付 -0.3: 入件如中通果个由建创状经系色子年被安员海房 -0.4: 为无非风置调
响实能试失言动这流门重任根深望面些吃买咱带告吧久块难女证火拿 -0.5: 得有据感可正相才好帮质想容起跟喜
服业爱它挺 -0.6: 仅作检包自率设理句学师欢肯什斯脸博且遇牛走递减男广阳活昨北 -0.7: 现口见讨下和会整他
求般然背没觉者适否钟儿油几满万离美休便兴呢京 -0.8: 模已击定覆但计度考们找您张黄马待各利缓纸怪
-0.9: 特是布需段键大规商还来获哈饭课神眼取播鱼敢 -1.0: 参至示心增索你钱平忘那害么电此光快冲卷啊峰又
疗 -1.1: 装了身连笔刚校管星乱 -1.2: 性节识 -1.3: 于信 -1.4: 很首 -1.5: 力 -1.6: 吗她 -1.8: 集
-2.1: 去
"""
# Two characters side by side, `^` before the first and `$` after the last.
_PAIRS: Final = """
2.6: 里你 2.0: 当我 1.9: 不吃 我希 1.7: 回复 的酒 要关 1.6: 一律 开头 ，你 1.5: 方案 ，您 1.4: ^预
之前 的语 都得 里不 问我 1.3: ^孩 ^查 三条 不说 你会 列一 开会 当天 我出 我将 接口 来$ 1.2: ^维 ^跟
^路 一屏 一行 个选 为您 争对 们这 保持 国产 始终 小数 您提 收$ 注明 用公 病， 紧急 解决 请记 金额
须是 1.1: ^宁 ^报 不准 事别 停下 分开 别再 务必 单独 后每 在最 安排 得有 我当 改到 放在 替我 最小
的内 的场 目录 要是 评论 过期 里总 ：不 1.0: ^命 下的 不写 不许 了就 先看 剩菜 加粗 友好 周五 呼我
子来 就换 总得 您将 情歌 我想 我更 我老 我说 手$ 打码 望你 测试 点$ 生产 直用 相关 称呼 视角 视频
议都 记住 词$ 预算 ，周 0.9: ^剩 ^发 ^账 ^音 上线 下面 不引 不要 会告 候别 候带 六十 内$ 写$ 前，
助用 只读 名都 如果 少来 市中 师$ 常不 性格 您应 慢一 我会 我喜 扩展 提醒 是指 机了 材料 格缩 款。
点就 用英 画$ 的！ 短句 绝$ 话你 请务 货， 越好 越少 过两 里老 面我 ，别 0.8: ^从 ^出 ^哦 ^家 ^每
^水 ^重 ^默 一概 一直 一章 下午 下联 不排 不确 个$ 个方 中文 了再 人一 何回 你当 你都 准$ 别用 别给
别超 制在 半$ 发给 只推 只能 喊我 回答 在晚 在的 地的 大写 好， 完之 家长 就让 就说 层$ 店。 度的
异常 成， 我。 我小 我这 抄送 改动 改进 教$ 旁白 早上 是， 更新 有就 期的 求： 清晰 点以 点， 用简
的信 的消 的都 直说 看周 真实 第一 约定 续费 老人 聊$ 要有 要能 论$ 设定 词的 话题 语气 语法 说$
过不 运行 通知 遵循 面$ 默认 0.7: ^优 ^可 ^周 ^日 ^时 ^没 ^禁 ^进 一步 不存 不放 中心 为准 举例 事实
些$ 人名 从现 们是 任何 位$ 你一 例子 供有 候说 免使 写清 到我 到日 前面 功能 务器 医生 受伤 同意
听我 命令 哈哈 器不 回$ 在起 基于 备份 字段 容。 容词 对一 就行 年份 库。 必须 我回 我是 推荐 数$
文件 日子 日期 时先 有新 来源 标出 注解 游戏 照片 玩笑 的命 的来 的表 直这 答。 线。 统一 缩进 群里
而不 色$ 行为 衣服 要给 要自 认不 让他 讲$ 词， 话别 该只 说到 说的 说话 请不 进去 远不 都带 间要
，因 0.6: ^学 ^改 ^文 ^机 ^永 ^涉 ^记 一周 一遍 三次 上九 下单 不喜 不带 不收 不看 东西 九点 习惯
买东 人称 他们 份$ 会议 位小 体$ 体重 你来 例如 做完 先$ 写上 写在 则$ 前先 前提 原则 发送 只用 叹号
后面 周一 周三 喝水 团队 堵车 处理 复习 女儿 好几 字后 宠物 客人 容$ 少说 就一 工具 带上 店了 度$
强制 形容 我对 所有 摘要 文$ 断$ 日$ 是买 是谁 有， 本地 权限 来的 果用 案$ 次出 歌$ 步， 段落 消息
添加 清的 用表 留一 的事 的打 的文 的标 的角 的邮 签名 简洁 类型 繁体 结论 续$ 编$ 联系 脏话 菜名
让你 议。 说一 路线 边界 过三 这种 这边 选项 都别 都用 都要 都说 醒我 里别 重启 销售 间不 面上 风险
飞机 骂人 高铁 ，到 ，照 ，谁 0.5: ^合 ^有 ^现 ^表 ^配 一人 一句 上不 下一 不到 个月 人的 以内 们公
们家 件$ 优先 会的 会给 允许 入$ 再回 写成 写进 凡是 出差 别写 发票 句$ 号$ 后$ 四个 因为 在工 基础
声$ 天没 如何 完一 完了 少用 就用 心情 想让 意， 我为 我自 括号 换个 据库 改$ 文回 文， 方式 日志
是个 是哪 景点 有关 构， 水$ 求， 注释 流程 涉及 然后 理。 生$ 生。 用这 的东 看的 确定 算$ 级的
组件 结果 脚本 表情 规矩 角色 训练 诉你 超过 过一 过敏 这家 进行 都给 配置 面， ，一 ，以 ，并 ，所
，说 0.4: ^书 ^做 ^先 ^凡 ^只 ^叫 ^始 ^少 ^尽 ^我 ^房 ^未 ^绝 一些 一次 三方 专业 个例 代码 你是
做的 先问 再给 十分 句， 叫我 头$ 好$ 子的 家的 密钥 尽量 已经 式。 成本 户的 扮演 排序 控制 提供
提到 时$ 时， 是三 是这 晚上 有个 有人 机器 比较 理解 生的 用了 用第 的就 的时 的选 的问 空格 答，
老师 能在 要再 要写 语$ 请用 返回 这样 重点 音乐 ，不 ，先 ，再 ，我 ，然 0.3: ^客 ^新 ^课 一点 下，
不上 不清 么都 之间 件的 会$ 你不 你只 公共 公司 关的 出现 别人 化的 升级 在哪 地方 子不 孩子 家$
帮助 总是 情况 成语 我只 我家 我需 数字 时不 明$ 格， 每天 法$ 理， 用户 的代 的任 的地 的， 知识
短一 码$ 答我 血压 话$ 资料 输入 餐厅 ，但 ，而 0.2: ^以 ^所 个人 了， 你就 删除 可以 后一 存在 工作
开$ 我不 我打 手机 明确 标题 这么 ，其 -0.2: ^对 ^希 ^本 一下 不同 不是 什么 任务 你的 历史 就别
应该 每个 现在 诉我 这是 那么 面的 -0.3: ^保 ^多 ^大 ^她 ^明 ^老 ^遇 不想 之后 产品 从来 价格 内容
分$ 北京 后再 吗？ 啊$ 子$ 学习 小时 开发 影响 我还 支持 故事 有些 有什 有点 本书 样的 没有 电影
的。 的人 算法 经济 记得 还是 都有 需要 项目 -0.4: ^仅 ^今 ^服 ^酒 一家 不会 个字 主题 么不 们不
列表 后， 告诉 四十 密码 对$ 息$ 我发 我要 报告 方面 昨天 是在 本号 格式 案， 生， 知道 笑$ 系统
能够 至少 要$ 论文 说， 起来 跟我 过$ 进入 都很 钟$ ，对 -0.5: ^不 ^人 ^医 ^接 ^看 一个 不住 不出
业$ 了三 了我 事$ 事情 他的 使用 关于 准备 发生 吃饭 后的 客户 对应 成$ 我每 我给 拒绝 效果 教育
文案 是你 是用 最近 正常 没用 注意 点。 版本 用的 的名 的想 的意 答案 答问 管理 类的 缓存 编写 肯定
行$ 要点 认为 评价 说是 过， 这里 里面 重新 问一 页面 ，在 ，给 ，让 ，语 ，谢 ，都 -0.6: ^你 ^写
^到 ^要 ^让 一名 一般 三个 下次 不了 不行 人$ 人都 以下 以前 以我 们都 你先 你可 你说 供的 写了 分类
参考 发现 安装 完成 就不 帮我 应用 我先 文的 方法 有一 机$ 案。 次$ 歌词 法。 法， 用$ 用。 用三
百字 的情 直接 真的 给出 要太 覆盖 规定 讨论 讲， 设计 说我 跟你 适合 首歌 ，自 -0.7: ^关 ^同 ^数
^那 ^需 三点 上写 下周 不一 了一 你们 信， 其实 写着 别字 加上 加油 十二 同学 吗$ 周的 在中 天天
并提 开始 得不 心里 我们 所以 教学 是一 最好 没人 现有 用到 着急 答应 让我 说你 说过 通过 都在 采用
错别 -0.8: ^会 ^使 ^总 ^是 ^用 ^都 不对 例， 写代 名称 回来 我也 我以 我就 新的 明天 构$ 标准 求$
用于 电话 的列 简单 要超 识别 话说 走$ 这份 题， ，可 -0.9: ^帮 ^第 不错 主要 候要 先生 只需 对我
我今 我没 描述 是我 清单 的一 要求 试用 说要 ，每 -1.0: ^再 ^按 单词 只要 字$ 我把 文章 讲话 题$ ！$
，只 ，看 ：$ -1.1: ^好 ^就 了$ 写一 大家 我都 按照 标记 生成 要不 都没 ，$ -1.2: ^别 ^给 你$ 先别
只是 要先 -1.3: 天都 问题 -1.4: 你别 当前 给定 订单 请给 -1.5: 打开 -1.6: ？$ -1.9: ；$ -2.2: 。$
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


_WEIGHTS: Final = {
    **{char: weight for weight, chars in _weighed(_LEANS) for char in chars.strip()},
    **{pair: weight for weight, pairs in _weighed(_PAIRS) for pair in pairs.split()},
}


def _leaning(words: str, _letters: str) -> float:
    """What the characters of a sentence and their pairs weigh together, each once."""
    said = {*words, *map("".join, pairwise(f"^{words}$"))}
    return sum(map(_WEIGHTS.__getitem__, _WEIGHTS.keys() & said))


CHINESE: Final = Language(
    _letters,
    said=_leaning,
    cues=CLASSES.cues("\n".join(_cues())),
    reach=3.5,  # more is needed for 1 % of the rules that are found
    signs=CLASSES.pattern_of(" ".join(row[0] for row in _ROWS if max(map(float, row[1:3])) > 0)),
    forbids=CLASSES.pattern_of("no none never ban bie avoid need_not until"),
    prompt=-1.76,
    user=-3.59,
)
