"""Detects reports of errors, in a line, a text or in place of an answer, and refusals."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.patterns import one_of
from ctxcore.text.words import word_set

# What operating systems and orchestrators print without any word for it; in its own case, since
# prose has "killed" too.
_SYSTEM: Final = (
    r"\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOENT|ACCES|PERM|TIMEDOUT|NOSPC|ADDRINUSE|PIPE"
    r"|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|EXIST|BUSY|INVAL|NOMEM|MFILE|ISDIR|NOTDIR)\b"
    r"|\b(?:OOM)?Killed\b|\bSIG(?:KILL|SEGV|ABRT|TERM)\b|\bCrashLoopBackOff\b"
    r"|\bImagePullBackOff\b|\bErrImagePull\b|\bcore dumped\b|\b[Oo]ut of memory\b"
)
_HAN: Final = (
    "错误|失败|异常|拒绝|超时|无效|未找到|不存在|崩溃|報錯|报错|錯誤|失敗|異常|拒絕|逾時|無效"
)
_MENTION: Final = re.compile(
    r"(?:\b|_)(?:errors?|exceptions?|fail(?:ed|ure|s)?|fatal|traceback|denied|refused|panic|critical|"
    r"timed?[ _-]?out|unauthori[sz]ed|forbidden|invalid|not found|segmentation fault)(?:\b|_)"
    rf"|(?-i:Error|Exception)\b|\bERR!|no such file|(?-i:{_SYSTEM})|{_HAN}",
    re.IGNORECASE,
)
# One is in whatever `_MENTION` finds, in lower case, and much faster to find: most texts mention
# no error.
_STEMS: Final = (
    *("error", "exception", "fail", "fatal", "traceback", "denied", "refused", "panic", "critical"),
    *("timeout", "timedout", "time out", "timed out", "time_out", "timed_out", "time-out"),
    *("timed-out", "unauthori", "forbidden", "invalid", "not found", "no such file", "fault"),
    *("err!", "killed", "sigkill", "sigsegv", "sigabrt", "sigterm", "backoff", "errimage"),
    *("core dumped", "out of memory", "econn", "enoent", "eacces", "eperm", "etimedout", "enospc"),
    *("eaddrinuse", "epipe", "enotfound", "eai_again", "ehostunreach", "enetunreach", "eexist"),
    *("ebusy", "einval", "enomem", "emfile", "eisdir", "enotdir", *_HAN.split("|")),
)
_STEM: Final = re.compile(one_of(_STEMS))
# One of these words, or a name that ends in Error or Exception, is in every English mention.
_WORDS: Final = word_set("""
    error errors exception exceptions fail failed failure fails fatal traceback denied refused
    panic critical timeout timedout out unauthorized unauthorised forbidden invalid found err such
    segmentation econnrefused econnreset econnaborted enoent eacces eperm etimedout enospc
    eaddrinuse epipe enotfound eai ehostunreach enetunreach eexist ebusy einval enomem emfile eisdir
    enotdir oomkilled killed sigkill sigsegv sigabrt sigterm crashloopbackoff imagepullbackoff
    errimagepull dumped memory
""")
# Lines of code, diffs, listings and quotations that only speak of errors.
_NO_REPORT: Final = (
    r"(?!\s*(?:[+\-*/#>|]|//|\d+\s*[→:|\t]|import |from |def |class |const |let |if "
    r"|throw |raise |return |except|catch|log|print|console))"
)
_REPORT: Final = re.compile(
    rf"^{_NO_REPORT}(?:"
    # a label of its own at the beginning of the line
    r"[\W\d]*+(?:[A-Za-z_.]*(?:[Ee]rror|[Ee]xception)\b|(?i:fatal|critical|panic|failed)\b"
    r"|错误|异常|失败|錯誤|異常|失敗)"
    # or one behind a name, a time or a place
    r"|[^\n]{0,120}?(?:\b(?:[A-Z]\w*)?(?:Error|Exception)\b(?:\s*[:(\[]|$| TS\d+)"
    r"|\berror(?:\[\w+\])?\s*:|\berror TS\d+:|\bERROR\b|\bFATAL\b|\bfatal:|\bpanic:|\bFAILED\b"
    r"|\bFAIL\b|\b[Ss]egmentation fault|\bcommand not found|\bNo such file or directory"
    r"|\b[Pp]ermission denied\b|\bConnection refused\b|\bUnhandled\b|\bnpm ERR!|\bnot found:"
    rf"|{_SYSTEM}|(?:错误|异常|失败|錯誤|異常|失敗)[：:]))[^\n]{{0,300}}"
)
_NONE: Final = re.compile(
    r"\b(?:0|no|without|zero) (?:errors?|failed|failures)\b|errors?\s*[:=]\s*(?:0\b|null"
    r"|none|\"\")|0 failed",
    re.IGNORECASE,
)
_HTTP: Final = (
    r"(?:Bad Request|Unauthorized|Forbidden|Not Found|Too Many Requests|Internal Server Error"
    r"|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out)"
)
# What stands in place of an answer, as gateways, servers and libraries of models write it.
_REPLY: Final = re.compile(
    r"(?:Error|Exception|Traceback \(most recent call last\)|错误|出错)\s*[:：]"
    r"|(?:[\w.]+(?:Error|Exception)): |HTTP(?:/\d\S*)? [45]\d\d\b|Error code: \d"
    rf"|[45]\d\d:? {_HTTP}|{_HTTP}[.:]?\s*(?:\Z|\n)|(?i:<!doctype html|<html)\b"
    r"|upstream (?:connect error|request timeout)|(?i:rate limit (?:reached|exceeded)\b)"
    r"|This model['’]s maximum context length"
    r"|(?i:(?:the |this )?(?:server|service|model|engine) is (?:currently |temporarily )?"
    r"(?:overloaded|unavailable|busy)\b)"
    r"|(?:请求|服务|系统|网络)[^。\n]{0,40}稍[后候後]?(?:再|重)[试試]",
)
_NOT: Final = r"(?:can['’]?t|cannot|can not|unable|not able|won['’]t)\b"
_MATERIAL: Final = r"(?:conversation|dialogue|text|transcript|messages?|content|material|context)\b"
_HAN_NOT: Final = r"(?:无法|不能|没办法|没有办法)"
_REFUSAL: Final = re.compile(
    # a greeting before it
    r"(?:(?:sure|of course|certainly|ok(?:ay)?|hello|hi|好的|您好|你好)[!,.，。！ ]+)*(?:"
    r"(?:(?:i['’]?m|i am) (?:\w+ )?sorry|sorry|apologies|i apologi[sz]e|unfortunately)\b"
    rf"[^.\n]{{0,60}}?\b{_NOT}"
    rf"|i {_NOT}|i must decline|(?:i['’]?m|i am) (?:\w+ )?(?:unable|not able) to\b"
    r"|as an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    rf"|(?:please|could you|can you) (?:provide|share|paste|send)\b[^.\n]{{0,60}}\b{_MATERIAL}"
    # nothing was given
    r"|(?:unfortunately,? )?(?:it (?:looks|seems|appears) (?:like|that|as if) )?(?:"
    r"there (?:is|are|was|were)(?:n['’]t| not| no| nothing)\b[^.\n]{0,70}"
    r"\b(?:to (?:write|produce|be summari[sz]ed|summari[sz]e)|between the tags)\b"
    rf"|(?:no|you (?:haven['’]t|have not|did(?:n['’]t| not)))\b[^.\n]{{0,30}}\b{_MATERIAL}"
    r"[^.\n]{0,15}\b(?:provided|given|shared|included)\b"
    rf"|(?:no|you (?:haven['’]t|have not|did(?:n['’]t| not))) (?:provided?|given?|shared?)\b"
    rf"[^.\n]{{0,20}}\b{_MATERIAL}"
    rf"|the [^.\n]{{0,30}}{_MATERIAL} (?:is|was|(?:appears|seems) to be) empty\b)"
    rf"|(?:非常|很|十分)?(?:抱歉|对不起|不好意思|遗憾)[^。\n]{{0,30}}{_HAN_NOT}"
    rf"|我们?(?:暂时|目前|现在)?{_HAN_NOT}"
    rf"|[^。，\n]{{1,12}}我们?(?:暂时|目前|现在)?{_HAN_NOT}(?:回答|处理|完成|提供|总结|生成)"
    r"|作为(?:一个|一名|一款)?(?:AI|人工智能|大?语言模型)"
    r"|请(?:您|你)?(?:先)?(?:提供|发送|粘贴)[^。\n]{0,20}(?:对话|文本|内容)"
    r"|没有(?:任何)?(?:可以|可供|需要|能)(?:被)?(?:总结|概括|摘要)"
    r"|(?:您|你)?(?:没有|并未|未)(?:提供|给出|发送)[^。\n]{0,12}(?:对话|文本|内容))",
    re.IGNORECASE,
)
LINE_CHARS: Final = 600  # of a line that are read; chosen: a report starts early


def mentions_error(text: str, words: frozenset[str] | None = None) -> bool:
    """Whether `text` mentions an error anywhere; quicker with the runs of letters in it."""
    if words is not None and text.isascii() and _WORDS.isdisjoint(words):
        return ("Error" in text or "Exception" in text) and bool(_MENTION.search(text))
    return bool(_STEM.search(text.lower()) and _MENTION.search(text))


def suspect_lines(lines: JoinedLines) -> set[int]:
    """The lines outside which none mentions or reports an error."""
    return lines.matching(_STEM)


def error_places(text: str, most: int) -> list[int]:
    """The first `most` places in `text` that mention an error."""
    if not _STEM.search(text.lower()):
        return []
    return [found.start() for found in islice(_MENTION.finditer(text), most)]


def error_report(line: str) -> str:
    """The part of a line that reports an error; empty where none is, or it reports none."""
    line = line[:LINE_CHARS]
    if not _STEM.search(line.lower()):
        return ""
    found = _REPORT.match(line)
    return found[0] if found and not _NONE.search(found[0]) else ""


def is_error_reply(text: str) -> bool:
    """Whether `text` is an error that stands in place of an answer."""
    return bool(_REPLY.match(text))


def is_refusal(text: str) -> bool:
    """Whether `text` begins with a model's words that it will not do what it was asked."""
    return bool(_REFUSAL.match(text))
