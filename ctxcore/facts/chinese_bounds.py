"""Owns what holds of a piece of work in Chinese without a word of order: 标题要简短, 发票都寄到….

A form counts where a clause opens with the thing that it is said of, and nobody acts in it.
"""

from __future__ import annotations

import re
from typing import Final

MOST_HEAD: Final = 12  # characters before the form

_SETS: Final = re.compile(  # behind the thing that it is said of
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
    "|看过"
    "|差|可|当|身|顾)(?=[^了过，。？?吗呢]{3,}[。！]?$)"
    "|按照?(?=[A-Za-z0-9 ]+[。！]?$|[^，。]{1,8}(?:格式|标准|规范|顺序|算|排列?|计算)[。！]?$)"
    "|里不[放加写带含留](?=[^了过，。吗]{1,10}[。！]?$)"
)
_NO_THING: Final = re.compile("大家|人|孩子|每|天天|谁|什么|哪|这|那|.*[我他她它你]")
_BOUND_COMMA: Final = re.compile("[，,。；;]")
_BOUNDS: Final = re.compile(
    "最多[^，。]{1,12}[，,][^。]{0,12}不能|谁(?:来)?问都不"
    "|全文(?:使用|采用|用|写)|通篇(?:使用|采用|用|写)|正文(?:使用|采用|用|写)"
    "|每(?:天|日|周[一二三四五六日天]?|月|晚|小时)[^，。我他她]{0,8}(?:同步|备份|更新|汇总|清理"
    "|发送"
    "|推送|发给|巡检)"
    "|[字个行页条]左右[。！]?$"
    "|每次(?:最多|都|只)?(?:[给帮替]我|问我)"
)
_EACH: Final = re.compile(
    "每[次个条封份篇张单到家笔段章页场位种][^，,。；我他她]{0,10}(?:都要?|要|必须|只)"
    "(?!是|有|会|能|很|可|求)(?=[^了，。]{2,}[。！]?$)"
)
_REMINDS: Final = re.compile("[点分前候上午][^，。]{0,4}$")


def is_bound(words: str) -> bool:
    """Whether a sentence says what holds of a thing that is worked on, or of each of its kind."""
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
