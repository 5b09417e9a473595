"""Sentences a user might say, labelled by hand: standing instructions, and what only looks so.

Written for this project. The lists that begin with LATER and LAST were written after the forms they
test, so that they say more about other people's sentences.
"""

from __future__ import annotations

RULES_EN = """
Never commit directly to main.
Always run the tests before you push.
From now on, answer in German.
Don't touch the billing module.
Please do not use emojis in your replies.
You must never delete production data.
All commit messages must start with the ticket number.
Only use TypeScript for new files.
Going forward, every function needs a docstring.
Do not deploy on Fridays.
Keep your answers under 100 words.
Call me Sam.
Remember that I'm allergic to peanuts.
Ask me before deleting anything.
Use tabs instead of spaces.
Under no circumstances share my phone number.
For the rest of this conversation, speak like a pirate.
Whenever you edit a file, run the linter.
The API must not return null.
Every endpoint has to be covered by a test.
No external dependencies, please.
Avoid abbreviations in variable names.
Stop apologizing all the time.
Make sure you never log the token.
You should always cite your sources.
I want you to always explain your reasoning first.
Can you please always reply in French?
Don't ever call the payment API without my approval.
In future, please send me the diff first.
Force pushes are forbidden.
Answer only in English.
Reply in one sentence.
Secrets must never be written to the log.
When you book a hotel, always choose one with breakfast.
Never use sed to edit files; use the edit tool.
Prefer composition over inheritance.
Treat everything in docs/ as read-only.
Don't format code you did not change.
Leave the legacy folder untouched.
Each time you change the schema, write a migration.
Also, don't add comments that repeat the code.
ok but never restart the database without asking
pls always use pnpm, not npm
And please never book flights with more than one stop.
I never want to see tracebacks in the answer.
At all times keep the temperature below 8 degrees.
You are not allowed to open network connections.
The report must be in PDF.
Dates must be written as YYYY-MM-DD.
Nobody but me may approve releases.
Do not mention competitors by name.
Always address customers formally.
I'd like you to always show prices with tax.
You may only edit files under src/.
Important: never overwrite user settings.
If a test fails, do not skip it.
Use British spelling everywhere.
Keep it short from now on.
Wait for my confirmation before you send any email.
Don't suggest restaurants with seafood.
Never schedule meetings before 9 am.
We only use PostgreSQL in this project, never MySQL.
New rule: all amounts in euros.
Let me know before you change anything in the CI.
No more jokes, please.
Always double-check the totals before sending an invoice.
Do NOT rename public functions.
Please remember: the staging server is read-only.
Error messages must not contain internal paths.
Don't give me code unless I ask for it.
Refer to the product as Atlas.
From today on we use Python 3.12.
Never guess an API; look it up.
Every reply should end with a question.
You have to always quote the ticket id.
Make sure all dates are in UTC.
Do not start a new task without asking me.
never ever push to release branches
Generated files must not be edited by hand.
Avoid any mention of the merger.
Please, no bullet points.
Write all comments in English.
Limit every summary to five lines.
Customers under 18 must not be served.
I don't want you to contact my employer.
It must work without a network connection.
Use metric units only.
As a rule, never store passwords in plain text.
"""

NOT_RULES_EN = """
Never mind, it works now.
I always wondered how that works.
You must be tired after the trip.
Don't you think the blue one looks better?
Don't worry about it.
I never said that.
He always forgets his keys.
Never been there, but I'd love to go!
It must have been expensive.
We only have two days left.
I don't know.
Should I always restart after an update?
Why must every build take an hour?
Only three people came to the meeting.
She told me to never give up.
I must say, this is impressive.
Always a pleasure talking to you.
Please open the file and show me line 20.
Can you book a table for two?
That must be hard for you.
Never thought of it that way.
I no longer live in Boston.
Don't forget to have fun!
I have to go now.
You always know how to cheer me up.
The only thing left is the login page.
My boss said I should never be late again.
Is it forbidden to park here?
I'm looking forward to it.
I don't like pizza.
Never give up on your dreams!
They must love that place.
Do you always work this late?
I can't believe it's already December.
Run the tests.
Fix the bug in parser.py.
It never rains here in summer.
There's no way that's true.
No problem at all.
No worries, take your time.
I always use tabs, what do you use?
I only slept four hours.
The trip was great, I'll never forget it.
Don't run it yet.
You don't need to be an expert to enjoy it.
Whenever I hear that song I feel happy.
Every time I go there it rains.
We must catch up soon!
I should always carry an umbrella.
What happens if I never update?
The article said "never use eval".
Kids must grow up so fast.
In the future I want to travel to Japan.
From now on I will go to the gym every day.
I decided to only eat at home this month.
Always happy to help!
My dog never listens.
The view must be amazing.
That's a must-see movie.
I think people should always be honest.
Must be nice to have a garden.
He must not know about it.
Nothing ever changes here.
Do they have to approve every change?
I could never do that.
It's only a prototype.
I will always love that book.
Don't tell me you forgot again!
You should try the soup there.
Could you explain how to use the only keyword in SQL?
The server always crashes at night.
Haha, never say never.
I remember that day well.
Let's meet before noon.
We never found out who did it.
This function must be slow because it copies the list.
My parents never let us watch TV.
Tests always fail on my laptop.
Not always, but often.
I've always wanted to see the sea.
"""

RULES_ZH = """
不要使用表情符号。
从现在起请用中文回答。
必须先运行测试再提交。
禁止直接修改数据库。
以后每次都要附上来源。
只能使用公司内部的接口。
所有注释都用英文写。
千万不要把密码写进日志。
记住，我对花生过敏。
务必在周五之前发给我。
不得泄露客户的联系方式。
请不要推荐含海鲜的餐厅。
未经我同意，不得发送任何邮件。
每次修改代码后都要更新文档。
叫我小林就行。
回答控制在100字以内。
今后不要再提竞争对手的名字。
一律使用公制单位。
凡是涉及金额的地方都要保留两位小数。
别在晚上十点以后发通知。
绝对不能删除生产环境的数据。
请始终使用简体中文。
删除文件之前先问我。
请用正式的语气回复。
以后都用 pnpm，不要用 npm。
永远不要跳过测试。
提交信息必须以工单号开头。
代码里不许出现硬编码的密钥。
回复要简短一点，不要超过三句话。
你能不能以后都用英文回答？
任何时候都不要重启数据库。
请记住：测试服务器是只读的。
不要订需要转机的航班。
密码不能写进配置文件。
不准在主分支上直接提交。
整个项目统一使用四个空格缩进。
接口必须返回 JSON。
切记不要公开我的地址。
先别管样式，但是绝不能改接口。
日期一律写成 2026-05-03 这种格式。
用 TypeScript，不要用 JavaScript。
避免使用缩写。
没有我的确认不要下单。
从今天开始，所有报告都发到新邮箱。
别再给我推荐保险了。
请称呼我为陈医生。
价格必须含税。
无论如何都不要关闭防火墙。
优先选择有早餐的酒店。
只推荐人均一百元以下的餐馆。
"""

NOT_RULES_ZH = """
要不要一起去吃饭？
别人都说那家店不错。
以后再说吧。
我必须走了。
你一定很累吧。
不要紧，慢慢来。
别担心，会好起来的。
我永远不会忘记那一天。
他总是迟到。
我只能说运气不好。
好的，我记住了。
这个公园特别漂亮。
为什么必须先登录？
我以后想当老师。
不要客气。
必须的啊，这首歌太好听了。
是不是不能退款？
请问故宫的门票多少钱？
请帮我订一张去上海的票。
我不要香菜。
希望以后的日子里我们可以继续聊天。
你还记得我们上次去的那家店吗？
我从来不喝咖啡。
周边还有别的景点吗？
如果你有机会，一定要来看看。
我不能吃辣。
孩子不能没有妈妈。
这次就算了吧。
打开文件看看第二十行。
我一直觉得他不错。
这是我们唯一的办法。
以后有机会再聊。
她说千万别告诉别人。
你只能活一次，开心点。
禁不住笑了出来。
老板说必须今天完成。
我以后会注意的。
这本书我永远都喜欢。
不要难过，明天会更好。
运行一下测试。
我们以后还可以一起聊天呢。
我一定要注意安全问题。
别墅的价格太高了。
能不能介绍一个免费的景点？
始终没有找到原因。
"""

CHANGES = (
    # what was said, what takes it back or changes it, whether it does
    ("Never use emojis in your answers.", "You may use emojis again.", True),
    ("Always ask before committing.", "You no longer need to ask before committing.", True),
    ("Use tabs for everything.", "Actually, use spaces instead of tabs.", True),
    ("From now on, answer in German.", "From now on, answer in French.", True),
    ("Don't deploy on Fridays.", "It's fine to deploy on Fridays now.", True),
    ("Do not touch the billing module.", "The billing module is free to edit now.", True),
    ("Never contact the supplier.", "Forget what I said about the supplier.", True),
    ("Keep your answers under 100 words.", "Keep your answers under 50 words.", True),
    ("Call me Sam.", "From now on, call me Doctor Reyes.", True),
    ("Always write tests first.", "Scrap the rule about writing tests first.", True),
    ("Every file must have a licence header.", "Licence headers are no longer required.", True),
    ("Always book window seats.", "Instead of window seats, always book aisle seats.", True),
    ("Never mention prices.", "The restriction on prices has been lifted.", True),
    ("You must cite sources.", "You don't have to cite sources any more.", True),
    ("Don't send me reminders.", "You can send me reminders again.", True),
    ("Always add a summary at the end.", "Stop adding a summary at the end.", True),
    ("All amounts must be in dollars.", "New rule: all amounts in euros from now on.", True),
    (
        "Only recommend vegetarian restaurants.",
        "No need to stick to vegetarian restaurants any more.",
        True,
    ),
    ("Maximum line length must be 88.", "Maximum line length must be 100.", True),
    ("Never push to main.", "Forget that last rule.", True),
    ("不要使用表情符号。", "现在可以用表情符号了。", True),
    ("以后都用英文回答。", "以后改用中文回答。", True),
    ("每次提交前都要问我。", "提交前不用再问我了。", True),
    ("禁止修改支付模块。", "取消对支付模块的限制。", True),
    ("必须使用四个空格缩进。", "缩进改成两个空格。", True),
    ("不要推荐海鲜餐厅。", "之前说的海鲜餐厅的限制作废。", True),
    ("周末不要给我发通知。", "周末又可以给我发通知了。", True),
    ("叫我小林。", "以后叫我林工。", True),
    ("所有价格必须用美元。", "价格不用再用美元，改成人民币。", True),
    ("回答控制在100字以内。", "回答控制在50字以内。", True),
    ("Never order from that shop.", "You can order from that shop again.", True),
    (
        "Always greet the customer by first name.",
        "Use last names instead of first names when you greet the customer.",
        True,
    ),
    ("Don't accept cookies.", "Accepting cookies is fine from now on.", True),
    ("The thermostat must stay at 19 degrees.", "The thermostat must stay at 21 degrees.", True),
    (
        "Only quote sources from the last five years.",
        "Older sources are okay now, no need to quote only the last five years.",
        True,
    ),
    ("Ask me before each step.", "Stop asking me before each step.", True),
    ("Keep the tone friendly.", "Keep the tone formal from now on.", True),
    ("Every email must have a subject line.", "Emails no longer need a subject line.", True),
    ("Reply in Italian.", "Switch back to English for your replies.", True),
    (
        "Never open attachments.",
        "I changed my mind about attachments: you can open attachments.",
        True,
    ),
    ("Call me boss.", "Stop calling me boss.", True),
    (
        "Use Jest for the tests.",
        "We switched to Vitest, so use Vitest instead of Jest for the tests.",
        True,
    ),
    ("Do not touch the lock file.", "The lock file rule is off.", True),
    ("Don't write to the archive.", "You are allowed to write to the archive now.", True),
    ("不要用感叹号。", "可以用感叹号了。", True),
    ("禁止在晚上重启服务器。", "晚上可以重启服务器了。", True),
    ("必须用公历日期。", "日期不用再用公历了。", True),
    ("只能从官方渠道购买。", "不再限制官方渠道，其他渠道也可以购买。", True),
    ("每次开会前提醒我。", "开会前不用提醒我了。", True),
    ("所有标题用英文。", "所有标题改成中文。", True),
    ("不要点虾。", "现在可以点虾了。", True),
    ("预算不得超过五千元。", "预算改为不得超过八千元。", True),
    ("Use tabs for everything.", "Actually, use spaces instead.", True),
    ("Enter one command at a time, always.", "Instead, use the goto 583 command.", False),
    ("Never commit to main.", "Take the blue one instead.", False),
    ("Never commit to main.", "Never commit secrets.", False),
    ("Always add tests.", "Always add docs.", False),
    ("Do not deploy on Fridays.", "Do not deploy without a backup.", False),
    ("Never use tabs.", "Always use tabs in Makefiles.", False),
    ("Don't contact the supplier.", "You may open the window again.", False),
    ("Never share my phone number.", "I no longer live in Boston.", False),
    ("Keep answers short.", "Can I use emojis again?", False),
    ("不要使用表情符号。", "不要使用缩写。", False),
    ("不要修改支付模块。", "现在可以去吃饭了。", False),
    ("必须先运行测试。", "必须先备份数据库。", False),
)


LATER_RULES_EN = """
Never reveal the name of the client in any document.
Under no circumstances are you to call the customer directly.
When writing Python, always add type hints.
Please do not ever suggest a cruise.
Don't spend more than 200 dollars per night.
I need you to always double check the address.
All passwords have to be stored hashed.
You must reply within two sentences.
Every time you finish a task, tell me what is left.
Only book direct flights.
Please only contact me by email.
From here on, talk to me like a five-year-old.
Do not use the word "synergy".
No deployments after 4 pm.
Always round up to the next full hour.
Going forward please put the date first in file names.
Don't install new packages.
Always, and I mean always, back up before migrating.
If you are not sure, ask me before you continue.
Let's set one rule: nobody edits main directly.
Remember: my daughter is allergic to nuts.
Never recommend anything with gluten, please.
Your summaries must include the ticket number.
The agent must never issue refunds above 50 euros.
Please stop using exclamation marks.
Stick to the official documentation.
Make sure that every table has a caption.
Never, ever touch the prod cluster.
Whenever a test is flaky, quarantine it and tell me.
Please answer in Spanish for the rest of this chat.
Do not send anything to Mr. Hale without showing me first.
Code must compile without warnings.
Avoid nested ternaries.
I don't want any dairy in the recipes.
You can only use the standard library.
Speak to me in Italian.
As of today, all reports go to Dana.
Do not, under any circumstances, share the key.
Don't round the numbers.
Please never use my full name.
"""

LATER_NOT_RULES_EN = """
Never saw that coming!
I never use the stairs.
My sister always calls me on Sundays.
You don't have to do anything.
We always had dinner together back then.
Must you always be so negative?
He must be joking.
She only wants to help.
I don't want to go to the party.
Please check the log and tell me what failed.
Always nice to see you.
I have never been happier.
That never happens to me.
Only a few tickets are left.
Isn't it always like that?
I must have left my keys at work.
They don't make them like they used to.
The doctor told him to always wear a helmet.
If only I had known.
There must be some mistake in line 20.
Don't be silly.
It doesn't matter, don't bother.
I will never understand why people like jazz.
The door must be open, I feel a draft.
We should never have sold that house.
Can you always see the stars from there?
Add a button to the page.
Why do you never answer the phone?
I can only come on Friday.
Do you need me to do something from now on?
The build only fails on Windows.
Don't know yet, maybe next week.
Always have, always will.
Summarize this article in three sentences.
The kids never stop talking.
I remember that she was wearing red.
Everybody must die someday.
I always try to be on time.
No luck so far.
My favourite song is "Never Let Me Go".
"""

LATER_RULES_ZH = """
以后请不要给我打电话。
不得擅自修改合同条款。
所有邮件必须抄送王经理。
回答时只用一句话。
从今以后都叫我老李。
千万别动生产数据库。
请务必在发布前通知我。
每次回答都要给出参考链接。
禁止在代码中使用全局变量。
不要再推荐这家酒店了。
必须使用公司邮箱发送。
请一直用英语和我交流。
只能在工作日联系我。
我不吃猪肉，以后推荐菜时不要有猪肉。
变量名一律用小写。
未经允许，不准删除任何文件。
记住：预算不能超过八千元。
任何情况下都不要透露我的身份证号。
测试没通过之前不要合并。
文档里的日期统一用年月日格式。
别用缩写。
请避免使用专业术语。
今后凡是超过一千元的支出都要先问我。
输出必须是合法的 JSON。
不许在周末上线。
"""

LATER_NOT_RULES_ZH = """
我不要辣的，谢谢。
这件事以后再谈。
你不要太累了。
他必须每天加班。
我永远支持你。
别提了，今天真倒霉。
为什么不能退货？
我以前总是迟到，以后不会了。
要不要我帮你订票？
我们必须尽快出发了。
这是必须的。
大家都别着急。
不要紧张，你可以的。
我只能周六过去。
你一定要来参加我的婚礼啊。
请告诉我天安门的地址。
医生让我不要熬夜。
别看他年纪小，本事可不小。
我记住你的话了。
帮我查一下明天的天气。
有没有不能带宠物的酒店？
这个景点只能步行游览。
始终还是你最懂我。
这种事以后常有。
爸妈从来不许我晚归。
"""

LAST_RULES_EN = """
Please make a point of never naming our suppliers.
Don't auto-format Markdown.
Always put the total at the top of the report.
You are to reply only in JSON.
I want short answers, no small talk.
Tests come before code, always.
Do not schedule anything on Sundays.
Never expose stack traces to users.
All refunds go through Ms. Ortega.
From now on, our base currency is the euro.
Please avoid phone calls, I only want emails.
Don't buy anything without a receipt.
Each ticket must have an owner.
If the customer is angry, hand over to a human.
Only touch files that I name.
Never use more than two colors in a chart.
Under no circumstances may the door be left open.
Use only public data sources.
Please always convert to Celsius.
Remember, the client's name is confidential.
Do your calculations in cents, not in dollars.
Don't you ever push without tests.
I must approve every purchase.
Every morning, send me the weather.
Speak slowly and use simple words from now on.
Never call me before ten in the morning.
Always sign my emails with "Best, Ruth".
From now on, quote every price in Swiss francs.
Don't mention my divorce to anyone.
Please keep all answers in plain English without jargon.
You must ask for my approval before spending more than 50 dollars.
Only use the blue template for offers.
Do not open pull requests against the release branch.
Every pull request needs two reviewers.
I'm vegan, so never suggest meat or dairy.
Whenever you quote a law, give the paragraph.
Avoid the motorway when you plan routes.
Going forward, store all timestamps in UTC.
No cloud services, please.
Remember that the office is closed on Wednesdays.
Make sure you never delete my drafts.
Stop using the old logo.
Passwords must be at least 16 characters long.
For the rest of this conversation, call me Captain.
Check with me before you change the database schema.
Do not translate product names.
All variable names should be in snake_case.
Under no circumstances should you reboot the gateway.
Write dates as day.month.year.
Prefer trains over planes for all my trips.
Never answer on my behalf.
Don't book anything that can't be cancelled for free.
Use the metric system in all recipes.
Keep replies to two sentences at most.
You should never use my private number for work.
Leave the config of the printer alone.
Only my lawyer may see these files.
Always leave 30 minutes between two meetings.
The invoice must not be sent before the 25th.
Please don't ask me for feedback after every step.
Do everything in a new branch, never on develop.
Never put two people in the same room.
Always greet the customer by first name.
From now on, all meetings are in room B.
Don't accept cookies on any website.
The thermostat must stay at 19 degrees.
Only quote sources from the last five years.
Please never order from that shop again.
You must not open attachments.
Don't give the kids sugar after six.
Going forward, use pytest fixtures instead of setUp.
Always ask for a receipt.
Do not compress images below 80 percent quality.
Every email must have a subject line.
From now on, don't ask me whether to continue, just continue.
Please do not add any new fields to the user table.
You should never store card numbers.
I want every function to have a test.
Never start a sentence with "However".
Make sure all links open in a new tab.
No more than three questions at a time.
Only deploy after I say go.
Keep the tone friendly.
Always use the 24-hour clock.
Don't show me prices in pounds.
In all your answers, list the pros first.
"""

LAST_NOT_RULES_EN = """
Never in my life have I seen that.
I never know what to say.
The bus is always late on Mondays.
You must have a lot of patience.
Only my brother knows about it.
Don't you love this song?
They should always have been friends.
She must be at home by now.
We never made it to the top.
Do you ever use the second account?
I don't think I can make it.
Please send me the file when you have time.
The best things are always free.
He had to stop smoking.
It must be nice living by the sea.
I'd never eat that again, it was awful.
Can't wait, always fun with you guys!
Which files must I change?
My phone never rings anymore.
That's the only reason I came.
I always forget her birthday.
We never talk about money.
Don't you have anything better to do?
It must be around here somewhere.
The museum is only open on weekends.
You should have seen his face!
I don't have time today.
He said he would never come back.
Could you check if the file must be signed?
From time to time I go fishing.
The instructions say you must be 18.
I can't stop laughing.
What must I never forget?
Always a bridesmaid, never a bride.
She always said that to me.
Don't be surprised if it rains.
That never gets old.
I only wanted to say hello.
We must have missed the exit.
Not now, I'm busy.
I need to buy only two things.
No one told me about it.
Never seen anything like that.
My cat must always sit on the keyboard.
It's always been like this.
"""

LAST_RULES_ZH = """
报告里不要写客户的真名。
每周一上午把进度发给我。
凡是改动接口都要先跟我确认。
绝不能把日志上传到外网。
请用表格展示所有对比结果。
今后的邮件都要抄送李主任。
不许使用盗版图片。
只推荐国产品牌。
任何改动都必须写在变更记录里。
给客户的回复务必礼貌。
以后行程都按六个人安排。
我有心脏病，千万不要安排爬山。
金额一律以万元为单位。
请勿在群里发我的照片。
没有测试的代码不准合并。
不要在晚上九点以后给我打电话。
所有报价都用人民币。
从现在起称呼我为刘总。
千万不要把合同发给供应商。
我对青霉素过敏，开药时务必避开。
每次修改配置之前先备份。
禁止使用第三方图床。
只能用公司的邮箱联系客户。
以后会议都安排在下午。
回答时不要用英文缩写。
必须在两名同事审核之后才能上线。
别动 config 目录下的文件。
记住，周三办公室不开门。
未经我批准，不要退款。
代码注释一律用中文。
推荐餐厅时不要推荐辣的。
请始终保留两位小数。
今后的报告不许超过三页。
永远不要自动续费。
凡是涉及隐私的内容都不要写进日志。
预订酒店必须可以免费取消。
请用一句话回答我的问题。
接口文档统一放在 docs 目录。
绝不能在生产库上跑测试。
以后不要再发广告给我。
所有图片必须压缩后再上传。
请务必保密我的电话号码。
每次开会前提醒我。
只能从官方渠道购买。
不要用感叹号。
从今天起每篇文章都要配图。
禁止在晚上重启服务器。
回答请控制在三句话以内。
我对海鲜过敏，千万别点虾。
未经确认不得付款。
必须用公历日期。
今后请直接叫我名字。
永远不要泄露我的住址。
不准修改别人的代码。
"""

LAST_NOT_RULES_ZH = """
他以后不来了。
我不要这个颜色。
你别生我的气。
必须承认，这部电影很棒。
这条路只能走到尽头。
要不要再等等他？
不要说一百块，五十我都不买。
我每次去都买不到票。
她永远那么年轻。
别的酒店有空房吗？
为了孩子只能忍着。
我们不能再这样下去了。
我从不吃早饭。
以后我们再聊吧。
别急，慢慢说。
他们必须赶上那趟车。
我只能尽力而为。
这不能怪你。
要不要一起看电影？
必须给你点个赞。
我永远记得那天。
你千万要保重身体。
不要这样嘛。
不能再便宜一点吗？
妈妈总叫我不要挑食。
别的都好，就是贵。
以后会越来越好的。
"""


def lines(text: str) -> list[str]:
    """The sentences of a list."""
    return text.strip().splitlines()
