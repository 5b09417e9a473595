"""The context: the messages that a model is sent, and the full account of how they were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.rules.values import Repair, renamed_tools
from ctxcore.assembly.verdicts import Breakdown, Run, Verdict, Verdicts
from ctxcore.budget import TokenBudget
from ctxcore.messages.canonical import printable
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.shapes.values import Passed, Sent, SentGroup, Shape
from ctxcore.messages.values import JsonObject, Message, ToolCall
from ctxcore.reasons.values import Reason
from ctxcore.tokens.families import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """A text in the context that is no message of the history."""

    kind: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Context:
    """What a model is sent, never above its budget, legal for every provider."""

    messages: list[JsonObject]
    """Ready to send, OpenAI chat format; `in_shape` has them as they came."""
    tokens: int
    """Framing, tools and messages together, by the session model's counter."""
    is_exact: bool
    """Whether the tokens were counted with the model's own vocabulary, not estimated."""
    breakdown: Breakdown
    runs: tuple[Run, ...]
    verdicts: Verdicts
    """One verdict a message of the history."""
    synthetic: tuple[Synthetic, ...]
    repairs: tuple[Repair, ...]
    budget: TokenBudget | None
    """None where the model's window is unknown."""
    prefix_messages: int
    """So many of `messages` stay the same until the next break of the prompt cache."""
    made_of: tuple[Merged, ...] = field(repr=False, default=())
    """What each of `messages` is made of."""
    said: tuple[Message, ...] = field(repr=False, default=())
    """The messages of user and model in it before the current one, as the history has them."""
    summary: str = ""
    summary_tokens: int = 0
    summarized_messages: int = 0
    language: str = "en"
    router_tokens: int | None = None
    """What a router has for the history as text; None: all of it."""
    counter: TokenCounter | None = field(repr=False, default=None)
    notices: tuple[Reason, ...] = ()
    """What became of a state that was made from other messages; empty where it was not."""
    passed: Passed | None = field(repr=False, default=None)
    """The list that was read; None where the history came from somewhere else."""

    renamed_tools: Mapping[str, str] = field(default_factory=dict)
    """Names that tools are sent under where a provider refuses their own, which they map to."""
    renamed_ids: Mapping[str, str] = field(default_factory=dict)
    """Ids that calls are sent under in place of their own, which they map to."""

    def sent_tools(self, tools: Sequence[Mapping[str, object]]) -> list[JsonObject]:
        """The tool definitions to send beside the messages: `tools`, renamed where calls are."""
        sent = {own: name for name, own in self.renamed_tools.items()}
        return [cast("JsonObject", tool) for tool in renamed_tools(tools, sent)]

    def own_calls(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls of a model that was sent this context, under the caller's names of tools."""
        own = self.renamed_tools
        return tuple(
            replace(call, name=own[call.name]) if call.name in own else call for call in calls
        )

    @property
    def shape(self) -> Shape:
        """The shape that the messages came in."""
        return self.passed.shape if self.passed else "openai"

    def in_shape(self, shape: Shape | None = None) -> list[JsonObject]:
        """What is sent, in the shape that came in, or in another one.

        Messages in which nothing changed are the caller's own objects, thinking and marks in them
        included; of others all that did not change stays. In another shape nothing is the caller's
        own; a system prompt stays a message at the front for Anthropic, which takes it as `system`
        beside the list, and becomes a user's words for Gemini.

        Raises:
            ValueError: there is no such shape.
        """
        return in_shape(self.made_of, self.passed, shape or self.shape)

    def places_of(self, at: int) -> tuple[int, ...]:
        """The places, in the list that was passed, of the message at place `at` of the history."""
        return self.passed.places_of(at) if self.passed else (at,)

    def verdict(self, at: int) -> Verdict:
        """What became of the message at place `at` of the history."""
        return self.verdicts[at]

    def render_text(self, max_tokens: int | None = None) -> str:
        """The history as text for a router, one line a message; the current one is left out.

        The summary, and the newest lines within what it leaves of `max_tokens` (without it: the
        policy's second budget); the first line that does not fit ends them. Empty when there is
        nothing before the current message. Source: the first design, section 3.2.3.
        """
        limit = self.router_tokens if max_tokens is None else max_tokens
        lines = list(_rendered(self.said))
        if limit is not None:
            assert self.counter is not None  # every context that is built has one
            left, first = limit - self.summary_tokens, len(lines)
            while first and (left := left - self.counter.count(lines[first - 1])) >= 0:
                first -= 1
            lines = lines[first:]
        parts = ["\n".join(lines)] if lines else []
        if self.summary:
            header = _text_header(self.language, self.summarized_messages)
            parts.insert(0, f"{header}\n{self.summary}")
        return printable("\n\n".join(parts))


def _rendered(messages: Sequence[Message]) -> Iterable[str]:
    for message in messages:
        if words := message.text:
            action = f"[{message.action}] " if message.action else ""
            yield f"{message.role.upper()}: {action}{' '.join(words.split())}"


def _text_header(language: str, messages: int) -> str:
    if language == "zh":
        return f"[之前对话的总结（{messages} 轮）]："
    return f"[Earlier conversation summary ({messages} turns)]:"


def in_shape(made_of: Sequence[Merged], passed: Passed | None, shape: Shape) -> list[JsonObject]:
    """What `made_of` is sent as in `shape`; `passed` is what it was read from, where known."""
    own = passed.seen_as(shape) if passed is not None else None
    groups = [
        SentGroup(
            message=group.message,
            sent=tuple(_sent(item, own) for item in group.items),
            has_reasoning=group.has_reasoning,
        )
        for group in made_of
    ]
    return codec_of(shape).back(groups, own)


def _sent(item: Item, passed: Passed | None) -> Sent:
    """An item, which is untouched if it equals the message that was read."""
    if passed is None or item.row is None:
        return Sent(message=item.message)
    source = item.seq - 1
    is_untouched = item.message == passed.messages[source]
    return Sent(message=item.message, source=source, is_untouched=is_untouched)
