"""Plugs into what people run: each module serves one framework and needs its package."""

from ctxcore.integrations.window import Kept, Window

__all__ = ["Kept", "Window"]
