"""Detects the kind of task of a conversation, from its tool calls and the shapes of its messages.

Only the newest messages are read, and every answer comes with its evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from ctxcore.messages.values import Message
from ctxcore.policy.values import TaskType
from ctxcore.reasons.codes import ChoiceCode, EvidenceCode
from ctxcore.reasons.values import Reason, counts
from ctxcore.text.identifiers import snake_case

MOST_OF_TASK: Final = 200
"""Messages that are read; chosen: the task of long ago tells little about the present one."""
MOST_CALL_SHARE: Final = 0.1  # of the messages; chosen: fewer calls are look-ups in a conversation
MIXED_SHARE: Final = 0.25  # of the calls of a known kind; chosen: two such kinds make a mixed task
SHORT_CHARS: Final = 400  # median length of a request; chosen: in conversations it is shorter
FENCED_SHARE: Final = 0.3  # of the messages that hold code, where no tool is called; chosen

Kind = Literal["code", "analysis", "other"]

_CODE = re.compile(
    r"(?:^|_)(?:bash|shell|terminal|command|exec|file|files|edit|edits|patch|grep|glob|ls|cat"
    r"|str_replace|editor|notebook|code|lint|test|tests|compile|build|git|commit|repo|directory"
    r"|diff|python|write|read|todowrite)(?:_|$)"
)
_ANALYSIS = re.compile(
    r"(?:^|_)(?:analy[sz]e|analysis|sql|query|queries|database|table|dataframe|chart|plot|graph"
    r"|statistics?|stats|metric|metrics|report|aggregate|calculate|calculator|compute|forecast"
    r"|regression|correlation|csv|spreadsheet|dataset|describe|visuali[sz]e|research|web_search"
    r"|search_web|websearch|webfetch|fetch_url|browse|browser|google|wikipedia|arxiv"
    r"|scrape|summari[sz]e)(?:_|$)"
)
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kind of task and its evidence."""

    kind: TaskType
    evidence: tuple[tuple[str, int], ...] = ()
    """Counts, the largest first: tools by name, messages, messages with code."""
    is_stated: bool = False
    """Whether the application stated the kind."""

    @property
    def reason(self) -> Reason:
        """The kind and the main evidence."""
        if self.is_stated:
            return ChoiceCode.TASK_STATED(task=self.kind)
        if not self.evidence:
            return ChoiceCode.TASK_UNKNOWN(task=self.kind)
        return ChoiceCode.TASK(task=self.kind, evidence=counts(dict(self.evidence[:4])))

    def __str__(self) -> str:
        return str(self.reason)


def find_task(messages: Sequence[Message], *, as_reason: TaskType | None = None) -> Task:
    """The kind of task of the newest `messages`; the application may state it."""
    if as_reason is not None:
        return Task(kind=as_reason, is_stated=True)
    newest = [message for message in messages[-MOST_OF_TASK:] if not message.is_system]
    names = Counter(call.name for message in newest for call in message.calls)
    kinds = Counter[Kind]()
    for name, count in names.items():
        kinds[kind_of_tool(name)] += count
    if names.total() >= max(1.0, len(newest) * MOST_CALL_SHARE):
        kind = _of_calls(kinds)
        if kind is not None:
            return Task(kind=kind, evidence=tuple(names.most_common()))
    return _of_texts(newest, names)


def kind_of_tool(name: str) -> Kind:
    """The kind of work of a tool, by its name."""
    plain = re.sub(r"[^a-z0-9]+", "_", snake_case(name))
    if _ANALYSIS.search(plain):
        return "analysis"
    return "code" if _CODE.search(plain) else "other"


def _of_calls(kinds: Counter[Kind]) -> TaskType | None:
    """The kind of task by its calls; None where none of them tells a kind."""
    code, analysis = kinds["code"], kinds["analysis"]
    known = code + analysis
    if known < kinds["other"] * MIXED_SHARE or not known:
        return None
    if min(code, analysis) >= known * MIXED_SHARE or kinds["other"] > known:
        return "mixed"
    return "code" if code > analysis else "analysis"


def _of_texts(newest: Sequence[Message], names: Counter[str]) -> Task:
    """The kind of task by the shapes of the messages, where tools do not tell it."""
    texts = [m.text for m in newest if m.role in ("user", "assistant") and m.text]
    requests = [m.text for m in newest if m.role == "user" and m.text]
    fenced = sum(bool(_FENCE.search(text)) for text in texts)
    evidence = ((EvidenceCode.MESSAGES, len(texts)), *names.most_common())
    if fenced >= max(2.0, len(texts) * FENCED_SHARE):
        return Task(kind="code", evidence=((EvidenceCode.CODE, fenced), *evidence))
    if len(requests) >= 2 and median(map(len, requests)) <= SHORT_CHARS:
        short = (EvidenceCode.SHORT_REQUESTS, len(requests))
        return Task(kind="conversation", evidence=(short, *evidence))
    return Task(kind="unknown", evidence=evidence)
