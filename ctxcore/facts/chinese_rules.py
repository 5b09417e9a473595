"""The cues of standing instructions in Chinese: classes of words, and patterns over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import add
from typing import Final

from ctxcore.facts.cues import Classes, Language, Letters
from ctxcore.facts.reading import MASK
from ctxcore.text.patterns import longest_of

# Each class has its weights in a prompt and for a user, and its words.
_WORDS: Final = """
other -0.1 0.3: 前面 应用 主要 重要 不错 发生 机会 通过 有关 电视 安全 完全 不同 能力 方面 功能 智能
文化 进行 阶段 标准 目标 价值 未来 从来 起来 下来 便宜 才能 意思 想法 不想 得到 想要 决定 确定
latin -0.6 -1.0: quote 0.2 0.1: number -0.7 0.0: 一 二 两 三 四 五 六 七 八 九 十 百 千 万 半 零
comma 0.0 0.0: ， , ； ; （ ） ( ) 、 — … / 。 . colon -1.7 -1.5: ： : asks -0.2 -0.1: ？ ? 吗 呢 么
来着 是不是 要不要 能不能 可不可以 有没有 为什么 为啥 怎么样 怎么 怎样 如何 什么 啥 哪里 哪儿 哪个
哪些 哪 谁 多少 几点 多久 是否 还是不 几 多大 会不会 好吗 loud -2.4 -2.4: ！ ! please -1.6 -1.3: 请
麻烦 soft -0.4 -0.7: 另外 还有 对了 好的 嗯 注意 首先 remember 0.3 0.3: 记住 记得 请记住 别忘了
also -0.4 -0.8: 还 也 又 并 并且 及 以及 或 或者 first 1.2 0.8: 先 then 0.3 -0.3: 就 便 才 再
directly 0.1 -0.1: 直接 直 马上 自动 自己 单独 明确 具体 分别 完整 you 0.8 0.2: 你 您 你们
your 0.6 -0.1: 你的 您的 i 0.2 0.5: 我 my 0.0 0.0: 我的 我写的 we 1.0 1.0: 我们 咱们 我家 我们家
我们公司 我们班 我们这儿 我这边 我这儿 give_me 0.1 0.3: 给我 帮我 替我 帮 call_me 1.9 1.9: 叫我
称呼我 tell_me 0.8 0.9: 问我 告诉我 提醒我 跟我 让我 给我看 跟我说 跟我确认 我同意 等我 发给我 对我
同意 he 0.4 -0.6: 他 她 它 他们 别人 老师 老板 医生 妈 爸 妈妈 朋友 孩子 哥 姐 女儿 领导 家长 学校
国家 亲 people 2.2 1.2: 用户 客户 客人 读者 病人 同事 老人 大家 somebody 0.0 0.0: 有人 对方
feel 0.1 -0.6: 觉得 认为 感觉 知道 谢谢 怕 懂 理解 发现 看见 看到 听 忘 担心 生气 难过 哭 笑 累 疼
痛 着急 急 闹 逗 怪 must 1.9 -0.1: 必须 须 务必 应 一定要 都要 需要 需 应该 要求 必 want 2.3 0.7: 要
一定 定 can -1.3 0.0: 可以 能 会 可能 need_not -0.1 -0.1: 不用 不需要 only 1.1 1.4: 只 只能 仅
each 0.6 0.5: 每 每个 每次 每天 每周 dou 0.6 -0.4: 都 全 all 1.0 0.8: 全部 所有 凡是 任何 各 整个
其他 别的 uniform 1.1 1.8: 一律 统一 均 一致 ever 1.1 1.1: 永远 始终 任何时候 绝对
still -0.5 -0.3: 一直 总是 总 老 继续 usual -0.4 0.6: 平时 默认 一般 时不时 from_now 0.1 0.1: 以后
今后 从今天 接下来 后面都 下次 从现在起 从这 从下 开始 以后都 后面的 never 2.3 1.2: 严禁 禁止 不得
绝不能 未经 永远不要 千万不要 千万别 拒绝 ban 1.2 0.5: 不要 不许 不准 不允许 不能 不可以 不要再
不应该 不让 bie 1.0 1.2: 别 别再 别老 别动 别提 别写 别给 别用 休 avoid 0.0 0.0: 避免 停止 禁 免
去掉 no 0.3 -0.3: 不 不带 不放 不吃 不看 不写 不说 不留 不喝 none 0.7 -0.1: 没 没有 无 未
little 1.0 1.0: 少 少用 more -0.5 -0.3: 多 try 1.4 0.9: 尽量 尽可能 最好 优先 偏 until 1.7 1.2: 除非
为止 除了 if 1.1 0.2: 如果 若 要是 万一 如 的话 只要 只有 when 0.3 0.3: 时候 的时候 时 当 下
meet 1.8 0.8: 遇到 碰到 涉及 涉及到 提到 说到 出现 关于 i_do 0.6 0.8: 我说 我问 我发 我给 我写 我报
我将 我会 我没 我提到 我打 我说的 我要是 我把 我会给 you_do 1.6 1.6: 你就 你会 你直接 你先 你只 你要
你来 你再 您将 你可以 你也 你必须 你不能 你不要 你别 你应该 你不用 你需要 before -0.4 -0.4: 之前 前
以前 之前先 前先 after 0.3 -0.3: 之后 后 完 完了 以后再 完之后 prefer 0.5 0.6: 喜欢 偏好 习惯 更喜欢
比较喜欢 hate 0.3 0.3: 讨厌 不喜欢 受不了 不爱 烦 不想看 看不懂 hope 0.2 0.5: 希望 希望你 需要你
我希望 wish -0.7 -0.7: 想 想知道 我要 diet 0.8 0.8: 过敏 糖尿病 高血压 海鲜 fine -0.3 -0.3: 就行
即可 好了 就可以了 limit 1.2 0.6: 以内 以上 不超过 不要超过 别超过 超过 最多 至少 超 之间 满
this 0.1 -0.2: 这 这个 这些 这次 这篇 这首 这段 这份 这张 这句 这本 这种 上面 下面 以下 下文 第一
第二 第三 刚才 这里 此 该 其中 that -0.9 -0.9: 那 那个 now 0.5 0.0: 现在 今天 明天 昨天 已 已经 上次
正在 刚 晚上 早上 下午 周末 周五 小时候 past 0.3 0.2: 了 过 着 final -2.3 -2.3: 吧 啊 呀 哦 啦 嘛
哈哈 degree 0.4 -0.5: 很 太 真 好 挺 非常 特别 十分 更 最 比较 有点 真的 其实 可是 当然
one -0.2 0.7: 一下 一个 一首 一份 一段 一次 一点 一些 一位 一种 一样 一起 一遍 一句 一天 一条 一名
make -0.8 -0.8: 写一 生成一 做一 出一 列一 设计一 编写一 推荐一 写一首 给我一 帮我查 总结一下
解释一下 介绍一下 翻译成 看看 改成 is 0.1 -0.2: 是 有 为 属于 叫 成 像 即 还是 存在
because -0.2 0.1: 因为 因 所以 但是 但 而且 而 那么 例如 就是 不过 然后 结果 却 可 为了
of 0.1 0.2: 的 地 之 get 0.0 0.2: 得 地方 into -0.1 0.0: 把 将 让 使 令 由 从 在 对 跟 和 与 向 往
里 上 中 内 answer 1.6 1.2: 回答 答 回复 回应 回 聊 聊天 谈 说话 对话 交流 道歉 夸 提问
say 1.0 0.2: 说 讲 解释 说明 描述 介绍 翻译 翻 译 念 称 提 述 评 论 透露 编 猜 建议 推荐 举 骂 总结
write 0.5 0.6: 写 标 列 注 附 带 加 记 填 排 引 大写 小写 缩进 空格 粗 拼 use 1.4 0.6: 用 使用 采用
按 按照 照 根据 依据 参考 遵循 作为 算 走 套 keep 0.4 -0.3: 保持 保留 确保 保证 控制 限制 留 守 保
check 0.2 1.0: 检查 确认 核 验 查 审 检 测 测试 ask -0.1 0.5: 问 询问 提示 提醒 警告 通知 报
act -0.2 -0.2: 扮演 演 send -1.0 0.1: 发 发给 寄 抄送 转 发布 交 传 递 送 投 推送 put 0.2 0.1: 放 存
堆 置 贴 导出 归 分类 收 change 0.3 0.3: 改 修改 动 删 换 更新 合并 拆 覆盖 新增 命名 调
run -0.3 -0.1: 跑 运行 执行 提交 推 上线 调用 装 备份 构建 实现 处理 编写 生成 返回 输出 定义 配置
设计 完成 展示 显示 停 加密 注册 choose -0.2 0.0: 挑 选 找 买 订 安排 约 付 看 搜 付款 点 取
order -0.2 -0.3: 基于 添加 注明 列出 附上 引用 分析 判断 制定 帮助 支持 验证 启动 区分 对比 评估
提取 复用 同步 记录 组织 开发 讨论 创造 创建 give 0.7 -0.2: 给 给出 提供 出 serve 0.3 0.3: 考虑 引导
避开 text -0.6 0.6: 词 句 段 页 行 标题 标点 格式 图 表 文 章 节 字 例 案 尾 开头 结论 摘要 重点
来源 步骤 理由 链接 题 稿 诗 语气 风格 话 术语 表情 感叹号 号 形容词 表格 列表 单子 清单 目录 内容
名 code -0.5 0.4: 代码 注释 变量 函数 接口 参数 组件 模块 分支 仓库 库 日志 脚本 依赖 文件 路径 异常
报错 错误 类型 密钥 密码 环境 线上 缓存 页面 按钮 字段 数据 数据库 框架 工具 方法 码 件 键 端 口
amount -0.3 0.0: 价 额 钱 币 元 块 率 数 数字 单位 日期 时间 小数 度 斤 克 税 温 重 量 分钟
job -0.6 0.0: 邮件 信 周报 合同 发票 账 文案 简历 订单 快递 航班 酒店 票 药 病 法 作业 单词 群 电话
隐私 名字 地址 项目 任务 方案 计划 论文 会议 课 货 班 险 food -0.6 -0.6: 菜 饭 盐 糖 油 辣 肉 奶 酒
茶 面 葱 咖啡 素 role -0.8 -0.2: 角色 故事 小说 游戏 结局 猫 面试官 局 世界观 style 0.3 -0.3: 简短
简洁 简单 详细 正式 短 长 客气 专业 准确 清楚 lang 0.9 0.3: 英文 中文 英语 法语 简体 下划线
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
2.2: begin call_me 2.0: begin [thing] gap must 1.6: i gap hate 1.5: of gap [forbid], is gap he,
limit gap number 1.4: can gap of, begin from_now 1.3: you gap is 1.2: latin end, [thing] gap number,
[do] gap before 1.1: begin [bars], dou gap [do], write end, later bie 1.0: [do], use gap latin,
plain [^only uniform]*[only uniform], begin [forbid] 0.9: [thing], [do] gap when,
plain [each all from_now ever] [^stop]*[do], begin we 0.8: [thing] gap want, i gap degree
0.7: [forbid] gap other, [thing] gap [forbid], [do] gap asks, begin i_do 0.6: [thing] gap use,
other gap must 0.5: [thing] gap [thing] 0.4: ^[^i he past this that now asks]*$, [do] gap into,
then gap [do] 0.3: plain [^bars]*[bars] 0.2: [do] gap [do], [thing] end -0.3: [do] gap [thing],
.{8}, he gap other -0.4: other gap of -0.5: latin gap other, other gap can -0.6: later [do],
other gap role, ban gap other, this gap [do] -0.7: is gap [do] -0.8: later other, into gap of,
degree gap other, other gap answer, i gap [do] -0.9: begin this, begin give_me, begin you_do,
past gap other -1.0: because gap other, begin say, begin he -1.1: .{20} -1.2: other gap all,
begin degree, begin make -1.3: .{14}, also gap [thing] -1.4: other gap style, we gap [do],
i gap then, begin you, past gap [thing] -1.6: .{5} -1.7: begin asks, you end -1.9: begin because
-2.1: ^.?.?.?.$, past end -2.3: asks end
"""
_IN_PROMPTS: Final = """
1.8: .{14}, no gap [do] 1.3: .{20} 1.0: plain [^bars]*[bars] 0.9: begin [do] 0.6: [thing] gap other
0.5: [do], ^.?.?.?.$ 0.4: other gap [thing], other gap text -0.7: [thing] gap [do]
"""
# What a sentence is about: writing, numbers and files lean to rules, feelings and weather to talk.
_LEANS: Final = """
2.0: 侦 1.9: 短讲勿 1.7: 扮 1.6: 批喊骂宁 1.5: 译竖催 1.4: 语按就料 1.3: 注推叫锁屏拦 1.2: 留维都律
唱替鞋脱糊漏 1.1: 窗聊敏先删号摘险拍零 1.0: 数用别清最联例随记里稿周软箱 0.9: 复象必写缩空角谁菜断敬
顺素抄 0.8: 接或只改单位精认称给税价货盘醒亲附哦幕呼急逗季 0.7: 返令含荐答近科请挑跳准轮隔冷钥透掉职
半 0.6: 类值标进组禁优消终外尾更从我期指三教责候习邮线公粗九展友避懂水订运 0.5: 不要直码录库变反开结
过网程息务后当再日图选议慢源歌孩音异午露晚界 0.4: 词量字统合工许每关放引退第四红远医诉热卡夜 0.3: 式
须格题测新体读分完步少听老客份住限 0.2: 对提论文交本前比小额发同像默算十 -0.2: 件代包由任人帮常把告
-0.3: 与非明天加实术试做户个意考吃跟跑今付书 -0.4: 现据所中严应生言制其动重超度输助容身买年喜药爱证
广京 -0.5: 使无行置境在响一检效求影这自该经择好深没质验述适系师子办台油送差传活 -0.6: 得有见风模细能
可查正致状尽望找些起咱钟介课国几足养怕 -0.7: 为如作下失需般段建计理句学者觉来带张欢洗此育眼牛离妈美
忙贵呢火鱼昨拿挺 -0.8: 示已调装根相商您哈黄肯什服青满万怀女阳纸北康婚 -0.9: 是口立感键率然想还获连饭
忘害儿神各管便兴弟担敢疗 -1.0: 特性布会他大但规你钱电施利走星杯峰乱又怪 -1.1: 节和整定索束那么斯切冲
-1.2: 参至于心增们刚校取光快缓啊它 -1.3: 了笔且休 -1.4: 识平首 -1.5: 信 -1.6: 力 -1.8: 集她 -1.9: 吗
很 -2.3: 去
"""
# Two characters side by side, `^` before the first. Ends are left out: a full stop tells nothing.
_PAIRS: Final = """
2.5: 里你 2.2: 当我 2.1: 我希 1.9: ^孩 不吃 方案 最小 1.8: 一律 你会 间要 须是 1.7: 保持 当天 我出
过不 都得 1.6: 一行 不说 们这 开会 我将 的内 要是 问我 ，你 ，您 1.5: ^查 一屏 中文 为您 之前 加粗
向我 回复 小数 您提 里不 1.4: ^账 候带 停下 前， 单独 的酒 要关 1.3: ^命 ^维 ^跟 两次 剩菜 务必 吃清
始终 季的 安排 打码 是指 概不 的表 词， 越好 都要 金额 ：不 1.2: ^宁 ^报 ^文 ^时 三条 不准 不放 个方
了就 何回 写全 友好 团队 在最 字给 就换 左撇 开头 得有 必须 您应 接口 撇子 旁白 早上 望你 机器 求，
注明 用公 直说 真， 紧急 统一 要有 视角 评论 键字 1.1: ^出 ^机 ^路 ^预 上线 不写 个选 举例 事别 以内
候别 列一 别信 别再 别给 受伤 同意 在二 处理 子来 度的 我老 晚饭 有就 比喻 求： 病， 知我 简洁 而不
货， 过期 附上 1.0: ^周 ^家 ^禁 ^金 ^音 一周 下的 下面 不收 不确 体重 先看 分开 制在 前先 功能 动续
只买 名都 周五 喊我 字段 就行 布尔 总得 您将 我喜 我当 我想 排序 提醒 改动 改进 放在 时区 是买 是热
替我 标出 点以 用简 电费 的来 的消 矩： 短句 称呼 脏话 行为 衣服 设定 说谢 请勿 里总 非我 顺手 预算
，别 ，照 0.9: ^发 ^哦 ^故 ^水 ^没 ^涉 ^花 ^默 不喜 不带 不引 不看 九点 买东 了再 争对 人一 们是
会给 会议 作业 你当 你来 做完 免使 再回 别超 只认 呼我 固定 字后 完之 家长 容词 少来 就说 常不 意，
我心 我念 我更 摘要 日期 更新 有新 水电 注解 清淡 用英 的事 的信 相关 看的 章名 续费 脚本 要写 词的
话你 该只 说到 请记 边界 音乐 须有 风险 ，先 0.8: ^只 ^可 ^所 ^旁 ^日 ^称 ^语 ^退 一句 一概 一步
一直 不接 不许 个世 为准 人名 人的 代码 你接 你都 例如 例子 先问 再讲 写清 出差 到日 发送 只读 后叫
命令 回答 国产 场景 女主 女儿 子的 孩子 对一 少用 异常 引用 形容 我说 我这 排会 插入 政治 日子 明确
是谁 果用 点， 热情 热身 理解 生产 用文 申请 的口 直是 确定 第一 结论 老人 能在 菜都 要安 视频 让他
让你 记住 话别 说法 说的 请不 路线 过一 这局 这种 进去 都别 闲聊 默认 ，到 ，房 0.7: ^书 ^千 ^学 ^订
^重 一章 一遍 不上 东西 他们 们说 会的 作的 入新 写成 出处 别推 即使 名写 听我 在起 地的 基于 基础
如何 就一 就用 就让 工资 带上 微信 意不 我回 我是 改完 文字 是超 是， 机， 权限 来源 格缩 步， 的任
的命 的地 的就 的行 的都 目录 知识 繁体 结果 缩进 能自 规矩 角色 诉你 语回 跑步 过三 过两 运行 这边
通知 避开 醒我 里别 重启 题不 ，一 ，因 0.6: ^从 ^例 ^做 ^合 ^配 ^除 一次 上次 不允 不清 两人 个月
个要 么， 书里 了你 人称 人问 今后 从现 们家 你一 依赖 保留 允许 八点 关的 化的 医生 升级 原则 句，
只吃 叹号 周一 周三 命名 四个 因为 大写 如果 工具 引入 想让 成本 我在 我对 所有 抄送 括号 拼音 推荐
文件 早餐 是三 期的 本人 次出 每周 比较 气要 测试 消息 生的 用这 百分 的东 的文 的标 的语 的选 真实
答我 简体 算， 组件 联系 能会 要给 解决 语气 语法 说话 调用 超过 过敏 这样 都给 都说 配置 问， 黑体
，周 ，而 ，谁 0.5: ^优 ^客 ^尽 ^布 ^房 ^有 ^每 ^表 一天 上午 不要 主角 么都 也要 以及 以后 们公
体中 你只 做的 先写 内部 出一 别写 别用 到我 前提 变量 可能 后都 后面 含税 哪个 地方 备份 宠物 客人
家的 已经 帮助 快递 我自 我记 扮演 换个 接受 控制 日志 是哪 有我 本地 每天 照片 用第 留一 的代 的时
的问 结尾 编号 输入 还有 重点 ，其 ，没 ，说 0.4: ^少 ^改 ^早 ^晚 ^标 ^讲 ^说 ^这 一用 下来 之间
习惯 了， 先给 出来 前面 发票 合并 后不 喝水 在哪 在的 字幕 年的 我小 我需 手机 提前 文， 是个 普通
有人 注释 的别 空格 答， 表情 训练 资料 返回 远不 退款 选项 都用 ，不 0.3: 三次 优先 住， 你是 单位
发货 子， 是这 的角 -0.3: 一下 不同 价格 其实 北京 我要 版本 -0.4: ^以 ^回 ^大 ^明 ^第 一首 今天
他说 以上 你的 发生 吃饭 完成 支持 方法 昨天 最近 有点 机会 没有 的最 知道 输出 还是 这是 选择 项目
，在 ，谢 ，还 ，都 -0.5: ^不 ^此 ^注 ^用 ^答 一个 一封 一致 一般 两个 主题 么办 他的 以下 位置 列表
加上 后的 完全 密码 小时 开心 心里 我先 所以 描述 教育 文写 文的 是你 有些 朋友 生， 看看 答案 给你
要太 说是 这些 适合 都有 页面 ，那 -0.6: ^保 ^其 ^多 ^希 ^需 三个 不了 不出 么好 买了 了三 们只 你们
你说 修改 关于 写了 到这 句话 后再 后， 外， 妈妈 安装 就会 我发 我就 我跟 找到 新的 早点 有时 每一
每个 用一 用的 的情 管理 结束 编写 肯定 要放 要超 论文 起来 跟你 身份 这份 通过 那就 重新 需要 ，保
，要 -0.7: ^关 ^后 ^必 ^接 ^检 ^看 ^让 一家 不一 不行 个标 人都 今晚 以我 们不 你先 使用 加油 发现
只要 号码 告诉 声音 字数 对我 就不 应用 开始 我今 我以 我们 改变 方面 概念 现有 的意 系统 经验 能说
要不 计算 认为 说， 跟我 过， 运动 部分 ，每 ，让 -0.8: ^医 ^帮 ^总 ^数 ^老 ^都 一名 下次 下这 专家
代表 你必 准备 同学 学习 屏幕 我也 我把 文章 标准 用三 电影 的列 看过 答问 给出 西都 要用 要紧 讲，
设计 说你 说我 说过 这里 进入 题， ，给 -0.9: ^会 ^使 ^法 上班 不住 不对 不让 个字 五个 们都 供的
写代 写字 别字 十二 发展 回来 我给 打算 报告 教学 文案 明天 是我 最好 没用 注意 简单 要求 让我 语义
里面 错别 -1.0: ^是 ^正 ^那 上都 下周 了一 人家 你可 候要 包含 单词 名称 我每 我没 改写 有一 没人
生成 的一 直接 着急 覆盖 订单 请给 采用 ，只 ，可 ，看 -1.1: ^再 ^好 ^按 ^给 先别 内容 参考 只需
回家 大家 得不 排队 是一 用于 试用 说要 都没 -1.2: ^就 ^要 不动 不错 空间 识别 -1.3: 要先 规定
-1.4: 你别 我都 标记 清单 -1.5: 主要 写一 前后 只是 给定 问题 -1.6: 当前 -1.7: 先生 按照 -1.8: 天都
打开 -2.0: ^别
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
_TOKEN: Final = re.compile(rf"{longest_of(CLASSES.of_word)}|{_LATIN.pattern}|\S")
_OTHERS: Final = re.compile(f"{CLASSES.letter('other')}+")


def _kind_of(word: str) -> str:
    return "quote" if word[0] == MASK else "latin" if _LATIN.match(word) else "other"


_LETTERS: Final = Letters(CLASSES, _kind_of)


@lru_cache(maxsize=256)  # a sentence is read as a whole, by its beginning and by its clauses
def _letters(words: str) -> str:
    """The classes of known words, of Latin and of quoted ones, and one for each run of others."""
    return _OTHERS.sub(CLASSES.letter("other"), _LETTERS.of(_TOKEN.findall(words)))


_WEIGHTS: Final = {
    **{char: weight for weight, chars in _weighed(_LEANS) for char in chars.strip()},
    **{pair: weight for weight, pairs in _weighed(_PAIRS) for pair in pairs.split()},
}
_KNOWN: Final = frozenset(_WEIGHTS)


def _read(sentence: str) -> tuple[str, str]:
    """A sentence as its characters, and the classes of its words."""
    return sentence, _letters(sentence)


def _leaning(characters: Sequence[str], _letters: str) -> float:
    """What the characters of a sentence and their pairs weigh together, each once."""
    pairs = map(add, f"^{characters}", f"{characters}$")
    return sum(map(_WEIGHTS.__getitem__, _KNOWN.intersection(chain(characters, pairs))))


_ALLERGY: Final = re.compile("对[^，,。不]{1,6}过敏")
_CLAUSE_ENDS: Final = re.compile("[，；,;]")
_EXPLICIT: Final = frozenset(CLASSES.pattern_of("ban never limit must"))
_ASKING: Final = ("?", "？", "吗", "呢")
_LEAST_CHARS: Final = 4  # of a clause; chosen: a shorter one names nothing
# What such a clause and a sentence that opens so have to weigh; chosen: a plain ban that is missed
# costs more than a sentence too many.
_OF_CLAUSE: Final = -2.0
_OF_OPENING: Final = -3.0


class _Chinese(Language):
    """Chinese, whose sentences run on: of a user, a clause or a beginning that bans is enough."""

    def is_rule(self, sentence: str, *, is_prompt: bool, above: float = 0.0) -> bool:
        if super().is_rule(sentence, is_prompt=is_prompt, above=above):
            return True
        if is_prompt or sentence.rstrip().endswith(_ASKING):
            return False
        clauses = [clause.strip() for clause in _CLAUSE_ENDS.split(sentence)]
        return (
            bool(_ALLERGY.search(sentence))
            or self._opens(sentence)
            or (len(clauses) > 1 and any(map(self._bans, clauses)))
        )

    def _opens(self, sentence: str) -> bool:
        """Whether it opens with such a word, as few sentences do that lay nothing down."""
        if self.letters(sentence)[:1] not in _EXPLICIT:
            return False
        return super().is_rule(sentence, is_prompt=False, above=_OF_OPENING)

    def _bans(self, clause: str) -> bool:
        if len(clause) < _LEAST_CHARS or _EXPLICIT.isdisjoint(self.letters(clause)):
            return False
        return super().is_rule(clause, is_prompt=False, above=_OF_CLAUSE)


CHINESE: Final = _Chinese(
    _read,
    said=_leaning,
    cues=CLASSES.cues("\n".join(_cues())),
    reach=3.5,  # more is needed for 2 % of the rules that are found
    signs=CLASSES.pattern_of(" ".join(row[0] for row in _ROWS if max(map(float, row[1:3])) > 0)),
    forbids=CLASSES.pattern_of("no none never ban bie avoid need_not until"),
    prompt=-1.72,
    user=-3.42,
)
