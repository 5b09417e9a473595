"""Owns reading a model's reply as a summary: what models wrap around one comes off.

Only what encloses the whole text or stands before it is taken off; nothing inside is touched.
"""

from __future__ import annotations

import re

from ctxcore.text.sentences import sentence_ends

_THINKING = re.compile(
    r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)"  # an open one is thinking to the end
    r"|\A(?:.*\n)?[ \t]*</think>[ \t]*\n",  # some servers keep the opening tag to themselves
    re.DOTALL | re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"(?:(?:sure|certainly|okay|ok)[,.!:]? *)?(?:here(?:['’]s| is)|below is)\b[^\n]{0,80}"
    r"\bsummary\b[^\n]{0,60}:[ \t]*\n"
    r"|(?:好的[，。,.]?)?(?:以下|下面)是[^\n]{0,40}(?:摘要|总结)[^\n]{0,20}[:：][ \t]*\n",
    re.IGNORECASE,
)
_FENCED_REPLY = re.compile(r"```[\w-]*[ \t]*\n((?:(?!```).)*)```", re.DOTALL)
_TAGGED = re.compile(r"<((?:\w+_)?summary)>(.*)</\1>", re.DOTALL | re.IGNORECASE)
_FINISHED = re.compile(r"[.!?。！？；…][\"'”’」』）)\]*_`]*\Z")


def unwrap(reply: str) -> str:
    """The summary within a reply: no leaked thinking, no preamble, no fence or tags around it."""
    text = _THINKING.sub("", reply, count=1).strip()
    if preamble := _PREAMBLE.match(text):
        text = text[preamble.end() :].strip()
    if fenced := _FENCED_REPLY.fullmatch(text):
        text = fenced[1].strip()
    if tagged := _TAGGED.fullmatch(text):
        text = tagged[2].strip()
    return text


def cut_unfinished(text: str) -> str:
    """`text` without the sentence or point it breaks off in; whole where it is the only one."""
    words = text.rstrip()
    ends = sentence_ends(words)
    if _FINISHED.search(words) or len(ends) < 2:
        return words
    return words[: ends[-2]]
