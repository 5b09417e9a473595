"""Reads the bodies of requests to the proxy's routes, and writes fitted messages into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxcore.assembly.context import Context
from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.rules.roles import join_messages
from ctxcore.messages.shapes.reading import codec_of, read_list
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import Message, SentObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where the parts of a conversation are in the body of one API."""

    shape: Shape
    messages: str
    system: str | None = None
    """Where the system prompt is, if not among the messages."""
    elsewhere: tuple[str, ...] = ()
    """Keys that name messages which the provider keeps; the body has not all of them then."""


_CHAT: Final = Route(shape="openai", messages="messages")
_RESPONSES: Final = Route(
    shape="responses",
    messages="input",
    system="instructions",
    elsewhere=("previous_response_id", "conversation", "prompt"),
)
_ROUTES: Final[Mapping[str, Route]] = {
    "completion": _CHAT,
    "acompletion": _CHAT,
    "anthropic_messages": Route(shape="anthropic", messages="messages", system="system"),
    "responses": _RESPONSES,
    "aresponses": _RESPONSES,
}
"""By the type of call that the proxy names to its hooks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The conversation in the body of a request."""

    route: Route
    passed: PassedMessages
    system: str
    messages: tuple[Message, ...]
    """All messages behind the system prompt; system messages among them count as the user's."""
    first: int
    """Where the first of them is among the messages that were read."""

    def fitted(self, context: Context, offset: int) -> list[SentObject] | None:
        """The messages of `context` to send; None where they are the ones that came.

        What did not change are the caller's own objects. `offset` is how many messages of the
        history come before the first one of this body.
        """
        shift = offset - self.first
        groups = [group for made in context.made_of if (group := self._group(made, shift))]
        sent = [one for group in groups for one in group.sent]
        if self._is_whole(sent):
            return None
        front = {place for at in range(self.first) for place in self.passed.places_of(at)}
        given = [self.passed.given[place] for place in sorted(front)]
        return [*given, *codec_of(self.passed.shape).back(groups, self.passed)]

    def _is_whole(self, sent: Sequence[Sent]) -> bool:
        """Whether all messages are there as they came, and nothing else."""
        places = [one.source for one in sent if one.is_untouched]
        whole = [*range(self.first, len(self.passed.messages))]
        return len(places) == len(sent) and places == whole

    def _group(self, made: Merged, shift: int) -> SentGroup | None:
        """What a message of the context is made of; None for the system prompt, which is sent
        beside it as it came.
        """
        items = [item for item in made.items if item.segment != "system"]
        if not items:
            return None
        is_same = len(items) == len(made.items)
        return SentGroup(
            message=made.message if is_same else join_messages([item.message for item in items]),
            sent=tuple(self._sent(item, shift) for item in items),
            has_reasoning=made.has_reasoning,
        )

    def _sent(self, item: Item, shift: int) -> Sent:
        if item.row is None:
            return Sent(message=item.message)
        source = item.seq - 1 - shift
        if source < self.first:
            raise ValueError(f"message {item.seq} of the session is not in the request")
        own, is_untouched = self.passed.messages[source], item.message == item.row.message
        message = own if is_untouched else replace(item.message, role=own.role)
        return Sent(message=message, source=source, is_untouched=is_untouched)


def read_body(call_type: str, data: Mapping[str, object]) -> Body | None:
    """The conversation in `data`; None where there is none, or not all of it.

    Raises:
        MessageError: something in it is no message of the route.
    """
    route = _ROUTES.get(call_type)
    if route is None or any(data.get(key) for key in route.elsewhere):
        return None
    listed = data.get(route.messages)
    if isinstance(listed, str) and listed and route is _RESPONSES:
        listed = [{"role": "user", "content": listed}]
    if not isinstance(listed, list) or not listed:
        return None
    read = read_list(listed)
    passed = read.seen_as(route.shape)
    if passed is None:  # what the route's provider takes although it is another's
        passed = read
    messages = passed.messages
    first = next((at for at, one in enumerate(messages) if not one.is_system), len(messages))
    beside = data.get(route.system) if route.system else None
    prompts = [*_texts(beside), *(message.text for message in messages[:first])]
    return Body(
        route=route,
        passed=passed,
        system="\n\n".join(filter(None, prompts)),
        messages=tuple(map(_of_user, messages[first:])),
        first=first,
    )


def _texts(system: object) -> Iterable[str]:
    """The texts of a system prompt beside the messages: a text, or blocks."""
    if isinstance(system, str):
        yield system
    elif isinstance(system, list):
        texts = (block.get("text") for block in system if isinstance(block, Mapping))
        yield from (text for text in texts if isinstance(text, str))


def _of_user(message: Message) -> Message:
    """A message of the history: system messages in the middle are told like a user's words."""
    return replace(message, role="user") if message.is_system else message
