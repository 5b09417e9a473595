"""Says how a model's own chat template frames messages, where that is known, and counts by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxcore.messages.values import Message, Role
from ctxcore.tokens.families import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """The frame around messages of role and text, for a model that takes nothing else."""

    message_tokens: int
    """What stands around `role`, a line end and the text of each message."""
    reply: str
    """What asks for the reply, behind one special token."""
    default_system: str
    """The system prompt that is sent where the messages bring none."""

    def count_message(self, message: Message, counter: TokenCounter) -> int:
        """Tokens of one message, its tool calls as text."""
        return self._count(template_role(message), plain_text(message), counter)

    def count_priming(self, counter: TokenCounter, *, has_system: bool) -> int:
        """Tokens beside those of the messages."""
        own = 0 if has_system else self._count("system", self.default_system, counter)
        return own + 1 + counter.count(self.reply)

    def _count(self, role: Role, text: str, counter: TokenCounter) -> int:
        return self.message_tokens + counter.count(f"{role}\n{text}")


# As the weights file's `tokenizer.chat_template`: `<|im_start|>`, role, line end, text,
# `<|im_end|>`, line end; three of them beside role and text.
_TEMPLATES: Mapping[str, ChatTemplate] = {
    "smollm2": ChatTemplate(
        message_tokens=3,
        reply="assistant\n",
        default_system="You are a helpful AI assistant named SmolLM, trained by Hugging Face",
    )
}


def template_of(counter: TokenCounter) -> ChatTemplate | None:
    """The chat template of the model that `counter` counts for; None where it is not known."""
    return _TEMPLATES.get(counter.id)


def plain_text(message: Message) -> str:
    """A message as text, for a model without tools: calls are named after what it says."""
    calls = (f"[called {call.name} {call.arguments}]" for call in message.calls)
    return "\n".join(filter(None, (message.text, *calls)))


def template_role(message: Message) -> Role:
    """The role that a model without tools takes a message in: outputs are the user's words."""
    if message.is_tool_result:
        return "user"
    return "system" if message.is_system else message.role
