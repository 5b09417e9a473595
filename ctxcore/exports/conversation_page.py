"""Writes a session as one HTML page: who said what, tool outputs folded, tokens and cost.

Everything said is escaped; the page has no script and takes nothing from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from ctxcore.exports.compactions import PlacedCompaction, placed_compactions
from ctxcore.exports.values import ExportForm, SessionContent, applying, one_file_each
from ctxcore.html_page import html_page
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message
from ctxcore.store.values import MessageInfo
from ctxcore.text.languages import Language, detect_language
from ctxcore.tokens.costs import dollars_text

_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "en": {
        "messages": "{count:,} messages",
        "calls": "{count:,} calls",
        "tokens": "{read:,} tokens in, {written:,} out",
        "cost": "cost {dollars}",
        "gaps": "of {count:,} calls the cost is unknown",
        "thinking": "thinking",
        "compaction": "Compaction: this summary stands for what is above",
        "no_summary": "Compaction: what is above is no longer sent",
        "chars": "{count:,} characters",
        "system": "system",
        "developer": "developer",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
    },
    "zh": {
        "messages": "{count:,} 条消息",
        "calls": "{count:,} 次调用",
        "tokens": "输入 {read:,} token，输出 {written:,} token",
        "cost": "费用 {dollars}",
        "gaps": "{count:,} 次调用的费用未知",
        "thinking": "思考",
        "compaction": "压缩：此摘要代替上文",
        "no_summary": "压缩：上文不再发送",
        "chars": "{count:,} 个字符",
        "system": "系统",
        "developer": "开发者",
        "user": "用户",
        "assistant": "助手",
        "tool": "工具",
    },
}

_STYLE: Final = """
article{border-left:3px solid var(--line);padding:.1rem .9rem;margin:1rem 0}
article.user{border-color:var(--accent)}
article h2{font-size:.85rem;font-weight:600;margin:.2rem 0;color:var(--soft)}
.said,pre{white-space:pre-wrap;overflow-wrap:anywhere;color:var(--ink)}
pre{background:var(--card);padding:.6rem;margin:.3rem 0;font-size:.85rem}
summary{cursor:pointer;color:var(--soft)}
.compaction{border:1px solid var(--warn);padding:.4rem .9rem;margin:1.5rem 0}
"""


def _page(content: SessionContent) -> str:
    session = content.session
    language = detect_language(info.message for info in content.messages)
    drawing = _Drawing(content, _WORDS[language])
    title = printable(session.title or session.id)
    return html_page(title, drawing.parts(), language=language, style=_STYLE)


class _Drawing:
    """The parts of a page, in the words of one language."""

    def __init__(self, content: SessionContent, words: Mapping[str, str]) -> None:
        self._content = content
        self._words = words

    def parts(self) -> Iterator[str]:
        yield f"<p>{escape(' · '.join(self._figures()))}</p>"
        waiting = placed_compactions(self._content)
        for info in applying(self._content):
            while waiting and waiting[0].before_seq <= info.seq:
                yield self._compaction(waiting.pop(0))
            yield "\n".join(self._message(info))
        yield from map(self._compaction, waiting)

    def _figures(self) -> Iterator[str]:
        content, calls = self._content, self._content.calls
        if content.session.model:
            yield content.session.model
        yield self._words["messages"].format(count=len(content.messages))
        if calls:
            read = sum(call.input_tokens or 0 for call in calls)
            written = sum(call.output_tokens or 0 for call in calls)
            yield self._words["calls"].format(count=len(calls))
            yield self._words["tokens"].format(read=read, written=written)
        if content.cost is None:
            return
        if content.cost.dollars is not None:
            yield self._words["cost"].format(dollars=dollars_text(content.cost.dollars))
        if unknown := sum(gap.calls for gap in content.cost.unknown):
            yield self._words["gaps"].format(count=unknown)

    def _message(self, info: MessageInfo) -> Iterator[str]:
        message = info.message
        name = f" · {_html(info.function_name)}" if info.function_name else ""
        at = f"{info.created_at:%Y-%m-%d %H:%M}"
        role = escape(self._words[message.role])
        yield f'<article class="{message.role}"><h2>{info.seq} · {role}{name} · {at}</h2>'
        if message.reasoning:
            yield self._folded(self._words["thinking"], message.reasoning)
        if message.is_tool_result:
            label = self._words["chars"].format(count=len(message.text))
            yield self._folded(label, message.text)
        elif message.text:
            yield f'<div class="said">{_html(message.text)}</div>'
        yield from self._calls(message)
        yield "</article>"

    def _calls(self, message: Message) -> Iterator[str]:
        for call in message.calls:
            yield self._folded(f"→ {call.name}", call.arguments)

    def _folded(self, label: str, text: str) -> str:
        return f"<details><summary>{_html(label)}</summary><pre>{_html(text)}</pre></details>"

    def _compaction(self, compaction: PlacedCompaction) -> str:
        has_summary = bool(compaction.summary.strip())
        label = escape(self._words["compaction" if has_summary else "no_summary"])
        said = f'<div class="said">{_html(compaction.summary)}</div>' if has_summary else ""
        return f'<section class="compaction"><p>{label}</p>{said}</section>'


def _html(text: str) -> str:
    return escape(printable(text))


HTML = ExportForm(
    name="html",
    suffix=".html",
    media_type="text/html",
    write=one_file_each(_page),
    is_readable=False,
)
