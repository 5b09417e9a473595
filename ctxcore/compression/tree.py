"""The tree of a JSON output: scalars and containers whose parts can be left out one by one.

Each node keeps the salience and the estimated tokens of what is still in it; leaving a part out
or restoring it updates the sums of all nodes around it. Rendering writes what is left as JSON,
with a count of what is gone in each container.
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

MARKER_TOKENS: Final = 5  # chosen: about what `"… 12 items"` takes
SHORTEST_CHARS: Final = 60  # chosen: a shorter rest is not readable; the text is dropped instead
NAME_SALIENCE: Final = 0.5  # chosen: of a member's name, beyond its value
CUT_RATIO: Final = 0.7  # chosen: few steps against little room left unused


class Node(ABC):
    """A part of an output. `salience` and `tokens` are those of what is still in it."""

    __slots__ = ("parent", "place", "salience", "tokens")

    def __init__(self, tokens: int, salience: float) -> None:
        self.parent: Container | None = None
        self.place: tuple[int, int] = (0, 0)  # row and column; the row alone in a branch
        self.tokens = tokens
        self.salience = salience

    @abstractmethod
    def render(self) -> str:
        """What is still in it, as JSON text."""

    @abstractmethod
    def gone(self, path: str) -> Iterator[Elision]:
        """What was left out of it; `path` is its own."""

    @abstractmethod
    def leaves(self) -> Iterator[Leaf]:
        """Every leaf in it, in order, including those left out."""

    @property
    def is_present(self) -> bool:
        """Whether neither the node nor any container around it was left out."""
        node: Node = self
        while node.parent is not None:
            if node.parent.is_out(node):
                return False
            node = node.parent
        return True

    def _grow(self, tokens: int, salience: float) -> None:
        self.tokens += tokens
        self.salience += salience
        if self.parent is not None:
            self.parent.child_grew(self, tokens, salience)


class Container(Node):
    """A node with parts that can be left out; its sums do not count those."""

    __slots__ = ()

    @abstractmethod
    def is_out(self, child: Node) -> bool:
        """Whether the child was left out."""

    def child_grew(self, child: Node, tokens: int, salience: float) -> None:
        """Adds a change in the child to the sums."""
        if not self.is_out(child):
            self._grow(tokens, salience)


class Leaf(Node):
    """A scalar. A long text is shortened in steps before it is left out."""

    __slots__ = ("_full", "_keep_chars", "_passages", "_terms", "value")

    def __init__(
        self,
        value: str | float | bool | None,
        salience: float,
        terms: frozenset[str] = frozenset(),
    ) -> None:
        self.value = value
        self._terms = terms
        self._passages: Passages | None = None
        self._keep_chars: tuple[int, ...] = ()  # the length after each `shorten`
        super().__init__(scalar_tokens(value), salience)
        self._full = (self.tokens, salience)

    def render(self) -> str:
        return render_json(self._shortened() if self._keep_chars else self.value)

    def gone(self, path: str) -> Iterator[Elision]:
        if not self._keep_chars:
            return
        for start, stop in self._found_passages().gone(self._keep_chars[-1]):
            yield Elision(unit="characters", count=stop - start, path=path, start=start, stop=stop)

    def leaves(self) -> Iterator[Leaf]:
        yield self

    @property
    def can_shorten(self) -> bool:
        """Whether the text is still long enough to be cut."""
        return isinstance(self.value, str) and self._chars() * CUT_RATIO >= SHORTEST_CHARS

    def shortening_price(self) -> tuple[float, int]:
        """Salience lost and tokens freed by the next `shorten`."""
        tokens, salience = self._size_of(int(self._chars() * CUT_RATIO))
        return self.salience - salience, self.tokens - tokens

    def shorten(self) -> None:
        """Cuts the text by one step."""
        self._resize((*self._keep_chars, int(self._chars() * CUT_RATIO)))

    def lengthen(self) -> None:
        """Undoes the last `shorten`."""
        self._resize(self._keep_chars[:-1])

    def scale(self, factor: float) -> None:
        """Multiplies the salience by `factor`."""
        self._full = (self._full[0], self._full[1] * factor)
        self._grow(0, self.salience * (factor - 1))

    def _chars(self) -> int:
        return self._keep_chars[-1] if self._keep_chars else len(str(self.value))

    def _shortened(self) -> str:
        return self._found_passages().shorten(self._keep_chars[-1])

    def _found_passages(self) -> Passages:
        if self._passages is None:
            self._passages = Passages(str(self.value), self._terms)
        return self._passages

    def _resize(self, keep_chars: tuple[int, ...]) -> None:
        self._keep_chars = keep_chars
        tokens, salience = self._size_of(keep_chars[-1]) if keep_chars else self._full
        self._grow(tokens - self.tokens, salience - self.salience)

    def _size_of(self, chars: int) -> tuple[int, float]:
        """Tokens and salience of the text cut to `chars` characters."""
        tokens, salience = self._full
        share = chars / len(str(self.value))
        # The root, because the head of a text is more salient than its length suggests.
        return int(tokens * share) + MARKER_TOKENS, salience * share**0.5


class Branch(Container):
    """An object or a list, whose members can be left out one by one.

    `places` are those of its members in the source, of `total`, where others were left out before.
    A `bare` object is written as the list of its values.
    """

    def __init__(
        self,
        children: list[Node],
        keys: list[str] | None = None,
        *,
        places: Sequence[int] = (),
        total: int = 0,
        keeps_names: bool = False,
    ) -> None:
        self.children = children
        self.keys = keys
        self.places = places or range(len(children))
        self.total = max(total, len(children))
        self.unlisted = self.total - len(children)
        self.keeps_names = keeps_names
        self.out: set[int] = set()
        self.bare = False
        self.marks_names = True
        self._key_tokens = [estimate_tokens(key) + 1 for key in keys or ()]
        super().__init__(2 + (MARKER_TOKENS if self.unlisted else 0), 0.0)
        for at, child in enumerate(children):
            child.parent, child.place = self, (at, 0)
            self.tokens += self._member_tokens(at)
            self.salience += child.salience

    def is_out(self, child: Node) -> bool:
        return child.place[0] in self.out

    def freed_by(self, at: int) -> int:
        """Tokens freed by leaving the member out; the first one pays for the marker."""
        return self._member_tokens(at) - (0 if self.out or self.unlisted else MARKER_TOKENS)

    def share_of_marker(self) -> float:
        """The part of the marker's tokens that a member pays if half of those present go."""
        if self.out or self.unlisted:
            return 0.0
        return MARKER_TOKENS - 2 * MARKER_TOKENS / max(2, len(self.children))

    def set_out(self, at: int, is_out: bool) -> None:
        """Leaves the member out, or restores it."""
        self.out.discard(at)
        sign, freed = -1 if is_out else 1, self.freed_by(at)
        if is_out:
            self.out.add(at)
        self._grow(sign * freed, sign * self.children[at].salience)

    @property
    def can_be_bare(self) -> bool:
        """Whether it is an object of scalars that may be written without their names."""
        return (
            self.keys is not None
            and not self.keeps_names
            and not self.unlisted
            and len(self.children) > 1
            and all(isinstance(child, Leaf) for child in self.children)
        )

    def names_price(self, *, marks: bool = True) -> tuple[float, int]:
        """Salience lost and tokens freed by `set_bare` while all members are present."""
        marker = MARKER_TOKENS if marks else 0
        return NAME_SALIENCE * len(self.children), sum(self._key_tokens) - marker

    def set_bare(self, is_bare: bool, *, marks: bool = True) -> None:
        """Leaves the names of its members out, or restores them; `marks` notes it in the object."""
        before = self._names_tokens()
        self.bare, self.marks_names = is_bare, marks
        salience = NAME_SALIENCE * (len(self.children) - len(self.out))
        self._grow(self._names_tokens() - before, -salience if is_bare else salience)

    def render(self) -> str:
        count = len(self.out) + self.unlisted
        parts = [self.children[at].render() for at in self._present()]
        if self.bare:
            marks = [f'"{ELISION} {amount(len(parts), "names")}"'] if self.marks_names else []
            marks += [f'"{ELISION} {amount(count, "keys")}"'] if count else []
            return f"[{','.join([*marks, *parts])}]"
        if self.keys is None:
            parts += [f'"{ELISION} {amount(count, "items")}"'] if count else []
            return f"[{','.join(parts)}]"
        names = (render_json(self.keys[at]) for at in self._present())
        members = [f"{name}:{part}" for name, part in zip(names, parts, strict=True)]
        members += [f'"{ELISION}":"{amount(count, "keys")}"'] if count else []
        return f"{{{','.join(members)}}}"

    def gone(self, path: str) -> Iterator[Elision]:
        present = self._present()
        if self.keys is None:
            kept = [self.places[at] for at in present]
            yield from gone_ranges("items", self.total, kept, path=path)
        else:
            named = sorted(self.out) if len(self.out) <= MOST_NAMED else []
            for at in named:
                yield Elision(unit="keys", count=1, path=self._path_of(path, at))
            if rest := len(self.out) + self.unlisted - len(named):
                yield Elision(unit="keys", count=rest, path=path)
        if self.bare:
            yield Elision(unit="names", count=len(present), path=path)
        for at in present:
            yield from self.children[at].gone(self._path_of(path, at))

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children:
            yield from child.leaves()

    def _present(self) -> list[int]:
        return [at for at in range(len(self.children)) if at not in self.out]

    def _path_of(self, path: str, at: int) -> str:
        if self.keys is None:
            return f"{path}[{self.places[at]}]"
        return member_path(path, self.keys[at])

    def _member_tokens(self, at: int) -> int:
        is_named = self.keys is not None and not self.bare
        return self.children[at].tokens + (self._key_tokens[at] if is_named else 0) + 1

    def _names_tokens(self) -> int:
        if self.bare:
            return MARKER_TOKENS if self.marks_names else 0
        return sum(tokens for at, tokens in enumerate(self._key_tokens) if at not in self.out)
