"""Owns the parts of a JSON output that can be left out one by one, with worth and tokens each.

A node knows the worth and the estimated tokens of what is still in it; a part that is taken out
or put back changes the sums of all nodes around it. Rendering writes what is left as JSON, with a
count of what is gone in each container.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import (
    ELISION,
    MOST_NAMED,
    Elision,
    amount,
    gone_ranges,
    member_path,
)
from ctxcore.compression.passages import Passages
from ctxcore.compression.target import estimate_tokens, scalar_tokens

MARKER_TOKENS: Final = 5
SHORTEST_CHARS: Final = 60  # a text cut below this says nothing; it is dropped instead
NAME_WORTH: Final = 0.5  # of a member's name, beyond its value
CUT_RATIO: Final = 0.7  # small enough to need few steps, large enough to leave little unused


class Node(ABC):
    """A part of an output. `worth` and `tokens` are of what is still in it."""

    __slots__ = ("parent", "place", "tokens", "worth")

    def __init__(self, tokens: int, worth: float) -> None:
        self.parent: Container | None = None
        self.place: tuple[int, int] = (0, 0)  # row and column; the row alone in a branch
        self.tokens = tokens
        self.worth = worth

    @abstractmethod
    def render(self) -> str:
        """What is still in it, as JSON text."""

    @abstractmethod
    def gone(self, path: str) -> Iterator[Elision]:
        """What was taken out of it; it stands at `path`."""

    @abstractmethod
    def leaves(self) -> Iterator[Leaf]:
        """Every leaf in it, in order, those taken out too."""

    @property
    def is_present(self) -> bool:
        """Whether neither it nor anything around it was taken out."""
        node: Node = self
        around = self.parent
        while around is not None:
            if around.is_out(node):
                return False
            node, around = around, around.parent
        return True

    def _grow(self, tokens: int, worth: float) -> None:
        self.tokens += tokens
        self.worth += worth
        if self.parent is not None:
            self.parent.child_grew(self, tokens, worth)


class Container(Node):
    """A node with parts that can be taken out; its sums leave those out."""

    __slots__ = ()

    @abstractmethod
    def is_out(self, child: Node) -> bool:
        """Whether the child was taken out of it."""

    @abstractmethod
    def child_grew(self, child: Node, tokens: int, worth: float) -> None:
        """Add what changed in the child to its own sums."""


class Leaf(Node):
    """A scalar. A long text is shortened in steps before it is taken out."""

    __slots__ = ("_full", "_keep_chars", "_passages", "_terms", "value")

    def __init__(
        self,
        value: str | float | bool | None,
        worth: float,
        terms: frozenset[str] = frozenset(),
    ) -> None:
        self.value = value
        self._terms = terms
        self._passages: Passages | None = None
        self._keep_chars: tuple[int, ...] = ()  # the first `shorten` first
        super().__init__(scalar_tokens(value), worth)
        self._full = (self.tokens, worth)

    def render(self) -> str:
        return render_json(self._text() if self._keep_chars else self.value)

    def gone(self, path: str) -> Iterator[Elision]:
        if not self._keep_chars:
            return
        for start, stop in self._passages_of().gone(self._keep_chars[-1]):
            yield Elision(unit="characters", count=stop - start, path=path, start=start, stop=stop)

    def leaves(self) -> Iterator[Leaf]:
        yield self

    @property
    def can_shorten(self) -> bool:
        """Whether a shorter form of it still says something."""
        return isinstance(self.value, str) and self._chars() * CUT_RATIO >= SHORTEST_CHARS

    def shortening_price(self) -> tuple[float, int]:
        """Worth lost and tokens freed by the next `shorten`."""
        tokens, worth = self._size_of(self._next_chars())
        return self.worth - worth, self.tokens - tokens

    def shorten(self) -> None:
        """Keep a step less of the text."""
        self._keep_chars = (*self._keep_chars, self._next_chars())
        self._resize()

    def lengthen(self) -> None:
        """Undo the last `shorten`."""
        self._keep_chars = self._keep_chars[:-1]
        self._resize()

    def _chars(self) -> int:
        if self._keep_chars:
            return self._keep_chars[-1]
        return len(self.value) if isinstance(self.value, str) else 0

    def _next_chars(self) -> int:
        return int(self._chars() * CUT_RATIO)

    def _text(self) -> str:
        return self._passages_of().shorten(self._keep_chars[-1])

    def _passages_of(self) -> Passages:
        if self._passages is None:
            self._passages = Passages.of(str(self.value), self._terms)
        return self._passages

    def _resize(self) -> None:
        tokens, worth = self._size_of(self._chars()) if self._keep_chars else self._full
        self._grow(tokens - self.tokens, worth - self.worth)

    def _size_of(self, chars: int) -> tuple[int, float]:
        """Tokens and worth with only so many characters left."""
        tokens, worth = self._full
        share = chars / len(str(self.value))
        # The head of a text says more than its length.
        return int(tokens * share) + MARKER_TOKENS, worth * share**0.5

    def scale(self, factor: float) -> None:
        """Make it worth `factor` times as much."""
        self._full = (self._full[0], self._full[1] * factor)
        self._grow(0, self.worth * (factor - 1))


class Branch(Container):
    """An object or a list, whose members can be taken out one by one.

    `places` are those of its members in the source, of `total`, where others were left out before.
    """

    __slots__ = (
        "_key_tokens",
        "bare",
        "children",
        "keeps_names",
        "keys",
        "marks_names",
        "out",
        "places",
        "total",
        "unlisted",
    )

    def __init__(
        self,
        children: list[Node],
        keys: list[str] | None = None,
        *,
        places: Sequence[int] = (),
        total: int = 0,
    ) -> None:
        self.children = children
        self.keys = keys
        self._key_tokens = [estimate_tokens(key) + 1 for key in keys or ()]
        self.bare = False
        self.keeps_names = False
        self.marks_names = True
        self.out: set[int] = set()
        self.places = places or range(len(children))
        self.total = max(total, len(children))
        self.unlisted = self.total - len(children)
        super().__init__(2 + (MARKER_TOKENS if self.unlisted else 0), 0.0)
        for at, child in enumerate(children):
            child.parent, child.place = self, (at, 0)
            self.tokens += self._member_tokens(at)
            self.worth += child.worth

    def is_out(self, child: Node) -> bool:
        return child.place[0] in self.out

    def child_grew(self, child: Node, tokens: int, worth: float) -> None:
        if not self.is_out(child):
            self._grow(tokens, worth)

    def freed_by(self, at: int) -> int:
        """Tokens that taking out the member frees; the first one pays for the marker."""
        return self._member_tokens(at) - (0 if self.out or self.unlisted else MARKER_TOKENS)

    def share_of_marker(self) -> float:
        """What of its marker one member would pay if half of those still there went."""
        if self.out or self.unlisted:
            return 0.0
        return MARKER_TOKENS - 2 * MARKER_TOKENS / max(2, len(self.children))

    def take_out(self, at: int) -> None:
        """Leave the member out."""
        freed = self.freed_by(at)
        self.out.add(at)
        self._grow(-freed, -self.children[at].worth)

    def put_back(self, at: int) -> None:
        """Undo `take_out`."""
        self.out.discard(at)
        self._grow(self.freed_by(at), self.children[at].worth)

    @property
    def can_be_bare(self) -> bool:
        """Whether it is an object of scalars whose names can go while its values stay."""
        return (
            self.keys is not None
            and not self.keeps_names
            and not self.unlisted
            and len(self.children) > 1
            and all(isinstance(child, Leaf) for child in self.children)
        )

    def names_price(self, *, marks: bool = True) -> tuple[float, int]:
        """Worth lost and tokens freed by `set_bare` while all of its members are there."""
        marker = MARKER_TOKENS if marks else 0
        return NAME_WORTH * len(self.children), sum(self._key_tokens) - marker

    def set_bare(self, is_bare: bool, *, marks: bool = True) -> None:
        """Leave the names of its members out, or put them back; `marks` that in the object."""
        before = self._names_tokens()
        self.bare, self.marks_names = is_bare, marks
        worth = NAME_WORTH * (len(self.children) - len(self.out))
        self._grow(self._names_tokens() - before, -worth if is_bare else worth)

    def _names_tokens(self) -> int:
        if self.bare:
            return MARKER_TOKENS if self.marks_names else 0
        return sum(tokens for at, tokens in enumerate(self._key_tokens) if at not in self.out)

    def render(self) -> str:
        parts = [self._render_member(at) for at in range(len(self.children)) if at not in self.out]
        count = len(self.out) + self.unlisted
        if self.bare:
            marks = [f'"{ELISION} {amount(len(parts), "names")}"'] if self.marks_names else []
            marks += [f'"{ELISION} {amount(count, "keys")}"'] if count else []
            return f"[{','.join([*marks, *parts])}]"
        if self.keys is None:
            if count:
                parts.append(f'"{ELISION} {amount(count, "items")}"')
            return f"[{','.join(parts)}]"
        if count:
            parts.append(f'"{ELISION}":"{amount(count, "keys")}"')
        return f"{{{','.join(parts)}}}"

    def gone(self, path: str) -> Iterator[Elision]:
        if self.keys is None:
            kept = [self.places[at] for at in range(len(self.children)) if at not in self.out]
            yield from gone_ranges("items", self.total, kept, path=path)
        else:
            yield from self._gone_keys(path, self.keys)
        if self.bare:
            yield Elision(unit="names", count=len(self.children) - len(self.out), path=path)
        for at, child in enumerate(self.children):
            if at not in self.out:
                yield from child.gone(self._path_of(path, at))

    def _gone_keys(self, path: str, keys: list[str]) -> Iterator[Elision]:
        named = sorted(self.out) if len(self.out) <= MOST_NAMED else []
        for at in named:
            yield Elision(unit="keys", count=1, path=member_path(path, keys[at]))
        rest = len(self.out) + self.unlisted - len(named)
        if rest:
            yield Elision(unit="keys", count=rest, path=path)

    def _path_of(self, path: str, at: int) -> str:
        if self.keys is None:
            return f"{path}[{self.places[at]}]"
        return member_path(path, self.keys[at])

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children:
            yield from child.leaves()

    def _render_member(self, at: int) -> str:
        text = self.children[at].render()
        is_named = self.keys is not None and not self.bare
        return f"{render_json(self.keys[at])}:{text}" if is_named and self.keys else text

    def _member_tokens(self, at: int) -> int:
        is_named = self.keys is not None and not self.bare
        return self.children[at].tokens + (self._key_tokens[at] if is_named else 0) + 1
