"""Rules, and what is said later of the same things: half of it changes the rule, half does not.

Written for this project before the forms that read them. `benchmarks/data/instructions.json` has
others that were only counted. `CHANGED` pairs take a rule back or replace it; of `MENTIONED` ones
the rule still holds.
"""

from __future__ import annotations

from typing import Final

from tests.unit.facts.revised import Pair

CHANGED_EN: Final[tuple[Pair, ...]] = (
    (
        "Name test files after the module they test.",
        "From today the test files go by feature names, module names turned out to be useless.",
    ),
    (
        "Every pull request needs two reviewers.",
        "One reviewer is plenty for pull requests, we are too few people.",
    ),
    ("Do not use recursion in the parser.", "Recursion in the parser is fine by me after all."),
    ("Indent YAML with four spaces.", "I looked it up: YAML gets two spaces from here on."),
    (
        "Never edit generated files by hand.",
        "Go ahead and edit the generated files by hand, the generator is dead.",
    ),
    ("Use British spelling in the handbook.", "The handbook switches to American spelling."),
    ("Put a summary at the top of every report.", "Reports can do without the summary at the top."),
    ("Write all headings in title case.", "Headings are now in sentence case."),
    ("Always reply in Italian.", "My Italian guests have left, so reply in English again."),
    ("Answer in Portuguese from now on.", "Please switch to Danish."),
    (
        "The catering may cost at most 600 pounds.",
        "Catering went up, 900 pounds is the new ceiling.",
    ),
    ("Keep uploads under 10 MB.", "The cap on uploads was raised to 25 MB."),
    (
        "Each donor gets no more than three emails a year.",
        "We agreed that donors may get five emails a year.",
    ),
    ("Call me Professor Lindqvist.", "No titles please, Astrid is enough."),
    (
        "Refer to the client as Harbour Ltd.",
        "The client has a new name, refer to them as Northgate Ltd.",
    ),
    (
        "Only schedule calls on weekdays after 3 pm.",
        "Calls after 3 pm are no use to me now, schedule them before noon.",
    ),
    (
        "The weekly sync is always on Tuesday at 10.",
        "The weekly sync has been moved to Thursday at 11.",
    ),
    (
        "Send the invoices by the fifth of every month.",
        "Invoices go out by the tenth from next month.",
    ),
    (
        "Don't call the paid weather service.",
        "The paid weather service is covered by our plan now, use it whenever you like.",
    ),
    ("Use ripgrep for searching the code.", "Drop ripgrep, use the language server for searching."),
    (
        "Only book vegetarian restaurants.",
        "I eat fish again, so restaurants needn't be vegetarian.",
    ),
    (
        "I'm allergic to walnuts, never suggest them.",
        "The new test says I'm not allergic to walnuts, you can suggest them.",
    ),
    ("Always book me an aisle seat.", "My knee is better: any seat will do."),
    (
        "Never put me in a hotel without a gym.",
        "The gym thing is off, I have no time for it anyway.",
    ),
    (
        "Refunds above 50 euros must be approved by Marek.",
        "Marek is on leave until June, Ines approves refunds above 50 euros instead.",
    ),
    (
        "Do not offer discounts to resellers.",
        "Resellers get the 10 percent discount from Monday on, so offer it.",
    ),
    (
        "Ship every parcel with a signature.",
        "The signature is optional now for parcels below 30 dollars.",
    ),
    (
        "Every complaint has to be answered within one day.",
        "For complaints two days is okay as well, support is overloaded.",
    ),
    (
        "Prices must always include shipping.",
        "We list shipping separately as of now, prices without it.",
    ),
    ("Log every request body.", "Stop logging request bodies, legal doesn't like it."),
    ("Never deploy on Fridays.", "Deploying on Fridays is fine from now on."),
    ("Reply to tickets within two hours.", "Four hours is okay for tickets now."),
    ("Only use the metric system.", "You needn't stick to the metric system."),
    ("Keep the budget under 2,000 euros.", "The budget has gone up to 2,600 euros."),
    ("Answer in at most three sentences.", "Three sentences is too tight, five is better."),
    (
        "Book hotels near the station.",
        "Hotels near the station are too loud, book ones by the river instead.",
    ),
    ("Keep meetings under 30 minutes.", "Meetings can take 45 minutes now."),
    ("Never mention the merger.", "The merger isn't secret any longer, so mention it freely."),
    ("No dairy in my meals.", "Dairy is back on the menu for me."),
    ("All dates must be in ISO format.", "Dates no longer have to be in ISO format."),
    ("Don't send newsletters on weekends.", "Newsletters on weekends are allowed again."),
    ("Only use approved suppliers.", "Other suppliers are welcome too from now on."),
    ("Always ask before deleting files.", "You don't have to ask before deleting files any more."),
    ("Send the weekly report to Dana.", "The weekly report goes to Femi from now on, not to Dana."),
    ("Never quote prices without tax.", "Prices without tax are okay for business customers."),
    ("Sign every letter as M. Okoro.", "Letters are signed as Okoro and Sons from now on."),
    ("Use short variable names.", "Short variable names were a bad idea, use descriptive ones."),
    ("Charge students half the price.", "Students pay the full price from January on."),
    ("Never take the motorway.", "We're late, and I changed my mind: the motorway is all right."),
    ("All photos must be black and white.", "Photos may be in colour after all."),
    ("Every shift needs a first-aider.", "A first-aider is only needed at night now."),
    (
        "Don't order anything from Glimmer.",
        "Glimmer has improved, orders from them are fine again.",
    ),
    ("Plan at most two museums a day.", "Two museums are not enough, plan three museums a day."),
)

CHANGED_ZH: Final[tuple[Pair, ...]] = (
    ("测试文件要按模块名命名。", "测试文件以后按功能命名，按模块太乱了。"),
    ("每个合并请求必须有两个人审核。", "合并请求一个人审核就够了，我们人手不足。"),
    ("解析器里不要用递归。", "解析器里用递归也没关系了。"),
    ("YAML 一律缩进四个空格。", "YAML 的缩进改回两个空格。"),
    ("不要手动修改生成的文件。", "生成的文件现在可以手动改，生成器已经停用了。"),
    ("手册统一用英式拼写。", "手册从下周起换成美式拼写。"),
    ("每份报告开头都要写摘要。", "报告开头的摘要省了吧。"),
    ("标题一律加粗。", "标题不用加粗了，用下划线。"),
    ("以后用意大利语回复我。", "意大利的客人走了，恢复用中文回复吧。"),
    ("今后都用粤语回答。", "请改用普通话回答。"),
    ("餐费最多六百元。", "餐费涨价了，上限提高到九百元。"),
    ("上传的文件不能超过十兆。", "上传的限制放宽到二十五兆。"),
    ("每个客户每年最多发三封邮件。", "大家商量过了，每个客户每年可以发五封邮件。"),
    ("请叫我林教授。", "别叫教授了，叫我小林。"),
    ("合同里一律称呼对方为海港公司。", "对方改名了，合同里都写成北门公司。"),
    ("电话会议只能安排在下午三点以后。", "下午三点以后我没空了，电话会议改约上午。"),
    ("周会固定在星期二十点。", "周会挪到星期四十一点。"),
    ("发票必须在每月五号之前寄出。", "发票寄出的日子推迟到十号。"),
    ("不要调用收费的天气接口。", "收费的天气接口公司买了，可以用了。"),
    ("搜索代码只用 ripgrep。", "ripgrep 不用了，搜索代码用语言服务器。"),
    ("只订素食餐厅。", "我又吃鱼了，餐厅不限素食。"),
    ("我对核桃过敏，不要推荐。", "医生说我对核桃不过敏，可以推荐了。"),
    ("机票一定要选靠走道的座位。", "膝盖好了，座位随便选。"),
    ("不要订没有健身房的酒店。", "健身房那条取消，反正没时间去。"),
    ("五十元以上的退款必须经马克批准。", "马克休假了，五十元以上的退款由伊内斯批准。"),
    ("不得给经销商打折。", "周一起给经销商打九折，之前不打折的规定作废。"),
    ("每个包裹都要签收。", "三十元以下的包裹不必签收了。"),
    ("投诉必须一天之内答复。", "投诉的答复时限延长到两天。"),
    ("报价必须包含运费。", "报价以后不含运费，运费单独列。"),
    ("每个请求的正文都要记录到日志。", "请求正文别再记录了，法务不同意。"),
)

MENTIONED_EN: Final[tuple[Pair, ...]] = (
    (
        "Name test files after the module they test.",
        "I renamed two test files this morning, the module had a typo.",
    ),
    (
        "Every pull request needs two reviewers.",
        "The second reviewer of that pull request is on holiday until Monday.",
    ),
    (
        "Do not use recursion in the parser.",
        "The recursion in the old parser took the server down last year.",
    ),
    ("Indent YAML with four spaces.", "The YAML file for staging is four hundred lines long now."),
    ("Never edit generated files by hand.", "Can you list the generated files for me?"),
    (
        "Use British spelling in the handbook.",
        "My colleague in Boston changed to American spelling years ago.",
    ),
    (
        "Put a summary at the top of every report.",
        "The report about the roof can be short, the summary too.",
    ),
    ("Write all headings in title case.", "Is it fine if the headings are in two columns?"),
    ("Always reply in Italian.", "They no longer teach Italian at my old school."),
    ("Answer in Portuguese from now on.", "My brother switched to Danish last week, for his job."),
    (
        "The catering may cost at most 600 pounds.",
        "The caterer wants to be paid by Friday instead of Monday.",
    ),
    ("Keep uploads under 10 MB.", "I uploaded the photos again, they are 8 MB now."),
    (
        "Each donor gets no more than three emails a year.",
        "One donor changed his email address to something with Gmail.",
    ),
    ("Call me Professor Lindqvist.", "No need to call the students today, I have written to them."),
    (
        "Refer to the client as Harbour Ltd.",
        "The client's lawyer is now somebody called Northgate.",
    ),
    (
        "Only schedule calls on weekdays after 3 pm.",
        "You can cancel the call with Anders today, he is ill.",
    ),
    (
        "The weekly sync is always on Tuesday at 10.",
        "Could you move the dentist to Thursday at 11?",
    ),
    (
        "Send the invoices by the fifth of every month.",
        "The invoice of the plumber can wait until the tenth.",
    ),
    (
        "Don't call the paid weather service.",
        "The weather is fine again, so we can go sailing after all.",
    ),
    (
        "Use ripgrep for searching the code.",
        "Searching took too long with the wrong folder, I stopped it.",
    ),
    (
        "Only book vegetarian restaurants.",
        "The restaurant on the corner is no longer open on Mondays.",
    ),
    (
        "I'm allergic to walnuts, never suggest them.",
        "You may suggest something with almonds instead.",
    ),
    ("Always book me an aisle seat.", "The seat next to me was free on the last flight."),
    (
        "Never put me in a hotel without a gym.",
        "The hotel in Graz changed its name to Hotel Krone.",
    ),
    (
        "Refunds above 50 euros must be approved by Marek.",
        "Marek has approved the refund of 80 euros, so you can pay it now.",
    ),
    ("Do not offer discounts to resellers.", "We no longer have any reseller in Poland."),
    ("Ship every parcel with a signature.", "The parcel to Oslo came back, ship it again please."),
    (
        "Every complaint has to be answered within one day.",
        "The complaint of Mr. Ito was answered after two days, sadly.",
    ),
    (
        "Prices must always include shipping.",
        "Shipping to Norway now takes four days instead of two.",
    ),
    (
        "Log every request body.",
        "The request body of that call was too large, so I cut it to 4 KB.",
    ),
    ("Never deploy on Fridays.", "The deploy from Friday can be cancelled, nobody needs it now."),
    ("Always write comments in English.", "Two comments under my blog post were in English again."),
    ("Reply to tickets within two hours.", "That ticket doesn't need a reply any more."),
    ("Only suggest vegan dinners.", "Dinner on Saturday is cancelled, my parents are ill."),
    ("Keep logs for seven days only.", "The log of the third day is too long to read in one go."),
    ("Escalate every complaint to Marta.", "The complaint about the noise is no longer important."),
    ("Round to two decimals.", "The second round of the match was moved to Sunday."),
    ("Don't use nuts in any recipe.", "That recipe is fine for tonight, thanks."),
    ("Don't book anything on Mondays.", "I no longer work on Mondays at the bakery."),
    (
        "Put all references in footnotes.",
        "The last reference can be dropped, the book was never printed.",
    ),
    ("Always attach the ticket number.", "My phone number has changed to 555 0199."),
    ("Never write in passive voice.", "His voice changed after the operation."),
    ("Refer to the client as Harbour Ltd.", "The client moved the appointment to Wednesday."),
    ("Keep the budget under 2,000 euros.", "The budget meeting was moved from room 4 to room 9."),
    ("Use tabs for indentation.", "Close the two browser tabs, I don't need them any more."),
    ("Only use the metric system.", "The old heating system was replaced by a heat pump."),
    (
        "Always add unit tests for new functions.",
        "The tests for my driving licence are over, I passed.",
    ),
    (
        "Never share my phone number.",
        "I lost my phone, so use the number of my office instead today.",
    ),
    ("Answer in at most three sentences.", "Three people were enough to carry the piano."),
    ("Always greet customers by name.", "The customer with the long name cancelled his order."),
    ("Book hotels near the station.", "The station is closed now, take the bus instead."),
    ("Keep meetings under 30 minutes.", "The meeting took 50 minutes instead of 30, what a waste."),
    ("Never mention the merger.", "There's no need to mention it to Paula, she knows."),
    ("Use the company card for all travel.", "My library card is no longer valid."),
    ("No dairy in my meals.", "My meals this week were fine, thank you."),
    ("All dates must be in ISO format.", "The date with Karin was moved to the 12th."),
    (
        "Don't send newsletters on weekends.",
        "The newsletter with the recipe was too long to finish on the train.",
    ),
    (
        "Only use approved suppliers.",
        "The supplier of the bread is on strike, so no bread any more until Tuesday.",
    ),
    ("Always ask before deleting files.", "You can delete that file now."),
    ("Send the weekly report to Dana.", "Dana's report card was better than mine in school."),
    ("Never quote prices without tax.", "The price of coffee went up to four euros again."),
    (
        "Sign every letter as M. Okoro.",
        "The letter from the bank can be ignored, it is advertising.",
    ),
    ("Use short variable names.", "I don't mind short films any more, I even like them."),
    ("Always check the weather before a tour.", "The tour on Sunday is off because of the rain."),
    ("Charge students half the price.", "One student said the price is too high, but he paid."),
    ("Never take the motorway.", "The motorway is open again after the crash, says the radio."),
    ("All photos must be black and white.", "Remove the third photo from the album please."),
    ("Every shift needs a first-aider.", "My shift was changed to Tuesday."),
    (
        "Don't order anything from Glimmer.",
        "The order from last week arrived, so you can stop looking for it.",
    ),
    (
        "Plan at most two museums a day.",
        "The museum in the old town is closed now, plan the castle instead.",
    ),
)

MENTIONED_ZH: Final[tuple[Pair, ...]] = (
    ("测试文件要按模块名命名。", "今天早上我改了两个测试文件，有一个模块名写错了。"),
    ("每个合并请求必须有两个人审核。", "那个合并请求的第二个审核人周一才回来。"),
    ("解析器里不要用递归。", "去年旧解析器的递归把服务器弄垮了。"),
    ("YAML 一律缩进四个空格。", "预发环境的 YAML 文件现在有四百行了。"),
    ("不要手动修改生成的文件。", "生成的文件有哪些？可以列一下吗？"),
    ("手册统一用英式拼写。", "我波士顿的同事早就改用美式拼写了。"),
    ("每份报告开头都要写摘要。", "屋顶的那份报告可以短一点。"),
    ("标题一律加粗。", "标题太长了，缩短一点。"),
    ("以后用意大利语回复我。", "我以前的学校已经不教意大利语了。"),
    ("今后都用粤语回答。", "我弟弟上周改学丹麦语了。"),
    ("餐费最多六百元。", "餐厅的老板换成他儿子了。"),
    ("上传的文件不能超过十兆。", "照片我重新上传了，现在是八兆。"),
    ("每个客户每年最多发三封邮件。", "有个客户的邮箱换成公司的了。"),
    ("请叫我林教授。", "今天不用叫学生来了，我已经写信给他们。"),
    ("合同里一律称呼对方为海港公司。", "海港公司的律师换成了一个姓北的人。"),
    ("电话会议只能安排在下午三点以后。", "今天和安德斯的电话会议取消，他病了。"),
    ("周会固定在星期二十点。", "牙医能改到星期四十一点吗？"),
    ("发票必须在每月五号之前寄出。", "水管工的发票不急，十号也可以给他。"),
    ("不要调用收费的天气接口。", "天气又好了，可以去划船了。"),
    ("搜索代码只用 ripgrep。", "刚才搜索代码太慢，我停掉了。"),
    ("只订素食餐厅。", "街角那家餐厅周一不再营业了。"),
    ("我对核桃过敏，不要推荐。", "可以推荐一点杏仁的东西。"),
    ("机票一定要选靠走道的座位。", "上次机票的座位旁边是空的。"),
    ("不要订没有健身房的酒店。", "格拉茨那家酒店改名叫皇冠酒店了。"),
    ("五十元以上的退款必须经马克批准。", "马克已经批准八十元的退款了，可以付了。"),
    ("不得给经销商打折。", "波兰现在没有经销商了。"),
    ("每个包裹都要签收。", "寄到奥斯陆的包裹退回来了，请再寄一次。"),
    ("投诉必须一天之内答复。", "伊藤先生的投诉两天后才答复，真抱歉。"),
    ("报价必须包含运费。", "寄到挪威的时间从两天变成四天了。"),
    ("每个请求的正文都要记录到日志。", "那个请求的正文太大了，我截到了四千字节。"),
)
