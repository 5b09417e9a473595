"""What codecs of libraries' message objects share: they read no dictionaries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from ctxcore.errors import MessageError
from ctxcore.messages.foreign import object_problem
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    PassedMessages,
    Refuse,
    SentGroup,
    Shape,
)
from ctxcore.messages.values import Message, SentObject
from ctxcore.reasons.places import Place, PlaceCode


class ObjectCodec(ABC):
    """Reads the message objects of one library, by their attributes."""

    shape: Shape
    maker: str
    packages: tuple[str, ...]
    """The modules its classes are from."""

    def owns(self, given: object) -> bool:
        """Whether `given` is a message of this library."""
        modules = (base.__module__ for base in type(given).__mro__)
        return any(
            f"{module}.".startswith(f"{name}.") for module in modules for name in self.packages
        )

    def detect(self, raw: Mapping[str, object]) -> Fit:
        return "no"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        messages: list[Message] = []
        places: list[tuple[int, ...]] = []
        for at, given in entries:
            try:
                read = [given] if isinstance(given, Message) else self._checked(given, at)
            except MessageError as error:
                refuse(at, error)
            else:
                messages += read
                places += [(at,)] * len(read)
        return Conversation(messages=tuple(messages), places=tuple(places))

    def _checked(self, given: object, at: int) -> list[Message]:
        if self.owns(given):
            return self.read(given, at)
        raise MessageError(place=Place(PlaceCode.MESSAGE, at), problem=object_problem(given))

    @abstractmethod
    def read(self, given: object, at: int) -> list[Message]:
        """The messages that the object at place `at` stands for.

        Raises:
            MessageError: it is not what the library makes.
        """

    @abstractmethod
    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[SentObject]:
        """`groups` as objects; what is untouched comes back as the caller's own."""
