"""Finds names of people, places and works.

A missed name costs less than a false one, so words that are often capitalized are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ctxcore.facts.reading import Sentence
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.text.languages import HAN
from ctxcore.text.patterns import late
from ctxcore.text.words import word_set

MOST_NAMES: Final = 16  # of one message; chosen: more come from lists and headings
MODEL_WEIGHT: Final = 0.5  # of a name that a model writes; chosen: its headings are capitalized

# Both begin with their capital: the search skips from one to the next.
_SEVERAL = late(
    r"[A-Z](?<![\w.][A-Z])[a-z]{1,20}(?:[ -](?:of|the|de|van|von|and|&|du|la|di|da)(?= [A-Z])"
    r"|[ -][A-Z][a-z]{1,20}|[ -][A-Z]\.?(?= [A-Z])){1,4}(?![\w(])"
)
_ONE = late(r"[A-Z](?<=[a-z,] [A-Z])[a-z]{2,20}+(?![\w.(-]\w|:)")
_INTRODUCED = late(
    r"\b(?:my|his|her|their|our|the) ?(?:[a-z]+(?:'s)? )?name(?:'s| is) ([A-Z][\w'-]+(?:"
    r" [A-Z][\w'-]+)*)|\b(?:called|named|meet|I'm|I am|this is) ([A-Z][a-z]+(?:"
    r" [A-Z][a-z]+)*)|\b((?:Mr|Mrs|Ms|Dr|Prof)\.? [A-Z][a-z]+(?: [A-Z][a-z]+)?)"
)
_INTRODUCING: Final = (  # each of these forms has one of them
    *("name", "called", "meet", "I'm ", "I am ", "this is ", "Mr", "Ms", "Dr", "Prof"),
)
_TITLE = late("《([^》\n]{1,40})》")
_HAN_NAME = late(
    f"(?:我叫|名叫|叫做|名字(?:是|叫)|我是(?=[{HAN}]{{2,3}}[，,。！!]))([{HAN}]{{2,4}}?"
    "|[A-Z][A-Za-z]+)(?=[，,。！!\\s的吧]|$)"
)
_HAN_PERSON = late(
    "[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕施张孔曹严华金魏陶姜谢邹窦章苏潘葛范彭郎"
    "鲁韦马方任袁柳唐罗薛雷贺汤滕殷毕郝安常傅卞齐康余顾孟黄穆萧尹姚邵汪毛戴宋庞熊纪舒屈项"
    "祝董梁杜阮蓝闵季贾路江童颜郭梅林刁钟徐邱骆高夏蔡田胡凌霍万柯管卢莫白房丁邓洪包石崔吉"
    "龚程裴陆翁甄曲封储段侯武刘龙叶黎乔苍双翟谭劳申冉桑牛边温庄晏柴瞿阎习向易廖耿文欧"
    f"][{HAN}]{{0,2}}(?:先生|女士|小姐|老师|教授|医生|经理|主任|总监|工程师|同学)"
)
_COMMON = word_set("""
    Last Next Every All Key One Two Map Fri Sat Sun Mon Tues Tue Wed Thurs Thu Yesterday Today
    The This That These Those And But For Not You Your His Her Their Our Its Yes Yeah Hey Hello
    Thanks Thank Also January February March April May June July August September October
    November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday Christmas Easter
    English German French Spanish Chinese Japanese American God Wow Okay Sure Please Note Step
    Option Let Here There What When Where Which Who Why How Just Now Then Well Good Great Error
    Warning None True False Todo Read Write Edit Bash Python Input Output Example Summary Total
    File Line Test Dear Hi Oh Since While After Before If It We They She He Do Does Did Is Are
    Was Can Could Would Will Should My
""")


def names(found: Sequence[Sentence], role: Role) -> Iterator[Fact]:
    """The names in the prose of people and models, each once, in order."""
    if role not in ("user", "assistant"):
        return
    seen, weight = "", 1.0 if role == "user" else MODEL_WEIGHT
    for name in chain.from_iterable(names_in(sentence.text) for sentence in found):
        if (key := name.lower()) not in seen:
            seen += f"{key}\n"
            yield Fact(kind="name", text=name, key=key, role=role, weight=weight)
            if seen.count("\n") >= MOST_NAMES:
                return


def names_in(text: str) -> Iterator[str]:
    """The names in one sentence, in order; a repeated one more than once."""
    if not text.isascii():
        yield from _TITLE.findall(text)
        yield from _HAN_NAME.findall(text)
        yield from _HAN_PERSON.findall(text)
    if text[1:].islower():  # most sentences
        return
    if any(map(text.__contains__, _INTRODUCING)):
        for found in _INTRODUCED.finditer(text):
            name = found[1] or found[2] or found[3]
            if name.split()[0] not in _COMMON:
                yield name
    capitalized = [name for found in _SEVERAL.findall(text) if (name := _without_common(found))]
    capitalized += [name for name in _ONE.findall(text) if name not in _COMMON]
    if capitalized and not _is_heading(text):
        yield from capitalized


def _without_common(name: str) -> str:
    """A name of several words without common ones before it; empty if one word is left."""
    words = name.split()
    while words and words[0] in _COMMON:
        words = words[1:]
    return " ".join(words) if len(words) > 1 else ""


def _is_heading(text: str) -> bool:
    """Whether most words are capitalized, so that capitals do not tell names."""
    initials = [word[0] for word in text.split() if word != "I"]
    letters = [*filter(str.isalpha, initials)]
    return len([*filter(str.isupper, letters)]) * 3 > len(letters) * 2
