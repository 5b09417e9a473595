"""The readers, `scripted/reader-…`: scripted demo models that answer by quoting their context.

A reader knows nothing but what a call sends: what was folded, left out or not recalled it does not
find, and says so. `answer_from` is a pure function of the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.assembly.texts import FACTS_TAG, RECALLED_TAG, SUMMARY_TAG
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply, ScriptedRequest, scripted_model
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Message, Role
from ctxcore.recalling.answers import states, wanted_by
from ctxcore.text.languages import has_han
from ctxcore.text.sentences import sentence_places
from ctxcore.text.words import content_of, terms_of, weigh, words_of
from ctxcore.tokens.catalog import READER_WINDOWS
from ctxcore.tokens.count import count_messages, count_tokens

Source = Literal["system", "user", "assistant", "tool", "summary", "facts", "recalled"]

ENOUGH: Final = 0.4  # of the weight of the question's terms; chosen: less is about something else
MOST_CHARS: Final = 420  # of a quote; chosen: about four lines
_NEWEST: Final = 0.12  # what the newest message scores more than the oldest: newer values win
_TOLD: Final = 1.2  # what people and models say, over the outputs of tools
_DENSE: Final = 0.2  # of the score goes by how little else a passage says
_STATED: Final = 1.25  # times the score, of what states a time or a number that is asked for
_BY_ROLE: Final[dict[Role, Source]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_TAGS: Final[dict[str, Source]] = {
    SUMMARY_TAG: "summary",
    FACTS_TAG: "facts",
    RECALLED_TAG: "recalled",
}
_TAGGED: Final = re.compile(
    rf"<(?P<tag>{'|'.join(_TAGS)})>\n?(?P<text>.*?)\n?</(?P=tag)>", re.DOTALL
)
_SOURCES: Final[dict[str, dict[Source, str]]] = {
    "en": {
        "system": "the system prompt",
        "user": "your message",
        "assistant": "an earlier answer",
        "tool": "the output of a tool",
        "summary": "the summary of folded messages",
        "facts": "the facts kept of folded messages",
        "recalled": "messages recalled for this question",
    },
    "zh": {
        "system": "系统提示",
        "user": "您的消息",
        "assistant": "之前的回答",
        "tool": "工具的输出",
        "summary": "已折叠消息的摘要",
        "facts": "已折叠消息中保留的事实",
        "recalled": "为这个问题召回的消息",
    },
}
_FOUND: Final = {
    "en": "Found in {source}.",
    "zh": "来自{source}。",
}
_NOT_FOUND: Final = {
    "en": "I do not find that in what I was sent. It may never have been said, or it was folded or "
    "left out of this call. The Context page shows what I got; `/recall` searches all of the "
    "session.",
    "zh": "在发送给我的内容中没有找到。可能没有说过，也可能已被折叠，或者没有放进这次调用。"
    "“上下文”页显示我收到了什么，`/recall` 可以搜索整个会话。",
}
_NO_QUESTION: Final = {
    "en": "Noted; it is in my context now. Ask me about something in this conversation.",
    "zh": "已收到，现在它在我的上下文里。可以问我这段对话里的任何内容。",
}
_ABOUT: Final = {
    "en": "*A scripted demo model: it answers from what the context shows.*",
    "zh": "*脚本演示模型：只根据上下文里的内容回答。*",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """A text of the context that may hold an answer."""

    text: str
    source: Source
    at: int
    """The place of its message."""

    @property
    def is_asked(self) -> bool:
        """Whether it is a question, which the message behind it answers."""
        return bool(_QUESTION.search(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An answer written beforehand, given only where the context still shows what it rests on."""

    asks: tuple[str, ...]
    """Words, and those of another way to ask: a question has all words of one of them."""
    needs: tuple[str, ...]
    """Texts that must stand in the context, all of them."""
    says: str


def answer_from(messages: Sequence[Message], prepared: Sequence[Prepared] = ()) -> str:
    """Answers the newest question from the messages, or says that they do not tell.

    A prepared answer is given if the messages show all that it needs; else the best sentence about
    the question is quoted.
    """
    at = max((at for at, one in enumerate(messages) if _is_request(one)), default=-1)
    question = _plain(messages[at].text) if at >= 0 else ""
    language = "zh" if has_han(question) else "en"
    if not terms_of(words_of(question)) or not _asks(question):
        return _with_note(_NO_QUESTION[language], language)
    passages = [*_passages(messages, at)]
    found = _prepared(question, passages, prepared) or _quoted(question, passages)
    if found is None:
        return _with_note(_NOT_FOUND[language], language)
    source, text = found
    where = _FOUND[language].format(source=_SOURCES[language][source])
    return _with_note(f"{text}\n\n{where}", language)


def _prepared(
    question: str, passages: Sequence[_Passage], prepared: Sequence[Prepared]
) -> tuple[Source, str] | None:
    """The first prepared answer to the question whose needs are shown, and where the first is."""
    asked = {*terms_of(words_of(question))}
    for one in prepared:
        if not any(asked.issuperset(terms_of(words_of(words))) for words in one.asks):
            continue
        shown = [_last_with(need, passages) for need in one.needs]
        if all(shown):
            first = shown[0]
            assert first is not None
            return first.source, one.says
    return None


def _last_with(need: str, passages: Sequence[_Passage]) -> _Passage | None:
    return next((one for one in reversed(passages) if need in one.text), None)


def _quoted(question: str, passages: Sequence[_Passage]) -> tuple[Source, str] | None:
    best = _best(question, passages)
    return None if best is None else (best.source, f"> {_short(best)}")


def _with_note(text: str, language: str) -> str:
    return f"{text}\n\n{_ABOUT[language]}"


def _is_request(message: Message) -> bool:
    return message.role == "user" and bool(_plain(message.text))


def _plain(text: str) -> str:
    return _TAGGED.sub("", text).strip()


_ASKING: Final = re.compile(
    r"[?？]|\b(who|what|which|when|where|why|how|tell|show|remind|list|say)\b"
    r"|谁|什么|哪|几|多少|怎么|为什么|吗|呢|告诉|列出",
    re.IGNORECASE,
)


_QUESTION: Final = re.compile(r"[?？]\s*$|^(who|what|which|when|where|why|how)\b", re.IGNORECASE)


def _asks(text: str) -> bool:
    return bool(_ASKING.search(text))


def _passages(messages: Sequence[Message], asked_at: int) -> Iterator[_Passage]:
    """The sentences and lines of all messages but the question itself."""
    for at, message in enumerate(messages):
        for source, text in _sourced(message, is_question=at == asked_at):
            for start, end in sentence_places(text):
                yield _Passage(text=text[start:end], source=source, at=at)


def _sourced(message: Message, *, is_question: bool) -> Iterator[tuple[Source, str]]:
    """The texts of a message, with what kind of text each is."""
    for found in _TAGGED.finditer(message.text):
        yield _TAGS[found["tag"]], found["text"]
    if not is_question and (rest := _plain(message.text)):
        yield _BY_ROLE[message.role], rest
    yield from (("tool", call.arguments) for call in message.calls)


def _best(question: str, passages: Sequence[_Passage]) -> _Passage | None:
    """The passage that says most of what is asked; None if none says enough."""
    terms = [frozenset(terms_of(words_of(passage.text))) for passage in passages]
    wanted = terms_of(words_of(question))
    weights = weigh([*terms, frozenset(wanted)])
    whole = sum(weights[term] for term in wanted)
    stated, length = wanted_by(question), 1 + max((one.at for one in passages), default=0)
    scored: list[tuple[float, int]] = []
    for at, (passage, here) in enumerate(zip(passages, terms, strict=True)):
        found = [term for term in wanted if term in here]
        share = sum(weights[term] for term in found) / whole
        if share >= ENOUGH and content_of(found):
            score = share * (1 - _DENSE + _DENSE * len(found) / len(here))
            score *= (1.0 if passage.source == "tool" else _TOLD) * (
                1 + _NEWEST * passage.at / length
            )
            score *= _STATED if stated and states(passage.text, stated) else 1.0
            scored.append((score, at))
    best = sorted(scored, reverse=True)
    return next(filter(None, (_answer(passages, at) for _, at in best)), None)


def _answer(passages: Sequence[_Passage], at: int) -> _Passage | None:
    """The passage; of a person's question what the next message says to it, if that answers."""
    asked = passages[at]
    if not asked.is_asked:
        return asked
    behind = next((one for one in passages[at:] if one.at > asked.at), None)
    answers = asked.source == "user" and behind is not None and behind.source == "assistant"
    return behind if answers else None


def _short(passage: _Passage) -> str:
    text = " ".join(passage.text.split())
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"


def _register(model: str, prepared: Sequence[Prepared]) -> None:
    name = model.partition("/")[2]

    def answer(request: ScriptedRequest) -> ScriptedReply:
        text = answer_from([parse_message(raw) for raw in request.messages], prepared)
        raws = [dict(raw) for raw in request.messages]
        tools = [dict(tool) for tool in request.tools]
        usage = ModelUsage(
            input_tokens=count_messages(raws, model=model, tools=tools),
            output_tokens=count_tokens(text, model),
        )
        return ScriptedReply(text=text, usage=usage, chunk_chars=24, chunk_delay_seconds=0.01)

    ScriptedModel(name, otherwise=answer)


def register_readers(prepared: Sequence[Prepared] | None = None) -> None:
    """Makes every reader answer; one that is there stays as it is unless `prepared` is given."""
    for model in READER_WINDOWS:
        if prepared is not None or scripted_model(model) is None:
            _register(model, prepared or ())
