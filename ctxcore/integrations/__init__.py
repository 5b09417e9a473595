"""Plugs into what people run: each module serves one framework and needs its package."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcore.integrations.window import Kept as Kept
    from ctxcore.integrations.window import Window as Window

_PUBLIC_NAMES = ("Kept", "Window")


def __getattr__(name: str) -> object:
    """Loads a public name when it is first used: pytest imports this package in every run."""
    if name not in _PUBLIC_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("ctxcore.integrations.window"), name)
