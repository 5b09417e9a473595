"""Quotes what a search found."""

from __future__ import annotations

from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message
from ctxcore.recalling.requests import Query


def excerpt_of(message: Message, query: Query, *, chars: int = 160) -> str:
    """A part of `message` around the first term of `query` in it, on one line."""
    texts = [message.text, *(f"{call.name}({call.arguments})" for call in message.calls)]
    text = " ".join(printable("\n".join(texts)).split())
    lower = text.lower()
    places = [lower.find(form) for term in query.terms for form in term.forms]
    start = max(0, min((place for place in places if place >= 0), default=0) - chars // 4)
    piece = text[start : start + chars]
    return f"{'…' if start else ''}{piece}{'…' if start + chars < len(text) else ''}"
