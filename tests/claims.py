"""Sentences of summaries with the conversations they are about, written by hand for these tests.

Half of them follow from the conversation in other words; the other half claim what nobody said:
another subject, a result that did not come, the opposite of what was said.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.messages.values import Message, Role, text_message


@dataclass(frozen=True)
class Conversation:
    """What was said, and sentences that follow from it or do not."""

    said: tuple[tuple[Role, str], ...]
    follows: tuple[str, ...]
    made_up: tuple[str, ...]

    @property
    def messages(self) -> list[Message]:
        """The messages, oldest first."""
        return [text_message(role, text) for role, text in self.said]


CONVERSATIONS = (
    Conversation(
        said=(
            ("user", "The nightly export to the warehouse keeps timing out. Can you look at it?"),
            ("assistant", "The query joins orders and customers without an index on customer_id."),
            ("user", "Right. Please add the index, but don't touch the schema of orders."),
            ("assistant", "I created idx_orders_customer. The export now takes 40 seconds."),
            ("user", "Great. We still have to decide whether to keep the old cron job."),
            ("assistant", "I suggest we look at that on Thursday with Priya."),
        ),
        follows=(
            "The export job ran into timeouts because an index was missing.",
            "An index on customer_id was created; the export finishes in 40 seconds now.",
            "The layout of the orders table must stay untouched.",
            "What happens to the old cron job is still open.",
        ),
        made_up=(
            "The user wants weekly reports sent to the finance department.",
            "All unit tests pass after the change.",
            "The new index was deployed to production.",
            "The assistant rewrote the frontend in TypeScript.",
        ),
    ),
    Conversation(
        said=(
            ("user", "My sister is visiting in May and she is allergic to nuts."),
            ("assistant", "Noted. Shall I look for restaurants near your flat in Lisbon?"),
            ("user", "Yes, somewhere quiet, and not more than 30 euros each."),
            ("assistant", "Tasca do Zé is small and calm, about 25 euros a head."),
            ("user", "Sounds lovely. Could you book a table for the 12th?"),
            ("assistant", "I can't make phone calls, but they take reservations by email."),
        ),
        follows=(
            "Her sister comes in May and can't eat nuts.",
            "They look for a calm restaurant in Lisbon for at most 30 euros per person.",
            "Tasca do Zé was suggested, at roughly 25 euros each.",
            "A table has to be reserved by email, since the assistant cannot call.",
        ),
        made_up=(
            "The table for the 12th has been booked.",
            "Her brother is a vegetarian chef in Madrid.",
            "The sister is not allergic to nuts.",
            "They agreed to cook dinner at home and invite the neighbours.",
        ),
    ),
    Conversation(
        said=(
            ("user", "Login fails for users with a plus sign in their email address."),
            ("assistant", "The form decodes + as a blank. I changed parse_form to keep it."),
            ("user", "Did the tests run?"),
            ("tool", "collected 48 items\n46 passed, 2 failed: test_reset, test_invite"),
            ("assistant", "Two tests still fail, test_reset and test_invite. I look into them."),
            ("user", "OK. Don't merge before both are green."),
        ),
        follows=(
            "People whose address contains a plus sign couldn't log in.",
            "parse_form no longer turns + into a blank.",
            "Two of the tests, test_reset and test_invite, are failing.",
            "Merging must wait until both tests are green.",
        ),
        made_up=(
            "The branch was merged.",
            "The user asked for a dark mode on the settings page.",
            "The customer approved the invoice.",
            "The database was migrated to a larger server over the weekend.",
        ),
    ),
    Conversation(
        said=(
            ("user", "I'm learning the cello and practise in the evening after work."),
            ("assistant", "How long do you usually practise?"),
            ("user", "Half an hour. My teacher says I should do scales first, which I hate."),
            ("assistant", "Short scales before a piece you enjoy often help."),
            ("user", "I'd like to play the Bach prelude at my father's birthday in October."),
            ("assistant", "Then let's plan four bars a week from now on."),
        ),
        follows=(
            "The user plays the cello for 30 minutes in the evenings.",
            "Scales are something the user dislikes, although the teacher recommends them.",
            "The aim is to perform the Bach prelude for the father's birthday in October.",
            "Four bars per week are planned.",
        ),
        made_up=(
            "The user sold the old piano to a neighbour.",
            "The user likes to swim in cold lakes before breakfast.",
            "A concert hall has been rented and the tickets were sent out.",
            "The teacher recommended to buy a better bow first.",
        ),
    ),
    Conversation(
        said=(
            ("user", "We should use Redis for the session cache."),
            ("assistant", "Redis needs another server. Memcached would do as well."),
            ("user", "No, let's not use Memcached, ops doesn't know it. Redis it is."),
            ("assistant", "Agreed. I set the expiry to 20 minutes in settings.py."),
            ("user", "Make that configurable. And who pays for the new server?"),
            ("assistant", "I asked Tom about the budget, he hasn't answered yet."),
        ),
        follows=(
            "Redis was chosen for caching sessions, because operations has no experience with "
            "Memcached.",
            "Sessions expire after 20 minutes, set in settings.py.",
            "The expiry time has to become configurable.",
            "Tom has yet to reply about who funds the server.",
        ),
        made_up=(
            "They decided to use Memcached.",
            "Tom approved the budget.",
            "Marketing plans a newsletter about the spring campaign.",
            "The load balancer drops half of the requests at night.",
        ),
    ),
    Conversation(
        said=(
            ("user", "Please cancel order 88213, the shoes are too small."),
            ("tool", '{"order": 88213, "status": "shipped", "carrier": "DPD"}'),
            ("assistant", "It has shipped already, so I cannot cancel it. You can send it back."),
            ("user", "Fine. What does the return cost me?"),
            ("assistant", "Returns are free within 30 days. Shall I email you a label?"),
            ("user", "Yes please, to my work address."),
        ),
        follows=(
            "The customer wanted to cancel order 88213 since the shoes don't fit.",
            "Cancelling is impossible because the parcel is already on its way.",
            "Sending the shoes back costs nothing for 30 days.",
            "The return label should go to the customer's work address.",
        ),
        made_up=(
            "Order 88213 was cancelled.",
            "The refund was paid to the customer's credit card.",
            "The customer collects stamps and old maps.",
            "The customer complained about a rude driver and a torn carpet.",
        ),
    ),
    Conversation(
        said=(
            ("user", "周末想带孩子去杭州玩，住两晚，预算三千以内。"),
            ("assistant", "可以住西湖边的民宿，一晚大约六百元。"),
            ("user", "孩子晕车，别安排太长的车程。"),
            ("assistant", "那就只在西湖附近活动，坐高铁过去一小时。"),
            ("user", "好的。民宿先别订，我再和太太商量一下。"),
            ("assistant", "明白，等你们商量好再说。"),
        ),
        follows=(
            "用户计划周末带孩子到杭州住两晚，花费不超过三千。",
            "孩子容易晕车，因此车程要短。",
            "交通选择高铁，活动范围在西湖附近。",
            "是否预订民宿要等与太太商量之后。",
        ),
        made_up=(
            "民宿已经订好。",
            "用户打算给孩子报名钢琴比赛。",
            "公司要求下周提交财务报表。",
            "用户准备卖掉旧汽车换一辆电动车。",
        ),
    ),
    Conversation(
        said=(
            ("user", "接口 /api/order 返回 500，帮我查一下原因。"),
            ("assistant", "日志显示是空指针，地址字段可能为空。"),
            ("user", "加个判断就行，不要改数据库。"),
            ("assistant", "我加了空值判断，本地请求返回 200 了，单元测试还没跑。"),
            ("user", "跑完测试再告诉我，今天不要上线。"),
            ("assistant", "好的，测试有结果我就说。"),
        ),
        follows=(
            "接口 /api/order 报 500，是因为地址为空时出现空指针。",
            "数据库保持不变，只增加了空值判断。",
            "单元测试尚未运行。",
            "用户要求今天先不上线。",
        ),
        made_up=(
            "单元测试已全部通过。",
            "修改已经部署上线。",
            "设计师重新绘制了首页的插图。",
            "团队讨论了年会的抽奖奖品。",
        ),
    ),
    Conversation(
        said=(
            ("user", "我最近在减脂，晚饭想吃清淡一点，不吃猪肉。"),
            ("assistant", "可以试试清蒸鲈鱼配西兰花，大约四百大卡。"),
            ("user", "鱼可以，西兰花吃腻了，换一个蔬菜。"),
            ("assistant", "换成芦笋怎么样？焯水两分钟就好。"),
            ("user", "行。再给我一个早餐，十分钟内能做好的。"),
            ("assistant", "燕麦加酸奶和蓝莓，五分钟。"),
        ),
        follows=(
            "用户正在减脂，晚餐要清淡，不要猪肉。",
            "晚饭定为清蒸鲈鱼，蔬菜由西兰花换成芦笋。",
            "早餐要求十分钟以内完成。",
            "建议的早餐是燕麦、酸奶配蓝莓。",
        ),
        made_up=(
            "用户每天早上跑步十公里备战马拉松。",
            "用户喜欢吃猪肉。",
            "医生诊断用户患有高血压，需要长期服药。",
            "厨房的抽油烟机坏了，约了师傅上门。",
        ),
    ),
    Conversation(
        said=(
            ("user", "论文第三章的数据要重新画图，用折线图。"),
            ("assistant", "我用 plot_ch3.py 画了折线图，保存为 fig3.pdf。"),
            ("user", "横轴应该是年份，不是月份。"),
            ("assistant", "已改成年份，图例放到了右上角。"),
            ("user", "导师还没看过，先不要投稿。"),
            ("assistant", "好，等导师的意见。"),
        ),
        follows=(
            "第三章的图用折线图重画，脚本为 plot_ch3.py，文件是 fig3.pdf。",
            "横轴由月份改为年份。",
            "图例位于右上角。",
            "投稿要等导师看过之后。",
        ),
        made_up=(
            "导师已经批准。",
            "论文已提交给期刊。",
            "用户计划去日本参加学术会议并观光。",
            "实验室新买了一台显微镜。",
        ),
    ),
)
