"""Turns an attached text file into messages: a tool call that reads it, and its result.

A user's words go before the call and an answer behind the result, because there are providers that
refuse a call that answers nobody, or a user's words right behind a result.
"""

from __future__ import annotations

import json

from ctxcore.messages.values import Message, Text, ToolCall, text_message

READ_FILE = "read_file"
"""The tool that the call names; it need not be defined."""


def attached_file(
    name: str, text: str, *, call_id: str, said: str, answered: str
) -> tuple[Message, ...]:
    """The messages of a file; `said` and `answered` are the words around it."""
    arguments = json.dumps({"path": name}, ensure_ascii=False)
    call = ToolCall(id=call_id, name=READ_FILE, arguments=arguments)
    return (
        text_message("user", said),
        Message(role="assistant", calls=(call,)),
        Message(role="tool", content=(Text(text=text),), answers=call_id, name=READ_FILE),
        text_message("assistant", answered),
    )
