"""Tells where the words of a message begin behind the name of who says them.

In chats of several people each message may begin with one: “Anna Schmidt: …”, “<anna> …”,
“王强：…”. It is no part of what is said: all that the same person says next would be about it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import dropwhile
from typing import Final

from ctxcore.messages.values import Message
from ctxcore.text.languages import HAN, has_han
from ctxcore.text.patterns import late
from ctxcore.text.words import COMMON_WORDS, word_set

LABEL_CHARS: Final = 48  # of a name; chosen: longer ones are sentences
LABEL_WORDS: Final = 5

HAN_SURNAMES: Final = (
    "王李张刘陈杨赵吴徐孙朱胡郭林罗郑梁宋唐邓冯韩曹彭萧蔡潘董袁叶蒋杜苏魏吕丁沈姚卢傅钟姜崔谭"
    "廖汪贾韦邱侯孟雷汤尹贺赖龚顾郝邵秦江邹熊薛阎"
)
"""Chosen: frequent ones that begin few ordinary words."""

_ROLES: Final = word_set("""
    user speaker person participant attendee caller agent operator customer client buyer seller
    student pupil teacher tutor professor prof grad undergrad phd postdoc doctor nurse patient
    host guest interviewer interviewee candidate moderator chair chairman chairwoman chairperson
    president member manager director designer engineer developer analyst architect consultant
    assistant secretary librarian lawyer attorney judge witness officer driver passenger narrator
    player human me mom mum dad mother father brother sister boss colleague friend visitor
""")
_MODELS: Final = word_set("""
    assistant agent bot chatbot ai model system support claude gpt chatgpt gemini llama copilot siri
    alexa
""")
_MODELS_HAN: Final = late(r"助手|助理|客服|机器人|模型|(?<![A-Za-z])AI(?![A-Za-z])")
_TITLES: Final = word_set("mr mrs ms miss dr prof sir madam lady lord hon rev sgt capt")
_JOINING: Final = word_set("of de da di del della der den van von bin ibn al el la le y")
_TOPICS: Final = word_set("""
    frontend backend server docker kubernetes postgres redis python java rust react vue angular
    node django flask spring linux windows macos android github gitlab jira slack infra devops
    staging production prod design marketing sales finance legal security hotel flight breakfast
    lunch dinner dessert drinks food music weather transport hobby summary background objective
    audience keyword persona tip warning caution hint fact option choice phase stage section
    chapter article appendix figure exercise ticket issue bug feature problem solution cause effect
    pro con pros cons intro thesis abstract allergy diet origin destination monday tuesday
    wednesday thursday friday saturday sunday january february march april june july august
    september october november december today tomorrow yesterday evening
""")
"""Capitalized words before a colon that tell what is spoken of, and are no names."""
_ENDINGS: Final = (
    *("ed", "ly", "ing", "tion", "sion", "ment", "ity", "ness", "ware", "ology", "ency"),
)
"""Of ordinary words, and of the few names above."""
_NAMES_LIKE_WORDS: Final = word_set("""
    mark will grant hope faith drew agnes charles dolores frances hayes hughes ines james jones
    mercedes miles moses reyes wes andreas alexis carlos chris curtis dennis douglas doris elias
    francis gladys iris jess jonas lewis louis lucas marcus matthias nicholas phyllis ross russ
    silas tess thomas tobias travis ahmed alfred fred jared mohammed muhammed ned ted wilfred
    beverly billy carly emily holly kelly kimberly lily milly molly polly sally shelly willy
""")
_ROLES_HAN: Final = (
    "用户|客户|顾客|客服|店员|店主|老板|助理|助手|秘书|老师|学生|同学|医生|大夫|患者|病人|护士|主持人|嘉宾"
    "|记者|玩家|旁白|导游|经理|主管|主任|总监|主席|会长|校长|教授|工程师|设计师|发言人|提问者|说话人"
    "|参会人|与会者|甲方|乙方|买家|卖家|面试官|候选人|妈妈|爸爸|爷爷|奶奶|姐姐|哥哥|弟弟|妹妹|[男女甲乙丙丁]"
)
_NAME_HAN: Final = late(
    rf"(?!小(?:[结组时说节计测]|贴士|提示|知识)|老(?:规矩|样子)|阿里)[小老阿{HAN_SURNAMES}][{HAN}]{{1,2}}"
    rf"|[{HAN}]{{0,4}}(?:{_ROLES_HAN})[A-Za-z\d一二三四五甲乙丙丁]{{0,2}}"
)
_PAGE_TAGS: Final = word_set("""
    br hr li ul ol td tr th em div span img pre code html body head meta link script style table
    input form button video audio think thinking tool result output answer example file text note
    summary context system document source data
""")
STAMP: Final = late(r"\s*\[[^\]\n]{0,80}\]\s*")
_DATED: Final = late(
    r"\s*(?:\[[^\]\n]{0,60}?(?:\d:\d\d|\b\d{4}\b|\d[./-]\d\d?[./-]\d)[^\]\n]{0,60}\]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?)[\s,-]*"
)
_CALLED: Final = late(r"<[@+%~&]?(?P<nick>[\w.-]{2,32})>\s*|@[\w.-]{2,32}[,:：]?\s+")
_TIME: Final = late(r"[\[(]?\d[\d/.,:-]+(?: \d[\d:.]+)?(?: ?[AaPp]\.?[Mm]\.?)?[\])]?(?: [-–—])? ")
_PART: Final = r"(?:Mc|Mac|De|Di|La|Le|Van|Fitz)?[^\W\d_a-z][^\W\d_A-Z]*"
_NAME: Final = re.compile(rf"{_PART}(?:['’-]{_PART})*(?<=[^\W_A-Z])\.?")
_INITIAL: Final = re.compile(r"(?:[A-Z]\.)+|[A-Z]")
_MARK: Final = re.compile(r"\d{1,3}|(?:[A-Z]\.)+|[A-Z]{1,3}")
"""What tells one of several: a number, or letters."""
_ASIDE: Final = re.compile(r"\s?(?:\([^()\n]{1,24}\)|（[^（）\n]{1,24}）)(?=[*_]{0,2}\s?[:：])")


def words_from(text: str) -> int:
    """Returns where the words of a sentence begin behind its speaker's name; 0 where none is."""
    begin = text[: 2 * LABEL_CHARS]
    if not (":" in begin or "：" in begin or begin[:1] in ("<", "@")):
        return 0
    opening = _opening(begin)
    called = _CALLED.match(text, opening)
    if called:
        is_alone = called.end() == len(text)
        return 0 if is_alone or _is_tag(called["nick"], text) else called.end()
    label, colon, behind = _split(text, opening)
    is_apart = colon == "：" or behind[:1] in " *_" or has_han(label)
    said = behind.lstrip("*_ \t")
    return len(text) - len(said) if said and is_apart and is_person(label) else 0


def spoken(text: str) -> str:
    """Returns what a message says: its text behind its date and its speaker's name."""
    return text[words_from(text) or _date_end(text) :]


def _date_end(text: str) -> int:
    """Returns where a text begins behind a date in brackets, or one as programs write it."""
    may_be = text[:1].isdigit() or "[" in text[:2]
    found = _DATED.match(text) if may_be else None
    return found.end() if found and found.end() < len(text) else 0


def speaker_of(message: Message) -> str:
    """Returns who says a message, by its field or the name before its words; empty if unknown."""
    return message.name or message.text[: words_from(message.text)].strip()


def names_model(speaker: str) -> bool:
    """Whether a speaker's name is one that programs give to a model, or a role that it plays."""
    words = {word.strip("*<>@:：,").lower() for word in speaker.replace("_", " ").split()}
    return not words.isdisjoint(_MODELS) or bool(_MODELS_HAN.search(speaker))


def label_of(text: str) -> str:
    """Returns what stands before the first colon of a text, a name or not; empty without one."""
    begin = text[: 2 * LABEL_CHARS]
    return _split(text, _opening(begin))[0] if ":" in begin or "：" in begin else ""


def _split(text: str, opening: int) -> tuple[str, str, str]:
    """Returns what stands before the first colon, without brackets before it, and what behind."""
    label = text[opening : opening + LABEL_CHARS]
    aside = _ASIDE.search(label)
    end = aside.end() if aside else 0
    colons = [at for at in (label.find(":", end), label.find("：", end)) if at >= 0]
    if not colons:
        return "", "", ""
    at = min(colons)
    named = label[: aside.start() if aside else at]
    return named.strip("*_ "), label[at], text[opening + at + 1 :]


def _opening(text: str) -> int:
    """Returns where a text begins behind a stamp or the time of day."""
    if dated := _date_end(text):
        return dated
    found = STAMP.match(text) if text[:1] == "[" else None
    found = found or (_TIME.match(text) if text[:1].isdigit() or text[:1] in "([" else None)
    return found.end() if found else 0


def _is_tag(nick: str | None, text: str) -> bool:
    """Whether what stands in pointed brackets is the mark of a page or of a prompt, and no name."""
    if nick is None:
        return False
    is_known = nick.lower() in _PAGE_TAGS or "instruct" in nick or "rule" in nick
    return is_known or f"</{nick}>" in text


@lru_cache(maxsize=2_048)  # a speaker's name comes with each of the messages
def is_person(label: str) -> bool:
    """Whether what stands before a colon is a name or a role, and not what is spoken of."""
    if has_han(label):
        return bool(_NAME_HAN.fullmatch(label))
    words = label.replace("_", " ").split()
    named = [*dropwhile(_MARK.fullmatch, reversed(words))]
    if not named or len(words) > LABEL_WORDS:
        return False
    if named[0].lower() in _ROLES:
        return all(word[0].isupper() or word.lower() in _JOINING for word in named[1:])
    first, *others = words
    return (_is_name(first) or bool(_INITIAL.fullmatch(first))) and all(map(_is_part, others))


def _is_part(word: str) -> bool:
    return bool(_MARK.fullmatch(word)) or word.lower() in _JOINING or _is_name(word)


def _is_name(word: str) -> bool:
    """Whether a capitalized word is no ordinary one."""
    plain = word.lower().rstrip(".")
    if plain in _TITLES or plain in _NAMES_LIKE_WORDS:
        return word[0].isupper()
    return bool(_NAME.fullmatch(word)) and not _is_ordinary(plain)


def _is_ordinary(word: str) -> bool:
    from ctxcore.facts.binding_words import LABEL, NAMES  # late: both have many patterns
    from ctxcore.facts.english_rules import CLASSES

    is_known = word in CLASSES.of_word or word in NAMES or word in COMMON_WORDS or word in _TOPICS
    is_known = is_known or LABEL.match(f"{word}: …") is not None
    is_plural = len(word) > 4 and word[-1] == "s" and word[-2] not in "siuoa"
    return is_known or is_plural or word.endswith(_ENDINGS)
