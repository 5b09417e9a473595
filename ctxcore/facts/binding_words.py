"""The words and patterns that tell a statement which binds a thing to a value.

Heads tell of what kind a thing is. Words of one class name the same thing: a cap and a ceiling.
"""

from __future__ import annotations

import re
from typing import Final

from ctxcore.facts.dates import DAY, MONTH
from ctxcore.text.identifiers import EMAIL, URL
from ctxcore.text.inflection import stem
from ctxcore.text.languages import HAN
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

_HEADS: Final = """
address: url link address endpoint uri website site host hostname domain 网址 地址 链接 域名
 主机 接口
date: date deadline due day time timing clock hour target schedule 日期 截止日期 截止时间 截止日
 截止 期限 时间 时刻
budget: budget spend spending expense expenses cost costs 预算 花费 开销 成本
price: price fee rate rent 价格 单价 费用 租金
limit: cap ceiling limit maximum max quota 上限 限额 额度 最大值
least: minimum floor 下限 最小值
name: name codename label title nickname 名称 名字 代号 昵称 标题
owner: owner owns owned belong lead duty charge responsible 负责人 对接人 负责 值班
contact: contact 联系人
approver: approver approves approve approving approval 审批人
reviewer: reviewer reviews 评审人 审核人
branch: branch rebased 分支
commit: commit 提交号
region: region datacenter 区域 地区 机房 可用区
zone: timezone zone 时区
port: port 端口
model: model 模型 型号
version: version 版本
database: database db 数据库
language: language 语言
framework: framework 框架
venue: venue location place 地点 会场 场地
room: room 房间 会议室
path: path folder directory 路径 目录 文件夹
file: file 文件
key: key token 密钥 令牌
code: code passcode 编码 口令 验证码
password: password 密码
number: number id identifier 编号 号码 账号
phone: phone mobile 电话 手机号 手机
mail: email mail e-mail inbox 邮箱 邮件
channel: channel 频道
queue: queue 队列
timeout: timeout 超时 超时时间
count: replicas workers threads retries retry concurrency 副本数 并发数 线程数 重试次数 人数 数量
size: size 大小
threshold: threshold 阈值
interval: interval 间隔
colour: colour color theme 颜色 主题
currency: currency 货币 币种
style: style tone 风格 语气
format: format 格式
vendor: vendor supplier provider carrier 供应商 服务商 承运商
hotel: hotel 酒店
flight: flight 航班
seat: seat 座位
phase: phase stage 阶段
server: server cluster 服务器 集群
bucket: bucket 存储桶
project: project 项目
repository: repository repo 仓库
"""
_SEVERAL: Final = frozenset({"project", "name"})  # also what other things are told apart by
NAMING: Final = frozenset({"calling", "called", "designated", "nicknamed"})
_TAKEN: Final = """
took over;taken over;takes over;taking over;handed to;handed over to;passed to
"""
_HANDLED: Final = f"""
handles;handling;handled by;covers;covering;covered by;manages;managing;managed by;looks after
looking after;looked after by;takes care;took care;taken care;taking care
{_TAKEN}
"""


def _phrases(table: str) -> list[str]:
    return re.split("[;\n]+", table.strip())


_TAKES, _HANDLES = "|".join(_phrases(_TAKEN)), "|".join(_phrases(_HANDLED))
HANDLES: Final = late(rf"\b(?:{_HANDLES})\b")  # as an owner does, and others beside them
_HANDLER: Final = rf"[A-Z][a-z]{{2,}}(?= (?:(?:is|has|will|now|just) )*(?:{_HANDLES}|owns)\b)"
ON_CALL: Final = late(r"\b(?:on[- ]call(?: rotation| duty| shift)?|pager(?: duty)?)\b")
HEAD_OF: Final = {
    (stem(word) if word.isascii() else word): name
    for row in re.split(r"\n(?=\S)", _HEADS.strip())
    for name, _, words in [row.partition(":")]
    for word in words.split()
    if name not in _SEVERAL or word not in ("project", "项目")
}
CONTRAST: Final = word_set("""
    stag staging production prod dev development test testing qa local demo sandbox canary preview
    primary secondary backup main replica standby failover internal external public private mobile
    web desktop ios android old new first second third next last left right north south east west
    up lower inner outer read writ input output draft final spar other frontend backend
    her his their
""")
CONTRAST_HAN: Final = late(
    "测试|生产|线上|预发|开发|本地|正式|备用|备份|主|内网|外网|内部|外部|前端|后端|移动|旧|老"
    "|第[一二三四五六七八九十]|[上下左右东西南北]|他|她|对方"
)
EMPTY: Final = word_set("""
    a about actual actually after again all also an and any as at be becaus been being both but by
    can current currently do done effective ever final for from going good has hav have here i if
    in instead into is it its it's just let let's liv lives located mak make may mov moved my new
    no not now of off on once one only onto or our ours out over own please quick right run runs
    same see set should sit sits so still that the them then there they thes these thing this those
    to too
    updat update us use used using very was we well were what which who will with your you yours
    we're we've i'm i'll we'll today week chang change changed switch switched call called calling
    point stay stays keep kept put send go goes goes writ get hosted host based bas fix fixed cap
    below under total exactly around again point pick treat longer than rather per each been rotat
    rotated never must shall need needs new correction actual replac replaced forget drop refer
    known base
    doe without explicit pass exceed nobody anyone anybody els shar disclos reveal activ parked
    work works working official fact rule not set back becom becomes belong belongs from until
    are want wants prefer prefers preferr preferred pleas please every still yet
    circumstanc circumstances progress
""")
_TURN: Final = "raise|lower|increase|reduce|bump|extend|push"
TURN: Final = late(rf"^\W*(?:{_TURN})\b")  # an order, not the lower one of two
FORM = late(
    r"\b(?:is|are|will be|becomes?|lives?|runs?|sits?|belongs?|owns?|goes to|stays|moved|moves"
    r"|changed|changes|switched|switches|renamed|designated|rotated|fixed|capped|set|scheduled"
    r"|parked|branched|rebased|may approve|needs? approval|approv(?:es|ing)|owned"
    rf"|{_HANDLES}"
    r"|hosted|we call|(?:using|calling|work(?:ing)? on|switch(?:ing)? to|go(?:ing)? with"
    r"|report to|refer to|wants|prefers|must|shall|stays?))\b|'s (?:now )?(?:at|in|on|called)\b"
    r"|^(?:(?:please|let'?s|ok(?:ay)?|so|and|but|then|now|actually|instead|just|we|we'll|we now"
    r"|i want to|you can|from now on|for now|going forward)\W+)*(?:never|do not|don't"
    r"|under no circumstances|only|use|set|make|switch|change|move|point|update|call|name"
    r"|rename|keep|put|send|deploy|report"
    r"|write|answer|reply|take|go with|replace|treat"
    rf"|{_TURN}|pin)\b"
)
NOT = late(
    r"\?|\b(?:if|whether|unless|would|could|might|maybe|perhaps|suppos\w*|imagine|assum\w*"
    r"|for example|for instance|e\.g|such as|say,|what about|how about|should we|was|were|used to"
    r"|had|until|previously|formerly|originally|earlier|yesterday|today|tomorrow|last|ago|once"
    r"|plan(?:s|ned|ning)|plan (?:to|on|for)|eventually|someday"
    r"|next (?:week|month|quarter|year|sprint)|consider\w*"
    r"|thinking of|thinking about|than|versus|vs|like|similar|compared|he said|she said|they said"
    r"|says|told|heard|according|apparently|reportedly|claims?|wrote|quoted?|often|usually"
    r"|sometimes|either|or(?! (?:below|above|less|more|fewer|under|over)\b)"
    r"|only works|fails?|failed|failing|looks?(?! after)|seems?|feels?|think|guess|hope"
    r"|wish|one of|some of|most|many|both|between)\b"
)
SIGN = late(
    r"\b(?:now|instead|mov(?:e|ed|es|ing)|chang(?:e|ed|es|ing)|switch(?:ed|es|ing)?|updat(?:e|ed)"
    r"|new|renam(?:e|ed)|rotat(?:e|ed)|no longer|from now on|going forward|actually|correction"
    r"|replac(?:e|ed|es|ing)|forget|anymore|make (?:it|the|that|our|my)|back to|rais(?:e|ed)"
    r"|lower(?:ed)?|increas(?:e|ed)|reduc(?:e|ed)|bump(?:ed)?|extend(?:ed)?|push(?:ed)?"
    rf"|{_TAKES})\b"
)
OLD = late(  # before a value that holds no more
    r"(?:instead of|rather than|not|forget(?: about)?|drop|(?<!approval )from|replac(?:e|es|ing)"
    r"|no longer|retire)(?: the| our| to| on| in| at)?\W{0,3}$"
)
_NUMBERS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty"
    "|sixty|seventy|eighty|ninety"
)
LABEL = late(
    r"(?:\W{0,4})((?:[A-Z][\w]*[ -]){0,2}(?i:facts?|rules?|constraints?|preferences?|goals?|state"
    r"|status|decisions?|decided|note|important|reminder|requirements?|assumptions?|context"
    r"|settings?|config|policy|update|correction|remember|task|owner|scope)"
    rf"|[{HAN}]{{0,4}}(?:事实|规则|约束|偏好|目标|决定|注意|重要|备注|提醒|要求|更新|更正|设定"
    r"|背景|状态))\**[:：]\**\s*(?=\S)"
)
_VALUES: Final = {
    "address": URL.pattern,
    "mail": EMAIL.pattern,
    "money": r"[$€£¥￥]\s?\d[\d,.]*(?<=\d)(?:\s?(?:k|m|million|thousand)\b)?"
    r"|\d[\d,.]*\s?(?:USD|EUR|GBP|CNY|RMB|JPY|CHF|dollars?|euros?|pounds|yuan|元|块钱|块|万元|万|美元|欧元)"
    rf"|(?:{_NUMBERS})(?:[ -](?:{_NUMBERS}|hundred|thousand|million))* (?:dollars|euros|pounds"
    r"|yuan)",
    "day": r"\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{2,4}"
    r"|(?<![\w-])(?:0\d|1[0-2])-[0-3]\d(?![\w-])"
    rf"|\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b"
    rf"|\b{DAY}\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|[下本这]?(?:周|星期|礼拜)[一二三四五六日天]",
    "clock": r"\b\d{1,2}:\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]\.?m\b"
    r"|(?:凌晨|早上|上午|中午|下午|傍晚|晚上)?[一二三四五六七八九十两\d]{1,2}点(?:半|一刻|三刻)?",
    "code": r"(?<![\w./-])(?=[\w./#-]*(?:\d|[a-z][./][A-Za-z]|_))(?=[\w./~#-]*[A-Za-z])"
    r"[A-Za-z~/][\w./~#-]{1,60}(?<=\w)|(?<![\w./-])(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?",
    "number": r"(?<![\w.-])\d{1,3} of \d{1,3}(?![\w-])"
    r"|(?<![\w.-])\d[\d,.]*(?<=\d)(?:\s?(?:%|ms|s|seconds?|min(?:utes?)?|hours?|days?"
    r"|weeks?|[KMGT]i?B|people|guests|秒|分钟|小时|天|人|个|次|倍))?(?![\w-])",
    "name": r"(?<![\w.])(?:[A-Z][a-z]+(?:[ -][A-Z][\w.]*){1,3}|(?<=[a-z,] )[A-Z][a-z]{2,}\w*)"
    rf"|^(?!(?:She|They|You|This|That|Who|Nobody|Someone|Everyone)\b){_HANDLER}"
    r"|`[^`\n]{2,40}`",
}
VALUE = {kind: late(source) for kind, source in _VALUES.items()}
ANY = late(
    r"\d|://|@|`|[a-z][./_][A-Za-z]|[a-z,:] [A-Z][a-z]|^\W*[A-Z]\w+ [A-Z][a-z]|dollars|euros"
    rf"|^\W*{_HANDLER}"
)
UNNAMED = late(
    r"://|@|\d:\d|\d[ap]m|\d-\d\d|\d (?:of )?[jfmasond][aepuco][nbrylgptvc]"
    r"|\b[jfmasond][aepuco][nbrylgptvc][a-z]* \d"
)
NAMES: Final = frozenset(
    form for word in re.findall("[a-z-]+", _HEADS) for form in (word, f"{word}s")
) | word_set("""
    calling called designated nicknamed pager on-call
    monday tuesday wednesday thursday friday saturday sunday
""").union(phrase.split()[0] for phrase in _phrases(_HANDLED))
STRONG: Final = frozenset({"address", "mail", "day", "clock"})
MADE_ALIKE: Final = late(
    r"(?P<folder>[a-z][\w.-]*/)[\w.-]+|(?=[a-f]*\d)(?P<hash>[0-9a-f]{7,40})|\d+ (?P<part>of) \d+"
)
NAMED_BEFORE: Final = frozenset({"code", "day"})
TOLD_BESIDE: Final = frozenset({"code", "name", "number"})
WORD_END, WORD_BEGIN = late(r"[A-Za-z]+(?= $)"), late(r"^ [A-Za-z]+")
NAMED_BY: Final = {"money": "currency", "tone": "style", "form": "format", "carrier": "vendor"}
"""Known settings whose head has another name."""
SCOPE = late(r"\s*(?:(?:in|on|for) [\w ]{2,30}|[a-z]+ly), $")  # where the rest of a sentence holds
COLON = late(r"[^:：=]{2,40}[:：=]\s*(?=\S)")
CLAUSES = late(
    r"[;；。]|, |，|\s[–—-]\s|\b(?:and (?=the |our |my |its |it )|but |because |so (?=the |we ))"
)
ASIDE = late(r"\([^()]*\)|（[^（）]*）")
SPEAKER = late(
    r"\buser['’]s\b|\b(?:this|any) users?\b|\busers? (?=wants?\b|prefers?\b)", re.IGNORECASE
)
ONLY = late(r"^(?:Only|The|Our|My|Your|This|New|Use|Set|Make|Let|And|But|So|Now|Please) ")
WORD = late(r"[A-Za-z][A-Za-z'-]*|\d+")

FORM_HAN = late(
    r"是|为|改由|[交转移]给|[改换调设定订放挪搬移迟前期][到成在为至]|改用|换用|设置|叫|归|作为|当作|在|走"
    r"|(?<!\d)[：:=]|采用|使用|用"
)
NOT_HAN = late(
    "[?？吗呢]|如果|要是|假如|假设|比如|例如|譬如|以前|之前|原来|曾经?|本来|去年|上[次周月]|昨天|今天"
    "|明天|也许|可能|大概|或者|还是|打算|计划|考虑|听说|据说|[他她]说|比|差不多|好像|似乎|应该|想|不知道"
    "|是不是|没有|什么|怎么|哪"
)
SIGN_HAN = late(
    "[改换调挪搬移]|[交转移]给|推迟|提前|延期|现在|以后|今后|从今|更新|更正|新的|不再|不用"
)
LINK_HAN = late(
    "(?:现在|目前|以后|今后|已经|就|统一|都)*(?:从.{1,20}?)?(?:[改换调设定订放挪搬移](?:到|成|在|为)|改用"
    "|换用|改由|[交转移]给|设置(?:为|成)|作为|当作|采用|使用|叫|归|是|为|用|在|：|:|=)(?:了)?"
)
EMPTY_HAN = late(
    "推迟|提前|延期|我们的?|咱们?的?|这个|那个|现在|目前|以后|今后|从今|已经|统一|请|把|将|的|了|吧|就|都|也|和|与"
    "|[改换调设定订放挪搬移][到成在为]|改用|换用|设置|作为|当作|采用|使用|更新|更正|新|叫|归|是|为|用|在|不再"
    "|[：:=，,。！!、\\s]|负责(?=$)"
)
HEAD_HAN = late("|".join(sorted((w for w in HEAD_OF if not w.isascii()), key=len, reverse=True)))
