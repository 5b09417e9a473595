"""Examples of standing instructions, of what only looks like one, and of what changes them.

Each line of a list is the reason and a sentence. They show how sentences are read; they measure
nothing, since the cues were made with them in view.
"""

from __future__ import annotations

from typing import Final

RULES_EN: Final = """
a ban: Don't use contractions in letters
a ban: Don't repeat my question back to me
a ban: Don't touch anything under vendor
a condition with an order: When I say ship it, run the tests and then deploy
a condition with an order: When I paste an error, explain the cause before the fix
a condition with an order: When I send a photo, describe it in two sentences
a duty of a kind of things: Commits need a ticket number
a duty of a kind of things: Reports should open with the numbers
a duty of a kind of things: Functions must have docstrings
a need that lasts: I'm vegan, so leave out eggs and milk
a wish about the speaker: Keep it formal with my boss and casual with me
a wish about the speaker: Use simple English with me
a wish about the speaker: Reports go to Anna, not to me
an order to stop or avoid: I hate passive voice, so avoid it in my texts
an order to stop or avoid: Stop adding comments to my code
an order to stop or avoid: Stop adding comments to my code
an order without a verb: Headings in title case, nothing fancy
an order without a verb: Euros only, no dollars
how a kind of thing is done: Put the sources at the end of each reply
how a kind of thing is done: Keep variable names short
how a kind of thing is done: Keep replies under five lines
it holds for every answer: At the end of each message give me a summary
it holds for every answer: All your answers in French
it holds for the whole conversation: In this repo the tests come first
it holds for the whole conversation: Act as a strict teacher in this chat
it holds for the whole conversation: Stay in character for the rest of this chat
it is forbidden: You are not allowed to look at the solutions
it says until when: Talk like a pirate until I say stop
it says until when: Don't write code unless I ask
somebody must not: You should always show the formula
somebody must not: You must not mention the price
the roles of both: I'll send words and you'll give me a rhyme for each
what answers should be like: Your answers should fit on one screen
what answers should be like: Your replies must be in German
“always” or “never” before an order: Never round money
“always” or “never” before an order: never call me by my first name
“always” or “never” before an order: Always check the calendar first
“only” limits an order: Treat this folder as read only
“only” limits an order: Only suggest things under 20 euros
“only” limits an order: Only use data from the table
"""
NOT_RULES_EN: Final = """
it asks: If I change the font, does the layout break?
it asks: Answer in one word: is it raining?
it asks: Can you always see the sea from there?
it asks: Could you send me the address?
it asks: Do I always have to pay a fee?
it is for this once: Please book a table for tonight
it is for this once: Please find attached the report
it is for this once: Use this photo for the poster
it is for this once: Put the chairs over there
it is for this once: Write a poem about rain
it is said to a person, about nothing that lasts: Never heard of it
it is said to a person, about nothing that lasts: You must be joking
it is said to a person, about nothing that lasts: You never told me that
it is said to a person, about nothing that lasts: Your order should arrive tomorrow
it is said to a person, about nothing that lasts: No luggage, just this bag
it tells of the past or of a habit: I never know what to cook
it tells of the past or of a habit: He only speaks German with his mother
it tells of the past or of a habit: My teacher told us to always show our work
it tells of the past or of a habit: We only had one car
it tells of the past or of a habit: When I was young we had no phone
"""
RULES_ZH: Final = """
a ban: 不要道歉，直接改
a ban: 别给我的代码加注释
a ban: 不要叫我先生
a condition with an order: 我喜欢开头就讲结论的回答
a condition with an order: 我说“上线”你就先跑测试再部署
a condition with an order: 我发照片，你就用两句话描述
a duty: 回复必须用德语
a duty: 必须先运行测试再提交。
a duty: 以后每次都要附上来源。
a need that lasts: 我吃素，别推荐有肉的
a need that lasts: 记住，我对花生过敏。
a need that lasts: 我对青霉素过敏，开药时务必避开。
a preference: 我不想看到英文缩写
a preference: 我讨厌被动句，别用
a word that only bans or obliges: 钱数永远不要四舍五入
a word that only bans or obliges: 一律抄送王芳
a word that only bans or obliges: 密码不得写进日志
it holds always: 请一直用英语和我交流。
it holds for all of a kind: 所有价格用人民币
it holds for all of a kind: 每次我传文件，你都查一下错别字
it holds for all of a kind: 每条消息末尾给个小结
it says from when on: 每个数字后面都带单位
it says from when on: 从现在起用意大利语回答
it says from when on: 从现在起请用中文回答。
something to be done first: 每次提交之前跑一遍检查
something to be done first: 每次答完问我还要不要更多
something to be done first: 订东西之前先跟我确认
what answers or texts are like: 价格写人民币就行，不要美元
what answers or texts are like: 标题别超过十个字
what answers or texts are like: 来源放在最后
“only” limits an order: 我只能看纯文本，别用markdown
“only” limits an order: 只改我点名的文件
“only” limits an order: 只能使用公司内部的接口。
"""
NOT_RULES_ZH: Final = """
it asks: 我从来不知道做什么菜
it asks: 不会吧，真的吗
it asks: 你不喜欢吗
it asks: 你能保守秘密吗
it asks: 你喜欢茶还是咖啡
it is for this once: 请给我订早一点的航班
it is for this once: 请改一下第二行
it is for this once: 刷我的卡
it is for this once: 去看一下烤箱
it is for this once: 再短一点
it is said to a person, about nothing that lasts: 你点按钮的时候页面会刷新
it is said to a person, about nothing that lasts: 你一定是在开玩笑
it is said to a person, about nothing that lasts: 你从没跟我说过
it is said to a person, about nothing that lasts: 不会吧，真的吗
it is said to a person, about nothing that lasts: 不用找了
it tells of the past or of a habit: 我从来不知道做什么菜
it tells of the past or of a habit: 他们周日从来不接电话
it tells of the past or of a habit: 以前我们总在那家咖啡馆见
it tells of the past or of a habit: 我打开文件的时候是空的
it tells of the past or of a habit: 每场比赛之后都有聚会
"""
# A rule, and a sentence that takes it back or its place.
CHANGED: Final[tuple[tuple[str, str], ...]] = (
    (
        "Never commit secrets to the repository.",
        "Test secrets can be committed now, they are fake.",
    ),
    ("Only use the blue brand colour for links.", "The brand colour for links is now green."),
    ("Do not use contractions in letters.", "Contractions in letters are okay again."),
    (
        "Every invoice must carry a purchase number.",
        "The purchase number is not required on invoices any more.",
    ),
    ("Always sort the list by price.", "Instead of by price, sort the list by rating."),
    ("Never plan anything before 11 am.", "Planning things before 11 am is possible again."),
    ("All guests must sign the visitor book.", "Guests no longer have to sign the visitor book."),
    (
        "Always use the lift for deliveries.",
        "The lift is being replaced, so deliveries should use the stairs from Monday on.",
    ),
    ("Don't put onions in my salad.", "Onions in my salad are fine with me now."),
    ("Book only refundable tickets.", "Non-refundable tickets are okay too."),
    ("Write all emails in a formal tone.", "Drop the formal tone in emails."),
    ("Never lend out the projector.", "The projector may be lent out again."),
    ("链接只用品牌蓝。", "链接的颜色改成绿色。"),
    ("信里不要用缩写。", "信里用缩写也没关系了。"),
    ("每张发票都要写采购号。", "发票不用写采购号了。"),
    ("列表必须按价格排序。", "列表别按价格了，按评分排序。"),
    ("客人必须在访客簿上签字。", "客人不必再签访客簿。"),
    ("会议纪要一律用英文写。", "会议纪要改用中文写。"),
    ("送货一律走货梯。", "货梯在换，送货改走楼梯。"),
    ("沙拉里不要放洋葱。", "沙拉里放点洋葱也行。"),
    ("备份必须每天两点跑。", "备份改到四点跑。"),
    ("报错信息必须用通俗的话写。", "报错信息以后改回错误代码。"),
    ("分支必须按工单命名。", "分支命名不强制按工单了。"),
    ("航班一律从巴塞尔出发。", "航班不一定从巴塞尔出发了。"),
)
# A rule, and a sentence that only speaks of the same.
MENTIONED: Final[tuple[tuple[str, str], ...]] = (
    ("Never commit secrets to the repository.", "It is no longer a secret that Tom is leaving."),
    ("Always answer with a table.", "The table in the hall can be moved to the kitchen now."),
    (
        "Only use the blue brand colour for links.",
        "I changed the colour of my bike from blue to green.",
    ),
    (
        "Do not use contractions in letters.",
        "The contractions stopped an hour ago, the doctor is content.",
    ),
    ("Every invoice must carry a purchase number.", "The number of the room changed to 12."),
    ("Always sort the list by price.", "Take milk off the list, we don't need it any more."),
    ("Never plan anything before 11 am.", "The plan of the house is okay now."),
    ("All guests must sign the visitor book.", "The book on the table can go back to the library."),
    ("Always use the lift for deliveries.", "You can stop waiting for the delivery, it came."),
    ("Don't put onions in my salad.", "The salad was too salty today."),
    ("Book only refundable tickets.", "Cancel the two tickets for Sunday."),
    ("Write all emails in a formal tone.", "This email can be deleted, it is spam."),
    ("不要把密钥提交到仓库。", "仓库的门锁换了。"),
    ("回答一律用表格。", "大厅的桌子可以搬到厨房了。"),
    ("链接只用品牌蓝。", "我的自行车从蓝色换成绿色了。"),
    ("信里不要用缩写。", "昨天那封信不用寄了。"),
    ("每张发票都要写采购号。", "房间的号码改成十二了。"),
    ("列表必须按价格排序。", "清单上的牛奶不用买了。"),
    ("客人必须在访客簿上签字。", "桌上的书可以还给图书馆了。"),
    ("会议纪要一律用英文写。", "昨天的会议取消了。"),
    ("沙拉里不要放洋葱。", "今天的沙拉太咸了。"),
    ("备份必须每天两点跑。", "晚上太冷，我不去跑步了。"),
    ("报错信息必须用通俗的话写。", "那个报错现在没有了。"),
    ("分支必须按工单命名。", "屋顶那根分支不用管了。"),
)


def lines(listed: str) -> list[tuple[str, str]]:
    """The reasons and the sentences of a list."""
    return [
        (reason, sentence)
        for reason, _, sentence in (line.partition(": ") for line in listed.strip().splitlines())
    ]
