"""Owns the words by which a model asks for a compaction: people never see them, even in pieces."""

from __future__ import annotations

from dataclasses import replace

from ctxcore.messages.values import Message, Text


class MarkerFilter:
    """Takes a marker out of a text that comes in pieces."""

    def __init__(self, marker: str | None) -> None:
        self._marker = marker
        self._held = ""

    def feed(self, piece: str) -> str:
        """What of the text so far may be shown and was not yet."""
        if not self._marker:
            return piece
        text = (self._held + piece).replace(self._marker, "")
        held = _overlap(text, self._marker)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def flush(self) -> str:
        """What was held back and turned out to be no marker."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, marker: str) -> int:
    """How much of the end of `text` may be the beginning of `marker`."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if marker.startswith(text[-size:])), 0)


def without_marker(message: Message, marker: str) -> Message:
    """`message` without the marker; the message itself where it holds none."""
    if not any(isinstance(part, Text) and marker in part.text for part in message.content):
        return message
    parts = (
        replace(part, text=part.text.replace(marker, "").rstrip())
        if isinstance(part, Text)
        else part
        for part in message.content
    )
    kept = tuple(part for part in parts if not isinstance(part, Text) or part.text)
    return replace(message, content=kept)
