"""The cues of standing instructions in Chinese: classes of words, and patterns over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import add
from typing import Final

from ctxcore.facts.cues import Classes, Language
from ctxcore.facts.reading import MASK

# Each class has its weights in a prompt and for a user, and its words.
_WORDS: Final = """
other 0.0 0.0: 前面 应用 主要 重要 不错 发生 机会 通过 有关 电视 安全 完全 不同 能力 方面 功能 智能
文化 进行 阶段 标准 目标 价值 未来 从来 起来 下来 便宜 才能 意思 想法 不想 得到 想要 决定 确定
latin -0.4 -0.5: quote 0.5 0.5: number -0.8 -0.1: 一 二 两 三 四 五 六 七 八 九 十 百 千 万 半 零
comma 1.5 0.6: ， , ； ; （ ） ( ) 、 — … / 。 . colon -1.4 -1.4: ： : asks -0.6 -0.6: ？ ? 吗 呢 么
来着 是不是 要不要 能不能 可不可以 有没有 为什么 为啥 怎么样 怎么 怎样 如何 什么 啥 哪里 哪儿 哪个
哪些 哪 谁 多少 几点 多久 是否 还是不 几 多大 会不会 好吗 loud -2.1 -2.1: ！ ! please -1.4 -1.1: 请
麻烦 soft 0.4 -0.2: 另外 还有 对了 好的 嗯 注意 首先 remember 0.8 0.8: 记住 记得 请记住 别忘了
also -0.5 -0.7: 还 也 又 并 并且 及 以及 或 或者 first 1.2 1.0: 先 then 0.5 0.0: 就 便 才 再
directly 0.3 0.1: 直接 直 马上 自动 自己 单独 明确 具体 分别 完整 you 0.8 0.2: 你 您 你们
your 0.9 0.0: 你的 您的 i -0.2 0.2: 我 my -0.2 -0.2: 我的 我写的 we 1.1 1.1: 我们 咱们 我家 我们家
我们公司 我们班 我们这儿 我这边 我这儿 give_me -0.1 0.0: 给我 帮我 替我 帮 call_me 2.2 2.2: 叫我
称呼我 tell_me 0.6 0.7: 问我 告诉我 提醒我 跟我 让我 给我看 跟我说 跟我确认 我同意 等我 发给我 对我
同意 he -0.3 -0.9: 他 她 它 他们 别人 老师 老板 医生 妈 爸 妈妈 朋友 孩子 哥 姐 女儿 领导 家长 学校
国家 亲 people 1.9 1.0: 用户 客户 客人 读者 病人 同事 老人 大家 somebody -0.2 -0.2: 有人 对方
feel 0.1 -0.5: 觉得 认为 感觉 知道 谢谢 怕 懂 理解 发现 看见 看到 听 忘 担心 生气 难过 哭 笑 累 疼
痛 着急 急 闹 逗 怪 must 2.0 0.3: 必须 须 务必 应 一定要 都要 需要 需 应该 要求 必 want 1.8 0.4: 要
一定 定 can -1.8 -0.7: 可以 能 会 可能 need_not 0.2 0.2: 不用 不需要 only 0.9 1.1: 只 只能 仅
each 0.6 0.5: 每 每个 每次 每天 每周 dou 0.3 -0.3: 都 全 all 0.7 0.5: 全部 所有 凡是 任何 各 整个
其他 别的 uniform 1.6 2.3: 一律 统一 均 一致 ever 1.1 0.9: 永远 始终 任何时候 绝对
still -0.3 -0.2: 一直 总是 总 老 继续 usual -0.4 0.3: 平时 默认 一般 时不时 from_now 0.3 0.2: 以后
今后 从今天 接下来 后面都 下次 从现在起 从这 从下 开始 以后都 后面的 never 2.4 1.7: 严禁 禁止 不得
绝不能 未经 永远不要 千万不要 千万别 拒绝 ban 1.1 0.5: 不要 不许 不准 不允许 不能 不可以 不要再
不应该 不让 bie 1.5 1.5: 别 别再 别老 别动 别提 别写 别给 别用 休 avoid 0.4 0.6: 避免 停止 禁 免
去掉 no 0.5 -0.2: 不 不带 不放 不吃 不看 不写 不说 不留 不喝 none 0.5 0.0: 没 没有 无 未
little 0.9 0.9: 少 少用 more -0.5 -0.4: 多 try 0.9 0.9: 尽量 尽可能 最好 优先 偏 until 0.9 0.6: 除非
为止 除了 if 0.7 0.0: 如果 若 要是 万一 如 的话 只要 只有 when 0.5 0.4: 时候 的时候 时 当 下
meet 1.6 0.9: 遇到 碰到 涉及 涉及到 提到 说到 出现 关于 i_do 0.8 0.9: 我说 我问 我发 我给 我写 我报
我将 我会 我没 我提到 我打 我说的 我要是 我把 我会给 you_do 1.5 1.4: 你就 你会 你直接 你先 你只 你要
你来 你再 您将 你可以 你也 你必须 你不能 你不要 你别 你应该 你不用 你需要 before -0.5 -0.5: 之前 前
以前 之前先 前先 after 0.2 -0.1: 之后 后 完 完了 以后再 完之后 prefer 0.4 0.6: 喜欢 偏好 习惯 更喜欢
比较喜欢 hate 1.6 1.5: 讨厌 不喜欢 受不了 不爱 烦 不想看 看不懂 hope 0.4 0.5: 希望 希望你 需要你
我希望 wish -0.9 -0.9: 想 想知道 我要 diet 1.1 1.1: 过敏 糖尿病 高血压 海鲜 fine 0.2 0.2: 就行 即可
好了 就可以了 limit 1.2 0.7: 以内 以上 不超过 不要超过 别超过 超过 最多 至少 超 之间 满
this -0.5 -0.4: 这 这个 这些 这次 这篇 这首 这段 这份 这张 这句 这本 这种 上面 下面 以下 下文 第一
第二 第三 刚才 这里 此 该 其中 that -0.8 -0.8: 那 那个 now 0.1 -0.2: 现在 今天 明天 昨天 已 已经
上次 正在 刚 晚上 早上 下午 周末 周五 小时候 past 0.1 0.2: 了 过 着 final -2.2 -2.2: 吧 啊 呀 哦 啦
嘛 哈哈 degree 0.2 -0.5: 很 太 真 好 挺 非常 特别 十分 更 最 比较 有点 真的 其实 可是 当然
one -0.3 0.4: 一下 一个 一首 一份 一段 一次 一点 一些 一位 一种 一样 一起 一遍 一句 一天 一条 一名
make -0.9 -0.9: 写一 生成一 做一 出一 列一 设计一 编写一 推荐一 写一首 给我一 帮我查 总结一下
解释一下 介绍一下 翻译成 看看 改成 is 0.1 -0.1: 是 有 为 属于 叫 成 像 即 还是 存在
because 0.0 0.2: 因为 因 所以 但是 但 而且 而 那么 例如 就是 不过 然后 结果 却 可 为了
of 0.1 0.2: 的 地 之 get 0.2 0.2: 得 地方 into 0.1 0.1: 把 将 让 使 令 由 从 在 对 跟 和 与 向 往 里
上 中 内 answer 1.2 1.1: 回答 答 回复 回应 回 聊 聊天 谈 说话 对话 交流 道歉 夸 提问 say 0.9 0.3: 说
讲 解释 说明 描述 介绍 翻译 翻 译 念 称 提 述 评 论 透露 编 猜 建议 推荐 举 骂 总结
write 0.7 0.8: 写 标 列 注 附 带 加 记 填 排 引 大写 小写 缩进 空格 粗 拼 use 1.7 0.8: 用 使用 采用
按 按照 照 根据 依据 参考 遵循 作为 算 走 套 keep 0.3 0.0: 保持 保留 确保 保证 控制 限制 留 守 保
check 0.1 0.7: 检查 确认 核 验 查 审 检 测 测试 ask 0.0 0.5: 问 询问 提示 提醒 警告 通知 报
act -0.1 -0.1: 扮演 演 send -1.0 -0.2: 发 发给 寄 抄送 转 发布 交 传 递 送 投 推送 put 0.3 0.2: 放
存 堆 置 贴 导出 归 分类 收 change 0.3 0.1: 改 修改 动 删 换 更新 合并 拆 覆盖 新增 命名 调
run 0.1 0.3: 跑 运行 执行 提交 推 上线 调用 装 备份 构建 实现 处理 编写 生成 返回 输出 定义 配置
设计 完成 展示 显示 停 加密 注册 choose -0.2 0.0: 挑 选 找 买 订 安排 约 付 看 搜 付款 点 取
order 0.0 -0.1: 基于 添加 注明 列出 附上 引用 分析 判断 制定 帮助 支持 验证 启动 区分 对比 评估 提取
复用 同步 记录 组织 开发 讨论 创造 创建 give 0.4 -0.4: 给 给出 提供 出 serve 0.5 0.6: 考虑 引导 避开
text -0.5 0.5: 词 句 段 页 行 标题 标点 格式 图 表 文 章 节 字 例 案 尾 开头 结论 摘要 重点 来源
步骤 理由 链接 题 稿 诗 语气 风格 话 术语 表情 感叹号 号 形容词 表格 列表 单子 清单 目录 内容 名
code -0.3 0.4: 代码 注释 变量 函数 接口 参数 组件 模块 分支 仓库 库 日志 脚本 依赖 文件 路径 异常
报错 错误 类型 密钥 密码 环境 线上 缓存 页面 按钮 字段 数据 数据库 框架 工具 方法 码 件 键 端 口
amount -0.2 0.1: 价 额 钱 币 元 块 率 数 数字 单位 日期 时间 小数 度 斤 克 税 温 重 量 分钟
job -0.3 0.1: 邮件 信 周报 合同 发票 账 文案 简历 订单 快递 航班 酒店 票 药 病 法 作业 单词 群 电话
隐私 名字 地址 项目 任务 方案 计划 论文 会议 课 货 班 险 food -0.8 -0.9: 菜 饭 盐 糖 油 辣 肉 奶 酒
茶 面 葱 咖啡 素 role -0.8 -0.1: 角色 故事 小说 游戏 结局 猫 面试官 局 世界观 style 0.2 -0.3: 简短
简洁 简单 详细 正式 短 长 客气 专业 准确 清楚 lang 0.8 0.5: 英文 中文 英语 法语 简体 下划线
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
1.5: can gap of, begin from_now 1.4: of gap [forbid], you gap is, limit gap number
1.2: begin [forbid], [do] gap before 1.1: latin end, [thing] gap number, later bie
1.0: use gap latin, [do] gap asks 0.9: [thing], dou gap [do] 0.8: [do], [do] gap when
0.6: other gap want 0.5: [thing] gap [thing], [forbid] gap [do]
0.4: ^[^i he past this that now asks]*$ 0.1: [thing] end -0.3: .{8} -0.5: other gap of
-0.6: into gap of -0.7: latin gap other, degree gap other, begin this -0.8: past gap other
-0.9: is gap [do], later [do], because gap other, other gap answer, begin you -1.0: later other,
later latin, i gap [do] -1.1: .{20}, other gap style, begin he -1.3: also gap [thing], past end,
past gap [thing] -1.4: .{5}, .{14}, we gap [do], i gap then, begin make -1.9: begin because,
asks end -2.0: ^.?.?.?.$
"""
_IN_PROMPTS: Final = """
1.7: .{14} 1.5: no gap [do] 1.1: .{20} 0.9: plain [^bars]*[bars] 0.8: ^.?.?.?.$ 0.6: [do]
0.5: other gap [thing], [thing] gap other 0.4: other gap text -0.4: .{8} -0.6: begin other
-0.7: [thing] gap [do]
"""
# What a sentence is about: writing, numbers and files lean to rules, feelings and weather to talk.
_LEANS: Final = """
1.6: 讲勿 1.5: 律竖 1.4: 扮 1.3: 必缩就喊骂 1.2: 维记批料宁箱 1.1: 或敏语按译里叫短菜号废漏 1.0: 留
进先认都推陈唱顺屏抄催缺糊拦 0.9: 数注复别象只最联随荐删请三税币周幕险航 0.8: 返用清聊互禁更答称稿括
替盘脏亲呼摘拍破 0.7: 变字独消改终遵日角略我期给责挑价邮矩远低界旁研降 0.6: 接直令交比合含测供例网写
外空尾务再从址跳客线谁四轮隔粗住九印链曲醒钥凡斤哦软急掉素 0.5: 标值类须不要组确码反开题景单位循息思
观指坐诉音露职 0.4: 显导出对持格录词配本前存优结过许造每分后当放发引图少选近教机及候慢习份酒红转孩食
货涉懂晚半 0.3: 式除工方程完关步默之准公热展友异水 0.2: 回的提文以新体读小次事第老十源 -0.2: 件如头
个建输经房海付 -0.3: 入非行置中一实能致动果由重任状深验面子吃咱被安员 -0.4: 为使调可言门超该才帮望内
述些色买告吧块服业共难妈女火 -0.5: 无有正试失这相质容想学德适起跟带喜什遇育爱证男贵拿北 -0.6: 得风见
据讨作需自设率计好没束师否钟欢课士博切利几牛走万离减兴阳活昨挺 -0.7: 特口布立严下感包检和会整求般根
然理背找者觉您张肯儿猫斯各满美休播便呢杯轻京它 -0.8: 现是已击定他规度句商获哈饭马神待且眼缓鱼敢估怪
-0.9: 至模心段大但考们还身来钱黄忘害刚电校管冲峰又 -1.0: 参性示增索键你了连平此取光星卷啊乱疗
-1.1: 节识装那笔么快 -1.2: 首 -1.3: 于信 -1.4: 力很 -1.6: 集吗她 -2.0: 去
"""
# Two characters side by side, `^` before the first and `$` after the last.
_PAIRS: Final = """
2.4: 里你 2.0: 当我 1.9: 不吃 1.8: 我希 1.5: 一律 你会 回复 方案 的酒 ，你 ，您 1.4: ^预 开会 要关
都得 里不 问我 1.3: 之前 我出 接口 金额 1.2: ^孩 ^维 ^跟 不准 不说 列一 始终 小数 开头 当天 我将 收$
最小 来$ 注明 用公 解决 评论 须是 1.1: ^查 ^路 一屏 三条 个选 为您 们这 停下 分开 国产 官方 您应
您提 我当 病， 的内 紧急 要是 请记 预算 1.0: ^发 ^命 ^宁 ^报 一行 不写 不许 争对 保持 关闭 别再 剩菜
加粗 务必 单独 友好 后每 呼我 在最 安排 得有 性格 您将 我想 提醒 放在 替我 望你 格缩 目录 称呼 视角
记住 过期 里总 ：不 0.9: ^出 ^剩 ^账 ^音 上线 下的 不引 不要 中文 了就 事别 会告 候别 先看 六十 内$
别用 制在 前， 只读 周五 家长 少来 就换 市中 师$ 总得 情歌 我会 我更 我老 我说 打码 扩展 改到 改进
是指 机了 款。 测试 点$ 点就 生产 直用 视频 词的 词， 话你 说$ 请务 货， 过两 里老 面我 ，别 ，周
0.8: ^哦 ^家 ^水 ^默 一直 下面 不确 个方 举例 们是 何回 你一 你都 候带 写$ 别给 别超 到日 助用 医生
半$ 发给 取消 受伤 名都 器不 在晚 在的 基于 子来 完之 容词 就让 就说 常不 店。 度的 异常 成， 我喜
我回 我小 手$ 抄送 旁白 早上 是热 晰的 更新 正面 画$ 的消 的都 的！ 直说 相关 真实 短句 约定 绝$
缩进 而不 要有 要能 要自 议都 设定 词$ 说话 请不 越好 越少 过不 运行 销售 0.7: ^从 ^时 ^每 ^永 ^禁
^进 ^重 一概 一章 下午 不存 不排 个$ 中心 为准 习惯 了再 些$ 人一 他们 以内 会议 体$ 你当 供有 先$
免使 准$ 前先 前提 只推 只能 同意 周三 喊我 四个 回答 地的 备份 大写 头$ 好， 如果 字段 容$ 就行 层$
形容 我对 我这 所有 排， 推荐 教$ 数$ 文$ 文件 日子 是买 是谁 是， 有就 有新 期的 条款 来源 比较
求。 求： 法的 注解 消息 清晰 点以 点， 用简 用表 的命 的来 的语 直这 看周 第一 线。 统一 群里 老人
聊$ 色$ 行为 衣服 认不 讲$ 论$ 话别 该只 语法 说到 说的 远不 闲聊 面$ 须每 风险 0.6: ^优 ^可 ^周 ^学
^文 ^日 ^没 ^涉 ^表 一步 三次 上九 下单 不喜 不收 不放 东西 九点 人名 人称 从现 件$ 任何 份$ 会的
会给 你接 你来 例如 例子 候说 做完 写在 写清 到我 前面 功能 务器 发送 句$ 只用 后面 含税 听我 周一
命令 哈哈 回$ 因为 团队 在起 场景 声$ 复习 女儿 好几 字后 完一 宠物 容。 对一 少说 工具 年份 库。
度$ 强制 必须 意， 我。 我念 我是 据库 排序 摘要 改动 断$ 时先 构， 果用 标出 次出 求， 添加 游戏
照片 生。 生的 用工 用文 用英 留一 的事 的信 的文 的表 的邮 看的 空格 答$ 答我 简洁 算$ 级的 结果
结论 而是 脏话 行程 让他 话题 语气 调用 边界 过一 这种 这边 进去 选项 通知 遵循 都别 都要 醒我 重启
间不 附上 面上 飞机 默认 ，一 ，到 ，因 ，正 ，照 ，谁 0.5: ^书 ^合 ^尽 ^改 ^有 ^现 ^记 ^这 ^配 一句
一周 下一 不看 之间 人的 们说 优先 位$ 体重 入$ 公共 写成 写进 凡是 则$ 别写 原则 发票 号$ 后$ 命名
喝水 在工 基础 处理 如何 定义 客人 对比 少用 就用 就直 带上 店了 式。 引入 想让 我为 括号 换个 控制
改$ 文本 日$ 日期 时， 本地 权限 材料 来的 案$ 歌$ 步， 段落 水$ 注释 理。 用第 的东 的时 的标 的角
确定 答。 编$ 老师 联系 脚本 要给 规矩 角色 解$ 议。 话$ 语$ 说一 路线 输入 过三 过敏 返回 避开 都用
都说 里别 高铁 ，其 ，并 ，说 ，请 0.4: ^做 ^先 ^只 ^叫 ^客 ^房 ^算 ^绝 ^退 一遍 上不 不上 不到 专业
个月 代码 们家 作的 你是 允许 先问 公司 关的 再回 出一 后都 好$ 子的 密钥 就一 已经 我自 户的 扮演
提供 文， 日志 时不 是三 是个 是哪 景点 有个 有关 机器 模式 流程 理解 生$ 的代 的任 的地 的就 的选
的问 码$ 简体 类型 组件 经理 能在 表情 要再 要写 让你 训练 诉你 话。 超过 还有 这家 这样 都给 面，
音乐 题不 ，不 ，先 ，我 ，而 0.3: ^始 ^我 ^所 ^新 一些 一次 一段 个例 么都 你不 你只 依赖 做了 做的
删除 叫我 可以 子， 存在 孩子 家$ 帮助 息。 我不 我只 数字 文字 方式 时$ 明$ 明确 晚上 有人 格，
每天 法$ 涉及 然后 用了 用户 用这 知识 确认 程$ 要的 餐厅 ，无 0.2: ^少 ^提 一点 下， 不清 以后 件的
会$ 作日 你就 先写 出现 别人 地方 家的 我家 我需 理， 的， 短一 血压 资料 进行 题。 ，但 -0.2: ^保
^大 ^本 一下 一天 不得 什么 你也 报告 有什 的名 要$ 诉我 这是 -0.3: ^今 ^写 ^多 ^希 ^注 ^老 不会
不想 之后 从来 你的 再说 列表 北京 后， 吗？ 告诉 哪里 啊$ 四十 子$ 密码 小说 我还 才能 是在 有些
样的 没有 用中 电影 的人 笑$ 管理 经济 给你 至少 记得 说， 课程 还是 这些 遇到 那么 都很 都有 钟$
面的 ，这 -0.4: ^加 ^明 ^服 ^酒 三个 不出 主题 么不 事$ 以上 以下 使用 关于 出了 发生 吃饭 后再 后我
安装 客户 对$ 小时 我发 我要 支持 故事 教育 方面 昨天 是你 有点 来。 格式 生， 用的 的。 的情 的想
的教 知道 结束 行$ 讨论 论文 说是 跟我 部分 项目 ，在 ，对 ，要 ，让 -0.5: ^不 ^关 ^医 ^接 ^看 ^第
^需 一个 一家 一般 不了 业$ 个标 了三 了我 事情 五个 人都 他的 们不 你先 供的 加上 包含 发现 学习
完成 对应 就不 帮我 应用 息$ 我每 我给 所以 描述 效果 文的 文章 方法 最近 没用 用。 真的 系统 编写
肯定 要太 要点 认为 认识 讲， 设计 起来 输出 过$ 过， 进入 适合 里面 重新 页面 ，谢 -0.6: ^会 ^你
^正 ^用 ^让 一名 三点 上写 下次 不住 不行 个字 人$ 以前 以我 们都 你可 你说 写了 准备 分类 加班 十二
参考 天天 字数 得不 心里 成$ 我们 我先 教学 文案 是用 最好 有一 机$ 案。 次$ 每个 法， 注意 点。
版本 用三 用于 用到 的意 着急 答应 答问 简单 经验 给出 让我 话说 说过 跟你 这份 这里 都在 ，给 ，语
-0.7: ^数 ^要 ^那 ^都 下周 不一 专家 了一 你们 信， 其实 写字 写着 别字 加入 后的 吗$ 字$ 我就 构$
标准 没人 电话 的一 的列 答案 说你 说我 通过 错别 题， ，每 ，自 -0.8: ^使 ^同 ^帮 ^总 ^按 ^是 不对
候要 内容 加油 只需 同学 回来 在中 对我 开始 我今 我以 新的 明天 是我 清单 用$ 直接 要使 要超 规定
走$ 采用 ，可 -0.9: 不错 主要 例， 先生 写代 前后 单词 名称 复$ 我也 我没 我都 是一 生成 要不 覆盖
识别 试用 说要 题$ 额外 ！$ ，只 ，看 -1.0: ^再 ^好 只要 大家 我把 按照 标记 给定 要先 要求 都没
-1.1: ^就 ^给 了$ 先别 写一 -1.2: ^别 你$ 你别 只是 天都 当前 请给 问题 ，$ ：$ -1.4: 订单
-1.5: 打开 -1.6: ？$ -2.4: 。$ ；$
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


def _read(sentence: str) -> tuple[str, str]:
    """A sentence as its characters, and the classes of its words."""
    return sentence, _letters(sentence)


def _leaning(characters: Sequence[str], _letters: str) -> float:
    """What the characters of a sentence and their pairs weigh together, each once."""
    said = {*characters, *map(add, ("^", *characters), (*characters, "$"))}
    return sum(map(_WEIGHTS.__getitem__, _WEIGHTS.keys() & said))


CHINESE: Final = Language(
    _read,
    said=_leaning,
    cues=CLASSES.cues("\n".join(_cues())),
    reach=3.5,  # more is needed for 2 % of the rules that are found
    signs=CLASSES.pattern_of(" ".join(row[0] for row in _ROWS if max(map(float, row[1:3])) > 0)),
    forbids=CLASSES.pattern_of("no none never ban bie avoid need_not until"),
    prompt=-1.16,
    user=-3.43,
)
