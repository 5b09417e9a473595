"""Finds statements that bind a thing to a value, and tells which later ones replace which.

“Use V as the staging API base URL” and “the staging API base URL is W” name one thing, by the same
words around values of one kind. What asks, supposes, compares, plans or tells of the past binds
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ctxcore.facts.dates import DAY, MONTH
from ctxcore.facts.reading import Sentence, plain_words
from ctxcore.facts.slots import settings_in
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.identifiers import EMAIL, URL
from ctxcore.text.inflection import stem
from ctxcore.text.languages import HAN, has_han
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

# Chosen: a longer message is a text of others, a longer sentence a story.
MOST_CHARS: Final = 2_000
SENTENCE_CHARS: Final = 240
MOST_SLOT: Final = 6  # words of a name besides those for its kind; chosen: more are a story
WORD_CHARS: Final = 12  # of a Chinese value without signs; chosen

_HEADS: Final = """
address: url link address endpoint uri website site host hostname domain 网址 地址 链接 域名
 主机 接口
date: date deadline due day time timing clock hour target schedule 日期 截止日期 截止时间 截止日 截止
 期限 时间 时刻
budget: budget spend spending expense expenses cost costs 预算 花费 开销 成本
price: price fee rate rent 价格 单价 费用 租金
limit: cap ceiling limit maximum max quota 上限 限额 额度 最大值
least: minimum floor 下限 最小值
name: name codename label title nickname 名称 名字 代号 昵称 标题
owner: owner owns owned belongs lead duty charge responsible 负责人 对接人 负责 值班
contact: contact 联系人
approver: approver approves 审批人
reviewer: reviewer reviews 评审人 审核人
branch: branch 分支
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
count: replicas workers threads retries concurrency 副本数 并发数 线程数 重试次数 人数 数量
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
phase: phase 阶段
server: server cluster 服务器 集群
bucket: bucket 存储桶
project: project 项目
repository: repository repo 仓库
"""
_SEVERAL: Final = frozenset({"project", "name"})  # also what other things are told apart by
_NAMING: Final = frozenset({"calling", "called", "designated", "nicknamed"})
_HEAD_OF: Final = {
    (stem(word) if word.isascii() else word): name
    for row in re.split(r"\n(?=\S)", _HEADS.strip())
    for name, _, words in [row.partition(":")]
    for word in words.split()
    if name not in _SEVERAL or word not in ("project", "项目")
}
_CONTRAST: Final = word_set("""
    stag staging production prod dev development test testing qa local demo sandbox canary preview
    primary secondary backup main replica standby failover internal external public private mobile
    web desktop ios android old new first second third next last left right north south east west
    up lower inner outer read writ input output draft final spar other frontend backend
    her his their
""")
_CONTRAST_HAN: Final = late(
    "测试|生产|线上|预发|开发|本地|正式|备用|备份|主|内网|外网|内部|外部|前端|后端|移动|旧|老"
    "|第[一二三四五六七八九十]|[上下左右东西南北]|他|她|对方"
)
_EMPTY: Final = word_set("""
    a about actual actually after again all also an and any as at be becaus been being both but by
    can current currently do done effective ever final for from going good has hav have here i if
    in instead into is it its it's just let let's liv lives located mak make may mov moved my new
    no not now of off on once one only onto or our ours out over own please quick right run runs
    same see set should sit sits so still that the them then there they thes these thing this those to too
    updat update us use used using very was we well were what which who will with your you yours
    we're we've i'm i'll we'll today week chang change changed switch switched call called calling
    point stay stays keep kept put send go goes goes writ get hosted host based bas fix fixed cap
    below under total exactly around again point pick treat longer than rather per each been rotat
    rotated never must shall need needs new correction actual replac replaced forget drop refer known base
    work works working official fact rule not set back becom becomes belong belongs from until
""")
_FORM = late(
    r"\b(?:is|are|will be|becomes?|lives?|runs?|sits?|belongs?|owns?|goes to|stays|moved|moves"
    r"|changed|changes|switched|switches|renamed|designated|rotated|fixed|capped|set|scheduled"
    r"|hosted|handles|we call|(?:using|calling|work(?:ing)? on|switch(?:ing)? to|go(?:ing)? with"
    r"|report to|refer to|wants|prefers|must|shall|stays?))\b|'s (?:now )?(?:at|in|on|called)\b"
    r"|^(?:(?:please|let'?s|ok(?:ay)?|so|and|but|then|now|actually|instead|just|we|we'll|we now"
    r"|i want to|you can|from now on|for now|going forward)\W+)*(?:never|do not|don't|only|use|set|make|switch|change|move"
    r"|point|update|call|name|rename|keep|put|send|deploy|report|write|take|go with|replace|treat"
    r"|raise|lower|increase|reduce|bump|extend|push|pin)\b"
)
_NOT = late(
    r"\?|\b(?:if|whether|unless|would|could|might|maybe|perhaps|suppos\w*|imagine|assum\w*"
    r"|for example|for instance|e\.g|such as|say,|what about|how about|should we|was|were|used to"
    r"|had|until|previously|formerly|originally|earlier|yesterday|today|tomorrow|last|ago|once"
    r"|plan(?:s|ned|ning)|plan (?:to|on|for)|eventually|someday|next (?:week|month|quarter|year|sprint)|consider\w*"
    r"|thinking of|thinking about|than|versus|vs|like|similar|compared|he said|she said|they said"
    r"|says|told|heard|according|apparently|reportedly|claims?|wrote|quoted?|often|usually"
    r"|sometimes|either|or(?! (?:below|above|less|more|fewer|under|over)\b)|only works|fails?|failed|failing|looks?|seems?|feels?|think|guess|hope"
    r"|wish|one of|some of|most|many|both|between)\b"
)
_SIGN = late(
    r"\b(?:now|instead|mov(?:e|ed|es|ing)|chang(?:e|ed|es|ing)|switch(?:ed|es|ing)?|updat(?:e|ed)"
    r"|new|renam(?:e|ed)|rotat(?:e|ed)|no longer|from now on|going forward|actually|correction"
    r"|replac(?:e|ed|es|ing)|forget|anymore|make (?:it|the|that|our|my)|back to|rais(?:e|ed)"
    r"|lower(?:ed)?|increas(?:e|ed)|reduc(?:e|ed)|bump(?:ed)?|extend(?:ed)?|push(?:ed)?)\b"
)
_OLD = late(  # before a value that holds no more
    r"(?:instead of|rather than|not|forget(?: about)?|drop|from|replac(?:e|es|ing)|no longer"
    r"|retire)(?: the| our| to| on| in| at)?\W{0,3}$"
)
_NUMBERS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty"
    "|sixty|seventy|eighty|ninety"
)
_LABEL = late(
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
    rf"|(?:{_NUMBERS})(?:[ -](?:{_NUMBERS}|hundred|thousand|million))* (?:dollars|euros|pounds|yuan)",
    "day": r"\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{2,4}|(?<![\w-])(?:0\d|1[0-2])-[0-3]\d(?![\w-])"
    rf"|\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b|\b{DAY}\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|[下本这]?(?:周|星期|礼拜)[一二三四五六日天]",
    "clock": r"\b\d{1,2}:\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]\.?m\b"
    r"|(?:凌晨|早上|上午|中午|下午|傍晚|晚上)?[一二三四五六七八九十两\d]{1,2}点(?:半|一刻|三刻)?",
    "code": r"(?<![\w./-])(?=[\w./#-]*(?:\d|[a-z][./][A-Za-z]|_))(?=[\w./~#-]*[A-Za-z])"
    r"[A-Za-z~/][\w./~#-]{1,60}(?<=\w)|(?<![\w./-])(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?",
    "number": r"(?<![\w.-])\d[\d,.]*(?<=\d)(?:\s?(?:%|ms|s|seconds?|min(?:utes?)?|hours?|days?|weeks?"
    r"|[KMGT]i?B|people|guests|秒|分钟|小时|天|人|个|次|倍))?(?![\w-])",
    "name": r"(?<![\w.])(?:[A-Z][a-z]+(?:[ -][A-Z][\w.]*){1,3}|(?<=[a-z,] )[A-Z][a-z]{2,}\w*)"
    r"|`[^`\n]{2,40}`",
}
_VALUE = {kind: late(source) for kind, source in _VALUES.items()}
_ANY = late(
    r"\d|://|@|`|[a-z][./_][A-Za-z]|[a-z,] [A-Z][a-z]|^\W*[A-Z]\w+ [A-Z][a-z]|dollars|euros"
)
_UNNAMED = late(
    r"://|@|\d:\d|\d[ap]m|\d-\d\d|\d (?:of )?[jfmasond][aepuco][nbrylgptvc]"
    r"|\b[jfmasond][aepuco][nbrylgptvc][a-z]* \d"
)
_NAMES: Final = frozenset(
    form for word in re.findall("[a-z-]+", _HEADS) for form in (word, f"{word}s")
) | word_set("""
    calling called designated nicknamed monday tuesday wednesday thursday friday saturday sunday
""")
_STRONG: Final = frozenset({"address", "mail", "day", "clock"})
_TOLD_BESIDE: Final = frozenset({"code", "name", "number"})
_WORD_END, _WORD_BEGIN = late(r"[A-Za-z]+(?= $)"), late(r"^ [A-Za-z]+")
_NAMED_BY: Final = {"money": "currency", "tone": "style", "form": "format", "carrier": "vendor"}
"""Known settings whose head has another name."""
_COLON = late(r"[^:：=]{2,40}[:：=]\s*(?=\S)")
_STAMP = late(r"\s*\[[^\]\n]{0,80}\]\s*")
_CLAUSES = late(
    r"[;；。]|, |，|\s[–—-]\s|\b(?:and (?=the |our |my |its |it )|but |because |so (?=the |we ))"
)
_ASIDE = late(r"\([^()]*\)|（[^（）]*）")
_ONLY = late(r"^(?:Only|The|Our|My|Your|This|New|Use|Set|Make|Let|And|But|So|Now|Please) ")
_WORD = late(r"[A-Za-z][A-Za-z'-]*|\d+")

_FORM_HAN = late(
    "是|为|[改换调设定订放挪搬移迟前期][到成在为至]|改用|换用|设置|叫|归|作为|当作|在|走|(?<!\d)[：:=]|采用|使用|用"
)
_NOT_HAN = late(
    "[?？吗呢]|如果|要是|假如|假设|比如|例如|譬如|以前|之前|原来|曾经?|本来|去年|上[次周月]|昨天|今天"
    "|明天|也许|可能|大概|或者|还是|打算|计划|考虑|听说|据说|[他她]说|比|差不多|好像|似乎|应该|想|不知道"
    "|是不是|没有|什么|怎么|哪"
)
_SIGN_HAN = late("[改换调挪搬移]|推迟|提前|延期|现在|以后|今后|从今|更新|更正|新的|不再|不用")
_LINK_HAN = late(
    "(?:现在|目前|以后|今后|已经|就|统一|都)*(?:从.{1,20}?)?(?:[改换调设定订放挪搬移](?:到|成|在|为)|改用"
    "|换用|设置(?:为|成)|作为|当作|采用|使用|叫|归|是|为|用|在|：|:|=)(?:了)?"
)
_EMPTY_HAN = late(
    "推迟|提前|延期|我们的?|咱们?的?|这个|那个|现在|目前|以后|今后|从今|已经|统一|请|把|将|的|了|吧|就|都|也|和|与"
    "|[改换调设定订放挪搬移][到成在为]|改用|换用|设置|作为|当作|采用|使用|更新|更正|新|叫|归|是|为|用|在|不再"
    "|[：:=，,。！!、\\s]|负责(?=$)"
)
_HEAD_HAN = late("|".join(sorted((w for w in _HEAD_OF if not w.isascii()), key=len, reverse=True)))


class Binding(NamedTuple):
    """A thing, and the value that a statement gives it."""

    kind: str
    """The kind of the value: an address, an amount of money, a day."""
    slot: frozenset[str]
    """The words that name the thing, besides those of `heads`."""
    heads: frozenset[str]
    """What kinds of things its words say it is, such as a limit."""
    value: str
    changes: bool
    """Whether the statement says that something changes."""
    text: str = ""
    """The clause, verbatim."""

    @property
    def subject(self) -> str:
        """The binding as one text, as facts store it."""
        parts = (" ".join(sorted(self.slot)), " ".join(sorted(self.heads)), self.value)
        return "|".join((self.kind, *parts, "!" if self.changes else ""))


@lru_cache(maxsize=4_096)
def parse_subject(subject: str) -> Binding | None:
    """The binding that is stored as the subject of a fact; None for another subject."""
    kind, *parts = subject.split("|")
    if len(parts) < 4:
        return None
    slot, heads, *value, sign = parts
    return Binding(
        kind, frozenset(slot.split()), frozenset(heads.split()), "|".join(value), bool(sign)
    )


def replaced(fact: Fact, earlier: Sequence[Fact]) -> list[str]:
    """The keys of `earlier` facts of people that bind what `fact` binds to another value.

    Statements name the same thing by the same words. One that says that something changes may name
    it by fewer or more, where that leaves only one.
    """
    new = parse_subject(fact.subject)
    if new is None:
        return []
    bound = [(old.key, one) for old in earlier if (one := parse_subject(old.subject))]
    others = [(key, one) for key, one in bound if one.kind == new.kind and one.value != new.value]
    same = [key for key, one in others if _is_same(new, one)]
    if same or not new.changes:
        return same
    near = [key for key, one in others if _is_near(new, one)]
    return near if len(near) == 1 else []


def are_apart(one: Fact, other: Fact) -> bool:
    """Whether two facts bind things that are told apart, such as a main and a spare one."""
    mine, theirs = parse_subject(one.subject), parse_subject(other.subject)
    if mine is None or theirs is None or mine.kind != theirs.kind:
        return False
    return _is_contrasted(mine.slot ^ theirs.slot)


def _is_contrasted(more: frozenset[str]) -> bool:
    return any(word in _CONTRAST or word.isdigit() or word[0] == "+" for word in more)


def _is_same(new: Binding, old: Binding) -> bool:
    heads = new.heads & old.heads
    if heads and new.slot | new.heads == old.slot | old.heads:
        return True
    if new.slot != old.slot or not _may_be_one(new, old):
        return False
    is_named = bool(heads) or new.kind in _STRONG or new.changes
    return is_named and bool(new.slot or heads)


def _is_near(new: Binding, old: Binding) -> bool:
    if not _may_be_one(new, old) or not (new.slot <= old.slot or old.slot <= new.slot):
        return False
    is_apart = _is_contrasted(new.slot ^ old.slot)
    return not is_apart and bool(new.heads & old.heads or len(new.slot & old.slot) > 1)


def _may_be_one(new: Binding, old: Binding) -> bool:
    return not (new.heads and old.heads) or bool(new.heads & old.heads)


def bound_by(said: Sequence[Sentence], role: Role) -> list[tuple[Binding, ...]]:
    """What each sentence of a message binds; nothing where no person speaks, or much is pasted."""
    if role != "user" or sum(len(sentence.text) for sentence in said) > MOST_CHARS:
        return [()] * len(said)
    return [bindings(sentence) for sentence in said]


@lru_cache(maxsize=4_096)  # rules and settings ask for the same
def bindings(sentence: Sentence) -> tuple[Binding, ...]:
    """What a sentence of a person binds; nothing for most."""
    words = sentence.words
    if len(words) > SENTENCE_CHARS or len(words) < 4:
        return ()
    if words[0] == "[" and words[-1] == "]":  # a mark by a program
        return ()
    is_han = not words.isascii() and has_han(words)
    if not is_han and not (_may_name(words) and _ANY.search(sentence.masked)):
        return ()
    return _bindings(sentence.masked, is_han)


def _may_name(words: str) -> bool:
    """Whether an English sentence has a word that names things, or a value that needs none."""
    return not _NAMES.isdisjoint(plain_words(words)) or bool(_UNNAMED.search(words))


def unlabelled(text: str) -> str:
    """`text` without a stamp and the label that marks it as one to remember."""
    stamp = _STAMP.match(text) if "[" in text else None
    said = text[stamp.end() :] if stamp else text
    label = _LABEL.match(said) if ":" in said or "：" in said else None
    return said[label.end() :] if label else said


def is_labelled(sentence: Sentence) -> bool:
    """Whether a person has marked a sentence as one to remember: “Decision: …”, 备注：…"""
    found = (
        _LABEL.match(sentence.masked)
        if (":" in sentence.masked or "：" in sentence.masked)
        else None
    )
    return bool(found) and len(sentence.masked) - (found.end() if found else 0) >= 8


def _bindings(text: str, is_han: bool) -> tuple[Binding, ...]:
    said = unlabelled(text)
    plain = said.lower().replace("’", "'")
    if not (is_han or any(map(said.__contains__, ",:=")) or _FORM.search(plain)):
        return ()
    if (_NOT_HAN if is_han else _NOT).search(plain):
        return ()
    changes = bool((_SIGN_HAN if is_han else _SIGN).search(text.lower()))
    read = _read_han if is_han else _read
    return tuple(found for clause in _clauses(said) if (found := read(clause, changes)))


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in (*(found.end() for found in _CLAUSES.finditer(text)), len(text)):
        if clause := text[start:end].strip(" ,;，；。.!！\x00"):
            yield clause
        start = end


def _read(clause: str, changes: bool) -> Binding | None:
    """What an English clause binds."""
    if not _FORM.search(clause.lower()) and not _names_value(clause):
        return None
    found = _value_in(_ASIDE.sub(" ", clause))
    if found is None:
        return _read_setting(clause, changes)
    kind, value, rest = found
    slot, heads = _named(rest)
    if kind in _TOLD_BESIDE and len(heads) > 1:
        beside = _named(" ".join(_beside(clause, value)))[1]
        if beside:  # “the branch is based on commit V” names a commit
            slot, heads = slot | (heads - beside), beside
    return _binding(kind, slot, heads, value, changes, clause)


def _beside(clause: str, value: str) -> Iterator[str]:
    """The words next to a value: of “in the V region” both."""
    before, _, after = clause.partition(value)
    yield from _WORD_END.findall(before)
    yield from _WORD_BEGIN.findall(after)


def _names_value(clause: str) -> bool:
    """Whether a clause is a name and its value: “Port: 8080”."""
    colon = _COLON.match(clause)
    if colon is None or not _named(colon[0])[1]:
        return False
    return any(pattern.match(clause, colon.end()) for pattern in _VALUE.values())


def _read_setting(clause: str, changes: bool) -> Binding | None:
    """What a clause binds whose value is one of a known setting, such as a language."""
    slot, heads = _named(clause)
    if not heads:
        return None
    for name, values in settings_in(clause).items():
        if len(values) == 1 and _NAMED_BY.get(name, name) in heads:
            (value,) = values
            slot = frozenset(word for word in slot if word != stem(value))
            return _binding(name, slot, heads, value, changes, clause)
    return None


def _binding(
    kind: str,
    slot: frozenset[str],
    heads: frozenset[str],
    value: str,
    changes: bool,
    clause: str,
) -> Binding | None:
    if len(slot) > MOST_SLOT or not (heads or (slot and kind in _STRONG)):
        return None
    return Binding(kind, slot, heads, value.lower(), changes, " ".join(clause.split()))


def _value_in(clause: str) -> tuple[str, str, str] | None:
    """The kind of value, the value and the rest of a clause; None where several may be meant."""
    for kind, pattern in _VALUE.items():
        found = [one for one in pattern.finditer(clause) if one[0].lower() not in _HEAD_OF]
        current = [one for one in found if not _OLD.search(clause[: one.start()].lower())]
        if len(current) == 1 or len({one[0] for one in current}) == 1:
            rest = clause
            for one in reversed(found):
                rest = f"{rest[: one.start()]} {rest[one.end() :]}"
            return kind, _ONLY.sub("", current[0][0].strip("`")), rest
        if found:
            return None
    return None


def _named(rest: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a clause that name a thing, and what kinds of things its words say it is."""
    slot, heads = set[str](), set[str]()
    for word in _WORD.findall(rest.lower().replace("’", "'").replace("-", " ")):
        plain = stem(word.removesuffix("'s"))
        if word in _NAMING:
            heads.add("name")
        elif head := _HEAD_OF.get(plain):
            heads.add(head)
        elif plain not in _EMPTY and word not in _EMPTY:
            slot.add(plain)
    return frozenset(slot), frozenset(heads)


def _read_han(clause: str, changes: bool) -> Binding | None:
    """What a Chinese clause binds."""
    if not _FORM_HAN.search(clause):
        return None
    found = _value_in(clause)
    if found is None:
        link = _LINK_HAN.search(clause, 2)
        if link is None:
            return None
        before, value = clause[: link.start()], clause[link.end() :].strip()
        if not 1 < len(value) <= WORD_CHARS or not _HEAD_HAN.search(before[-4:]):
            return None
        found = "words", value, before
    kind, value, rest = found
    heads = frozenset(_HEAD_OF[word] for word in _HEAD_HAN.findall(rest))
    others = _HEAD_HAN.sub(" ", rest)
    left = _EMPTY_HAN.sub(" ", others).split()
    contrast = {f"+{word}" for word in _CONTRAST_HAN.findall(others)}
    slot = frozenset("".join(left)) | contrast
    if len(slot) > 2 * MOST_SLOT or not (heads or (slot and kind in _STRONG)):
        return None
    return Binding(kind, slot, heads, value.lower(), changes, clause)
