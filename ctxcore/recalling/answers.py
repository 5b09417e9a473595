"""What kind of thing a question asks for, a time or a number, and which texts state one."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from ctxcore.text.calendar import MONTHS

Wanted: TypeAlias = Literal["time", "number"]

_ASKED: Final[dict[Wanted, re.Pattern[str]]] = {
    "time": re.compile(
        r"\b(?:when|how long|(?:what|which) (?:date|day|month|year|time))\b"
        "|什么时候|什麼時候|何时|何時|多久|哪天|哪年|几点|幾點|几号|幾號|几月|幾月|日期|时间|時間|生日",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\b(?:how (?:many|much|often|old|far|tall|big|large|heavy|high|wide|deep|fast)"
        r"|(?:what|which) (?:number|size|price|amount|percentage|version|port|age))\b"
        "|多少|几[个個次位只条條天年岁歲]|幾[個次位隻條天年歲]|多大|多长|多長|多高|多重|多远|多遠"
        "|数量|數量|价格|價格|号码|號碼|电话|電話",
        re.IGNORECASE,
    ),
}
_COUNTED: Final = (
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|dozen|hundred"
    "|thousand|half)\\b|[一二两兩三四五六七八九十百千万萬半][^\\W\\d_A-Za-z]"
)
_STATED: Final[dict[Wanted, re.Pattern[str]]] = {
    "time": re.compile(
        r"\d|\b(?:yesterday|today|tonight|tomorrow|ago|last|next|since|recently|morning|evening"
        rf"|(?:day|week|weekend|month|year)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        rf"|{'|'.join(name for name in MONTHS if len(name) > 3)}|may)\b"
        "|[年月日号號周週]|昨|今天|今晚|明天|后天|後天|前天|星期|礼拜|禮拜|早上|上午|中午|下午|晚上|小时|小時",
        re.IGNORECASE,
    ),
    "number": re.compile(_COUNTED, re.IGNORECASE),
}


def wanted_by(question: str) -> Wanted | None:
    """What `question` asks for; None where that is neither a time nor a number."""
    return next((kind for kind, asked in _ASKED.items() if asked.search(question)), None)


def states(text: str, wanted: Wanted) -> bool:
    """Whether `text` states a time, or a number."""
    return _STATED[wanted].search(text) is not None
