"""Detects standing instructions in Chinese sentences, and whether they forbid.

Some sentences need no order to lay down a rule (标题要简短, 发票都寄到…): such a form counts where
the clause opens with the thing that it is about, and nobody acts in it.
"""

from __future__ import annotations

import re
from typing import Final

MOST_HEAD: Final = 12  # characters before the form; chosen: more are a clause, not a thing

_SETS: Final = re.compile(  # stands behind the thing that it is about
    "(?:都|一律)(?:[发寄送交传]给|安排[在到]|[写存保留换导排翻]成|[放存寄发送交传写记约订]在?到"
    "|[放存写记约订]在|[用按走选](?=[^，,。]{2,}[。！]?$))"
    "|要(?:按|用|以)(?=[^了，。]{3,}[。！]?$)"
    "|最多(?=[^了，。]{0,6}[一二两三四五六七八九十百千万半\\d][^了，。]{0,8}[。！]?$)"
    "|由[^，。我你他她]{1,8}(?:批准|审批|负责|处理|审核|签字|决定|跟进)[。！]?$"
    "|统一(?=[^的了性成体天，,。]{2})"
    "|都要(?!是|有|看|等|怪|死|来|去|到|好)(?=[^了，,。！!]{2})"
    "|默认(?:设[为成]|选)|保留(?=[一两三四五六\\d]+位)|固定[在用为]|精确到"
    "|要(?=(?:尽量|保持|写得)?(?:正式|简短|简洁|详细|口语|通俗|委婉|客观|中立|严谨|轻松|押韵"
    "|加密|压缩|备份|脱敏|对齐|编号|分页|分段|注明|标注|署名|审核|复核|签字|盖章|留底)"
    "|抄送|汇报|同步|[寄发送交转]给|离[^，。]{1,12}(?:以内|之内))"
    "|(?<![一两三四五六七八九十几这那每])只(?!是|有|剩|不过|好|怕|要|见|想|会|能|知道|记得|听说"
    "|看过|差|可|当|身|顾)(?=[^了过，。？?吗呢]{3,}[。！]?$)"
    "|按照?(?=[A-Za-z0-9 ]+[。！]?$|[^，。]{1,8}(?:格式|标准|规范|顺序|算|排列?|计算)[。！]?$)"
    "|里不[放加写带含留](?=[^了过，。吗]{1,10}[。！]?$)"
)
_NO_THING: Final = re.compile("大家|人|孩子|每|天天|谁|什么|哪|这|那|.*[我他她它你]")
_BOUND_COMMA: Final = re.compile("[，,。；;]")
_BOUNDS: Final = re.compile(
    "最多[^，。]{1,12}[，,][^。]{0,12}不能|谁(?:来)?问都不"
    "|全文(?:使用|采用|用|写)|通篇(?:使用|采用|用|写)|正文(?:使用|采用|用|写)"
    "|每(?:天|日|周[一二三四五六日天]?|月|晚|小时)[^，。我他她]{0,8}(?:同步|备份|更新|汇总|清理"
    "|发送|推送|发给|巡检)"
    "|[字个行页条]左右[。！]?$|每次(?:最多|都|只)?(?:[给帮替]我|问我)"
)
_EACH: Final = re.compile(
    "每[次个条封份篇张单到家笔段章页场位种][^，,。；我他她]{0,10}(?:都要?|要|必须|只)"
    "(?!是|有|会|能|很|可|求)(?=[^了，。]{2,}[。！]?$)"
)
_REMINDS: Final = re.compile("[点分前候上午][^，。]{0,4}$")


def is_bound(words: str) -> bool:
    """Whether the sentence tells what holds of a thing or of its kind, without an order."""
    if _BOUNDS.search(words) or _EACH.match(words):
        return True
    reminds = words.find("提醒我")
    if reminds > 0 and _REMINDS.search(words, 0, reminds):
        return True
    return any(_has_head(words[: cue.start()], cue[0]) for cue in _SETS.finditer(words))


def _has_head(before: str, cue: str) -> bool:
    head = _BOUND_COMMA.split(before)[-1]
    if not head:
        return cue == "只"
    return len(head) <= MOST_HEAD and not _NO_THING.match(head)


_IDIOMS = re.compile(
    "[怪了舍恨巴由见免顾值要]不得|(?<!预)算不得|不得(?:了|而知|其)|必须(?:承认|说[，是]|给.{0,6}赞|点赞)"
    "|千万要?(?:保重|小心|注意)|不要[这那]样"
    "|不要说(?:[一二三五十百千万\\d你我他是]|这)|要不要|不要(?:紧|脸|命|钱|担心|客气|着急|难过|害怕"
    "|怕|伤心|太|灰心|放弃|气馁|生气|哭|想太多|多想|误会|这么|那么|忘记(?!加|在|给|写)|了|吵|急|慌"
    "|紧张|自责|勉强|介意|见外|谢|开玩笑|逗|焦虑|沮丧|难为|让自己|给自己|压抑|过于|过度|总是|老是"
    "|一直(?:想|觉得))"
    "|(?<!请)(?<!都)(?<!们)别(?:生[我你他她]|人|的|处|家|样|墅|名|致|说(?!明)|提了|担心"
    "|客气|着急|难过|怕|伤心|急|太|哭|想太多|多想|误会|这么|那么|闹|逗|吵|慌"
    "|紧张|生气|自责|开玩笑|介意|灰心|放弃|忘了|气馁|见外|谢|扭|看|针|具|离|让自己"
    "|给自己|总是|老是|光|介|号|来无恙|提多|有(?:用心|一番|风味))"
    "|[特区性个差级类告分送离识辨派有]别|以后(?:再也)?不(?:会|了)|以后(?:再说|再聊|再看"
    "|再谈|再来|有机会|有空|有时间|会(?!议|员|计)|还会|我|他|她|咱|能|可以(?!不)|的|呢"
    "|吧|想|见|怎么|什么|谁|常|多来|多联系|有)"
    "|以后[，,]?(?:我|他|她|咱)们?|(?:我|他|她|咱们?|我们)(?:会|要|一定|都)?记住|记住了"
    "|记得(?:他|她|你|我|那|这|小时候|以前|当时|吗|很)"
    "|只能说|只能活|只能这样|只能(?:是)?靠|必须的|一定要(?:幸福|加油|开心|快乐|坚持|相信"
    "|好好|去(?:看|试|尝|玩)|来|尝|看看|试试|注意(?:身体|休息|安全)|保重|努力|珍惜|照顾"
    "|记得)"
    "|永远(?:爱|喜欢|支持|的|在一起|是|都是|记得|不会|都不会|陪|年轻|怀念)|始终(?:是|没"
    "|觉得|认为|相信|在)|千万(?:富|人|元|级|别(?:担心|客气|放弃|着急|难过|灰心))"
    "|不能不|不得不|不再(?:是|见|有|像|年轻|害怕|孤|犹豫|那么|这么)|禁不住|情不自禁"
    "|不可思议|不许愿|绝不(?:放弃|后悔|认输)|请(?:问|教|求|假|客)|禁止(?:吸烟)?标志"
)
_QUESTION = re.compile(
    "[?？]$|(?:吗|呢|么|没)[。！!~～]*$|要不要|是不是|能不能|可不可以|有没有|为什么|为啥"
    "|怎么(?!样都|都)|什么时候|哪[里些个儿]|多少|谁(?![^，。？?]{0,6}[都也])|几点"
)
_POLITE = re.compile(
    "(?:能不能|可不可以|可以|能|麻烦你?|请)[^。！？?]{0,20}(?:以后|今后|从现在|每次|始终"
    "|一直|一律|全程|都用|不要再|别再)"
    "|(?<!我们)(?<!我)(?:以后|今后|从现在|每次)[^。！？?]{0,20}(?:能不能|可不可以"
    "|[你您]可以|请)[^。！？?]{2,}"
)
_PERSON = re.compile(
    "我(?!要求|希望|想让|想要你|要你|让你|需要你|们?的|不希望|不想让|不要你|再?说|明确"
    "|同意|确认|批准|没|要是|问|发|给|让)|他|她|人家|咱|大家(?!注意)|孩子|老板|妈|爸"
    "|朋友|老师|医生|领导|同事|自己|据说|听说|人们|人生|爱情|生活"
)
_TO_YOU = re.compile("你(?!们?[的]?(?:自己|家))|您|请|麻烦")

_STRONG = re.compile(  # always a standing instruction
    "从现在(?:起|开始)|从今(?:以后|往后|天起|天开始|后)|今后|往后|此后|以后"
    "|每(?:个?[周天月日晚早年]|个?星期)[^，,。我]{0,8}(?:把|给我|发给|提醒我|[叫喊催]我|汇报|通知)"
    "|每次(?![和跟与])(?=[^，,。]*[，,]?[^，,。]*(?:必须|前(?:提醒|告诉|通知|问)我|先|请|务必"
    "|都(?:要|用|附|给我|把|写|加|按|检查|运行|更新|问|先|告诉|得|必须|需)|要(?!求)))"
    "|每当(?=.*(?:都|要|必须|先|请))|凡是|凡(?=.*(?:必须|一律|都|要|不))|一律|无论(?:如何|什么"
    "|任何)[^，,。]*[，,]?[^，,。]*(?:不|要|必须|都)"
    "|任何(?:时候|情况下?|人)[^，,。]{0,8}(?:不|要|必须|别|都)|绝对?不(?:要|能|允许|可"
    "|得|许|准)|千万(?:不|别|要)|切勿|切记|严禁|禁止|不得|不许|不准|不允许|务必"
    "|未经[^，,。]{1,16}[，,]?[^，,。]{0,10}(?:不|禁止|勿)"
    "|(?<![^，,。！!；请你您要须答复码])(?:始终|永远)(?:用|使用|保持(?![着了])|遵|不要"
    "|不能|不得|别|先|以|按|把|在|只)|请(?:你|您)?(?:始终|一直|永远|全程|务必|每次)"
    "|全程(?=[^，,。]{0,3}(?:用|使用|保持|请|不要))|后续(?:都|请|所有|一律|不)"
    "|接下来(?:都|请|所有|的?所有|不要|一直|全部)|长期(?:有效|遵守)|整个(?:对话|项目"
    "|会话)"
)
_ORDER = re.compile(  # a standing instruction unless it is for this once
    "只(?:推荐|使?用|看|回答|讨论|选|订|买|允许|接受|输出|写|改|修改|显示|提供|给我)"
    "|必须|只能|只准|只许|只可以?(?!惜)|一定(?:要|得|不能|不要)|不要"
    "|(?<![特区性个差级类告分送离识辨派有])别|勿|请?记住|请?记得(?=每|在每|先|要|用|加)"
    "|不再|禁用|保密|仅(?:限|可|能|用|使用|允许|供|在)|只限|由我(?:来)?(?:决定|确认|审批"
    "|批准)|需要?我(?:的)?(?:确认|批准|同意|许可)|不可以|不可(?=[修改删用写提动])"
    "|不能(?:直接|擅自|随意|随便|写|改|删|提交|使用|用|出现|超过|少于|低于|多于|高于"
    "|包含|泄露|公开|透露|修改|动|碰|推送|上线|部署|暴露|有|打|发|硬编码|依赖|引入|带|含"
    "|跳过|省略|缺)"
    "|(?:不要|不能|不得|不|别)超过(?=\\s*[一二三四五六七八九十百千\\d])"
    "|控制在[^，,。]{1,12}(?:以内|之内|内|以下)|不(?:应|该|应该"
    "|该有)(?=[使用写改含有出包])|应(?:当|该)?(?:统一|始终|全部|一律)"
)
_ALL = re.compile(
    "(?:所有|每个|每条|每一|全部|任何|各个|凡)[^，,。；;！!？?]{1,24}(?:都(?:要|必须|得|应|请|用"
    "|使用|写|按|放|加|不(?:要|能|得|许|准)|只|先|附|标|由)|一律|统一|要(?!求|是)|必须|应当?(?!有"
    "|该是)|得(?=先|用|写|加|按)|请|(?<![费作信日常])用(?![户品途于心完])|不(?:要|能|得|许|准|可))"
    "|(?:统一|一律|全部|都)(?:使用|采用|改?用|写成|按|以|放在?|加上?|换成)"
)
_STYLE = re.compile(
    "请?(?:全程|始终|一直|统一|都|只|尽量|坚持)?用[^，,。！？?]{0,12}?(?:语|文|话|口吻"
    "|语气|格式|风格|单位|方式|英语|表格|列表|图表)(?:来|给我|跟我|和我|对我)?(?:回答"
    "|展示|列出|呈现|表示|回复|交流|沟通|对话|写|输出|聊|说话|注释|命名|作答)"
    "|(?:回答|回复|输出|说话|答案|消息|回话)(?:要|请|应该?|得|都|尽量|必须)?(?:尽量|保持"
    "|再)?(?:简短|简洁|简单|详细|精炼|正式|口语化|友好|礼貌|用|短一?点)"
    "|(?:请)?(?:叫|称呼?|喊)我(?:为|作|叫)?(?!的|去|来|吃|们|做|干|起|回|帮|过|想|说|看"
    "|在|不|怎|什|妈|爸)[^，,。！？?]{1,8}(?=$|[，,。！!]|就(?:好|行|可以)|吧)"
    "|(?:先|要先|得先|必须先)(?:问|告诉|通知|跟|和|与|征求|得到|经过|征得)(?:一下)?我"
    "|(?:经过?|得到|征得|等)我(?:的)?(?:同意|确认|批准|许可)(?:后|之后|再|才)|(?:之前"
    "|以前|前)(?:都)?(?:先|要|必须|请|务必)"
    "|(?:请|务必|(?<=[，,。；])|(?<![^\n]))(?:保持|遵守|遵循|沿用)(?!联系|微笑|好心情"
    "|健康|心情|乐观|积极|下去|住)[^，,。]{2,20}|默认(?:使用|用|为|采用|按|输出|语言)"
    "|请?避免(?!不了|的)[^，,。]{2,}|不要再|别再|停止(?:使用|发送|推荐|询问|添加)"
    "|(?<![^，,。；])请?尽量(?:不|少|多?用|使用|别|避免|简)|如果[^，。]{2,30}[，,]?(?:就"
    "|先|要|必须|请)(?:停|问|告诉|通知|联系|不要|别|立即|马上)|用[^，,。]{1,12}(?:代替"
    "|而不是|，不要用|,不要用|不要用|不用)[^，,。]{1,12}|优先(?:使用|用|选择|考虑|采用)"
)
_ONE_OFF = re.compile(
    "这次|这一次|今天先|暂时|先不(?:要|用)|先别|等一下|等会儿?|现在(?:先)?(?:不要|别)"
    "|还不要|一会儿?|待会儿?|今晚|等等"
)
_STORY = re.compile(
    "说过?[：:，,]|告诉我|觉得|认为|听说|据说|曾经|小时候|当年|如果(?:我|他)|要是(?:我"
    "|他)|为了(?:我|他)|(?:谢谢|感谢)(?:你|您)"
)
_FLAT = re.compile("以后|今后|往后|此后")
_ORDERS = re.compile(
    "请|不|别|勿|只|都|要|必须|务必|一律|统一|先|用|叫|改|记|得|按|禁|全部|优先|默认|由|放|写|保持"
)
_NEGATIVE = re.compile(
    "不要|别|勿|不得|不许|不准|不允许|禁止|严禁|不能|不可|绝不|不再|避免|停止|不用"
    "|不超过|不(?:应|该)|不[放加写带含留吃接收打做]|未经"
)
_TELLS_OF_US = re.compile(
    "[，,]?(?:我|他|她|它|咱)(?!们?的?(?:代码|项目|回答|文档)|说|问|让|发|要求|希望|要你|想让|叫"
    "|们(?:用|统一|都|改|只|不))"
)
_TELLS_BEFORE = re.compile("[才就也还又真却所因]$|^(?:这|那)(?!个?项目|条规则)")
_STOP = re.compile("[，,；;。！!]")
_COMMA = re.compile("[，,；;：:。！!、]|\\s{1,}|——")


def is_rule(sentence: str) -> bool:
    """Whether a Chinese sentence, masked, is a standing instruction."""
    words = sentence.strip(" \t*_\"'")
    if _QUESTION.search(words):
        return bool(_POLITE.search(words)) and not re.match(
            "为什么|你?怎么|是不是|什么|我|他|她", words
        )
    words = _IDIOMS.sub("＿", words)
    if _ONE_OFF.search(words) and not _STRONG.search(words):
        return False
    return _is_strong(words) or _is_order(words) or _is_style(words) or is_bound(words)


def is_negative(sentence: str) -> bool:
    """Whether the sentence forbids something."""
    return bool(_NEGATIVE.search(sentence))


def _clause_before(words: str, at: int) -> tuple[str, str]:
    """The text before `at` in its clause, and the sentence before that clause."""
    starts = [stop.end() for stop in _COMMA.finditer(words, 0, at)]
    start = starts[-1] if starts else 0
    return words[start:at], words[:start]


def _is_addressed(words: str, at: int) -> bool:
    """Whether the cue at `at` is for the listener, and not about somebody else."""
    before, earlier = _clause_before(words, at)
    if _TO_YOU.search(before):
        return not _PERSON.match(before)
    if _PERSON.search(before):
        return False
    return not _STORY.search(earlier + before)


def _is_strong(words: str) -> bool:
    for cue in _STRONG.finditer(words):
        rest = words[cue.end() :]
        if not _is_addressed(words, cue.start()) or (len(rest) < 2 and len(words) < 6):
            continue
        is_flat = _FLAT.match(cue[0]) and not _ORDERS.search(rest[:24])
        if not is_flat and not _TELLS_OF_US.match(rest):
            return True
    return False


def _is_order(words: str) -> bool:
    for cue in _ORDER.finditer(words):
        rest = _STOP.split(words[cue.end() :], maxsplit=1)[0].strip()
        before, earlier = _clause_before(words, cue.start())
        if cue[0].endswith("记住"):
            rest = words[cue.end() :].strip("：:，, ")
        is_whole = "在" in cue[0] or "我" in cue[0] or cue[0] == "保密"
        if (len(rest) < 2 and not is_whole) or not _is_addressed(words, cue.start()):
            continue
        if rest.startswith(("＿", "有点")) or (rest.startswith("是") and not before):
            continue
        if cue[0] not in ("必须", "只能", "一定要", "一定得", "不再", "只可", "只可以"):
            return True
        is_of_others = not before and _PERSON.search(earlier) and not _TO_YOU.search(earlier)
        if not is_of_others and not _TELLS_BEFORE.search(before):
            return True
    return False


def _is_style(words: str) -> bool:
    if re.search("推荐|介绍|帮我(?:查|找|订)", words):
        return False
    return any(
        _is_addressed(words, cue.start())
        for pattern in (_ALL, _STYLE)
        for cue in pattern.finditer(words)
    )
