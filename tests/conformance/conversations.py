"""Conversations of known size, and a summarizer that says what it is told.

Sizes hold for the vocabulary that counts where no model is named: a `word` is one token, and a
message takes 4 beside its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctxcore.assembly.context import Context
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import assistant, call, user
from tests.words import words

__all__ = [
    "Scripted",
    "assistant",
    "chain",
    "lettered",
    "letters",
    "rounds",
    "said",
    "sent",
    "sized",
    "system",
    "talk",
    "user",
    "words",
]

_FRAME_TOKENS = 4


def sized(role: str, tokens: int) -> Message:
    """A message that takes exactly so many tokens."""
    text = words(tokens - _FRAME_TOKENS)
    return user(text) if role == "user" else assistant(text)


def talk(count: int, tokens: int, *, last: str = "assistant") -> list[Message]:
    """User and assistant in turn, so many messages of so many tokens each, ending with `last`."""
    roles = ("assistant", "user") if last == "assistant" else ("user", "assistant")
    return [sized(roles[at % 2], tokens) for at in range(count)][::-1]


def system(tokens: int) -> Message:
    """A system prompt that takes exactly so many tokens."""
    return text_message("system", words(tokens - _FRAME_TOKENS))


def letters(count: int) -> str:
    """A text of so many characters, a token for every five of them."""
    return ("word " * (count // 5 + 1))[:count]


def lettered(*counts: int, first: str = "user") -> list[Message]:
    """User and assistant in turn, each message of so many characters."""
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    said = (letters(count) for count in counts)
    return [
        text_message("user" if roles[at % 2] == "user" else "assistant", text)
        for at, text in enumerate(said)
    ]


def rounds(count: int, chars: int) -> list[Message]:
    """So many questions with their answers, each of them of so many characters."""
    return lettered(*[chars] * (2 * count))


def chain(call_id: str, output: str, *, name: str = "search") -> list[Message]:
    """A call of a tool and its result."""
    return [assistant("", call(call_id, name)), tool_result(call_id, output)]


def said(message: Mapping[str, object]) -> str:
    """The words of a message that is sent."""
    return str(message["content"])


class Scripted:
    """A summarizer that says what it is told to, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, answer: str | Callable[[SummaryRequest], str] = "What was said.") -> None:
        self._answer = answer
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> str:
        """The answer."""
        self.requests.append(request)
        return self._answer if isinstance(self._answer, str) else self._answer(request)


def sent(context: Context) -> list[str]:
    """The words of every message that is sent, with its role."""
    return [f"{message['role']}: {message['content']}" for message in context.messages]
