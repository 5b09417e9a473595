"""Rules that somebody lays down and later takes back, narrows, widens or replaces, and what only
looks like it.

Written for this project, by domain and way of saying it, before the forms they test. Every second
pair (`LATER`) was looked at only after the forms stood, so that it says more about other people's
sentences.
"""

from __future__ import annotations

from typing import Final

Pair = tuple[str, str]
"""What was said first, and what is said later about it."""

_ZH: Final[tuple[Pair, ...]] = (
    # coding
    ("提交信息一律用英文写。", "提交信息不用再写英文了，写中文就行。"),
    ("不要动 legacy 目录下的代码。", "legacy 目录现在可以改了。"),
    ("以后每次改完代码都要跑一遍单元测试。", "单元测试不必每次都跑，合并之前跑一次就够了。"),
    ("变量名必须用下划线命名。", "变量名改用驼峰命名吧。"),
    ("禁止引入第三方依赖。", "第三方依赖可以引入了，但要先问我。"),
    ("所有接口都要加鉴权。", "内部接口就不用加鉴权了。"),
    ("别用 print 调试，统一用 logging。", "调试的时候用 print 也行，不强求 logging 了。"),
    ("只能用 Python 3.9 的语法。", "Python 3.9 的限制去掉，用 3.12 的语法也可以。"),
    ("每个函数都必须写文档字符串。", "私有函数不需要写文档字符串了，公开的还是要写。"),
    ("不许直接推送到主分支。", "主分支解锁了，可以直接推送。"),
    ("缩进统一用制表符。", "缩进还是用四个空格吧。"),
    ("数据库字段名一律小写。", "之前说数据库字段名小写的那条作废。"),
    ("日志级别默认设成 DEBUG。", "日志级别调回 INFO。"),
    ("测试覆盖率不能低于百分之九十。", "测试覆盖率的要求放宽到百分之七十。"),
    # customer service
    ("不要主动给客户退款。", "从今天起，五十元以下可以主动给客户退款。"),
    ("回复客户必须在两小时之内。", "回复客户的时限改成四小时。"),
    ("每条回复结尾都要附上工单号。", "结尾的工单号不用附了。"),
    ("投诉一律转给李经理处理。", "李经理调走了，投诉以后转给赵经理。"),
    ("对客户只能称呼“先生”或“女士”。", "称呼客户不用那么死板了，按昵称叫也可以。"),
    ("不能透露库存数量。", "库存数量可以告诉客户了。"),
    ("周末不要给客户打电话。", "周末不打电话的规矩取消。"),
    ("发票都寄到上海办公室。", "发票别寄上海了，改寄苏州。"),
    ("每次通话前先核对身份证号。", "核对身份证号这一步省了吧，核对手机号就可以。"),
    ("晚上九点以后不接单。", "接单时间延长到晚上十一点。"),
    # travel
    ("只订靠走道的座位。", "座位不用非得靠走道，靠窗也行。"),
    ("行程里不要安排购物。", "最后一天可以安排购物了。"),
    ("住宿预算每晚不超过六百。", "住宿预算提高到每晚九百。"),
    ("酒店必须含早餐。", "酒店含不含早餐都无所谓了。"),
    ("以后机票都选直飞的。", "机票不一定非要直飞，转一次机也能接受。"),
    ("千万别订红眼航班。", "红眼航班也可以考虑，便宜就行。"),
    ("每天的行程不要超过三个景点。", "行程改成每天最多五个景点。"),
    ("出发前一天晚上八点提醒我收拾行李。", "收拾行李的提醒挪到下午五点。"),
    ("只能住在地铁站旁边。", "地铁站旁边这个条件不要了。"),
    ("不要推荐需要爬山的路线。", "我改主意了，爬山的路线也推荐一下。"),
    ("每次都帮我买旅行保险。", "旅行保险以后别再买了。"),
    ("订房间一律要两张单人床。", "房间换成大床房吧，不要两张单人床了。"),
    # cooking and daily life
    ("菜里不要放辣椒。", "辣椒可以放一点了，微辣就好。"),
    ("晚饭只做素菜。", "晚饭不用只做素菜了，加个荤菜吧。"),
    ("记住，我对花生过敏，菜谱里不要有花生。", "医生说我不再对花生过敏了，菜谱里有花生没关系。"),
    ("每天早上六点半叫我起床。", "起床改到七点，六点半太早了。"),
    ("买菜统一去东门菜市场。", "东门菜市场拆了，以后去西门超市买菜。"),
    ("做菜必须少油少盐。", "少油少盐的要求先放一放，正常做就行。"),
    ("不要买进口水果。", "进口水果也可以买，不受限制了。"),
    ("咖啡一律不加糖。", "咖啡以后加半勺糖。"),
    ("睡前不要给我推送新闻。", "睡前推送新闻恢复吧。"),
    ("请叫我小周。", "别叫我小周了，以后叫我周工。"),
    # writing
    ("文章不要出现第一人称。", "第一人称放开了，可以用。"),
    ("每段不超过一百字。", "段落字数改成最多两百字。"),
    ("标题必须带数字。", "标题不带数字也没关系了。"),
    ("全文使用简体中文。", "全文换成繁体中文。"),
    ("引用一律用脚注。", "引用不要用脚注了，用尾注代替。"),
    ("语气要正式。", "语气不用太正式，轻松一点。"),
    ("回答只给结论，不要解释。", "还是加上解释吧，光给结论看不懂。"),
    ("不要用感叹号和表情。", "表情和感叹号随便用吧。"),
    ("以后都用英文回复我。", "英文我看着累，还是用中文回复吧。"),
    ("邮件落款写“市场部”。", "邮件落款由“市场部”改为“品牌中心”。"),
    ("摘要控制在三百字以内。", "刚才说的摘要三百字不算数，五百字以内都行。"),
    ("诗歌翻译要押韵。", "诗歌翻译押不押韵都可以了。"),
    # data and office
    ("报表里的金额都按万元显示。", "金额不要按万元了，按元显示。"),
    ("导出文件只用 CSV 格式。", "导出文件除了 CSV，也可以用 Excel。"),
    ("空值一律填零。", "空值不再填零，留空即可。"),
    ("不要删除重复的行。", "重复的行可以删掉了。"),
    ("周报每周五下午发给我。", "周报提前到周四上午发。"),
    ("图表统一用蓝色。", "图表颜色换一下，用橙色代替蓝色。"),
    ("小数保留两位。", "小数保留四位，两位不够。"),
    ("例会固定在二楼大会议室。", "二楼大会议室不用了，例会搬到五楼。"),
    ("客户名单不准外传。", "客户名单可以给审计公司，其他人还是不行。"),
    ("数据每天凌晨同步一次。", "数据同步频率改为每小时一次。"),
    ("所有日期都用斜杠分隔。", "取消日期用斜杠分隔的规定。"),
    ("合同必须两个人审核。", "合同审核减为一个人就可以了。"),
    ("只看华东区的销售数据。", "不光看华东区了，华南区的销售数据也要看。"),
    ("每次最多列出五条结果。", "五条结果不够，以后列十条。"),
    # traditional characters
    ("請一律用英文回答。", "不用再用英文了，改用中文回答。"),
    ("不要在晚上十點以後傳訊息給我。", "晚上十點以後可以傳訊息給我了。"),
    ("每次訂位都要先問我。", "訂位不必再先問我了。"),
    ("報告統一寄給林小姐。", "報告別再寄給林小姐，以後寄給陳先生。"),
    ("只能訂附早餐的飯店。", "附早餐的規定取消，飯店有沒有早餐都可以。"),
    ("程式碼註解必須寫英文。", "註解不再要求英文，改寫中文。"),
    ("預算不要超過兩萬元。", "預算調整為三萬元。"),
    ("請叫我阿明。", "以後改叫我王經理。"),
    ("圖片都要壓縮。", "圖片不需要壓縮了。"),
    ("禁止使用縮寫。", "縮寫現在允許使用了。"),
)

_EN: Final[tuple[Pair, ...]] = (
    # coding
    ("Never touch the migrations folder.", "You can edit the migrations folder now."),
    ("Always write commit messages in English.", "Commit messages don't have to be in English."),
    ("Use four spaces for indentation.", "Let's go with two spaces for indentation instead."),
    ("Don't add new dependencies.", "New dependencies are okay if they are small."),
    ("All functions need type hints.", "Private functions don't need type hints anymore."),
    ("Run the linter after every change.", "Skip the linter from now on."),
    ("Only support Python 3.9.", "Python 3.9 support can be dropped, target 3.12."),
    ("Never push straight to main.", "Pushing straight to main is allowed again."),
    ("Keep test coverage above 90 percent.", "Lower the test coverage bar to 75 percent."),
    ("Log everything at debug level.", "Set the log level back to info."),
    ("Every endpoint must require a token.", "Health endpoints are exempt from the token rule."),
    # customer service
    ("Do not issue refunds without my approval.", "Refunds under 20 euros no longer need my okay."),
    ("Always address customers by their last name.", "First names are fine with customers now."),
    ("Escalate every complaint to Marta.", "Marta has left; escalate complaints to Idris now."),
    ("Never reveal stock levels.", "It's all right to reveal stock levels to partners now."),
    ("Reply to tickets within two hours.", "The two hour limit for tickets is now four hours."),
    ("Always attach the ticket number.", "Drop the ticket number, nobody reads it."),
    ("Never call customers on weekends.", "The weekend ban on calling customers is over."),
    # travel
    ("Only book aisle seats.", "Window seats work too, I'm not set on the aisle any more."),
    ("Never book a layover longer than two hours.", "Layovers of up to four hours are fine now."),
    ("Hotels must include breakfast.", "Breakfast at the hotel doesn't matter anymore."),
    ("Keep the hotel under 150 a night.", "Raise the hotel limit to 220 a night."),
    ("Don't plan any museums.", "I've changed my mind, museums are welcome."),
    ("Only take trains inside Germany.", "Flights inside Germany are fine after all."),
    ("Always remind me to pack at 8 pm.", "Move the packing reminder to 6 pm."),
    ("Always rent an automatic car.", "A manual car will do too, it doesn't have to be automatic."),
    # cooking
    ("Never put chilli in my food.", "A little chilli is fine from now on."),
    ("Only suggest vegan dinners.", "We're not vegan any more, so dinners can have cheese."),
    ("Don't use nuts in any recipe.", "Forget the nut restriction, it was a wrong diagnosis."),
    ("Always list ingredients in grams.", "List ingredients in cups rather than grams."),
    ("Recipes must take under 30 minutes.", "Recipes may take up to an hour now."),
    ("Plan four meals a week.", "Make it six meals a week."),
    # writing
    ("Do not use the first person.", "First person is fine, go ahead and use it again."),
    ("Paragraphs must stay under 100 words.", "Paragraphs can be up to 200 words now."),
    ("Always answer in bullet points.", "No more bullet points, please write full sentences."),
    ("Keep the tone formal.", "The tone doesn't need to be formal any more, relax it."),
    ("Put all references in footnotes.", "Use endnotes in place of footnotes."),
    ("Reply in Spanish only.", "Let's switch to English from here on."),
    ("Call me Professor Lind.", "Just call me Ada from now on."),
    ("Never use semicolons.", "Semicolons are back on the table."),
    ("Sign my emails as Rob.", "Sign my emails as Robert from now on, not Rob."),
    # data
    ("Show all amounts in thousands.", "Stop showing amounts in thousands, show full amounts."),
    ("Only export to CSV.", "Exporting to Excel is okay too now."),
    ("Fill missing values with zero.", "Leave missing values empty instead of filling in zero."),
    ("Never delete duplicate rows.", "Go ahead and delete duplicate rows from now on."),
    ("Send the weekly report on Fridays.", "The weekly report moves to Thursdays."),
    ("Use blue for every chart.", "Charts should be orange now, not blue."),
    ("Only look at the northern region.", "Look at the southern region as well from now on."),
    ("Round to two decimals.", "Round to four decimals, two was too coarse."),
    ("Show at most five results.", "Five results was too few, show ten from now on."),
)

_ZH_STAYS: Final[tuple[Pair, ...]] = (
    # another subject
    ("提交信息一律用英文写。", "界面文案改成中文吧。"),
    ("不要动 legacy 目录下的代码。", "tests 目录可以改了。"),
    ("只订靠走道的座位。", "晚饭不用订了。"),
    ("菜里不要放辣椒。", "现在可以上甜点了。"),
    ("每次通话前先核对身份证号。", "上次那个工单可以关了。"),
    ("不要主动给客户退款。", "客户的地址改成上海市静安区。"),
    ("周报每周五下午发给我。", "会议室换成三楼那间。"),
    ("回答控制在两百字以内。", "把刚才的订单取消吧。"),
    ("请叫我小周。", "出租车不用叫了。"),
    ("咖啡一律不加糖。", "茶可以加糖。"),
    ("缩进统一用制表符。", "数据库换成 MySQL。"),
    ("酒店必须含早餐。", "机票改成明天的。"),
    # a question
    ("不要给我推送新闻。", "现在可以给我推送新闻了吗？"),
    ("全文使用简体中文。", "要不要改成繁体中文？"),
    ("禁止引入第三方依赖。", "为什么第三方依赖不能引入了呢？"),
    ("只能住在地铁站旁边。", "地铁站旁边的限制是不是取消了？"),
    # a quotation
    ("不要删除重复的行。", "客服回复说：“重复的行可以删除了。”"),
    ("标题必须带数字。", "他的原话是“标题不用带数字了”。"),
    # about someone else
    ("以后都用英文回复我。", "我同事他们组不用英文回复了。"),
    ("千万别订红眼航班。", "我弟弟以前也不坐红眼航班，现在又坐了。"),
    ("每天早上六点半叫我起床。", "我妈六点半就不用起床了，真羡慕她。"),
    ("客户名单不准外传。", "听说别的公司客户名单都可以外传了。"),
    # another rule beside it
    ("所有接口都要加鉴权。", "所有接口都要写测试。"),
    ("不要推荐需要爬山的路线。", "也不要推荐需要坐船的路线。"),
    ("每段不超过一百字。", "全文不超过三千字。"),
    ("文章不要出现第一人称。", "文章不要出现错别字。"),
    ("合同必须两个人审核。", "合同必须盖章。"),
    ("报告统一寄给林小姐。", "发票统一寄给林小姐。"),
    ("請一律用英文回答。", "請一律附上出處。"),
    ("预算不要超过三千元。", "好的，这家酒店三千元可以订了。"),
)

_EN_STAYS: Final[tuple[Pair, ...]] = (
    # another subject
    ("Never touch the migrations folder.", "You can close the ticket now."),
    ("Only book aisle seats.", "Change my dinner order to the fish instead."),
    ("Always write commit messages in English.", "The menu can be in French now."),
    ("Keep the hotel under 150 a night.", "Move my flight to Tuesday."),
    ("Never put chilli in my food.", "Dessert is fine now."),
    ("Call me Professor Lind.", "You can call the taxi now."),
    ("Use blue for every chart.", "Make it two tickets, please."),
    ("Never use semicolons.", "Forget the pizza, I already ate."),
    # a question
    ("Don't add new dependencies.", "Can we add new dependencies now?"),
    ("Hotels must include breakfast.", "Does the hotel no longer include breakfast?"),
    # a quotation
    ("Never reveal stock levels.", 'The page says "stock levels may be revealed again".'),
    ("Show all amounts in thousands.", 'She wrote "stop showing amounts in thousands".'),
    # about someone else
    ("Reply in Spanish only.", "My neighbour no longer speaks Spanish with her kids."),
    ("Never delete duplicate rows.", "The old tool used to delete duplicate rows again and again."),
    ("Never call customers on weekends.", "My brother works weekends again now."),
    # another rule beside it
    ("Always attach the ticket number.", "Always attach the invoice."),
    ("Do not issue refunds without my approval.", "Do not issue vouchers."),
    ("Only export to CSV.", "Only export the last quarter."),
    ("Don't use nuts in any recipe.", "Don't use butter in any recipe."),
    ("Paragraphs must stay under 100 words.", "Titles must stay under 10 words."),
)

TUNED_ZH, LATER_ZH = _ZH[::2], _ZH[1::2]
TUNED_EN, LATER_EN = _EN[::2], _EN[1::2]
STAYS_ZH, LATER_STAYS_ZH = _ZH_STAYS[::2], _ZH_STAYS[1::2]
STAYS_EN, LATER_STAYS_EN = _EN_STAYS[::2], _EN_STAYS[1::2]
