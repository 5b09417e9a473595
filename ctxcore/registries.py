"""Registries: ordered mappings of named values to which plug-ins may add their own.

A built-in value may be given as its import path, so that listing the names loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Generic, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class At:
    """The import path of a value, e.g. `ctxcore.compaction.strategies:truncate`."""

    path: str

    def load(self) -> object:
        """Imports the value."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


class NameTakenError(ValueError):
    """A registry holds this name already; nothing was changed."""

    def __init__(self, *, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is a {kind} named {name!r} already; take another name")


class Registry(Mapping[str, T], Generic[T]):
    """The values of one kind by name: built-in values first, then in order of registration."""

    def __init__(self, kind: str, built_in: Mapping[str, T | At] | None = None) -> None:
        """`kind` names in errors what is registered, e.g. "strategy"."""
        self.kind = kind
        self._values: Mapping[str, T | At] = dict(built_in or {})
        self._lock = RLock()

    def register(self, name: str, value: T, *, before: str | None = None) -> None:
        """Adds `value` at the end, or before the value named `before`.

        Raises:
            NameTakenError: the name is taken.
            ValueError: the name is no text, or empty.
            KeyError: there is no value named `before`.
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"the name of a {self.kind} is a text that is not empty, not {name!r}")
        with self._lock:
            if name in self._values:
                raise NameTakenError(kind=self.kind, name=name)
            if before is not None and before not in self._values:
                known = ", ".join(self)
                raise KeyError(f"there is no {self.kind} named {before!r}; one of {known}")
            names = list(self._values)
            at = len(names) if before is None else names.index(before)
            ordered = [*names[:at], name, *names[at:]]
            values = {**self._values, name: value}
            self._values = {key: values[key] for key in ordered}  # a new dict: loops may go on

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Undoes at its end what was registered inside it; for tests."""
        before = self._values
        try:
            yield
        finally:
            with self._lock:
                self._values = before

    def __getitem__(self, name: str) -> T:
        value = self._values[name]
        if not isinstance(value, At):
            return value
        loaded = cast("T", value.load())  # a path names a value of this registry's kind
        with self._lock:
            if self._values.get(name) is value:
                self._values = {**self._values, name: loaded}
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
