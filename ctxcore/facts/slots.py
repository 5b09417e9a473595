"""Tells the values of common settings that a text names: a language, a currency, a place, a number.

Two values of one setting exclude each other, whatever the words around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ctxcore.text.languages import simplified

_CLEAR: Final = """
language: english german french spanish italian portuguese dutch russian japanese korean chinese
 mandarin cantonese arabic hindi turkish polish swedish danish norwegian finnish czech greek
 hebrew ukrainian vietnamese thai latin welsh irish 中文 汉语 普通话 英文 英语 日文 日语 德语 德文
 法语 法文 西班牙语 意大利语 俄语 韩语 葡萄牙语 荷兰语 阿拉伯语 粤语 中英
spelling: american british australian canadian 简体 繁体
money: euro dollar pound franc yen yuan rmb usd eur gbp chf hkd rupee peso 人民币 美元 美金 欧元
 欧 英镑 日元 港币 法郎
distance: kilometre kilometer km mile metre 公里 英里
warmth: celsius fahrenheit kelvin 摄氏 华氏
weight: gram kilo ounce oz cup 克 斤 盎司 磅 杯
pressure: mmhg kpa 毫米汞柱 千帕
system: metric imperial 公制 英制
zone: utc gmt cet cest est edt pst pdt jst ist pacific 北京时间 格林尼治 格林威治
person: first-person third-person second-person 第一人称 第二人称 第三人称
indent: tab space 制表符 空格
computer: debian fedora ubuntu arch windows macos linux
database: postgres postgresql mysql sqlite mariadb oracle
program: python javascript typescript java golang rust ruby kotlin swift php
tests: pytest unittest jest vitest mocha
packages: npm yarn pnpm pip poetry uv
view: react vue svelte angular
log: structlog loguru logging
marks: 引号 书名号 dash underscore hyphen comma semicolon quote slash 横线 短横线 下划线 逗号 分号
 顿号
citation: apa mla chicago harvard vancouver ieee
scale: thousand million billion
shell: bash zsh powershell
editor: vim emacs vscode
host: github gitlab bitbucket
linter: black ruff flake8 prettier eslint
browser: chrome firefox safari edge chromium 火狐 谷歌
phone: ios android 安卓 苹果
cloud: aws azure gcp 阿里云 腾讯云
carrier: dhl ups fedex usps 顺丰 京东 中通 圆通
pronoun: du sie tu vous
"""
_LOOSE: Final = """
letters: lowercase uppercase capital caps lower upper camelcase snake_case 大写 小写 驼峰
tax: 含税 不含税 net gross
tense: past present 现在时 过去时 将来时
place: top bottom start beginning end front first last upfront 开头 结尾 末尾 最前 最后 前面 后面
 最上 最下 页脚 顶部 底部
form: table list bullet prose paragraph markdown json yaml csv xml html latex pdf word excel xlsx
 表格 列表 圆点 编号 段落 纯文本
tone: formal informal casual friendly polite sarcastic sarcasm humorous serious gentle kind
 kindness strict blunt professional playful dry warm neutral terse curt chatty 正式 随意 客气
 严肃 幽默 温柔 暴躁 冷淡 热情
length: short brief long longer shorter detailed concise thorough elaborate brevity 简短 简洁 详细
 长 短
colour: white black dark light red green blue yellow purple pink orange grey gray brown 红 橙色
 黄色 绿 蓝 紫 黑 白色 灰色 深色 浅色
month: january february march april june july august september october november december
hour: morning afternoon evening noon night midnight 早上 中午 下午 晚上 凌晨 傍晚
size: small medium large tiny big
meal: breakfast lunch dinner 早饭 午饭 晚饭
drink: coffee tea water wine beer 咖啡 茶
sex: men women 男 女
seat: window aisle 靠窗 过道 靠走道
diet: vegetarian vegan meat fish pescatarian halal kosher 素 荤 肉
day: monday tuesday wednesday thursday friday saturday sunday weekend 周一 周二 周三 周四 周五
 周六 周日 周末
title: mr mrs ms doctor dr professor captain sir madam admiral 先生 女士 小姐 博士 教授 老师 船长
travel: train plane bus flight 高铁 飞机 火车
difficulty: easy hard beginner advanced 易 难
"""
_NAMES: Final = """
language: language 语言 什么话
money: currency 币种 货币
letters: capitalisation capitalization capitals case 大小写 命名
distance: unit units 单位
weight: unit units 单位
system: unit units 单位
warmth: scale temperature 温度 气温
place: order position 位置
form: format 格式
tone: tone voice formality manner 语气 口吻
length: length limit 长度 字数 长短 篇幅
colour: colour color 颜色 底色
hour: time clock o'clock 点
diet: food eat eats 吃
sort: sort sorted order sequence 顺序 排序 先后 次序 排
summary: summary summarise summarize recap restate restatement restating 总结 摘要 概括 复述
picture: picture image photo illustration 图片 照片 配图
emoji: emoji emojis emoticon smiley 表情 颜文字
joke: joke humor humour pun 笑话 段子
source: source citation cite reference link 出处 来源 引用
signature: sign signature initials signed 署名 落款 签名
greeting: greet greeting hello dear 问候
cost: price cost budget expensive paid 价格 预算 费用 成本
capital: capitals caps uppercase 大写
role: character persona act voice tone like role normal yourself 口吻 语气 演 扮 当 角色 腔
hidden: secret mention talk freely 提 说起
rhythm: rhyme rhyming prose 押韵 韵
rest: pause rest break 休息
"""
_ENGLISH_NUMBERS: Final = """
one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 twelve=12 fifteen=15 twenty=20
thirty=30 forty=40 fifty=50 sixty=60 eighty=80 ninety=90 hundred=100 thousand=1000
"""


def _rows(listed: str) -> Iterator[tuple[str, list[str]]]:
    """The names and the words of a list, whose lines go on where they are indented."""
    for row in re.split(r"\n(?=\S)", listed.strip()):
        name, _, words = row.partition(":")
        yield name, words.split()


_LOOSE_SETTINGS: Final = frozenset(name for name, _ in _rows(_LOOSE))
"""Their words have other senses as well: a light meal, the first of many."""
_VALUES: Final = {value: name for name, listed in _rows(_LOOSE + _CLEAR) for value in listed}
_NAMED: Final[dict[str, set[str]]] = {}
for _setting, _listed in _rows(_NAMES):
    for _word in _listed:
        _NAMED.setdefault(_word, set()).add(_setting)
_DIGITS: Final = dict(pair.split("=") for pair in _ENGLISH_NUMBERS.split())
_LATIN = re.compile(r"[a-z][a-z_'-]*")
_COUNT = re.compile(rf"\b(\d+|{'|'.join(_DIGITS)})[ -]([a-z]{{3,}})")
_HAN = re.compile(
    "|".join(
        sorted(
            (word for word in {**_VALUES, **_NAMED} if not word.isascii()), key=len, reverse=True
        )
    )
)
_COUNT_HAN = re.compile(
    "([〇零一二两三四五六七八九十百千万半\\d]+)(小时|分钟|公[里斤]|[行字句段条个份步版页章次遍天点元块人岁颗件屏倍周月年张首篇级位台])"
)


class Settings(NamedTuple):
    """How two texts speak of the same settings."""

    same: bool
    """They name the same value of one."""
    other: bool
    """The first has another value of one."""
    loose: bool
    """The same of settings whose words have other senses as well."""
    named: bool
    """One of them names a setting without a value: “currency is up to you”."""


def compared(one: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]) -> Settings:
    """Compares the settings of two texts."""
    settings = one.keys() & other.keys()
    others = [name for name in settings if other[name] and one[name] - other[name]]
    return Settings(
        any(one[name] & other[name] for name in settings),
        not _LOOSE_SETTINGS.issuperset(others),
        not _LOOSE_SETTINGS.isdisjoint(others),
        not all(one[name] and other[name] for name in settings),
    )


def settings_in(text: str) -> dict[str, frozenset[str]]:
    """The values that `text` names, by their setting; counts by what is counted."""
    found: dict[str, set[str]] = {}
    plain = simplified(text.lower())
    words = _LATIN.findall(plain)
    for word in words if plain.isascii() else words + _HAN.findall(plain):
        value = word if word in _VALUES or not word.isascii() else word.removesuffix("s")
        if setting := _VALUES.get(value):
            found.setdefault(setting, set()).add(value)
        for setting in _NAMED.get(word, ()) or _NAMED.get(value, ()):
            found.setdefault(setting, set())
    for number, counted in _COUNT.findall(plain):
        name = f"of {counted.rstrip('s')}"
        found.setdefault(name, set()).add(_DIGITS.get(number, number))
    if not plain.isascii():
        for number, counted in _COUNT_HAN.findall(plain):
            found.setdefault(f"of {counted}", set()).add(number)
    return {name: frozenset(values) for name, values in found.items()}
